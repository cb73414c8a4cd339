// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package namespace decides what happens to namespaces: how they're born active, who may change their finalizers and
// their phase, and how their deletion takes two steps.
//
// The rules are those of pkg/registry/core/namespace in k8s.io/kubernetes.
package namespace

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/pinnace-io/pinnace/pkg/apis/core"
	"github.com/pinnace-io/pinnace/pkg/registry/strategy"
)

// Strategy decides about the main endpoint, which can change metadata only.
type Strategy struct {
	strategy.Base[*corev1.Namespace]
}

// NewStrategy returns the strategy of the main endpoint.
func NewStrategy() Strategy {
	return Strategy{}
}

// PrepareForCreate makes the namespace active and puts it in the care of the namespace controller, whose finalizer
// keeps it until it is empty. That's no default: the finalizer goes away in the course of a deletion, and must not come
// back when the namespace is next read.
func (Strategy) PrepareForCreate(_ context.Context, ns *corev1.Namespace) {
	ns.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
}

// Validate checks a new namespace.
func (Strategy) Validate(_ context.Context, ns *corev1.Namespace) field.ErrorList {
	return core.ValidateNamespace(ns)
}

// Canonicalize labels the namespace with its name. Defaulting does so too, but before generateName has made a name.
func (Strategy) Canonicalize(ns *corev1.Namespace) {
	core.LabelWithName(ns)
}

// PrepareForUpdate keeps finalizers and status, which have endpoints of their own.
func (Strategy) PrepareForUpdate(_ context.Context, ns, old *corev1.Namespace) {
	ns.Spec.Finalizers = old.Spec.Finalizers
	ns.Status = old.Status
}

// ValidateUpdate checks the new namespace, then the change.
func (Strategy) ValidateUpdate(_ context.Context, ns, old *corev1.Namespace) field.ErrorList {
	return append(core.ValidateNamespace(ns), core.ValidateNamespaceUpdate(ns, old)...)
}
