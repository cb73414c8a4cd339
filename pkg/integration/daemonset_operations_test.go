// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// minimalDaemonSet is what the server makes of daemonSet("d").
const minimalDaemonSet = `
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: d
  namespace: NAMESPACE
  uid: UID
  resourceVersion: VERSION
  generation: 1
  creationTimestamp: TIME
  annotations: {deprecated.daemonset.template.generation: "1"}
spec:
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec:
      containers:
      - name: c
        image: img:1
        resources: {}
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
        imagePullPolicy: IfNotPresent
      restartPolicy: Always
      terminationGracePeriodSeconds: 30
      dnsPolicy: ClusterFirst
      securityContext: {}
      schedulerName: default-scheduler
  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}
  revisionHistoryLimit: 10
status: {currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0}
`

// minimalIn is minimalDaemonSet in a namespace, as YAML, with changes made to it.
func minimalIn(t *testing.T, namespace string, changes ...change) map[string]any {
	t.Helper()
	return changed(t, fromYAML(t, strings.ReplaceAll(minimalDaemonSet, "NAMESPACE", namespace)), changes...)
}

// wantDaemonSet compares the whole object of an answer with minimalIn.
func wantDaemonSet(t *testing.T, a answer, code int, namespace string, changes ...change) {
	t.Helper()
	wantCode(t, a, code)
	if diff := cmp.Diff(minimalIn(t, namespace, changes...), scrubbed(t, a.object)); diff != "" {
		t.Errorf("the object differs (-want +got):\n%s", diff)
	}
}

func TestDaemonSetLife(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d")

	created := send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), body: daemonSet(t, "d")})
	wantDaemonSet(t, created, http.StatusCreated, ns)

	read := send(t, get(path))
	wantCode(t, read, http.StatusOK)
	unchanged(t, created, read)
	status := send(t, get(path+"/status"))
	wantCode(t, status, http.StatusOK)
	unchanged(t, created, status)

	replaced := send(t, call{method: http.MethodPut, path: path, body: changed(t, deepCopy(t, read.object), spec("minReadySeconds: 7"))})
	wantDaemonSet(t, replaced, http.StatusOK, ns, spec("minReadySeconds: 7"), meta("generation: 2"))

	merged := send(t, patch(mergePatch, path, `{"metadata":{"labels":{"l":"1"}}}`))
	wantDaemonSet(t, merged, http.StatusOK, ns, spec("minReadySeconds: 7"), meta("{generation: 2, labels: {l: '1'}}"))

	strategic := send(t, patch(strategicPatch, path, `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"img:2"}]}}}}`))
	wantDaemonSet(t, strategic, http.StatusOK, ns, spec("minReadySeconds: 7"), container("image: 'img:2'"),
		meta("{generation: 3, labels: {l: '1'}, annotations: {deprecated.daemonset.template.generation: '2'}}"))

	operations := send(t, patch(jsonPatch, path, `[{"op":"remove","path":"/spec/minReadySeconds"},{"op":"add","path":"/metadata/labels/m","value":"2"}]`))
	wantDaemonSet(t, operations, http.StatusOK, ns, container("image: 'img:2'"),
		meta("{generation: 4, labels: {l: '1', m: '2'}, annotations: {deprecated.daemonset.template.generation: '2'}}"))

	applied := send(t, patch(applyPatch, path+"?fieldManager=m", "{apiVersion: apps/v1, kind: DaemonSet, spec: {revisionHistoryLimit: 10}}"))
	wantDaemonSet(t, applied, http.StatusOK, ns, container("image: 'img:2'"),
		meta("{generation: 4, labels: {l: '1', m: '2'}, annotations: {deprecated.daemonset.template.generation: '2'}}"))

	deleted := send(t, call{method: http.MethodDelete, path: path})
	wantCode(t, deleted, http.StatusOK)
	want := map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Success",
		"details": map[string]any{"name": "d", "group": "apps", "kind": "daemonsets", "uid": created.field("metadata.uid")},
	}
	if diff := cmp.Diff(want, deleted.object); diff != "" {
		t.Errorf("the answer to the deletion differs (-want +got):\n%s", diff)
	}
	wantFailure(t, send(t, get(path)), notFound("d"))
	wantFailure(t, send(t, call{method: http.MethodDelete, path: path}), notFound("d"))
}

func TestDaemonSetApplyCreates(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d") + "?fieldManager=m"
	body := daemonSet(t, "d")

	created := send(t, patch(applyPatch, path, body))
	wantDaemonSet(t, created, http.StatusCreated, ns)
	again := send(t, patch(applyPatch, path, body))
	wantCode(t, again, http.StatusOK)
	unchanged(t, created, again)
}

// TestDaemonSetYAML sends and asks for YAML.
func TestDaemonSetYAML(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	body, err := yaml.Marshal(daemonSet(t, "d"))
	if err != nil {
		t.Fatal(err)
	}
	created := send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), contentType: yamlBody, body: body})
	wantDaemonSet(t, created, http.StatusCreated, ns)
	read := mustSend(t, call{method: http.MethodGet, path: daemonSetPath(ns, "d"), accept: yamlBody}, http.StatusOK)
	if contentType := read.header.Get("Content-Type"); contentType != yamlBody {
		t.Errorf("the answer is of type %s", contentType)
	}
	if diff := cmp.Diff(created.object, fromYAML(t, string(read.raw))); diff != "" {
		t.Errorf("the object differs (-created +read):\n%s", diff)
	}
	put := mustSend(t, call{method: http.MethodPut, path: daemonSetPath(ns, "d"), contentType: yamlBody, body: read.raw}, http.StatusOK)
	unchanged(t, created, put)
}

func TestDaemonSetStatusLife(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d")
	created := createDaemonSet(t, ns, "d")

	body := changed(t, deepCopy(t, created.object), root("{status: {numberReady: 1, observedGeneration: 1}, spec: {minReadySeconds: 9}}"))
	replaced := send(t, call{method: http.MethodPut, path: path + "/status", body: body})
	wantDaemonSet(t, replaced, http.StatusOK, ns, root("{status: {numberReady: 1, observedGeneration: 1}}"))

	merged := send(t, patch(mergePatch, path+"/status", `{"status":{"numberReady":2}}`))
	wantDaemonSet(t, merged, http.StatusOK, ns, root("{status: {numberReady: 2, observedGeneration: 1}}"))

	mustSend(t, patch(strategicPatch, path+"/status", `{"status":{"conditions":[{"type":"A","status":"True"}]}}`))
	strategic := send(t, patch(strategicPatch, path+"/status", `{"status":{"conditions":[{"type":"B","status":"False"}]}}`))
	wantDaemonSet(t, strategic, http.StatusOK, ns, root(`{status: {numberReady: 2, observedGeneration: 1, conditions: [
		{type: B, status: "False", lastTransitionTime: null}, {type: A, status: "True", lastTransitionTime: null}]}}`))

	operations := send(t, patch(jsonPatch, path+"/status", `[{"op":"remove","path":"/status/conditions"},{"op":"replace","path":"/status/desiredNumberScheduled","value":3}]`))
	wantDaemonSet(t, operations, http.StatusOK, ns, root("{status: {numberReady: 2, observedGeneration: 1, desiredNumberScheduled: 3}}"))

	applied := send(t, patch(applyPatch, path+"/status?fieldManager=m", "{apiVersion: apps/v1, kind: DaemonSet, status: {numberAvailable: 4}}"))
	wantDaemonSet(t, applied, http.StatusOK, ns, root("{status: {numberReady: 2, observedGeneration: 1, desiredNumberScheduled: 3, numberAvailable: 4}}"))

	read := send(t, get(path+"/status"))
	wantCode(t, read, http.StatusOK)
	unchanged(t, applied, read)
	unchanged(t, applied, send(t, get(path)))
}

func TestDaemonSetRequestsRefused(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	createDaemonSet(t, ns, "d")
	list, path, missing := daemonSetsPath(ns), daemonSetPath(ns, "d"), daemonSetPath(ns, "nope")
	unknownPath := failure{code: http.StatusNotFound, reason: "NotFound", message: "the server could not find the requested resource", details: "{}"}
	patchType := failure{code: http.StatusUnsupportedMediaType, reason: "UnsupportedMediaType", message: "415: Unsupported Media Type", details: "{}"}
	unknownField := failure{
		code: http.StatusBadRequest, reason: "BadRequest",
		message: `"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"`,
	}

	tests := map[string]struct {
		call call
		want failure
	}{
		"reading a missing one":             {get(missing), notFound("nope")},
		"reading the status of one":         {get(missing + "/status"), notFound("nope")},
		"replacing a missing one":           {call{method: http.MethodPut, path: missing, body: daemonSet(t, "nope")}, notFound("nope")},
		"replacing the status of one":       {call{method: http.MethodPut, path: missing + "/status", body: daemonSet(t, "nope")}, notFound("nope")},
		"merge patch of a missing one":      {patch(mergePatch, missing, "{}"), notFound("nope")},
		"strategic patch of a missing one":  {patch(strategicPatch, missing, "{}"), notFound("nope")},
		"JSON patch of a missing one":       {patch(jsonPatch, missing, "[]"), notFound("nope")},
		"applying the status of one":        {patch(applyPatch, missing+"/status?fieldManager=m", daemonSet(t, "nope")), notFound("nope")},
		"deleting a missing one":            {call{method: http.MethodDelete, path: missing}, notFound("nope")},
		"replacing a collection":            {call{method: http.MethodPut, path: list, body: daemonSet(t, "d")}, wrongMethod()},
		"patching a collection":             {patch(mergePatch, list, "{}"), wrongMethod()},
		"options of a collection":           {call{method: http.MethodOptions, path: list}, wrongMethod()},
		"creating at an object":             {call{method: http.MethodPost, path: path, body: daemonSet(t, "d")}, wrongMethod()},
		"options of an object":              {call{method: http.MethodOptions, path: path}, wrongMethod()},
		"creating a status":                 {call{method: http.MethodPost, path: path + "/status", body: daemonSet(t, "d")}, wrongMethod()},
		"deleting a status":                 {call{method: http.MethodDelete, path: path + "/status"}, wrongMethod()},
		"creating in no namespace":          {call{method: http.MethodPost, path: "/apis/apps/v1/daemonsets", body: daemonSet(t, "d")}, wrongMethod()},
		"deleting in all namespaces":        {call{method: http.MethodDelete, path: "/apis/apps/v1/daemonsets"}, wrongMethod()},
		"creating at a watch":               {call{method: http.MethodPost, path: "/apis/apps/v1/watch/daemonsets", body: daemonSet(t, "d")}, wrongMethod()},
		"deleting at a watch":               {call{method: http.MethodDelete, path: "/apis/apps/v1/watch/namespaces/" + ns + "/daemonsets/d"}, wrongMethod()},
		"a scale, which it does not have":   {get(path + "/scale"), unknownPath},
		"an unknown subresource":            {get(path + "/bogus"), unknownPath},
		"a patch of no known type":          {patch("text/plain", path, "{}"), patchType},
		"a patch that is called plain JSON": {patch(jsonBody, path, "{}"), patchType},
		"a body of an unknown type": {
			call{method: http.MethodPost, path: list, contentType: "text/plain", body: "a"},
			failure{
				code: http.StatusUnsupportedMediaType, reason: "UnsupportedMediaType",
				message: "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
			},
		},
		"force without apply": {
			patch(mergePatch, path+"?force=true", "{}"),
			invalid(t, "PatchOptions.meta.k8s.io", "", "force: Forbidden: may not be specified for non-apply patch"),
		},
		"apply without a manager": {
			patch(applyPatch, path, "{}"),
			invalid(t, "PatchOptions.meta.k8s.io", "", "fieldManager: Required value: is required for apply patch"),
		},
		"list by a field that is not selectable":       {get(list + "?fieldSelector=spec.x%3D1"), unknownField},
		"watch by a field that is not selectable":      {get(list + "?watch=true&fieldSelector=spec.x%3D1"), unknownField},
		"delete many by a field that isn't selectable": {call{method: http.MethodDelete, path: list + "?fieldSelector=spec.x%3D1"}, unknownField},
		"a label selector that can't be parsed": {
			get(list + "?labelSelector=a%3D%3D%3Db"),
			failure{code: http.StatusBadRequest, reason: "BadRequest", message: "unable to parse requirement: found '=', expected: identifier"},
		},
		"watching one object by another name": {
			get("/apis/apps/v1/watch/namespaces/" + ns + "/daemonsets/d?fieldSelector=metadata.name%3De"),
			failure{code: http.StatusBadRequest, reason: "BadRequest", message: "fieldSelector metadata.name doesn't match requested name"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantFailure(t, send(t, test.call), test.want)
		})
	}
	for name, path := range map[string]string{"head of a collection": list, "head of an object": path} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantCode(t, send(t, call{method: http.MethodHead, path: path}), http.StatusMethodNotAllowed)
		})
	}
}

func TestDaemonSetDiscovery(t *testing.T) {
	t.Parallel()
	resources, _ := mustSend(t, get("/apis/apps/v1")).field("resources").([]any)
	got := map[string]any{}
	for _, entry := range resources {
		resource := entry.(map[string]any)
		if kind := resource["kind"]; kind == "DaemonSet" || kind == "ControllerRevision" {
			got[resource["name"].(string)] = resource
		}
	}
	want := fromYAML(t, `
controllerrevisions:
  name: controllerrevisions
  singularName: controllerrevision
  namespaced: true
  kind: ControllerRevision
  verbs: [create, delete, deletecollection, get, list, patch, update, watch]
  storageVersionHash: 85nkx63pcBU=
daemonsets:
  name: daemonsets
  singularName: daemonset
  namespaced: true
  kind: DaemonSet
  verbs: [create, delete, deletecollection, get, list, patch, update, watch]
  shortNames: [ds]
  categories: [all]
  storageVersionHash: dd7pWHUlMKQ=
daemonsets/status:
  name: daemonsets/status
  singularName: ""
  namespaced: true
  kind: DaemonSet
  verbs: [get, patch, update]
`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the resources differ (-want +got):\n%s", diff)
	}
}
