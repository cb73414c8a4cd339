// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"
)

// TestControllerRevisionCreateRefused checks every cause of a refusal, in order.
func TestControllerRevisionCreateRefused(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	data := func(value any) change {
		return func(_ *testing.T, object map[string]any) { object["data"] = value }
	}
	noObject := []string{"data: Required value: data must be a valid JSON object"}
	tests := map[string]struct {
		name   string
		sent   change
		causes []string
	}{
		"no data":             {"r", root("data: null"), []string{"data: Required value: data is mandatory"}},
		"data null":           {"r", data(nil), []string{"data: Required value: data is mandatory"}},
		"data a string":       {"r", data("s"), noObject},
		"data a number":       {"r", data(5), noObject},
		"data a list":         {"r", data([]any{1}), noObject},
		"data a boolean":      {"r", data(true), noObject},
		"a negative revision": {"r", root("revision: -1"), []string{"revision: Invalid value: -1: must be greater than or equal to 0"}},
		"something wrong everywhere": {"N_1", root("{revision: -1, data: null}"), []string{
			`metadata.name: Invalid value: "N_1": ` + notSubdomain,
			"revision: Invalid value: -1: must be greater than or equal to 0",
			"data: Required value: data is mandatory",
		}},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			got := send(t, call{method: http.MethodPost, path: revisionsPath(ns), body: controllerRevision(t, test.name, test.sent)})
			wantFailure(t, got, invalid(t, "ControllerRevision.apps", test.name, test.causes...))
		})
	}
}

func TestControllerRevisionCreateUndecodable(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	for name, test := range map[string]struct {
		query string
		sent  change
		cause string
	}{
		"a string for the revision": {"", root("revision: '1'"), "json: cannot unmarshal string into Go struct field ControllerRevision.revision of type int64"},
		"an unknown field, Strict":  {"?fieldValidation=Strict", root("frob: 1"), `strict decoding error: unknown field "frob"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := send(t, call{method: http.MethodPost, path: revisionsPath(ns) + test.query, body: controllerRevision(t, "r", test.sent)})
			wantFailure(t, got, failure{
				code: http.StatusBadRequest, reason: "BadRequest", message: `ControllerRevision in version "v1" cannot be handled as a ControllerRevision: ` + test.cause,
			})
		})
	}
}

// TestControllerRevisionCreateAccepted: what data holds is nobody's business.
func TestControllerRevisionCreateAccepted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sent     string
		want     string
		warnings []string
	}{
		"empty data":                  {`{"data":{},"revision":1}`, "{data: {}, revision: 1}", nil},
		"data of a kind":              {`{"data":{"apiVersion":"apps/v1","kind":"DaemonSet"},"revision":1}`, "{data: {apiVersion: apps/v1, kind: DaemonSet}, revision: 1}", nil},
		"data of an unknown kind":     {`{"data":{"apiVersion":"x/v1","kind":"Foo"},"revision":1}`, "{data: {apiVersion: x/v1, kind: Foo}, revision: 1}", nil},
		"nulls and fractions in data": {`{"data":{"z":null,"f":1.50,"l":[{}]},"revision":1}`, "{data: {z: null, f: 1.5, l: [{}]}, revision: 1}", nil},
		"no revision":                 {`{"data":{}}`, "{data: {}, revision: 0}", nil},
		"an unknown field":            {`{"data":{},"revision":1,"frob":1}`, "{data: {}, revision: 1}", []string{`unknown field "frob"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := newNamespace(t)
			body := `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"r"},` + test.sent[1:]
			got := send(t, call{method: http.MethodPost, path: revisionsPath(ns), body: body})
			wantRevision(t, got, http.StatusCreated, ns, func(t *testing.T, object map[string]any) {
				for key, value := range fromYAML(t, test.want) {
					object[key] = value
				}
			})
			wantWarnings(t, got, test.warnings...)
			unchanged(t, got, mustSend(t, get(revisionsPath(ns)+"/r")))
		})
	}
}

func TestControllerRevisionUpdateRefused(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	const immutable = ": field is immutable"
	replace := func(changes ...change) func(t *testing.T, path, name string) call {
		return func(t *testing.T, path, name string) call {
			return call{method: http.MethodPut, path: path, body: controllerRevision(t, name, changes...)}
		}
	}
	patched := func(contentType, body string) func(t *testing.T, path, name string) call {
		return func(_ *testing.T, path, _ string) call { return patch(contentType, path, body) }
	}
	tests := map[string]struct {
		call   func(t *testing.T, path, name string) call
		causes []string
	}{
		"other data":       {replace(root("data: {spec: {a: 2}}")), []string{`data: Invalid value: {"spec":{"a":2}}` + immutable}},
		"no data":          {replace(root("data: null")), []string{"data: Invalid value: null" + immutable}},
		"merge: more data": {patched(mergePatch, `{"data":{"b":1}}`), []string{`data: Invalid value: {"b":1,"spec":{"a":1}}` + immutable}},
		"merge: null":      {patched(mergePatch, `{"data":null}`), []string{"data: Invalid value: null" + immutable}},
		"JSON: more data":  {patched(jsonPatch, `[{"op":"add","path":"/data/spec/b","value":9}]`), []string{`data: Invalid value: {"spec":{"a":1,"b":9}}` + immutable}},
		"a negative revision and other data": {replace(root("{revision: -2, data: {spec: {a: 2}}}")), []string{
			"revision: Invalid value: -2: must be greater than or equal to 0", `data: Invalid value: {"spec":{"a":2}}` + immutable,
		}},
		"another uid, a negative revision and other data": {
			patched(mergePatch, `{"metadata":{"uid":"x"},"revision":-2,"data":{"spec":{"a":3}}}`), []string{
				`metadata.uid: Invalid value: "x"` + immutable,
				"revision: Invalid value: -2: must be greater than or equal to 0",
				`data: Invalid value: {"spec":{"a":3}}` + immutable,
			},
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			name := unique("r")
			before := createRevision(t, ns, name)
			path := revisionsPath(ns) + "/" + name
			wantFailure(t, send(t, test.call(t, path, name)), invalid(t, "ControllerRevision.apps", name, test.causes...))
			unchanged(t, before, mustSend(t, get(path)))
		})
	}
	t.Run("strategic: data, which has no fields", func(t *testing.T) {
		t.Parallel()
		name := unique("r")
		createRevision(t, ns, name)
		wantFailure(t, send(t, patch(strategicPatch, revisionsPath(ns)+"/"+name, `{"data":{"spec":{"a":5}}}`)), failure{
			code: http.StatusInternalServerError, message: `unable to find api field in struct RawExtension for the json field "spec"`,
		})
	})
}

// TestControllerRevisionDataIsBytes: data are compared as bytes, and a patch writes them without blanks. So upstream
// lets nobody patch what was created with blanks in it.
func TestControllerRevisionDataIsBytes(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	body := func(data string) string {
		return `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"r"},"data":` + data + `,"revision":1}`
	}
	const blanks, others = `{"spec": {"a": 1}}`, `{ "spec":{"a":1} }`
	path := revisionsPath(ns) + "/r"
	created := send(t, call{method: http.MethodPost, path: revisionsPath(ns), body: body(blanks)})
	wantRevision(t, created, http.StatusCreated, ns)
	refused := invalid(t, "ControllerRevision.apps", "r", `data: Invalid value: {"spec":{"a":1}}: field is immutable`)
	wantFailure(t, send(t, call{method: http.MethodPut, path: path, body: body(others)}), refused)
	for contentType, label := range map[string]string{
		mergePatch: `{"metadata":{"labels":{"a":"b"}}}`, strategicPatch: `{"metadata":{"labels":{"a":"b"}}}`,
		jsonPatch: `[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`,
	} {
		wantFailure(t, send(t, patch(contentType, path, label)), refused)
	}
	unchanged(t, created, mustSend(t, call{method: http.MethodPut, path: path, body: body(blanks)}, http.StatusOK))
}
