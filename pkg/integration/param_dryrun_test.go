// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParamDryRun shows for every operation that writes that dryRun=All answers as if it were done, and does nothing.
func TestParamDryRun(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, allOperations(s.writes(), s.deletes()), func(t *testing.T, o operation) {
			for _, query := range []string{"dryRun=All", "dryRun=All&dryRun=All"} {
				c, name, before := o.prepare(t, s)
				c.path = withQuery(c.path, query)
				a := mustSend(t, c, o.code())
				checkEffect(t, s, o, a)
				if o.creates {
					if s.exists(t, name) {
						t.Errorf("%s: the object was created", query)
					}
					continue
				}
				if diff := cmp.Diff(before.object, s.get(t, name).object); diff != "" {
					t.Errorf("%s: the object changed (-before +after):\n%s", query, diff)
				}
			}
		})
	})
}

// checkEffect checks that an answer is that of the operation when it has an effect.
func checkEffect(t *testing.T, s subject, o operation, a answer) {
	t.Helper()
	switch {
	case o.method != http.MethodDelete:
		if got := a.text("metadata.labels.written"); got != "yes" {
			t.Errorf("the answer does not show what was written: %s", a.raw)
		}
		if a.text("metadata.uid") == "" {
			t.Errorf("the answer has no uid: %s", a.raw)
		}
	case o.collection:
		if got := a.text("kind"); got != s.kind+"List" || len(a.names()) != 1 {
			t.Errorf("got a %s of %v, want a list with the object", got, a.names())
		}
	default:
		if got := a.text("kind") + " " + a.text("status"); got != "Status Success" {
			t.Errorf("got %s, want a success: %s", got, a.raw)
		}
	}
}

// TestParamDryRunInvalid shows for every operation that writes that no other value is taken, and nothing is done.
func TestParamDryRunInvalid(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"dryRun=all":              `["all"]`,
		"dryRun=":                 `[""]`,
		"dryRun=true":             `["true"]`,
		"dryRun=None":             `["None"]`,
		"dryRun=All%2CAll":        `["All,All"]`,
		"dryRun=All&dryRun=Bogus": `["All","Bogus"]`,
	}
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, allOperations(s.writes(), s.deletes()), func(t *testing.T, o operation) {
			c, name, before := o.prepare(t, s)
			path := c.path
			for query, shown := range values {
				c.path = withQuery(path, query)
				got, want := send(t, c), refusal{
					Code:    http.StatusUnprocessableEntity,
					Reason:  "Invalid",
					Message: o.options + `.meta.k8s.io "" is invalid: dryRun: Unsupported value: ` + shown + `: supported values: "All"`,
				}
				if diff := cmp.Diff(want, got.refusal()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", query, diff)
				}
				if diff := cmp.Diff([]string{"dryRun"}, got.causes()); diff != "" {
					t.Errorf("%s: causes (-want +got):\n%s", query, diff)
				}
			}
			if o.creates {
				if s.exists(t, name) {
					t.Error("the object was created")
				}
			} else if diff := cmp.Diff(before.object, s.get(t, name).object); diff != "" {
				t.Errorf("the object changed (-before +after):\n%s", diff)
			}
		})
	})
}

// TestParamDryRunRead shows that reading operations do not know the parameter.
func TestParamDryRunRead(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, s.reads(), func(t *testing.T, o operation) {
			c, _, _ := o.prepare(t, s)
			c.path = withQuery(c.path, "dryRun=Bogus")
			mustSend(t, c, http.StatusOK)
		})
	})
}

// TestParamDryRunChecks shows that a dry run meets everything that can refuse the write itself.
func TestParamDryRunChecks(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		existing := s.new(t)
		name := existing.text("metadata.name")
		stale := map[string]any{"apiVersion": s.apiVersion, "kind": s.kind, "spec": s.spec,
			"metadata": map[string]any{"name": name, "resourceVersion": "1"}}
		invalid := s.object(unique("o"))
		invalid["spec"] = map[string]any{}
		unnamed := s.object("")
		uid := existing.text("metadata.uid")
		cases := map[string]struct {
			call call
			want refusal
		}{
			"a name that is taken": {
				call: call{method: http.MethodPost, path: s.root, body: s.object(name)},
				want: refusal{409, "AlreadyExists", s.qualified() + ` "` + name + `" already exists`},
			},
			"an old version": {
				call: call{method: http.MethodPut, path: s.path(name), body: stale},
				want: refusal{409, "Conflict", `Operation cannot be fulfilled on ` + s.qualified() + ` "` + name +
					`": the object has been modified; please apply your changes to the latest version and try again`},
			},
			"no such object": {
				call: call{method: http.MethodDelete, path: s.path("missing")},
				want: refusal{404, "NotFound", s.qualified() + ` "missing" not found`},
			},
			"no name": {
				call: call{method: http.MethodPost, path: s.root, body: unnamed},
				want: refusal{422, "Invalid", s.kind + `.` + s.group + ` "" is invalid: metadata.name: Required value: name or generateName is required`},
			},
			"another uid expected": {
				call: call{method: http.MethodDelete, path: s.path(name), body: map[string]any{
					"dryRun": []string{"All"}, "preconditions": map[string]any{"uid": "nope"}}},
				want: refusal{409, "Conflict", `Operation cannot be fulfilled on ` + s.kind + `.` + s.group + ` "` + name +
					`": the UID in the precondition (nope) does not match the UID in record (` + uid +
					`). The object might have been deleted and then recreated`},
			},
		}
		for sentence, tc := range cases {
			t.Run(sentence, func(t *testing.T) {
				t.Parallel()
				tc.call.path = withQuery(tc.call.path, "dryRun=All")
				if diff := cmp.Diff(tc.want, send(t, tc.call).refusal()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
		t.Run("validation", func(t *testing.T) {
			t.Parallel()
			a := send(t, call{method: http.MethodPost, path: withQuery(s.root, "dryRun=All"), body: invalid})
			real := send(t, call{method: http.MethodPost, path: s.root, body: invalid})
			if a.code != http.StatusUnprocessableEntity || len(a.causes()) == 0 {
				t.Fatalf("got %d %s", a.code, a.raw)
			}
			if diff := cmp.Diff(real.refusal(), a.refusal()); diff != "" {
				t.Errorf("a dry run is refused otherwise (-real +dry):\n%s", diff)
			}
		})
	})
}

// TestParamDryRunGenerates shows what a dry run makes up, and that it takes no name.
func TestParamDryRunGenerates(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		object := s.object("")
		object["metadata"].(map[string]any)["generateName"] = "gen-"
		a := mustSend(t, call{method: http.MethodPost, path: withQuery(s.root, "dryRun=All"), body: object}, http.StatusCreated)
		name := a.text("metadata.name")
		if !strings.HasPrefix(name, "gen-") || len(name) != len("gen-")+5 {
			t.Errorf("got name %q", name)
		}
		if a.text("metadata.uid") == "" || a.text("metadata.creationTimestamp") == "" {
			t.Errorf("no uid or no creationTimestamp: %s", a.raw)
		}
		if got := a.field("metadata.resourceVersion"); got != nil {
			t.Errorf("got resourceVersion %v of an object that was never stored", got)
		}
		if s.exists(t, name) {
			t.Error("the object was created")
		}
	})
}

// TestParamDryRunInBody shows dryRun in DeleteOptions. A body is all that counts: the query is not looked at then.
func TestParamDryRunInBody(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		query string
		body  any
		code  int
		gone  bool
	}{
		"All":                             {body: map[string]any{"dryRun": []string{"All"}}, code: 200},
		"All with kind and version":       {body: map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": []string{"All"}}, code: 200},
		"other value":                     {body: map[string]any{"dryRun": []string{"all"}}, code: 422},
		"All in the query, none in body":  {query: "dryRun=All", body: map[string]any{}, code: 200, gone: true},
		"All in the body, other in query": {query: "dryRun=Bogus", body: map[string]any{"dryRun": []string{"All"}}, code: 200},
	}
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, s.deletes(), func(t *testing.T, o operation) {
			for sentence, tc := range cases {
				t.Run(sentence, func(t *testing.T) {
					t.Parallel()
					c, name, _ := o.prepare(t, s)
					c.path, c.body = withQuery(c.path, tc.query), tc.body
					if a := send(t, c); a.code != tc.code {
						t.Errorf("got %d, want %d: %s", a.code, tc.code, a.raw)
					}
					if s.exists(t, name) == tc.gone {
						t.Errorf("gone = %t, want %t", !tc.gone, tc.gone)
					}
				})
			}
		})
	})
}
