// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"testing"
)

// terminating is what the first deletion makes of a namespace. There is no grace period in it, unlike in other kinds.
func terminating() change {
	return root("{metadata: {deletionTimestamp: TIME}, status: {phase: Terminating}}")
}

func finalize(t *testing.T, name, query string, changes ...change) answer {
	t.Helper()
	return send(t, call{method: http.MethodPut, path: namespacePath(name) + "/finalize" + query, body: namespaceObject(t, name, changes...)})
}

// TestNamespaceDeletion: a deletion marks the namespace, and the last finalizer taken out at /finalize removes it.
func TestNamespaceDeletion(t *testing.T) {
	t.Parallel()
	name := unique("ns")
	path := namespacePath(name)
	created := createNamespace(t, name)
	remove := func(query string) answer {
		t.Helper()
		return send(t, call{method: http.MethodDelete, path: path + query})
	}
	wantNamespace(t, remove("?dryRun=All"), http.StatusOK, name, terminating())
	unchanged(t, created, mustSend(t, get(path)))
	first := remove("")
	wantNamespace(t, first, http.StatusOK, name, terminating())
	unchanged(t, first, mustSend(t, get(path)))
	unchanged(t, first, remove(""))
	unchanged(t, first, remove("?propagationPolicy=Foreground"))

	for phase, told := range map[string]string{`"Active"`: "Active", "null": "Active", `"Bogus"`: "Bogus"} {
		wantFailure(t, send(t, patch(mergePatch, path+"/status", `{"status":{"phase":`+phase+`}}`)), invalid(t, "Namespace", name,
			"status.Phase: Invalid value: \""+told+"\": may only be 'Terminating' if `deletionTimestamp` is not empty"))
	}
	wantFailure(t, send(t, patch(mergePatch, path, `{"metadata":{"finalizers":["example.com/b"]}}`)), invalid(t, "Namespace", name,
		`metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/b"}`))
	wantNamespace(t, send(t, patch(mergePatch, path+"/status", `{"status":{"conditions":[{"type":"NamespaceContentRemaining","status":"False"}]}}`)),
		http.StatusOK, name, terminating(), root("status: {conditions: [{type: NamespaceContentRemaining, status: 'False', lastTransitionTime: null}]}"))
	wantNamespace(t, send(t, call{method: http.MethodPut, path: path + "/status", body: namespaceObject(t, name, root("status: {phase: Terminating}"))}),
		http.StatusOK, name, terminating())
	wantNamespace(t, send(t, patch(mergePatch, path, `{"metadata":{"labels":{"a":"b"}}}`)), http.StatusOK, name, terminating(), meta("labels: {a: b}"))
	wantNamespace(t, send(t, call{method: http.MethodPut, path: path, body: namespaceObject(t, name)}), http.StatusOK, name, terminating())

	wantNamespace(t, finalize(t, name, "", finalizers("[example.com/x]")), http.StatusOK, name, terminating(), finalizers("[example.com/x]"))
	wantNamespace(t, finalize(t, name, "?dryRun=All", finalizers("[]")), http.StatusOK, name, terminating(), root("spec: {finalizers: null}"))
	wantField(t, mustSend(t, get(path)), "spec.finalizers", "[example.com/x]")
	wantNamespace(t, finalize(t, name, "", finalizers("[]")), http.StatusOK, name, terminating(), root("spec: {finalizers: null}"))
	wantFailure(t, send(t, get(path)), noNamespace(name))
	wantFailure(t, remove(""), noNamespace(name))
	// The name is free again.
	second := createNamespace(t, name)
	if second.text("metadata.uid") == created.text("metadata.uid") {
		t.Error("the second namespace has the uid of the first one")
	}
}

// TestNamespaceDeletionPropagation: what dependents are to become is a finalizer of the object, which stays when those
// of the spec are gone.
func TestNamespaceDeletionPropagation(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		query string
		code  int
		// finalizer is what the deletion adds to the object.
		finalizer string
	}{
		"no policy":                       {"", http.StatusOK, ""},
		"background":                      {"?propagationPolicy=Background", http.StatusOK, ""},
		"a grace period, which is unused": {"?gracePeriodSeconds=5", http.StatusOK, ""},
		"at once":                         {"?gracePeriodSeconds=0", http.StatusOK, ""},
		"foreground":                      {"?propagationPolicy=Foreground", http.StatusOK, "foregroundDeletion"},
		"orphan":                          {"?propagationPolicy=Orphan", http.StatusOK, "orphan"},
		"orphan in the old way":           {"?orphanDependents=true", http.StatusOK, "orphan"},
		"foreground in the old way":       {"?orphanDependents=false", http.StatusAccepted, "foregroundDeletion"},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			name := unique("ns")
			path := namespacePath(name)
			createNamespace(t, name)
			deleted := send(t, call{method: http.MethodDelete, path: path + test.query})
			none := root("spec: {finalizers: null}")
			if test.finalizer == "" {
				wantNamespace(t, deleted, test.code, name, terminating())
				wantNamespace(t, finalize(t, name, "", finalizers("[]")), http.StatusOK, name, terminating(), none)
				wantFailure(t, send(t, get(path)), noNamespace(name))
				return
			}
			waiting := meta("finalizers: [" + test.finalizer + "]")
			wantNamespace(t, deleted, test.code, name, terminating(), waiting)
			finalized := finalize(t, name, "", finalizers("[]"), waiting)
			wantNamespace(t, finalized, http.StatusOK, name, terminating(), none, waiting)
			unchanged(t, finalized, mustSend(t, get(path)))
			// From here on it is deleted like anything else.
			again := send(t, call{method: http.MethodDelete, path: path})
			wantNamespace(t, again, http.StatusOK, name, terminating(), none, waiting, meta("deletionGracePeriodSeconds: 0"))
			gone := send(t, patch(mergePatch, path, `{"metadata":{"finalizers":null}}`))
			wantNamespace(t, gone, http.StatusOK, name, terminating(), none, meta("deletionGracePeriodSeconds: 0"))
			wantFailure(t, send(t, get(path)), noNamespace(name))
		})
	}
}

// TestNamespaceDeletionTwoPhases: without finalizers it takes two deletions, too.
func TestNamespaceDeletionTwoPhases(t *testing.T) {
	t.Parallel()
	name := unique("ns")
	path := namespacePath(name)
	createNamespace(t, name)
	none := root("spec: {finalizers: null}")
	wantNamespace(t, finalize(t, name, "", finalizers("[]")), http.StatusOK, name, none)
	first := send(t, call{method: http.MethodDelete, path: path})
	wantNamespace(t, first, http.StatusOK, name, terminating(), none)
	unchanged(t, first, mustSend(t, get(path)))
	wantNamespace(t, send(t, call{method: http.MethodDelete, path: path}), http.StatusOK, name, terminating(), none)
	wantFailure(t, send(t, get(path)), noNamespace(name))
}

// TestNamespaceDeletionOfFinalizers: a namespace goes when both lists are empty, whichever becomes empty last.
func TestNamespaceDeletionOfFinalizers(t *testing.T) {
	t.Parallel()
	none := root("spec: {finalizers: null}")
	for sentence, specFirst := range map[string]bool{"spec first": true, "object first": false} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			name := unique("ns")
			path := namespacePath(name)
			waiting := meta("finalizers: [example.com/b]")
			createNamespace(t, name, waiting)
			wantNamespace(t, send(t, call{method: http.MethodDelete, path: path}), http.StatusOK, name, terminating(), waiting)
			if specFirst {
				wantNamespace(t, finalize(t, name, "", finalizers("[]"), waiting), http.StatusOK, name, terminating(), waiting, none)
				wantCode(t, send(t, get(path)), http.StatusOK)
				wantNamespace(t, send(t, patch(mergePatch, path, `{"metadata":{"finalizers":null}}`)), http.StatusOK, name, terminating(), none)
			} else {
				wantNamespace(t, send(t, patch(mergePatch, path, `{"metadata":{"finalizers":null}}`)), http.StatusOK, name, terminating())
				wantCode(t, send(t, get(path)), http.StatusOK)
				wantNamespace(t, finalize(t, name, "", finalizers("[]")), http.StatusOK, name, terminating(), none)
			}
			wantFailure(t, send(t, get(path)), noNamespace(name))
		})
	}
}

func TestNamespaceDeletionRefused(t *testing.T) {
	t.Parallel()
	name := unique("ns")
	path := namespacePath(name)
	created := createNamespace(t, name)
	remove := func(query string, body any) answer {
		t.Helper()
		return send(t, call{method: http.MethodDelete, path: path + query, body: body})
	}
	conflict := func(cause string) failure {
		return failure{
			code: http.StatusConflict, reason: "Conflict", details: "{name: " + name + ", kind: namespaces}",
			message: fmt.Sprintf("Operation cannot be fulfilled on namespaces %q: Precondition failed: %s", name, cause),
		}
	}
	uid, version := created.text("metadata.uid"), created.text("metadata.resourceVersion")
	wantFailure(t, remove("", deleteOptions(`"preconditions":{"uid":"nope"}`)), conflict("UID in precondition: nope, UID in object meta: "+uid))
	wantFailure(t, remove("", deleteOptions(`"preconditions":{"resourceVersion":"1"}`)), conflict("ResourceVersion in precondition: 1, ResourceVersion in object meta: "+version))
	wantFailure(t, remove("?propagationPolicy=Bogus", nil), invalid(t, "DeleteOptions.meta.k8s.io", "",
		`propagationPolicy: Unsupported value: "Bogus": supported values: "Foreground", "Background", "Orphan", "nil"`))
	unchanged(t, created, mustSend(t, get(path)))
	holds := deleteOptions(fmt.Sprintf(`"preconditions":{"uid":%q,"resourceVersion":%q}`, uid, version))
	wantNamespace(t, remove("", holds), http.StatusOK, name, terminating())
}

// TestNamespaceDeletionAdds: a namespace that has finalizers keeps them beside the one that the deletion adds.
func TestNamespaceDeletionAdds(t *testing.T) {
	t.Parallel()
	name := unique("ns")
	createNamespace(t, name, meta("finalizers: [orphan]"))
	kept := send(t, call{method: http.MethodDelete, path: namespacePath(name)})
	wantNamespace(t, kept, http.StatusOK, name, terminating(), meta("finalizers: [orphan]"))

	other := unique("ns")
	createNamespace(t, other, meta("finalizers: [orphan]"))
	replaced := send(t, call{method: http.MethodDelete, path: namespacePath(other) + "?propagationPolicy=Foreground"})
	wantNamespace(t, replaced, http.StatusOK, other, terminating(), meta("finalizers: [foregroundDeletion]"))
}
