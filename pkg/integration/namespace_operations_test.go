// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

const namespaces = "/api/v1/namespaces"

// namespaceObject returns the smallest Namespace, with changes made to it.
func namespaceObject(t *testing.T, name string, changes ...change) map[string]any {
	t.Helper()
	return changed(t, fromYAML(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}"), changes...)
}

// finalizers sets spec.finalizers.
func finalizers(list string) change {
	return func(t *testing.T, object map[string]any) {
		object["spec"] = map[string]any{"finalizers": valueFromYAML(t, list)}
	}
}

func createNamespace(t *testing.T, name string, changes ...change) answer {
	t.Helper()
	return mustSend(t, call{method: http.MethodPost, path: namespaces, body: namespaceObject(t, name, changes...)}, http.StatusCreated)
}

// wantNamespace compares the whole object of an answer with what the server makes of namespaceObject, with changes
// made to it.
func wantNamespace(t *testing.T, a answer, code int, name string, changes ...change) {
	t.Helper()
	wantCode(t, a, code)
	want := changed(t, fromYAML(t, `
apiVersion: v1
kind: Namespace
metadata: {name: `+name+`, uid: UID, resourceVersion: VERSION, creationTimestamp: TIME, labels: {kubernetes.io/metadata.name: `+name+`}}
spec: {finalizers: [kubernetes]}
status: {phase: Active}
`), changes...)
	if diff := cmp.Diff(want, scrubbed(t, a.object)); diff != "" {
		t.Errorf("the object differs (-want +got):\n%s", diff)
	}
}

func noNamespace(name string) failure {
	return failure{
		code: http.StatusNotFound, reason: "NotFound", message: `namespaces "` + name + `" not found`, details: "{name: " + name + ", kind: namespaces}",
	}
}

// coreEntry is entry for the core group.
func coreEntry(t *testing.T, manager, operation, subresource, fields string) any {
	t.Helper()
	out := entry(t, manager, operation, subresource, fields)
	out.(map[string]any)["apiVersion"] = "v1"
	return out
}

func TestNamespaceCreate(t *testing.T) {
	t.Parallel()
	const nameLabel = "f:metadata: {f:labels: {.: {}, f:kubernetes.io/metadata.name: {}}}"
	tests := map[string]struct {
		sent, want []change
		fields     string
	}{
		"nothing but a name": {fields: "{" + nameLabel + "}"},
		"finalizers without the controller's, and a status, which is dropped": {
			sent:   []change{finalizers("[example.com/x]"), root("status: {phase: Terminating}")},
			want:   []change{finalizers("[example.com/x, kubernetes]")},
			fields: "{" + nameLabel + ", f:spec: {f:finalizers: {}}}",
		},
		"finalizers with the controller's, twice": {
			sent:   []change{finalizers("[kubernetes, example.com/x, kubernetes]")},
			want:   []change{finalizers("[kubernetes, example.com/x, kubernetes]")},
			fields: "{" + nameLabel + ", f:spec: {f:finalizers: {}}}",
		},
		"another name in the label": {
			sent:   []change{meta("labels: {kubernetes.io/metadata.name: other, a: b}")},
			want:   []change{meta("labels: {a: b}")},
			fields: "{f:metadata: {f:labels: {.: {}, f:a: {}, f:kubernetes.io/metadata.name: {}}}}",
		},
		"a namespace of its own, which is dropped": {sent: []change{meta("namespace: x")}, fields: "{" + nameLabel + "}"},
		"what only the server sets, and a generation, which it leaves alone": {
			sent:   []change{meta("{generation: 7, uid: x, creationTimestamp: '2001-01-01T00:00:00Z', deletionTimestamp: '2001-01-01T00:00:00Z'}")},
			want:   []change{meta("generation: 7")},
			fields: "{" + nameLabel + "}",
		},
		"finalizers of the object": {
			sent: []change{meta("finalizers: [example.com/y]")}, want: []change{meta("finalizers: [example.com/y]")},
			fields: "{f:metadata: {f:finalizers: {.: {}, 'v:\"example.com/y\"': {}}, f:labels: {.: {}, f:kubernetes.io/metadata.name: {}}}}",
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			name := unique("ns")
			created := send(t, call{method: http.MethodPost, path: namespaces + "?fieldManager=p", body: namespaceObject(t, name, test.sent...)})
			wantNamespace(t, created, http.StatusCreated, name, test.want...)
			wantEntries(t, created, http.StatusCreated, coreEntry(t, "p", "Update", "", test.fields))
			unchanged(t, created, mustSend(t, get(namespacePath(name)), http.StatusOK))
			unchanged(t, created, mustSend(t, get(namespacePath(name)+"/status"), http.StatusOK))
			wantFailure(t, send(t, call{method: http.MethodPost, path: namespaces, body: namespaceObject(t, name)}), failure{
				code: http.StatusConflict, reason: "AlreadyExists", message: `namespaces "` + name + `" already exists`, details: "{name: " + name + ", kind: namespaces}",
			})
		})
	}
}

// TestNamespaceGenerateName: the label has the name although the name comes after defaulting.
func TestNamespaceGenerateName(t *testing.T) {
	t.Parallel()
	got := send(t, call{method: http.MethodPost, path: namespaces + "?fieldManager=p", body: namespaceObject(t, "x", meta("{name: null, generateName: gn-}"))})
	name := got.text("metadata.name")
	if !generatedName("gn-").MatchString(name) {
		t.Errorf("the name is %q", name)
	}
	wantNamespace(t, got, http.StatusCreated, name, meta("generateName: gn-"))
	wantEntries(t, got, http.StatusCreated, coreEntry(t, "p", "Update", "", "{f:metadata: {f:generateName: {}}}"))
}

func TestNamespaceCreateRefused(t *testing.T) {
	t.Parallel()
	fresh := unique("ns")
	long := strings.Repeat("l", 64)
	const unqualified = "name is neither a standard finalizer name nor is it fully qualified"
	tests := map[string]struct {
		name   string
		sent   []change
		causes []string
	}{
		"no name":                 {"x", []change{meta("name: null")}, []string{"metadata.name: Required value: name or generateName is required"}},
		"a name that is no label": {"A_b", nil, []string{`metadata.name: Invalid value: "A_b": ` + notLabel}},
		"a name with a dot":       {"a.b", nil, []string{`metadata.name: Invalid value: "a.b": must not contain dots`}},
		"a name of 64 characters": {long, nil, []string{`metadata.name: Invalid value: "` + long + `": must be no more than 63 characters`, `metadata.labels: Invalid value: "` + long + `": must be no more than 63 bytes`}},
		"bad finalizers, all at one": {fresh, []change{finalizers(`[nodomain, "a b/c", ""]`)}, []string{
			`spec.finalizers: Invalid value: "nodomain": ` + unqualified,
			`spec.finalizers: Invalid value: "a b/c": prefix part ` + notSubdomain,
			`spec.finalizers: Invalid value: "": name part must be non-empty`,
			`spec.finalizers: Invalid value: "": ` + notKey,
			`spec.finalizers: Invalid value: "": ` + unqualified,
		}},
		"a bad label, a bad finalizer of the object and one of the spec": {fresh, []change{meta("{labels: {'a b': c}, finalizers: [nodomain]}"), finalizers("[nodomain]")}, []string{
			`metadata.labels: Invalid value: "a b": ` + notKey,
			`metadata.finalizers[0]: Invalid value: "nodomain": ` + unqualified,
			`spec.finalizers: Invalid value: "nodomain": ` + unqualified,
		}},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			name := test.name
			if sentence == "no name" {
				name = ""
			}
			got := send(t, call{method: http.MethodPost, path: namespaces, body: namespaceObject(t, test.name, test.sent...)})
			wantFailure(t, got, invalid(t, "Namespace", name, test.causes...))
		})
	}
	t.Run("a bad generateName", func(t *testing.T) {
		t.Parallel()
		got := send(t, call{method: http.MethodPost, path: namespaces, body: namespaceObject(t, "x", meta("{name: null, generateName: Bad_}"))})
		name := got.text("details.name")
		wantFailure(t, got, invalid(t, "Namespace", name, `metadata.generateName: Invalid value: "Bad_": `+notLabel, `metadata.name: Invalid value: "`+name+`": `+notLabel))
	})
}

// TestNamespaceUpdate changes metadata through the main endpoint, which changes nothing else.
func TestNamespaceUpdate(t *testing.T) {
	t.Parallel()
	name := unique("ns")
	path := namespacePath(name)
	createNamespace(t, name, finalizers("[example.com/x]"))
	kept := finalizers("[example.com/x, kubernetes]")

	wantNamespace(t, send(t, patch(mergePatch, path, `{"metadata":{"labels":{"x":"1"}}}`)), http.StatusOK, name, kept, meta("labels: {x: '1'}"))
	wantNamespace(t, send(t, patch(mergePatch, path, `{"metadata":{"labels":null}}`)), http.StatusOK, name, kept)
	wantNamespace(t, send(t, patch(mergePatch, path, `{"metadata":{"labels":{"kubernetes.io/metadata.name":"z"}}}`)), http.StatusOK, name, kept)
	wantNamespace(t, send(t, patch(mergePatch, path, `{"spec":{"finalizers":[]},"status":{"phase":"Terminating"}}`)), http.StatusOK, name, kept)
	wantNamespace(t, send(t, patch(mergePatch, path, `{"spec":{"finalizers":["nodomain"]}}`)), http.StatusOK, name, kept)
	wantNamespace(t, send(t, patch(strategicPatch, path, `{"metadata":{"labels":{"s":"1"}}}`)), http.StatusOK, name, kept, meta("labels: {s: '1'}"))
	wantNamespace(t, send(t, patch(jsonPatch, path, `[{"op":"add","path":"/metadata/labels/j","value":"1"}]`)), http.StatusOK, name, kept, meta("labels: {s: '1', j: '1'}"))
	wantNamespace(t, send(t, call{method: http.MethodPut, path: path, body: namespaceObject(t, name, meta("annotations: {a: b}"))}), http.StatusOK, name, kept, meta("annotations: {a: b}"))
	wantNamespace(t, send(t, patch(mergePatch, path+"?dryRun=All", `{"metadata":{"labels":{"x":"1"}}}`)), http.StatusOK, name, kept, meta("{annotations: {a: b}, labels: {x: '1'}}"))
	wantNamespace(t, send(t, get(path)), http.StatusOK, name, kept, meta("annotations: {a: b}"))

	wantFailure(t, send(t, patch(mergePatch, path, `{"metadata":{"uid":"x","labels":{"a b":"c"}}}`)), invalid(t, "Namespace", name,
		`metadata.labels: Invalid value: "a b": `+notKey, `metadata.uid: Invalid value: "x": field is immutable`))
	wantFailure(t, send(t, call{method: http.MethodPut, path: path, body: namespaceObject(t, "other")}), failure{
		code: http.StatusBadRequest, reason: "BadRequest", message: "the name of the object (other) does not match the name on the URL (" + name + ")",
	})
	missing := unique("none")
	for _, c := range []call{
		get(namespacePath(missing)), {method: http.MethodPut, path: namespacePath(missing), body: namespaceObject(t, missing)},
		patch(mergePatch, namespacePath(missing), "{}"), {method: http.MethodDelete, path: namespacePath(missing)},
		get(namespacePath(missing) + "/status"), {method: http.MethodPut, path: namespacePath(missing) + "/finalize", body: namespaceObject(t, missing)},
	} {
		wantFailure(t, send(t, c), noNamespace(missing))
	}
}

// TestNamespaceApply: status is reset at the main endpoint. The finalizers of spec are not, so that they are owned
// although only creation takes them.
func TestNamespaceApply(t *testing.T) {
	t.Parallel()
	name := unique("ns")
	path := namespacePath(name)
	body := "{apiVersion: v1, kind: Namespace, metadata: {name: " + name + ", labels: {ap: '1'}}, spec: {finalizers: [example.com/q]}, status: {phase: Terminating}}"
	created := send(t, apply(path, "a", body))
	wantNamespace(t, created, http.StatusCreated, name, finalizers("[example.com/q, kubernetes]"), meta("labels: {ap: '1'}"))
	owned := coreEntry(t, "a", "Apply", "", "{f:metadata: {f:labels: {f:ap: {}}}, f:spec: {f:finalizers: {}}}")
	wantEntries(t, created, http.StatusCreated, owned)

	status := send(t, apply(path+"/status", "b", "{apiVersion: v1, kind: Namespace, spec: {finalizers: []}, status: {conditions: [{type: Z, status: 'True'}]}}"))
	wantNamespace(t, status, http.StatusOK, name, finalizers("[example.com/q, kubernetes]"), meta("labels: {ap: '1'}"),
		root("status: {conditions: [{type: Z, status: 'True', lastTransitionTime: null}]}"))
	wantEntries(t, status, http.StatusOK, owned,
		coreEntry(t, "b", "Apply", "status", `{f:status: {f:conditions: {'k:{"type":"Z"}': {.: {}, f:status: {}, f:type: {}}}}}`))

	wantFailure(t, send(t, apply(path, "c", strings.Replace(body, "ap: '1'", "ap: '2'", 1))), conflicting(
		"Apply failed with 2 conflicts: conflicts with \"a\":\n- .metadata.labels.ap\n- .spec.finalizers",
		`.metadata.labels.ap: conflict with "a"`, `.spec.finalizers: conflict with "a"`))
	forced := send(t, apply(path, "c&force=true", strings.Replace(body, "ap: '1'", "ap: '2'", 1)))
	wantFields(t, forced, http.StatusOK, map[string]string{"metadata.labels.ap": `"2"`})
}

func TestNamespaceStatus(t *testing.T) {
	t.Parallel()
	name := unique("ns")
	path := namespacePath(name) + "/status"
	mustSend(t, call{method: http.MethodPost, path: namespaces + "?fieldManager=p", body: namespaceObject(t, name)}, http.StatusCreated)
	for phase, told := range map[string]string{`"Terminating"`: "Terminating", `"Bogus"`: "Bogus"} {
		wantFailure(t, send(t, patch(mergePatch, path, `{"status":{"phase":`+phase+`}}`)), invalid(t, "Namespace", name,
			"status.Phase: Invalid value: \""+told+"\": may only be 'Active' if `deletionTimestamp` is empty"))
	}
	wantNamespace(t, send(t, patch(mergePatch, path, `{"status":{"phase":null}}`)), http.StatusOK, name)
	wantFailure(t, send(t, patch(mergePatch, path, `{"metadata":{"uid":"x"},"status":{"phase":"Bogus"}}`)), invalid(t, "Namespace", name,
		`metadata.uid: Invalid value: "x": field is immutable`, "status.Phase: Invalid value: \"Bogus\": may only be 'Active' if `deletionTimestamp` is empty"))

	merged := send(t, patch(mergePatch, path+"?fieldManager=q", `{"status":{"conditions":[{"type":"X","status":"True"}]},"spec":{"finalizers":[]},"metadata":{"labels":{"st":"1"}}}`))
	wantNamespace(t, merged, http.StatusOK, name, meta("labels: {st: '1'}"), root("status: {conditions: [{type: X, status: 'True', lastTransitionTime: null}]}"))
	wantEntries(t, merged, http.StatusOK, coreEntry(t, "p", "Update", "", "{f:metadata: {f:labels: {.: {}, f:kubernetes.io/metadata.name: {}}}}"),
		coreEntry(t, "q", "Update", "status", `{f:metadata: {f:labels: {f:st: {}}},
			f:status: {f:conditions: {.: {}, 'k:{"type":"X"}': {.: {}, f:lastTransitionTime: {}, f:status: {}, f:type: {}}}}}`))
	strategic := send(t, patch(strategicPatch, path, `{"status":{"conditions":[{"type":"W","status":"False","message":"m","reason":"r","lastTransitionTime":"2001-01-01T00:00:00Z"}]}}`))
	wantNamespace(t, strategic, http.StatusOK, name, meta("labels: {st: '1'}"), root(`status: {conditions: [
		{type: W, status: 'False', message: m, reason: r, lastTransitionTime: '2001-01-01T00:00:00Z'}, {type: X, status: 'True', lastTransitionTime: null}]}`))
	operations := send(t, patch(jsonPatch, path, `[{"op":"remove","path":"/status/conditions/0"}]`))
	wantNamespace(t, operations, http.StatusOK, name, meta("labels: {st: '1'}"), root("status: {conditions: [{type: X, status: 'True', lastTransitionTime: null}]}"))
	put := send(t, call{method: http.MethodPut, path: path, body: namespaceObject(t, name, finalizers("[]"))})
	wantNamespace(t, put, http.StatusOK, name)
	unchanged(t, put, mustSend(t, get(path)))
}

func TestNamespaceFinalize(t *testing.T) {
	t.Parallel()
	name := unique("ns")
	path := namespacePath(name) + "/finalize"
	mustSend(t, call{method: http.MethodPost, path: namespaces + "?fieldManager=p", body: namespaceObject(t, name)}, http.StatusCreated)
	put := func(query string, changes ...change) answer {
		t.Helper()
		return send(t, call{method: http.MethodPut, path: path + query, body: namespaceObject(t, name, changes...)})
	}
	const unqualified = "name is neither a standard finalizer name nor is it fully qualified"
	wantFailure(t, put("", finalizers(`[nodomain, "a b/c", ""]`)), invalid(t, "Namespace", name,
		`spec.finalizers[0]: Invalid value: "nodomain": `+unqualified,
		`spec.finalizers[1]: Invalid value: "a b/c": prefix part `+notSubdomain,
		`spec.finalizers[2]: Invalid value: "": name part must be non-empty`,
		`spec.finalizers[2]: Invalid value: "": `+notKey,
		`spec.finalizers[2]: Invalid value: "": `+unqualified))

	other := put("?fieldManager=q", finalizers("[kubernetes, example.com/new]"), root("status: {phase: Terminating}"), meta("labels: {fl: '1'}"))
	wantNamespace(t, other, http.StatusOK, name, finalizers("[kubernetes, example.com/new]"), meta("labels: {fl: '1'}"))
	wantEntries(t, other, http.StatusOK, coreEntry(t, "p", "Update", "", "{f:metadata: {f:labels: {.: {}, f:kubernetes.io/metadata.name: {}}}}"),
		coreEntry(t, "q", "Update", "finalize", "{f:metadata: {f:labels: {f:fl: {}}}, f:spec: {f:finalizers: {}}}"))
	dry := put("?dryRun=All", finalizers("[example.com/d]"))
	wantNamespace(t, dry, http.StatusOK, name, finalizers("[example.com/d]"))
	wantField(t, mustSend(t, get(namespacePath(name))), "spec.finalizers", "[kubernetes, example.com/new]")

	// A namespace that nobody deletes stays, without finalizers too.
	none := put("", finalizers("[]"))
	wantNamespace(t, none, http.StatusOK, name, root("spec: {finalizers: null}"))
	unchanged(t, none, mustSend(t, get(namespacePath(name))))
	wantNamespace(t, put("", finalizers("[kubernetes]")), http.StatusOK, name)
	wantFailure(t, send(t, call{method: http.MethodPut, path: path, body: namespaceObject(t, "other")}), failure{
		code: http.StatusBadRequest, reason: "BadRequest", message: "the name of the object (other) does not match the name on the URL (" + name + ")",
	})
}

func TestNamespaceMethods(t *testing.T) {
	t.Parallel()
	name := unique("ns")
	path := namespacePath(name)
	createNamespace(t, name)
	for sentence, c := range map[string]call{
		"reading what is only for finalizing": get(path + "/finalize"),
		"patching what is only for PUT":       patch(mergePatch, path+"/finalize", "{}"),
		"creating what is only for PUT":       {method: http.MethodPost, path: path + "/finalize", body: namespaceObject(t, name)},
		"creating a status":                   {method: http.MethodPost, path: path + "/status", body: namespaceObject(t, name)},
		"deleting a status":                   {method: http.MethodDelete, path: path + "/status"},
		"creating at an object":               {method: http.MethodPost, path: path, body: namespaceObject(t, name)},
		"deleting the collection":             {method: http.MethodDelete, path: namespaces},
		"replacing the collection":            {method: http.MethodPut, path: namespaces, body: namespaceObject(t, name)},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			wantFailure(t, send(t, c), wrongMethod())
		})
	}
	t.Run("an unknown subresource", func(t *testing.T) {
		t.Parallel()
		wantFailure(t, send(t, get(path+"/bogus")), failure{
			code: http.StatusNotFound, reason: "NotFound", message: "the server could not find the requested resource", details: "{}",
		})
	})
}

func TestNamespaceDiscovery(t *testing.T) {
	t.Parallel()
	resources, _ := mustSend(t, get("/api/v1")).field("resources").([]any)
	got := map[string]any{}
	for _, item := range resources {
		resource := item.(map[string]any)
		if resource["kind"] == "Namespace" {
			got[resource["name"].(string)] = resource
		}
	}
	want := fromYAML(t, `
namespaces: {name: namespaces, singularName: namespace, namespaced: false, kind: Namespace, shortNames: [ns], storageVersionHash: Q3oi5N2YM8M=,
  verbs: [create, delete, get, list, patch, update, watch]}
namespaces/finalize: {name: namespaces/finalize, singularName: "", namespaced: false, kind: Namespace, verbs: [update]}
namespaces/status: {name: namespaces/status, singularName: "", namespaced: false, kind: Namespace, verbs: [get, patch, update]}
`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the resources differ (-want +got):\n%s", diff)
	}
}

// TestNamespaceListAndWatch selects by name, by phase and by label.
func TestNamespaceListAndWatch(t *testing.T) {
	t.Parallel()
	mark := unique("mark")
	active, terminating := "a-"+mark, "t-"+mark
	list := namespaces + "?labelSelector=mark%3D" + mark
	version := mustSend(t, get(list)).text("metadata.resourceVersion")
	labelled := meta("labels: {mark: " + mark + "}")
	watches := map[string]*stream{
		"parameter": watch(t, list+"&watch=true&timeoutSeconds=60&resourceVersion="+version),
		"path":      watch(t, "/api/v1/watch/namespaces?labelSelector=mark%3D"+mark+"&timeoutSeconds=60&resourceVersion="+version),
	}
	byName := watch(t, "/api/v1/watch/namespaces/"+terminating+"?timeoutSeconds=60&resourceVersion="+version)
	byPhase := watch(t, list+"&fieldSelector=status.phase%3DActive&watch=true&timeoutSeconds=60&resourceVersion="+version)
	createNamespace(t, active, labelled)
	createNamespace(t, terminating, labelled)
	mustSend(t, call{method: http.MethodDelete, path: namespacePath(terminating)})

	for query, want := range map[string][]string{
		"":                                     {active, terminating},
		"&fieldSelector=status.phase%3DActive": {active},
		"&fieldSelector=status.phase%3DTerminating":                                {terminating},
		"&fieldSelector=status.phase!%3DActive":                                    {terminating},
		"&fieldSelector=metadata.name%3D" + active:                                 {active},
		"&fieldSelector=metadata.name%3D" + active + ",status.phase%3DTerminating": nil,
	} {
		got := mustSend(t, get(list+query), http.StatusOK)
		wantFields(t, got, http.StatusOK, map[string]string{"kind": "NamespaceList", "apiVersion": "v1"})
		if diff := cmp.Diff(want, names(got)); diff != "" {
			t.Errorf("the list with %q differs (-want +got):\n%s", query, diff)
		}
	}
	for _, label := range []string{"spec.finalizers", "metadata.namespace", "name"} {
		wantFailure(t, send(t, get(namespaces+"?fieldSelector="+label+"%3Da")), failure{
			code: http.StatusBadRequest, reason: "BadRequest", message: "field label not supported: " + label,
		})
	}
	for sentence, w := range watches {
		got := []string{w.next().name(), w.next().name(), w.next().name()}
		if diff := cmp.Diff([]string{"ADDED " + active, "ADDED " + terminating, "MODIFIED " + terminating}, got); diff != "" {
			t.Errorf("the events by %s differ (-want +got):\n%s", sentence, diff)
		}
	}
	if diff := cmp.Diff([]string{"ADDED " + terminating, "MODIFIED " + terminating}, []string{byName.next().name(), byName.next().name()}); diff != "" {
		t.Errorf("the events by name differ (-want +got):\n%s", diff)
	}
	// Leaving the selection is a deletion.
	got := []string{byPhase.next().name(), byPhase.next().name(), byPhase.next().name()}
	if diff := cmp.Diff([]string{"ADDED " + active, "ADDED " + terminating, "DELETED " + terminating}, got); diff != "" {
		t.Errorf("the events by phase differ (-want +got):\n%s", diff)
	}
}

func TestNamespaceTable(t *testing.T) {
	t.Parallel()
	mark := unique("mark")
	first, second := "a-"+mark, "b-"+mark
	labelled := meta("labels: {mark: " + mark + "}")
	created := createNamespace(t, first, labelled)
	createNamespace(t, second, labelled)
	mustSend(t, call{method: http.MethodDelete, path: namespacePath(second)})
	columns := []any{
		column("Name", "string", "name", 0, nameColumn),
		column("Status", "string", "", 0, "The status of the namespace"),
		column("Age", "string", "", 0, ageColumn),
	}
	list := mustSend(t, call{method: http.MethodGet, path: namespaces + "?includeObject=None&labelSelector=mark%3D" + mark, accept: asTable})
	wantTable(t, list.object, columns, 2, row(nil, first, "Active", "AGE"), row(nil, second, "Terminating", "AGE"))
	one := mustSend(t, call{method: http.MethodGet, path: namespacePath(first), accept: asTable})
	wantTable(t, one.object, columns, 2, row(partial(t, created.object), first, "Active", "AGE"))
}

func TestNamespaceProtobuf(t *testing.T) {
	t.Parallel()
	name := unique("ns")
	created := createNamespace(t, name)
	read := mustSend(t, call{method: http.MethodGet, path: namespacePath(name), accept: protobufBody}, http.StatusOK)
	var namespace corev1.Namespace
	fromProtobuf(t, read, "v1", "Namespace", &namespace)
	if namespace.Name != name || namespace.Status.Phase != corev1.NamespaceActive {
		t.Errorf("got %v", namespace)
	}
	unchanged(t, created, mustSend(t, call{method: http.MethodPut, path: namespacePath(name), contentType: protobufBody, body: bytes.Clone(read.raw)}, http.StatusOK))
}
