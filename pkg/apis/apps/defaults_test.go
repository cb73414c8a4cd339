// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package apps_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	upstreamv1 "k8s.io/kubernetes/pkg/apis/apps/v1"
	"k8s.io/utils/ptr"

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
)

func TestSetDefaults_DaemonSet(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*appsv1.DaemonSet)
		want   appsv1.DaemonSetUpdateStrategy
		limit  int32
	}{
		"nothing set": {
			want:  appsv1.DaemonSetUpdateStrategy{Type: "RollingUpdate", RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: count(1), MaxSurge: count(0)}},
			limit: 10,
		},
		"maxSurge alone still gets a maxUnavailable": {
			change: rolling(nil, percent("25%")),
			want:   appsv1.DaemonSetUpdateStrategy{Type: "RollingUpdate", RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: count(1), MaxSurge: percent("25%")}},
			limit:  10,
		},
		"explicit zeros stay": {
			change: rolling(count(0), count(0)),
			want:   appsv1.DaemonSetUpdateStrategy{Type: "RollingUpdate", RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: count(0), MaxSurge: count(0)}},
			limit:  10,
		},
		"OnDelete gets no rollingUpdate": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.Type = "OnDelete" },
			want:   appsv1.DaemonSetUpdateStrategy{Type: "OnDelete"},
			limit:  10,
		},
		"OnDelete leaves an empty rollingUpdate empty": {
			change: func(ds *appsv1.DaemonSet) {
				ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: "OnDelete", RollingUpdate: &appsv1.RollingUpdateDaemonSet{}}
			},
			want:  appsv1.DaemonSetUpdateStrategy{Type: "OnDelete", RollingUpdate: &appsv1.RollingUpdateDaemonSet{}},
			limit: 10,
		},
		"an unknown type is left to validation": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.Type = "Sometimes" },
			want:   appsv1.DaemonSetUpdateStrategy{Type: "Sometimes"},
			limit:  10,
		},
		"no history is a wish": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec.RevisionHistoryLimit = ptr.To[int32](0) },
			want:   appsv1.DaemonSetUpdateStrategy{Type: "RollingUpdate", RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: count(1), MaxSurge: count(0)}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, upstream := bare(test.change), bare(test.change)
			apps.SetDefaults_DaemonSet(got)
			if diff := cmp.Diff(test.want, got.Spec.UpdateStrategy); diff != "" {
				t.Errorf("update strategy (-want +got):\n%s", diff)
			}
			if got.Spec.RevisionHistoryLimit == nil || *got.Spec.RevisionHistoryLimit != test.limit {
				t.Errorf("revisionHistoryLimit is %v, want %d", got.Spec.RevisionHistoryLimit, test.limit)
			}
			if policy := got.Spec.Template.Spec.RestartPolicy; policy != "Always" {
				t.Errorf("restartPolicy of the template is %q: the template isn't defaulted", policy)
			}
			upstreamv1.SetObjectDefaults_DaemonSet(upstream)
			if !reflect.DeepEqual(upstream, got) {
				t.Errorf("not upstream's defaults (-upstream +got):\n%s", cmp.Diff(upstream, got))
			}
		})
	}
}
