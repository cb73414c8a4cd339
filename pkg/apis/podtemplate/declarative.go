// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package podtemplate

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	upstream "k8s.io/kubernetes/pkg/apis/core/v1"
)

// ValidateDeclaratively returns the violations of the rules that upstream declares with tags on the v1 types of a pod
// template, each marked with its stability; whoever runs declarative validation drops those that are not enforced.
// old is nil on creation.
//
// Rule: Validate_PodTemplateSpec in pkg/apis/core/v1/zz_generated.validations.go of k8s.io/kubernetes.
func ValidateDeclaratively(ctx context.Context, op operation.Operation, path *field.Path, t, old *corev1.PodTemplateSpec) field.ErrorList {
	if old != nil && op.Type == operation.Update && sameEncoding(t, old) {
		return nil // what hasn't changed isn't validated again; upstream finds out the slow way
	}
	return upstream.Validate_PodTemplateSpec(ctx, op, path, t, old)
}
