// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package apps_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install" // the oracle's scheme

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
)

// schemeWithValidations knows nothing but the two kinds and their declared rules.
func schemeWithValidations(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(appsv1.SchemeGroupVersion, &appsv1.DaemonSet{}, &appsv1.ControllerRevision{})
	if err := apps.RegisterValidations(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}

func TestRegisterValidations(t *testing.T) {
	t.Parallel()
	badMeta := metav1.ObjectMeta{Name: "n", Generation: -1, ManagedFields: []metav1.ManagedFieldsEntry{{Operation: "Guess"}}}
	otherMeta := metav1.ObjectMeta{Name: "n", UID: "u", CreationTimestamp: metav1.NewTime(time.Unix(1700000000, 0))}
	responders := func(n int) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) {
			for i := range n {
				responder := corev1.EvictionResponder{Name: fmt.Sprintf("example.com/r%d", i)}
				ds.Spec.Template.Spec.EvictionResponders = append(ds.Spec.Template.Spec.EvictionResponders, responder)
			}
		}
	}
	toleration := func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "k", Operator: "Maybe", TolerationSeconds: new(int64)}}
	}
	both := func(changes ...func(*appsv1.DaemonSet)) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) {
			for _, change := range changes {
				change(ds)
			}
		}
	}
	for name, test := range map[string]struct {
		obj, old     runtime.Object // old is nil on creation
		subresources []string
		violations   int
	}{
		"a DaemonSet that is fine":                 {obj: bare(nil)},
		"bad metadata":                             {obj: bare(func(ds *appsv1.DaemonSet) { ds.ObjectMeta = badMeta }), violations: 2},
		"too many responders":                      {obj: bare(responders(12)), violations: 1},
		"too many responders and a bad toleration": {obj: bare(both(responders(12), toleration)), violations: 1},
		"too many responders as before":            {obj: bare(responders(12)), old: bare(responders(12))},
		"one responder too many after the update":  {obj: bare(responders(11)), old: bare(responders(10)), violations: 1},
		"a template as before in a changed spec": {
			obj: bare(both(responders(12), func(ds *appsv1.DaemonSet) { ds.Spec.MinReadySeconds = 9 })), old: bare(responders(12)),
		},
		"metadata that may not change":           {obj: bare(nil), old: bare(func(ds *appsv1.DaemonSet) { ds.ObjectMeta = otherMeta }), violations: 2},
		"bad metadata as before":                 {obj: bare(func(ds *appsv1.DaemonSet) { ds.ObjectMeta = badMeta }), old: bare(func(ds *appsv1.DaemonSet) { ds.ObjectMeta = badMeta })},
		"the status is held to the same rules":   {obj: bare(responders(12)), old: bare(nil), subresources: []string{"status"}, violations: 1},
		"another subresource has no rules":       {obj: bare(nil), subresources: []string{"scale"}, violations: 1},
		"a ControllerRevision that is fine":      {obj: revision(nil)},
		"a ControllerRevision with bad metadata": {obj: revision(func(r *appsv1.ControllerRevision) { r.ObjectMeta = badMeta }), violations: 2},
		"a ControllerRevision as before": {
			obj: revision(func(r *appsv1.ControllerRevision) { r.ObjectMeta = badMeta }), old: revision(func(r *appsv1.ControllerRevision) { r.ObjectMeta = badMeta }),
		},
		"metadata of a ControllerRevision that may not change": {
			obj: revision(nil), old: revision(func(r *appsv1.ControllerRevision) { r.ObjectMeta = otherMeta }), violations: 2,
		},
		"a ControllerRevision has no subresources": {obj: revision(nil), subresources: []string{"status"}, violations: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, want := schemeWithValidations(t).Validate(t.Context(), nil, test.obj, test.subresources...),
				legacyscheme.Scheme.Validate(t.Context(), nil, test.obj, test.subresources...)
			if test.old != nil {
				got = schemeWithValidations(t).ValidateUpdate(t.Context(), nil, test.obj, test.old, test.subresources...)
				want = legacyscheme.Scheme.ValidateUpdate(t.Context(), nil, test.obj, test.old, test.subresources...)
			}
			if diff := cmp.Diff(marks(want), marks(got)); diff != "" {
				t.Errorf("not upstream's errors (-upstream +got):\n%s", diff)
			}
			if len(got) != test.violations {
				t.Errorf("%d errors, want %d: %v", len(got), test.violations, got)
			}
		})
	}
}
