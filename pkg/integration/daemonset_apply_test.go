// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What a manager owns, in the form of managedFields.
const (
	// appliedFields are those of daemonSet.
	appliedFields = `
f:spec:
  f:selector: {}
  f:template:
    f:metadata: {f:labels: {f:app: {}}}
    f:spec: {f:containers: {'k:{"name":"c"}': {.: {}, f:image: {}, f:name: {}}}}
`
	// createdFields are those of minimalDaemonSet: all that creation sets, with defaults.
	createdFields = `
f:metadata: {f:annotations: {.: {}, f:deprecated.daemonset.template.generation: {}}}
f:spec:
  f:revisionHistoryLimit: {}
  f:selector: {}
  f:template:
    f:metadata: {f:labels: {.: {}, f:app: {}}}
    f:spec:
      f:containers: {'k:{"name":"c"}': {.: {}, f:image: {}, f:imagePullPolicy: {}, f:name: {}, f:resources: {},
        f:terminationMessagePath: {}, f:terminationMessagePolicy: {}}}
      f:dnsPolicy: {}
      f:restartPolicy: {}
      f:schedulerName: {}
      f:securityContext: {}
      f:terminationGracePeriodSeconds: {}
  f:updateStrategy: {f:rollingUpdate: {.: {}, f:maxSurge: {}, f:maxUnavailable: {}}, f:type: {}}
`
)

// entry is one of managedFields; fields is YAML.
func entry(t *testing.T, manager, operation, subresource, fields string) any {
	t.Helper()
	out := map[string]any{
		"manager": manager, "operation": operation, "apiVersion": "apps/v1", "time": someTime, "fieldsType": "FieldsV1", "fieldsV1": fromYAML(t, fields),
	}
	if subresource != "" {
		out["subresource"] = subresource
	}
	return out
}

// timeless is an entry of an apply that changed nothing but managedFields. Entries without a time come first.
func timeless(entry any) any {
	delete(entry.(map[string]any), "time")
	return entry
}

// wantEntries compares managedFields, of an answer with this code.
func wantEntries(t *testing.T, a answer, code int, want ...any) {
	t.Helper()
	wantCode(t, a, code)
	if diff := cmp.Diff(want, managers(t, a), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("managedFields differ (-want +got):\n%s", diff)
	}
}

// conflicting is the failure of an apply; each conflict is its field and, after a colon, the other manager.
func conflicting(message string, conflicts ...string) failure {
	var causes []string
	for _, conflict := range conflicts {
		field, manager, _ := strings.Cut(conflict, ": ")
		causes = append(causes, fmt.Sprintf("{reason: FieldManagerConflict, message: '%s', field: '%s'}", manager, field))
	}
	return failure{
		code: http.StatusConflict, reason: "Conflict", message: message, details: "{causes: [" + strings.Join(causes, ", ") + "]}",
	}
}

// apply returns a call that applies, with a query after the manager's name.
func apply(path, managerAndMore string, body any) call {
	return patch(applyPatch, path+"?fieldManager="+managerAndMore, body)
}

// TestDaemonSetManagedFieldsOfEndpoints: what an endpoint resets, its writers don't own.
func TestDaemonSetManagedFieldsOfEndpoints(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d")
	status := "{apiVersion: apps/v1, kind: DaemonSet, metadata: {labels: {l: '1'}}, spec: {minReadySeconds: 8}, status: {numberReady: 4}}"

	// Apply through the main endpoint resets status, through /status the spec.
	main := entry(t, "a", "Apply", "", appliedFields)
	wantEntries(t, send(t, apply(path, "a", daemonSet(t, "d", root("status: {numberReady: 4}")))), http.StatusCreated, main)
	applied := send(t, apply(path+"/status", "b", status))
	ofStatus := entry(t, "b", "Apply", "status", "{f:metadata: {f:labels: {f:l: {}}}, f:status: {f:numberReady: {}}}")
	wantEntries(t, applied, http.StatusOK, main, ofStatus)
	wantDaemonSet(t, applied, http.StatusOK, ns, root("status: {numberReady: 4}"), meta("labels: {l: '1'}"))
	unchanged(t, applied, mustSend(t, apply(path+"/status", "b", status)))

	// The same for updates.
	updated := send(t, patch(mergePatch, path+"/status?fieldManager=c", `{"status":{"numberAvailable":3},"spec":{"minReadySeconds":3}}`))
	byController := entry(t, "c", "Update", "status", "{f:status: {f:numberAvailable: {}}}")
	wantEntries(t, updated, http.StatusOK, main, ofStatus, byController)
	patched := send(t, patch(mergePatch, path+"?fieldManager=d", `{"status":{"numberAvailable":9},"spec":{"revisionHistoryLimit":3}}`))
	byUser := entry(t, "d", "Update", "", "{f:spec: {f:revisionHistoryLimit: {}}}")
	wantEntries(t, patched, http.StatusOK, main, ofStatus, byController, byUser)
	body := changed(t, deepCopy(t, patched.object), root("status: {numberAvailable: 7, numberReady: 5}"), spec("revisionHistoryLimit: 4"))
	put := send(t, call{method: http.MethodPut, path: path + "/status?fieldManager=e", body: body})
	wantEntries(t, put, http.StatusOK, main, entry(t, "b", "Apply", "status", "{f:metadata: {f:labels: {f:l: {}}}}"), byUser,
		entry(t, "e", "Update", "status", "{f:status: {f:numberAvailable: {}, f:numberReady: {}}}"))
	wantDaemonSet(t, put, http.StatusOK, ns, root("{status: {numberReady: 5, numberAvailable: 7}, spec: {revisionHistoryLimit: 3}}"),
		meta("{labels: {l: '1'}, generation: 2}"))
}

func TestDaemonSetManagedFieldsOfCreation(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	post := func(name, query string, header http.Header, changes ...change) answer {
		t.Helper()
		return send(t, call{method: http.MethodPost, path: daemonSetsPath(ns) + query, body: daemonSet(t, name, changes...), header: header})
	}
	wantEntries(t, post("a", "?fieldManager=me", nil, root("status: {numberReady: 3}")), http.StatusCreated, entry(t, "me", "Update", "", createdFields))
	// Without a name the client's program is the manager.
	wantEntries(t, post("b", "", http.Header{"User-Agent": {"robot/1.0 (x)"}}), http.StatusCreated, entry(t, "robot", "Update", "", createdFields))
	wantEntries(t, post("c", "?fieldManager=me", nil, container("env: [{name: FOO, value: a}, {name: FOO, value: b}]"),
		container("ports: [{containerPort: 93, hostPort: 9376}, {containerPort: 93, hostPort: 7693}]")), http.StatusCreated,
		entry(t, "me", "Update", "", strings.Replace(createdFields, "f:image: {},",
			`f:env: {.: {}, 'k:{"name":"FOO"}': {}}, f:ports: {.: {}, 'k:{"containerPort":93,"protocol":"TCP"}': {}}, f:image: {},`, 1)))
	for manager, cause := range map[string]string{
		strings.Repeat("m", 129): "fieldManager: Too long: may not be more than 128 bytes",
		"a%0Ab":                  `fieldManager: Invalid value: "a\nb": invalid character U+000A (at position 1)`,
	} {
		wantFailure(t, post("d", "?fieldManager="+manager, nil), invalid(t, "CreateOptions.meta.k8s.io", "", cause))
		wantFailure(t, send(t, apply(daemonSetPath(ns, "d"), manager, daemonSet(t, "d"))), invalid(t, "PatchOptions.meta.k8s.io", "", cause))
	}
	wantCode(t, post("d", "?fieldManager="+strings.Repeat("m", 128), nil), http.StatusCreated)
}

func TestDaemonSetApplyConflicts(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d")
	mustSend(t, call{method: http.MethodPost, path: daemonSetsPath(ns) + "?fieldManager=p", body: daemonSet(t, "d")}, http.StatusCreated)
	const ready = "{apiVersion: apps/v1, kind: DaemonSet, spec: {minReadySeconds: %d}}"

	// A manager is its name and its operation, so that it may be in its own way.
	mustSend(t, patch(mergePatch, path+"?fieldManager=m2", `{"spec":{"minReadySeconds":4}}`))
	wantFailure(t, send(t, apply(path, "m2", fmt.Sprintf(ready, 5))), conflicting(
		`Apply failed with 1 conflict: conflict with "m2" using apps/v1: .spec.minReadySeconds`,
		`.spec.minReadySeconds: conflict with "m2" using apps/v1`))
	forced := send(t, apply(path, "m2&force=true", fmt.Sprintf(ready, 5)))
	wantFields(t, forced, http.StatusOK, map[string]string{"spec.minReadySeconds": "5"})
	wantEntries(t, forced, http.StatusOK, entry(t, "m2", "Apply", "", "{f:spec: {f:minReadySeconds: {}}}"),
		entry(t, "p", "Update", "", createdFields))

	// No operation is told of one that applied. The same value is no conflict.
	wantFailure(t, send(t, apply(path, "m3", fmt.Sprintf(ready, 6))), conflicting(
		`Apply failed with 1 conflict: conflict with "m2": .spec.minReadySeconds`, `.spec.minReadySeconds: conflict with "m2"`))
	shared := mustSend(t, apply(path, "m3", fmt.Sprintf(ready, 5)), http.StatusOK)
	if diff := cmp.Diff([]string{"m3/Apply", "m2/Apply", "p/Update"}, owners(shared)); diff != "" {
		t.Errorf("the managers differ (-want +got):\n%s", diff)
	}

	// Several conflicts, of one manager.
	several := "{apiVersion: apps/v1, kind: DaemonSet, spec: {revisionHistoryLimit: 3, template: {spec: {containers: [{name: c, image: 'img:2'}]}}}}"
	wantFailure(t, send(t, apply(path, "m4", several)), conflicting(
		"Apply failed with 2 conflicts: conflicts with \"p\" using apps/v1:\n- .spec.revisionHistoryLimit\n- .spec.template.spec.containers[name=\"c\"].image",
		`.spec.revisionHistoryLimit: conflict with "p" using apps/v1`,
		`.spec.template.spec.containers[name="c"].image: conflict with "p" using apps/v1`))
	// And of several managers, whose causes have no order.
	got := send(t, apply(path, "m4", fmt.Sprintf(ready, 6)))
	want := "Apply failed with 2 conflicts: conflicts with \"m2\":\n- .spec.minReadySeconds\nconflicts with \"m3\":\n- .spec.minReadySeconds"
	if causes, _ := got.field("details.causes").([]any); got.code != http.StatusConflict || got.message() != want || len(causes) != 2 {
		t.Errorf("got %d: %s", got.code, got.raw)
	}

	last := send(t, apply(path, "m4&force=true", several))
	wantEntries(t, last, http.StatusOK,
		timeless(entry(t, "m3", "Apply", "", "{f:spec: {f:minReadySeconds: {}}}")), entry(t, "m2", "Apply", "", "{f:spec: {f:minReadySeconds: {}}}"),
		entry(t, "m4", "Apply", "", `{f:spec: {f:revisionHistoryLimit: {}, f:template: {f:spec: {f:containers: {'k:{"name":"c"}': {.: {}, f:image: {}, f:name: {}}}}}}}`),
		entry(t, "p", "Update", "", strings.NewReplacer("  f:revisionHistoryLimit: {}\n", "", "f:image: {}, ", "").Replace(createdFields)))
}

func TestDaemonSetApplyStatusConflicts(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d")
	mustSend(t, apply(path, "a", daemonSet(t, "d")), http.StatusCreated)
	main := entry(t, "a", "Apply", "", appliedFields)
	const ready = "{apiVersion: apps/v1, kind: DaemonSet, status: {numberReady: %d}}"
	mustSend(t, apply(path+"/status", "b", "{apiVersion: apps/v1, kind: DaemonSet, metadata: {labels: {l: '1'}}, status: {numberReady: 4}}"))

	wantFailure(t, send(t, apply(path+"/status", "c", fmt.Sprintf(ready, 5))), conflicting(
		`Apply failed with 1 conflict: conflict with "b" with subresource "status": .status.numberReady`,
		`.status.numberReady: conflict with "b" with subresource "status"`))
	labels := entry(t, "b", "Apply", "status", "{f:metadata: {f:labels: {f:l: {}}}}")
	forced := send(t, apply(path+"/status", "c&force=true", fmt.Sprintf(ready, 5)))
	wantEntries(t, forced, http.StatusOK, main, labels, entry(t, "c", "Apply", "status", "{f:status: {f:numberReady: {}}}"))
	wantDaemonSet(t, forced, http.StatusOK, ns, meta("labels: {l: '1'}"), root("status: {numberReady: 5}"))

	// What only one manager applied goes when that one no longer does.
	without := send(t, apply(path+"/status", "c", "{apiVersion: apps/v1, kind: DaemonSet}"))
	wantEntries(t, without, http.StatusOK, main, labels)
	wantDaemonSet(t, without, http.StatusOK, ns, meta("labels: {l: '1'}"))

	// Conditions are a map by type.
	condition := "{apiVersion: apps/v1, kind: DaemonSet, status: {conditions: [{type: %s, status: '%s'}]}}"
	mustSend(t, apply(path+"/status", "c", fmt.Sprintf(condition, "X", "True")))
	both := send(t, apply(path+"/status", "d", fmt.Sprintf(condition, "Z", "True")))
	wantDaemonSet(t, both, http.StatusOK, ns, meta("labels: {l: '1'}"), root(
		"status: {conditions: [{type: X, status: 'True', lastTransitionTime: null}, {type: Z, status: 'True', lastTransitionTime: null}]}"))
	wantFailure(t, send(t, apply(path+"/status", "d", fmt.Sprintf(condition, "X", "False"))), conflicting(
		`Apply failed with 1 conflict: conflict with "c" with subresource "status": .status.conditions[type="X"].status`,
		`.status.conditions[type="X"].status: conflict with "c" with subresource "status"`))
}

// TestDaemonSetApplyRemoves: what a manager applied before and does not apply again goes, unless somebody else owns it.
func TestDaemonSetApplyRemoves(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d")
	more := []change{spec("{minReadySeconds: 5, revisionHistoryLimit: 4}"), container("env: [{name: A, value: a}, {name: B, value: b}]"), meta("labels: {a: b}")}
	mustSend(t, apply(path, "a", daemonSet(t, "d", more...)), http.StatusCreated)
	mustSend(t, apply(path, "b", "{apiVersion: apps/v1, kind: DaemonSet, spec: {minReadySeconds: 5}}"), http.StatusOK)
	got := send(t, apply(path, "a", daemonSet(t, "d", container("env: [{name: B, value: b}]"))))
	wantDaemonSet(t, got, http.StatusOK, ns, spec("minReadySeconds: 5"), container("env: [{name: B, value: b}]"),
		meta("{generation: 2, annotations: {deprecated.daemonset.template.generation: '2'}}"))
}

// TestDaemonSetApplyKeyedLists is about lists that are maps, with keys twice in them.
func TestDaemonSetApplyKeyedLists(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	twice := container("env: [{name: FOO, value: a}, {name: FOO, value: b}, {name: BAR, value: m}]")
	variable := func(name, value string) string {
		return "{apiVersion: apps/v1, kind: DaemonSet, spec: {template: {spec: {containers: [{name: c, env: [{name: " + name + ", value: " + value + "}]}]}}}}"
	}
	untyped := func(name, cause string) failure {
		return failure{
			code: http.StatusInternalServerError, message: `failed to create typed patch object (/` + name + `; apps/v1, Kind=DaemonSet): .spec.template.spec.containers[name="c"]` + cause,
		}
	}
	wantFailure(t, send(t, apply(daemonSetPath(ns, "a"), "m", daemonSet(t, "a", twice))), untyped("a", `.env: duplicate entries for key [name="FOO"]`))
	wantFailure(t, send(t, apply(daemonSetPath(ns, "a"), "m", daemonSet(t, "a", container("ports: [{containerPort: 53}, {containerPort: 53}]")))),
		untyped("a", `.ports: duplicate entries for key [containerPort=53,protocol="TCP"]`))
	wantFailure(t, send(t, apply(daemonSetPath(ns, "a"), "m", daemonSet(t, "a", container("ports: [{protocol: TCP}]")))),
		invalid(t, "DaemonSet.apps", "a", "spec.template.spec.containers[0].ports[0].containerPort: Required value"))
	ports := container("ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53, protocol: TCP}]")
	wantDaemonSet(t, send(t, apply(daemonSetPath(ns, "b"), "m", daemonSet(t, "b", ports))), http.StatusCreated, ns, meta("name: b"), ports)

	path := daemonSetPath(ns, "c")
	created := mustSend(t, call{method: http.MethodPost, path: daemonSetsPath(ns) + "?fieldManager=p", body: daemonSet(t, "c", twice)}, http.StatusCreated)
	wantFailure(t, send(t, apply(path, "m", variable("FOO", "one"))), conflicting(
		`Apply failed with 1 conflict: conflict with "p" using apps/v1: .spec.template.spec.containers[name="c"].env[name="FOO"]`,
		`.spec.template.spec.containers[name="c"].env[name="FOO"]: conflict with "p" using apps/v1`))
	// A key that is there once is left alone, and the other with it.
	same := send(t, apply(path, "m", variable("BAR", "m")))
	wantDaemonSet(t, same, http.StatusOK, ns, meta("name: c"), twice)
	if diff := cmp.Diff([]string{"m/Apply", "p/Update"}, owners(same)); diff != "" {
		t.Errorf("the managers differ (-want +got):\n%s", diff)
	}
	wantField(t, created, "metadata.generation", "1")
	forced := send(t, apply(path, "m&force=true", variable("FOO", "one")))
	wantFields(t, forced, http.StatusOK, map[string]string{
		"spec.template.spec.containers.0.env": "[{name: FOO, value: one}, {name: BAR, value: m}]", "metadata.generation": "2",
	})
}

// TestDaemonSetApplyRefused is about what no apply may hold.
func TestDaemonSetApplyRefused(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	created := createDaemonSet(t, ns, "d")
	badRequest := func(message string) failure {
		return failure{code: http.StatusBadRequest, reason: "BadRequest", message: message}
	}
	object := func(changes ...change) any { return daemonSet(t, "d", changes...) }
	tests := map[string]struct {
		name string
		body any
		want failure
	}{
		"managedFields":       {"d", object(meta("managedFields: [{manager: a}]")), badRequest("metadata.managedFields must be nil")},
		"empty managedFields": {"d", object(meta("managedFields: []")), badRequest("metadata.managedFields must be nil")},
		"another name":        {"d", object(meta("name: e")), badRequest("the name of the object (e) does not match the name on the URL (d)")},
		"no apiVersion":       {"d", object(root("apiVersion: null")), badRequest("invalid object type: /, Kind=DaemonSet")},
		"no kind":             {"d", object(root("kind: null")), badRequest("invalid object type: apps/v1, Kind=")},
		"another version":     {"d", object(root("apiVersion: apps/v1beta2")), badRequest("invalid object type: apps/v1beta2, Kind=DaemonSet")},
		"another kind":        {"d", object(root("kind: Deployment")), badRequest("invalid object type: apps/v1, Kind=Deployment")},
		"another namespace":   {"d", object(meta("namespace: other")), badRequest("the namespace of the provided object does not match the namespace sent on the request")},
		"another uid":         {"d", object(meta("uid: '123'")), invalid(t, "DaemonSet.apps", "d", `metadata.uid: Invalid value: "123": field is immutable`)},
		"a uid of none": {"nope", daemonSet(t, "nope", meta("uid: '123'")), failure{
			code: http.StatusConflict, reason: "Conflict", details: "{name: nope, group: apps, kind: daemonsets}",
			message: `Operation cannot be fulfilled on daemonsets.apps "nope": uid mismatch: the provided object specified uid 123, and no existing object was found`,
		}},
		"a list":                           {"d", "[]", badRequest("error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}")},
		"a string":                         {"d", "a", badRequest("error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go value of type map[string]interface {}")},
		"null":                             {"d", "null", badRequest("invalid object type: /, Kind=")},
		"nothing":                          {"d", "", badRequest("invalid object type: /, Kind=")},
		"no YAML":                          {"d", "{", badRequest("error decoding patch: error converting YAML to JSON: yaml: line 1: did not find expected node content")},
		"no name, for one that is missing": {"nope", daemonSet(t, "nope", meta("name: null")), badRequest("the name of the object (nope based on URL) was undeterminable: name must be provided")},
		"nothing but a name": {"nope", "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: nope}}", invalid(t, "DaemonSet.apps", "nope",
			"spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`", "spec.template.spec.containers: Required value")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantFailure(t, send(t, apply(daemonSetPath(ns, test.name), "m", test.body)), test.want)
			unchanged(t, created, mustSend(t, get(daemonSetPath(ns, "d"))))
		})
	}
}

// TestDaemonSetApplyLenient is about what an apply may hold although it means nothing.
func TestDaemonSetApplyLenient(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	documents := `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d, labels: {first: a}}, spec: {selector: {matchLabels: {app: x}},
  template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: 'img:1'}]}}}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d, labels: {second: a}}}
`
	wantDaemonSet(t, send(t, apply(daemonSetPath(ns, "d"), "m", documents)), http.StatusCreated, ns, meta("labels: {first: a}"))
	wantDaemonSet(t, send(t, apply(daemonSetPath(ns, "d"), "m", documents)), http.StatusOK, ns, meta("labels: {first: a}"))
	wantDaemonSet(t, send(t, apply(daemonSetPath(ns, "e"), "m", daemonSet(t, "e", meta("resourceVersion: '1'")))), http.StatusCreated, ns, meta("name: e"))
	wantDaemonSet(t, send(t, apply(daemonSetPath(ns, "e"), "m", daemonSet(t, "e", meta("{name: null, generateName: g}")))), http.StatusOK, ns, meta("{name: e, generateName: g}"))
	wantDaemonSet(t, send(t, apply(daemonSetPath(ns, "g"), "m", daemonSet(t, "g", func(_ *testing.T, object map[string]any) {
		object["metadata"].(map[string]any)["managedFields"] = nil
	}))), http.StatusCreated, ns, meta("name: g"))
}

// TestDaemonSetManagedFieldsCleared: clients may clear the list, and can't write anything else to it.
func TestDaemonSetManagedFieldsCleared(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d")
	createDaemonSet(t, ns, "d")
	label := "{apiVersion: apps/v1, kind: DaemonSet, metadata: {labels: {a: b}}}"
	mustSend(t, apply(path, "m", label))
	before := entry(t, "before-first-apply", "Update", "", strings.Replace(createdFields, "f:metadata: {", "f:metadata: {f:labels: {.: {}, f:a: {}}, ", 1))
	for _, value := range []string{"[{}]", "[]"} {
		wantEntries(t, send(t, patch(mergePatch, path, `{"metadata":{"managedFields":`+value+`}}`)), http.StatusOK)
		wantEntries(t, send(t, apply(path, "m", label)), http.StatusOK, timeless(entry(t, "m", "Apply", "", "{f:metadata: {f:labels: {f:a: {}}}}")), before)
	}
	kept := mustSend(t, get(path))
	unchanged(t, kept, mustSend(t, patch(mergePatch, path, `{"metadata":{"managedFields":null}}`)))
	for name, bad := range map[string]string{
		"operation":  `"operation":"Frob"`,
		"type":       `"operation":"Update","fieldsType":"FieldsV2"`,
		"fields":     `"operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"f:spec":"zz"}`,
		"apiVersion": `"operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}},"apiVersion":"a/b/c"`,
	} {
		value := `[{"op":"replace","path":"/metadata/managedFields","value":[{"manager":"z","apiVersion":"apps/v1",` + bad + `}]}]`
		got := mustSend(t, patch(jsonPatch, path, value), http.StatusOK)
		if diff := cmp.Diff(kept.field("metadata.managedFields"), got.field("metadata.managedFields")); diff != "" {
			t.Errorf("a bad %s changes managedFields (-before +after):\n%s", name, diff)
		}
	}
}

// TestDaemonSetManagedFieldsOfMany: the oldest of more than ten updates are folded into one entry.
func TestDaemonSetManagedFieldsOfMany(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d")
	mustSend(t, call{method: http.MethodPost, path: daemonSetsPath(ns) + "?fieldManager=m00", body: daemonSet(t, "d")}, http.StatusCreated)
	mustSend(t, apply(path, "applier", "{apiVersion: apps/v1, kind: DaemonSet, metadata: {labels: {a: b}}}"))
	var last answer
	for i := 1; i <= 14; i++ {
		last = mustSend(t, patch(mergePatch, fmt.Sprintf("%s?fieldManager=m%02d", path, i), fmt.Sprintf(`{"metadata":{"annotations":{"a%02d":"b"}}}`, i)))
	}
	want := []any{
		entry(t, "applier", "Apply", "", "{f:metadata: {f:labels: {f:a: {}}}}"),
		entry(t, "ancient-changes", "Update", "", strings.Replace(createdFields, "f:annotations: {.: {},",
			"f:annotations: {.: {}, f:a01: {}, f:a02: {}, f:a03: {}, f:a04: {}, f:a05: {},", 1)),
	}
	for i := 6; i <= 14; i++ {
		want = append(want, entry(t, fmt.Sprintf("m%02d", i), "Update", "", fmt.Sprintf("{f:metadata: {f:annotations: {f:a%02d: {}}}}", i)))
	}
	wantEntries(t, last, http.StatusOK, want...)
}
