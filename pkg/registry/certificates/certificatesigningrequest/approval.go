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

// ApprovalStrategy decides about /approval, where an approver says yes or no. Whether the user may approve requests to
// this signer is a question for admission, not for the strategy.
type ApprovalStrategy struct {
	Strategy
	clock clock.PassiveClock
}

// NewApprovalStrategy returns the strategy of /approval. now gives the times of conditions that come without.
func NewApprovalStrategy(main Strategy, now clock.PassiveClock) ApprovalStrategy {
	return ApprovalStrategy{Strategy: main, clock: now}
}

// PrepareForUpdate keeps everything but the conditions as it is stored, and fills in their times.
func (s ApprovalStrategy) PrepareForUpdate(_ context.Context, newCSR, oldCSR *certificatesv1.CertificateSigningRequest) {
	fillConditionTimes(s.clock, newCSR.Status.Conditions, oldCSR.Status.Conditions)
	newCSR.Spec = oldCSR.Spec
	newCSR.Status.Certificate = oldCSR.Status.Certificate
}

// ValidateUpdate returns what is wrong with a change of conditions.
func (ApprovalStrategy) ValidateUpdate(_ context.Context, newCSR, oldCSR *certificatesv1.CertificateSigningRequest) field.ErrorList {
	return certificates.ValidateCertificateSigningRequestApprovalUpdate(newCSR, oldCSR)
}
