// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package daemonset_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	upstreamapps "k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/printers"
	upstream "k8s.io/kubernetes/pkg/registry/apps/daemonset"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
	"github.com/pinnace-io/pinnace/pkg/registry/apps/daemonset"
)

func TestUpdatePolicies(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]decisions{"main": daemonset.NewStrategy(), "status": daemonset.NewStatusStrategy(daemonset.NewStrategy())} {
		if got, want := s.AllowCreateOnUpdate(t.Context()), upstream.Strategy.AllowCreateOnUpdate(t.Context()); got != want {
			t.Errorf("%s: update creates: %t, want %t", name, got, want)
		}
		if got, want := s.AllowUnconditionalUpdate(t.Context()), upstream.Strategy.AllowUnconditionalUpdate(t.Context()); got != want {
			t.Errorf("%s: update needs no version: %t, want %t", name, got, want)
		}
	}
}

// normalized returns minimal() as the strategies get it, after change.
func normalized(t *testing.T, change func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	t.Helper()
	ds := minimal()
	ds.TypeMeta = metav1.TypeMeta{}
	if change != nil {
		change(ds)
	}
	apps.SetDefaults_DaemonSet(ds)
	if err := apps.NormalizeDaemonSet(ds); err != nil {
		t.Fatal(err)
	}
	return ds
}

func TestPrepareForCreate(t *testing.T) {
	t.Parallel()
	ds := normalized(t, func(ds *appsv1.DaemonSet) {
		ds.Generation, ds.Status = 55, appsv1.DaemonSetStatus{NumberReady: 3, Conditions: []appsv1.DaemonSetCondition{{Type: "X"}}}
		ds.Spec.Template.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To("g")}
	})
	shared := ds.Annotations
	daemonset.NewStrategy().PrepareForCreate(t.Context(), ds)

	want := normalized(t, func(ds *appsv1.DaemonSet) {
		ds.Generation, ds.Annotations = 1, map[string]string{appsv1.DeprecatedTemplateGeneration: "1"}
	})
	if diff := cmp.Diff(want, ds); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
	if shared[appsv1.DeprecatedTemplateGeneration] != "0" {
		t.Errorf("a map of others was changed: %v", shared)
	}
}

func TestPrepareForUpdate(t *testing.T) {
	t.Parallel()
	generations := func(generation int64, templateGeneration string) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) {
			ds.Generation, ds.Annotations = generation, map[string]string{appsv1.DeprecatedTemplateGeneration: templateGeneration}
		}
	}
	zeros := func(ds *appsv1.DaemonSet) {
		ds.Spec.UpdateStrategy.RollingUpdate.MaxSurge, ds.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = nil, nil
	}
	for name, test := range map[string]struct {
		change, changeOld      func(*appsv1.DaemonSet)
		wantGeneration         int64
		wantTemplateGeneration int64
	}{
		"nothing changed":            {wantGeneration: 4, wantTemplateGeneration: 2},
		"the client's annotation":    {change: generations(4, "7"), wantGeneration: 4, wantTemplateGeneration: 2},
		"labels of the object":       {change: func(ds *appsv1.DaemonSet) { ds.Labels = map[string]string{"l": "1"} }, wantGeneration: 4, wantTemplateGeneration: 2},
		"status of the object":       {change: func(ds *appsv1.DaemonSet) { ds.Status.NumberReady = 9 }, wantGeneration: 4, wantTemplateGeneration: 2},
		"an image":                   {change: func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Containers[0].Image = "img:2" }, wantGeneration: 5, wantTemplateGeneration: 3},
		"a label of the template":    {change: func(ds *appsv1.DaemonSet) { ds.Spec.Template.Labels["l"] = "1" }, wantGeneration: 5, wantTemplateGeneration: 3},
		"empty instead of absent":    {change: func(ds *appsv1.DaemonSet) { ds.Spec.Template.Annotations = map[string]string{} }, wantGeneration: 4, wantTemplateGeneration: 2},
		"template and spec together": {change: func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.HostPID, ds.Spec.MinReadySeconds = true, 9 }, wantGeneration: 5, wantTemplateGeneration: 3},
		"minReadySeconds":            {change: func(ds *appsv1.DaemonSet) { ds.Spec.MinReadySeconds = 9 }, wantGeneration: 5, wantTemplateGeneration: 2},
		"revisionHistoryLimit":       {change: func(ds *appsv1.DaemonSet) { ds.Spec.RevisionHistoryLimit = ptr.To[int32](9) }, wantGeneration: 5, wantTemplateGeneration: 2},
		"no revisionHistoryLimit":    {change: func(ds *appsv1.DaemonSet) { ds.Spec.RevisionHistoryLimit = nil }, wantGeneration: 5, wantTemplateGeneration: 2},
		"update strategy":            {change: func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.Type = "OnDelete" }, wantGeneration: 5, wantTemplateGeneration: 2},
		"no rollingUpdate":           {change: func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.RollingUpdate = nil }, wantGeneration: 5, wantTemplateGeneration: 2},
		"maxUnavailable": {change: func(ds *appsv1.DaemonSet) {
			ds.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = ptr.To(intstr.FromInt32(2))
		}, wantGeneration: 5, wantTemplateGeneration: 2},
		"maxSurge": {change: func(ds *appsv1.DaemonSet) {
			ds.Spec.UpdateStrategy.RollingUpdate.MaxSurge = ptr.To(intstr.FromString("0%"))
		}, wantGeneration: 5, wantTemplateGeneration: 2},
		"selector":                      {change: func(ds *appsv1.DaemonSet) { ds.Spec.Selector.MatchLabels["l"] = "1" }, wantGeneration: 5, wantTemplateGeneration: 2},
		"an old object without a count": {changeOld: func(ds *appsv1.DaemonSet) { ds.Annotations = nil }, wantGeneration: 4, wantTemplateGeneration: 0},
		"its template changes": {
			change:         func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.HostPID = true },
			changeOld:      func(ds *appsv1.DaemonSet) { ds.Annotations = nil },
			wantGeneration: 5, wantTemplateGeneration: 1,
		},
		"an old object with absent numbers": {
			change: func(ds *appsv1.DaemonSet) {
				zero := intstr.FromInt32(0)
				ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &zero, MaxSurge: &zero}
			},
			changeOld: zeros, wantGeneration: 4, wantTemplateGeneration: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := normalized(t, generations(4, "2"))
			old.Status = appsv1.DaemonSetStatus{NumberReady: 1, CollisionCount: ptr.To[int32](1)}
			ds := old.DeepCopy()
			if test.change != nil {
				test.change(ds)
			}
			if test.changeOld != nil {
				test.changeOld(old)
			}
			daemonset.NewStrategy().PrepareForUpdate(t.Context(), ds, old)
			if ds.Generation != test.wantGeneration || apps.TemplateGeneration(ds) != test.wantTemplateGeneration {
				t.Errorf("generations are %d and %d, want %d and %d", ds.Generation, apps.TemplateGeneration(ds), test.wantGeneration, test.wantTemplateGeneration)
			}
			if diff := cmp.Diff(old.Status, ds.Status); diff != "" {
				t.Errorf("status isn't the old one (-old +got):\n%s", diff)
			}
		})
	}
}

// specChangedBesidesTemplate compares field by field. A field that is new upstream must be added there, and here.
func TestSpecHasNoOtherFields(t *testing.T) {
	t.Parallel()
	for of, want := range map[reflect.Type][]string{
		reflect.TypeFor[appsv1.DaemonSetSpec]():           {"Selector", "Template", "UpdateStrategy", "MinReadySeconds", "RevisionHistoryLimit"},
		reflect.TypeFor[appsv1.DaemonSetUpdateStrategy](): {"Type", "RollingUpdate"},
		reflect.TypeFor[appsv1.RollingUpdateDaemonSet]():  {"MaxUnavailable", "MaxSurge"},
	} {
		var got []string
		for i := range of.NumField() {
			got = append(got, of.Field(i).Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("fields of %v (-want +got):\n%s", of, diff)
		}
	}
}

func TestStatusPrepareForUpdate(t *testing.T) {
	t.Parallel()
	old := normalized(t, func(ds *appsv1.DaemonSet) {
		ds.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: "3"}
	})
	ds := normalized(t, func(ds *appsv1.DaemonSet) {
		ds.Annotations, ds.Labels = map[string]string{"a": "b"}, map[string]string{"l": "1"}
		ds.Spec.Template.Spec.HostPID, ds.Spec.MinReadySeconds, ds.Status.NumberReady = true, 9, 2
	})
	daemonset.NewStatusStrategy(daemonset.NewStrategy()).PrepareForUpdate(t.Context(), ds, old)

	want := old.DeepCopy()
	want.Annotations, want.Labels, want.Status.NumberReady = map[string]string{"a": "b", appsv1.DeprecatedTemplateGeneration: "3"}, map[string]string{"l": "1"}, 2
	if diff := cmp.Diff(want, ds); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
}

// The library validates annotations on its own, so between the two calls the count is not among them if there are many.
func TestCanonicalize(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*appsv1.DaemonSet){
		"create": func(ds *appsv1.DaemonSet) { daemonset.NewStrategy().PrepareForCreate(t.Context(), ds) },
		"update": func(ds *appsv1.DaemonSet) { daemonset.NewStrategy().PrepareForUpdate(t.Context(), ds, ds.DeepCopy()) },
		"status": func(ds *appsv1.DaemonSet) {
			daemonset.NewStatusStrategy(daemonset.NewStrategy()).PrepareForUpdate(t.Context(), ds, ds.DeepCopy())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			large := strings.Repeat("x", 256<<10-len("large"))
			ds := normalized(t, func(ds *appsv1.DaemonSet) {
				ds.Annotations = map[string]string{"large": large, appsv1.DeprecatedTemplateGeneration: "1"}
			})
			prepare(ds)
			if diff := cmp.Diff(map[string]string{"large": large}, ds.Annotations); diff != "" {
				t.Error("the annotation is among the others while they are validated")
			}
			daemonset.NewStrategy().Canonicalize(ds)
			if got := ds.Annotations[appsv1.DeprecatedTemplateGeneration]; got != "1" || ds.SelfLink != "" {
				t.Errorf("annotation %q and selfLink %q afterwards", got, ds.SelfLink)
			}
		})
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.January, 17, 12, 0, 0, 0, time.UTC)
	columns := daemonset.NewColumns(clocktesting.NewFakePassiveClock(now))

	table, err := newOracle().tables.GenerateTable(&upstreamapps.DaemonSet{}, printers.GenerateOptions{Wide: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(table.ColumnDefinitions, columns.Definitions()); diff != "" {
		t.Errorf("definitions (-upstream +got):\n%s", diff)
	}

	for name, test := range map[string]struct {
		ds   *appsv1.DaemonSet
		want []any
	}{
		"everything": {
			ds: &appsv1.DaemonSet{
				ObjectMeta: metav1.ObjectMeta{Name: "d", CreationTimestamp: metav1.NewTime(now.Add(-5*time.Minute - 12*time.Second))},
				Spec: appsv1.DaemonSetSpec{
					Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}},
					Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
						NodeSelector: map[string]string{"b": "2", "a": "1"},
						Containers:   []corev1.Container{{Name: "c", Image: "img:1"}, {Name: "e", Image: "img:2"}},
					}},
				},
				Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: 5, CurrentNumberScheduled: 4, NumberReady: 3, UpdatedNumberScheduled: 2, NumberAvailable: 1},
			},
			want: []any{"d", int64(5), int64(4), int64(3), int64(2), int64(1), "a=1,b=2", "5m12s", "c,e", "img:1,img:2", "app=x"},
		},
		"nothing": {
			ds:   &appsv1.DaemonSet{},
			want: []any{"", int64(0), int64(0), int64(0), int64(0), int64(0), "<none>", "<unknown>", "", "", "<none>"},
		},
		"a selector that can't be read": {
			ds: &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}},
			}}},
			want: []any{"", int64(0), int64(0), int64(0), int64(0), int64(0), "<none>", "<unknown>", "", "", "<error>"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, columns.Cells(test.ds)); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
		})
	}
}

func TestColumnsMetadata(t *testing.T) {
	t.Parallel()
	ds := normalized(t, func(ds *appsv1.DaemonSet) { ds.Annotations = map[string]string{"a": "b"} })
	got := daemonset.Columns{}.Metadata(ds)
	if diff := cmp.Diff(map[string]string{"a": "b"}, got.Annotations); diff != "" {
		t.Errorf("annotations of the row (-want +got):\n%s", diff)
	}
	if apps.TemplateGeneration(ds) != 0 || len(ds.Annotations) != 2 {
		t.Errorf("the object was changed: %v", ds.Annotations)
	}
}
