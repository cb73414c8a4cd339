// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package gadget has every hook.
package gadget

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	toysv1 "github.com/pinnace-io/pinnace/cmd/registry-gen/internal/generate/testdata/api/v1"

	"github.com/pinnace-io/pinnace/pkg/registry/strategy"
)

// Strategy decides about gadgets.
type Strategy struct {
	strategy.Base[*toysv1.Gadget]
}

// NewStrategy returns the strategy.
func NewStrategy() Strategy {
	return Strategy{}
}

// FinalizeStrategy decides about updates through /finalize.
type FinalizeStrategy struct {
	Strategy
}

// NewFinalizeStrategy returns the strategy.
func NewFinalizeStrategy(main Strategy) FinalizeStrategy {
	return FinalizeStrategy{Strategy: main}
}

// Delete deletes as the store does.
func Delete(ctx context.Context, store *genericregistry.Store, request strategy.DeleteRequest) (runtime.Object, bool, error) {
	return store.Delete(ctx, request.Name, request.Validate, request.Options)
}

// ShouldDeleteDuringUpdate decides as the store does.
func ShouldDeleteDuringUpdate(ctx context.Context, key string, obj, existing *toysv1.Gadget) bool {
	return genericregistry.ShouldDeleteDuringUpdate(ctx, key, obj, existing)
}
