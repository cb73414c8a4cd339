// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/internal/gen"
)

// A dry run answers as the write would, and writes nothing.
func TestCSRDryRun(t *testing.T) {
	t.Parallel()
	t.Run("create", func(t *testing.T) {
		t.Parallel()
		name := unique("csr")
		a := mustSend(t, call{method: http.MethodPost, path: csrCollection + "?dryRun=All", body: csrBody(t, name), header: asAlice()}, http.StatusCreated)
		checkField(t, a, "spec.username", "alice")
		checkField(t, a, "metadata.resourceVersion", nil)
		if a.text("metadata.uid") == "" || a.text("metadata.creationTimestamp") == "" {
			t.Errorf("no uid or no creation time: %s", a.raw)
		}
		checkGone(t, name)
	})
	t.Run("create with a generated name", func(t *testing.T) {
		t.Parallel()
		body := merged(csrBody(t, ""), map[string]any{"metadata": map[string]any{"generateName": "dry-"}})
		a := mustSend(t, call{method: http.MethodPost, path: csrCollection + "?dryRun=All", body: body}, http.StatusCreated)
		checkGone(t, a.text("metadata.name"))
	})
	t.Run("create what exists", func(t *testing.T) {
		t.Parallel()
		name, _ := newCSR(t)
		a := send(t, call{method: http.MethodPost, path: csrCollection + "?dryRun=All", body: csrBody(t, name)})
		checkRefused(t, a, name, refusal{
			Code: http.StatusConflict, Reason: "AlreadyExists", Message: `certificatesigningrequests.certificates.k8s.io "$NAME" already exists`,
		})
	})
	t.Run("create by apply", func(t *testing.T) {
		t.Parallel()
		name := unique("csr")
		mustSend(t, call{
			method: http.MethodPatch, path: csrPath(name) + "?dryRun=All&fieldManager=m", contentType: applyPatch, body: csrBody(t, name),
		}, http.StatusCreated)
		checkGone(t, name)
	})
	t.Run("create something invalid", func(t *testing.T) {
		t.Parallel()
		name := unique("csr")
		a := send(t, call{method: http.MethodPost, path: csrCollection + "?dryRun=All", body: csrBody(t, name, gen.WithExpirationSeconds(1))})
		checkInvalid(t, a, name, "spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 600 seconds (10 minutes)")
	})

	certificate := base64.StdEncoding.EncodeToString(gen.RobotCertificate())
	for _, w := range writings() {
		for endpoint, test := range map[string]struct {
			subresource []string
			change      map[string]any
			check       func(t *testing.T, a answer)
		}{
			"the object": {nil, withLabel("a", "b"), func(t *testing.T, a answer) {
				t.Helper()
				checkField(t, a, "metadata.labels.a", "b")
			}},
			"approval": {[]string{"approval"}, withConditions(condition("Approved")), func(t *testing.T, a answer) {
				t.Helper()
				if diff := cmp.Diff([]string{"Approved=True"}, conditionsOf(a)); diff != "" {
					t.Errorf("conditions (-want +got):\n%s", diff)
				}
			}},
			"status": {[]string{"status"}, withCertificate(gen.RobotCertificate()), func(t *testing.T, a answer) {
				t.Helper()
				checkField(t, a, "status.certificate", certificate)
			}},
		} {
			t.Run(w.about+" of "+endpoint, func(t *testing.T) {
				t.Parallel()
				name, before := newCSR(t)
				c := w.call(t, name, csrPath(name, test.subresource...), test.change)
				c.path = withQuery(c.path, "dryRun=All")
				a := mustSend(t, c, http.StatusOK)
				test.check(t, a)
				checkField(t, a, "metadata.resourceVersion", before.text("metadata.resourceVersion"))
				checkUnchanged(t, name, before)
			})
		}
	}

	for about, c := range map[string]call{
		"delete":                 {path: "?dryRun=All"},
		"delete, in the body":    {body: `{"dryRun":["All"]}`},
		"delete in foreground":   {path: "?dryRun=All&propagationPolicy=Foreground"},
		"delete, orphan":         {path: "?dryRun=All&orphanDependents=true"},
		"delete by precondition": {path: "?dryRun=All", body: `{"dryRun":["All"],"preconditions":{"resourceVersion":"$VERSION"}}`},
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			name, before := newCSR(t)
			c.method, c.path = http.MethodDelete, csrPath(name)+c.path
			if text, ok := c.body.(string); ok {
				c.body = strings.ReplaceAll(text, "$VERSION", before.text("metadata.resourceVersion"))
			}
			a := mustSend(t, c, http.StatusOK)
			checkUnchanged(t, name, before)
			if finalizer := map[string]any{"delete in foreground": "foregroundDeletion", "delete, orphan": "orphan"}[about]; finalizer != nil {
				checkField(t, a, "metadata.finalizers", []any{finalizer})
				return
			}
			checkField(t, a, "status", "Success")
			checkField(t, a, "details.uid", before.text("metadata.uid"))
		})
	}

	t.Run("a value that nobody knows", func(t *testing.T) {
		t.Parallel()
		name, before := newCSR(t)
		want := func(kind string) refusal {
			return refusal{
				Code: http.StatusUnprocessableEntity, Reason: "Invalid",
				Message: kind + `.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"`,
			}
		}
		checkRefused(t, send(t, call{method: http.MethodPost, path: csrCollection + "?dryRun=Some", body: csrBody(t, unique("csr"))}), "", want("CreateOptions"))
		for _, subresource := range endpoints {
			path := csrPath(name, subresource...) + "?dryRun=Some"
			checkRefused(t, send(t, call{method: http.MethodPut, path: path, body: before.object}), "", want("UpdateOptions"))
			checkRefused(t, send(t, call{method: http.MethodPatch, path: path, contentType: mergePatch, body: "{}"}), "", want("PatchOptions"))
		}
		checkUnchanged(t, name, before)
	})
}
