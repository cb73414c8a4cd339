// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// managedEntry is what tests look at of an entry of managedFields.
type managedEntry struct{ Manager, Operation, Subresource, Fields string }

// entries are the entries of metadata.managedFields, in order.
func (a answer) entries(t *testing.T) []managedEntry {
	t.Helper()
	var out []managedEntry
	for _, e := range a.managers(t) {
		out = append(out, managedEntry{e.Manager, string(e.Operation), e.Subresource, e.FieldsV1.GetRawString()})
	}
	return out
}

// owners are the managers of the entries with their operation, in order.
func (a answer) owners(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, e := range a.entries(t) {
		out = append(out, strings.TrimSpace(e.Manager+" "+e.Operation+" "+e.Subresource))
	}
	return out
}

// applyAs applies a body as a manager.
func (s subject) applyAs(t *testing.T, manager, name string, fields map[string]any, queries ...string) answer {
	t.Helper()
	body := map[string]any{"apiVersion": s.apiVersion, "kind": s.kind, "metadata": map[string]any{"name": name}}
	for key, value := range fields {
		if key == "metadata" {
			for key, value := range value.(map[string]any) {
				body["metadata"].(map[string]any)[key] = value
			}
			continue
		}
		body[key] = value
	}
	return send(t, call{method: http.MethodPatch, contentType: applyPatch, path: withQuery(s.path(name), append(queries, parameter("fieldManager", manager))...), body: body})
}

func (s subject) mergeAs(t *testing.T, manager, name, body string) answer {
	t.Helper()
	return mustSend(t, call{method: http.MethodPatch, contentType: mergePatch, path: withQuery(s.path(name), parameter("fieldManager", manager)), body: body}, http.StatusOK)
}

// TestDefinitionFieldsV1 shows the forms of fields: f: for a field, k: for an element of a list by its keys, v: for an
// element of a set, . for the element itself.
func TestDefinitionFieldsV1(t *testing.T) {
	t.Parallel()
	s := daemonSetSubject(t)
	name := unique("o")
	owner := map[string]any{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u-1"}
	a := s.applyAs(t, "applier", name, map[string]any{
		"metadata": map[string]any{
			"labels": map[string]any{"example.com/x": "1"}, "annotations": map[string]any{"a": "b"},
			"finalizers": []any{"a.io/b", "a.io/a"}, "ownerReferences": []any{owner},
		},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "x"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "x"}},
				"spec": map[string]any{
					"containers": []any{map[string]any{
						"name": "c", "image": "img:1", "args": []any{"-x"}, "env": []any{map[string]any{"name": "A", "value": "1"}},
						"ports": []any{map[string]any{"containerPort": 80, "protocol": "UDP"}, map[string]any{"containerPort": 80}},
					}},
					"tolerations": []any{map[string]any{"operator": "Exists"}},
				},
			},
		},
	})
	if a.code != http.StatusCreated {
		t.Fatalf("got %d %s", a.code, a.raw)
	}
	want := `{"f:metadata":{"f:annotations":{"f:a":{}},"f:finalizers":{"v:\"a.io/a\"":{},"v:\"a.io/b\"":{}},"f:labels":{"f:example.com/x":{}},` +
		`"f:ownerReferences":{"k:{\"uid\":\"u-1\"}":{}}},` +
		`"f:spec":{"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:args":{},` +
		`"f:env":{"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:name":{},` +
		`"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}},"k:{\"containerPort\":80,\"protocol\":\"UDP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}}}},` +
		`"f:tolerations":{}}}}}`
	if diff := cmp.Diff([]managedEntry{{"applier", "Apply", "", want}}, a.entries(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// What an update writes has the parents of its own in it, too.
	a = s.mergeAs(t, "updater", name, `{"metadata":{"finalizers":["a.io/b","a.io/a","a.io/c"]},"spec":{"template":{"spec":{"nodeSelector":{"disk":"ssd"}}}}}`)
	want = `{"f:metadata":{"f:finalizers":{"v:\"a.io/c\"":{}}},"f:spec":{"f:template":{"f:spec":{"f:nodeSelector":{}}}}}`
	if got := a.entries(t); len(got) != 2 || got[1] != (managedEntry{"updater", "Update", "", want}) {
		t.Errorf("got %+v, want %s", got, want)
	}
	mustSend(t, call{method: http.MethodPatch, contentType: mergePatch, path: s.path(name), body: `{"metadata":{"finalizers":null}}`}, http.StatusOK)
}

// TestDefinitionFieldsV1CSR shows that a CertificateSigningRequest's own fields belong to nobody: every endpoint
// resets what it does not decide.
func TestDefinitionFieldsV1CSR(t *testing.T) {
	t.Parallel()
	s := csrSubject(t)
	created := s.new(t)
	name := created.text("metadata.name")
	want := []managedEntry{{"Go-http-client", "Update", "", `{"f:metadata":{"f:labels":{".":{},"f:test":{}}}}`}}
	if diff := cmp.Diff(want, created.entries(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	body := map[string]any{"apiVersion": s.apiVersion, "kind": s.kind, "metadata": map[string]any{"name": name}, "spec": s.spec,
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Approved", "status": "True", "reason": "r"}}}}
	a := mustSend(t, call{method: http.MethodPatch, contentType: applyPatch, path: withQuery(s.path(name, "approval"), "fieldManager=approver"), body: body}, http.StatusOK)
	want = []managedEntry{
		{"approver", "Apply", "approval", `{"f:status":{"f:conditions":{"k:{\"type\":\"Approved\"}":{".":{},"f:reason":{},"f:status":{},"f:type":{}}}}}`},
		want[0],
	}
	if diff := cmp.Diff(want, a.entries(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDefinitionFieldsV1AsSent shows that entries that a client writes are kept in canonical form: elements in order,
// keys sorted, no empty leaf in a leaf.
func TestDefinitionFieldsV1AsSent(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.new(t).text("metadata.name")
		sent := `{"f:spec":{"f:zz":{"i:1":{},"i:0":{},"v:\"b\"":{},"v:1":{},"v:true":{},"v:null":{},"k:{\"name\":\"c\",\"a\":1}":{".":{}},"f:b":{"f:c":{},".":{}},"f:a":{}}},"f:metadata":{}}`
		want := `{"f:metadata":{},"f:spec":{"f:zz":{"f:a":{},"f:b":{".":{},"f:c":{}},"k:{\"a\":1,\"name\":\"c\"}":{},"v:1":{},"v:\"b\"":{},"v:true":{},"v:null":{},"i:0":{},"i:1":{}}}}`
		patch := `[{"op":"replace","path":"/metadata/managedFields","value":[{"manager":"w","operation":"Update","apiVersion":"` + s.apiVersion +
			`","time":"2020-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":` + sent + `}]}]`
		a := mustSend(t, call{method: http.MethodPatch, contentType: jsonPatch, path: s.path(name), body: patch}, http.StatusOK)
		for what, got := range map[string]answer{"answered": a, "stored": s.get(t, name)} {
			if diff := cmp.Diff([]managedEntry{{"w", "Update", "", want}}, got.entries(t)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
			if got := got.managers(t)[0].Time.UTC().Format(time.RFC3339); got != "2020-01-02T03:04:05Z" {
				t.Errorf("%s: time %s", what, got)
			}
		}
		// The same holds in protobuf and YAML.
		for _, accept := range []string{protobufType, yamlBody} {
			got := mustSend(t, call{method: http.MethodGet, path: s.path(name), accept: accept}, http.StatusOK).decoded(t)
			if accept == protobufType {
				got.object = decodeProtobuf(t, got.raw)
			}
			var compact any
			if err := json.Unmarshal([]byte(want), &compact); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(compact, got.field("metadata.managedFields.0.fieldsV1")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", accept, diff)
			}
		}
	})
}

// TestDefinitionManagedFieldsClear shows how they are cleared, and what they are then.
func TestDefinitionManagedFieldsClear(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		for value, cleared := range map[string]bool{`[{}]`: true, `[]`: true, `null`: false} {
			t.Run(value, func(t *testing.T) {
				t.Parallel()
				created := s.new(t)
				name := created.text("metadata.name")
				a := s.mergeAs(t, "clearer", name, `{"metadata":{"managedFields":`+value+`}}`)
				if !cleared {
					if diff := cmp.Diff(created.field("metadata.managedFields"), a.field("metadata.managedFields")); diff != "" {
						t.Errorf("(-before +after):\n%s", diff)
					}
					return
				}
				if got := a.field("metadata.managedFields"); got != nil {
					t.Errorf("got %v", got)
				}
				// Who updates leaves no trace as long as nobody applies.
				a = s.mergeAs(t, "updater", name, `{"metadata":{"labels":{"x":"y"}}}`)
				if got := a.field("metadata.managedFields"); got != nil {
					t.Errorf("after an update: got %v", got)
				}
				a = s.applyAs(t, "applier", name, map[string]any{"metadata": map[string]any{"labels": map[string]any{"new": "1"}}})
				if diff := cmp.Diff([]string{"applier Apply", "before-first-apply Update"}, a.owners(t)); diff != "" {
					t.Errorf("after an apply (-want +got):\n%s", diff)
				}
				if got := a.entries(t)[1].Fields; !strings.Contains(got, `"f:test":{}`) || !strings.Contains(got, `"f:x":{}`) || strings.Contains(got, `"f:new"`) {
					t.Errorf("what was there before: %s", got)
				}
			})
		}
		t.Run("by a replace", func(t *testing.T) {
			t.Parallel()
			created := s.new(t)
			name := created.text("metadata.name")
			object := s.get(t, name).object
			metadata := object["metadata"].(map[string]any)
			delete(metadata, "managedFields")
			a := mustSend(t, call{method: http.MethodPut, path: s.path(name), body: object}, http.StatusOK)
			if diff := cmp.Diff(created.field("metadata.managedFields"), a.field("metadata.managedFields")); diff != "" {
				t.Errorf("left out (-before +after):\n%s", diff)
			}
			metadata["managedFields"] = []any{}
			a = mustSend(t, call{method: http.MethodPut, path: s.path(name), body: object}, http.StatusOK)
			if diff := cmp.Diff(nil, a.field("metadata.managedFields")); diff != "" {
				t.Errorf("empty (-want +got):\n%s", diff)
			}
		})
		t.Run("by a creation", func(t *testing.T) {
			t.Parallel()
			object := s.object(unique("o"))
			object["metadata"].(map[string]any)["managedFields"] = []any{}
			a := mustSend(t, call{method: http.MethodPost, path: withQuery(s.root, "fieldManager=m"), body: object}, http.StatusCreated)
			if diff := cmp.Diff([]string{"m Update"}, a.owners(t)); diff != "" {
				t.Errorf("there is nothing to clear yet (-want +got):\n%s", diff)
			}
		})
	})
}

// TestDefinitionManagedFieldsMalformed shows that entries that can't be read are not taken: the stored ones stay. An
// entry that can be read but owns nothing that the server knows is taken, and goes.
func TestDefinitionManagedFieldsMalformed(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		good := func(change func(map[string]any)) map[string]any {
			e := map[string]any{"manager": "w", "operation": "Update", "apiVersion": s.apiVersion, "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": map[string]any{}}}
			change(e)
			return e
		}
		set := func(key string, value any) func(map[string]any) {
			return func(e map[string]any) { e[key] = value }
		}
		cases := map[string]struct {
			change func(map[string]any)
			// taken are the owners if the entries are taken.
			taken []string
		}{
			"nothing wrong":             {change: func(map[string]any) {}, taken: []string{"w Update"}},
			"an unknown operation":      {change: set("operation", "Frob")},
			"no operation":              {change: set("operation", "")},
			"an unknown type of fields": {change: set("fieldsType", "FieldsV2")},
			"no type of fields":         {change: set("fieldsType", "")},
			"a field that is a string":  {change: set("fieldsV1", map[string]any{"f:spec": "zz"})},
			"fields that are a string":  {change: set("fieldsV1", "zz")},
			"an unknown form":           {change: set("fieldsV1", map[string]any{"x:spec": map[string]any{}}), taken: []string{}},
			"a form without a colon":    {change: set("fieldsV1", map[string]any{"spec": map[string]any{}})},
			"a key that is no JSON":     {change: set("fieldsV1", map[string]any{"k:x": map[string]any{}})},
			"an index that is a word":   {change: set("fieldsV1", map[string]any{"i:x": map[string]any{}})},
			"no fields":                 {change: func(e map[string]any) { delete(e, "fieldsV1") }, taken: []string{}},
			"no version":                {change: func(e map[string]any) { delete(e, "apiVersion") }},
			"an unknown version":        {change: set("apiVersion", s.group+"/v9"), taken: []string{}},
		}
		for sentence, tc := range cases {
			t.Run(sentence, func(t *testing.T) {
				t.Parallel()
				created := s.new(t)
				name := created.text("metadata.name")
				data, err := json.Marshal(good(tc.change))
				if err != nil {
					t.Fatal(err)
				}
				a := mustSend(t, call{method: http.MethodPatch, contentType: jsonPatch, path: withQuery(s.path(name), "fieldManager=m"),
					body: `[{"op":"replace","path":"/metadata/managedFields","value":[` + string(data) + `]}]`}, http.StatusOK)
				want := created.owners(t)
				if tc.taken != nil {
					want = tc.taken
				}
				if diff := cmp.Diff(want, append([]string{}, a.owners(t)...)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	})
}

// TestDefinitionManagedFieldsCap shows that no more than ten updaters are kept apart: the oldest ones become one.
func TestDefinitionManagedFieldsCap(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.new(t).text("metadata.name")
		s.applyAs(t, "applier", name, map[string]any{"metadata": map[string]any{"labels": map[string]any{"applied": "yes"}}})
		var a answer
		for i := 1; i <= 14; i++ {
			// Entries of the same second are ordered by name, so the order is the same however fast this goes.
			a = s.mergeAs(t, fmt.Sprintf("up%02d", i), name, fmt.Sprintf(`{"metadata":{"labels":{"l%02d":"1"}}}`, i))
			updates := 0
			for _, owner := range a.owners(t) {
				if strings.HasSuffix(owner, " Update") {
					updates++
				}
			}
			if updates > 10 {
				t.Fatalf("%d updaters: %v", updates, a.owners(t))
			}
		}
		want := []string{"applier Apply", "ancient-changes Update"}
		for i := 6; i <= 14; i++ {
			want = append(want, fmt.Sprintf("up%02d Update", i))
		}
		if diff := cmp.Diff(want, a.owners(t)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		ancient := a.entries(t)[1].Fields
		for i := 1; i <= 14; i++ {
			if got := strings.Contains(ancient, fmt.Sprintf(`"f:l%02d":{}`, i)); got != (i <= 5) {
				t.Errorf("ancient-changes owns l%02d = %t: %s", i, got, ancient)
			}
		}
	})
}

// TestDefinitionManagedFieldsTime shows that an entry's time moves when its fields change, and only then.
func TestDefinitionManagedFieldsTime(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.new(t).text("metadata.name")
		old := `[{"op":"replace","path":"/metadata/managedFields","value":[{"manager":"w","operation":"Update","apiVersion":"` + s.apiVersion +
			`","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:test":{}}}}}]}]`
		a := mustSend(t, call{method: http.MethodPatch, contentType: jsonPatch, path: withQuery(s.path(name), "fieldManager=other"), body: old}, http.StatusOK)
		if got := a.managers(t)[0].Time.UTC().Year(); got != 2020 {
			t.Fatalf("the time could not be set: %d", got)
		}
		same := s.mergeAs(t, "w", name, `{"metadata":{"labels":{"test":"`+s.label+`"}}}`)
		if diff := cmp.Diff(a.object, same.object); diff != "" {
			t.Errorf("a write of the same (-before +after):\n%s", diff)
		}
		more := s.mergeAs(t, "w", name, `{"metadata":{"labels":{"more":"yes"}}}`)
		if got := more.managers(t); len(got) != 1 || time.Since(got[0].Time.Time) > time.Hour {
			t.Errorf("a write of more: %v", got)
		}
	})
}
