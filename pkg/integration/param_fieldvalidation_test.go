// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// sloppy is a body with unknown and duplicate fields at every level, and what a strict reader says of it, in order.
type sloppy struct {
	contentType, body string
	problems          []string
	// strict is the answer that fieldValidation=Strict gets.
	strict refusal
	// number is the value of the duplicate field that counts.
	number float64
}

// sloppyBodies are objects with such fields.
func (s subject) sloppyBodies(t *testing.T, name string) map[string]sloppy {
	t.Helper()
	spec, err := json.Marshal(s.spec)
	if err != nil {
		t.Fatal(err)
	}
	shout := strings.ToUpper(s.number)
	inJSON := sloppy{
		contentType: jsonBody,
		body: fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"Name":"x","labels":{"test":"a","test":%q}},`+
			`"spec":{%q:700,%q:701,"replicas":3,%q:4,%s},"extra":{"a":1}}`,
			s.apiVersion, s.kind, name, s.label, s.number, s.number, shout, strings.Trim(string(spec), "{}")+bracesLeft(spec)),
		problems: []string{
			`unknown field "metadata.Name"`,
			`duplicate field "metadata.labels.test"`,
			`duplicate field "spec.` + s.number + `"`,
			`unknown field "spec.replicas"`,
			`unknown field "spec.` + shout + `"`,
			`unknown field "extra"`,
		},
		number: 701,
	}
	inJSON.strict = refusal{400, "BadRequest", s.strictMessage(strings.Join(inJSON.problems, ", "))}

	rest, err := yaml.Marshal(s.spec)
	if err != nil {
		t.Fatal(err)
	}
	inYAML := sloppy{
		contentType: yamlBody,
		body: fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  Name: x\n  labels:\n    test: a\n    test: %s\nspec:\n"+
			"  %s: 700\n  %s: 701\n  replicas: 3\n  %s: 4\n  %sextra: {a: 1}\n",
			s.apiVersion, s.kind, name, s.label, s.number, s.number, shout,
			strings.TrimSuffix(strings.ReplaceAll(string(rest), "\n", "\n  "), "  ")),
		// Duplicates are found while the text is read, unknown fields afterwards, in alphabetical order.
		problems: []string{
			`line 8: key "test" already set in map`,
			`line 11: key "` + s.number + `" already set in map`,
			`unknown field "extra"`,
			`unknown field "metadata.Name"`,
			`unknown field "spec.` + shout + `"`,
			`unknown field "spec.replicas"`,
		},
		number: 701,
	}
	inYAML.strict = refusal{400, "BadRequest", s.strictMessage("yaml: unmarshal errors:\n  " + inYAML.problems[0] + "\n  " +
		strings.Join(inYAML.problems[1:], ", "))}
	return map[string]sloppy{"JSON": inJSON, "YAML": inYAML}
}

// bracesLeft gives back the closing braces that Trim took from the inner objects.
func bracesLeft(object []byte) string {
	trimmed := strings.TrimRight(string(object), "}")
	return strings.Repeat("}", len(object)-len(trimmed)-1)
}

func (s subject) strictMessage(problems string) string {
	return s.kind + ` in version "v1" cannot be handled as a ` + s.kind + `: strict decoding error: ` + problems
}

// TestParamFieldValidation shows the three modes, and the default, for objects in JSON and YAML on every operation
// that takes one.
func TestParamFieldValidation(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		operations := s.writes()
		maps.DeleteFunc(operations, func(_ string, o operation) bool { return o.method == http.MethodPatch })
		forEachOperation(t, operations, func(t *testing.T, o operation) {
			c, name, _ := o.prepare(t, s)
			for format, doc := range s.sloppyBodies(t, name) {
				c.contentType, c.body = doc.contentType, doc.body
				checkFieldValidation(t, s, o, c, format, doc)
			}
		})
	})
}

// checkFieldValidation sends one sloppy body in every mode.
func checkFieldValidation(t *testing.T, s subject, o operation, c call, format string, doc sloppy) {
	t.Helper()
	path := c.path
	for _, mode := range []string{"", "fieldValidation=", "fieldValidation=Warn", "fieldValidation=Ignore", "fieldValidation=Warn&fieldValidation=Strict"} {
		c.path = withQuery(path, mode, "dryRun=All")
		a := mustSend(t, c, o.code())
		want := doc.problems
		if mode == "fieldValidation=Ignore" {
			want = nil
		}
		if diff := cmp.Diff(want, a.warnings()); diff != "" {
			t.Errorf("%s %q: warnings (-want +got):\n%s", format, mode, diff)
		}
		if o.creates {
			if got := a.field("spec." + s.number); got != doc.number {
				t.Errorf("%s %q: spec.%s = %v, want %v", format, mode, s.number, got, doc.number)
			}
			if a.field("spec.replicas") != nil || a.field("extra") != nil {
				t.Errorf("%s %q: unknown fields came back: %s", format, mode, a.raw)
			}
		}
	}
	c.path = withQuery(path, "fieldValidation=Strict", "dryRun=All")
	a := send(t, c)
	if diff := cmp.Diff(doc.strict, a.refusal()); diff != "" {
		t.Errorf("%s Strict (-want +got):\n%s", format, diff)
	}
	if got := a.warnings(); got != nil {
		t.Errorf("%s Strict: got warnings %q", format, got)
	}
}

// TestParamFieldValidationClean shows that no mode finds fault with a proper body.
func TestParamFieldValidationClean(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, s.writes(), func(t *testing.T, o operation) {
			for _, mode := range []string{"Strict", "Warn", "Ignore", ""} {
				c, _, _ := o.prepare(t, s)
				c.path = withQuery(c.path, "fieldValidation="+mode)
				if got := mustSend(t, c, o.code()).warnings(); got != nil {
					t.Errorf("%q: got warnings %q", mode, got)
				}
			}
		})
	})
}

// TestParamFieldValidationInvalid shows that there are no other modes.
func TestParamFieldValidationInvalid(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, s.writes(), func(t *testing.T, o operation) {
			c, _, _ := o.prepare(t, s)
			path := c.path
			for _, mode := range []string{"strict", "true", " Warn"} {
				c.path = withQuery(path, parameter("fieldValidation", mode))
				want := refusal{422, "Invalid", fmt.Sprintf(
					`%s.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: %q: supported values: "", "Ignore", "Strict", "Warn"`, o.options, mode)}
				if diff := cmp.Diff(want, send(t, c).refusal()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	})
}

// sloppyPatches are patches with unknown and duplicate fields.
func (s subject) sloppyPatches(name string) map[string]sloppy {
	merge := fmt.Sprintf(`{"metadata":{"labels":{"a":"1","a":"2"},"Name":"x"},"spec":{%q:700,%q:701,"replicas":3},"extra":1}`, s.number, s.number)
	// Duplicates are found in the patch, unknown fields in the patched object, in alphabetical order.
	problems := []string{
		`duplicate field "metadata.labels.a"`,
		`duplicate field "spec.` + s.number + `"`,
		`unknown field "extra"`,
		`unknown field "metadata.Name"`,
		`unknown field "spec.replicas"`,
	}
	return map[string]sloppy{
		"merge patch":     {contentType: mergePatch, body: merge, problems: problems},
		"strategic patch": {contentType: strategicPatch, body: merge, problems: problems},
		"json patch": {
			contentType: jsonPatch,
			body: fmt.Sprintf(`[{"op":"add","path":"/spec/replicas","value":1,"frob":1},{"op":"add","path":"/spec/%s","value":700,"value":701},`+
				`{"op":"add","path":"/metadata/labels","value":{"a":"1","a":"2"}},{"op":"add","path":"/extra","value":1},{"OP":"x","op":"test","path":"/extra","value":1}]`, s.number),
			problems: []string{
				`json patch unknown field "[0].frob"`,
				`json patch duplicate field "[1].value"`,
				`json patch duplicate field "[2].value.a"`,
				`json patch unknown field "[4].OP"`,
				`unknown field "extra"`,
				// The value of an operation is put into the object as it was written, so this one is found twice.
				`duplicate field "metadata.labels.a"`,
				`unknown field "spec.replicas"`,
			},
		},
		"apply": {
			contentType: applyPatch,
			body:        fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  labels:\n    a: \"1\"\n    a: \"2\"\n    b: \"1\"\n    b: \"2\"\n", s.apiVersion, s.kind, name),
			problems:    []string{`line 7: key "a" already set in map`, `line 9: key "b" already set in map`},
		},
	}
}

// TestParamFieldValidationPatch shows the modes for the four patch types, on the object and its subresources.
func TestParamFieldValidationPatch(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		for _, subresource := range append([]string{""}, s.subresources...) {
			name := s.new(t).text("metadata.name")
			for kind, patch := range s.sloppyPatches(name) {
				t.Run(strings.TrimSpace(subresource+" "+kind), func(t *testing.T) {
					t.Parallel()
					path := withQuery(strings.TrimSuffix(s.path(name, subresource), "/"), "dryRun=All", "fieldManager=m")
					c := call{method: http.MethodPatch, contentType: patch.contentType, body: patch.body}
					for _, mode := range []string{"", "fieldValidation=Warn", "fieldValidation=Ignore"} {
						c.path = withQuery(path, mode)
						a := mustSend(t, c, http.StatusOK)
						want := patch.problems
						if mode == "fieldValidation=Ignore" {
							want = nil
						}
						if diff := cmp.Diff(want, a.warnings()); diff != "" {
							t.Errorf("%q: warnings (-want +got):\n%s", mode, diff)
						}
						if got := a.text("metadata.labels.a"); got != "2" {
							t.Errorf("%q: label a = %q, want the later value", mode, got)
						}
					}
					c.path = withQuery(path, "fieldValidation=Strict")
					checkStrictPatch(t, send(t, c), patch)
				})
			}
		}
	})
}

// checkStrictPatch checks how a patch was refused. Apply is refused as a bad request; other patches are as an invalid
// field "patch", whose value is the patched object in JSON, or for a strategic merge the patch as Go prints it.
func checkStrictPatch(t *testing.T, a answer, patch sloppy) {
	t.Helper()
	if patch.contentType == applyPatch {
		want := refusal{400, "BadRequest", "error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n  " + strings.Join(patch.problems, "\n  ")}
		if diff := cmp.Diff(want, a.refusal()); diff != "" {
			t.Errorf("Strict (-want +got):\n%s", diff)
		}
		return
	}
	if a.code != 422 || a.text("reason") != "Invalid" || a.text("details.kind") != "" || a.text("details.causes.0.field") != "patch" {
		t.Errorf("Strict: got %d %s", a.code, a.raw)
	}
	message := a.message()
	const start = ` "" is invalid: patch: Invalid value: `
	end := ": strict decoding error: " + strings.Join(patch.problems, ", ")
	if !strings.HasPrefix(message, start) || !strings.HasSuffix(message, end) {
		t.Fatalf("Strict: got message %q, want %q…%q", message, start, end)
	}
	value, err := strconv.Unquote(strings.TrimSuffix(strings.TrimPrefix(message, start), end))
	if err != nil {
		t.Fatalf("Strict: the value is not quoted: %v", err)
	}
	if patch.contentType == strategicPatch {
		if !strings.HasPrefix(value, "map[extra:1 metadata:map[Name:x labels:map[a:2]] spec:map[") {
			t.Errorf("Strict: got value %s", value)
		}
		return
	}
	var patched map[string]any
	if err := json.Unmarshal([]byte(value), &patched); err != nil {
		t.Fatalf("Strict: the value is no JSON: %v", err)
	}
	if patched["extra"] != 1.0 || patched["kind"] == nil || patched["spec"].(map[string]any)["replicas"] == nil {
		t.Errorf("Strict: got value %s", value)
	}
}

// TestParamFieldValidationApplyUnknown shows that apply refuses a field that the schema does not have in every mode:
// without a schema nobody could own it.
func TestParamFieldValidationApplyUnknown(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.new(t).text("metadata.name")
		cases := map[string]struct{ body, path string }{
			"at the top":            {`{"extra":1}`, ".extra"},
			"in the spec":           {`{"spec":{"replicas":3}}`, ".spec.replicas"},
			"in another case":       {`{"spec":{"` + strings.ToUpper(s.number) + `":3}}`, ".spec." + strings.ToUpper(s.number)},
			"in the metadata":       {`{"metadata":{"name":"` + name + `","Name":"x"}}`, ".metadata.Name"},
			"in the metadata, null": {`{"metadata":{"name":"` + name + `","bogus":null}}`, ".metadata.bogus"},
		}
		for sentence, tc := range cases {
			for _, mode := range []string{"Strict", "Warn", "Ignore"} {
				body := map[string]any{"apiVersion": s.apiVersion, "kind": s.kind, "metadata": map[string]any{"name": name}}
				if err := json.Unmarshal([]byte(tc.body), &body); err != nil {
					t.Fatal(err)
				}
				a := send(t, call{method: http.MethodPatch, path: withQuery(s.path(name), "fieldManager=m", "fieldValidation="+mode), contentType: applyPatch, body: body})
				want := refusal{500, "", `failed to create typed patch object (/` + name + `; ` + s.apiVersion + `, Kind=` + s.kind + `): ` +
					tc.path + `: field not declared in schema`}
				if diff := cmp.Diff(want, a.refusal()); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", sentence, mode, diff)
				}
			}
		}
	})
}

// TestParamFieldValidationDaemonSet shows the paths of fields deep in a list, in the order of the text.
func TestParamFieldValidationDaemonSet(t *testing.T) {
	t.Parallel()
	s := daemonSetSubject(t)
	body := `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"a","Name":"x"},"spec":{"minReadySeconds":1,"minReadySeconds":2,"minreadyseconds":3,
"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"img:1","bogus":1},
{"name":"d","image":"img:1","env":[{"name":"A"},{"name":"B","name":"C","Value":""}]}]}}}}`
	problems := []string{
		`unknown field "metadata.Name"`,
		`duplicate field "spec.minReadySeconds"`,
		`unknown field "spec.minreadyseconds"`,
		`unknown field "spec.template.spec.containers[0].bogus"`,
		`duplicate field "spec.template.spec.containers[1].env[1].name"`,
		`unknown field "spec.template.spec.containers[1].env[1].Value"`,
	}
	strict := send(t, call{method: http.MethodPost, path: withQuery(s.root, "fieldValidation=Strict"), body: body})
	if diff := cmp.Diff(refusal{400, "BadRequest", s.strictMessage(strings.Join(problems, ", "))}, strict.refusal()); diff != "" {
		t.Errorf("Strict (-want +got):\n%s", diff)
	}
	warn := mustSend(t, call{method: http.MethodPost, path: s.root, body: body}, http.StatusCreated)
	if diff := cmp.Diff(problems, warn.warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if got := warn.field("spec.minReadySeconds"); got != 2.0 {
		t.Errorf("minReadySeconds = %v, want 2", got)
	}
	if got := warn.text("spec.template.spec.containers.1.env.1.name"); got != "C" {
		t.Errorf("got name %q, want the later value", got)
	}
}

// TestParamFieldValidationManyWarnings shows where warnings end: the reader names 100 problems, and headers have room
// for 4096 characters.
func TestParamFieldValidationManyWarnings(t *testing.T) {
	t.Parallel()
	s := csrSubject(t)
	var want []string
	object := s.object(unique("o"))
	spec := object["spec"].(map[string]any)
	for i := range 101 {
		name := fmt.Sprintf("f%03d", i)
		spec[name] = i
		if len(want) < 100 {
			want = append(want, `unknown field "spec.`+name+`"`)
		}
	}
	a := mustSend(t, call{method: http.MethodPost, path: s.root, body: object}, http.StatusCreated)
	if diff := cmp.Diff(want, a.warnings()); diff != "" {
		t.Errorf("101 problems (-want +got):\n%s", diff)
	}
	strict := send(t, call{method: http.MethodPost, path: withQuery(s.root, "fieldValidation=Strict"), body: object})
	if diff := cmp.Diff(refusal{400, "BadRequest", s.strictMessage(strings.Join(want, ", "))}, strict.refusal()); diff != "" {
		t.Errorf("101 problems, Strict (-want +got):\n%s", diff)
	}

	for sentence, tc := range map[string]struct{ fields, padding, warnings, length int }{
		// 4096 characters are full: nothing is cut.
		"32 of 128 characters": {fields: 32, padding: 128 - 25, warnings: 32, length: 128},
		// One that goes over the limit is the last.
		"40 of 128 characters": {fields: 40, padding: 128 - 25, warnings: 33, length: 128},
		// Above the limit all are cut to 256 characters, which makes room for 16.
		"30 of 425 characters": {fields: 30, padding: 400, warnings: 16, length: 256},
		"5 of 825 characters":  {fields: 5, padding: 800, warnings: 5, length: 256},
		"4 of 825 characters":  {fields: 4, padding: 800, warnings: 4, length: 825},
	} {
		object := s.object(unique("o"))
		spec := object["spec"].(map[string]any)
		for i := range tc.fields {
			spec[fmt.Sprintf("f%03d%s", i, strings.Repeat("x", tc.padding))] = i
		}
		a := mustSend(t, call{method: http.MethodPost, path: s.root, body: object}, http.StatusCreated)
		warnings := a.warnings()
		if len(warnings) != tc.warnings || slices.ContainsFunc(warnings, func(w string) bool { return len(w) != tc.length }) {
			t.Errorf("%s: got %d warnings %q, want %d of %d characters", sentence, len(warnings), warnings, tc.warnings, tc.length)
		}
	}
}
