// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asTable accepts tables.
const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

// Descriptions of columns that several kinds have.
const (
	nameColumn = "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request " +
		"the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. " +
		"Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
	ageColumn = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in " +
		"happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\n" +
		"Populated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)

// column is one of columnDefinitions.
func column(name, columnType, format string, priority float64, description string) any {
	return map[string]any{"name": name, "type": columnType, "format": format, "description": description, "priority": priority}
}

func daemonSetColumns() []any {
	return []any{
		column("Name", "string", "name", 0, nameColumn),
		column("Desired", "integer", "", 0, "The total number of nodes that should be running the daemon pod (including nodes correctly running the daemon pod). "+
			"More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/"),
		column("Current", "integer", "", 0, "The number of nodes that are running at least 1 daemon pod and are supposed to run the daemon pod. "+
			"More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/"),
		column("Ready", "integer", "", 0, "numberReady is the number of nodes that should be running the daemon pod and have one or more of the daemon pod running with a Ready Condition."),
		column("Up-to-date", "integer", "", 0, "The total number of nodes that are running updated daemon pod"),
		column("Available", "integer", "", 0, "The number of nodes that should be running the daemon pod and have one or more of the daemon pod running and available (ready for at least spec.minReadySeconds)"),
		column("Node Selector", "string", "", 0, "NodeSelector is a selector which must be true for the pod to fit on a node. Selector which must match a node's labels for the pod to be "+
			"scheduled on that node. More info: https://kubernetes.io/docs/concepts/configuration/assign-pod-node/"),
		column("Age", "string", "", 0, ageColumn),
		column("Containers", "string", "", 1, "Names of each container in the template."),
		column("Images", "string", "", 1, "Images referenced by each container in the template."),
		column("Selector", "string", "", 1, "A label query over pods that are managed by the daemon set. Must match in order to be controlled. It must match the pod template's labels. "+
			"More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors"),
	}
}

// wantTable compares a whole table, except for its version, which there has to be one of. The age of each row has to
// be of a few seconds, and becomes AGE.
func wantTable(t *testing.T, table map[string]any, columns []any, ageAt int, rows ...any) {
	t.Helper()
	got := deepCopy(t, table)
	replaceIf(t, got["metadata"].(map[string]any), "resourceVersion", someVersion, versionForm.MatchString)
	gotRows, _ := got["rows"].([]any)
	for _, row := range gotRows {
		cells := row.(map[string]any)["cells"].([]any)
		if age, _ := cells[ageAt].(string); len(age) < 2 || age[len(age)-1] != 's' {
			t.Errorf("the age is %v", cells[ageAt])
		}
		cells[ageAt] = "AGE"
	}
	if rows == nil {
		rows = []any{}
	}
	want := map[string]any{
		"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": map[string]any{"resourceVersion": someVersion}, "columnDefinitions": columns, "rows": rows,
	}
	if columns == nil {
		want["columnDefinitions"] = nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table differs (-want +got):\n%s", diff)
	}
}

func row(object any, cells ...any) any {
	return map[string]any{"cells": cells, "object": object}
}

// partial is an object of which only the metadata are asked for. A DaemonSet's are without the annotation of its
// template generation there, for upstream takes them from the internal type.
func partial(t *testing.T, object map[string]any) map[string]any {
	t.Helper()
	metadata := deepCopy(t, object)["metadata"].(map[string]any)
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		delete(annotations, templateGeneration)
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	return map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
}

func TestDaemonSetTable(t *testing.T) {
	t.Parallel()
	const ageAt = 7
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d")
	table := func(c call) answer {
		t.Helper()
		c.accept = asTable
		return mustSend(t, c)
	}
	wantTable(t, table(get(daemonSetsPath(ns))).object, daemonSetColumns(), ageAt)

	plain := table(call{method: http.MethodPost, path: daemonSetsPath(ns), body: daemonSet(t, "e")})
	e := mustSend(t, get(daemonSetPath(ns, "e")))
	rowE := row(partial(t, e.object), "e", 0., 0., 0., 0., 0., "<none>", "AGE", "c", "img:1", "app=x")
	wantTable(t, plain.object, daemonSetColumns(), ageAt, rowE)

	createDaemonSet(t, ns, "d", meta("annotations: {a: b}"), spec("selector: {matchExpressions: [{key: tier, operator: NotIn, values: [q, p]}]}"),
		pod("{nodeSelector: {disk: ssd, arch: x}, containers: [{name: a, image: 'i:1'}, {name: b, image: 'j:2'}]}"))
	d := mustSend(t, patch(mergePatch, path+"/status", `{"status":{"desiredNumberScheduled":1,"currentNumberScheduled":2,"numberReady":3,
		"updatedNumberScheduled":4,"numberAvailable":5,"numberUnavailable":6,"numberMisscheduled":7}}`))
	rowOf := func(object any) any {
		return row(object, "d", 1., 2., 3., 4., 5., "arch=x,disk=ssd", "AGE", "a,b", "i:1,j:2", "app=x,tier notin (p,q)")
	}
	wantTable(t, table(get(path)).object, daemonSetColumns(), ageAt, rowOf(partial(t, d.object)))
	wantTable(t, table(get(path+"/status")).object, daemonSetColumns(), ageAt, rowOf(partial(t, d.object)))
	wantTable(t, table(get(path+"?includeObject=Metadata")).object, daemonSetColumns(), ageAt, rowOf(partial(t, d.object)))
	wantTable(t, table(get(path+"?includeObject=Object")).object, daemonSetColumns(), ageAt, rowOf(d.object))
	wantTable(t, table(get(path+"?includeObject=None")).object, daemonSetColumns(), ageAt, rowOf(nil))
	wantTable(t, table(get(daemonSetsPath(ns))).object, daemonSetColumns(), ageAt, rowOf(partial(t, d.object)), rowE)
	wantTable(t, table(get("/apis/apps/v1/daemonsets?fieldSelector=metadata.namespace%3D"+ns)).object, daemonSetColumns(), ageAt, rowOf(partial(t, d.object)), rowE)
	wantTable(t, table(patch(mergePatch, path, "{}")).object, daemonSetColumns(), ageAt, rowOf(partial(t, d.object)))

	// In a watch, the first table alone has columns.
	w := watchAs(t, daemonSetsPath(ns)+"?watch=true&timeoutSeconds=30&includeObject=None", asTable)
	first, second := w.next(), w.next()
	wantTable(t, first.Object, daemonSetColumns(), ageAt, rowOf(nil))
	wantTable(t, second.Object, nil, ageAt, row(nil, "e", 0., 0., 0., 0., 0., "<none>", "AGE", "c", "img:1", "app=x"))
	if first.Type != "ADDED" || second.Type != "ADDED" {
		t.Errorf("the events are %s and %s", first.Type, second.Type)
	}

	wantFailure(t, send(t, call{method: http.MethodGet, path: daemonSetPath(ns, "nope"), accept: asTable}), notFound("nope"))
	deleted := table(call{method: http.MethodDelete, path: daemonSetPath(ns, "e")})
	wantField(t, deleted, "status", "Success")
	wantTable(t, table(call{method: http.MethodDelete, path: daemonSetsPath(ns)}).object, daemonSetColumns(), ageAt, rowOf(partial(t, d.object)))
}

func TestDaemonSetTablePages(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	createDaemonSet(t, ns, "a")
	createDaemonSet(t, ns, "b")
	got := mustSend(t, call{method: http.MethodGet, path: daemonSetsPath(ns) + "?limit=1", accept: asTable})
	wantFields(t, got, http.StatusOK, map[string]string{"metadata.remainingItemCount": "1", "rows.0.cells.0": "a", "rows.1": "null"})
	next := mustSend(t, call{method: http.MethodGet, path: daemonSetsPath(ns) + "?limit=1&continue=" + got.text("metadata.continue"), accept: asTable})
	wantFields(t, next, http.StatusOK, map[string]string{"metadata.continue": "null", "rows.0.cells.0": "b", "rows.1": "null"})
}

func TestDaemonSetPartialMetadata(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	d := createDaemonSet(t, ns, "d")
	want := partial(t, d.object)
	one := mustSend(t, call{method: http.MethodGet, path: daemonSetPath(ns, "d"), accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"})
	if diff := cmp.Diff(want, one.object); diff != "" {
		t.Errorf("the metadata differ (-want +got):\n%s", diff)
	}
	list := mustSend(t, call{method: http.MethodGet, path: daemonSetsPath(ns), accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"})
	wantFields(t, list, http.StatusOK, map[string]string{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"})
	if diff := cmp.Diff([]any{want}, list.field("items")); diff != "" {
		t.Errorf("the items differ (-want +got):\n%s", diff)
	}
}
