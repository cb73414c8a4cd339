// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package podtemplate

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/pod"
	core "k8s.io/kubernetes/pkg/apis/core"
	upstream "k8s.io/kubernetes/pkg/apis/core/v1"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
)

// Template is a v1 pod template together with its form in upstream's internal type.
//
// The two share memory. A Template is a short-lived view: neither form may be changed by others while it is in use.
type Template struct {
	v1       *corev1.PodTemplateSpec
	internal core.PodTemplateSpec
	// err is why there is no internal form. A normalized template always has one.
	err error
}

// Of returns the view of t, which is not changed.
func Of(t *corev1.PodTemplateSpec) *Template {
	view := &Template{v1: t}
	view.err = upstream.Convert_v1_PodTemplateSpec_To_core_PodTemplateSpec(t, &view.internal, nil)
	return view
}

// DropDisabledFields removes from the v1 template the fields of features that are off, except where the old template
// uses the feature already, and the annotations that once described init containers. old is nil on creation.
//
// Rule: DropDisabledTemplateFields in pkg/api/pod of k8s.io/kubernetes.
func (t *Template) DropDisabledFields(old *Template) {
	if t.err != nil {
		return // the template stays as it is, Validate refuses it
	}
	pod.DropDisabledTemplateFields(&t.internal, old.orNil())
	// Values are dropped in the internal struct, what lies behind pointers is shared and dropped already.
	t.err = upstream.Convert_core_PodTemplateSpec_To_v1_PodTemplateSpec(&t.internal, t.v1, nil)
}

// Options are the tolerances of a validation: what is let pass because a feature is on, or because the stored object
// has it already. The zero value tolerates nothing; Template.Options returns the right ones.
type Options struct {
	// AllowInvalidLabelValueInSelector lets label values pass in selectors that no label can have.
	AllowInvalidLabelValueInSelector bool

	others corevalidation.PodValidationOptions
}

// Options returns the tolerances for t as the replacement of old; old is nil on creation.
//
// Rule: GetValidationOptionsFromPodTemplate in pkg/api/pod of k8s.io/kubernetes.
func (t *Template) Options(old *Template) Options {
	options := pod.GetValidationOptionsFromPodTemplate(&t.internal, old.orNil())
	return Options{AllowInvalidLabelValueInSelector: options.AllowInvalidLabelValueInSelector, others: options}
}

// Validate returns what is wrong with the template, which is at path.
//
// Rule: ValidatePodTemplateSpec in pkg/apis/core/validation of k8s.io/kubernetes.
func (t *Template) Validate(path *field.Path, options Options) field.ErrorList {
	if t.err != nil {
		return field.ErrorList{field.InternalError(path, t.err)}
	}
	all := options.others
	all.AllowInvalidLabelValueInSelector = options.AllowInvalidLabelValueInSelector
	return corevalidation.ValidatePodTemplateSpec(&t.internal, path, all)
}

// Warnings returns what is valid in the template but not wise; path is where the template is. With an old template
// (nil on creation) some warnings are given for what is new only.
//
// Rule: GetWarningsForPodTemplate in pkg/api/pod of k8s.io/kubernetes.
func (t *Template) Warnings(ctx context.Context, path *field.Path, old *Template) []string {
	return pod.GetWarningsForPodTemplate(ctx, path, &t.internal, old.orNil())
}

// orNil returns the internal form, nil for a nil view, as upstream's functions take "no old template".
func (t *Template) orNil() *core.PodTemplateSpec {
	if t == nil {
		return nil
	}
	return &t.internal
}
