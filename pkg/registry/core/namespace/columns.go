// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package namespace

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/pinnace-io/pinnace/pkg/registry/table"
)

// Columns shows namespaces as printNamespace in pkg/printers/internalversion of k8s.io/kubernetes does.
type Columns struct {
	clock clock.PassiveClock
}

var _ table.Columns[*corev1.Namespace] = Columns{}

// NewColumns returns the columns; ages are told by the clock.
func NewColumns(clock clock.PassiveClock) Columns {
	return Columns{clock: clock}
}

// Definitions implements table.Columns.
func (Columns) Definitions() []metav1.TableColumnDefinition {
	doc := metav1.ObjectMeta{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: doc["name"]},
		{Name: "Status", Type: "string", Description: "The status of the namespace"},
		{Name: "Age", Type: "string", Description: doc["creationTimestamp"]},
	}
}

// Cells implements table.Columns.
func (c Columns) Cells(ns *corev1.Namespace) []any {
	return []any{ns.Name, string(ns.Status.Phase), table.Age(c.clock, ns.CreationTimestamp)}
}
