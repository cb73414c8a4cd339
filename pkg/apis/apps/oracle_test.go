// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package apps_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/pod"
	upstream "k8s.io/kubernetes/pkg/apis/apps"
	upstreamv1 "k8s.io/kubernetes/pkg/apis/apps/v1"
	upstreamvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // the oracle's scheme

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
)

// daemonSet returns the shortest DaemonSet that is valid, defaulted and normalized after change.
func daemonSet(t *testing.T, change func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	t.Helper()
	ds := bare(change)
	apps.SetDefaults_DaemonSet(ds)
	if err := apps.NormalizeDaemonSet(ds); err != nil {
		t.Fatal(err)
	}
	return ds
}

// bare returns the same as a client sends it.
func bare(change func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	ds := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "t", ResourceVersion: "1"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "img:1"}}},
			},
		},
	}
	if change != nil {
		change(ds)
	}
	return ds
}

// rolling returns a change of both values of the rolling update; nil leaves one absent.
func rolling(maxUnavailable, maxSurge *intstr.IntOrString) func(*appsv1.DaemonSet) {
	return func(ds *appsv1.DaemonSet) {
		ds.Spec.UpdateStrategy.Type = appsv1.RollingUpdateDaemonSetStrategyType
		ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: maxUnavailable, MaxSurge: maxSurge}
	}
}

func count(n int32) *intstr.IntOrString    { v := intstr.FromInt32(n); return &v }
func percent(s string) *intstr.IntOrString { v := intstr.FromString(s); return &v }
func generation(n string) map[string]string {
	return map[string]string{appsv1.DeprecatedTemplateGeneration: n}
}

// internal is what kube-apiserver works on.
func internal(t *testing.T, ds *appsv1.DaemonSet) *upstream.DaemonSet {
	t.Helper()
	out := &upstream.DaemonSet{}
	if err := upstreamv1.Convert_v1_DaemonSet_To_apps_DaemonSet(ds.DeepCopy(), out, nil); err != nil {
		t.Fatal(err)
	}
	return out
}

// upstreamErrors are the oracle's errors for a creation (old is nil) or an update.
func upstreamErrors(t *testing.T, ds, old *appsv1.DaemonSet) field.ErrorList {
	t.Helper()
	current := internal(t, ds)
	if old == nil {
		return upstreamvalidation.ValidateDaemonSet(current, pod.GetValidationOptionsFromPodTemplate(&current.Spec.Template, nil))
	}
	former := internal(t, old)
	options := pod.GetValidationOptionsFromPodTemplate(&current.Spec.Template, &former.Spec.Template)
	options.AllowInvalidLabelValueInSelector = options.AllowInvalidLabelValueInSelector || metav1validation.LabelSelectorHasInvalidLabelValue(former.Spec.Selector)
	return upstreamvalidation.ValidateDaemonSetUpdate(current, former, options)
}

// messages are errors as clients see them.
func messages(errs field.ErrorList) []string {
	var out []string
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return out
}

// marks are all that distinguishes errors, but for the Go type of the bad value.
func marks(errs field.ErrorList) []string {
	out := []string{}
	for _, err := range errs {
		out = append(out, fmt.Sprintf("%s %s origin=%q covered=%t level=%s", err.Type, err.Error(), err.Origin, err.CoveredByDeclarative, err.ValidationStabilityLevel))
	}
	return out
}

// checkErrors wants exactly these messages from us, and the same errors from upstream.
func checkErrors(t *testing.T, want []string, got, upstream field.ErrorList) {
	t.Helper()
	if diff := cmp.Diff(want, messages(got)); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(marks(upstream), marks(got)); diff != "" {
		t.Errorf("not upstream's errors (-upstream +got):\n%s", diff)
	}
}
