// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tooLarge is a resource version that no server reaches.
const tooLarge = "99999999999"

// TestListResourceVersion shows which state of a collection each resourceVersion and resourceVersionMatch gives.
func TestListResourceVersion(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		prefix := unique("o")
		a, b := prefix+"-a", prefix+"-b"
		s.create(t, a)
		first := mustSend(t, call{method: http.MethodGet, path: s.mine()}, http.StatusOK).text("metadata.resourceVersion")
		s.create(t, b)
		mustSend(t, call{method: http.MethodDelete, path: s.path(a)})
		now := []string{b}
		type state struct {
			query string
			want  []string
		}
		check := func(query string, want []string) (string, error) {
			got := mustSend(t, call{method: http.MethodGet, path: s.mine(query)}, http.StatusOK)
			return got.text("metadata.resourceVersion"), diffError(want, got.names())
		}
		for sentence, tc := range map[string]state{
			"unset":                      {"", now},
			"empty":                      {"resourceVersion=", now},
			"empty, with a match":        {"resourceVersion=&resourceVersionMatch=", now},
			"unset, with a limit":        {"limit=5", now},
			"with what only a watch has": {"allowWatchBookmarks=true&timeoutSeconds=1&watch=false", now},
			"with a timeout below zero":  {"timeoutSeconds=-1", now},
			"unset, of one object":       {"fieldSelector=metadata.name%3D" + a, []string{}},
			"unset, of another object":   {"fieldSelector=metadata.name%3D" + b, now},
		} {
			version, err := check(tc.query, tc.want)
			if err != nil || !newer(t, version, first) {
				t.Errorf("%s: got version %s, want one after %s: %v", sentence, version, first, err)
			}
		}
		for sentence, tc := range map[string]state{
			"exactly an old one":                {"resourceVersionMatch=Exact&resourceVersion=" + first, []string{a}},
			"exactly an old one, with a limit":  {"limit=5&resourceVersionMatch=Exact&resourceVersion=" + first, []string{a}},
			"an old one, with a limit":          {"limit=5&resourceVersion=" + first, []string{a}},
			"exactly an old one, of one object": {"resourceVersionMatch=Exact&resourceVersion=" + first + "&fieldSelector=metadata.name%3D" + a, []string{a}},
			"exactly an old one, of no object":  {"resourceVersionMatch=Exact&resourceVersion=" + first + "&fieldSelector=metadata.name%3D" + b, []string{}},
		} {
			version, err := check(tc.query, tc.want)
			if err != nil || version != first {
				t.Errorf("%s: got version %s, want %s: %v", sentence, version, first, err)
			}
		}
		// These are answered from the watch cache, which may be a little late but never goes back behind the version.
		for sentence, tc := range map[string]state{
			"not older than an old one":          {"resourceVersionMatch=NotOlderThan&resourceVersion=" + first, now},
			"an old one":                         {"resourceVersion=" + first, now},
			"not older, with a limit":            {"limit=5&resourceVersionMatch=NotOlderThan&resourceVersion=" + first, now},
			"an old one, of one object, limited": {"limit=1&resourceVersion=" + first + "&fieldSelector=metadata.name%3D" + a, []string{}},
			"any":                                {"resourceVersion=0", now},
			"any that is not older":              {"resourceVersion=0&resourceVersionMatch=NotOlderThan", now},
			"the first":                          {"resourceVersion=1", now},
			"not older than the first":           {"resourceVersion=1&resourceVersionMatch=NotOlderThan", now},
		} {
			soon(t, func() error {
				version, err := check(tc.query, tc.want)
				if err == nil && !newer(t, version, first) {
					t.Errorf("%s: got version %s, want one after %s", sentence, version, first)
				}
				return err
			})
		}
	})
}

func newer(t *testing.T, version, than string) bool {
	t.Helper()
	a, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		t.Fatalf("resourceVersion %q: %v", version, err)
	}
	b, err := strconv.ParseUint(than, 10, 64)
	if err != nil {
		t.Fatalf("resourceVersion %q: %v", than, err)
	}
	return a > b
}

// TestListResourceVersionErrors shows the versions that can't be listed.
func TestListResourceVersionErrors(t *testing.T) {
	t.Parallel()
	invalid := func(message string) refusal {
		return refusal{422, "Invalid", `ListOptions.meta.k8s.io "" is invalid: ` + message}
	}
	notANumber := func(value, why string) refusal {
		return refusal{400, "BadRequest", `invalid resource version: resourceVersion: Invalid value: "` + value + `": strconv.ParseUint: parsing "` + value + `": ` + why}
	}
	const (
		needsVersion = `resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`
		unknownMatch = `resourceVersionMatch: Unsupported value: "Bogus": supported values: "Exact", "NotOlderThan", ""`
		exactlyAny   = `resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`
	)
	cases := map[string]struct {
		query string
		want  refusal
	}{
		"a word":                       {query: "resourceVersion=abc", want: notANumber("abc", "invalid syntax")},
		"negative":                     {query: "resourceVersion=-1", want: notANumber("-1", "invalid syntax")},
		"a fraction":                   {query: "resourceVersion=1.0", want: notANumber("1.0", "invalid syntax")},
		"more than 64 bits":            {query: "resourceVersion=18446744073709551616", want: notANumber("18446744073709551616", "value out of range")},
		"a word, with a limit":         {query: "resourceVersion=abc&limit=2", want: notANumber("abc", "invalid syntax")},
		"a word, exactly":              {query: "resourceVersion=abc&resourceVersionMatch=Exact", want: notANumber("abc", "invalid syntax")},
		"a word, not older":            {query: "resourceVersion=abc&resourceVersionMatch=NotOlderThan", want: notANumber("abc", "invalid syntax")},
		"exactly, without a version":   {query: "resourceVersionMatch=Exact", want: invalid(needsVersion)},
		"not older, without a version": {query: "resourceVersionMatch=NotOlderThan", want: invalid(needsVersion)},
		"exactly any":                  {query: "resourceVersionMatch=Exact&resourceVersion=0", want: invalid(exactlyAny)},
		"an unknown match":             {query: "resourceVersionMatch=Bogus&resourceVersion=5", want: invalid(unknownMatch)},
		"an unknown match of nothing":  {query: "resourceVersionMatch=Bogus", want: invalid(`[` + needsVersion + `, ` + unknownMatch + `]`)},
		"initial events":               {query: "sendInitialEvents=true", want: invalid(`sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`)},
		"no initial events":            {query: "sendInitialEvents=false", want: invalid(`sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`)},
		"all at once": {query: "resourceVersionMatch=Exact&continue=x&sendInitialEvents=1", want: invalid(`[` + needsVersion + `, ` +
			`resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided, sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list]`)},
		"a timeout that is no number": {query: "timeoutSeconds=x", want: refusal{400, "BadRequest", `strconv.ParseInt: parsing "x": invalid syntax`}},
	}
	forEachSubject(t, func(t *testing.T, s subject) {
		s.new(t)
		for sentence, tc := range cases {
			t.Run(sentence, func(t *testing.T) {
				t.Parallel()
				if diff := cmp.Diff(tc.want, send(t, call{method: http.MethodGet, path: s.mine(tc.query)}).refusal()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if tc.want.Code != 422 {
					return
				}
				// Options are checked before anything is deleted, too.
				if diff := cmp.Diff(tc.want, send(t, call{method: http.MethodDelete, path: s.mine(tc.query, "dryRun=All")}).refusal()); diff != "" {
					t.Errorf("delete collection (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// TestListResourceVersionTooLarge shows that a version of the future is waited for, and then called a timeout that
// is worth another try.
func TestListResourceVersionTooLarge(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.new(t).text("metadata.name")
		message := regexp.MustCompile(`^Timeout: Too large resource version: ` + tooLarge + `, current: [1-9][0-9]*$`)
		want := map[string]any{"causes": []any{map[string]any{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}}, "retryAfterSeconds": 1.0}
		var calls []call
		for _, path := range []string{
			s.mine("resourceVersion=" + tooLarge),
			s.mine("resourceVersionMatch=NotOlderThan&resourceVersion=" + tooLarge),
			s.mine("limit=2&resourceVersion=" + tooLarge),
			s.mine("resourceVersionMatch=Exact&resourceVersion=" + tooLarge),
			withQuery(s.root, "fieldSelector=metadata.name%3D"+name, "resourceVersion="+tooLarge),
			withQuery(s.path(name), "resourceVersion="+tooLarge),
			withQuery(s.path(name, "status"), "resourceVersion="+tooLarge),
			// A page that follows one of the future.
			s.mine("continue=" + token{"meta.k8s.io/v1", 99999999999, "a"}.String()),
		} {
			calls = append(calls, call{method: http.MethodGet, path: path})
		}
		for i, a := range sendTogether(t, calls...) {
			path := calls[i].path
			if a.code != http.StatusGatewayTimeout || a.text("reason") != "Timeout" || !message.MatchString(a.message()) {
				t.Errorf("%s: got %d %s", path, a.code, a.raw)
			}
			if diff := cmp.Diff(want, a.field("details")); diff != "" {
				t.Errorf("%s: details (-want +got):\n%s", path, diff)
			}
			if got := a.header.Get("Retry-After"); got != "1" {
				t.Errorf("%s: Retry-After = %q", path, got)
			}
			if a.took < 2*time.Second {
				t.Errorf("%s: answered after %s, want it to wait for the version some 3 s", path, a.took)
			}
		}
	})
}

// TestListGetResourceVersion shows that a get takes a version that the object must not be older than; anything else about
// versions is none of its parameters.
func TestListGetResourceVersion(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		before := s.new(t)
		name := before.text("metadata.name")
		after := mustSend(t, call{method: http.MethodPatch, contentType: mergePatch, path: s.path(name), body: `{"metadata":{"labels":{"now":"yes"}}}`}, 200)
		for _, query := range []string{"", "resourceVersion=", "resourceVersion=" + before.text("metadata.resourceVersion"), "resourceVersion=" + after.text("metadata.resourceVersion"),
			"resourceVersionMatch=Exact", "resourceVersionMatch=Bogus", "resourceVersion=" + after.text("metadata.resourceVersion") + "&resourceVersionMatch=Exact"} {
			for _, subresource := range append([]string{""}, s.subresources...) {
				path := s.path(name)
				if subresource != "" {
					path = s.path(name, subresource)
				}
				got := mustSend(t, call{method: http.MethodGet, path: withQuery(path, query)}, http.StatusOK)
				if query == "resourceVersion="+before.text("metadata.resourceVersion") {
					// The watch cache may not have seen the change yet, and the old object is new enough.
					if got.text("metadata.resourceVersion") == before.text("metadata.resourceVersion") {
						continue
					}
				}
				if diff := cmp.Diff(after.object, got.object); diff != "" {
					t.Errorf("%s %q (-want +got):\n%s", subresource, query, diff)
				}
			}
		}
		soon(t, func() error {
			return diffError(after.object, mustSend(t, call{method: http.MethodGet, path: withQuery(s.path(name), "resourceVersion=0")}, http.StatusOK).object)
		})
		soon(t, func() error {
			return diffError(after.object, mustSend(t, call{method: http.MethodGet, path: withQuery(s.path(name), "resourceVersion=1")}, http.StatusOK).object)
		})
		for _, value := range []string{"abc", "-1", "1.0"} {
			want := refusal{500, "", `resourceVersion: Invalid value: "` + value + `": strconv.ParseUint: parsing "` + value + `": invalid syntax`}
			if diff := cmp.Diff(want, send(t, call{method: http.MethodGet, path: withQuery(s.path(name), "resourceVersion="+value)}).refusal()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		for _, query := range []string{"resourceVersion=0", "resourceVersion=1", ""} {
			want := refusal{404, "NotFound", s.qualified() + ` "missing" not found`}
			if diff := cmp.Diff(want, send(t, call{method: http.MethodGet, path: withQuery(s.path("missing"), query)}).refusal()); diff != "" {
				t.Errorf("%q (-want +got):\n%s", query, diff)
			}
		}
		for value, message := range map[string]string{
			"export=true":   "the export parameter, deprecated since v1.14, is no longer supported",
			"export=frob":   "the export parameter, deprecated since v1.14, is no longer supported",
			"exact=true":    "",
			"export=false":  "",
			"export=0":      "",
			"somethingElse": "",
		} {
			a := send(t, call{method: http.MethodGet, path: withQuery(s.path(name), value)})
			if message == "" && a.code == http.StatusOK {
				continue
			}
			if diff := cmp.Diff(refusal{400, "BadRequest", message}, a.refusal()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", value, diff)
			}
		}
	})
}
