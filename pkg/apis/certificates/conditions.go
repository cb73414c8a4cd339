// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"fmt"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// exclusionOrigin marks the hand-written refusal of Approved beside Denied. The declarative rule of the same origin
// replaces it in answers; see RegisterValidations.
const exclusionOrigin = "zeroOrOneOf"

// validateConditions returns, condition by condition, what is wrong with each of them and with it after the earlier ones.
func validateConditions(conditions []certificatesv1.CertificateSigningRequestCondition, tolerated tolerances, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[certificatesv1.RequestConditionType]()
	for i, condition := range conditions {
		at := path.Index(i)
		if condition.Type == "" && !tolerated.emptyConditionType {
			errs = append(errs, field.Required(at.Child("type"), ""))
		}
		errs = append(errs, validateConditionStatus(condition, at.Child("status"))...)
		if opposite, ok := exclusive(condition.Type); ok && !tolerated.bothApprovedAndDenied && seen.Has(opposite) {
			errs = append(errs, field.Invalid(path, condition.Type, "Approved and Denied conditions are mutually exclusive").
				WithOrigin(exclusionOrigin).MarkCoveredByDeclarative())
		}
		if !tolerated.duplicateConditionTypes && seen.Has(condition.Type) {
			errs = append(errs, field.Duplicate(at.Child("type"), condition.Type))
		}
		seen.Insert(condition.Type)
	}
	return errs
}

// validateConditionStatus returns what is wrong with the status of one condition. A verdict has no other status than
// True: it is there or it is not.
func validateConditionStatus(condition certificatesv1.CertificateSigningRequestCondition, path *field.Path) field.ErrorList {
	if condition.Status == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	allowed := []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
	if slices.Contains(verdicts(), condition.Type) {
		allowed = []corev1.ConditionStatus{corev1.ConditionTrue}
	}
	if !slices.Contains(allowed, condition.Status) {
		return field.ErrorList{field.NotSupported(path, condition.Status, allowed)}
	}
	return nil
}

// verdicts returns the condition types that stay once they are there.
func verdicts() []certificatesv1.RequestConditionType {
	return append(approvals(), certificatesv1.CertificateFailed)
}

// approvals returns the condition types that only /approval may add or change.
func approvals() []certificatesv1.RequestConditionType {
	return []certificatesv1.RequestConditionType{certificatesv1.CertificateApproved, certificatesv1.CertificateDenied}
}

// exclusive returns the condition type that can't stand beside the given one, false if any can.
func exclusive(conditionType certificatesv1.RequestConditionType) (certificatesv1.RequestConditionType, bool) {
	switch conditionType {
	case certificatesv1.CertificateApproved:
		return certificatesv1.CertificateDenied, true
	case certificatesv1.CertificateDenied:
		return certificatesv1.CertificateApproved, true
	}
	return "", false
}

// validateVerdictsKept refuses to drop a verdict.
func validateVerdictsKept(newConditions, oldConditions []certificatesv1.CertificateSigningRequestCondition, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, verdict := range verdicts() {
		if len(conditionsOfType(newConditions, verdict)) < len(conditionsOfType(oldConditions, verdict)) {
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("updates may not remove a condition of type %q", verdict)))
		}
	}
	return errs
}

// validateApprovalsKept refuses to add or change an approval. Dropping one is refused by validateVerdictsKept.
func validateApprovalsKept(newConditions, oldConditions []certificatesv1.CertificateSigningRequestCondition, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, approval := range approvals() {
		was, is := conditionsOfType(oldConditions, approval), conditionsOfType(newConditions, approval)
		switch {
		case len(is) < len(was):
		case len(is) > len(was):
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("updates may not add a condition of type %q", approval)))
		case !equality.Semantic.DeepEqual(was, is):
			changes := diff.Diff(untagged(was), untagged(is))
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("updates may not modify a condition of type %q\n%v", approval, changes)))
		}
	}
	return errs
}

func conditionsOfType(conditions []certificatesv1.CertificateSigningRequestCondition, conditionType certificatesv1.RequestConditionType) []certificatesv1.CertificateSigningRequestCondition {
	var found []certificatesv1.CertificateSigningRequestCondition
	for _, condition := range conditions {
		if condition.Type == conditionType {
			found = append(found, condition)
		}
	}
	return found
}

func hasCondition(conditions []certificatesv1.CertificateSigningRequestCondition, conditionType certificatesv1.RequestConditionType) bool {
	return slices.ContainsFunc(conditions, func(condition certificatesv1.CertificateSigningRequestCondition) bool {
		return condition.Type == conditionType
	})
}

func hasDuplicateConditionType(conditions []certificatesv1.CertificateSigningRequestCondition) bool {
	seen := sets.New[certificatesv1.RequestConditionType]()
	for _, condition := range conditions {
		seen.Insert(condition.Type)
	}
	return seen.Len() < len(conditions)
}

// untaggedCondition is a condition without JSON names. kube-apiserver compares conditions of its internal type, which
// has none, so the differences that a client reads are between fields named as in Go, empty ones included.
type untaggedCondition struct {
	Type               certificatesv1.RequestConditionType
	Status             corev1.ConditionStatus
	Reason             string
	Message            string
	LastUpdateTime     metav1.Time
	LastTransitionTime metav1.Time
}

func untagged(conditions []certificatesv1.CertificateSigningRequestCondition) []untaggedCondition {
	shown := make([]untaggedCondition, len(conditions))
	for i, condition := range conditions {
		shown[i] = untaggedCondition(condition)
	}
	return shown
}
