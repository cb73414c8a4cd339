// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package core_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	upstreamv1 "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/pinnace-io/pinnace/pkg/apis/core"
)

func TestDefaultsOfNamespace(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   corev1.Namespace
		want corev1.Namespace
	}{
		"a name: labelled, active": {
			in: corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "foo"}},
			want: corev1.Namespace{
				ObjectMeta: metav1.ObjectMeta{Name: "foo", Labels: map[string]string{"kubernetes.io/metadata.name": "foo"}},
				Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
			},
		},
		"another value of the label: set right, other labels stay": {
			in: corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "foo", Labels: map[string]string{"kubernetes.io/metadata.name": "bar", "a": "b"}}},
			want: corev1.Namespace{
				ObjectMeta: metav1.ObjectMeta{Name: "foo", Labels: map[string]string{"kubernetes.io/metadata.name": "foo", "a": "b"}},
				Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
			},
		},
		"no name yet: no label": {
			in: corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "foo-"}},
			want: corev1.Namespace{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "foo-"},
				Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
			},
		},
		"a phase: kept": {
			in:   corev1.Namespace{Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}},
			want: corev1.Namespace{Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, upstream := tc.in.DeepCopy(), tc.in.DeepCopy()
			core.SetDefaults_Namespace(got)
			core.SetDefaults_NamespaceStatus(&got.Status)
			if diff := cmp.Diff(&tc.want, got); diff != "" {
				t.Errorf("defaults (-want +got):\n%s", diff)
			}
			upstreamv1.SetObjectDefaults_Namespace(upstream)
			if diff := cmp.Diff(upstream, got); diff != "" {
				t.Errorf("defaults differ from upstream's (-upstream +ours):\n%s", diff)
			}
		})
	}
}
