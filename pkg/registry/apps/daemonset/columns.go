// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
	"github.com/pinnace-io/pinnace/pkg/registry/table"
)

// Columns shows DaemonSets in a table, as printDaemonSet in pkg/printers/internalversion/printers.go of
// k8s.io/kubernetes does.
type Columns struct {
	clock clock.PassiveClock
}

var _ table.Columns[*appsv1.DaemonSet] = Columns{}
var _ table.MetadataView[*appsv1.DaemonSet] = Columns{}

// NewColumns returns the columns; now tells the age of an object.
func NewColumns(now clock.PassiveClock) Columns { return Columns{clock: now} }

// Definitions returns the columns. The last three are for wide output.
func (Columns) Definitions() []metav1.TableColumnDefinition {
	meta, status, spec := metav1.ObjectMeta{}.SwaggerDoc(), appsv1.DaemonSetStatus{}.SwaggerDoc(), appsv1.DaemonSetSpec{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: meta["name"]},
		{Name: "Desired", Type: "integer", Description: status["desiredNumberScheduled"]},
		{Name: "Current", Type: "integer", Description: status["currentNumberScheduled"]},
		{Name: "Ready", Type: "integer", Description: status["numberReady"]},
		{Name: "Up-to-date", Type: "integer", Description: status["updatedNumberScheduled"]},
		{Name: "Available", Type: "integer", Description: status["numberAvailable"]},
		{Name: "Node Selector", Type: "string", Description: corev1.PodSpec{}.SwaggerDoc()["nodeSelector"]},
		{Name: "Age", Type: "string", Description: meta["creationTimestamp"]},
		{Name: "Containers", Type: "string", Priority: 1, Description: "Names of each container in the template."},
		{Name: "Images", Type: "string", Priority: 1, Description: "Images referenced by each container in the template."},
		{Name: "Selector", Type: "string", Priority: 1, Description: spec["selector"]},
	}
}

// Cells returns the row of one DaemonSet.
func (c Columns) Cells(ds *appsv1.DaemonSet) []any {
	status, pod := &ds.Status, &ds.Spec.Template.Spec
	names, images := make([]string, len(pod.Containers)), make([]string, len(pod.Containers))
	for i := range pod.Containers {
		names[i], images[i] = pod.Containers[i].Name, pod.Containers[i].Image
	}
	return []any{
		ds.Name,
		int64(status.DesiredNumberScheduled),
		int64(status.CurrentNumberScheduled),
		int64(status.NumberReady),
		int64(status.UpdatedNumberScheduled),
		int64(status.NumberAvailable),
		labels.FormatLabels(pod.NodeSelector),
		table.Age(c.clock, ds.CreationTimestamp),
		strings.Join(names, ","),
		strings.Join(images, ","),
		metav1.FormatLabelSelector(ds.Spec.Selector),
	}
}

// Metadata returns ds as a row carries it when only metadata is asked for: without the annotation for the template
// generation, which upstream's internal type doesn't have there.
func (Columns) Metadata(ds *appsv1.DaemonSet) *appsv1.DaemonSet {
	return apps.WithoutTemplateGeneration(ds)
}
