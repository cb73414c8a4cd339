// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withoutValue leaves the patched object out of a message about an invalid patch, and the name of the server's scheme.
func withoutValue(t *testing.T, r refusal) refusal {
	t.Helper()
	const start = ` "" is invalid: patch: Invalid value: `
	if rest, ok := strings.CutPrefix(r.Message, start); ok {
		value, err := strconv.QuotedPrefix(rest)
		if err != nil {
			t.Errorf("no quoted value in %s", r.Message)
		}
		r.Message = start + "…" + strings.TrimPrefix(rest, value)
	}
	if before, _, ok := strings.Cut(r.Message, ` in scheme "`); ok {
		r.Message = before + " in scheme "
	}
	return r
}

// patchCase is a patch and what becomes of it; ok is code 200.
type patchCase struct {
	body string
	want refusal
}

var patched = refusal{Code: http.StatusOK}

// checkPatches sends patches to an object and to its subresources, as dry runs.
func checkPatches(t *testing.T, s subject, contentType, name string, cases map[string]patchCase) {
	t.Helper()
	for _, subresource := range append([]string{""}, s.subresources...) {
		path := withQuery(strings.TrimSuffix(s.path(name, subresource), "/"), "dryRun=All")
		for sentence, tc := range cases {
			a := send(t, call{method: http.MethodPatch, contentType: contentType, path: path, body: tc.body})
			got := refusal{Code: a.code}
			if a.code != http.StatusOK {
				got = withoutValue(t, a.refusal())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s%s, %s (-want +got):\n%s", contentType, strings.TrimSuffix("/"+subresource, "/"), sentence, diff)
			}
		}
	}
}

func badPatch(message string) refusal { return refusal{400, "BadRequest", message} }

func invalidPatch(message string) refusal {
	return refusal{422, "Invalid", ` "" is invalid: patch: Invalid value: …: ` + message}
}

// sharedPatchRefusals are what every patch meets that changes what it must not.
func (s subject) sharedPatchRefusals(name string) (undeterminable, renamed, immutable, conflict, otherNamespace refusal) {
	title := s.kind + "." + s.group + ` "` + name + `"`
	// A cluster-scoped object has no namespace, whatever is said.
	otherNamespace = patched
	if s.namespace != "" {
		otherNamespace = badPatch(`the namespace of the provided object does not match the namespace sent on the request`)
	}
	return badPatch(`the name of the object (` + name + ` based on URL) was undeterminable: name must be provided`),
		badPatch(`the name of the object (zz) does not match the name on the URL (` + name + `)`),
		refusal{422, "Invalid", title + ` is invalid: metadata.uid: Invalid value: "x": field is immutable`},
		refusal{409, "Conflict", `Operation cannot be fulfilled on ` + s.qualified() + ` "` + name + `": the object has been modified; please apply your changes to the latest version and try again`},
		otherNamespace
}

// TestDefinitionJSONPatch shows what JSON patches (RFC 6902) are refused for.
func TestDefinitionJSONPatch(t *testing.T) {
	t.Parallel()
	const (
		cannot   = `json: cannot unmarshal `
		decoding = `error decoding patch: ` + cannot
	)
	failed := refusal{422, "Invalid", "the server rejected our request due to an error in our request"}
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.new(t).text("metadata.name")
		undeterminable, renamed, immutable, conflict, otherNamespace := s.sharedPatchRefusals(name)
		number := "/spec/" + s.number
		operations := func(n int) string {
			return "[" + strings.TrimSuffix(strings.Repeat(`{"op":"test","path":"/kind","value":"`+s.kind+`"},`, n), ",") + "]"
		}
		checkPatches(t, s, jsonPatch, name, map[string]patchCase{
			"no operations":              {`[]`, patched},
			"null":                       {`null`, patched},
			"a test that holds":          {`[{"op":"test","path":"/metadata/name","value":"` + name + `"}]`, patched},
			"a test that fails":          {`[{"op":"test","path":"/metadata/name","value":"other"}]`, failed},
			"a test of nothing for null": {`[{"op":"test","path":"/spec/nope","value":null}]`, patched},
			"a removal of nothing":       {`[{"op":"remove","path":"/spec/nope"}]`, failed},
			"a path without a slash":     {`[{"op":"add","path":"invalid","value":1}]`, failed},
			"an unknown operation":       {`[{"op":"frob","path":"/x"}]`, failed},
			"no path":                    {`[{"op":"add"}]`, failed},
			"a move of nothing":          {`[{"op":"move","from":"/spec/nope","path":"/metadata/labels/x"}]`, failed},
			"a move":                     {`[{"op":"move","from":"/metadata/labels/test","path":"/metadata/labels/x"}]`, patched},
			"a copy":                     {`[{"op":"copy","from":"/metadata/labels/test","path":"/metadata/labels/x"}]`, patched},
			"an escaped path":            {`[{"op":"add","path":"/metadata/labels/a.io~1b","value":"x"}]`, patched},
			"no JSON":                    {`feafeczea`, badPatch("invalid JSON patch")},
			"nothing":                    {``, badPatch("invalid JSON patch")},
			"space":                      {` `, badPatch("invalid JSON patch")},
			"an object":                  {`{"op":"add"}`, badPatch(decoding + `object into Go value of type []handlers.jsonPatchOp`)},
			"a string":                   {`"x"`, badPatch(decoding + `string into Go value of type []handlers.jsonPatchOp`)},
			"a number as an operation":   {`[1]`, badPatch(decoding + `number into Go value of type handlers.jsonPatchOp`)},
			"a number that is a word":    {`[{"op":"add","path":"` + number + `","value":"x"}]`, invalidPatch(cannot + `string into Go struct field ` + s.kind + `Spec.spec.` + s.number + ` of type int32`)},
			"a label that is a number":   {`[{"op":"add","path":"/metadata/labels","value":{"a":1}}]`, invalidPatch(cannot + `number into Go struct field ObjectMeta.metadata.labels of type string`)},
			"labels that are a word":     {`[{"op":"copy","from":"/metadata/name","path":"/metadata/labels"}]`, invalidPatch(cannot + `string into Go struct field ObjectMeta.metadata.labels of type map[string]string`)},
			"another kind":               {`[{"op":"replace","path":"/kind","value":"` + s.kind + `List"}]`, invalidPatch(`converting (v1.` + s.kind + `List) to (` + s.goType("")[1:] + `): unknown conversion`)},
			"an unknown kind":            {`[{"op":"replace","path":"/kind","value":"Frob"}]`, invalidPatch(`no kind "Frob" is registered for version "` + s.apiVersion + `" in scheme `)},
			"an unknown version":         {`[{"op":"replace","path":"/apiVersion","value":"` + s.group + `/v9"}]`, invalidPatch(`no kind "` + s.kind + `" is registered for version "` + s.group + `/v9" in scheme `)},
			"no kind":                    {`[{"op":"remove","path":"/kind"}]`, patched},
			"all of it":                  {`[{"op":"replace","path":"","value":{}}]`, undeterminable},
			"no metadata":                {`[{"op":"remove","path":"/metadata"}]`, undeterminable},
			"no name":                    {`[{"op":"remove","path":"/metadata/name"}]`, undeterminable},
			"another name":               {`[{"op":"replace","path":"/metadata/name","value":"zz"}]`, renamed},
			"another uid":                {`[{"op":"replace","path":"/metadata/uid","value":"x"}]`, immutable},
			"no uid":                     {`[{"op":"remove","path":"/metadata/uid"}]`, patched},
			"an old version":             {`[{"op":"replace","path":"/metadata/resourceVersion","value":"1"}]`, conflict},
			"no version":                 {`[{"op":"remove","path":"/metadata/resourceVersion"}]`, patched},
			"a version that is a word":   {`[{"op":"replace","path":"/metadata/resourceVersion","value":"x"}]`, refusal{500, "", `strconv.ParseUint: parsing "x": invalid syntax`}},
			"another namespace":          {`[{"op":"add","path":"/metadata/namespace","value":"zz"}]`, otherNamespace},
			"as many operations as can":  {operations(10000), patched},
			"one more":                   {operations(10001), refusal{413, "RequestEntityTooLarge", `Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001`}},
		})
		missing := refusal{404, "NotFound", s.qualified() + ` "missing" not found`}
		for _, contentType := range []string{jsonPatch, mergePatch, strategicPatch} {
			body := map[string]string{jsonPatch: "[]"}[contentType]
			got := send(t, call{method: http.MethodPatch, contentType: contentType, path: s.path("missing"), body: orElse(body, "{}")}).refusal()
			if diff := cmp.Diff(missing, got); diff != "" {
				t.Errorf("%s of nothing (-want +got):\n%s", contentType, diff)
			}
		}
	})
}

// TestDefinitionMergePatch shows what merge patches (RFC 7386) are refused for.
func TestDefinitionMergePatch(t *testing.T) {
	t.Parallel()
	const cannot = `json: cannot unmarshal `
	const decoding = `error decoding patch: ` + cannot
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.new(t).text("metadata.name")
		undeterminable, renamed, immutable, conflict, otherNamespace := s.sharedPatchRefusals(name)
		checkPatches(t, s, mergePatch, name, map[string]patchCase{
			"nothing to do":            {`{}`, patched},
			"no JSON":                  {`x`, badPatch("invalid JSON patch")},
			"nothing":                  {``, badPatch("invalid JSON patch")},
			"null":                     {`null`, badPatch("Invalid JSON Patch")},
			"an array":                 {`[]`, badPatch(decoding + `array into Go value of type map[string]interface {}`)},
			"a string":                 {`"x"`, badPatch(decoding + `string into Go value of type map[string]interface {}`)},
			"a number":                 {`1`, badPatch(decoding + `number into Go value of type map[string]interface {}`)},
			"a number that is a word":  {`{"spec":{"` + s.number + `":"x"}}`, invalidPatch(cannot + `string into Go struct field ` + s.kind + `Spec.spec.` + s.number + ` of type int32`)},
			"a label that is a number": {`{"metadata":{"labels":{"a":1}}}`, invalidPatch(cannot + `number into Go struct field ObjectMeta.metadata.labels of type string`)},
			"a spec that is a word":    {`{"spec":"x"}`, invalidPatch(cannot + `string into Go struct field ` + s.kind + `.spec of type v1.` + s.kind + `Spec`)},
			"an unknown kind":          {`{"kind":"Frob"}`, invalidPatch(`no kind "Frob" is registered for version "` + s.apiVersion + `" in scheme `)},
			"an unknown version":       {`{"apiVersion":"` + s.group + `/v9"}`, invalidPatch(`no kind "` + s.kind + `" is registered for version "` + s.group + `/v9" in scheme `)},
			"no metadata":              {`{"metadata":null}`, undeterminable},
			"no name":                  {`{"metadata":{"name":null}}`, undeterminable},
			"another name":             {`{"metadata":{"name":"zz"}}`, renamed},
			"another uid":              {`{"metadata":{"uid":"x"}}`, immutable},
			"no uid":                   {`{"metadata":{"uid":null}}`, patched},
			"an old version":           {`{"metadata":{"resourceVersion":"1"}}`, conflict},
			"no version":               {`{"metadata":{"resourceVersion":null}}`, patched},
			"another namespace":        {`{"metadata":{"namespace":"zz"}}`, otherNamespace},
			"a directive is a field":   {`{"metadata":{"$patch":"delete"}}`, patched},
		})
	})
}

// TestDefinitionStrategicMergePatch shows what strategic merge patches are refused for.
func TestDefinitionStrategicMergePatch(t *testing.T) {
	t.Parallel()
	const cannot = `json: cannot unmarshal `
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.new(t).text("metadata.name")
		undeterminable, renamed, immutable, conflict, otherNamespace := s.sharedPatchRefusals(name)
		if s.kind == "DaemonSet" {
			containers := func(elements string) string { return `{"spec":{"template":{"spec":{` + elements + `}}}}` }
			checkPatches(t, s, strategicPatch, name, map[string]patchCase{
				"an element without its key": {containers(`"containers":[{"image":"q"}]`), refusal{500, "", `map: map[image:q] does not contain declared merge key: name`}},
				"an order of other elements": {containers(`"$setElementOrder/containers":[{"name":"zz"}],"containers":[{"name":"c"}]`),
					refusal{500, "", "The order in patch list:\n[map[name:c]]\n doesn't match $setElementOrder list:\n[map[name:zz]]\n"}},
				"keys to keep": {`{"spec":{"updateStrategy":{"$retainKeys":["type"],"type":"OnDelete"}}}`, patched},
			})
		}
		checkPatches(t, s, strategicPatch, name, map[string]patchCase{
			"nothing to do":                    {`{}`, patched},
			"null":                             {`null`, patched},
			"no JSON":                          {`x`, badPatch("invalid JSON patch")},
			"nothing":                          {``, badPatch("invalid JSON patch")},
			"an array":                         {`[]`, badPatch(cannot + `array into Go value of type map[string]interface {}`)},
			"a string":                         {`"x"`, badPatch(cannot + `string into Go value of type map[string]interface {}`)},
			"a number":                         {`1`, badPatch(cannot + `number into Go value of type map[string]interface {}`)},
			"a number that is a word":          {`{"spec":{"` + s.number + `":"x"}}`, invalidPatch(`unrecognized type: int32`)},
			"a label that is a number":         {`{"metadata":{"labels":{"a":1}}}`, invalidPatch(`cannot convert int64 to string`)},
			"a spec that is a word":            {`{"spec":"x"}`, invalidPatch(`cannot restore struct from: string`)},
			"another kind is not looked at":    {`{"kind":"Frob"}`, patched},
			"another version is not looked at": {`{"apiVersion":"v9"}`, patched},
			"no metadata":                      {`{"metadata":null}`, undeterminable},
			"no name":                          {`{"metadata":{"name":null}}`, undeterminable},
			"another name":                     {`{"metadata":{"name":"zz"}}`, renamed},
			"another uid":                      {`{"metadata":{"uid":"x"}}`, immutable},
			"an old version":                   {`{"metadata":{"resourceVersion":"1"}}`, conflict},
			"another namespace":                {`{"metadata":{"namespace":"zz"}}`, otherNamespace},
			"an unknown directive":             {`{"metadata":{"$patch":"frob"}}`, refusal{500, "", `unknown patch type: frob in map: map[$patch:frob]`}},
			"a directive to delete all":        {`{"$patch":"delete"}`, undeterminable},
			"keys to keep that are not there":  {`{"metadata":{"$retainKeys":["x"],"labels":{"a":"b"}}}`, badPatch("invalid patch format of retainKeys")},
			"an order of other elements": {`{"metadata":{"$setElementOrder/ownerReferences":[{"uid":"a"}],"ownerReferences":[{"uid":"b"}]}}`,
				refusal{500, "", "The order in patch list:\n[map[uid:b]]\n doesn't match $setElementOrder list:\n[map[uid:a]]\n"}},
			"a deletion from a list": {`{"metadata":{"$deleteFromPrimitiveList/finalizers":["x"]}}`, patched},
		})
	})
}

// TestDefinitionApplyErrors shows what an apply is refused for before any field is looked at.
func TestDefinitionApplyErrors(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		existing := s.new(t).text("metadata.name")
		_, _, _, _, otherNamespace := s.sharedPatchRefusals(existing)
		body := func(change func(object, metadata map[string]any)) string {
			metadata := map[string]any{"name": existing}
			object := map[string]any{"apiVersion": s.apiVersion, "kind": s.kind, "metadata": metadata}
			change(object, metadata)
			return asYAML(t, object)
		}
		set := func(key string, value any) string {
			return body(func(object, metadata map[string]any) {
				if key == "apiVersion" || key == "kind" {
					object[key] = value
				} else {
					metadata[key] = value
				}
			})
		}
		cases := map[string]patchCase{
			"nothing to own":           {set("labels", map[string]any{}), patched},
			"managedFields":            {set("managedFields", []any{map[string]any{}}), badPatch("metadata.managedFields must be nil")},
			"empty managedFields":      {set("managedFields", []any{}), badPatch("metadata.managedFields must be nil")},
			"another name":             {set("name", "zz"), badPatch(`the name of the object (zz) does not match the name on the URL (` + existing + `)`)},
			"another namespace":        {set("namespace", "zz"), otherNamespace},
			"another uid":              {set("uid", "123"), refusal{422, "Invalid", s.kind + "." + s.group + ` "` + existing + `" is invalid: metadata.uid: Invalid value: "123": field is immutable`}},
			"an old version":           {set("resourceVersion", "1"), refusal{409, "Conflict", `Operation cannot be fulfilled on ` + s.qualified() + ` "` + existing + `": the object has been modified; please apply your changes to the latest version and try again`}},
			"an array":                 {`[]`, badPatch(`error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}`)},
			"a word":                   {`x`, badPatch(`error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go value of type map[string]interface {}`)},
			"no YAML":                  {"a: b: c", badPatch(`error encoding patch: yaml: mapping values are not allowed in this context`)},
			"a tab":                    {"a:\n\tb: c", badPatch(`error encoding patch: yaml: line 2: found character that cannot start any token`)},
			"no UTF-8":                 {"a: \xff", badPatch(`error encoding patch: yaml: invalid leading UTF-8 octet`)},
			"JSON":                     {`{"apiVersion":"` + s.apiVersion + `","kind":"` + s.kind + `","metadata":{"name":"` + existing + `"}}`, patched},
			"the first of two objects": {set("labels", map[string]any{"a": "b"}) + "---\nkind: Frob\n", patched},
			"comments":                 {"# x\n" + set("labels", map[string]any{}), patched},
		}
		for sentence, tc := range cases {
			for _, subresource := range append([]string{""}, s.subresources...) {
				a := send(t, call{method: http.MethodPatch, contentType: applyPatch, body: tc.body,
					path: withQuery(strings.TrimSuffix(s.path(existing, subresource), "/"), "fieldManager=m", "dryRun=All")})
				got := refusal{Code: a.code}
				if a.code != http.StatusOK {
					got = a.refusal()
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s at %q (-want +got):\n%s", sentence, subresource, diff)
				}
			}
		}
		s.checkApplyOfNothing(t)
	})
}

// checkApplyOfNothing applies to objects that don't exist: the object itself is created, subresources are not.
func (s subject) checkApplyOfNothing(t *testing.T) {
	t.Helper()
	name := unique("o")
	object := s.object(name)
	for _, subresource := range s.subresources {
		a := send(t, call{method: http.MethodPatch, contentType: applyPatch, body: object, path: withQuery(s.path(name, subresource), "fieldManager=m")})
		if diff := cmp.Diff(refusal{404, "NotFound", s.qualified() + ` "` + name + `" not found`}, a.refusal()); diff != "" {
			t.Errorf("%s of nothing (-want +got):\n%s", subresource, diff)
		}
	}
	metadata := object["metadata"].(map[string]any)
	metadata["uid"] = "123"
	a := send(t, call{method: http.MethodPatch, contentType: applyPatch, body: object, path: withQuery(s.path(name), "fieldManager=m")})
	want := refusal{409, "Conflict", `Operation cannot be fulfilled on ` + s.qualified() + ` "` + name + `": uid mismatch: the provided object specified uid 123, and no existing object was found`}
	if diff := cmp.Diff(want, a.refusal()); diff != "" {
		t.Errorf("a uid of nothing (-want +got):\n%s", diff)
	}
	delete(metadata, "uid")
	// A version that is expected of nothing is not looked at.
	metadata["resourceVersion"] = "1"
	mustSend(t, call{method: http.MethodPatch, contentType: applyPatch, body: object, path: withQuery(s.path(name), "fieldManager=m")}, http.StatusCreated)
	delete(metadata, "resourceVersion")
	mustSend(t, call{method: http.MethodPatch, contentType: applyPatch, body: object, path: withQuery(s.path(name), "fieldManager=m")}, http.StatusOK)
}
