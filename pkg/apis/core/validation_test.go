// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package core_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	upstream "k8s.io/kubernetes/pkg/apis/core/validation"

	"github.com/pinnace-io/pinnace/pkg/apis/core"
)

// build returns a valid namespace with changes.
func build(changes ...func(*corev1.Namespace)) *corev1.Namespace {
	ns := &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: "foo", UID: "u", ResourceVersion: "1"},
		Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
		Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}
	for _, change := range changes {
		change(ns)
	}
	return ns
}

func finalizers(names ...corev1.FinalizerName) func(*corev1.Namespace) {
	return func(ns *corev1.Namespace) { ns.Spec.Finalizers = names }
}

func phase(phase corev1.NamespacePhase) func(*corev1.Namespace) {
	return func(ns *corev1.Namespace) { ns.Status.Phase = phase }
}

func deleted(ns *corev1.Namespace) {
	at := metav1.NewTime(time.Unix(1700000000, 0))
	ns.DeletionTimestamp = &at
}

func TestValidateNamespace(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	tests := map[string]struct {
		ns   *corev1.Namespace
		want []string
	}{
		"a plain namespace": {ns: build()},
		"no finalizers":     {ns: build(finalizers())},
		"finalizers of Kubernetes and of a domain": {
			ns: build(finalizers("kubernetes", "orphan", "foregroundDeletion", "example.com/x")),
		},
		"no name": {
			ns:   build(func(ns *corev1.Namespace) { ns.Name = "" }),
			want: []string{`metadata.name: Required value: name or generateName is required`},
		},
		"a name that is no label": {
			ns:   build(func(ns *corev1.Namespace) { ns.Name = "a.b" }),
			want: []string{`metadata.name: Invalid value: "a.b": must not contain dots`},
		},
		"a name that is too long": {
			ns:   build(func(ns *corev1.Namespace) { ns.Name = long }),
			want: []string{`metadata.name: Invalid value: "` + long + `": must be no more than 63 characters`},
		},
		"a prefix to generate from that ends with a dash": {
			ns: build(func(ns *corev1.Namespace) { ns.Name, ns.GenerateName = "foo", "foo-" }),
		},
		"a namespace within a namespace": {
			ns:   build(func(ns *corev1.Namespace) { ns.Namespace = "x" }),
			want: []string{`metadata.namespace: Forbidden: not allowed on this type`},
		},
		"an unqualified finalizer in metadata": {
			ns:   build(func(ns *corev1.Namespace) { ns.Finalizers = []string{"mine"} }),
			want: []string{`metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`},
		},
		"an unqualified finalizer in spec: no index": {
			ns:   build(finalizers("kubernetes", "mine")),
			want: []string{`spec.finalizers: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`},
		},
		"an empty finalizer: three complaints": {
			ns: build(finalizers("")),
			want: []string{
				`spec.finalizers: Invalid value: "": name part must be non-empty`,
				"spec.finalizers: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
				`spec.finalizers: Invalid value: "": name is neither a standard finalizer name nor is it fully qualified`,
			},
		},
		"a finalizer of too many parts": {
			ns:   build(finalizers("a/b/c")),
			want: []string{"spec.finalizers: Invalid value: \"a/b/c\": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"},
		},
		"any phase: it's overwritten anyway": {ns: build(phase("Odd"))},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := tc.ns.DeepCopy()
			got := core.ValidateNamespace(tc.ns)
			var texts []string
			for _, err := range got {
				texts = append(texts, err.Error())
			}
			if diff := cmp.Diff(tc.want, texts); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(render(upstream.ValidateNamespace(internal(t, tc.ns))), render(got)); diff != "" {
				t.Errorf("errors differ from upstream's (-upstream +ours):\n%s", diff)
			}
			if diff := cmp.Diff(before, tc.ns); diff != "" {
				t.Errorf("validation changed the object:\n%s", diff)
			}
		})
	}
}

func TestValidateNamespaceChanges(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		ns, old *corev1.Namespace
		// the errors of the main endpoint's rule for the change, of /status and of /finalize
		main, status, finalize []string
	}{
		"nothing": {ns: build(), old: build()},
		"another name": {
			ns: build(func(ns *corev1.Namespace) { ns.Name = "bar" }), old: build(),
			main:     []string{`metadata.name: Invalid value: "bar": field is immutable`},
			status:   []string{`metadata.name: Invalid value: "bar": field is immutable`},
			finalize: []string{`metadata.name: Invalid value: "bar": field is immutable`},
		},
		"no resourceVersion": {
			ns: build(func(ns *corev1.Namespace) { ns.ResourceVersion = "" }), old: build(),
			main:     []string{`metadata.resourceVersion: Invalid value: "": must be specified for an update`},
			status:   []string{`metadata.resourceVersion: Invalid value: "": must be specified for an update`},
			finalize: []string{`metadata.resourceVersion: Invalid value: "": must be specified for an update`},
		},
		"a finalizer added to one that is deleted": {
			ns: build(deleted, phase("Terminating"), func(ns *corev1.Namespace) { ns.Finalizers = []string{"a.io/b"} }), old: build(deleted, phase("Terminating")),
			main:     []string{"metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"a.io/b\"}"},
			status:   []string{"metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"a.io/b\"}"},
			finalize: []string{"metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"a.io/b\"}"},
		},
		"terminating, though nobody deletes it": {
			ns: build(phase("Terminating")), old: build(),
			status: []string{"status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"},
		},
		"active, though it's deleted": {
			ns: build(deleted), old: build(deleted),
			status: []string{"status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not empty"},
		},
		"terminating and deleted": {ns: build(deleted, phase("Terminating")), old: build(deleted)},
		"no phase": {
			ns: build(phase("")), old: build(),
			status: []string{"status.Phase: Invalid value: \"\": may only be 'Active' if `deletionTimestamp` is empty"},
		},
		"bad finalizers in spec: with index": {
			ns: build(finalizers("a.io/b", "mine", "..")), old: build(),
			finalize: []string{
				`spec.finalizers[1]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`,
				"spec.finalizers[2]: Invalid value: \"..\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
				`spec.finalizers[2]: Invalid value: "..": name is neither a standard finalizer name nor is it fully qualified`,
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns, old := internal(t, tc.ns), internal(t, tc.old)
			for endpoint, results := range map[string]struct {
				want            []string
				ours, upstreams []rendered
			}{
				"main":     {tc.main, render(core.ValidateNamespaceUpdate(tc.ns, tc.old)), render(upstream.ValidateNamespaceUpdate(ns, old))},
				"status":   {tc.status, render(core.ValidateNamespaceStatusUpdate(tc.ns, tc.old)), render(upstream.ValidateNamespaceStatusUpdate(ns, old))},
				"finalize": {tc.finalize, render(core.ValidateNamespaceFinalizeUpdate(tc.ns, tc.old)), render(upstream.ValidateNamespaceFinalizeUpdate(ns, old))},
			} {
				var texts []string
				for _, err := range results.ours {
					texts = append(texts, err.Text)
				}
				if diff := cmp.Diff(results.want, texts); diff != "" {
					t.Errorf("%s: errors (-want +got):\n%s", endpoint, diff)
				}
				if diff := cmp.Diff(results.upstreams, results.ours); diff != "" {
					t.Errorf("%s: errors differ from upstream's (-upstream +ours):\n%s", endpoint, diff)
				}
			}
		})
	}
}
