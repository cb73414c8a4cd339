// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
)

// controllerRevision returns the smallest ControllerRevision with data, with changes made to it.
func controllerRevision(t *testing.T, name string, changes ...change) map[string]any {
	t.Helper()
	return changed(t, fromYAML(t, `{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: `+name+`}, data: {spec: {a: 1}}, revision: 1}`), changes...)
}

func createRevision(t *testing.T, namespace, name string, changes ...change) answer {
	t.Helper()
	return mustSend(t, call{method: http.MethodPost, path: revisionsPath(namespace), body: controllerRevision(t, name, changes...)}, http.StatusCreated)
}

// wantRevision compares the whole object of an answer with that of createRevision, named r, with changes made to it.
func wantRevision(t *testing.T, a answer, code int, namespace string, changes ...change) {
	t.Helper()
	wantCode(t, a, code)
	want := controllerRevision(t, "r", append([]change{meta("{namespace: " + namespace + ", uid: UID, resourceVersion: VERSION, creationTimestamp: TIME}")}, changes...)...)
	if diff := cmp.Diff(want, scrubbed(t, a.object)); diff != "" {
		t.Errorf("the object differs (-want +got):\n%s", diff)
	}
}

func TestControllerRevisionLife(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := revisionsPath(ns) + "/r"
	created := send(t, call{method: http.MethodPost, path: revisionsPath(ns) + "?fieldManager=p", body: controllerRevision(t, "r")})
	wantRevision(t, created, http.StatusCreated, ns)
	wantEntries(t, created, http.StatusCreated, entry(t, "p", "Update", "", "{f:data: {}, f:revision: {}}"))
	unchanged(t, created, mustSend(t, get(path), http.StatusOK))
	unchanged(t, created, mustSend(t, call{method: http.MethodPut, path: path, body: controllerRevision(t, "r")}, http.StatusOK))

	revision := func(number string) change { return root("revision: " + number) }
	put := send(t, call{method: http.MethodPut, path: path, body: controllerRevision(t, "r", revision("2"))})
	wantRevision(t, put, http.StatusOK, ns, revision("2"))
	lower := send(t, call{method: http.MethodPut, path: path, body: controllerRevision(t, "r", revision("1"))})
	wantRevision(t, lower, http.StatusOK, ns)
	wantRevision(t, send(t, patch(mergePatch, path, `{"revision":3,"metadata":{"labels":{"a":"b"}}}`)), http.StatusOK, ns, revision("3"), meta("labels: {a: b}"))
	wantRevision(t, send(t, patch(strategicPatch, path, `{"revision":4}`)), http.StatusOK, ns, revision("4"), meta("labels: {a: b}"))
	wantRevision(t, send(t, patch(jsonPatch, path, `[{"op":"replace","path":"/revision","value":5}]`)), http.StatusOK, ns, revision("5"), meta("labels: {a: b}"))
	wantRevision(t, send(t, apply(path, "m&force=true", "{apiVersion: apps/v1, kind: ControllerRevision, revision: 6}")), http.StatusOK, ns, revision("6"), meta("labels: {a: b}"))

	// No strategy counts generations here: creation takes any, and an update keeps it.
	counted := createRevision(t, ns, "counted", meta("generation: 7"))
	wantField(t, counted, "metadata.generation", "7")
	unchanged(t, counted, mustSend(t, patch(mergePatch, revisionsPath(ns)+"/counted", `{"metadata":{"generation":9}}`)))

	deleted := send(t, call{method: http.MethodDelete, path: path})
	want := map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Success",
		"details": map[string]any{"name": "r", "group": "apps", "kind": "controllerrevisions", "uid": created.field("metadata.uid")},
	}
	if diff := cmp.Diff(want, deleted.object); diff != "" {
		t.Errorf("the answer to the deletion differs (-want +got):\n%s", diff)
	}
	missing := failure{
		code: http.StatusNotFound, reason: "NotFound", message: `controllerrevisions.apps "r" not found`, details: "{name: r, group: apps, kind: controllerrevisions}",
	}
	for _, c := range []call{
		get(path), {method: http.MethodDelete, path: path}, {method: http.MethodPut, path: path, body: controllerRevision(t, "r")}, patch(mergePatch, path, "{}"),
	} {
		wantFailure(t, send(t, c), missing)
	}
}

func TestControllerRevisionApply(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := revisionsPath(ns) + "/r"
	both := "{f:data: {}, f:revision: {}}"
	created := send(t, apply(path, "a", controllerRevision(t, "r")))
	wantRevision(t, created, http.StatusCreated, ns)
	wantEntries(t, created, http.StatusCreated, entry(t, "a", "Apply", "", both))
	unchanged(t, created, mustSend(t, apply(path, "a", controllerRevision(t, "r")), http.StatusOK))

	other := controllerRevision(t, "r", root("revision: 4"))
	wantFailure(t, send(t, apply(path, "b", other)), conflicting(
		`Apply failed with 1 conflict: conflict with "a": .revision`, `.revision: conflict with "a"`))
	forced := send(t, apply(path, "b&force=true", other))
	wantRevision(t, forced, http.StatusOK, ns, root("revision: 4"))
	wantEntries(t, forced, http.StatusOK, entry(t, "a", "Apply", "", "{f:data: {}}"), entry(t, "b", "Apply", "", both))
	wantFailure(t, send(t, apply(path, "b", controllerRevision(t, "r", root("{revision: 4, data: {spec: {a: 2}}}")))), conflicting(
		`Apply failed with 1 conflict: conflict with "a": .data`, `.data: conflict with "a"`))
	wantFailure(t, send(t, apply(path, "b&force=true", controllerRevision(t, "r", root("{revision: 4, data: {spec: {a: 2}}}")))),
		invalid(t, "ControllerRevision.apps", "r", `data: Invalid value: {"spec":{"a":2}}: field is immutable`))
}

func TestControllerRevisionCollections(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	mark := unique("mark")
	list := revisionsPath(ns)
	version := mustSend(t, get(list)).text("metadata.resourceVersion")
	watches := map[string]*stream{
		"parameter":            watch(t, list+"?watch=true&timeoutSeconds=60&resourceVersion="+version),
		"path":                 watch(t, "/apis/apps/v1/watch/namespaces/"+ns+"/controllerrevisions?timeoutSeconds=60&resourceVersion="+version),
		"path, all namespaces": watch(t, "/apis/apps/v1/watch/controllerrevisions?timeoutSeconds=60&labelSelector=mark%3D"+mark+"&resourceVersion="+version),
	}
	one := watch(t, "/apis/apps/v1/watch/namespaces/"+ns+"/controllerrevisions/b?timeoutSeconds=60&resourceVersion="+version)
	labelled := meta("labels: {mark: " + mark + "}")
	createRevision(t, ns, "b", labelled)
	createRevision(t, ns, "a", labelled)
	for name, path := range map[string]string{
		"a namespace":    list,
		"all namespaces": "/apis/apps/v1/controllerrevisions?labelSelector=mark%3D" + mark,
	} {
		got := mustSend(t, get(path), http.StatusOK)
		wantFields(t, got, http.StatusOK, map[string]string{"kind": "ControllerRevisionList", "apiVersion": "apps/v1", "items.0.data": "{spec: {a: 1}}"})
		if diff := cmp.Diff([]string{"a", "b"}, names(got)); diff != "" {
			t.Errorf("the list of %s differs (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff([]string{"b"}, names(mustSend(t, get(list+"?fieldSelector=metadata.name%3Db")))); diff != "" {
		t.Errorf("the list by name differs (-want +got):\n%s", diff)
	}
	wantFailure(t, send(t, get(list+"?fieldSelector=revision%3D1")), failure{
		code: http.StatusBadRequest, reason: "BadRequest", message: `"revision" is not a known field selector: only "metadata.name", "metadata.namespace"`,
	})
	deleted := mustSend(t, call{method: http.MethodDelete, path: list + "?labelSelector=mark%3D" + mark}, http.StatusOK)
	if diff := cmp.Diff([]string{"a", "b"}, names(deleted)); diff != "" {
		t.Errorf("the deleted ones differ (-want +got):\n%s", diff)
	}
	if left := names(mustSend(t, get(list))); left != nil {
		t.Errorf("%v are left", left)
	}
	for name, w := range watches {
		got := []string{w.next().name(), w.next().name(), w.next().name(), w.next().name()}
		if diff := cmp.Diff([]string{"ADDED b", "ADDED a", "DELETED a", "DELETED b"}, got); diff != "" {
			t.Errorf("the events by %s differ (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff([]string{"ADDED b", "DELETED b"}, []string{one.next().name(), one.next().name()}); diff != "" {
		t.Errorf("the events of one differ (-want +got):\n%s", diff)
	}
}

func TestControllerRevisionBookmark(t *testing.T) {
	t.Parallel()
	w := watch(t, revisionsPath(newNamespace(t))+"?watch=1&timeoutSeconds=30&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan")
	e := w.next()
	want := fromYAML(t, `{kind: ControllerRevision, apiVersion: apps/v1, metadata: {resourceVersion: VERSION, annotations: {k8s.io/initial-events-end: "true"}}, data: null, revision: 0}`)
	if diff := cmp.Diff(event{"BOOKMARK", want}, event{e.Type, scrubbed(t, e.Object)}); diff != "" {
		t.Errorf("the event differs (-want +got):\n%s", diff)
	}
}

// TestControllerRevisionDeletion: its strategy has no policy of its own, so that dependents are dealt with in the
// background.
func TestControllerRevisionDeletion(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	for policy, finalizer := range map[string]string{"Foreground": "foregroundDeletion", "Orphan": "orphan"} {
		name := strings.ToLower(policy)
		createRevision(t, ns, name)
		got := send(t, call{method: http.MethodDelete, path: revisionsPath(ns) + "/" + name + "?propagationPolicy=" + policy})
		wantRevision(t, got, http.StatusOK, ns, meta("{name: "+name+", deletionTimestamp: TIME, deletionGracePeriodSeconds: 0, finalizers: ["+finalizer+"]}"))
		gone := send(t, patch(mergePatch, revisionsPath(ns)+"/"+name, `{"metadata":{"finalizers":null}}`))
		wantRevision(t, gone, http.StatusOK, ns, meta("{name: "+name+", deletionTimestamp: TIME, deletionGracePeriodSeconds: 0}"))
		wantCode(t, send(t, get(revisionsPath(ns)+"/"+name)), http.StatusNotFound)
	}
}

func TestControllerRevisionMethods(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	createRevision(t, ns, "r")
	unknown := failure{code: http.StatusNotFound, reason: "NotFound", message: "the server could not find the requested resource", details: "{}"}
	for name, test := range map[string]struct {
		call call
		want failure
	}{
		"status":                     {get(revisionsPath(ns) + "/r/status"), unknown},
		"replacing a collection":     {call{method: http.MethodPut, path: revisionsPath(ns), body: "{}"}, wrongMethod()},
		"creating at an object":      {call{method: http.MethodPost, path: revisionsPath(ns) + "/r", body: "{}"}, wrongMethod()},
		"creating in no namespace":   {call{method: http.MethodPost, path: "/apis/apps/v1/controllerrevisions", body: "{}"}, wrongMethod()},
		"deleting in all namespaces": {call{method: http.MethodDelete, path: "/apis/apps/v1/controllerrevisions"}, wrongMethod()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantFailure(t, send(t, test.call), test.want)
		})
	}
}

func TestControllerRevisionTable(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	owner := func(controller string) change {
		return meta("ownerReferences: [{apiVersion: v1, kind: Node, name: foo, uid: u}, {apiVersion: apps/v1, kind: DaemonSet, name: ds, uid: v, controller: " + controller + "}]")
	}
	createRevision(t, ns, "a")
	createRevision(t, ns, "b", owner("true"), root("revision: 9"))
	createRevision(t, ns, "c", owner("false"))
	createRevision(t, ns, "d", meta("ownerReferences: [{apiVersion: v1, kind: Node, name: foo, uid: u, controller: true}]"))
	columns := []any{
		column("Name", "string", "name", 0, nameColumn),
		column("Controller", "string", "", 0, "Controller of the object"),
		column("Revision", "string", "", 0, "Revision indicates the revision of the state represented by Data."),
		column("Age", "string", "", 0, ageColumn),
	}
	got := mustSend(t, call{method: http.MethodGet, path: revisionsPath(ns) + "?includeObject=None", accept: asTable})
	wantTable(t, got.object, columns, 3, row(nil, "a", "<none>", 1., "AGE"), row(nil, "b", "daemonset.apps/ds", 9., "AGE"),
		row(nil, "c", "<none>", 1., "AGE"), row(nil, "d", "node/foo", 1., "AGE"))
	a := mustSend(t, get(revisionsPath(ns)+"/a"))
	one := mustSend(t, call{method: http.MethodGet, path: revisionsPath(ns) + "/a", accept: asTable})
	wantTable(t, one.object, columns, 3, row(partial(t, a.object), "a", "<none>", 1., "AGE"))
}

func TestControllerRevisionProtobuf(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := revisionsPath(ns) + "/r"
	created := createRevision(t, ns, "r")
	read := mustSend(t, call{method: http.MethodGet, path: path, accept: protobufBody}, http.StatusOK)
	var revision appsv1.ControllerRevision
	fromProtobuf(t, read, "apps/v1", "ControllerRevision", &revision)
	if got := string(revision.Data.Raw); got != `{"spec":{"a":1}}` || revision.Revision != 1 {
		t.Errorf("got revision %d with data %s", revision.Revision, got)
	}
	unchanged(t, created, mustSend(t, call{method: http.MethodPut, path: path, contentType: protobufBody, body: read.raw}, http.StatusOK))
}
