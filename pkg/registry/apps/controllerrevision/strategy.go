// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package controllerrevision

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
	"github.com/pinnace-io/pinnace/pkg/registry/strategy"
)

// Strategy decides about a ControllerRevision: data is written once, the rest may change. Nothing is set by the server,
// PUT creates none, and needs no resourceVersion.
//
// Rule: pkg/registry/apps/controllerrevision/strategy.go of k8s.io/kubernetes.
type Strategy struct {
	strategy.Base[*appsv1.ControllerRevision]
}

// NewStrategy returns the strategy, which depends on nothing.
func NewStrategy() Strategy { return Strategy{} }

// Validate returns what is wrong with a ControllerRevision that is to be created.
func (Strategy) Validate(_ context.Context, revision *appsv1.ControllerRevision) field.ErrorList {
	return apps.ValidateControllerRevision(revision)
}

// ValidateUpdate returns what is wrong with revision as the replacement of old.
func (Strategy) ValidateUpdate(_ context.Context, revision, old *appsv1.ControllerRevision) field.ErrorList {
	return apps.ValidateControllerRevisionUpdate(revision, old)
}
