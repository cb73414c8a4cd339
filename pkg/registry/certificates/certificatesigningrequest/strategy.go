// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificatesigningrequest

import (
	"context"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/pinnace-io/pinnace/pkg/apis/certificates"
	"github.com/pinnace-io/pinnace/pkg/registry/strategy"
)

// Strategy decides about the main endpoint. Like most kinds, requests have no warnings, are not created by PUT, and may
// be updated without a resourceVersion.
type Strategy struct {
	strategy.Base[*certificatesv1.CertificateSigningRequest]
}

// NewStrategy returns the strategy of the main endpoint.
func NewStrategy() Strategy {
	return Strategy{}
}

// PrepareForCreate sets the requestor and empties the status, whatever the client sent in either. Without a user in
// ctx the requestor is empty.
func (Strategy) PrepareForCreate(ctx context.Context, csr *certificatesv1.CertificateSigningRequest) {
	setRequestor(ctx, &csr.Spec)
	// Nobody creates a request that is approved already.
	csr.Status = certificatesv1.CertificateSigningRequestStatus{
		Conditions: []certificatesv1.CertificateSigningRequestCondition{},
	}
}

// Validate returns what is wrong with a new request; among other things its signature is checked.
func (Strategy) Validate(_ context.Context, csr *certificatesv1.CertificateSigningRequest) field.ErrorList {
	return certificates.ValidateCertificateSigningRequest(csr)
}

// PrepareForUpdate keeps spec and status as they are stored.
func (Strategy) PrepareForUpdate(_ context.Context, newCSR, oldCSR *certificatesv1.CertificateSigningRequest) {
	newCSR.Spec = oldCSR.Spec
	newCSR.Status = oldCSR.Status
}

// ValidateUpdate returns what is wrong with a change of metadata.
func (Strategy) ValidateUpdate(_ context.Context, newCSR, oldCSR *certificatesv1.CertificateSigningRequest) field.ErrorList {
	return certificates.ValidateCertificateSigningRequestUpdate(newCSR, oldCSR)
}

// setRequestor writes the user that ctx carries into spec, in place of what the client wrote.
func setRequestor(ctx context.Context, spec *certificatesv1.CertificateSigningRequestSpec) {
	spec.Username, spec.UID, spec.Groups, spec.Extra = "", "", nil, nil
	requestor, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return
	}
	spec.Username = requestor.GetName()
	spec.UID = requestor.GetUID()
	spec.Groups = slices.Clone(requestor.GetGroups())
	if extra := requestor.GetExtra(); len(extra) > 0 {
		spec.Extra = make(map[string]certificatesv1.ExtraValue, len(extra))
		for key, values := range extra {
			spec.Extra[key] = slices.Clone(values)
		}
	}
}
