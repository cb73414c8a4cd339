// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package core_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	upstreamv1 "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/pinnace-io/pinnace/pkg/apis/core"
)

func schemes(t *testing.T) (ours, upstream *runtime.Scheme) {
	t.Helper()
	ours, upstream = runtime.NewScheme(), runtime.NewScheme()
	if err := core.RegisterValidations(ours); err != nil {
		t.Fatal(err)
	}
	if err := upstreamv1.RegisterValidations(upstream); err != nil {
		t.Fatal(err)
	}
	return ours, upstream
}

func TestDeclarativeRulesOfNamespace(t *testing.T) {
	t.Parallel()
	generation := func(n int64) func(*corev1.Namespace) {
		return func(ns *corev1.Namespace) { ns.Generation = n }
	}
	owner := func(ns *corev1.Namespace) {
		ns.OwnerReferences = []metav1.OwnerReference{{}}
	}
	tests := map[string]struct {
		ns, old *corev1.Namespace // no old one: creation
		wantAny bool
	}{
		"a plain one is created":                          {ns: build()},
		"a negative generation":                           {ns: build(generation(-1)), wantAny: true},
		"an owner without a name":                         {ns: build(owner), wantAny: true},
		"nothing changes":                                 {ns: build(), old: build()},
		"metadata doesn't change, wrong as it is":         {ns: build(generation(-1), phase("x")), old: build(generation(-1))},
		"metadata changes, the wrong part of it does not": {ns: build(generation(-1), func(ns *corev1.Namespace) { ns.Labels = map[string]string{"a": "b"} }), old: build(generation(-1))},
		"the generation becomes negative":                 {ns: build(generation(-1)), old: build(), wantAny: true},
		"another uid":                                     {ns: build(func(ns *corev1.Namespace) { ns.UID = "v" }), old: build(), wantAny: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, upstream := schemes(t)
			for _, subresources := range [][]string{nil, {"status"}, {"finalize"}, {"elsewhere"}} {
				run := func(s *runtime.Scheme) []rendered {
					if tc.old == nil {
						return render(s.Validate(t.Context(), nil, tc.ns, subresources...))
					}
					return render(s.ValidateUpdate(t.Context(), nil, tc.ns, tc.old, subresources...))
				}
				got := run(ours)
				if diff := cmp.Diff(run(upstream), got); diff != "" {
					t.Errorf("%v: errors differ from upstream's (-upstream +ours):\n%s", subresources, diff)
				}
				known := len(subresources) == 0 || subresources[0] != "elsewhere"
				if want := tc.wantAny || !known; (len(got) > 0) != want {
					t.Errorf("%v: errors %v, want any: %t", subresources, got, want)
				}
				for _, err := range got {
					if known && !err.Alpha {
						t.Errorf("%v: %q is enforced", subresources, err.Text)
					}
				}
			}
		})
	}
}
