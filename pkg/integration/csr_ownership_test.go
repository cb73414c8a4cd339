// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/base64"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/internal/gen"
)

// ownership is managedFields as text: for "manager Operation" or "manager Operation subresource" the paths that are
// owned, in order.
func ownership(a answer) map[string][]string {
	entries, _ := a.field("metadata.managedFields").([]any)
	out := map[string][]string{}
	for _, item := range entries {
		entry := answer{object: item.(map[string]any)}
		key := entry.text("manager") + " " + entry.text("operation")
		if subresource := entry.text("subresource"); subresource != "" {
			key += " " + subresource
		}
		fields, _ := entry.field("fieldsV1").(map[string]any)
		paths := ownedPaths("", fields)
		slices.Sort(paths)
		out[key] = paths
	}
	return out
}

func ownedPaths(prefix string, fields map[string]any) []string {
	if len(fields) == 0 {
		return []string{prefix}
	}
	var out []string
	for key, below := range fields {
		inner, _ := below.(map[string]any)
		if prefix != "" {
			key = prefix + " " + key
		}
		out = append(out, ownedPaths(key, inner)...)
	}
	return out
}

func checkOwnership(t *testing.T, a answer, want map[string][]string) {
	t.Helper()
	if diff := cmp.Diff(want, ownership(a)); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
}

// ownedCondition is what a manager owns of a condition: its key and the fields.
func ownedCondition(kind string, fields ...string) []string {
	prefix := `f:status f:conditions k:{"type":"` + kind + `"}`
	out := []string{prefix + " ."}
	for _, field := range fields {
		out = append(out, prefix+" f:"+field)
	}
	slices.Sort(out)
	return out
}

func TestCSROwnershipOfCreate(t *testing.T) {
	t.Parallel()
	everything := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"a": "b"}},
		"status":   map[string]any{"certificate": base64.StdEncoding.EncodeToString(gen.RobotCertificate()), "conditions": []any{condition("Approved")}},
	}
	t.Run("POST: spec and status are nobody's", func(t *testing.T) {
		t.Parallel()
		body := csrBody(t, unique("csr"))
		a := mustSend(t, call{method: http.MethodPost, path: csrCollection + "?fieldManager=m", body: body}, http.StatusCreated)
		checkField(t, a, "metadata.managedFields", nil)
	})
	t.Run("POST: metadata is the creator's", func(t *testing.T) {
		t.Parallel()
		since := time.Now()
		body := merged(csrBody(t, unique("csr")), everything)
		a := mustSend(t, call{method: http.MethodPost, path: csrCollection + "?fieldManager=m", body: body}, http.StatusCreated)
		checkRecent(t, a, "metadata.managedFields.0.time", since)
		checkField(t, a, "metadata.managedFields", []any{map[string]any{
			"manager": "m", "operation": "Update", "apiVersion": "certificates.k8s.io/v1", "fieldsType": "FieldsV1",
			"time":     a.field("metadata.managedFields.0.time"),
			"fieldsV1": map[string]any{"f:metadata": map[string]any{"f:labels": map[string]any{".": map[string]any{}, "f:a": map[string]any{}}}},
		}})
	})
	t.Run("POST: the manager is the user agent when the client names none", func(t *testing.T) {
		t.Parallel()
		body := merged(csrBody(t, unique("csr")), everything)
		a := mustSend(t, call{
			method: http.MethodPost, path: csrCollection, body: body, header: http.Header{"User-Agent": {"robot/1.0 (linux)"}},
		}, http.StatusCreated)
		checkOwnership(t, a, map[string][]string{"robot Update": {"f:metadata f:labels .", "f:metadata f:labels f:a"}})
	})
	t.Run("POST: entries that the client sends are kept, but for what the request itself sets", func(t *testing.T) {
		t.Parallel()
		body := merged(csrBody(t, unique("csr")), everything, map[string]any{"metadata": map[string]any{
			"managedFields": []any{map[string]any{
				"manager": "earlier", "operation": "Apply", "apiVersion": "certificates.k8s.io/v1", "fieldsType": "FieldsV1", "time": "2001-02-03T04:05:06Z",
				"fieldsV1": map[string]any{"f:metadata": map[string]any{"f:labels": map[string]any{"f:a": map[string]any{}, "f:x": map[string]any{}}}},
			}},
		}})
		a := mustSend(t, call{method: http.MethodPost, path: csrCollection + "?fieldManager=m", body: body}, http.StatusCreated)
		checkOwnership(t, a, map[string][]string{
			"earlier Apply": {"f:metadata f:labels f:x"}, "m Update": {"f:metadata f:labels .", "f:metadata f:labels f:a"},
		})
	})
	t.Run("apply: spec and status are nobody's", func(t *testing.T) {
		t.Parallel()
		name := unique("csr")
		a := mustSend(t, call{
			method: http.MethodPatch, path: csrPath(name) + "?fieldManager=m", contentType: applyPatch, body: csrBody(t, name),
		}, http.StatusCreated)
		checkField(t, a, "metadata.managedFields", nil)
		checkField(t, a, "status", map[string]any{})
	})
	t.Run("apply: metadata is the applier's", func(t *testing.T) {
		t.Parallel()
		name := unique("csr")
		a := mustSend(t, call{
			method: http.MethodPatch, path: csrPath(name) + "?fieldManager=m", contentType: applyPatch, body: merged(csrBody(t, name), everything),
		}, http.StatusCreated)
		checkOwnership(t, a, map[string][]string{"m Apply": {"f:metadata f:labels f:a"}})
		checkField(t, a, "status", map[string]any{})
	})
	for _, endpoint := range []string{"status", "approval"} {
		t.Run("apply never creates through "+endpoint, func(t *testing.T) {
			t.Parallel()
			name := unique("csr")
			a := send(t, call{
				method: http.MethodPatch, path: csrPath(name, endpoint) + "?fieldManager=m", contentType: applyPatch, body: csrBody(t, name),
			})
			checkRefused(t, a, name, csrNotFound)
			checkGone(t, name)
		})
	}
}

func TestCSROwnershipByEndpoint(t *testing.T) {
	t.Parallel()
	certificate := base64.StdEncoding.EncodeToString(gen.RobotCertificate())
	everything := func(kind string) map[string]any {
		return merged(withLabel("a", "b"), map[string]any{
			"spec":   map[string]any{"signerName": "example.com/other"},
			"status": map[string]any{"certificate": certificate, "conditions": []any{condition(kind, "reason", "r")}},
		})
	}
	creator := []string{"f:metadata f:annotations .", "f:metadata f:annotations f:note"}
	label := []string{"f:metadata f:labels f:a"}
	issued := []string{"f:status f:certificate"}
	for _, w := range writings() {
		manager, labels := "writer Update", append(label, "f:metadata f:labels .")
		approved := append(ownedCondition("Approved", "lastTransitionTime", "lastUpdateTime", "reason", "status", "type"), "f:status f:conditions .")
		if w.about == "server-side apply" {
			// An applier owns what it sent: not the list or map around it, and not the times that the server filled in.
			manager, labels, approved = "writer Apply", label, ownedCondition("Approved", "reason", "status", "type")
		}
		tests := map[string]struct {
			subresource []string
			change      map[string]any
			// entry is the key of the writer's entry, owned what is in it.
			entry string
			owned []string
		}{
			"the object": {nil, everything("Approved"), manager, labels},
			"approval":   {[]string{"approval"}, everything("Approved"), manager + " approval", slices.Concat(labels, approved)},
			"status":     {[]string{"status"}, everything("Failed"), manager + " status", slices.Concat(labels, issued)},
		}
		for endpoint, test := range tests {
			t.Run(w.about+" of "+endpoint, func(t *testing.T) {
				t.Parallel()
				name := newTrackedCSR(t)
				c := w.call(t, name, csrPath(name, test.subresource...), test.change)
				if c.contentType != applyPatch {
					c.path += "?fieldManager=writer"
				}
				owned := slices.Sorted(slices.Values(test.owned))
				checkOwnership(t, mustSend(t, c, http.StatusOK), map[string][]string{"creator Update": creator, test.entry: owned})
			})
			t.Run(w.about+" of "+endpoint+", of an object without owners", func(t *testing.T) {
				t.Parallel()
				name, _ := newCSR(t)
				c := w.call(t, name, csrPath(name, test.subresource...), test.change)
				a := mustSend(t, c, http.StatusOK)
				if c.contentType != applyPatch {
					// Who updates what nobody owns is not tracked before somebody applies.
					checkField(t, a, "metadata.managedFields", nil)
					return
				}
				checkOwnership(t, a, map[string][]string{test.entry: slices.Sorted(slices.Values(test.owned))})
			})
		}
	}
}

// newTrackedCSR creates a CertificateSigningRequest with an annotation, so that it has an owner, and returns its name.
func newTrackedCSR(t *testing.T) string {
	t.Helper()
	name := unique("csr")
	body := merged(csrBody(t, name), map[string]any{"metadata": map[string]any{"annotations": map[string]any{"note": "text"}}})
	mustSend(t, call{method: http.MethodPost, path: csrCollection + "?fieldManager=creator", body: body}, http.StatusCreated)
	return name
}

// Two who apply conditions, one through /approval and one through /status, and the approver who withdraws.
func TestCSRApplyConditions(t *testing.T) {
	t.Parallel()
	name := unique("csr")
	apply := func(query string, object map[string]any, subresource ...string) answer {
		return send(t, call{
			method: http.MethodPatch, path: csrPath(name, subresource...) + query, contentType: applyPatch, body: applied(name, object),
		})
	}
	if a := apply("?fieldManager=creator", csrBody(t, name)); a.code != http.StatusCreated || a.field("metadata.managedFields") != nil {
		t.Fatalf("got %d: %s", a.code, a.raw)
	}
	approver := map[string][]string{"appr Apply approval": ownedCondition("Approved", "status", "type")}

	a := apply("?fieldManager=appr", withConditions(condition("Approved")), "approval")
	if diff := cmp.Diff([]string{"Approved=True"}, conditionsOf(a)); a.code != http.StatusOK || diff != "" {
		t.Errorf("got %d, conditions (-want +got):\n%s", a.code, diff)
	}
	checkOwnership(t, a, approver)

	// The list is a map by type for apply, so that the signer need not repeat the approval; what it owns is reset.
	a = apply("?fieldManager=sgn", withConditions(condition("Failed")), "status")
	if diff := cmp.Diff([]string{"Approved=True", "Failed=True"}, conditionsOf(a)); a.code != http.StatusOK || diff != "" {
		t.Errorf("got %d, conditions (-want +got):\n%s", a.code, diff)
	}
	checkOwnership(t, a, approver)

	// Nobody owns Failed, so that what is left when the approval goes is nothing at all.
	a = apply("?fieldManager=appr", map[string]any{}, "approval")
	checkInvalid(t, a, name,
		`status.conditions: Forbidden: updates may not remove a condition of type "Approved"`,
		`status.conditions: Forbidden: updates may not remove a condition of type "Failed"`)
	checkOwnership(t, getCSR(t, name), approver)
}

func TestCSRApplyConflicts(t *testing.T) {
	t.Parallel()
	apply := func(t *testing.T, name, query string, object map[string]any, subresource ...string) answer {
		t.Helper()
		return send(t, call{
			method: http.MethodPatch, path: csrPath(name, subresource...) + query, contentType: applyPatch, body: applied(name, object),
		})
	}
	conflict := func(message string) refusal {
		return refusal{Code: http.StatusConflict, Reason: "Conflict", Message: message}
	}
	tests := map[string]struct {
		subresource []string
		// first and second are what two managers apply; want is the refusal of the second.
		first, second map[string]any
		want          refusal
		// forced is checked on the answer when the second uses force.
		forced func(t *testing.T, name string, a answer)
	}{
		"a label of the object": {
			first: withLabel("a", "1"), second: withLabel("a", "2"),
			want: conflict(`Apply failed with 1 conflict: conflict with "one": .metadata.labels.a`),
			forced: func(t *testing.T, _ string, a answer) {
				t.Helper()
				checkField(t, a, "metadata.labels.a", "2")
				checkOwnership(t, a, map[string][]string{"two Apply": {"f:metadata f:labels f:a"}})
			},
		},
		"the reason of an approval": {
			subresource: []string{"approval"},
			first:       withConditions(condition("Approved", "reason", "x")), second: withConditions(condition("Approved", "reason", "y")),
			want: conflict(`Apply failed with 1 conflict: conflict with "one" with subresource "approval": .status.conditions[type="Approved"].reason`),
			forced: func(t *testing.T, _ string, a answer) {
				t.Helper()
				if diff := cmp.Diff([]string{"Approved=True/y"}, conditionsOf(a)); diff != "" {
					t.Errorf("conditions (-want +got):\n%s", diff)
				}
				checkOwnership(t, a, map[string][]string{
					"one Apply approval": ownedCondition("Approved", "status", "type"),
					"two Apply approval": ownedCondition("Approved", "reason", "status", "type"),
				})
			},
		},
		"the certificate": {
			subresource: []string{"status"},
			first:       withCertificate(gen.RobotCertificate()), second: withCertificate(gen.RobotAuthority()),
			want: conflict(`Apply failed with 1 conflict: conflict with "one" with subresource "status": .status.certificate`),
			forced: func(t *testing.T, name string, a answer) {
				t.Helper()
				checkInvalid(t, a, name, "status.certificate: Forbidden: updates may not modify existing certificate content")
			},
		},
		"both verdicts": {
			subresource: []string{"approval"},
			first:       withConditions(condition("Approved")), second: withConditions(condition("Denied")),
			want: refusal{
				Code: http.StatusUnprocessableEntity, Reason: "Invalid",
				Message: `CertificateSigningRequest.certificates.k8s.io "$NAME" is invalid: ` + oneVerdict,
			},
			forced: func(t *testing.T, name string, a answer) {
				t.Helper()
				checkInvalid(t, a, name, oneVerdict)
			},
		},
		"the same certificate": {
			subresource: []string{"status"},
			first:       withCertificate(gen.RobotCertificate()), second: withCertificate(gen.RobotCertificate()),
			forced: func(t *testing.T, _ string, a answer) {
				t.Helper()
				checkOwnership(t, a, map[string][]string{"one Apply status": {"f:status f:certificate"}, "two Apply status": {"f:status f:certificate"}})
			},
		},
	}
	for about, test := range tests {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			name, _ := newCSR(t)
			if a := apply(t, name, "?fieldManager=one", test.first, test.subresource...); a.code != http.StatusOK {
				t.Fatalf("got %d: %s", a.code, a.raw)
			}
			before := getCSR(t, name)
			a := apply(t, name, "?fieldManager=two", test.second, test.subresource...)
			if test.want != (refusal{}) {
				checkRefused(t, a, name, test.want)
				checkUnchanged(t, name, before)
			} else if a.code != http.StatusOK {
				t.Errorf("got %d: %s", a.code, a.raw)
			}
			test.forced(t, name, apply(t, name, "?fieldManager=two&force=true", test.second, test.subresource...))
		})
	}

	t.Run("an update of another manager is in the way too", func(t *testing.T) {
		t.Parallel()
		name := newTrackedCSR(t)
		mustSend(t, call{
			method: http.MethodPatch, path: csrPath(name, "approval") + "?fieldManager=one", contentType: mergePatch,
			body: withConditions(condition("Approved", "reason", "x", "message", "m")),
		}, http.StatusOK)
		a := apply(t, name, "?fieldManager=two", withConditions(condition("Approved", "reason", "y", "message", "n")), "approval")
		checkRefused(t, a, name, conflict("Apply failed with 2 conflicts: conflicts with \"one\" with subresource \"approval\" using certificates.k8s.io/v1:\n"+
			"- .status.conditions[type=\"Approved\"].message\n- .status.conditions[type=\"Approved\"].reason"))
		causes := []any{
			map[string]any{"reason": "FieldManagerConflict", "field": `.status.conditions[type="Approved"].message`, "message": `conflict with "one" with subresource "approval" using certificates.k8s.io/v1`},
			map[string]any{"reason": "FieldManagerConflict", "field": `.status.conditions[type="Approved"].reason`, "message": `conflict with "one" with subresource "approval" using certificates.k8s.io/v1`},
		}
		checkField(t, a, "details.causes", causes)
	})

	t.Run("what was there before the first apply is in the way", func(t *testing.T) {
		t.Parallel()
		name, _ := newCSR(t)
		writeConditions(t, name, condition("Approved", "reason", "x"))
		a := apply(t, name, "?fieldManager=two", withConditions(condition("Approved", "reason", "y")), "approval")
		checkRefused(t, a, name, conflict(`Apply failed with 1 conflict: conflict with "before-first-apply" with subresource "approval" using certificates.k8s.io/v1: `+
			`.status.conditions[type="Approved"].reason`))
	})

	t.Run("apply without a manager", func(t *testing.T) {
		t.Parallel()
		name, before := newCSR(t)
		for _, subresource := range endpoints {
			a := apply(t, name, "", withLabel("a", "b"), subresource...)
			checkRefused(t, a, name, refusal{
				Code: http.StatusUnprocessableEntity, Reason: "Invalid",
				Message: `PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`,
			})
		}
		checkUnchanged(t, name, before)
	})
}
