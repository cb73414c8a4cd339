// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/pinnace-io/pinnace/pkg/apis/objectmeta"
)

// The rules of this file are ValidateNamespace* of pkg/apis/core/validation in k8s.io/kubernetes.

// ValidateNamespace returns what is wrong with a namespace as a whole. Its finalizers in spec are all reported at
// spec.finalizers, without an index.
func ValidateNamespace(ns *corev1.Namespace) field.ErrorList {
	errs := objectmeta.Validate(&ns.ObjectMeta, false, apivalidation.ValidateNamespaceName, field.NewPath("metadata"))
	for _, name := range ns.Spec.Finalizers {
		errs = append(errs, validateFinalizerName(string(name), field.NewPath("spec", "finalizers"))...)
	}
	return errs
}

// ValidateNamespaceUpdate returns what is wrong with the change from old to ns by the main endpoint, beside
// ValidateNamespace of the new one.
func ValidateNamespaceUpdate(ns, old *corev1.Namespace) field.ErrorList {
	return objectmeta.ValidateUpdate(&ns.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
}

// ValidateNamespaceStatusUpdate returns what is wrong with a change by /status: a namespace is Active as long as
// nobody deletes it, and Terminating from then on.
func ValidateNamespaceStatusUpdate(ns, old *corev1.Namespace) field.ErrorList {
	errs := objectmeta.ValidateUpdate(&ns.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
	phase, path := ns.Status.Phase, field.NewPath("status", "Phase") // upper case in upstream's messages too
	switch deleted := !ns.DeletionTimestamp.IsZero(); {
	case !deleted && phase != corev1.NamespaceActive:
		errs = append(errs, field.Invalid(path, phase, "may only be 'Active' if `deletionTimestamp` is empty"))
	case deleted && phase != corev1.NamespaceTerminating:
		errs = append(errs, field.Invalid(path, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty"))
	}
	return errs
}

// ValidateNamespaceFinalizeUpdate returns what is wrong with a change by /finalize. Here the finalizers in spec are
// reported with their index.
func ValidateNamespaceFinalizeUpdate(ns, old *corev1.Namespace) field.ErrorList {
	errs := objectmeta.ValidateUpdate(&ns.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
	path := field.NewPath("spec", "finalizers")
	for i, name := range ns.Spec.Finalizers {
		errs = append(errs, validateFinalizerName(string(name), path.Index(i))...)
	}
	return errs
}

// validateFinalizerName wants a qualified name that has a domain, unless it's one of Kubernetes' own.
func validateFinalizerName(name string, path *field.Path) field.ErrorList {
	errs := apivalidation.ValidateFinalizerName(name, path)
	if !strings.Contains(name, "/") && !standardFinalizer(name) {
		errs = append(errs, field.Invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified"))
	}
	return errs
}

func standardFinalizer(name string) bool {
	switch name {
	case string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents:
		return true
	}
	return false
}
