// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// several creates n objects, whose names it returns in the order of a list.
func (s subject) several(t *testing.T, n int) []string {
	t.Helper()
	prefix := unique("o")
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("%s-%03d", prefix, i))
		s.create(t, names[i])
	}
	return names
}

// token is what a continue parameter holds (k8s.io/apiserver/pkg/storage/continue.go).
type token struct {
	Version         string `json:"v"`
	ResourceVersion int64  `json:"rv"`
	Start           string `json:"start"`
}

func (k token) String() string {
	// A struct of two strings and a number can always be encoded.
	data, _ := json.Marshal(k)
	return base64.RawURLEncoding.EncodeToString(data)
}

func parseToken(t *testing.T, text string) token {
	t.Helper()
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatalf("continue token %q: %v", text, err)
	}
	var out token
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatalf("continue token %q: %v", text, err)
	}
	return out
}

// TestListPages shows that pages are those of one moment: neither a later write nor a later deletion changes what the
// next pages hold, and all carry the resourceVersion of the first.
func TestListPages(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		for _, limit := range []int{1, 2, 3, 6, 7, 100} {
			t.Run(strconv.Itoa(limit), func(t *testing.T) {
				t.Parallel()
				s := s
				s.label = unique("l")
				names := s.several(t, 7)
				whole := mustSend(t, call{method: http.MethodGet, path: s.mine()}, http.StatusOK)
				size := "limit=" + strconv.Itoa(limit)
				page := mustSend(t, call{method: http.MethodGet, path: s.mine(size)}, http.StatusOK)
				version := page.text("metadata.resourceVersion")
				items, _ := page.field("items").([]any)

				mustSend(t, call{method: http.MethodDelete, path: s.path(names[6])})
				s.createLabelled(t, names[0]+"-late", nil)
				mustSend(t, call{method: http.MethodPatch, contentType: mergePatch, path: s.path(names[5]), body: `{"metadata":{"labels":{"late":"yes"}}}`})

				for page.text("metadata.continue") != "" {
					if got := len(page.names()); got != limit {
						t.Errorf("a page of %d items", got)
					}
					page = mustSend(t, call{method: http.MethodGet, path: s.mine(size, parameter("continue", page.text("metadata.continue")))}, http.StatusOK)
					if got := page.text("metadata.resourceVersion"); got != version {
						t.Errorf("a page at version %s, the first was at %s", got, version)
					}
					more, _ := page.field("items").([]any)
					items = append(items, more...)
				}
				if diff := cmp.Diff(whole.field("items"), any(items)); diff != "" {
					t.Errorf("all pages together (-whole list +pages):\n%s", diff)
				}
			})
		}
	})
}

// TestListPagesToken shows what a page says of those that follow.
func TestListPagesToken(t *testing.T) {
	t.Parallel()
	s := daemonSetSubject(t)
	names := s.several(t, 5)
	list := func(queries ...string) answer {
		return mustSend(t, call{method: http.MethodGet, path: withQuery(s.root, queries...)}, http.StatusOK)
	}
	page := list("limit=2")
	if got := page.field("metadata.remainingItemCount"); got != 3.0 {
		t.Errorf("remainingItemCount = %v, want 3", got)
	}
	version, err := strconv.ParseInt(page.text("metadata.resourceVersion"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	next := parseToken(t, page.text("metadata.continue"))
	if diff := cmp.Diff(token{"meta.k8s.io/v1", version, "/" + names[1] + "\x00"}, next); diff != "" {
		t.Errorf("token (-want +got):\n%s", diff)
	}
	page = list("limit=2", parameter("continue", next.String()))
	if got := page.field("metadata.remainingItemCount"); got != 1.0 || !cmp.Equal(page.names(), names[2:4]) {
		t.Errorf("second page: remainingItemCount = %v, items %v", got, page.names())
	}
	page = list("limit=2", parameter("continue", page.text("metadata.continue")))
	if page.field("metadata.remainingItemCount") != nil || page.field("metadata.continue") != nil || !cmp.Equal(page.names(), names[4:]) {
		t.Errorf("last page: %s", page.raw)
	}
	page = list("limit=2", "labelSelector=test%3D"+s.label)
	if page.field("metadata.remainingItemCount") != nil || page.text("metadata.continue") == "" {
		t.Errorf("a selector leaves the number of remaining items open: %v", page.field("metadata"))
	}
	page = list("limit=2", "labelSelector=test%3D"+s.label, parameter("continue", token{"meta.k8s.io/v1", version, names[2] + "\x00"}.String()))
	if page.field("metadata.remainingItemCount") != nil || page.field("metadata.continue") != nil || !cmp.Equal(page.names(), names[3:]) {
		t.Errorf("the last page of a selection: %s", page.raw)
	}
	page = list(parameter("continue", next.String()))
	if page.field("metadata.continue") != nil || !cmp.Equal(page.names(), names[2:]) {
		t.Errorf("the rest without a limit: %s", page.raw)
	}
	page = list("limit=1", parameter("continue", next.String()), "fieldSelector=metadata.name%3D"+names[3])
	if !cmp.Equal(page.names(), names[3:4]) {
		t.Errorf("another selector than on the first page: %s", page.raw)
	}
}

// TestListPagesOfAll shows the number of remaining items of a collection that other tests change meanwhile.
func TestListPagesOfAll(t *testing.T) {
	t.Parallel()
	for _, root := range []string{"/apis/certificates.k8s.io/v1/certificatesigningrequests", "/apis/apps/v1/daemonsets"} {
		s := csrSubject(t)
		if strings.HasSuffix(root, "daemonsets") {
			s = daemonSetSubject(t)
		}
		s.several(t, 3)
		page := mustSend(t, call{method: http.MethodGet, path: withQuery(root, "limit=1")}, http.StatusOK)
		rest := mustSend(t, call{method: http.MethodGet, path: withQuery(root, parameter("continue", page.text("metadata.continue")))}, http.StatusOK)
		if got, want := page.field("metadata.remainingItemCount"), float64(len(rest.names())); got != want || want < 2 {
			t.Errorf("%s: remainingItemCount = %v, but there were %v more", root, got, want)
		}
		if rest.text("metadata.resourceVersion") != page.text("metadata.resourceVersion") {
			t.Errorf("%s: the rest is of another version", root)
		}
	}
}

// TestListLimit shows values of the limit, and that lists served from the watch cache have none.
func TestListLimit(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		names := s.several(t, 4)
		live := mustSend(t, call{method: http.MethodGet, path: s.mine()}, http.StatusOK).text("metadata.resourceVersion")
		cases := map[string]struct {
			query string
			items int
			more  bool
		}{
			"none":                            {items: 4},
			"zero":                            {query: "limit=0", items: 4},
			"negative":                        {query: "limit=-1", items: 4},
			"less than there are":             {query: "limit=3", items: 3, more: true},
			"as many as there are":            {query: "limit=4", items: 4},
			"as many as there can be":         {query: "limit=9223372036854775807", items: 4},
			"the first of two":                {query: "limit=1&limit=2", items: 1, more: true},
			"any version":                     {query: "limit=3&resourceVersion=0", items: 4},
			"any version that is not older":   {query: "limit=3&resourceVersion=0&resourceVersionMatch=NotOlderThan", items: 4},
			"not older than a version":        {query: "limit=3&resourceVersionMatch=NotOlderThan&resourceVersion=" + live, items: 3, more: true},
			"exactly a version":               {query: "limit=3&resourceVersionMatch=Exact&resourceVersion=" + live, items: 3, more: true},
			"a version":                       {query: "limit=3&resourceVersion=" + live, items: 3, more: true},
			"of one object that was selected": {query: "limit=1&fieldSelector=metadata.name%3D" + names[2], items: 1},
		}
		for sentence, tc := range cases {
			a := mustSend(t, call{method: http.MethodGet, path: s.mine(tc.query)}, http.StatusOK)
			more := a.text("metadata.continue") != ""
			if s.namespace == "" && tc.items == 4 {
				// There may be objects of other tests behind a full page.
				more = false
			}
			if len(a.names()) != tc.items || more != tc.more {
				t.Errorf("%s: got %d items, continue %q; want %d, more = %t", sentence, len(a.names()), a.text("metadata.continue"), tc.items, tc.more)
			}
		}
		for value, message := range map[string]string{
			"x":                   `strconv.ParseInt: parsing "x": invalid syntax`,
			"1.5":                 `strconv.ParseInt: parsing "1.5": invalid syntax`,
			"9223372036854775808": `strconv.ParseInt: parsing "9223372036854775808": value out of range`,
			"":                    `strconv.ParseInt: parsing "": invalid syntax`,
		} {
			got := send(t, call{method: http.MethodGet, path: s.mine(parameter("limit", value))}).refusal()
			if diff := cmp.Diff(refusal{400, "BadRequest", message}, got); diff != "" {
				t.Errorf("limit %q (-want +got):\n%s", value, diff)
			}
		}
	})
}

// TestListContinueErrors shows what is no continue token, and what can't be said beside one.
func TestListContinueErrors(t *testing.T) {
	t.Parallel()
	const invalid = "invalid continue token: continue key is not valid: "
	raw := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	cases := map[string]struct{ query, message string }{
		"no base64":              {query: "continue=*", message: invalid + "illegal base64 data at input byte 0"},
		"padded base64":          {query: "continue=e30%3D", message: invalid + "illegal base64 data at input byte 3"},
		"no JSON":                {query: "continue=" + raw("x"), message: invalid + "invalid character 'x' looking for beginning of value"},
		"an array":               {query: "continue=" + raw("[]"), message: invalid + "json: cannot unmarshal array into Go value of type storage.continueToken"},
		"no version":             {query: "continue=" + raw("{}"), message: invalid + "server does not recognize this encoded version "},
		"an unknown version":     {query: "continue=" + token{"meta.k8s.io/v2", 5, "a"}.String(), message: invalid + "server does not recognize this encoded version meta.k8s.io/v2"},
		"no resource version":    {query: "continue=" + token{"meta.k8s.io/v1", 0, "a"}.String(), message: invalid + "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"},
		"no start":               {query: "continue=" + token{"meta.k8s.io/v1", 5, ""}.String(), message: invalid + "encoded start key empty (version meta.k8s.io/v1)"},
		"a start above the root": {query: "continue=" + token{"meta.k8s.io/v1", 5, "../secrets"}.String(), message: invalid + "../secrets"},
		"a start with //":        {query: "continue=" + token{"meta.k8s.io/v1", 5, "a//b"}.String(), message: invalid + "a//b"},
		"a resource version beside it": {query: "resourceVersion=5&continue=" + token{"meta.k8s.io/v1", 5, "a"}.String(),
			message: "specifying resource version is not allowed when using continue"},
	}
	forEachSubject(t, func(t *testing.T, s subject) {
		s.new(t)
		for sentence, tc := range cases {
			for _, limit := range []string{"", "limit=1"} {
				got := send(t, call{method: http.MethodGet, path: s.mine(tc.query, limit)}).refusal()
				if diff := cmp.Diff(refusal{400, "BadRequest", tc.message}, got); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", sentence, limit, diff)
				}
			}
		}
		// Version 0 asks for nothing that a token could contradict.
		page := mustSend(t, call{method: http.MethodGet, path: s.mine("limit=1")}, http.StatusOK)
		version, err := strconv.ParseInt(page.text("metadata.resourceVersion"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		rest := token{"meta.k8s.io/v1", version, "zzz"}.String()
		if got := mustSend(t, call{method: http.MethodGet, path: s.mine("resourceVersion=0", parameter("continue", rest))}, http.StatusOK).names(); len(got) != 0 {
			t.Errorf("got %v after the last key", got)
		}
		match := send(t, call{method: http.MethodGet, path: s.mine("resourceVersionMatch=Exact", parameter("continue", rest))})
		want := refusal{422, "Invalid", `ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, ` +
			`resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided]`}
		if diff := cmp.Diff(want, match.refusal()); diff != "" {
			t.Errorf("a match beside it (-want +got):\n%s", diff)
		}
	})
}

// TestListContinueWithoutConsistency shows a token with version -1, as an expired list hands out: it goes on from the
// key in the state of now.
func TestListContinueWithoutConsistency(t *testing.T) {
	t.Parallel()
	s := daemonSetSubject(t)
	names := s.several(t, 3)
	late := names[1] + "-late"
	s.create(t, late)
	a := mustSend(t, call{method: http.MethodGet, path: withQuery(s.root, "limit=2", parameter("continue", token{"meta.k8s.io/v1", -1, names[0] + "\x00"}.String()))}, http.StatusOK)
	if diff := cmp.Diff([]string{names[1], late}, a.names()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	next := parseToken(t, a.text("metadata.continue"))
	if strconv.FormatInt(next.ResourceVersion, 10) != a.text("metadata.resourceVersion") {
		t.Errorf("the next token is for version %d, the page is of %s", next.ResourceVersion, a.text("metadata.resourceVersion"))
	}
}

// TestListPagesInOtherForms shows that pages are the same in every representation.
func TestListPagesInOtherForms(t *testing.T) {
	t.Parallel()
	s := daemonSetSubject(t)
	names := s.several(t, 3)
	for _, form := range []string{"Table", "PartialObjectMetadataList"} {
		accept := "application/json;as=" + form + ";g=meta.k8s.io;v=v1"
		page := mustSend(t, call{method: http.MethodGet, path: withQuery(s.root, "limit=2"), accept: accept}, http.StatusOK)
		if got := page.field("metadata.remainingItemCount"); got != 1.0 || page.text("kind") != form {
			t.Errorf("%s: remainingItemCount = %v of a %s", form, got, page.text("kind"))
		}
		rest := mustSend(t, call{method: http.MethodGet, path: withQuery(s.root, parameter("continue", page.text("metadata.continue"))), accept: accept}, http.StatusOK)
		path := "items.0.metadata.name"
		if form == "Table" {
			path = "rows.0.object.metadata.name"
		}
		if got := rest.text(path); got != names[2] {
			t.Errorf("%s: the second page begins with %q", form, got)
		}
	}
}
