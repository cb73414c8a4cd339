// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package podtemplate

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestEqual(t *testing.T) {
	t.Parallel()
	cpu := func(quantity string) corev1.PodTemplateSpec {
		limits := corev1.ResourceList{"cpu": resource.MustParse(quantity)}
		return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: limits}}}}}
	}
	created := func(at time.Time) corev1.PodTemplateSpec {
		return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(at)}}
	}
	claim := func(at *metav1.Time) corev1.PodTemplateSpec {
		claim := &corev1.PersistentVolumeClaimTemplate{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: at}}
		volume := corev1.Volume{VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: claim}}}
		return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: []corev1.Volume{volume}}}
	}
	now := time.Unix(1700000000, 0)
	for name, test := range map[string]struct {
		a, b corev1.PodTemplateSpec
		want bool
		// same is whether the encoding already tells.
		same bool
	}{
		"nothing":                                   {want: true, same: true},
		"the same":                                  {a: cpu("1"), b: cpu("1"), want: true, same: true},
		"another label":                             {a: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}},
		"another value":                             {a: cpu("1"), b: cpu("2")},
		"empty and absent":                          {a: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: []corev1.Volume{}, NodeSelector: map[string]string{}}}, want: true, same: true},
		"false and absent":                          {a: corev1.PodTemplateSpec{Spec: corev1.PodSpec{HostUsers: ptr.To(false)}}},
		"an empty struct and no struct":             {a: corev1.PodTemplateSpec{Spec: corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{}}}},
		"a quantity written in another way":         {a: cpu("1Ki"), b: cpu("1024"), want: true},
		"a quantity written in thousandths":         {a: cpu("1"), b: cpu("1000m"), want: true, same: true},
		"another fraction of a second":              {a: created(now), b: created(now.Add(time.Millisecond))},
		"the same moment":                           {a: created(now), b: created(now), want: true},
		"another fraction of a second in a claim":   {a: claim(ptr.To(metav1.NewTime(now))), b: claim(ptr.To(metav1.NewTime(now.Add(1))))},
		"the same moment in a claim":                {a: claim(ptr.To(metav1.NewTime(now))), b: claim(ptr.To(metav1.NewTime(now))), want: true},
		"the same claim without a moment":           {a: claim(nil), b: claim(nil), want: true, same: true},
		"the same fields managed, perhaps for long": {a: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{}}}}, b: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{}}}}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Equal(&test.a, &test.b); got != test.want {
				t.Errorf("equal: %t, want %t", got, test.want)
			}
			if got := Equal(&test.b, &test.a); got != test.want {
				t.Errorf("equal the other way round: %t, want %t", got, test.want)
			}
			if got := sameEncoding(&test.a, &test.b); got != test.same {
				t.Errorf("same encoding: %t, want %t", got, test.same)
			}
			if got := apiequality.Semantic.DeepEqual(&test.a, &test.b); got != test.want {
				t.Errorf("the library says %t, want %t", got, test.want)
			}
		})
	}
}

// exactInProtobuf knows where a template can hold a moment. This is all there is.
func TestMomentsOfATemplate(t *testing.T) {
	t.Parallel()
	want := []string{
		".ObjectMeta.CreationTimestamp",
		".ObjectMeta.DeletionTimestamp",
		".ObjectMeta.ManagedFields.Time",
		".Spec.Volumes.VolumeSource.Ephemeral.VolumeClaimTemplate.ObjectMeta.CreationTimestamp",
		".Spec.Volumes.VolumeSource.Ephemeral.VolumeClaimTemplate.ObjectMeta.DeletionTimestamp",
		".Spec.Volumes.VolumeSource.Ephemeral.VolumeClaimTemplate.ObjectMeta.ManagedFields.Time",
	}
	got := moments(reflect.TypeFor[corev1.PodTemplateSpec](), "")
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("moments (-want +got):\n%s", diff)
	}
}

// moments returns the paths below a type that lead to a time.
func moments(of reflect.Type, path string) []string {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return moments(of.Elem(), path)
	case reflect.Struct:
		if of == reflect.TypeFor[metav1.Time]() || of == reflect.TypeFor[metav1.MicroTime]() || of == reflect.TypeFor[time.Time]() {
			return []string{path}
		}
		if of == reflect.TypeFor[resource.Quantity]() {
			return nil
		}
		var all []string
		for i := range of.NumField() {
			all = append(all, moments(of.Field(i).Type, path+"."+of.Field(i).Name)...)
		}
		return all
	}
	return nil
}
