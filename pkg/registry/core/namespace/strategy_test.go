// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package namespace_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/printers"
	printersinternal "k8s.io/kubernetes/pkg/printers/internalversion"
	printerstorage "k8s.io/kubernetes/pkg/printers/storage"
	upstream "k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/pinnace-io/pinnace/pkg/registry/core/namespace"
	"github.com/pinnace-io/pinnace/pkg/registry/table"
)

func named(changes ...func(*corev1.Namespace)) *corev1.Namespace {
	ns := stored()
	ns.Name, ns.ResourceVersion = "x", "7"
	ns.Labels = map[string]string{"kubernetes.io/metadata.name": "x"}
	for _, change := range changes {
		change(ns)
	}
	return ns
}

func texts(errs field.ErrorList) []string {
	var out []string
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return out
}

func TestCreateAsUpstream(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in         *corev1.Namespace
		finalizers []corev1.FinalizerName
		label      string
		errs       []string
	}{
		"no finalizers: Kubernetes' own": {
			in: named(specFinalizers()), finalizers: []corev1.FinalizerName{"kubernetes"}, label: "x",
		},
		"it's there already": {
			in: named(specFinalizers("kubernetes", "a.io/b")), finalizers: []corev1.FinalizerName{"kubernetes", "a.io/b"}, label: "x",
		},
		"others are there: it's the last": {
			in: named(specFinalizers("a.io/b")), finalizers: []corev1.FinalizerName{"a.io/b", "kubernetes"}, label: "x",
		},
		"a status: lost": {
			in:         named(terminating, func(ns *corev1.Namespace) { ns.Status.Conditions = []corev1.NamespaceCondition{{Type: "A"}} }),
			finalizers: []corev1.FinalizerName{"kubernetes"}, label: "x",
		},
		"no labels": {
			in: named(func(ns *corev1.Namespace) { ns.Labels = nil }), finalizers: []corev1.FinalizerName{"kubernetes"}, label: "x",
		},
		"another name in the label: set right": {
			in:         named(func(ns *corev1.Namespace) { ns.Labels = map[string]string{"kubernetes.io/metadata.name": "y"} }),
			finalizers: []corev1.FinalizerName{"kubernetes"}, label: "x",
		},
		"a bad finalizer": {
			in: named(specFinalizers("mine")), finalizers: []corev1.FinalizerName{"mine", "kubernetes"}, label: "x",
			errs: []string{`spec.finalizers: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`},
		},
		"a bad name": {
			in: named(func(ns *corev1.Namespace) { ns.Name = "x.y" }), finalizers: []corev1.FinalizerName{"kubernetes"}, label: "x.y",
			errs: []string{`metadata.name: Invalid value: "x.y": must not contain dots`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			theirs := internal(t, tc.in)
			upstream.Strategy.PrepareForCreate(t.Context(), theirs)
			theirErrs := upstream.Strategy.Validate(t.Context(), theirs)
			upstream.Strategy.Canonicalize(theirs)

			strategy, ours := namespace.NewStrategy(), tc.in.DeepCopy()
			strategy.PrepareForCreate(t.Context(), ours)
			errs := strategy.Validate(t.Context(), ours)
			strategy.Canonicalize(ours)

			if diff := cmp.Diff(tc.errs, texts(errs)); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(texts(theirErrs), texts(errs)); diff != "" {
				t.Errorf("errors differ from upstream's (-upstream +ours):\n%s", diff)
			}
			if diff := cmp.Diff(versioned(t, theirs), ours); diff != "" {
				t.Errorf("differs from upstream (-upstream +ours):\n%s", diff)
			}
			if diff := cmp.Diff(tc.finalizers, ours.Spec.Finalizers); diff != "" {
				t.Errorf("finalizers (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(corev1.NamespaceStatus{Phase: corev1.NamespaceActive}, ours.Status); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if got := ours.Labels["kubernetes.io/metadata.name"]; got != tc.label {
				t.Errorf("label %q, want %q", got, tc.label)
			}
			if got, want := strategy.WarningsOnCreate(t.Context(), ours), upstream.Strategy.WarningsOnCreate(t.Context(), theirs); !cmp.Equal(got, want) {
				t.Errorf("warnings %q, upstream's %q", got, want)
			}
		})
	}
}

// decisions are what all three endpoints decide about an update.
type decisions interface {
	PrepareForUpdate(ctx context.Context, ns, old *corev1.Namespace)
	ValidateUpdate(ctx context.Context, ns, old *corev1.Namespace) field.ErrorList
	WarningsOnUpdate(ctx context.Context, ns, old *corev1.Namespace) []string
	AllowCreateOnUpdate(ctx context.Context) bool
	AllowUnconditionalUpdate(ctx context.Context) bool
	Canonicalize(ns *corev1.Namespace)
}

// endpoints are ours and upstream's strategies of the three endpoints that update.
func endpoints() map[string]struct {
	ours     decisions
	upstream rest.RESTUpdateStrategy
} {
	main := namespace.NewStrategy()
	return map[string]struct {
		ours     decisions
		upstream rest.RESTUpdateStrategy
	}{
		"main":     {main, upstream.Strategy},
		"status":   {namespace.NewStatusStrategy(main), upstream.StatusStrategy},
		"finalize": {namespace.NewFinalizeStrategy(main), upstream.FinalizeStrategy},
	}
}

func TestUpdateAsUpstream(t *testing.T) {
	t.Parallel()
	condition := func(ns *corev1.Namespace) {
		ns.Status.Conditions = []corev1.NamespaceCondition{{Type: corev1.NamespaceDeletionContentFailure, Status: corev1.ConditionTrue}}
	}
	label := func(ns *corev1.Namespace) { ns.Labels["a"] = "b" }
	noErrors := map[string][]string{}
	immutable := []string{`metadata.name: Invalid value: "y": field is immutable`}
	tests := map[string]struct {
		ns, old *corev1.Namespace
		// want is what each endpoint makes of it: finalizers, phase and conditions
		wantFinalizers map[string]string
		wantPhase      map[string]corev1.NamespacePhase
		wantErrs       map[string][]string
	}{
		"nothing": {
			ns: named(), old: named(),
			wantFinalizers: map[string]string{"main": "kubernetes", "status": "kubernetes", "finalize": "kubernetes"},
			wantPhase:      map[string]corev1.NamespacePhase{"main": "Active", "status": "Active", "finalize": "Active"},
			wantErrs:       noErrors,
		},
		"everything, of one that's deleted": {
			ns: named(terminating, specFinalizers("a.io/b"), condition, label), old: named(terminating, func(ns *corev1.Namespace) { ns.Status.Phase = "Active" }),
			wantFinalizers: map[string]string{"main": "kubernetes", "status": "kubernetes", "finalize": "a.io/b"},
			wantPhase:      map[string]corev1.NamespacePhase{"main": "Active", "status": "Terminating", "finalize": "Active"},
			wantErrs:       noErrors,
		},
		"a phase that doesn't go with the deletion": {
			ns: named(func(ns *corev1.Namespace) { ns.Status.Phase = "Terminating" }), old: named(),
			wantFinalizers: map[string]string{"main": "kubernetes", "status": "kubernetes", "finalize": "kubernetes"},
			wantPhase:      map[string]corev1.NamespacePhase{"main": "Active", "status": "Terminating", "finalize": "Active"},
			wantErrs:       map[string][]string{"status": {"status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"}},
		},
		"all finalizers go": {
			ns: named(specFinalizers()), old: named(),
			wantFinalizers: map[string]string{"main": "kubernetes", "status": "kubernetes", "finalize": ""},
			wantPhase:      map[string]corev1.NamespacePhase{"main": "Active", "status": "Active", "finalize": "Active"},
			wantErrs:       noErrors,
		},
		"a bad finalizer": {
			ns: named(specFinalizers("mine")), old: named(),
			wantFinalizers: map[string]string{"main": "kubernetes", "status": "kubernetes", "finalize": "mine"},
			wantPhase:      map[string]corev1.NamespacePhase{"main": "Active", "status": "Active", "finalize": "Active"},
			wantErrs:       map[string][]string{"finalize": {`spec.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`}},
		},
		"a bad finalizer that's there already": {
			ns: named(), old: named(specFinalizers("mine")),
			wantFinalizers: map[string]string{"main": "mine", "status": "mine", "finalize": "kubernetes"},
			wantPhase:      map[string]corev1.NamespacePhase{"main": "Active", "status": "Active", "finalize": "Active"},
			wantErrs:       map[string][]string{"main": {`spec.finalizers: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`}},
		},
		"another name": {
			ns: named(func(ns *corev1.Namespace) { ns.Name = "y" }), old: named(),
			wantFinalizers: map[string]string{"main": "kubernetes", "status": "kubernetes", "finalize": "kubernetes"},
			wantPhase:      map[string]corev1.NamespacePhase{"main": "Active", "status": "Active", "finalize": "Active"},
			wantErrs:       map[string][]string{"main": immutable, "status": immutable, "finalize": immutable},
		},
	}
	for name, tc := range tests {
		for endpoint, s := range endpoints() {
			t.Run(name+"/"+endpoint, func(t *testing.T) {
				t.Parallel()
				theirs, theirOld := internal(t, tc.ns), internal(t, tc.old)
				s.upstream.PrepareForUpdate(t.Context(), theirs, theirOld)
				theirErrs := s.upstream.ValidateUpdate(t.Context(), theirs, theirOld)
				s.upstream.Canonicalize(theirs)

				ours, old := tc.ns.DeepCopy(), tc.old.DeepCopy()
				s.ours.PrepareForUpdate(t.Context(), ours, old)
				errs := s.ours.ValidateUpdate(t.Context(), ours, old)
				s.ours.Canonicalize(ours)

				if diff := cmp.Diff(tc.wantErrs[endpoint], texts(errs)); diff != "" {
					t.Errorf("errors (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(texts(theirErrs), texts(errs)); diff != "" {
					t.Errorf("errors differ from upstream's (-upstream +ours):\n%s", diff)
				}
				if diff := cmp.Diff(versioned(t, theirs), ours); diff != "" {
					t.Errorf("differs from upstream (-upstream +ours):\n%s", diff)
				}
				if diff := cmp.Diff(tc.old, old); diff != "" {
					t.Errorf("the old object changed:\n%s", diff)
				}
				got := ""
				for _, name := range ours.Spec.Finalizers {
					got += string(name)
				}
				if got != tc.wantFinalizers[endpoint] || ours.Status.Phase != tc.wantPhase[endpoint] {
					t.Errorf("finalizers %q, phase %q; want %q, %q", got, ours.Status.Phase, tc.wantFinalizers[endpoint], tc.wantPhase[endpoint])
				}
			})
		}
	}
}

func TestDecisionsWithoutObjectAsUpstream(t *testing.T) {
	t.Parallel()
	for endpoint, s := range endpoints() {
		if got, want := s.ours.AllowCreateOnUpdate(t.Context()), s.upstream.AllowCreateOnUpdate(t.Context()); got != want || got {
			t.Errorf("%s: creates on update: %t, upstream %t", endpoint, got, want)
		}
		if got, want := s.ours.AllowUnconditionalUpdate(t.Context()), s.upstream.AllowUnconditionalUpdate(t.Context()); got != want || !got {
			t.Errorf("%s: updates unconditionally: %t, upstream %t", endpoint, got, want)
		}
		if got := s.ours.WarningsOnUpdate(t.Context(), named(), named()); got != nil {
			t.Errorf("%s: warns %q", endpoint, got)
		}
	}
}

func TestColumnsAsUpstream(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		ns   *corev1.Namespace
		want []any
	}{
		"active":      {named(aged(49 * time.Hour)), []any{"x", "Active", "2d1h"}},
		"terminating": {named(terminating, aged(time.Hour+30*time.Second)), []any{"x", "Terminating", "60m"}},
		"no phase, no age": {named(func(ns *corev1.Namespace) {
			ns.Status.Phase, ns.CreationTimestamp = "", metav1.Time{}
		}), []any{"x", "", "<unknown>"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			convertor := printerstorage.TableConvertor{TableGenerator: printers.NewTableGenerator().With(printersinternal.AddHandlers)}
			theirs, err := convertor.ConvertToTable(t.Context(), internal(t, tc.ns), nil)
			if err != nil {
				t.Fatal(err)
			}
			ours, err := table.NewConvertor(namespace.NewColumns(clock.RealClock{})).ConvertToTable(t.Context(), tc.ns, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, ours.Rows[0].Cells); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
			for _, table := range []*metav1.Table{ours, theirs} {
				table.Rows[0].Object = runtime.RawExtension{}
			}
			if diff := cmp.Diff(theirs, ours); diff != "" {
				t.Errorf("table differs from upstream's (-upstream +ours):\n%s", diff)
			}
		})
	}
}

// aged dates the creation back by a duration that must not sit on the edge of what is shown: time passes.
func aged(ago time.Duration) func(*corev1.Namespace) {
	return func(ns *corev1.Namespace) { ns.CreationTimestamp = metav1.NewTime(time.Now().Add(-ago)) }
}

func TestColumnsTellAgeByTheirClock(t *testing.T) {
	t.Parallel()
	columns := namespace.NewColumns(testingclock.NewFakePassiveClock(time.Unix(1700000005, 0)))
	if got := columns.Cells(named())[2]; got != "5s" {
		t.Errorf("age %q, want 5s", got)
	}
}
