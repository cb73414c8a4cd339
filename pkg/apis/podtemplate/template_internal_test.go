// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package podtemplate

import (
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	core "k8s.io/kubernetes/pkg/apis/core"
)

// No template is without an internal form in this version, so the failure is made by hand.
func TestTemplateWithoutInternalForm(t *testing.T) {
	t.Parallel()
	v1 := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeName: "kept"}}
	view := &Template{v1: v1, err: errors.New("cannot convert")}

	view.DropDisabledFields(nil)
	if want := (&corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeName: "kept"}}); !reflect.DeepEqual(want, v1) {
		t.Errorf("the template was changed (-want +got):\n%s", cmp.Diff(want, v1))
	}
	errs := view.Validate(field.NewPath("spec", "template"), view.Options(nil))
	if len(errs) != 1 || errs[0].Error() != "spec.template: Internal error: cannot convert" {
		t.Errorf("got %v, want one internal error that says why", errs)
	}
}

// Performance and doc.go rely on it: a conversion copies one struct and shares what is below. If an upgrade breaks
// this test nothing is wrong, but the comments are, and creates and updates cost more.
func TestConversionSharesMemory(t *testing.T) {
	t.Parallel()
	v1 := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}}}}
	view := Of(v1)
	view.internal.Spec.Containers[0].Name = "b"
	if got := v1.Spec.Containers[0].Name; got != "b" {
		t.Errorf("container of the v1 template is called %q, want b: the forms no longer share memory", got)
	}
	if got, want := reflect.TypeFor[core.PodTemplateSpec]().Size(), reflect.TypeFor[corev1.PodTemplateSpec]().Size(); got != want {
		t.Errorf("internal template has %d bytes, v1 template %d", got, want)
	}
}
