// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package core_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	internalcore "k8s.io/kubernetes/pkg/apis/core"
	upstreamv1 "k8s.io/kubernetes/pkg/apis/core/v1"
)

// internal returns a namespace in kube-apiserver's internal type.
func internal(t *testing.T, ns *corev1.Namespace) *internalcore.Namespace {
	t.Helper()
	out := &internalcore.Namespace{}
	if err := upstreamv1.Convert_v1_Namespace_To_core_Namespace(ns.DeepCopy(), out, nil); err != nil {
		t.Fatal(err)
	}
	return out
}

// rendered is all of an error that validation uses further on.
type rendered struct {
	Text, Origin   string
	Covered, Alpha bool
}

func render(errs field.ErrorList) []rendered {
	var out []rendered
	for _, err := range errs {
		out = append(out, rendered{err.Error(), err.Origin, err.CoveredByDeclarative, err.IsAlpha()})
	}
	return out
}
