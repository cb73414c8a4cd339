// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/safe"
	declared "k8s.io/apimachinery/pkg/api/validate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// RegisterValidations registers what the +k8s: tags of k8s.io/api/certificates/v1 declare for
// CertificateSigningRequest on its main endpoint, /approval and /status: the rules of all object metadata, and that
// at most one of the conditions Approved and Denied is there. The registry runs them after the hand-written
// validation and lets a beta rule replace the hand-written error of the same type, field and origin. It returns no
// error; the signature is that of every group's RegisterValidations.
// Rules: pkg/apis/certificates/v1/zz_generated.validations.go of k8s.io/kubernetes.
func RegisterValidations(scheme *runtime.Scheme) error {
	rules := declaredRules{approval: declared.NewUnionMembership(
		declared.NewUnionMember(`conditions[{"type": "Approved"}]`),
		declared.NewUnionMember(`conditions[{"type": "Denied"}]`),
	)}
	scheme.AddValidationFunc((*certificatesv1.CertificateSigningRequest)(nil),
		func(ctx context.Context, op operation.Operation, obj, oldObj any) field.ErrorList {
			switch endpoint := op.Request.SubresourcePath(); endpoint {
			case "/", "/approval", "/status":
				// The scheme calls by Go type; there is no old object when one is created.
				return rules.validate(ctx, op, obj.(*certificatesv1.CertificateSigningRequest), safe.Cast[*certificatesv1.CertificateSigningRequest](oldObj))
			default:
				return field.ErrorList{field.InternalError(nil, fmt.Errorf("no validation found for %T, subresource: %v", obj, endpoint))}
			}
		})
	return nil
}

// declaredRules are the declared rules with the descriptions they are built from.
type declaredRules struct {
	// approval names the members of the union of Approved and Denied as messages show them.
	approval *declared.UnionMembership
}

// validate applies the rules to csr. oldCSR is nil for a create. In an update each rule passes over what did not change.
func (r declaredRules) validate(ctx context.Context, op operation.Operation, csr, oldCSR *certificatesv1.CertificateSigningRequest) field.ErrorList {
	var (
		root          *field.Path
		oldMeta       *metav1.ObjectMeta
		oldConditions []certificatesv1.CertificateSigningRequestCondition
	)
	if oldCSR != nil {
		oldMeta, oldConditions = &oldCSR.ObjectMeta, oldCSR.Status.Conditions
	}
	errs := metav1validation.Validate_ObjectMeta(ctx, op, root.Child("metadata"), &csr.ObjectMeta, oldMeta)
	return append(errs, declared.ZeroOrOneOfUnion(ctx, op, root.Child("status", "conditions"),
		csr.Status.Conditions, oldConditions, r.approval,
		contains(certificatesv1.CertificateApproved), contains(certificatesv1.CertificateDenied)).MarkBeta()...)
}

// contains returns the question whether a list has a condition of the given type.
func contains(conditionType certificatesv1.RequestConditionType) declared.ExtractorFn[[]certificatesv1.CertificateSigningRequestCondition, bool] {
	return func(conditions []certificatesv1.CertificateSigningRequestCondition) bool {
		return hasCondition(conditions, conditionType)
	}
}
