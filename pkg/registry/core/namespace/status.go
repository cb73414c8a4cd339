// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package namespace

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/pinnace-io/pinnace/pkg/apis/core"
)

// StatusStrategy decides about /status, where the phase and the conditions of a deletion are reported.
type StatusStrategy struct {
	Strategy
}

// NewStatusStrategy returns the strategy of /status.
func NewStatusStrategy(main Strategy) StatusStrategy {
	return StatusStrategy{Strategy: main}
}

// PrepareForUpdate keeps spec.
func (StatusStrategy) PrepareForUpdate(_ context.Context, ns, old *corev1.Namespace) {
	ns.Spec = old.Spec
}

// ValidateUpdate checks that the phase goes with the deletion timestamp.
func (StatusStrategy) ValidateUpdate(_ context.Context, ns, old *corev1.Namespace) field.ErrorList {
	return core.ValidateNamespaceStatusUpdate(ns, old)
}
