// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package objectmeta validates object metadata as kube-apiserver does for its built-in kinds: the rules of
// k8s.io/apimachinery and, on top, the rule for the names of finalizers.
package objectmeta

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate returns what is wrong with the metadata of an object that is to be stored. name decides which names
// the kind allows. Rule: ValidateObjectMeta in pkg/apis/core/validation of k8s.io/kubernetes.
func Validate(meta *metav1.ObjectMeta, namespaced bool, name validation.ValidateNameFunc, path *field.Path) field.ErrorList {
	errs := validation.ValidateObjectMeta(meta, namespaced, name, path)
	return append(errs, validateFinalizers(meta.Finalizers, path.Child("finalizers"))...)
}

// ValidateUpdate returns what is wrong with a change of metadata from oldMeta to newMeta.
// Rule: ValidateObjectMetaUpdate in pkg/apis/core/validation of k8s.io/kubernetes.
func ValidateUpdate(newMeta, oldMeta *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	errs := validation.ValidateObjectMetaUpdate(newMeta, oldMeta, path)
	return append(errs, validateFinalizers(newMeta.Finalizers, path.Child("finalizers"))...)
}

func validateFinalizers(finalizers []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, name := range finalizers {
		if !strings.Contains(name, "/") && !standardFinalizer(name) {
			errs = append(errs, field.Invalid(path.Index(i), name, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

// standardFinalizer tells whether name is one of the unqualified finalizers that Kubernetes itself uses.
func standardFinalizer(name string) bool {
	switch name {
	case string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents:
		return true
	}
	return false
}
