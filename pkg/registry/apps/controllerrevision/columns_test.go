// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package controllerrevision_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	upstreamapps "k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/printers"
	"k8s.io/kubernetes/pkg/printers/internalversion"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/pinnace-io/pinnace/pkg/registry/apps/controllerrevision"
)

func TestColumns(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.January, 17, 12, 0, 0, 0, time.UTC)
	columns := controllerrevision.NewColumns(clocktesting.NewFakePassiveClock(now))

	table, err := printers.NewTableGenerator().With(internalversion.AddHandlers).GenerateTable(&upstreamapps.ControllerRevision{}, printers.GenerateOptions{Wide: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(table.ColumnDefinitions, columns.Definitions()); diff != "" {
		t.Errorf("definitions (-upstream +got):\n%s", diff)
	}

	owned := func(owner metav1.OwnerReference) *appsv1.ControllerRevision {
		return &appsv1.ControllerRevision{
			ObjectMeta: metav1.ObjectMeta{Name: "r", CreationTimestamp: metav1.NewTime(now.Add(-3 * time.Hour)), OwnerReferences: []metav1.OwnerReference{owner}},
			Revision:   7,
		}
	}
	for name, test := range map[string]struct {
		revision *appsv1.ControllerRevision
		want     []any
	}{
		"nothing": {
			revision: &appsv1.ControllerRevision{},
			want:     []any{"", "<none>", int64(0), "<unknown>"},
		},
		"of a DaemonSet": {
			revision: owned(metav1.OwnerReference{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", Controller: ptr.To(true)}),
			want:     []any{"r", "daemonset.apps/d", int64(7), "3h"},
		},
		"of a kind of the core group": {
			revision: owned(metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "p", Controller: ptr.To(true)}),
			want:     []any{"r", "pod/p", int64(7), "3h"},
		},
		"of nothing but a name": {
			revision: owned(metav1.OwnerReference{APIVersion: "v1", Name: "p", Controller: ptr.To(true)}),
			want:     []any{"r", "p", int64(7), "3h"},
		},
		"of an owner that isn't its controller": {
			revision: owned(metav1.OwnerReference{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d"}),
			want:     []any{"r", "<none>", int64(7), "3h"},
		},
		"of a version that can't be read": {
			revision: owned(metav1.OwnerReference{APIVersion: "a/b/c", Kind: "DaemonSet", Name: "d", Controller: ptr.To(true)}),
			want:     []any{"r", "<none>", int64(7), "3h"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, columns.Cells(test.revision)); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
		})
	}
}
