// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package strategy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pinnace-io/pinnace/pkg/registry/strategy"
)

// undecided embeds Base as a resource's strategy does, and overrides one decision.
type undecided struct {
	strategy.Base[*corev1.Namespace]
}

// Canonicalize shows that what is overridden is what is called.
func (undecided) Canonicalize(ns *corev1.Namespace) {
	ns.Labels = map[string]string{"canonical": "yes"}
}

func TestBaseTakesNoDecision(t *testing.T) {
	t.Parallel()
	object := func(label string) *corev1.Namespace {
		return &corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Name: "x", Labels: map[string]string{"a": label}, Generation: 3},
			Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{"f"}},
			Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
		}
	}
	var base strategy.Base[*corev1.Namespace]
	ctx := t.Context()
	created, updated, old := object("created"), object("updated"), object("old")

	base.PrepareForCreate(ctx, created)
	base.Canonicalize(created)
	base.PrepareForUpdate(ctx, updated, old)
	if errs := base.Validate(ctx, created); len(errs) > 0 {
		t.Errorf("Validate: %v", errs)
	}
	if errs := base.ValidateUpdate(ctx, updated, old); len(errs) > 0 {
		t.Errorf("ValidateUpdate: %v", errs)
	}
	if warnings := base.WarningsOnCreate(ctx, created); len(warnings) > 0 {
		t.Errorf("WarningsOnCreate: %q", warnings)
	}
	if warnings := base.WarningsOnUpdate(ctx, updated, old); len(warnings) > 0 {
		t.Errorf("WarningsOnUpdate: %q", warnings)
	}
	for label, got := range map[string]*corev1.Namespace{"created": created, "updated": updated, "old": old} {
		if diff := cmp.Diff(object(label), got); diff != "" {
			t.Errorf("the %s object was changed (-before +after):\n%s", label, diff)
		}
	}
	if base.AllowCreateOnUpdate(ctx) {
		t.Error("an update may create")
	}
	if !base.AllowUnconditionalUpdate(ctx) {
		t.Error("an update needs a resourceVersion")
	}
}

func TestBaseIsOverridden(t *testing.T) {
	t.Parallel()
	ns := &corev1.Namespace{}
	undecided{}.Canonicalize(ns)
	if ns.Labels["canonical"] != "yes" {
		t.Error("the embedding strategy's decision was not taken")
	}
}
