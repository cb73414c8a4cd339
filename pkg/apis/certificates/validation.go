// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/pinnace-io/pinnace/pkg/apis/objectmeta"
)

// minExpirationSeconds is the shortest validity that may be asked for, ten minutes (KEP-2784).
const minExpirationSeconds = 600

// ValidateCertificateSigningRequest returns what is wrong with a request that is to be created: its metadata, spec and
// status, in this order.
// Rules: pkg/apis/certificates/validation/validation.go of k8s.io/kubernetes, as applied to v1.
func ValidateCertificateSigningRequest(csr *certificatesv1.CertificateSigningRequest) field.ErrorList {
	return validate(csr, tolerances{})
}

// ValidateCertificateSigningRequestUpdate returns what is wrong with a change through the main endpoint, which may
// neither add or change an approval nor touch the certificate. The new object is validated as a whole; what is wrong
// with the stored one already is tolerated.
func ValidateCertificateSigningRequestUpdate(newCSR, oldCSR *certificatesv1.CertificateSigningRequest) field.ErrorList {
	return validateUpdate(newCSR, oldCSR, permissions{})
}

// ValidateCertificateSigningRequestStatusUpdate returns what is wrong with a change through /status, which may set the
// certificate once, and any condition but an approval.
func ValidateCertificateSigningRequestStatusUpdate(newCSR, oldCSR *certificatesv1.CertificateSigningRequest) field.ErrorList {
	return validateUpdate(newCSR, oldCSR, permissions{setCertificate: true})
}

// ValidateCertificateSigningRequestApprovalUpdate returns what is wrong with a change through /approval, which may set
// any condition, approvals among them, and not the certificate.
func ValidateCertificateSigningRequestApprovalUpdate(newCSR, oldCSR *certificatesv1.CertificateSigningRequest) field.ErrorList {
	return validateUpdate(newCSR, oldCSR, permissions{setApprovals: true})
}

// permissions are the changes that an endpoint exists for.
type permissions struct {
	// setApprovals allows to add and change the conditions Approved and Denied.
	setApprovals bool
	// setCertificate allows to set status.certificate where there is none.
	setCertificate bool
}

func validate(csr *certificatesv1.CertificateSigningRequest, tolerated tolerances) field.ErrorList {
	spec, status := field.NewPath("spec"), field.NewPath("status")

	errs := objectmeta.Validate(&csr.ObjectMeta, false, anyName, field.NewPath("metadata"))
	if err := checkRequest(csr.Spec.Request); err != nil {
		errs = append(errs, field.Invalid(spec.Child("request"), csr.Spec.Request, err.Error()))
	}
	errs = append(errs, validateUsages(csr.Spec.Usages, tolerated, spec.Child("usages"))...)
	errs = append(errs, validateRequestedSigner(csr.Spec.SignerName, tolerated, spec.Child("signerName"))...)
	if seconds := csr.Spec.ExpirationSeconds; seconds != nil && *seconds < minExpirationSeconds {
		errs = append(errs, field.Invalid(spec.Child("expirationSeconds"), *seconds, "may not specify a duration less than 600 seconds (10 minutes)"))
	}
	errs = append(errs, validateConditions(csr.Status.Conditions, tolerated, status.Child("conditions"))...)
	if !tolerated.arbitraryCertificate {
		if err := checkCertificate(csr.Status.Certificate); err != nil {
			// The value is left out: it is long, and what it holds may not even be a certificate.
			errs = append(errs, field.Invalid(status.Child("certificate"), "<certificate data>", err.Error()))
		}
	}
	return errs
}

// anyName allows every name. That it must fit into a URL path is checked for all kinds by the registry.
func anyName(string, bool) []string { return nil }

func validateRequestedSigner(name string, tolerated tolerances, path *field.Path) field.ErrorList {
	if name == LegacyUnknownSignerName && !tolerated.legacySignerName {
		return field.ErrorList{field.Invalid(path, name, "the legacy signerName is not allowed via this API version")}
	}
	return ValidateSignerName(name, path)
}

func validateUpdate(newCSR, oldCSR *certificatesv1.CertificateSigningRequest, permitted permissions) field.ErrorList {
	status := field.NewPath("status")
	newConditions, oldConditions := newCSR.Status.Conditions, oldCSR.Status.Conditions

	errs := validate(newCSR, tolerancesFor(oldCSR))
	errs = append(errs, validateVerdictsKept(newConditions, oldConditions, status.Child("conditions"))...)
	if !permitted.setApprovals {
		errs = append(errs, validateApprovalsKept(newConditions, oldConditions, status.Child("conditions"))...)
	}
	errs = append(errs, validateCertificateKept(newCSR, oldCSR, permitted, status.Child("certificate"))...)
	return append(errs, objectmeta.ValidateUpdate(&newCSR.ObjectMeta, &oldCSR.ObjectMeta, field.NewPath("metadata"))...)
}

func validateCertificateKept(newCSR, oldCSR *certificatesv1.CertificateSigningRequest, permitted permissions, path *field.Path) field.ErrorList {
	switch {
	case bytes.Equal(newCSR.Status.Certificate, oldCSR.Status.Certificate):
		return nil
	case !permitted.setCertificate:
		return field.ErrorList{field.Forbidden(path, "updates may not set certificate content")}
	case len(oldCSR.Status.Certificate) > 0:
		return field.ErrorList{field.Forbidden(path, "updates may not modify existing certificate content")}
	}
	return nil
}
