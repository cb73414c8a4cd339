// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package strategy holds what the hand-written strategies of all resources share: the decisions that most of
// them leave open, and the requests that hooks are given.
package strategy

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"
)

// Base takes no decision: nothing is prepared, validated, warned about or put into canonical form, an update
// does not create, and an update without a resourceVersion is allowed. A strategy embeds it and overrides what
// its resource decides. T is the pointer to the hub type.
type Base[T any] struct{}

// PrepareForCreate leaves the object as the client sent it.
func (Base[T]) PrepareForCreate(context.Context, T) {}

// Validate finds nothing wrong.
func (Base[T]) Validate(context.Context, T) field.ErrorList { return nil }

// WarningsOnCreate has none.
func (Base[T]) WarningsOnCreate(context.Context, T) []string { return nil }

// Canonicalize leaves the validated object as it is.
func (Base[T]) Canonicalize(T) {}

// PrepareForUpdate leaves the new object as the client sent it.
func (Base[T]) PrepareForUpdate(_ context.Context, _, _ T) {}

// ValidateUpdate finds nothing wrong.
func (Base[T]) ValidateUpdate(_ context.Context, _, _ T) field.ErrorList { return nil }

// WarningsOnUpdate has none.
func (Base[T]) WarningsOnUpdate(_ context.Context, _, _ T) []string { return nil }

// AllowCreateOnUpdate is false: a PUT of an object that does not exist is a 404.
func (Base[T]) AllowCreateOnUpdate(context.Context) bool { return false }

// AllowUnconditionalUpdate is true: a PUT without a resourceVersion replaces whatever is stored.
func (Base[T]) AllowUnconditionalUpdate(context.Context) bool { return true }

// DeleteRequest is what a Delete hook is asked to do.
type DeleteRequest struct {
	// Name is the object to delete.
	Name string
	// Validate is validating admission; it is called with the object that is stored.
	Validate rest.ValidateObjectFunc
	// Options are the client's, nil when it sent none.
	Options *metav1.DeleteOptions
	// Clock gives the deletion timestamp.
	Clock clock.PassiveClock
}
