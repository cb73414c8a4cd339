// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/internal/gen"
)

// asAlice makes a request come from a user whose every field of a user is known, with an administrator's rights.
func asAlice() http.Header {
	return http.Header{
		"Impersonate-User":         {"alice"},
		"Impersonate-Uid":          {"77"},
		"Impersonate-Group":        {"devs", "system:masters"},
		"Impersonate-Extra-Scopes": {"view", "edit"},
	}
}

// aliceSpec is what the server writes into spec for asAlice.
func aliceSpec() map[string]any {
	return map[string]any{
		"username": "alice",
		"uid":      "77",
		"groups":   []any{"devs", "system:masters", "system:authenticated"},
		"extra":    map[string]any{"scopes": []any{"view", "edit"}},
	}
}

// checkServerMetadata checks what the server writes into the metadata of a new object, and removes it.
func checkServerMetadata(t *testing.T, a answer, since time.Time) {
	t.Helper()
	checkRecent(t, a, "metadata.creationTimestamp", since)
	for path, form := range map[string]string{
		"metadata.uid":             `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`,
		"metadata.resourceVersion": `^[1-9][0-9]*$`,
	} {
		if !regexp.MustCompile(form).MatchString(a.text(path)) {
			t.Errorf("%s is %q, want the form %s", path, a.text(path), form)
		}
	}
	metadata, _ := a.field("metadata").(map[string]any)
	for _, key := range []string{"uid", "resourceVersion", "creationTimestamp"} {
		delete(metadata, key)
	}
}

func TestCSRCreate(t *testing.T) {
	t.Parallel()
	since := time.Now()
	name := unique("csr")
	body := csrBody(t, name, gen.WithExpirationSeconds(3600), gen.WithUsages("digital signature", "client auth"))
	a := mustSend(t, call{method: http.MethodPost, path: csrCollection, body: body, header: asAlice()}, http.StatusCreated)
	if diff := cmp.Diff(a.object, getCSR(t, name).object); diff != "" {
		t.Errorf("the answer is not what is stored (-answer +stored):\n%s", diff)
	}
	checkServerMetadata(t, a, since)

	want := map[string]any{
		"apiVersion": "certificates.k8s.io/v1",
		"kind":       "CertificateSigningRequest",
		"metadata":   map[string]any{"name": name},
		"spec": merged(aliceSpec(), map[string]any{
			"request":           base64.StdEncoding.EncodeToString(gen.RobotRequest()),
			"signerName":        "example.com/robot",
			"expirationSeconds": float64(3600),
			"usages":            []any{"digital signature", "client auth"},
		}),
		"status": map[string]any{},
	}
	if diff := cmp.Diff(want, a.object); diff != "" {
		t.Errorf("new object (-want +got):\n%s", diff)
	}
	if got := a.warnings(); got != nil {
		t.Errorf("warnings %q, want none", got)
	}
	if got := a.header.Get("Content-Type"); got != jsonBody {
		t.Errorf("Content-Type %q, want %q", got, jsonBody)
	}
}

func TestCSRCreateDropsWhatIsNotTheClients(t *testing.T) {
	t.Parallel()
	since := time.Now()
	name := unique("csr")
	body := merged(csrBody(t, name), map[string]any{
		"metadata": map[string]any{
			"uid": "11111111-1111-1111-1111-111111111111", "generation": 7, "creationTimestamp": "2001-02-03T04:05:06Z",
			"deletionTimestamp": "2001-02-03T04:05:06Z", "deletionGracePeriodSeconds": 9, "namespace": "t", "selfLink": "/x",
			"labels": map[string]any{"team": "dev"}, "annotations": map[string]any{"note": "kept"}, "finalizers": []any{"example.com/hold"},
			"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u1"}},
		},
		"spec": map[string]any{
			"username": "mallory", "uid": "666", "groups": []any{"system:masters", "system:nodes"},
			"extra": map[string]any{"scopes": []any{"all"}, "other": []any{"x"}},
		},
		"status": map[string]any{
			"certificate": base64.StdEncoding.EncodeToString(gen.RobotCertificate()),
			"conditions":  []any{condition("Approved", "reason", "self")},
		},
	})
	a := mustSend(t, call{method: http.MethodPost, path: csrCollection, body: body, header: asAlice()}, http.StatusCreated)
	if a.text("metadata.uid") == "11111111-1111-1111-1111-111111111111" {
		t.Error("the client chose the uid")
	}
	delete(a.object["metadata"].(map[string]any), "managedFields")
	checkServerMetadata(t, a, since)

	want := map[string]any{
		"apiVersion": "certificates.k8s.io/v1",
		"kind":       "CertificateSigningRequest",
		"metadata": map[string]any{
			// Upstream's strategy leaves the generation of a CertificateSigningRequest alone, so the client's stays.
			"name": name, "generation": float64(7), "labels": map[string]any{"team": "dev"}, "annotations": map[string]any{"note": "kept"},
			"finalizers":      []any{"example.com/hold"},
			"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u1"}},
		},
		"spec": merged(aliceSpec(), map[string]any{
			"request": base64.StdEncoding.EncodeToString(gen.RobotRequest()), "signerName": "example.com/robot", "usages": []any{"client auth"},
		}),
		"status": map[string]any{},
	}
	if diff := cmp.Diff(want, a.object); diff != "" {
		t.Errorf("new object (-want +got):\n%s", diff)
	}
}

// hubPackage is the name of the Go package that a few messages show: upstream converts to its internal type, whose package
// is called after the group, and Pinnace to v1 itself.
func hubPackage() string {
	if shared.foreign {
		return "certificates"
	}
	return "v1"
}

// badRequest is a refusal with 400.
func badRequest(message string) refusal {
	return refusal{Code: http.StatusBadRequest, Reason: "BadRequest", Message: message}
}

// undecodable is the refusal of a body that the decoder gave up on because of problem.
func undecodable(problem string) refusal {
	return badRequest(`CertificateSigningRequest in version "v1" cannot be handled as a CertificateSigningRequest: ` + problem)
}

func TestCSRCreateBody(t *testing.T) {
	t.Parallel()
	const unrecognized = "the object provided is unrecognized (must be of type CertificateSigningRequest): couldn't get version/kind; json parse error: "
	in := func(part, key string, value any) func(map[string]any) {
		return func(body map[string]any) { body[part].(map[string]any)[key] = value }
	}
	root := func(key string, value any) func(map[string]any) {
		return func(body map[string]any) { body[key] = value }
	}
	tests := map[string]struct {
		// change edits the body of an otherwise good request; raw is the whole body instead when change is nil.
		change             func(body map[string]any)
		raw                string
		query, contentType string
		// want is the refusal; the zero value means that the object is created.
		want     refusal
		warnings []string
	}{
		"no kind and no apiVersion": {
			change: func(body map[string]any) { delete(body, "kind"); delete(body, "apiVersion") },
		},
		"the list kind": {
			change: root("kind", "CertificateSigningRequestList"),
			want:   badRequest(`CertificateSigningRequestList in version "v1" cannot be handled as a CertificateSigningRequest: converting (v1.CertificateSigningRequestList) to (` + hubPackage() + `.CertificateSigningRequest): unknown conversion`),
		},
		"a removed apiVersion": {
			change: root("apiVersion", "certificates.k8s.io/v1beta1"),
			want:   badRequest("the API version in the data (certificates.k8s.io/v1beta1) does not match the expected API version (certificates.k8s.io/v1)"),
		},
		"an unknown kind": {
			change: root("kind", "Frob"),
			want:   badRequest(`Frob in version "v1" cannot be handled as a CertificateSigningRequest: no kind "Frob" is registered for version "certificates.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"`),
		},
		"no body": {
			raw:  "",
			want: badRequest(unrecognized + "unexpected end of JSON input (<empty>)"),
		},
		"a JSON list": {
			raw: "[]",
			want: badRequest(unrecognized + "json: cannot unmarshal array into Go value of type struct { APIVersion string " +
				`"json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" } (5b5d)`),
		},
		"JSON that is cut off": {
			raw:  `{"kind":`,
			want: badRequest(unrecognized + `unexpected end of JSON input ({"kind":)`),
		},
		"request is not base64": {
			change: in("spec", "request", "%%%"),
			want:   undecodable("illegal base64 data at input byte 0"),
		},
		"request is a number": {
			change: in("spec", "request", 7),
			want:   undecodable("json: cannot unmarshal number into Go struct field CertificateSigningRequestSpec.spec.request of type []uint8"),
		},
		"usages is a string": {
			change: in("spec", "usages", "client auth"),
			want:   undecodable("json: cannot unmarshal string into Go struct field CertificateSigningRequestSpec.spec.usages of type []v1.KeyUsage"),
		},
		"a content type that nobody knows": {
			raw: "frob", contentType: "text/plain",
			want: refusal{Code: http.StatusUnsupportedMediaType, Reason: "UnsupportedMediaType", Message: "the body of the request was in an unknown format - " +
				"accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf"},
		},
		"a resource version": {
			change: in("metadata", "resourceVersion", "1"),
			want:   refusal{Code: http.StatusInternalServerError, Message: "resourceVersion should not be set on objects to be created"},
		},
		"an unknown field, Strict": {
			change: in("spec", "signer", "x"), query: "?fieldValidation=Strict",
			want: undecodable(`strict decoding error: unknown field "spec.signer"`),
		},
		"an unknown field, Warn": {
			change: in("spec", "signer", "x"), query: "?fieldValidation=Warn",
			warnings: []string{`unknown field "spec.signer"`},
		},
		"an unknown field, Warn is the default": {
			change: in("spec", "signer", "x"), warnings: []string{`unknown field "spec.signer"`},
		},
		"an unknown field, Ignore": {
			change: in("spec", "signer", "x"), query: "?fieldValidation=Ignore",
		},
		"YAML": {
			contentType: yamlBody,
			raw: "metadata: {name: $NAME}\nspec:\n  signerName: example.com/robot\n  usages: [client auth]\n  request: " +
				base64.StdEncoding.EncodeToString(gen.RobotRequest()) + "\n",
		},
		"YAML with a duplicate key": {
			contentType: yamlBody,
			raw: "metadata: {name: $NAME}\nspec:\n  signerName: example.com/robot\n  signerName: example.com/other\n  usages: [client auth]\n  request: " +
				base64.StdEncoding.EncodeToString(gen.RobotRequest()) + "\n",
			warnings: []string{`line 4: key "signerName" already set in map`},
		},
	}
	for about, test := range tests {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			name := unique("csr")
			c := call{
				method: http.MethodPost, path: csrCollection + test.query, contentType: test.contentType,
				body: strings.ReplaceAll(test.raw, "$NAME", name),
			}
			if test.change != nil {
				body := csrBody(t, name)
				test.change(body)
				c.body = body
			}
			a := send(t, c)
			if diff := cmp.Diff(test.warnings, a.warnings()); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if test.want != (refusal{}) {
				checkRefused(t, a, name, test.want)
				checkGone(t, name)
				return
			}
			if a.code != http.StatusCreated || a.text("metadata.name") != name || a.field("spec.signer") != nil {
				t.Errorf("got %d: %s", a.code, a.raw)
			}
		})
	}
}

func TestCSRMethods(t *testing.T) {
	t.Parallel()
	name, before := newCSR(t)
	notFound := refusal{Code: http.StatusNotFound, Reason: "NotFound", Message: "the server could not find the requested resource"}
	notAllowed := refusal{
		Code: http.StatusMethodNotAllowed, Reason: "MethodNotAllowed", Message: "the server does not allow this method on the requested resource",
	}
	tests := map[string]struct {
		method, path string
		body         any
		want         refusal
	}{
		"create at the URL of an object": {http.MethodPost, csrPath(name), csrBody(t, name), notAllowed},
		"create at status":               {http.MethodPost, csrPath(name, "status"), csrBody(t, name), notAllowed},
		"create at approval":             {http.MethodPost, csrPath(name, "approval"), csrBody(t, name), notAllowed},
		"delete status":                  {http.MethodDelete, csrPath(name, "status"), nil, notAllowed},
		"delete approval":                {http.MethodDelete, csrPath(name, "approval"), nil, notAllowed},
		"replace the collection":         {http.MethodPut, csrCollection, csrBody(t, name), notAllowed},
		"patch the collection":           {http.MethodPatch, csrCollection, "{}", notAllowed},
		"OPTIONS on the collection":      {http.MethodOptions, csrCollection, nil, notAllowed},
		"create at a watch":              {http.MethodPost, csrWatch, csrBody(t, name), notAllowed},
		"an unknown subresource":         {http.MethodGet, csrPath(name, "frob"), nil, notFound},
		"below a subresource":            {http.MethodGet, csrPath(name, "status", "frob"), nil, notFound},
		"watch a subresource":            {http.MethodGet, csrWatch + "/" + name + "/status", nil, notFound},
		"a namespace in the path": {
			http.MethodGet, "/apis/certificates.k8s.io/v1/namespaces/t/certificatesigningrequests", nil, notFound,
		},
		"the singular in the path": {http.MethodGet, "/apis/certificates.k8s.io/v1/certificatesigningrequest", nil, notFound},
		"a version that never was": {http.MethodGet, "/apis/certificates.k8s.io/v9/certificatesigningrequests", nil, notFound},
		"a version that was removed": {
			http.MethodPost, "/apis/certificates.k8s.io/v1beta1/certificatesigningrequests", csrBody(t, name), notFound,
		},
	}
	for about, test := range tests {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			checkRefused(t, send(t, call{method: test.method, path: test.path, body: test.body}), name, test.want)
			checkUnchanged(t, name, before)
		})
	}
	// A HEAD has no body, so that only the code can be seen.
	for _, path := range []string{csrCollection, csrPath(name)} {
		if a := send(t, call{method: http.MethodHead, path: path}); a.code != http.StatusMethodNotAllowed {
			t.Errorf("HEAD %s: got %d, want 405", path, a.code)
		}
	}
}

func TestCSRNames(t *testing.T) {
	t.Parallel()
	// Two names are the limit of what etcd or a URL takes; the others are made unique by a suffix.
	suffix := unique("")
	accepted := map[string]string{
		"blanks, colons, plus and equals signs": "CSR_FOR_octo 2026-04-23 16:10:18.32 +0000 UTC m=+120.76" + suffix,
		"capitals and a blank":                  "UPPER CASE" + suffix,
		"a letter with an accent":               "é" + suffix,
		"a query and a fragment":                "a?b#c" + suffix,
		"254 characters":                        strings.Repeat("n", 254-len(suffix)) + suffix,
		"5000 characters":                       strings.Repeat("n", 5000-len(suffix)) + suffix,
		"three dots":                            "..." + suffix,
		"quotes, backslash and ampersand":       `"a"\'b'&c` + suffix,
		"a colon first":                         ":system" + suffix,
	}
	for about, name := range accepted {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			a := mustSend(t, call{method: http.MethodPost, path: csrCollection, body: csrBody(t, name)}, http.StatusCreated)
			checkField(t, a, "metadata.name", name)
			checkField(t, getCSR(t, name), "metadata.name", name)
			checkField(t, mustSend(t, call{method: http.MethodGet, path: csrPath(name, "status")}, http.StatusOK), "metadata.name", name)
			if diff := cmp.Diff([]string{"Approved=True"}, conditionsOf(approve(t, name))); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			deleted := mustSend(t, call{method: http.MethodDelete, path: csrPath(name)}, http.StatusOK)
			checkField(t, deleted, "details.name", name)
			checkGone(t, name)
		})
	}

	for name, details := range map[string][]string{
		"a/b":  {"may not contain '/'"},
		"a%b":  {"may not contain '%'"},
		"%2f/": {"may not contain '/'", "may not contain '%'"},
		".":    {"may not be '.'"},
		"..":   {"may not be '..'"},
	} {
		t.Run("refused: "+name, func(t *testing.T) {
			t.Parallel()
			a := send(t, call{method: http.MethodPost, path: csrCollection, body: csrBody(t, name)})
			causes := []string{}
			for _, detail := range details {
				causes = append(causes, fmt.Sprintf("metadata.name: Invalid value: %q: %s", name, detail))
			}
			checkInvalid(t, a, name, causes...)
		})
	}
}

// Names in a URL that no object can have, or hardly one.
func TestCSRNamesInURLs(t *testing.T) {
	t.Parallel()
	missing := func(quoted string) refusal {
		return refusal{
			Code: http.StatusNotFound, Reason: "NotFound", Message: "certificatesigningrequests.certificates.k8s.io " + quoted + " not found",
		}
	}
	for segment, want := range map[string]refusal{
		"%2e":    badRequest(`Name parameter invalid: ".": may not be '.'`),
		"%2e%2e": badRequest(`Name parameter invalid: "..": may not be '..'`),
		"a%25b":  badRequest(`Name parameter invalid: "a%b": may not contain '%'`),
		"a%2Fb":  {Code: http.StatusNotFound, Reason: "NotFound", Message: "the server could not find the requested resource"},
		"%20":    missing(`" "`),
		"%00":    missing(`"\x00"`),
		"%ff":    missing(`"\xff"`),
		"a;b":    missing(`"a;b"`),
		"a+b":    missing(`"a+b"`),
		"a%20b":  missing(`"a b"`),
	} {
		t.Run(segment, func(t *testing.T) {
			t.Parallel()
			checkRefused(t, send(t, call{method: http.MethodGet, path: csrCollection + "/" + segment}), "", want)
			checkRefused(t, send(t, call{method: http.MethodDelete, path: csrCollection + "/" + segment}), "", want)
		})
	}
}

func TestCSRGenerateName(t *testing.T) {
	t.Parallel()
	generated := func(t *testing.T, prefix, name string) answer {
		t.Helper()
		body := csrBody(t, name)
		body["metadata"].(map[string]any)["generateName"] = prefix
		return send(t, call{method: http.MethodPost, path: csrCollection, body: body})
	}
	for about, test := range map[string]struct{ prefix, want string }{
		"a plain prefix":            {"node-csr-", `^node-csr-[bcdfghjklmnpqrstvwxz2456789]{5}$`},
		"blanks and capitals":       {"Node CSR_", `^Node CSR_[a-z0-9]{5}$`},
		"100 characters are cut":    {strings.Repeat("p", 100), `^p{58}[a-z0-9]{5}$`},
		"300 characters are cut":    {strings.Repeat("p", 300), `^p{58}[a-z0-9]{5}$`},
		"a dot, which is no prefix": {".", `^\.[a-z0-9]{5}$`},
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			a := generated(t, test.prefix, "")
			if a.code != http.StatusCreated || !regexp.MustCompile(test.want).MatchString(a.text("metadata.name")) {
				t.Fatalf("got %d and the name %q, want 201 and %s: %s", a.code, a.text("metadata.name"), test.want, a.raw)
			}
			checkField(t, a, "metadata.generateName", test.prefix)
		})
	}
	t.Run("a name wins", func(t *testing.T) {
		t.Parallel()
		name := unique("csr")
		checkField(t, generated(t, "node-csr-", name), "metadata.name", name)
	})
	t.Run("many at once get names of their own", func(t *testing.T) {
		t.Parallel()
		seen := map[string]bool{}
		for range 20 {
			seen[generated(t, "many-", "").text("metadata.name")] = true
		}
		if len(seen) != 20 {
			t.Errorf("%d different names for 20 objects", len(seen))
		}
	})
	t.Run("a slash", func(t *testing.T) {
		t.Parallel()
		a := generated(t, "a/b", "")
		name := a.text("details.name")
		checkInvalid(t, a, name, `metadata.generateName: Invalid value: "a/b": may not contain '/'`,
			fmt.Sprintf("metadata.name: Invalid value: %q: may not contain '/'", name))
	})
	t.Run("neither name nor generateName", func(t *testing.T) {
		t.Parallel()
		checkInvalid(t, generated(t, "", ""), "", "metadata.name: Required value: name or generateName is required")
	})
	t.Run("a name that exists", func(t *testing.T) {
		t.Parallel()
		name, before := newCSR(t)
		a := send(t, call{method: http.MethodPost, path: csrCollection, body: csrBody(t, name)})
		checkRefused(t, a, name, refusal{
			Code: http.StatusConflict, Reason: "AlreadyExists", Message: `certificatesigningrequests.certificates.k8s.io "$NAME" already exists`,
		})
		checkUnchanged(t, name, before)
	})
}
