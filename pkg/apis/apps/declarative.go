// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package apps

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/safe"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/pinnace-io/pinnace/pkg/apis/podtemplate"
)

// RegisterValidations adds to scheme the rules that upstream declares with tags on the v1 types, for DaemonSet and its
// status and for ControllerRevision. They run after the hand-written validation, which marks what they cover; most
// carry the mark alpha and are compared with it, not enforced. It returns no error in this version.
//
// Rule: RegisterValidations in pkg/apis/apps/v1/zz_generated.validations.go of k8s.io/kubernetes.
func RegisterValidations(scheme *runtime.Scheme) error {
	scheme.AddValidationFunc(&appsv1.ControllerRevision{}, func(ctx context.Context, op operation.Operation, obj, old any) field.ErrorList {
		if op.Request.SubresourcePath() != "/" {
			return noValidation(op, obj)
		}
		revision, oldRevision := obj.(*appsv1.ControllerRevision), safe.Cast[*appsv1.ControllerRevision](old)
		oldMeta := safe.Field(oldRevision, func(r *appsv1.ControllerRevision) *metav1.ObjectMeta { return &r.ObjectMeta })
		return metav1validation.Validate_ObjectMeta(ctx, op, field.NewPath("metadata"), &revision.ObjectMeta, oldMeta)
	})
	scheme.AddValidationFunc(&appsv1.DaemonSet{}, func(ctx context.Context, op operation.Operation, obj, old any) field.ErrorList {
		switch op.Request.SubresourcePath() {
		case "/", "/status":
			return validateDaemonSetDeclaratively(ctx, op, obj.(*appsv1.DaemonSet), safe.Cast[*appsv1.DaemonSet](old))
		}
		return noValidation(op, obj)
	})
	return nil
}

// validateDaemonSetDeclaratively has rules for metadata and for the pod template. Both leave out, field by field, what an
// update doesn't change, so that no larger part need be compared first, as upstream does.
func validateDaemonSetDeclaratively(ctx context.Context, op operation.Operation, ds, old *appsv1.DaemonSet) field.ErrorList {
	oldMeta := safe.Field(old, func(ds *appsv1.DaemonSet) *metav1.ObjectMeta { return &ds.ObjectMeta })
	oldTemplate := safe.Field(old, func(ds *appsv1.DaemonSet) *corev1.PodTemplateSpec { return &ds.Spec.Template })

	errs := metav1validation.Validate_ObjectMeta(ctx, op, field.NewPath("metadata"), &ds.ObjectMeta, oldMeta)
	return append(errs, podtemplate.ValidateDeclaratively(ctx, op, field.NewPath("spec", "template"), &ds.Spec.Template, oldTemplate)...)
}

// noValidation is the answer for a subresource that is not registered: a defect of the server, not of the request.
func noValidation(op operation.Operation, obj any) field.ErrorList {
	return field.ErrorList{field.InternalError(nil, fmt.Errorf("no validation found for %T, subresource: %v", obj, op.Request.SubresourcePath()))}
}
