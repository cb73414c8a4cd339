// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package controllerrevision

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/pinnace-io/pinnace/pkg/registry/table"
)

// noController is the cell of a revision that no controller owns.
const noController = "<none>"

// Columns shows ControllerRevisions in a table, as printControllerRevision in
// pkg/printers/internalversion/printers.go of k8s.io/kubernetes does.
type Columns struct {
	clock clock.PassiveClock
}

var _ table.Columns[*appsv1.ControllerRevision] = Columns{}

// NewColumns returns the columns; now tells the age of an object.
func NewColumns(now clock.PassiveClock) Columns { return Columns{clock: now} }

// Definitions returns the columns. The type of Revision is upstream's: string, though cells hold a number.
func (Columns) Definitions() []metav1.TableColumnDefinition {
	meta := metav1.ObjectMeta{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: meta["name"]},
		{Name: "Controller", Type: "string", Description: "Controller of the object"},
		{Name: "Revision", Type: "string", Description: appsv1.ControllerRevision{}.SwaggerDoc()["revision"]},
		{Name: "Age", Type: "string", Description: meta["creationTimestamp"]},
	}
}

// Cells returns the row of one ControllerRevision.
func (c Columns) Cells(revision *appsv1.ControllerRevision) []any {
	return []any{revision.Name, controller(revision), revision.Revision, table.Age(c.clock, revision.CreationTimestamp)}
}

// controller returns the owner as "daemonset.apps/name". An apiVersion that can't be parsed shows as no controller:
// upstream fails there, but no such owner gets past validation.
func controller(revision *appsv1.ControllerRevision) string {
	owner := metav1.GetControllerOfNoCopy(revision)
	if owner == nil {
		return noController
	}
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return noController
	}
	kind := schema.GroupKind{Group: gv.Group, Kind: owner.Kind}
	if kind.Empty() {
		return owner.Name
	}
	return strings.ToLower(kind.String()) + "/" + owner.Name
}
