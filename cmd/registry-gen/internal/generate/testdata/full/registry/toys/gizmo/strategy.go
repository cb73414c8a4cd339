// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package gizmo decides nothing.
package gizmo

import (
	toysv1 "github.com/pinnace-io/pinnace/cmd/registry-gen/internal/generate/testdata/api/v1"

	"github.com/pinnace-io/pinnace/pkg/registry/strategy"
)

// Strategy decides about gizmos.
type Strategy struct {
	strategy.Base[*toysv1.Gizmo]
}

// NewStrategy returns the strategy.
func NewStrategy() Strategy {
	return Strategy{}
}
