// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package apps_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
)

// limit is what all annotations of an object may have in bytes, keys and values.
const limit = 256 << 10

// filled returns annotations of exactly size bytes that have nothing to do with us.
func filled(size int) map[string]string {
	return map[string]string{"filler": strings.Repeat("x", size-len("filler"))}
}

// with adds the template generation to a copy of annotations.
func with(annotations map[string]string, value string) map[string]string {
	all := maps.Clone(annotations)
	all[appsv1.DeprecatedTemplateGeneration] = value
	return all
}

func TestTemplateGeneration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		annotations map[string]string
		selfLink    string
		want        int64
	}{
		"absent":                             {},
		"a number":                           {annotations: generation("12"), want: 12},
		"a negative number":                  {annotations: generation("-2"), want: -2},
		"garbage":                            {annotations: generation("x")},
		"out of range":                       {annotations: generation("99999999999999999999")},
		"hidden":                             {selfLink: "deprecated.daemonset.template.generation=7;/apis/x", want: 7},
		"hidden and in the annotation":       {annotations: generation("3"), selfLink: "deprecated.daemonset.template.generation=7;", want: 3},
		"a selfLink of the client":           {selfLink: "/apis/apps/v1/daemonsets/x"},
		"a selfLink that only looks like it": {selfLink: "deprecated.daemonset.template.generation=seven"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ds := bare(func(ds *appsv1.DaemonSet) { ds.Annotations, ds.SelfLink = test.annotations, test.selfLink })
			if got := apps.TemplateGeneration(ds); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestSetTemplateGeneration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		annotations map[string]string
		want        map[string]string
	}{
		"no annotations":      {want: generation("4")},
		"others stay":         {annotations: map[string]string{"a": "b"}, want: with(map[string]string{"a": "b"}, "4")},
		"an old one goes":     {annotations: generation("3"), want: generation("4")},
		"garbage goes":        {annotations: generation("x"), want: generation("4")},
		"the same one stays":  {annotations: generation("4"), want: generation("4")},
		"a plus sign is lost": {annotations: generation("+4"), want: generation("4")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shared := maps.Clone(test.annotations)
			ds := bare(func(ds *appsv1.DaemonSet) { ds.Annotations = shared })
			apps.SetTemplateGeneration(ds, 4)
			if diff := cmp.Diff(test.want, ds.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.annotations, shared); diff != "" {
				t.Errorf("the map of others was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestWithoutTemplateGeneration(t *testing.T) {
	t.Parallel()
	plain := bare(func(ds *appsv1.DaemonSet) { ds.Annotations = map[string]string{"a": "b"} })
	if got := apps.WithoutTemplateGeneration(plain); got != plain {
		t.Error("an object without the annotation was copied")
	}

	ds := bare(func(ds *appsv1.DaemonSet) { ds.Annotations = with(map[string]string{"a": "b"}, "4") })
	before := ds.DeepCopy()
	got := apps.WithoutTemplateGeneration(ds)
	if diff := cmp.Diff(internal(t, ds).ObjectMeta, got.ObjectMeta); diff != "" {
		t.Errorf("not the metadata of upstream's internal type (-upstream +got):\n%s", diff)
	}
	if diff := cmp.Diff(before.Spec, got.Spec); diff != "" {
		t.Errorf("the spec isn't that of the object:\n%s", diff)
	}
	if diff := cmp.Diff(before, ds); diff != "" {
		t.Errorf("the object was changed (-before +after):\n%s", diff)
	}
}

func TestHideTemplateGeneration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		annotations map[string]string
		selfLink    string
		wantHidden  bool
	}{
		"small annotations hide nothing":                 {annotations: generation("5")},
		"an object without the annotation hides nothing": {annotations: filled(limit + 1)},
		"at the limit with it, nothing is hidden":        {annotations: with(filled(limit-len(appsv1.DeprecatedTemplateGeneration)-1), "5")},
		"one byte more hides it":                         {annotations: with(filled(limit-len(appsv1.DeprecatedTemplateGeneration)), "5"), wantHidden: true},
		"at the limit without it, it is hidden":          {annotations: with(filled(limit), "5"), wantHidden: true},
		"a selfLink of the client outlives the hiding":   {annotations: with(filled(limit), "5"), selfLink: "a;b", wantHidden: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shared := maps.Clone(test.annotations)
			ds := bare(func(ds *appsv1.DaemonSet) { ds.Annotations, ds.SelfLink = shared, test.selfLink })
			before, want := ds.DeepCopy(), apps.TemplateGeneration(ds)

			apps.HideTemplateGeneration(ds)
			if _, visible := ds.Annotations[appsv1.DeprecatedTemplateGeneration]; test.wantHidden && visible {
				t.Error("the annotation is still there")
			}
			if changed := !reflect.DeepEqual(before, ds); changed != test.wantHidden {
				t.Errorf("object changed: %t, want %t", changed, test.wantHidden)
			}
			if got := apps.TemplateGeneration(ds); got != want {
				t.Errorf("generation is %d while hidden, want %d", got, want)
			}
			if len(test.annotations) != len(shared) {
				t.Error("the map of others was changed")
			}

			apps.RevealTemplateGeneration(ds)
			if !reflect.DeepEqual(before, ds) {
				t.Error("hiding and revealing it doesn't give the object back")
			}
		})
	}
}

func TestRevealTemplateGenerationOfClientsSelfLink(t *testing.T) {
	t.Parallel()
	ds := bare(func(ds *appsv1.DaemonSet) {
		ds.Annotations, ds.SelfLink = generation("1"), "deprecated.daemonset.template.generation=9;x"
	})
	before := ds.DeepCopy()
	apps.RevealTemplateGeneration(ds)
	if diff := cmp.Diff(before, ds); diff != "" {
		t.Errorf("a selfLink of a client was taken for ours (-before +after):\n%s", diff)
	}
}
