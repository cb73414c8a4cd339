// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// deleteOptions is a body of a deletion.
func deleteOptions(text string) string {
	return `{"kind":"DeleteOptions","apiVersion":"v1",` + text + `}`
}

// deleting is what a deletion that does not remove an object makes of it.
func deleting(finalizers string) change {
	return meta("{generation: 2, deletionTimestamp: TIME, deletionGracePeriodSeconds: 0, finalizers: " + finalizers + "}")
}

// TestDaemonSetDelete: whoever deletes is answered with a Status when the object is gone, and with the object when it
// waits for its finalizers.
func TestDaemonSetDelete(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		finalizers  string
		query       string
		contentType string
		body        any
		// left are the finalizers of the object that the answer holds; empty means that the object is gone.
		left string
		// dry tells that nothing is to have happened.
		dry bool
	}{
		"no options":                            {},
		"null":                                  {body: "null"},
		"an empty object":                       {body: "{}"},
		"options of another group":              {body: `{"kind":"DeleteOptions","apiVersion":"apps/v1"}`},
		"options of another version":            {body: `{"kind":"DeleteOptions","apiVersion":"v9"}`},
		"options of the group of all options":   {body: `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1"}`},
		"a negative grace period":               {query: "?gracePeriodSeconds=-1"},
		"a negative grace period in the body":   {body: deleteOptions(`"gracePeriodSeconds":-5`)},
		"a grace period, which there is none":   {query: "?gracePeriodSeconds=5"},
		"unknown parameters":                    {query: "?frob=1&fieldSelector=x=y"},
		"in the background":                     {query: "?propagationPolicy=Background"},
		"dependents not orphaned":               {query: "?orphanDependents=false"},
		"in the foreground":                     {query: "?propagationPolicy=Foreground", left: "[foregroundDeletion]"},
		"in the foreground, told by the body":   {body: deleteOptions(`"propagationPolicy":"Foreground"`), left: "[foregroundDeletion]"},
		"in the foreground, told in YAML":       {contentType: yamlBody, body: "{kind: DeleteOptions, apiVersion: v1, propagationPolicy: Foreground}", left: "[foregroundDeletion]"},
		"the body wins over the query":          {query: "?propagationPolicy=Background", body: deleteOptions(`"propagationPolicy":"Foreground"`), left: "[foregroundDeletion]"},
		"orphaning":                             {query: "?propagationPolicy=Orphan", left: "[orphan]"},
		"orphaning in the old way":              {query: "?orphanDependents=true", left: "[orphan]"},
		"orphaning in the old way in the body":  {body: deleteOptions(`"orphanDependents":true`), left: "[orphan]"},
		"orphaning, not really":                 {query: "?orphanDependents=true&dryRun=All", left: "[orphan]", dry: true},
		"in the foreground, not really":         {query: "?propagationPolicy=Foreground&dryRun=All", left: "[foregroundDeletion]", dry: true},
		"not really":                            {query: "?dryRun=All", dry: true},
		"not really, told by the body":          {body: deleteOptions(`"dryRun":["All"]`), dry: true},
		"a finalizer":                           {finalizers: "[example.com/b]", left: "[example.com/b]"},
		"a finalizer, at once":                  {finalizers: "[example.com/b]", query: "?gracePeriodSeconds=0", left: "[example.com/b]"},
		"a finalizer and orphaning":             {finalizers: "[example.com/b, foregroundDeletion]", query: "?propagationPolicy=Orphan", left: "[example.com/b, orphan]"},
		"the foreground's finalizer, kept":      {finalizers: "[foregroundDeletion]", left: "[foregroundDeletion]"},
		"the foreground's finalizer, overruled": {finalizers: "[foregroundDeletion]", query: "?propagationPolicy=Background"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := newNamespace(t)
			path := daemonSetPath(ns, "d")
			created := createDaemonSet(t, ns, "d", meta("finalizers: "+orElse(test.finalizers, "null")))
			got := send(t, call{method: http.MethodDelete, path: path + test.query, contentType: test.contentType, body: test.body})
			if test.left == "" {
				wantCode(t, got, http.StatusOK)
				want := map[string]any{
					"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Success",
					"details": map[string]any{"name": "d", "group": "apps", "kind": "daemonsets", "uid": created.field("metadata.uid")},
				}
				if diff := cmp.Diff(want, got.object); diff != "" {
					t.Errorf("the answer differs (-want +got):\n%s", diff)
				}
			} else {
				wantDaemonSet(t, got, http.StatusOK, ns, deleting(test.left))
			}
			after := send(t, get(path))
			switch {
			case test.dry:
				unchanged(t, created, after)
			case test.left == "":
				wantFailure(t, after, notFound("d"))
			default:
				unchanged(t, got, after)
			}
		})
	}
}

func TestDaemonSetDeleteRefused(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	created := createDaemonSet(t, ns, "d")
	path := daemonSetPath(ns, "d")
	const policies = `supported values: "Foreground", "Background", "Orphan", "nil"`
	badRequest := func(message string) failure {
		return failure{code: http.StatusBadRequest, reason: "BadRequest", message: message}
	}
	conflict := func(kind, cause string) failure {
		return failure{
			code: http.StatusConflict, reason: "Conflict", details: "{name: d, group: apps, kind: " + kind + "}",
			message: fmt.Sprintf("Operation cannot be fulfilled on %s.apps %q: %s", kind, "d", cause),
		}
	}
	refused := func(causes ...string) failure { return invalid(t, "DeleteOptions.meta.k8s.io", "", causes...) }
	tests := map[string]struct {
		query string
		body  any
		want  failure
	}{
		"an unknown policy": {"?propagationPolicy=Bogus", nil, refused(`propagationPolicy: Unsupported value: "Bogus": ` + policies)},
		"an empty policy":   {"?propagationPolicy=", nil, refused(`propagationPolicy: Unsupported value: "": ` + policies)},
		"two ways of orphaning": {
			"?propagationPolicy=Orphan&orphanDependents=true", nil, refused(`propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set`),
		},
		"two ways of orphaning in the body": {
			"", deleteOptions(`"propagationPolicy":"Orphan","orphanDependents":true`),
			refused(`propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set`),
		},
		"a grace period that is no number": {"?gracePeriodSeconds=abc", nil, badRequest(`strconv.ParseInt: parsing "abc": invalid syntax`)},
		"an old uid": {"", deleteOptions(`"preconditions":{"uid":"nope"}`), conflict("DaemonSet",
			"the UID in the precondition (nope) does not match the UID in record ("+created.text("metadata.uid")+"). The object might have been deleted and then recreated")},
		"an old version": {"", deleteOptions(`"preconditions":{"resourceVersion":"1"}`), conflict("DaemonSet",
			"the ResourceVersion in the precondition (1) does not match the ResourceVersion in record ("+created.text("metadata.resourceVersion")+"). The object might have been modified")},
		"no JSON":     {"", "garbage", badRequest("couldn't get version/kind; json parse error: invalid character 'g' looking for beginning of value")},
		"half a body": {"", "{", badRequest("couldn't get version/kind; json parse error: unexpected end of JSON input")},
		"a list": {"", "[]", badRequest(
			`couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`)},
		"unsafe, of an object that can be read": {"?ignoreStoreReadErrorWithClusterBreakingPotential=true", nil, conflict("daemonsets",
			"StorageError: invalid object, Code: 4, Key: /registry/daemonsets/"+ns+"/d, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage")},
		"unsafe, with a grace period": {"?ignoreStoreReadErrorWithClusterBreakingPotential=true&gracePeriodSeconds=1", nil,
			refused("ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set together with .gracePeriodSeconds")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantFailure(t, send(t, call{method: http.MethodDelete, path: path + test.query, body: test.body}), test.want)
			unchanged(t, created, mustSend(t, get(path)))
		})
	}
	t.Run("an unknown kind", func(t *testing.T) {
		t.Parallel()
		got := send(t, call{method: http.MethodDelete, path: path, body: `{"kind":"Frob","apiVersion":"frob/v9"}`})
		wantFields(t, got, http.StatusBadRequest, map[string]string{"reason": "BadRequest"})
		if prefix := `no kind "Frob" is registered for version "frob/v9" in scheme `; !strings.HasPrefix(got.message(), prefix) {
			t.Errorf("the message is %q", got.message())
		}
		unchanged(t, created, mustSend(t, get(path)))
	})
}

// TestDaemonSetDeletePreconditions deletes with preconditions that hold.
func TestDaemonSetDeletePreconditions(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	created := createDaemonSet(t, ns, "d")
	body := deleteOptions(fmt.Sprintf(`"preconditions":{"uid":%q,"resourceVersion":%q}`, created.text("metadata.uid"), created.text("metadata.resourceVersion")))
	mustSend(t, call{method: http.MethodDelete, path: daemonSetPath(ns, "d"), body: body}, http.StatusOK)
	wantFailure(t, send(t, get(daemonSetPath(ns, "d"))), notFound("d"))
}

// TestDaemonSetBeingDeleted is about an object that waits for a finalizer.
func TestDaemonSetBeingDeleted(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d")
	createDaemonSet(t, ns, "d")
	remove := func(query string) answer {
		t.Helper()
		return send(t, call{method: http.MethodDelete, path: path + query})
	}
	wantDaemonSet(t, remove("?propagationPolicy=Foreground"), http.StatusOK, ns, deleting("[foregroundDeletion]"))
	orphan := remove("?propagationPolicy=Orphan")
	wantDaemonSet(t, orphan, http.StatusOK, ns, deleting("[orphan]"))
	unchanged(t, orphan, remove(""))

	forbidden := func(found string) failure {
		return invalid(t, "DaemonSet.apps", "d",
			"metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"+found+"}")
	}
	for finalizers, found := range map[string]string{
		`["orphan","example.com/new"]`: `"example.com/new"`,
		`["foregroundDeletion"]`:       `"foregroundDeletion"`,
	} {
		wantFailure(t, send(t, patch(mergePatch, path, `{"metadata":{"finalizers":`+finalizers+`}}`)), forbidden(found))
	}
	// Several new ones are told in any order.
	several := send(t, patch(mergePatch, path, `{"metadata":{"finalizers":["foregroundDeletion","example.com/new"]}}`))
	if found := `"example.com/new", "foregroundDeletion"`; strings.Contains(several.message(), found) {
		wantFailure(t, several, forbidden(found))
	} else {
		wantFailure(t, several, forbidden(`"foregroundDeletion", "example.com/new"`))
	}
	unchanged(t, orphan, mustSend(t, patch(mergePatch, path, `{"metadata":{"deletionTimestamp":null,"deletionGracePeriodSeconds":null}}`)))
	wantDaemonSet(t, send(t, patch(mergePatch, path, `{"spec":{"minReadySeconds":4}}`)), http.StatusOK, ns,
		deleting("[orphan]"), meta("generation: 3"), spec("minReadySeconds: 4"))
	wantDaemonSet(t, send(t, patch(mergePatch, path+"/status", `{"status":{"numberReady":4}}`)), http.StatusOK, ns,
		deleting("[orphan]"), meta("generation: 3"), spec("minReadySeconds: 4"), root("status: {numberReady: 4}"))

	dry := send(t, patch(mergePatch, path+"?dryRun=All", `{"metadata":{"finalizers":[]}}`))
	wantDaemonSet(t, dry, http.StatusOK, ns, deleting("null"), meta("generation: 3"), spec("minReadySeconds: 4"), root("status: {numberReady: 4}"))
	wantCode(t, send(t, get(path)), http.StatusOK)
	last := send(t, patch(mergePatch, path, `{"metadata":{"finalizers":[]}}`))
	wantDaemonSet(t, last, http.StatusOK, ns, deleting("null"), meta("generation: 3"), spec("minReadySeconds: 4"), root("status: {numberReady: 4}"))
	wantFailure(t, send(t, get(path)), notFound("d"))
}

// TestDaemonSetFinalizedThroughStatus: metadata may be changed there, and with the last finalizer the object goes.
func TestDaemonSetFinalizedThroughStatus(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d")
	createDaemonSet(t, ns, "d", meta("finalizers: [example.com/a]"))
	mustSend(t, call{method: http.MethodDelete, path: path})
	wantDaemonSet(t, send(t, patch(mergePatch, path+"/status", `{"metadata":{"finalizers":[]}}`)), http.StatusOK, ns, deleting("null"))
	wantFailure(t, send(t, get(path)), notFound("d"))
}
