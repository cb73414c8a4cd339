// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package apps_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	upstream "k8s.io/kubernetes/pkg/apis/apps"
	upstreamv1 "k8s.io/kubernetes/pkg/apis/apps/v1"

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
)

func TestNormalizeDaemonSet(t *testing.T) {
	t.Parallel()
	onDelete := func(rolling *appsv1.RollingUpdateDaemonSet) appsv1.DaemonSetUpdateStrategy {
		return appsv1.DaemonSetUpdateStrategy{Type: "OnDelete", RollingUpdate: rolling}
	}
	for name, test := range map[string]struct {
		annotations     map[string]string
		strategy        appsv1.DaemonSetUpdateStrategy
		wantAnnotations map[string]string
		wantStrategy    appsv1.DaemonSetUpdateStrategy
		wantErr         string
	}{
		"no annotations: the generation is 0":      {wantAnnotations: generation("0")},
		"other annotations stay":                   {annotations: map[string]string{"a": "b"}, wantAnnotations: map[string]string{"a": "b", appsv1.DeprecatedTemplateGeneration: "0"}},
		"a generation stays":                       {annotations: generation("9"), wantAnnotations: generation("9")},
		"a negative one is left to the strategy":   {annotations: generation("-5"), wantAnnotations: generation("-5")},
		"a sign and leading zeros go":              {annotations: generation("+007"), wantAnnotations: generation("7")},
		"the largest one stays":                    {annotations: generation("9223372036854775807"), wantAnnotations: generation("9223372036854775807")},
		"one too large is an error":                {annotations: generation("9223372036854775808"), wantErr: `strconv.ParseInt: parsing "9223372036854775808": value out of range`},
		"a word is an error":                       {annotations: generation("abc"), wantErr: `strconv.ParseInt: parsing "abc": invalid syntax`},
		"nothing is an error":                      {annotations: generation(""), wantErr: `strconv.ParseInt: parsing "": invalid syntax`},
		"a blank is an error":                      {annotations: generation(" 1"), wantErr: `strconv.ParseInt: parsing " 1": invalid syntax`},
		"another base is an error":                 {annotations: generation("0x1"), wantErr: `strconv.ParseInt: parsing "0x1": invalid syntax`},
		"a rolling update that is absent stays so": {strategy: onDelete(nil), wantAnnotations: generation("0"), wantStrategy: onDelete(nil)},
		"an empty rolling update gets zeros": {
			strategy:        onDelete(&appsv1.RollingUpdateDaemonSet{}),
			wantAnnotations: generation("0"),
			wantStrategy:    onDelete(&appsv1.RollingUpdateDaemonSet{MaxUnavailable: count(0), MaxSurge: count(0)}),
		},
		"half a rolling update gets one zero": {
			strategy:        onDelete(&appsv1.RollingUpdateDaemonSet{MaxSurge: percent("150%")}),
			wantAnnotations: generation("0"),
			wantStrategy:    onDelete(&appsv1.RollingUpdateDaemonSet{MaxUnavailable: count(0), MaxSurge: percent("150%")}),
		},
		"the other half gets one zero": {
			strategy:        onDelete(&appsv1.RollingUpdateDaemonSet{MaxUnavailable: count(-4)}),
			wantAnnotations: generation("0"),
			wantStrategy:    onDelete(&appsv1.RollingUpdateDaemonSet{MaxUnavailable: count(-4), MaxSurge: count(0)}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input := bare(func(ds *appsv1.DaemonSet) { ds.Annotations, ds.Spec.UpdateStrategy = test.annotations, test.strategy })
			got, before := *input, input.DeepCopy() // got shares everything below the struct with input
			err := apps.NormalizeDaemonSet(&got)
			if !reflect.DeepEqual(before, input) {
				t.Errorf("memory of others was changed:\n%s", cmp.Diff(before, input))
			}
			want, upstreamErr := roundTrip(before)
			if test.wantErr != "" {
				if err == nil || err.Error() != test.wantErr || upstreamErr == nil || upstreamErr.Error() != test.wantErr {
					t.Errorf("error %v (upstream: %v), want %q", err, upstreamErr, test.wantErr)
				}
				if !reflect.DeepEqual(before, &got) {
					t.Errorf("an object in error was changed:\n%s", cmp.Diff(before, &got))
				}
				return
			}
			if err != nil || upstreamErr != nil {
				t.Fatalf("error %v, upstream's %v", err, upstreamErr)
			}
			if diff := cmp.Diff(test.wantAnnotations, got.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantStrategy, got.Spec.UpdateStrategy); diff != "" {
				t.Errorf("update strategy (-want +got):\n%s", diff)
			}
			if !reflect.DeepEqual(want, &got) {
				t.Errorf("not upstream's round trip (-upstream +got):\n%s", cmp.Diff(want, &got))
			}
			again := got
			if err := apps.NormalizeDaemonSet(&again); err != nil || !reflect.DeepEqual(&got, &again) {
				t.Errorf("a second time (error %v) changes more:\n%s", err, cmp.Diff(&got, &again))
			}
		})
	}
}

// roundTrip is what kube-apiserver does to an object on the way in and out.
func roundTrip(ds *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
	inside, out := &upstream.DaemonSet{}, &appsv1.DaemonSet{}
	if err := upstreamv1.Convert_v1_DaemonSet_To_apps_DaemonSet(ds.DeepCopy(), inside, nil); err != nil {
		return nil, err
	}
	return out, upstreamv1.Convert_apps_DaemonSet_To_v1_DaemonSet(inside, out, nil)
}

// The bookmark that ends the initial events of a watch is an empty object, and shows as one on its way out.
func TestNormalizeDaemonSetOfBookmark(t *testing.T) {
	t.Parallel()
	got := &appsv1.DaemonSet{}
	if err := apps.NormalizeDaemonSet(got); err != nil {
		t.Fatal(err)
	}
	want := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Annotations: generation("0")}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bookmark (-want +got):\n%s", diff)
	}
}

// What is normalized already must not cost memory: most of what is decoded was read from here before.
func TestNormalizeDaemonSetAllocatesNothingInVain(t *testing.T) {
	ds := daemonSet(t, func(ds *appsv1.DaemonSet) { ds.Annotations = generation("3") })
	allocations := testing.AllocsPerRun(100, func() {
		if err := apps.NormalizeDaemonSet(ds); err != nil {
			t.Error(err)
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations to find a normalized object normal", allocations)
	}
}
