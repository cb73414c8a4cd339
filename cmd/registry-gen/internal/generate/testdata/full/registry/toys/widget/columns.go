// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package widget

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	toysv1 "github.com/pinnace-io/pinnace/cmd/registry-gen/internal/generate/testdata/api/v1"
)

// Columns are the columns of tables.
type Columns struct{}

// NewColumns returns the columns.
func NewColumns(clock.PassiveClock) Columns {
	return Columns{}
}

// Definitions returns the columns.
func (Columns) Definitions() []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name"}}
}

// Cells returns the cells of one object.
func (Columns) Cells(obj *toysv1.Widget) []any {
	return []any{obj.Name}
}
