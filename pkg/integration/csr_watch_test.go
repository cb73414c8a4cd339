// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/internal/gen"
)

// The life of an object, seen through every URL of a watch.
func TestCSRWatch(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"the collection":                         csrCollection + "?watch=true&fieldSelector=spec.signerName%3D$ONE",
		"the collection with watch=1":            csrCollection + "?watch=1&fieldSelector=spec.signerName%3D$ONE",
		"the collection, one name":               csrCollection + "?watch=true&fieldSelector=metadata.name%3D$NEW",
		"the collection, a label":                csrCollection + "?watch=true&labelSelector=family%3D$LABEL",
		"the deprecated URL":                     csrWatch + "?fieldSelector=spec.signerName%3D$ONE",
		"the deprecated URL, watch=false":        csrWatch + "?watch=false&fieldSelector=spec.signerName%3D$ONE",
		"the deprecated URL of one object":       csrWatch + "/$NEW",
		"the deprecated URL, a name and a label": csrWatch + "/$NEW?labelSelector=family%3D$LABEL",
		"the deprecated URL, the name twice":     csrWatch + "/$NEW?fieldSelector=metadata.name%3D$NEW",
	}
	for about, path := range tests {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			f := family{one: "example.com/" + unique("one"), other: "example.com/" + unique("other"), label: unique("label")}
			name, stranger := unique("csr"), unique("csr")
			list := mustSend(t, call{method: http.MethodGet, path: csrCollection + "?limit=1"}, http.StatusOK)
			path := strings.ReplaceAll(f.expand(path), "$NEW", name)
			path = withQuery(path, "resourceVersion="+list.text("metadata.resourceVersion"))
			stream := startWatch(t, call{path: path})

			// A stranger of another signer and family is never seen.
			mustSend(t, call{method: http.MethodPost, path: csrCollection, body: csrBody(t, stranger, gen.WithSigner(f.other))}, http.StatusCreated)
			check := func(kind string, a answer) {
				t.Helper()
				event := expectEvents(t, stream, kind+" "+name)
				if diff := cmp.Diff(a.object, event.Object); diff != "" {
					t.Errorf("object of the event %s (-answer +event):\n%s", kind, diff)
				}
			}
			check("ADDED", f.create(t, name, f.one))
			check("MODIFIED", approve(t, name))
			check("MODIFIED", issue(t, name))
			check("MODIFIED", mustSend(t, call{method: http.MethodPatch, path: csrPath(name), contentType: mergePatch, body: withLabel("a", "b")}, http.StatusOK))
			last := getCSR(t, name)
			mustSend(t, call{method: http.MethodDelete, path: csrPath(name)}, http.StatusOK)
			event := expectEvents(t, stream, "DELETED "+name)
			if event.text("metadata.resourceVersion") == last.text("metadata.resourceVersion") {
				t.Error("the event of the deletion has the resource version of the write before")
			}
			event.Object["metadata"].(map[string]any)["resourceVersion"] = last.text("metadata.resourceVersion")
			if diff := cmp.Diff(last.object, event.Object); diff != "" {
				t.Errorf("object of the event DELETED (-last +event):\n%s", diff)
			}
		})
	}
}

// What a watch begins with. That nothing more comes is seen by the event of a change that is made afterwards.
func TestCSRWatchStart(t *testing.T) {
	t.Parallel()
	const (
		one      = "fieldSelector=spec.signerName%3D$ONE"
		initial  = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
		bookmark = "&allowWatchBookmarks=true"
		watch    = csrCollection + "?watch=true&" + one
	)
	tests := map[string]struct {
		path string
		want []string
	}{
		"no resource version: what there is":             {watch, []string{"ADDED $A", "ADDED $B"}},
		"the deprecated URL: what there is":              {csrWatch + "?" + one, []string{"ADDED $A", "ADDED $B"}},
		"the deprecated URL of one object":               {csrWatch + "/$A", []string{"ADDED $A"}},
		"from the newest resource version: nothing":      {watch + "&resourceVersion=$VERSION", nil},
		"a label and a field":                            {watch + "&labelSelector=color%3Dred", []string{"ADDED $A"}},
		"no resource version, bookmarks: one at the end": {watch + bookmark, []string{"ADDED $A", "ADDED $B", "BOOKMARK"}},
		"initial events without bookmarks":               {watch + initial, []string{"ADDED $A", "ADDED $B"}},
		"initial events with bookmarks":                  {watch + initial + bookmark, []string{"ADDED $A", "ADDED $B", "BOOKMARK"}},
		"initial events with bookmarks, from a version":  {watch + initial + bookmark + "&resourceVersion=$VERSION", []string{"ADDED $A", "ADDED $B", "BOOKMARK"}},
		"no initial events, asked for so":                {watch + "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan", nil},
		"the deprecated URL, initial events":             {csrWatch + "?watch=true&" + one + initial + bookmark, []string{"ADDED $A", "ADDED $B", "BOOKMARK"}},
		"the deprecated URL of one, from the newest":     {csrWatch + "/$A?resourceVersion=$VERSION", nil},
		"the deprecated URL of one, with initial events": {csrWatch + "/$A?watch=true" + initial + bookmark, []string{"ADDED $A", "BOOKMARK"}},
	}
	for about, test := range tests {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			f := newFamily(t)
			stream := startWatch(t, call{path: f.expand(test.path)})
			for _, event := range test.want {
				expectEvents(t, stream, f.expand(event))
			}
			mustSend(t, call{method: http.MethodPatch, path: csrPath(f.a), contentType: mergePatch, body: withLabel("a", "b")}, http.StatusOK)
			expectEvents(t, stream, "MODIFIED "+f.a)
		})
	}
	t.Run("a watch from 0 with bookmarks is a watch-list", func(t *testing.T) {
		t.Parallel()
		f := newFamily(t)
		// The cache may be behind, so that the objects may come before or after the bookmark, but each comes once.
		stream := startWatch(t, call{path: f.expand(watch + bookmark + "&resourceVersion=0")})
		got := []string{strings.TrimSpace(stream.next(t).summary()), strings.TrimSpace(stream.next(t).summary()), strings.TrimSpace(stream.next(t).summary())}
		slices.Sort(got)
		if diff := cmp.Diff([]string{"ADDED " + f.a, "ADDED " + f.b, "BOOKMARK"}, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
	t.Run("the server ends a watch after timeoutSeconds", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{csrCollection + "?watch=true&", csrWatch + "?", csrWatch + "/nothing?"} {
			stream := startWatch(t, call{path: path + "timeoutSeconds=1&fieldSelector=metadata.name%3Dnothing"})
			if diff := cmp.Diff([]string{}, summaries(stream.rest(t))); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		}
	})
}

// The bookmark that ends the initial events is an empty object of the kind.
func TestCSRWatchBookmark(t *testing.T) {
	t.Parallel()
	for about, query := range map[string]string{
		"sendInitialEvents":        "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
		"from resource version 0":  "&resourceVersion=0",
		"sendInitialEvents from 0": "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0",
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			stream := startWatch(t, call{path: csrCollection + "?watch=true&allowWatchBookmarks=true&fieldSelector=spec.signerName%3Dexample.com%2Fnobody" + query})
			event := expectEvents(t, stream, "BOOKMARK")
			version := event.text("metadata.resourceVersion")
			want := map[string]any{
				"kind": "CertificateSigningRequest", "apiVersion": "certificates.k8s.io/v1",
				"metadata": map[string]any{"resourceVersion": version, "annotations": map[string]any{"k8s.io/initial-events-end": "true"}},
				"spec":     map[string]any{"request": nil, "signerName": ""},
				"status":   map[string]any{},
			}
			if diff := cmp.Diff(want, event.Object); diff != "" || version == "" || version == "0" {
				t.Errorf("bookmark (-want +got):\n%s", diff)
			}
		})
	}
}

// Objects that start or cease to match a selector come and go as if created and deleted.
func TestCSRWatchSelectorTransitions(t *testing.T) {
	t.Parallel()
	for about, path := range map[string]string{
		"the collection": csrCollection + "?watch=true&", "the deprecated URL": csrWatch + "?",
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			f := newFamily(t)
			stream := startWatch(t, call{path: path + "labelSelector=mark%3Dyes&resourceVersion=" + f.version + "&fieldSelector=" + url.QueryEscape("spec.signerName="+f.one)})
			mark := func(name string, value any) answer {
				return mustSend(t, call{
					method: http.MethodPatch, path: csrPath(name), contentType: mergePatch,
					body: map[string]any{"metadata": map[string]any{"labels": map[string]any{"mark": value}}},
				}, http.StatusOK)
			}
			mark(f.c, "yes")
			mark(f.a, "yes")
			expectEvents(t, stream, "ADDED "+f.a)
			approve(t, f.a)
			expectEvents(t, stream, "MODIFIED "+f.a)
			removed := mark(f.a, nil)
			event := expectEvents(t, stream, "DELETED "+f.a)
			if got, want := event.text("metadata.resourceVersion"), removed.text("metadata.resourceVersion"); got != want {
				t.Errorf("resource version %s, want %s, that of the change", got, want)
			}
			if event.text("metadata.labels.mark") != "yes" {
				t.Errorf("the event does not show the object as it was when it matched: %v", event.Object)
			}
			mark(f.b, "yes")
			expectEvents(t, stream, "ADDED "+f.b)
			mark(f.b, nil)
			expectEvents(t, stream, "DELETED "+f.b)
		})
	}
}

func TestCSRWatchForms(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	selector := "&fieldSelector=" + url.QueryEscape("metadata.name="+f.a)
	t.Run("tables", func(t *testing.T) {
		t.Parallel()
		stream := startWatch(t, call{path: csrCollection + "?watch=true" + selector, accept: "application/json;as=Table;v=v1;g=meta.k8s.io"})
		event := answer{object: expectEvents(t, stream, "ADDED").Object}
		checkField(t, event, "kind", "Table")
		checkField(t, event, "rows.0.cells.0", f.a)
		checkField(t, event, "rows.0.object.kind", "PartialObjectMetadata")
	})
	t.Run("metadata only", func(t *testing.T) {
		t.Parallel()
		stream := startWatch(t, call{path: csrCollection + "?watch=true" + selector, accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"})
		event := answer{object: expectEvents(t, stream, "ADDED "+f.a).Object}
		checkField(t, event, "kind", "PartialObjectMetadata")
		checkField(t, event, "apiVersion", "meta.k8s.io/v1")
		checkField(t, event, "spec", nil)
	})
	t.Run("a GET of one object is no watch", func(t *testing.T) {
		t.Parallel()
		a := mustSend(t, call{method: http.MethodGet, path: csrPath(f.a) + "?watch=true"}, http.StatusOK)
		if diff := cmp.Diff(getCSR(t, f.a).object, a.object); diff != "" {
			t.Errorf("object (-want +got):\n%s", diff)
		}
	})
	t.Run("a name in the URL takes no field of another", func(t *testing.T) {
		t.Parallel()
		for _, selector := range []string{"metadata.name=" + f.b, "spec.signerName=" + f.one} {
			a := send(t, call{method: http.MethodGet, path: csrWatch + "/" + f.a + "?timeoutSeconds=1&fieldSelector=" + url.QueryEscape(selector)})
			checkRefused(t, a, "", badRequest("fieldSelector metadata.name doesn't match requested name"))
		}
	})
	t.Run("the deprecated URL takes initial events only with watch=true", func(t *testing.T) {
		t.Parallel()
		a := send(t, call{method: http.MethodGet, path: csrWatch + "?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"})
		checkRefused(t, a, "", refusal{
			Code: http.StatusUnprocessableEntity, Reason: "Invalid",
			Message: `ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, ` +
				"sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list]",
		})
	})
}
