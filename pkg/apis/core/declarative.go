// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package core

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/safe"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// RegisterValidations adds the declarative rules of the group's kinds to the scheme. They are those that
// kube-apiserver generates into pkg/apis/core/v1/zz_generated.validations.go. For a namespace they are the rules of its
// metadata, all of alpha stage: they're compared with the rules by hand and counted, never enforced.
func RegisterValidations(scheme *runtime.Scheme) error {
	scheme.AddValidationFunc(&corev1.Namespace{}, func(ctx context.Context, op operation.Operation, obj, old any) field.ErrorList {
		switch op.Request.SubresourcePath() {
		case "/", "/finalize", "/status":
			return validateNamespaceDeclaratively(ctx, op, obj.(*corev1.Namespace), safe.Cast[*corev1.Namespace](old))
		}
		return field.ErrorList{field.InternalError(nil, fmt.Errorf("no validation found for %T, subresource: %v", obj, op.Request.SubresourcePath()))}
	})
	return nil
}

func validateNamespaceDeclaratively(ctx context.Context, op operation.Operation, ns, old *corev1.Namespace) field.ErrorList {
	oldMeta := safe.Field(old, func(ns *corev1.Namespace) *metav1.ObjectMeta { return &ns.ObjectMeta })
	if op.Type == operation.Update && oldMeta != nil && equality.Semantic.DeepEqual(&ns.ObjectMeta, oldMeta) {
		return nil // what is stored already isn't judged again
	}
	return metavalidation.Validate_ObjectMeta(ctx, op, field.NewPath("metadata"), &ns.ObjectMeta, oldMeta)
}
