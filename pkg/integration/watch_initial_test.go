// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// watchList asks for the state of now and then for what happens.
const (
	withInitialEvents = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
	watchList         = "watch=true&" + withInitialEvents
)

// initialEventsEnd is the annotation of the bookmark that ends the initial events.
const initialEventsEnd = "k8s.io/initial-events-end"

// emptyBookmark is the object of a bookmark, which is an object of the kind in which only the version is set. What is
// more than the zero value comes from kube-apiserver's conversion of its internal type to v1.
func (s subject) emptyBookmark(version string, annotations map[string]any) map[string]any {
	metadata := map[string]any{"resourceVersion": version}
	object := map[string]any{"kind": s.kind, "apiVersion": s.apiVersion, "metadata": metadata}
	all := map[string]any{}
	for key, value := range annotations {
		all[key] = value
	}
	if s.kind == "DaemonSet" {
		all["deprecated.daemonset.template.generation"] = "0"
		object["spec"] = map[string]any{
			"selector":       nil,
			"template":       map[string]any{"metadata": map[string]any{}, "spec": map[string]any{"containers": nil}},
			"updateStrategy": map[string]any{},
		}
		object["status"] = map[string]any{"currentNumberScheduled": 0.0, "numberMisscheduled": 0.0, "desiredNumberScheduled": 0.0, "numberReady": 0.0}
	} else {
		object["spec"] = map[string]any{"request": nil, "signerName": ""}
		object["status"] = map[string]any{}
	}
	if len(all) > 0 {
		metadata["annotations"] = all
	}
	return object
}

// TestWatchInitialEvents shows the start of a watch: the objects that are there, then a bookmark that says so if
// bookmarks are wanted.
func TestWatchInitialEvents(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		// Whether a state is the newest, or one that may be a little old, and whether a bookmark follows it.
		type start struct{ newest, bookmark bool }
		for query, want := range map[string]start{
			watchList + "&allowWatchBookmarks=true":                      {true, true},
			watchList + "&allowWatchBookmarks=true&resourceVersion=":     {true, true},
			watchList + "&allowWatchBookmarks=true&resourceVersion=0":    {false, true},
			watchList + "&allowWatchBookmarks=true&resourceVersion=LIVE": {true, true},
			// The server takes an old-fashioned watch from any version for one of these.
			"watch=true&allowWatchBookmarks=true":                   {true, true},
			"watch=true&allowWatchBookmarks=true&resourceVersion=0": {false, true},
			watchList:                                {true, false},
			watchList + "&resourceVersion=0":         {false, false},
			watchList + "&resourceVersion=LIVE":      {true, false},
			watchList + "&allowWatchBookmarks=false": {true, false},
			"watch=true":                             {true, false},
			"watch=true&resourceVersion=0":           {false, false},
		} {
			for _, count := range []int{0, 3} {
				t.Run(fmt.Sprint(query, " of ", count), func(t *testing.T) {
					t.Parallel()
					s := s
					s.label = unique("l")
					names := s.several(t, count)
					live := mustSend(t, call{method: http.MethodGet, path: s.mine()}, http.StatusOK).text("metadata.resourceVersion")
					if !want.newest {
						soon(t, func() error {
							return diffError(len(names), len(mustSend(t, call{method: http.MethodGet, path: s.mine("resourceVersion=0")}, http.StatusOK).names()))
						})
					}
					watch := startWatch(t, call{path: s.mine(strings.ReplaceAll(query, "LIVE", live))})
					s.checkInitialEvents(t, watch, names)
					if want.bookmark {
						version := s.checkInitialEventsEnd(t, watch)
						if want.newest && newer(t, live, version) {
							t.Errorf("the bookmark is at %s, before %s", version, live)
						}
					}
					// That there is nothing else shows in what comes next.
					created := s.new(t)
					next := watch.next
					if want.bookmark {
						next = watch.nextChange
					}
					if got := next(t).summary(); got != "ADDED "+created.text("metadata.name") {
						t.Errorf("got %s, want the next creation", got)
					}
				})
			}
		}
	})
}

// checkInitialEvents checks that a watch begins with the objects, in order.
func (s subject) checkInitialEvents(t *testing.T, watch *watching, names []string) {
	t.Helper()
	for _, name := range names {
		e := watch.next(t)
		if diff := cmp.Diff(s.get(t, name).object, e.Object); e.Type != "ADDED" || diff != "" {
			t.Fatalf("%s of %s (-object +event):\n%s", e.Type, name, diff)
		}
	}
}

// checkInitialEventsEnd checks that the bookmark comes next and returns its version.
func (s subject) checkInitialEventsEnd(t *testing.T, watch *watching) string {
	t.Helper()
	e := watch.next(t)
	version := e.text("metadata.resourceVersion")
	if diff := cmp.Diff(s.emptyBookmark(version, map[string]any{initialEventsEnd: "true"}), e.Object); e.Type != "BOOKMARK" || diff != "" {
		t.Fatalf("%s (-want +got):\n%s", e.Type, diff)
	}
	return version
}

// TestWatchWithoutInitialEvents shows watches that begin with what happens next.
func TestWatchWithoutInitialEvents(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		first := s.new(t)
		list := mustSend(t, call{method: http.MethodGet, path: s.mine()}, http.StatusOK)
		live := list.text("metadata.resourceVersion")
		second := s.new(t).text("metadata.name")
		watches := map[string]*watching{}
		for _, query := range []string{
			"watch=true&resourceVersion=" + live,
			"watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=" + live,
			"watch=true&allowWatchBookmarks=true&resourceVersion=" + live,
			"watch=1&resourceVersion=" + live,
			"watch=&resourceVersion=" + live,
			"watch=maybe&resourceVersion=" + live,
			"watch=true&limit=1&resourceVersion=" + live,
		} {
			watches[query] = startWatch(t, call{path: s.mine(query)})
		}
		// Version 0 and no version begin now, so they don't see what was created before.
		now := map[string]*watching{}
		for _, query := range []string{
			"watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
			"watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
		} {
			now[query] = startWatch(t, call{path: s.mine(query)})
		}
		third := s.new(t).text("metadata.name")
		for query, watch := range watches {
			if diff := cmp.Diff([]string{"ADDED " + second, "ADDED " + third}, summaries([]watchEvent{watch.nextChange(t), watch.nextChange(t)})); diff != "" {
				t.Errorf("%s after %s (-want +got):\n%s", query, first.text("metadata.name"), diff)
			}
		}
		for query, watch := range now {
			if diff := cmp.Diff([]string{"ADDED " + third}, summaries([]watchEvent{watch.nextChange(t)})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", query, diff)
			}
		}
	})
}

// TestWatchOrList shows which values of the parameter make a request a list.
func TestWatchOrList(t *testing.T) {
	t.Parallel()
	s := daemonSetSubject(t)
	cases := map[string]bool{
		"watch=false": true, "watch=FALSE": true, "watch=0": true, "Watch=true": true, "watch=false&watch=true": true,
		"watch=F": false, "watch=no": false, "watch=": false, "watch": false, "watch=true&watch=false": false,
	}
	queries := slices.Sorted(maps.Keys(cases))
	var calls []call
	for _, query := range queries {
		calls = append(calls, call{method: http.MethodGet, path: withQuery(s.root, query, "timeoutSeconds=1")})
	}
	for i, a := range sendTogether(t, calls...) {
		list := cases[queries[i]]
		if got := a.text("kind") == "DaemonSetList"; a.code != http.StatusOK || got != list || (!list && len(a.raw) != 0) {
			t.Errorf("%s: got %d, list = %t, want %t: %s", queries[i], a.code, got, list, a.raw)
		}
	}
}

// TestWatchErrors shows what can't be watched, on every path that watches.
func TestWatchErrors(t *testing.T) {
	t.Parallel()
	invalid := func(message string) refusal {
		return refusal{422, "Invalid", `ListOptions.meta.k8s.io "" is invalid: ` + message}
	}
	const (
		needsMatch  = `resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`
		noMatch     = `resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided`
		noContinue  = `resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided`
		otherMatch  = `resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"`
		bogusMatch  = `resourceVersionMatch: Unsupported value: "Bogus": supported values: "NotOlderThan"`
		notAVersion = `resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`
	)
	cases := map[string]struct {
		query string
		want  refusal
	}{
		"initial events without a match":        {"sendInitialEvents=true", invalid(needsMatch)},
		"no initial events without a match":     {"sendInitialEvents=false", invalid(needsMatch)},
		"initial events exactly":                {"sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=5", invalid(`[` + needsMatch + `, ` + otherMatch + `]`)},
		"a match without a word on them":        {"resourceVersionMatch=NotOlderThan&resourceVersion=5", invalid(noMatch)},
		"another match without a word on them":  {"resourceVersionMatch=Exact&resourceVersion=5", invalid(`[` + noMatch + `, ` + otherMatch + `]`)},
		"an unknown match":                      {"resourceVersionMatch=Bogus", invalid(`[` + noMatch + `, ` + bogusMatch + `]`)},
		"a continue token":                      {"continue=x", invalid(noContinue)},
		"a continue token and initial events":   {"continue=x&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", invalid(noContinue)},
		"a version that is a word":              {"resourceVersion=abc", refusal{500, "", notAVersion}},
		"that with initial events":              {"resourceVersion=abc&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", refusal{500, "", notAVersion}},
		"a timeout that is a word":              {"timeoutSeconds=x", refusal{400, "BadRequest", `strconv.ParseInt: parsing "x": invalid syntax`}},
		"a timeout that is nothing":             {"timeoutSeconds=", refusal{400, "BadRequest", `strconv.ParseInt: parsing "": invalid syntax`}},
		"a limit that is a word":                {"limit=x", refusal{400, "BadRequest", `strconv.ParseInt: parsing "x": invalid syntax`}},
		"the query name and the path differ":    {"fieldSelector=metadata.name%3Dx", refusal{400, "BadRequest", "fieldSelector metadata.name doesn't match requested name"}},
		"a selector that is not about the name": {"fieldSelector=metadata.name!%3Dx", refusal{400, "BadRequest", "fieldSelector metadata.name doesn't match requested name"}},
	}
	forEachSubject(t, func(t *testing.T, s subject) {
		old := watchPath(s)
		for sentence, tc := range cases {
			paths := map[string]string{"collection": s.root, "old path": old, "old path of one object": old + "/some"}
			if tc.want.Message == "fieldSelector metadata.name doesn't match requested name" {
				paths = map[string]string{"old path of one object": old + "/some"}
			}
			for what, path := range paths {
				if diff := cmp.Diff(tc.want, send(t, call{method: http.MethodGet, path: withQuery(path, "watch=true", tc.query)}).refusal()); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", sentence, what, diff)
				}
			}
		}
	})
}

// TestWatchOldPathErrors shows that the old paths read their parameters as those of a list unless the query says that
// it is a watch too.
func TestWatchOldPathErrors(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		for query, message := range map[string]string{
			"sendInitialEvents=true":                                         `sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`,
			withInitialEvents + "&resourceVersion=0":                         `sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`,
			"resourceVersionMatch=Exact&resourceVersion=0":                   `resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
			"resourceVersionMatch=NotOlderThan":                              `resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`,
			"resourceVersionMatch=NotOlderThan&resourceVersion=1&continue=x": `resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided`,
		} {
			for _, path := range []string{watchPath(s), watchPath(s) + "/some"} {
				want := refusal{422, "Invalid", `ListOptions.meta.k8s.io "" is invalid: ` + message}
				if diff := cmp.Diff(want, send(t, call{method: http.MethodGet, path: withQuery(path, query)}).refusal()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", query, diff)
				}
			}
		}
	})
}

// TestWatchOldPathInitialEvents shows that the old paths begin with the objects that are there, from any version, and
// never say that these are all, if the query does not say that it is a watch.
func TestWatchOldPathInitialEvents(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		names := s.several(t, 2)
		soon(t, func() error {
			return diffError(2, len(mustSend(t, call{method: http.MethodGet, path: s.mine("resourceVersion=0")}, http.StatusOK).names()))
		})
		selected := "labelSelector=test%3D" + s.label
		watches := map[string]*watching{}
		for _, query := range []string{"", "resourceVersion=0", "allowWatchBookmarks=true", "resourceVersion=0&allowWatchBookmarks=true"} {
			watches[query] = startWatch(t, call{path: withQuery(watchPath(s), selected, query)})
			s.checkInitialEvents(t, watches[query], names)
		}
		one := startWatch(t, call{path: watchPath(s) + "/" + names[1]})
		s.checkInitialEvents(t, one, names[1:])
		created := s.new(t)
		for query, watch := range watches {
			if got := watch.nextChange(t).summary(); got != "ADDED "+created.text("metadata.name") {
				t.Errorf("%s: got %s, want the next creation", query, got)
			}
		}
		marked := startWatch(t, call{path: withQuery(watchPath(s), selected, watchList, "allowWatchBookmarks=true")})
		if got := len(marked.until(t, isInitialEventsEnd)); got != 4 {
			t.Errorf("with watch=true: got %d events", got)
		}
	})
}

// watchPath is the old path of a watch of the collection.
func watchPath(s subject) string {
	if s.namespace == "" {
		return "/apis/" + s.apiVersion + "/watch/" + s.resource
	}
	return "/apis/" + s.apiVersion + "/watch/namespaces/" + s.namespace + "/" + s.resource
}

// TestWatchVersionOfTheFuture shows that a watch waits for a version that has not come, unless it has to begin with a
// state that new.
func TestWatchVersionOfTheFuture(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		future := "timeoutSeconds=4&resourceVersion=" + tooLarge
		message := regexp.MustCompile(`^Timeout: Too large resource version: ` + tooLarge + `, current: [1-9][0-9]*$`)
		answers := sendTogether(t,
			call{method: http.MethodGet, path: s.mine(watchList, future)},
			call{method: http.MethodGet, path: s.mine(watchList, "allowWatchBookmarks=true", future)},
			call{method: http.MethodGet, path: s.mine("watch=true", future)},
			call{method: http.MethodPost, path: s.root, body: s.object(unique("o"))})
		for _, a := range answers[:2] {
			got := answer{}
			got.object, _ = a.field("object").(map[string]any)
			if a.code != http.StatusOK || a.text("type") != "ERROR" || !message.MatchString(got.message()) ||
				got.text("reason") != "Timeout" || got.field("code") != 504.0 || got.field("details.retryAfterSeconds") != 1.0 {
				t.Errorf("got %d %s, want one error", a.code, a.raw)
			}
		}
		if silent := answers[2]; silent.code != http.StatusOK || len(silent.raw) != 0 || silent.took < 3*time.Second {
			t.Errorf("without initial events: got %d %s after %s", silent.code, silent.raw, silent.took)
		}
	})
}

// TestWatchTimeout shows timeoutSeconds: when the server ends a watch.
func TestWatchTimeout(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		live := mustSend(t, call{method: http.MethodGet, path: s.mine()}, http.StatusOK).text("metadata.resourceVersion")
		from := "resourceVersion=" + live
		type limited struct {
			*watching
			seconds int
		}
		watches := map[string]limited{}
		for _, path := range []string{s.mine("watch=true"), withQuery(watchPath(s), "labelSelector=test%3D"+s.label)} {
			for seconds, query := range map[int]string{1: "timeoutSeconds=1", 3: "timeoutSeconds=3", 2: "timeoutSeconds=2&timeoutSeconds=60"} {
				path := withQuery(path, query, from)
				watches[path] = limited{startWatch(t, call{path: path}), seconds}
			}
		}
		// Zero is the server's choice, which is half an hour or more.
		endless := startWatch(t, call{path: s.mine("watch=true", "timeoutSeconds=0", from)})
		over := startWatch(t, call{path: s.mine("watch=true", "timeoutSeconds=-1", from)})
		for path, watch := range watches {
			events := watch.rest(t)
			if want := time.Duration(watch.seconds) * time.Second; watch.took < want-50*time.Millisecond || watch.took > want+5*time.Second || len(events) != 0 {
				t.Errorf("%s: ended after %s with %v, want %s", path, watch.took, events, want)
			}
		}
		select {
		case e, ok := <-endless.events:
			t.Errorf("without a limit: got %v %t", e, ok)
		default:
		}
		if events := over.rest(t); slices.ContainsFunc(events, func(e watchEvent) bool { return e.Type != "ERROR" }) {
			t.Errorf("with a negative limit: got %v", events)
		}
	})
}

// TestWatchBookmarks shows the bookmark that a watch gets shortly before it ends, so that the next can go on from there.
func TestWatchBookmarks(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		live := mustSend(t, call{method: http.MethodGet, path: s.mine()}, http.StatusOK).text("metadata.resourceVersion")
		cases := map[string]bool{"allowWatchBookmarks=true": true, "allowWatchBookmarks=1": true, "": false, "allowWatchBookmarks=false": false}
		watches := map[string]*watching{}
		for query := range cases {
			watches[query] = startWatch(t, call{path: s.mine("watch=true", query, "timeoutSeconds=5", "resourceVersion="+live)})
		}
		created := s.new(t)
		for query, bookmarks := range cases {
			watch := watches[query]
			if got := watch.nextChange(t).summary(); got != "ADDED "+created.text("metadata.name") {
				t.Fatalf("%q: got %s", query, got)
			}
			events := watch.rest(t)
			if (len(events) > 0) != bookmarks {
				t.Fatalf("%q: got %v, want bookmarks = %t", query, events, bookmarks)
			}
			for _, e := range events {
				version := e.text("metadata.resourceVersion")
				if diff := cmp.Diff(s.emptyBookmark(version, nil), e.Object); e.Type != "BOOKMARK" || diff != "" {
					t.Errorf("%q: %s (-want +got):\n%s", query, e.Type, diff)
				}
				if newer(t, created.text("metadata.resourceVersion"), version) {
					t.Errorf("%q: the bookmark is at %s, before the event at %s", query, version, created.text("metadata.resourceVersion"))
				}
			}
		}
	})
}
