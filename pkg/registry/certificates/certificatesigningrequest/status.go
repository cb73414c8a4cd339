// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificatesigningrequest

import (
	"context"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	"github.com/pinnace-io/pinnace/pkg/apis/certificates"
)

// StatusStrategy decides about /status, where a signer puts the certificate or says that it failed.
type StatusStrategy struct {
	Strategy
	clock clock.PassiveClock
}

// NewStatusStrategy returns the strategy of /status. now gives the times of conditions that come without.
func NewStatusStrategy(main Strategy, now clock.PassiveClock) StatusStrategy {
	return StatusStrategy{Strategy: main, clock: now}
}

// PrepareForUpdate keeps the spec and the approvals as they are stored, and fills in the times of conditions. Where the
// number of approvals changed there is nothing to keep: validation refuses that.
func (s StatusStrategy) PrepareForUpdate(_ context.Context, newCSR, oldCSR *certificatesv1.CertificateSigningRequest) {
	newCSR.Spec = oldCSR.Spec
	keepConditions(newCSR.Status.Conditions, oldCSR.Status.Conditions, certificatesv1.CertificateApproved)
	keepConditions(newCSR.Status.Conditions, oldCSR.Status.Conditions, certificatesv1.CertificateDenied)
	fillConditionTimes(s.clock, newCSR.Status.Conditions, oldCSR.Status.Conditions)
}

// ValidateUpdate returns what is wrong with a change of certificate and conditions.
func (StatusStrategy) ValidateUpdate(_ context.Context, newCSR, oldCSR *certificatesv1.CertificateSigningRequest) field.ErrorList {
	return certificates.ValidateCertificateSigningRequestStatusUpdate(newCSR, oldCSR)
}
