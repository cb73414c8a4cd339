// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestParamFieldManager shows that every write records the manager, its operation, and through which endpoint.
func TestParamFieldManager(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, s.writes(), func(t *testing.T, o operation) {
			for _, manager := range []string{"m", strings.Repeat("m", 128), "é w:/x"} {
				c, name, _ := o.prepare(t, s)
				c.path = withQuery(strings.ReplaceAll(c.path, "fieldManager=applier", ""), parameter("fieldManager", manager))
				mustSend(t, c, o.code())
				want := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate,
					APIVersion: s.apiVersion, FieldsType: "FieldsV1", Subresource: o.subresource}
				if o.contentType == applyPatch {
					want.Operation = metav1.ManagedFieldsOperationApply
				}
				var got metav1.ManagedFieldsEntry
				for _, entry := range s.get(t, name).managers(t) {
					if strings.Contains(entry.FieldsV1.GetRawString(), `"f:written":{}`) {
						got = entry
					}
				}
				if got.Time.IsZero() {
					t.Errorf("manager %q: the entry has no time", manager)
				}
				got.Time, got.FieldsV1 = nil, nil
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("manager %q: who owns the label (-want +got):\n%s", manager, diff)
				}
			}
		})
	})
}

// managers are the entries of metadata.managedFields, with their fields as they were written.
func (a answer) managers(t *testing.T) []metav1.ManagedFieldsEntry {
	t.Helper()
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(a.raw, &object); err != nil {
		t.Fatal(err)
	}
	return object.ManagedFields
}

// TestParamFieldManagerInvalid shows the limits of a manager's name: 128 bytes, printable characters
// (k8s.io/apimachinery/pkg/apis/meta/v1/validation).
func TestParamFieldManagerInvalid(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		strings.Repeat("m", 129):      "fieldManager: Too long: may not be more than 128 bytes",
		strings.Repeat("é", 64) + "m": "fieldManager: Too long: may not be more than 128 bytes",
		"a\x07":                       `fieldManager: Invalid value: "a\a": invalid character U+0007 (at position 1)`,
		"é\u00a0":                     `fieldManager: Invalid value: "é\u00a0": invalid character U+00A0 (at position 2)`,
		"a\nb\t": `[fieldManager: Invalid value: "a\nb\t": invalid character U+000A (at position 1), ` +
			`fieldManager: Invalid value: "a\nb\t": invalid character U+0009 (at position 3)]`,
	}
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, s.writes(), func(t *testing.T, o operation) {
			c, name, _ := o.prepare(t, s)
			path := strings.ReplaceAll(c.path, "fieldManager=applier", "")
			for manager, message := range values {
				c.path = withQuery(path, parameter("fieldManager", manager))
				want := refusal{http.StatusUnprocessableEntity, "Invalid", o.options + `.meta.k8s.io "" is invalid: ` + message}
				if diff := cmp.Diff(want, send(t, c).refusal()); diff != "" {
					t.Errorf("%q (-want +got):\n%s", manager, diff)
				}
			}
			if o.creates && s.exists(t, name) {
				t.Error("the object was created")
			}
		})
	})
}

// TestParamFieldManagerMissing shows that only apply insists on a manager.
func TestParamFieldManagerMissing(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, s.writes(), func(t *testing.T, o operation) {
			for _, value := range []string{"", "fieldManager="} {
				c, _, _ := o.prepare(t, s)
				c.path = withQuery(strings.ReplaceAll(c.path, "fieldManager=applier", ""), value)
				a := send(t, c)
				if o.contentType != applyPatch {
					if a.code != o.code() {
						t.Errorf("%q: got %d: %s", value, a.code, a.raw)
					}
					continue
				}
				want := refusal{422, "Invalid", `PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`}
				if diff := cmp.Diff(want, a.refusal()); diff != "" {
					t.Errorf("%q (-want +got):\n%s", value, diff)
				}
			}
		})
	})
}

// TestParamFieldManagerFromUserAgent shows the manager of a request that names none: the user agent up to the first
// slash, without what can't be printed, at most 128 bytes in whole characters.
func TestParamFieldManagerFromUserAgent(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ userAgent, query, manager string }{
		"up to the slash":                {userAgent: "tool/v1 (linux)", manager: "tool"},
		"all of it without one":          {userAgent: "tool v1", manager: "tool v1"},
		"long":                           {userAgent: strings.Repeat("t", 200), manager: strings.Repeat("t", 128)},
		"no half of a character":         {userAgent: strings.Repeat("t", 127) + "é", manager: strings.Repeat("t", 127)},
		"unprintable characters are cut": {userAgent: "to\tol/1", manager: "tool"},
		"nothing before the slash":       {userAgent: "/v1", manager: "unknown"},
		"no user agent":                  {userAgent: "", manager: "unknown"},
		"an empty parameter":             {userAgent: "tool/v1", query: "fieldManager=", manager: "tool"},
		"the parameter wins":             {userAgent: "tool/v1", query: "fieldManager=m", manager: "m"},
		"the first of two values counts": {userAgent: "tool/v1", query: "fieldManager=m&fieldManager=n", manager: "m"},
	}
	s := csrSubject(t)
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			a := mustSend(t, call{method: http.MethodPost, path: withQuery(s.root, tc.query), body: s.object(unique("o")),
				header: http.Header{"User-Agent": {tc.userAgent}}}, http.StatusCreated)
			managers := a.managers(t)
			if len(managers) != 1 || managers[0].Manager != tc.manager {
				t.Errorf("got %v, want one entry of %q", managers, tc.manager)
			}
		})
	}
}

// TestParamForce shows the parameter: for apply it takes conflicting fields over, for other patches it is an error,
// and other operations don't know it.
func TestParamForce(t *testing.T) {
	t.Parallel()
	t.Run("of other patches", func(t *testing.T) {
		t.Parallel()
		forEachSubject(t, func(t *testing.T, s subject) {
			forEachOperation(t, s.writes(), func(t *testing.T, o operation) {
				c, _, _ := o.prepare(t, s)
				path := c.path
				for _, force := range []string{"force=true", "force=false", "force=", "force=maybe"} {
					c.path = withQuery(path, force, "dryRun=All")
					a := send(t, c)
					if o.method != http.MethodPatch || o.contentType == applyPatch {
						if a.code != o.code() {
							t.Errorf("%s: got %d: %s", force, a.code, a.raw)
						}
						continue
					}
					want := refusal{422, "Invalid", `PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch`}
					if diff := cmp.Diff(want, a.refusal()); diff != "" {
						t.Errorf("%s (-want +got):\n%s", force, diff)
					}
				}
			})
		})
	})
	t.Run("of apply", func(t *testing.T) {
		t.Parallel()
		forEachSubject(t, func(t *testing.T, s subject) {
			for _, subresource := range append([]string{""}, s.subresources...) {
				t.Run("endpoint "+subresource, func(t *testing.T) {
					t.Parallel()
					checkForce(t, s, subresource)
				})
			}
		})
	})
}

// checkForce has a label that one manager applied changed by another.
func checkForce(t *testing.T, s subject, subresource string) {
	t.Helper()
	name := s.new(t).text("metadata.name")
	path := strings.TrimSuffix(s.path(name, subresource), "/")
	apply := func(manager, value, force string) answer {
		body := map[string]any{"apiVersion": s.apiVersion, "kind": s.kind, "metadata": map[string]any{
			"name": name, "labels": map[string]any{"who": value}}}
		return send(t, call{method: http.MethodPatch, contentType: applyPatch, body: body,
			path: withQuery(path, parameter("fieldManager", manager), force)})
	}
	if a := apply("first", "first", ""); a.code != http.StatusOK {
		t.Fatalf("got %d: %s", a.code, a.raw)
	}
	conflict := refusal{409, "Conflict", `Apply failed with 1 conflict: conflict with "first"` + withSubresource(subresource) + `: .metadata.labels.who`}
	// 0 and false mean no; what is no boolean means yes.
	for _, force := range []string{"", "force=false", "force=0"} {
		a := apply("second", "second", force)
		if diff := cmp.Diff(conflict, a.refusal()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", force, diff)
		}
		if diff := cmp.Diff([]string{".metadata.labels.who"}, a.causes()); diff != "" {
			t.Errorf("%q: causes (-want +got):\n%s", force, diff)
		}
		if got := a.text("details.causes.0.reason"); got != "FieldManagerConflict" {
			t.Errorf("%q: got cause %s", force, got)
		}
	}
	if a := apply("second", "first", ""); a.code != http.StatusOK {
		t.Errorf("the same value is no conflict: got %d: %s", a.code, a.raw)
	}
	for manager, force := range map[string]string{"third": "force=true", "fourth": "force=1", "fifth": "force=maybe", "sixth": "force="} {
		a := apply(manager, manager, force)
		if a.code != http.StatusOK || a.text("metadata.labels.who") != manager {
			t.Errorf("%s: got %d: %s", force, a.code, a.raw)
		}
		var owners []string
		for _, entry := range a.managers(t) {
			if strings.Contains(entry.FieldsV1.GetRawString(), `"f:who"`) {
				owners = append(owners, entry.Manager)
			}
		}
		if diff := cmp.Diff([]string{manager}, owners); diff != "" {
			t.Errorf("%s: owners of the field (-want +got):\n%s", force, diff)
		}
	}
}

func withSubresource(name string) string {
	if name == "" {
		return ""
	}
	return ` with subresource "` + name + `"`
}

// TestParamOptionsErrorsTogether shows that all that is wrong with the parameters is named at once, in one order.
func TestParamOptionsErrorsTogether(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, s.writes(), func(t *testing.T, o operation) {
			c, _, _ := o.prepare(t, s)
			c.path = withQuery(strings.ReplaceAll(c.path, "fieldManager=applier", ""),
				parameter("fieldManager", strings.Repeat("m", 129)), "force=true", "dryRun=x", "fieldValidation=y")
			fields := []string{"fieldManager", "dryRun", "fieldValidation"}
			if o.method == http.MethodPatch && o.contentType != applyPatch {
				fields = append([]string{"force"}, fields...)
			}
			a := send(t, c)
			if a.code != http.StatusUnprocessableEntity {
				t.Errorf("got %d", a.code)
			}
			if diff := cmp.Diff(fields, a.causes()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	})
}
