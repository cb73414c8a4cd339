// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParamPretty shows when JSON is indented: when the query says so, and, when it says nothing, for user agents of
// people (k8s.io/apiserver/pkg/endpoints/handlers/negotiation, isPrettyPrint).
func TestParamPretty(t *testing.T) {
	t.Parallel()
	const program = "Go-http-client/1.1"
	cases := map[string]struct {
		query, userAgent, accept string
		pretty                   bool
	}{
		"a program that asks for nothing":       {userAgent: program},
		"true":                                  {userAgent: program, query: "pretty=true", pretty: true},
		"1":                                     {userAgent: program, query: "pretty=1", pretty: true},
		"T":                                     {userAgent: program, query: "pretty=T", pretty: true},
		"false":                                 {userAgent: program, query: "pretty=false"},
		"no boolean":                            {userAgent: program, query: "pretty=yes"},
		"the first of two values counts":        {userAgent: program, query: "pretty=true&pretty=false", pretty: true},
		"empty counts as not given":             {userAgent: program, query: "pretty="},
		"another parameter that begins with it": {userAgent: program, query: "prettyPlease=true"},
		"as a media type parameter":             {userAgent: program, accept: "application/json;pretty=1", pretty: true},
		"as a media type parameter that is not one": {userAgent: program, accept: "application/json;pretty=true"},
		"the media type parameter wins":             {userAgent: program, query: "pretty=false", accept: "application/json;pretty=1", pretty: true},
		"curl":                                      {userAgent: "curl/8.5.0", pretty: true},
		"curl that says false":                      {userAgent: "curl/8.5.0", query: "pretty=false"},
		"curl that says no boolean":                 {userAgent: "curl/8.5.0", query: "pretty=yes"},
		"curl with an empty value":                  {userAgent: "curl/8.5.0", query: "pretty=", pretty: true},
		"Wget":                                      {userAgent: "Wget/1.21", pretty: true},
		"wget in lower case is no browser":          {userAgent: "wget/1.21"},
		"a browser":                                 {userAgent: "Mozilla/5.0 (X11; Linux x86_64)", pretty: true},
		"a browser of last century":                 {userAgent: "Mozilla/4.0"},
		"a name with curl in the middle":            {userAgent: "libcurl/8"},
	}
	s := daemonSetSubject(t)
	name := s.new(t).text("metadata.name")
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{s.path(name), s.path(name, "status"), s.mine(), s.path("missing"), "/apis", "/apis/apps/v1", "/version"} {
				a := send(t, call{method: http.MethodGet, path: withQuery(path, tc.query), accept: tc.accept,
					header: http.Header{"User-Agent": {tc.userAgent}}})
				// The version is no API object and always indented.
				want := tc.pretty || path == "/version"
				if got := indented(t, a); got != want {
					t.Errorf("%s: indented = %t, want %t: %.80q", path, got, want, a.raw)
				}
			}
		})
	}
}

// TestParamPrettyEverywhere shows that every operation takes the parameter.
func TestParamPrettyEverywhere(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, allOperations(s.reads(), s.writes(), s.deletes()), func(t *testing.T, o operation) {
			c, _, _ := o.prepare(t, s)
			path := c.path
			c.path = withQuery(path, "pretty=true", dryRunOf(o))
			if a := mustSend(t, c, o.code()); !indented(t, a) {
				t.Errorf("pretty=true: got %.80q", a.raw)
			}
			c.path = withQuery(path, dryRunOf(o))
			if a := mustSend(t, c, o.code()); indented(t, a) {
				t.Errorf("without the parameter: got %.80q", a.raw)
			}
		})
	})
}

// TestParamPrettyOtherFormats shows that only JSON is changed.
func TestParamPrettyOtherFormats(t *testing.T) {
	t.Parallel()
	s := csrSubject(t)
	name := s.new(t).text("metadata.name")
	for _, accept := range []string{"application/yaml", "application/vnd.kubernetes.protobuf"} {
		plain := mustSend(t, call{method: http.MethodGet, path: s.path(name), accept: accept}, http.StatusOK)
		pretty := mustSend(t, call{method: http.MethodGet, path: withQuery(s.path(name), "pretty=true"), accept: accept}, http.StatusOK)
		if diff := cmp.Diff(plain.raw, pretty.raw); diff != "" {
			t.Errorf("%s changed (-plain +pretty):\n%s", accept, diff)
		}
	}
	watch := startWatch(t, call{path: s.mine("watch=true", "pretty=true", "resourceVersion=0")})
	if got := watch.next(t).summary(); got != "ADDED "+name {
		t.Errorf("watch: got %s", got)
	}
}

// dryRunOf is a query that makes a write repeatable.
func dryRunOf(o operation) string {
	if o.method == http.MethodGet {
		return ""
	}
	return "dryRun=All"
}

// indented tells whether the body is JSON with an indentation of two spaces. A body that is neither that nor compact
// is an error.
func indented(t *testing.T, a answer) bool {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, a.raw); err != nil {
		t.Fatalf("no JSON: %v: %.80q", err, a.raw)
	}
	if strings.TrimSpace(string(a.raw)) == strings.TrimSpace(compact.String()) {
		return false
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, compact.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(a.raw)) != strings.TrimSpace(pretty.String()) {
		t.Fatalf("neither compact nor indented by two spaces: %.200q", a.raw)
	}
	return true
}
