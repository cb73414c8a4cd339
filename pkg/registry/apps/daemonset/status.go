// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
)

// StatusStrategy decides about writes through /status: the spec stays as it is, metadata may change with the status.
type StatusStrategy struct {
	Strategy
}

// NewStatusStrategy returns the strategy of /status beside that of the whole object.
func NewStatusStrategy(strategy Strategy) StatusStrategy { return StatusStrategy{Strategy: strategy} }

// PrepareForUpdate keeps the old spec, and with it the template generation.
func (StatusStrategy) PrepareForUpdate(_ context.Context, ds, old *appsv1.DaemonSet) {
	ds.Spec = old.Spec
	apps.SetTemplateGeneration(ds, apps.TemplateGeneration(old))
	apps.HideTemplateGeneration(ds)
}

// ValidateUpdate returns what is wrong with the metadata and status of ds as the replacement of old's.
func (StatusStrategy) ValidateUpdate(_ context.Context, ds, old *appsv1.DaemonSet) field.ErrorList {
	return apps.ValidateDaemonSetStatusUpdate(ds, old)
}

// WarningsOnUpdate has none: the writer of a status can't mend the template.
func (StatusStrategy) WarningsOnUpdate(context.Context, *appsv1.DaemonSet, *appsv1.DaemonSet) []string {
	return nil
}
