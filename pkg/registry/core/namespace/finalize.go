// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package namespace

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/pinnace-io/pinnace/pkg/apis/core"
)

// FinalizeStrategy decides about /finalize, the only place where spec.finalizers changes. Taking the last one out of a
// namespace that is being deleted ends it; see ShouldDeleteDuringUpdate.
type FinalizeStrategy struct {
	Strategy
}

// NewFinalizeStrategy returns the strategy of /finalize.
func NewFinalizeStrategy(main Strategy) FinalizeStrategy {
	return FinalizeStrategy{Strategy: main}
}

// PrepareForUpdate keeps status.
func (FinalizeStrategy) PrepareForUpdate(_ context.Context, ns, old *corev1.Namespace) {
	ns.Status = old.Status
}

// ValidateUpdate checks the finalizers.
func (FinalizeStrategy) ValidateUpdate(_ context.Context, ns, old *corev1.Namespace) field.ErrorList {
	return core.ValidateNamespaceFinalizeUpdate(ns, old)
}
