// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
)

func TestCSRDelete(t *testing.T) {
	t.Parallel()
	t.Run("the answer says what was deleted", func(t *testing.T) {
		t.Parallel()
		name, before := newCSR(t)
		a := mustSend(t, call{method: http.MethodDelete, path: csrPath(name)}, http.StatusOK)
		want := map[string]any{
			"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Success",
			"details": map[string]any{
				"name": name, "group": "certificates.k8s.io", "kind": "certificatesigningrequests", "uid": before.text("metadata.uid"),
			},
		}
		if diff := cmp.Diff(want, a.object); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		checkGone(t, name)
		checkRefused(t, send(t, call{method: http.MethodDelete, path: csrPath(name)}), name, csrNotFound)
	})
	t.Run("the name is free again, and the new object another", func(t *testing.T) {
		t.Parallel()
		name, before := newCSR(t)
		approve(t, name)
		mustSend(t, call{method: http.MethodDelete, path: csrPath(name)}, http.StatusOK)
		a := mustSend(t, call{method: http.MethodPost, path: csrCollection, body: csrBody(t, name)}, http.StatusCreated)
		checkField(t, a, "status", map[string]any{})
		if a.text("metadata.uid") == before.text("metadata.uid") {
			t.Error("the uid is the same")
		}
	})

	const otherUID = "11111111-1111-1111-1111-111111111111"
	invalid := func(message string) refusal {
		return refusal{Code: http.StatusUnprocessableEntity, Reason: "Invalid", Message: `DeleteOptions.meta.k8s.io "" is invalid: ` + message}
	}
	// The resource in the message is the kind here, as it is upstream.
	conflict := func(message string) refusal {
		return refusal{
			Code: http.StatusConflict, Reason: "Conflict",
			Message: `Operation cannot be fulfilled on CertificateSigningRequest.certificates.k8s.io "$NAME": ` + message,
		}
	}
	tests := map[string]struct {
		query, body, contentType string
		// want is the refusal; the zero value means that the object is deleted. $UID and $VERSION are its own.
		want refusal
	}{
		"no options":                    {},
		"an empty object":               {body: "{}"},
		"options of meta/v1":            {body: `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1"}`},
		"options of v1":                 {body: `{"kind":"DeleteOptions","apiVersion":"v1"}`},
		"options of the group":          {body: `{"kind":"DeleteOptions","apiVersion":"certificates.k8s.io/v1"}`},
		"options of another group":      {body: `{"kind":"DeleteOptions","apiVersion":"apps/v1"}`},
		"options as YAML":               {body: "propagationPolicy: Background\n", contentType: yamlBody},
		"background":                    {query: "?propagationPolicy=Background"},
		"background in the body":        {body: `{"propagationPolicy":"Background"}`},
		"orphanDependents=false":        {query: "?orphanDependents=false"},
		"a grace period":                {query: "?gracePeriodSeconds=30"},
		"a negative grace period":       {query: "?gracePeriodSeconds=-1"},
		"the uid as a precondition":     {body: `{"preconditions":{"uid":"$UID"}}`},
		"the version as a precondition": {body: `{"preconditions":{"resourceVersion":"$VERSION"}}`},
		"another uid": {
			body: `{"preconditions":{"uid":"` + otherUID + `"}}`,
			want: conflict("the UID in the precondition (" + otherUID + ") does not match the UID in record ($UID). The object might have been deleted and then recreated"),
		},
		"an old version": {
			body: `{"preconditions":{"resourceVersion":"1"}}`,
			want: conflict("the ResourceVersion in the precondition (1) does not match the ResourceVersion in record ($VERSION). The object might have been modified"),
		},
		"a policy that nobody knows":       {query: "?propagationPolicy=Bogus", want: invalid(`propagationPolicy: Unsupported value: "Bogus": supported values: "Foreground", "Background", "Orphan", "nil"`)},
		"two ways of orphaning":            {body: `{"orphanDependents":true,"propagationPolicy":"Orphan"}`, want: invalid(`propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set`)},
		"a dry run that nobody knows":      {query: "?dryRun=Some", want: invalid(`dryRun: Unsupported value: ["Some"]: supported values: "All"`)},
		"a grace period that is none":      {query: "?gracePeriodSeconds=abc", want: badRequest(`strconv.ParseInt: parsing "abc": invalid syntax`)},
		"another kind":                     {body: `{"kind":"Frob","apiVersion":"v9"}`, want: badRequest(`no kind "Frob" is registered for version "v9" in scheme "pkg/runtime/scheme.go:111"`)},
		"garbage":                          {body: `{"`, want: badRequest("couldn't get version/kind; json parse error: unexpected end of JSON input")},
		"options in the body beat a query": {query: "?propagationPolicy=Bogus", body: `{"propagationPolicy":"Background"}`},
	}
	for about, test := range tests {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			name, before := newCSR(t)
			fill := strings.NewReplacer("$UID", before.text("metadata.uid"), "$VERSION", before.text("metadata.resourceVersion"))
			c := call{method: http.MethodDelete, path: csrPath(name) + test.query, contentType: test.contentType}
			if test.body != "" {
				c.body = fill.Replace(test.body)
			}
			a := send(t, c)
			if test.want != (refusal{}) {
				want := test.want
				want.Message = fill.Replace(want.Message)
				checkRefused(t, a, name, want)
				checkUnchanged(t, name, before)
				return
			}
			if a.code != http.StatusOK || a.text("status") != "Success" {
				t.Errorf("got %d: %s", a.code, a.raw)
			}
			checkGone(t, name)
		})
	}
}

func TestCSRFinalizers(t *testing.T) {
	t.Parallel()
	hold := func(csr *certificatesv1.CertificateSigningRequest) { csr.Finalizers = []string{"example.com/hold"} }
	finalizers := func(list ...any) map[string]any {
		return map[string]any{"metadata": map[string]any{"finalizers": list}}
	}
	patch := func(t *testing.T, name string, body any, subresource ...string) answer {
		t.Helper()
		return send(t, call{method: http.MethodPatch, path: csrPath(name, subresource...), contentType: mergePatch, body: body})
	}

	t.Run("deletion waits for the finalizer", func(t *testing.T) {
		t.Parallel()
		since := time.Now()
		name, before := newCSR(t, hold)
		a := mustSend(t, call{method: http.MethodDelete, path: csrPath(name)}, http.StatusOK)
		checkRecent(t, a, "metadata.deletionTimestamp", since)
		want := clone(before.object)
		metadata := want["metadata"].(map[string]any)
		metadata["deletionTimestamp"], metadata["deletionGracePeriodSeconds"] = a.text("metadata.deletionTimestamp"), float64(0)
		metadata["resourceVersion"] = a.text("metadata.resourceVersion")
		if diff := cmp.Diff(want, a.object); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		checkUnchanged(t, name, a)

		again := mustSend(t, call{method: http.MethodDelete, path: csrPath(name)}, http.StatusOK)
		checkField(t, again, "metadata.deletionTimestamp", a.text("metadata.deletionTimestamp"))
		checkUnchanged(t, name, again)

		// What is being deleted can still be decided, but not kept by a new finalizer.
		if diff := cmp.Diff([]string{"Approved=True"}, conditionsOf(approve(t, name))); diff != "" {
			t.Errorf("conditions (-want +got):\n%s", diff)
		}
		checkInvalid(t, patch(t, name, finalizers("example.com/hold", "example.com/more")), name,
			`metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/more"}`)
		kept := patch(t, name, map[string]any{"metadata": map[string]any{"deletionTimestamp": nil, "deletionGracePeriodSeconds": nil}})
		checkField(t, kept, "metadata.deletionTimestamp", a.text("metadata.deletionTimestamp"))
		if a := patch(t, name, finalizers()); a.code != http.StatusOK {
			t.Errorf("got %d: %s", a.code, a.raw)
		}
		checkGone(t, name)
	})
	for _, endpoint := range []string{"status", "approval"} {
		t.Run("the finalizer can be taken away through "+endpoint, func(t *testing.T) {
			t.Parallel()
			name, _ := newCSR(t, hold)
			mustSend(t, call{method: http.MethodDelete, path: csrPath(name)}, http.StatusOK)
			if a := patch(t, name, finalizers(), endpoint); a.code != http.StatusOK {
				t.Errorf("got %d: %s", a.code, a.raw)
			}
			checkGone(t, name)
		})
	}
	t.Run("a generation, which only a client can have given, counts up", func(t *testing.T) {
		t.Parallel()
		name, _ := newCSR(t, hold, func(csr *certificatesv1.CertificateSigningRequest) { csr.Generation = 7 })
		a := mustSend(t, call{method: http.MethodDelete, path: csrPath(name)}, http.StatusOK)
		checkField(t, a, "metadata.generation", float64(8))
	})
	for about, test := range map[string]struct {
		query string
		// stays are the finalizers after the deletion; nil means that the object is gone.
		stays []any
	}{
		"foreground":                 {"?propagationPolicy=Foreground", []any{"foregroundDeletion"}},
		"orphan":                     {"?propagationPolicy=Orphan", []any{"orphan"}},
		"orphanDependents":           {"?orphanDependents=true", []any{"orphan"}},
		"background":                 {"?propagationPolicy=Background", nil},
		"nothing said":               {"", nil},
		"foreground, then orphan":    {"?propagationPolicy=Foreground ?propagationPolicy=Orphan", []any{"orphan"}},
		"orphan, then background":    {"?propagationPolicy=Orphan ?propagationPolicy=Background", nil},
		"foreground and force (0 s)": {"?propagationPolicy=Foreground&gracePeriodSeconds=0", []any{"foregroundDeletion"}},
	} {
		t.Run("propagation: "+about, func(t *testing.T) {
			t.Parallel()
			name, _ := newCSR(t)
			for _, query := range strings.Split(test.query, " ") {
				mustSend(t, call{method: http.MethodDelete, path: csrPath(name) + query}, http.StatusOK)
			}
			if test.stays == nil {
				checkGone(t, name)
				return
			}
			after := getCSR(t, name)
			checkField(t, after, "metadata.finalizers", test.stays)
			if after.text("metadata.deletionTimestamp") == "" {
				t.Error("it is not being deleted")
			}
			patch(t, name, finalizers())
			checkGone(t, name)
		})
	}
	t.Run("a finalizer needs a domain", func(t *testing.T) {
		t.Parallel()
		name, before := newCSR(t)
		for _, subresource := range endpoints {
			checkInvalid(t, patch(t, name, finalizers("short"), subresource...), name,
				`metadata.finalizers[0]: Invalid value: "short": name is neither a standard finalizer name nor is it fully qualified`)
		}
		checkUnchanged(t, name, before)
	})
}
