// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/internal/gen"
)

// writing is one way to change an object. Each takes the same change, a merge patch, and sends it in its own form.
type writing struct {
	about string
	call  func(t *testing.T, name, path string, change map[string]any) call
}

// writings are all ways to change an object: replace and the four types of patch.
func writings() []writing {
	patch := func(contentType, query string, body func(name string, change map[string]any) any) func(*testing.T, string, string, map[string]any) call {
		return func(_ *testing.T, name, path string, change map[string]any) call {
			return call{method: http.MethodPatch, path: path + query, contentType: contentType, body: body(name, change)}
		}
	}
	asIs := func(_ string, change map[string]any) any { return change }
	return []writing{
		{"replace", func(t *testing.T, name, path string, change map[string]any) call {
			t.Helper()
			return call{method: http.MethodPut, path: path, body: merged(getCSR(t, name).object, change)}
		}},
		{"merge patch", patch(mergePatch, "", asIs)},
		{"strategic merge patch", patch(strategicPatch, "", asIs)},
		{"JSON patch", patch(jsonPatch, "", func(_ string, change map[string]any) any { return operations("", change) })},
		{"server-side apply", patch(applyPatch, "?fieldManager=writer&force=true", func(name string, change map[string]any) any { return applied(name, change) })},
	}
}

// operations are JSON patch operations that add what change has, two levels deep: a member of metadata, spec or status at
// a time, the parents of which exist in every object.
func operations(prefix string, change map[string]any) []any {
	out := []any{}
	for key, value := range change {
		inner, isObject := value.(map[string]any)
		if prefix == "" && isObject {
			out = append(out, operations("/"+key, inner)...)
			continue
		}
		out = append(out, map[string]any{"op": "add", "path": prefix + "/" + key, "value": value})
	}
	return out
}

// endpoints are the URLs under which an object can be changed: the part after its name.
var endpoints = map[string][]string{"the object": nil, "status": {"status"}, "approval": {"approval"}}

func TestCSRSpecIsImmutable(t *testing.T) {
	t.Parallel()
	otherSpec := merged(forgedIdentity(), map[string]any{"spec": map[string]any{
		"request": base64.StdEncoding.EncodeToString([]byte("no request at all")), "signerName": "kubernetes.io/legacy-unknown",
		"usages": []any{"frob", "frob"}, "expirationSeconds": 1,
	}})
	for endpoint, subresource := range endpoints {
		for _, w := range writings() {
			t.Run(w.about+" of "+endpoint, func(t *testing.T) {
				t.Parallel()
				name, before := newCSR(t, gen.WithExpirationSeconds(3600))
				a := mustSend(t, w.call(t, name, csrPath(name, subresource...), merged(otherSpec, withLabel("written", "yes"))), http.StatusOK)
				want := clone(before.object)
				want["metadata"].(map[string]any)["labels"] = map[string]any{"written": "yes"}
				for _, object := range []map[string]any{want, a.object} {
					delete(object["metadata"].(map[string]any), "managedFields")
					delete(object["metadata"].(map[string]any), "resourceVersion")
				}
				if diff := cmp.Diff(want, a.object); diff != "" {
					t.Errorf("object (-want +got):\n%s", diff)
				}
			})
		}
	}

	t.Run("a JSON patch that removes spec", func(t *testing.T) {
		t.Parallel()
		name, before := newCSR(t)
		mustSend(t, call{
			method: http.MethodPatch, path: csrPath(name), contentType: jsonPatch, body: `[{"op":"remove","path":"/spec"}]`,
		}, http.StatusOK)
		checkUnchanged(t, name, before)
	})
	t.Run("a replacement without spec and status", func(t *testing.T) {
		t.Parallel()
		name, _ := newCSR(t)
		approve(t, name)
		before := issue(t, name)
		mustSend(t, call{method: http.MethodPut, path: csrPath(name), body: map[string]any{
			"metadata": map[string]any{"name": name},
		}}, http.StatusOK)
		after := getCSR(t, name)
		for _, path := range []string{"spec", "status"} {
			checkField(t, after, path, before.field(path))
		}
	})
}

// The URL of the object changes nothing in status, /approval not the certificate, and /status and /approval each the
// rest.
func TestCSRStatusByEndpoint(t *testing.T) {
	t.Parallel()
	certificate := base64.StdEncoding.EncodeToString(gen.RobotCertificate())
	other := base64.StdEncoding.EncodeToString(gen.RobotAuthority())
	for _, w := range writings() {
		write := func(t *testing.T, name string, change map[string]any, subresource ...string) answer {
			t.Helper()
			return send(t, w.call(t, name, csrPath(name, subresource...), change))
		}
		t.Run(w.about+" of the object: status stays", func(t *testing.T) {
			t.Parallel()
			name, before := newCSR(t)
			a := write(t, name, map[string]any{"status": map[string]any{"certificate": certificate, "conditions": []any{condition("Approved"), condition("Failed")}}})
			if a.code != http.StatusOK {
				t.Fatalf("got %d: %s", a.code, a.raw)
			}
			checkField(t, a, "status", map[string]any{})
			checkUnchanged(t, name, before)

			writeConditions(t, name, condition("Approved", "reason", "ok"))
			before = issue(t, name)
			a = write(t, name, map[string]any{"status": map[string]any{"certificate": other, "conditions": []any{condition("Denied")}}})
			if a.code != http.StatusOK {
				t.Fatalf("got %d: %s", a.code, a.raw)
			}
			checkField(t, a, "status", before.field("status"))
		})
		t.Run(w.about+" of approval: approved, certificate stays", func(t *testing.T) {
			t.Parallel()
			name, _ := newCSR(t)
			since := time.Now()
			a := write(t, name, map[string]any{"status": map[string]any{
				"certificate": certificate, "conditions": []any{condition("Approved", "reason", "Policy", "message", "said so")},
			}}, "approval")
			if a.code != http.StatusOK {
				t.Fatalf("got %d: %s", a.code, a.raw)
			}
			checkRecent(t, a, "status.conditions.0.lastUpdateTime", since)
			checkField(t, a, "status.conditions.0.lastTransitionTime", a.field("status.conditions.0.lastUpdateTime"))
			at := a.field("status.conditions.0.lastUpdateTime")
			checkField(t, getCSR(t, name), "status", map[string]any{"conditions": []any{map[string]any{
				"type": "Approved", "status": "True", "reason": "Policy", "message": "said so", "lastUpdateTime": at, "lastTransitionTime": at,
			}}})
		})
		t.Run(w.about+" of status: issued and failed", func(t *testing.T) {
			t.Parallel()
			name, _ := newCSR(t)
			a := write(t, name, map[string]any{"status": map[string]any{"certificate": certificate, "conditions": []any{condition("Failed")}}}, "status")
			if a.code != http.StatusOK {
				t.Fatalf("got %d: %s", a.code, a.raw)
			}
			checkField(t, getCSR(t, name), "status.certificate", certificate)
			if diff := cmp.Diff([]string{"Failed=True"}, conditionsOf(a)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
		t.Run(w.about+" of status: approval is refused", func(t *testing.T) {
			t.Parallel()
			name, before := newCSR(t)
			for _, kind := range []string{"Approved", "Denied"} {
				a := write(t, name, map[string]any{"status": map[string]any{"conditions": []any{condition(kind)}}}, "status")
				checkInvalid(t, a, name, fmt.Sprintf("status.conditions: Forbidden: updates may not add a condition of type %q", kind))
			}
			checkUnchanged(t, name, before)
		})
	}
}

func TestCSRReplacePreconditions(t *testing.T) {
	t.Parallel()
	set := func(key string, value any) func(object map[string]any) {
		return func(object map[string]any) { object["metadata"].(map[string]any)[key] = value }
	}
	unset := func(keys ...string) func(object map[string]any) {
		return func(object map[string]any) {
			for _, key := range keys {
				delete(object["metadata"].(map[string]any), key)
			}
		}
	}
	root := func(key string, value any) func(object map[string]any) {
		return func(object map[string]any) { object[key] = value }
	}
	const otherUID = "11111111-1111-1111-1111-111111111111"
	tests := map[string]struct {
		change func(object map[string]any)
		// want is the refusal; the zero value means that the object is replaced. $UID is its uid.
		want refusal
	}{
		"the resource version that is stored": {change: func(map[string]any) {}},
		"no resource version":                 {change: unset("resourceVersion")},
		"resource version 0":                  {change: set("resourceVersion", "0")},
		"an old resource version":             {change: set("resourceVersion", "1"), want: csrModified},
		"a resource version that is none": {
			change: set("resourceVersion", "abc"),
			want:   refusal{Code: http.StatusInternalServerError, Message: `strconv.ParseUint: parsing "abc": invalid syntax`},
		},
		"another uid": {
			change: set("uid", otherUID),
			want: refusal{
				Code: http.StatusConflict, Reason: "Conflict",
				Message: `Operation cannot be fulfilled on certificatesigningrequests.certificates.k8s.io "$NAME": StorageError: invalid object, Code: 4, ` +
					"Key: /registry/certificatesigningrequests/$NAME, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: " +
					"UID in precondition: " + otherUID + ", UID in object meta: $UID",
			},
		},
		"no uid and no creation time": {change: unset("uid", "creationTimestamp")},
		"another creation time":       {change: set("creationTimestamp", "2001-02-03T04:05:06Z")},
		"another name": {
			change: set("name", "other"), want: badRequest("the name of the object (other) does not match the name on the URL ($NAME)"),
		},
		"no name": {
			change: unset("name"), want: badRequest("the name of the object ($NAME based on URL) was undeterminable: name must be provided"),
		},
		"a namespace":  {change: set("namespace", "t")},
		"a generation": {change: set("generation", 7)},
		"a deletion time": {
			change: set("deletionTimestamp", "2001-02-03T04:05:06Z"),
			want: refusal{
				Code: http.StatusUnprocessableEntity, Reason: "Invalid",
				Message: `CertificateSigningRequest.certificates.k8s.io "$NAME" is invalid: ` +
					`metadata.deletionTimestamp: Invalid value: "2001-02-03T04:05:06Z": field is immutable`,
			},
		},
		"another kind": {
			change: root("kind", "Deployment"),
			want:   badRequest(`Deployment in version "v1" cannot be handled as a CertificateSigningRequest: no kind "Deployment" is registered for version "certificates.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"`),
		},
		"another version": {
			change: root("apiVersion", "certificates.k8s.io/v1beta1"),
			want:   badRequest("the API version in the data (certificates.k8s.io/v1beta1) does not match the expected API version (certificates.k8s.io/v1)"),
		},
		"no kind and no apiVersion": {change: func(object map[string]any) { delete(object, "kind"); delete(object, "apiVersion") }},
	}
	for about, test := range tests {
		for endpoint, subresource := range endpoints {
			t.Run(about+", "+endpoint, func(t *testing.T) {
				t.Parallel()
				name, before := newCSR(t)
				object := merged(before.object, withLabel("written", "yes"))
				test.change(object)
				a := send(t, call{method: http.MethodPut, path: csrPath(name, subresource...), body: object})
				if test.want != (refusal{}) {
					want := test.want
					want.Message = strings.ReplaceAll(want.Message, "$UID", before.text("metadata.uid"))
					checkRefused(t, a, name, want)
					checkUnchanged(t, name, before)
					return
				}
				checkReplaced(t, a, before)
			})
		}
	}
	for endpoint, subresource := range endpoints {
		t.Run("an object that doesn't exist, "+endpoint, func(t *testing.T) {
			t.Parallel()
			name := unique("csr")
			checkRefused(t, send(t, call{method: http.MethodPut, path: csrPath(name, subresource...), body: csrBody(t, name)}), name, csrNotFound)
			checkGone(t, name)
		})
		t.Run("no change, "+endpoint, func(t *testing.T) {
			t.Parallel()
			name, before := newCSR(t)
			mustSend(t, call{method: http.MethodPut, path: csrPath(name, subresource...), body: before.object}, http.StatusOK)
			checkUnchanged(t, name, before)
		})
	}
}

// checkReplaced fails the test unless a is before with the label written=yes and a newer resource version.
func checkReplaced(t *testing.T, a, before answer) {
	t.Helper()
	if a.code != http.StatusOK || a.text("metadata.resourceVersion") == before.text("metadata.resourceVersion") {
		t.Fatalf("got %d and resource version %s: %s", a.code, a.text("metadata.resourceVersion"), a.raw)
	}
	want, got := merged(before.object, withLabel("written", "yes")), clone(a.object)
	for _, object := range []map[string]any{want, got} {
		delete(object["metadata"].(map[string]any), "managedFields")
		delete(object["metadata"].(map[string]any), "resourceVersion")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
}

func TestCSRPatchBodies(t *testing.T) {
	t.Parallel()
	const (
		rejected = "the server rejected our request due to an error in our request"
		noName   = "the name of the object ($NAME based on URL) was undeterminable: name must be provided"
		wrong    = "the name of the object (other) does not match the name on the URL ($NAME)"
		head     = `"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest"`
		untyped  = "failed to create typed patch object (/$NAME; certificates.k8s.io/v1, Kind=CertificateSigningRequest): "
	)
	invalid := func(message string) refusal {
		return refusal{Code: http.StatusUnprocessableEntity, Reason: "Invalid", Message: message}
	}
	internal := func(message string) refusal { return refusal{Code: http.StatusInternalServerError, Message: message} }
	otherUID := invalid(`CertificateSigningRequest.certificates.k8s.io "$NAME" is invalid: metadata.uid: Invalid value: "1": field is immutable`)
	tests := map[string]struct {
		contentType, body string
		// want is the refusal; the zero value means that the patch is taken. None of these changes anything.
		want refusal
	}{
		"JSON patch: a test that holds":       {jsonPatch, `[{"op":"test","path":"/spec/signerName","value":"example.com/robot"}]`, refusal{}},
		"JSON patch: a test that fails":       {jsonPatch, `[{"op":"test","path":"/spec/signerName","value":"example.com/x"}]`, invalid(rejected)},
		"JSON patch: remove what isn't there": {jsonPatch, `[{"op":"remove","path":"/status/conditions"}]`, invalid(rejected)},
		"JSON patch: append to what isn't":    {jsonPatch, `[{"op":"add","path":"/status/conditions/-","value":{}}]`, invalid(rejected)},
		"JSON patch: not a list": {
			jsonPatch, `{"op":"add"}`, badRequest("error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
		},
		"JSON patch: remove the name": {jsonPatch, `[{"op":"remove","path":"/metadata/name"}]`, badRequest(noName)},
		"JSON patch: another uid":     {jsonPatch, `[{"op":"replace","path":"/metadata/uid","value":"1"}]`, otherUID},
		"merge patch: nothing":        {mergePatch, `{}`, refusal{}},
		"merge patch: a list": {
			mergePatch, `[]`, badRequest("error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"),
		},
		"merge patch: an old version":         {mergePatch, `{"metadata":{"resourceVersion":"1","labels":{"a":"b"}}}`, csrModified},
		"merge patch: another uid":            {mergePatch, `{"metadata":{"uid":"1"}}`, otherUID},
		"merge patch: another name":           {mergePatch, `{"metadata":{"name":"other"}}`, badRequest(wrong)},
		"merge patch: no name":                {mergePatch, `{"metadata":{"name":null}}`, badRequest(noName)},
		"strategic: nothing":                  {strategicPatch, `{}`, refusal{}},
		"strategic: a directive nobody knows": {strategicPatch, `{"spec":{"$patch":"frob"}}`, internal("unknown patch type: frob in map: map[$patch:frob]")},
		"strategic: an old version":           {strategicPatch, `{"metadata":{"resourceVersion":"1","labels":{"a":"b"}}}`, csrModified},
		"strategic: another name":             {strategicPatch, `{"metadata":{"name":"other"}}`, badRequest(wrong)},
		"strategic: a field of another type": {
			strategicPatch, `{"spec":{"expirationSeconds":"x"}}`,
			invalid(` "" is invalid: patch: Invalid value: "map[spec:map[expirationSeconds:x]]": unrecognized type: int32`),
		},
		"apply: nothing but the name": {applyPatch, `{` + head + `,"metadata":{"name":"$NAME"}}`, refusal{}},
		"apply: no name":              {applyPatch, `{` + head + `}`, refusal{}},
		"apply: no apiVersion": {
			applyPatch, `{"kind":"CertificateSigningRequest","metadata":{"name":"$NAME"}}`,
			badRequest("invalid object type: /, Kind=CertificateSigningRequest"),
		},
		"apply: another name":            {applyPatch, `{` + head + `,"metadata":{"name":"other"}}`, badRequest(wrong)},
		"apply: managedFields":           {applyPatch, `{` + head + `,"metadata":{"name":"$NAME","managedFields":[]}}`, badRequest("metadata.managedFields must be nil")},
		"apply: an unknown field":        {applyPatch, `{` + head + `,"metadata":{"name":"$NAME"},"spec":{"frob":1}}`, internal(untyped + ".spec.frob: field not declared in schema")},
		"apply: a field of another type": {applyPatch, `{` + head + `,"metadata":{"name":"$NAME"},"spec":{"usages":7}}`, internal(untyped + ".spec.usages: expected list, got &{7}")},
		"a patch type that nobody knows": {
			"application/frob", `{}`, refusal{Code: http.StatusUnsupportedMediaType, Reason: "UnsupportedMediaType", Message: "415: Unsupported Media Type"},
		},
	}
	for about, test := range tests {
		for endpoint, subresource := range endpoints {
			t.Run(about+", "+endpoint, func(t *testing.T) {
				t.Parallel()
				name, before := newCSR(t)
				c := call{
					method: http.MethodPatch, path: csrPath(name, subresource...), contentType: test.contentType,
					body: strings.ReplaceAll(test.body, "$NAME", name),
				}
				if test.contentType == applyPatch {
					c.path += "?fieldManager=m"
				}
				a := send(t, c)
				checkUnchanged(t, name, before)
				if test.want != (refusal{}) {
					checkRefused(t, a, name, test.want)
				} else if diff := cmp.Diff(before.object, a.object); a.code != http.StatusOK || diff != "" {
					t.Errorf("got %d (-before +got):\n%s", a.code, diff)
				}
			})
		}
	}

	for endpoint, subresource := range endpoints {
		t.Run("merge patch: a field of another type, "+endpoint, func(t *testing.T) {
			t.Parallel()
			name, before := newCSR(t)
			a := send(t, call{
				method: http.MethodPatch, path: csrPath(name, subresource...), contentType: mergePatch, body: `{"spec":{"expirationSeconds":"x"}}`,
			})
			const (
				start = ` "" is invalid: patch: Invalid value: "{\"apiVersion\":\"certificates.k8s.io/v1\",\"kind\":\"CertificateSigningRequest\",`
				end   = `: json: cannot unmarshal string into Go struct field CertificateSigningRequestSpec.spec.expirationSeconds of type int32`
			)
			if a.code != http.StatusUnprocessableEntity || !strings.HasPrefix(a.message(), start) || !strings.HasSuffix(a.message(), end) {
				t.Errorf("got %d: %s", a.code, a.message())
			}
			checkUnchanged(t, name, before)
		})
		for _, contentType := range []string{jsonPatch, mergePatch, strategicPatch} {
			t.Run(contentType+" of what doesn't exist, "+endpoint, func(t *testing.T) {
				t.Parallel()
				body := "{}"
				if contentType == jsonPatch {
					body = "[]"
				}
				name := unique("csr")
				a := send(t, call{method: http.MethodPatch, path: csrPath(name, subresource...), contentType: contentType, body: body})
				checkRefused(t, a, name, csrNotFound)
			})
		}
	}
}
