// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package widget has constructors that ask for all that they can.
package widget

import (
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/utils/clock"

	toysv1 "github.com/pinnace-io/pinnace/cmd/registry-gen/internal/generate/testdata/api/v1"

	"github.com/pinnace-io/pinnace/pkg/registry/strategy"
)

// Strategy decides about widgets.
type Strategy struct {
	strategy.Base[*toysv1.Widget]
}

// NewStrategy returns the strategy.
func NewStrategy(_ authorizer.Authorizer, _ clock.PassiveClock) Strategy {
	return Strategy{}
}

// StatusStrategy decides about updates through /status.
type StatusStrategy struct {
	Strategy
}

// NewStatusStrategy returns the strategy.
func NewStatusStrategy(_ clock.PassiveClock, main Strategy) StatusStrategy {
	return StatusStrategy{Strategy: main}
}

// PaintStrategy decides about updates through /paint.
type PaintStrategy struct {
	Strategy
}

// NewPaintStrategy returns the strategy.
func NewPaintStrategy() PaintStrategy {
	return PaintStrategy{}
}
