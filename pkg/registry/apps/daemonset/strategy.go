// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
	"github.com/pinnace-io/pinnace/pkg/apis/podtemplate"
	"github.com/pinnace-io/pinnace/pkg/registry/strategy"
)

// Strategy decides about a DaemonSet as a whole: clients write its spec, and its status stays as it is. PUT creates
// none, and needs no resourceVersion. A client may choose the template generation on creation only; pkg/apis/apps tells
// where it is kept.
//
// Rule: pkg/registry/apps/daemonset/strategy.go of k8s.io/kubernetes.
type Strategy struct {
	strategy.Base[*appsv1.DaemonSet]
}

// NewStrategy returns the strategy, which depends on nothing.
func NewStrategy() Strategy { return Strategy{} }

// PrepareForCreate empties the status and starts both generations, the object's at 1, the template's at 1 unless the
// client asks for more.
func (Strategy) PrepareForCreate(_ context.Context, ds *appsv1.DaemonSet) {
	ds.Status = appsv1.DaemonSetStatus{}
	ds.Generation = 1
	apps.SetTemplateGeneration(ds, max(1, apps.TemplateGeneration(ds)))
	podtemplate.Of(&ds.Spec.Template).DropDisabledFields(nil)
	apps.HideTemplateGeneration(ds)
}

// Validate returns what is wrong with a DaemonSet that is to be created.
func (Strategy) Validate(_ context.Context, ds *appsv1.DaemonSet) field.ErrorList {
	return apps.ValidateDaemonSet(ds)
}

// WarningsOnCreate returns what is unwise in the pod template.
func (Strategy) WarningsOnCreate(ctx context.Context, ds *appsv1.DaemonSet) []string {
	return podtemplate.Of(&ds.Spec.Template).Warnings(ctx, field.NewPath("spec", "template"), nil)
}

// Canonicalize puts the template generation back where storage keeps it.
func (Strategy) Canonicalize(ds *appsv1.DaemonSet) {
	apps.RevealTemplateGeneration(ds)
}

// PrepareForUpdate keeps the old status, and counts: a changed template raises both generations by one, a change in
// the rest of the spec raises that of the object.
func (Strategy) PrepareForUpdate(_ context.Context, ds, old *appsv1.DaemonSet) {
	podtemplate.Of(&ds.Spec.Template).DropDisabledFields(podtemplate.Of(&old.Spec.Template))
	ds.Status = old.Status

	templateGeneration := apps.TemplateGeneration(old) // whatever the client has sent
	switch {
	case !podtemplate.Equal(&ds.Spec.Template, &old.Spec.Template):
		templateGeneration++
		ds.Generation = old.Generation + 1
	case specChangedBesidesTemplate(&ds.Spec, &old.Spec):
		ds.Generation = old.Generation + 1
	}
	apps.SetTemplateGeneration(ds, templateGeneration)
	apps.HideTemplateGeneration(ds)
}

// specChangedBesidesTemplate compares what is left of two specs whose templates are known to be the same: comparing
// templates is most of what an update costs.
func specChangedBesidesTemplate(spec, old *appsv1.DaemonSetSpec) bool {
	return spec.MinReadySeconds != old.MinReadySeconds ||
		spec.UpdateStrategy.Type != old.UpdateStrategy.Type ||
		!ptr.Equal(spec.RevisionHistoryLimit, old.RevisionHistoryLimit) ||
		rollingUpdateChanged(spec.UpdateStrategy.RollingUpdate, old.UpdateStrategy.RollingUpdate) ||
		!apiequality.Semantic.DeepEqual(spec.Selector, old.Selector)
}

// rollingUpdateChanged takes an absent value for 0: upstream's internal type can't tell them apart.
func rollingUpdateChanged(rolling, old *appsv1.RollingUpdateDaemonSet) bool {
	if rolling == nil || old == nil {
		return rolling != old
	}
	var zero intstr.IntOrString
	return ptr.Deref(rolling.MaxUnavailable, zero) != ptr.Deref(old.MaxUnavailable, zero) ||
		ptr.Deref(rolling.MaxSurge, zero) != ptr.Deref(old.MaxSurge, zero)
}

// ValidateUpdate returns what is wrong with ds as the replacement of old.
func (Strategy) ValidateUpdate(_ context.Context, ds, old *appsv1.DaemonSet) field.ErrorList {
	return apps.ValidateDaemonSetUpdate(ds, old)
}

// WarningsOnUpdate returns what is unwise in the pod template, if that has changed.
func (Strategy) WarningsOnUpdate(ctx context.Context, ds, old *appsv1.DaemonSet) []string {
	if apps.TemplateGeneration(ds) == apps.TemplateGeneration(old) {
		return nil
	}
	return podtemplate.Of(&ds.Spec.Template).Warnings(ctx, field.NewPath("spec", "template"), podtemplate.Of(&old.Spec.Template))
}
