// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestWatchEvents shows the life of an object as events on every path that watches it. Each holds the object as it
// was answered; the last one the object as it was, with the version of the deletion.
func TestWatchEvents(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		name := unique("o")
		begin := mustSend(t, call{method: http.MethodGet, path: s.mine()}, http.StatusOK).text("metadata.resourceVersion")
		only := "fieldSelector=metadata.name%3D" + name
		paths := []string{
			s.mine("watch=true"),
			withQuery(s.root, "watch=true", only),
			withQuery(watchPath(s), only),
			watchPath(s) + "/" + name,
			withQuery(watchPath(s)+"/"+name, only, "watch=true"),
		}
		if s.namespace != "" {
			paths = append(paths,
				withQuery("/apis/apps/v1/daemonsets", "watch=true", "labelSelector=test%3D"+s.label),
				withQuery("/apis/apps/v1/watch/daemonsets", "labelSelector=test%3D"+s.label))
		}
		watches := map[string]*watching{}
		for _, path := range paths {
			watches[path] = startWatch(t, call{path: withQuery(path, "resourceVersion="+begin)})
		}
		created := s.create(t, name)
		patched := mustSend(t, call{method: http.MethodPatch, contentType: mergePatch, path: s.path(name), body: `{"metadata":{"labels":{"a":"1"}}}`}, 200)
		status := mustSend(t, call{method: http.MethodPatch, contentType: mergePatch, path: s.path(name, "status"), body: `{"metadata":{"labels":{"a":"2"}}}`}, 200)
		// Neither a write that changes nothing nor a dry run is an event.
		mustSend(t, call{method: http.MethodPatch, contentType: mergePatch, path: s.path(name), body: `{"metadata":{"labels":{"a":"2"}}}`}, 200)
		mustSend(t, call{method: http.MethodPatch, contentType: mergePatch, path: withQuery(s.path(name), "dryRun=All"), body: `{"metadata":{"labels":{"a":"3"}}}`}, 200)
		mustSend(t, call{method: http.MethodDelete, path: withQuery(s.path(name), "dryRun=All")}, 200)
		finalizer := mustSend(t, call{method: http.MethodPatch, contentType: mergePatch, path: s.path(name), body: `{"metadata":{"finalizers":["a.io/b"]}}`}, 200)
		terminating := mustSend(t, call{method: http.MethodDelete, path: s.path(name)}, 200)
		mustSend(t, call{method: http.MethodPatch, contentType: mergePatch, path: s.path(name), body: `{"metadata":{"finalizers":null}}`}, 200)
		again := s.create(t, name)

		for path, watch := range watches {
			for _, want := range []struct {
				kind   string
				object answer
			}{{"ADDED", created}, {"MODIFIED", patched}, {"MODIFIED", status}, {"MODIFIED", finalizer}, {"MODIFIED", terminating}} {
				e := watch.next(t)
				if diff := cmp.Diff(want.object.object, e.Object); e.Type != want.kind || diff != "" {
					t.Errorf("%s: %s, want %s (-want +got):\n%s", path, e.Type, want.kind, diff)
				}
			}
			gone := watch.next(t)
			if gone.Type != "DELETED" || gone.text("metadata.deletionTimestamp") == "" || !newer(t, gone.text("metadata.resourceVersion"), terminating.text("metadata.resourceVersion")) {
				t.Errorf("%s: got %v, want the deletion", path, gone)
			}
			e := watch.next(t)
			if diff := cmp.Diff(again.object, e.Object); e.Type != "ADDED" || diff != "" {
				t.Errorf("%s: %s of the next object of that name (-want +got):\n%s", path, e.Type, diff)
			}
		}
	})
}

// TestWatchSelection shows that an object that comes into or out of a selection is added or deleted for the watch.
func TestWatchSelection(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		name := unique("o")
		begin := mustSend(t, call{method: http.MethodGet, path: s.mine()}, http.StatusOK).text("metadata.resourceVersion")
		watch := func(selector string) *watching {
			return startWatch(t, call{path: withQuery(s.root, "watch=true", parameter("labelSelector", "test="+s.label+","+selector), "resourceVersion="+begin)})
		}
		in, out, any := watch("tier in (x,y)"), watch("tier!=x"), watch("tier")
		s.create(t, name)
		label := func(value string) {
			mustSend(t, call{method: http.MethodPatch, contentType: mergePatch, path: s.path(name), body: `{"metadata":{"labels":{"tier":` + value + `}}}`}, 200)
		}
		for _, value := range []string{`"x"`, `"y"`, `"z"`, `null`, `"x"`} {
			label(value)
		}
		mustSend(t, call{method: http.MethodDelete, path: s.path(name)}, 200)
		for _, tc := range []struct {
			watch  *watching
			events []string
		}{
			{in, []string{"ADDED x", "MODIFIED y", "DELETED y", "ADDED x", "DELETED x"}},
			{out, []string{"ADDED ", "DELETED ", "ADDED y", "MODIFIED z", "MODIFIED ", "DELETED "}},
			{any, []string{"ADDED x", "MODIFIED y", "MODIFIED z", "DELETED z", "ADDED x", "DELETED x"}},
		} {
			var got []string
			for range tc.events {
				e := tc.watch.next(t)
				got = append(got, e.Type+" "+e.text("metadata.labels.tier"))
			}
			if diff := cmp.Diff(tc.events, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	})
}

// TestWatchSignerName shows a watch by a field of the spec.
func TestWatchSignerName(t *testing.T) {
	t.Parallel()
	s := csrSubject(t)
	signer := "example.com/" + unique("signer")
	begin := mustSend(t, call{method: http.MethodGet, path: s.mine()}, http.StatusOK).text("metadata.resourceVersion")
	watch := startWatch(t, call{path: withQuery(s.root, "watch=true", parameter("fieldSelector", "spec.signerName="+signer), "resourceVersion="+begin)})
	s.new(t)
	s.spec = maps.Clone(s.spec)
	s.spec["signerName"] = signer
	name := s.new(t).text("metadata.name")
	mustSend(t, call{method: http.MethodDelete, path: s.path(name)}, 200)
	if diff := cmp.Diff([]string{"ADDED " + name, "DELETED " + name}, summaries([]watchEvent{watch.next(t), watch.next(t)})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWatchFromEachVersion shows that a watch may begin at the version of any event and then has all later ones.
func TestWatchFromEachVersion(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		created := s.new(t)
		name := created.text("metadata.name")
		patched := mustSend(t, call{method: http.MethodPatch, contentType: mergePatch, path: s.path(name), body: `{"metadata":{"labels":{"a":"1"}}}`}, 200)
		mustSend(t, call{method: http.MethodDelete, path: s.path(name)}, 200)
		from := func(a answer) *watching {
			return startWatch(t, call{path: s.mine("watch=true", "timeoutSeconds=2", "resourceVersion="+a.text("metadata.resourceVersion"))})
		}
		first, second := from(created), from(patched)
		if diff := cmp.Diff([]string{"MODIFIED " + name, "DELETED " + name}, summaries(first.rest(t))); diff != "" {
			t.Errorf("from the creation (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"DELETED " + name}, summaries(second.rest(t))); diff != "" {
			t.Errorf("from the patch (-want +got):\n%s", diff)
		}
	})
}

// TestWatchOfOneObjectPath shows that the path of an object is read, never watched.
func TestWatchOfOneObjectPath(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		created := s.new(t)
		a := mustSend(t, call{method: http.MethodGet, path: withQuery(s.path(created.text("metadata.name")), "watch=true")}, http.StatusOK)
		if diff := cmp.Diff(created.object, a.object); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestWatchForms shows the stream in each representation.
func TestWatchForms(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		s.several(t, 2)
		query := s.mine(watchList, "allowWatchBookmarks=true")
		t.Run("JSON", func(t *testing.T) {
			t.Parallel()
			for _, accept := range []string{"application/json", "application/json;stream=watch", "*/*", "text/html, */*", "application/yaml;q=0.5, application/json"} {
				watch := startWatch(t, call{path: query, accept: accept})
				if got := watch.response.Header.Get("Content-Type"); got != "application/json" {
					t.Errorf("%s: got Content-Type %s", accept, got)
				}
				if got := len(watch.until(t, isInitialEventsEnd)); got != 3 {
					t.Errorf("%s: got %d events", accept, got)
				}
			}
		})
		t.Run("Table", func(t *testing.T) {
			t.Parallel()
			for _, version := range []string{"v1", "v1beta1"} {
				watch := startWatch(t, call{path: query, accept: "application/json;as=Table;g=meta.k8s.io;v=" + version})
				s.checkTableEvents(t, watch.until(t, func(e watchEvent) bool { return e.Type == "BOOKMARK" }), version)
			}
		})
		t.Run("PartialObjectMetadata", func(t *testing.T) {
			t.Parallel()
			for _, version := range []string{"v1", "v1beta1"} {
				watch := startWatch(t, call{path: query, accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=" + version})
				events := watch.until(t, isInitialEventsEnd)
				var got []string
				for _, e := range events {
					got = append(got, e.Type+" "+e.text("apiVersion")+" "+e.text("kind"))
					if e.Object["spec"] != nil || e.Object["status"] != nil {
						t.Errorf("more than metadata: %v", e.Object)
					}
				}
				want := []string{"ADDED meta.k8s.io/" + version + " PartialObjectMetadata", "ADDED meta.k8s.io/" + version + " PartialObjectMetadata", "BOOKMARK meta.k8s.io/" + version + " PartialObjectMetadata"}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
		t.Run("protobuf", func(t *testing.T) {
			t.Parallel()
			for _, accept := range []string{"application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf;stream=watch"} {
				s.checkProtobufWatch(t, call{method: http.MethodGet, path: query, accept: accept})
			}
		})
	})
}

// TestWatchNotAcceptable shows the forms that a stream does not have.
func TestWatchNotAcceptable(t *testing.T) {
	t.Parallel()
	const (
		streams = `only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch`
		others  = `only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf`
		routes  = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, " +
			"application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
	)
	refused := map[string]string{
		"application/yaml":                                                streams,
		"application/yaml, application/json":                              streams,
		"application/yaml;as=Table;g=meta.k8s.io;v=v1":                    streams,
		"application/yaml;stream=watch":                                   others,
		"application/json;stream=frob":                                    others,
		"application/vnd.kubernetes.protobuf;stream=frob":                 others,
		"application/json;as=Frob;g=meta.k8s.io;v=v1":                     others,
		"application/json;as=Table;g=meta.k8s.io;v=v2":                    others,
		"application/json;as=Table;g=example.com;v=v1":                    others,
		"application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1": others,
		"application/*":        routes,
		"text/html":            routes,
		"application/cbor":     routes,
		"application/cbor-seq": routes,
	}
	forEachSubject(t, func(t *testing.T, s subject) {
		for accept, message := range refused {
			got := send(t, call{method: http.MethodGet, path: s.mine(watchList), accept: accept}).decoded(t).refusal()
			if diff := cmp.Diff(refusal{406, "NotAcceptable", message}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", accept, diff)
			}
		}
	})
}

func isInitialEventsEnd(e watchEvent) bool {
	return e.text(`metadata.annotations.k8s\.io/initial-events-end`) == "true"
}

// checkTableEvents checks a stream of tables of one row each. Only the first has columns.
func (s subject) checkTableEvents(t *testing.T, events []watchEvent, version string) {
	t.Helper()
	if len(events) != 3 {
		t.Fatalf("got %d events", len(events))
	}
	for i, e := range events {
		if e.text("kind") != "Table" || e.text("apiVersion") != "meta.k8s.io/"+version {
			t.Errorf("event %d is a %s of %s", i, e.text("kind"), e.text("apiVersion"))
		}
		columns, _ := e.Object["columnDefinitions"].([]any)
		if (len(columns) > 0) != (i == 0) {
			t.Errorf("event %d has %d columns", i, len(columns))
		}
		rows, _ := e.Object["rows"].([]any)
		if len(rows) != 1 || e.text("rows.0.object.kind") != "PartialObjectMetadata" {
			t.Errorf("event %d: rows %v", i, rows)
		}
	}
	if events[2].Type != "BOOKMARK" || events[2].text(`rows.0.object.metadata.annotations.k8s\.io/initial-events-end`) != "true" {
		t.Errorf("the bookmark: %v", events[2])
	}
}

// checkProtobufWatch reads a stream of length-delimited messages, each with an envelope in it.
func (s subject) checkProtobufWatch(t *testing.T, c call) {
	t.Helper()
	response := open(t, c)
	defer func() { _ = response.Body.Close() }()
	if got := response.Header.Get("Content-Type"); got != "application/vnd.kubernetes.protobuf;stream=watch" {
		t.Fatalf("%s: got %d, Content-Type %s", c.accept, response.StatusCode, got)
	}
	var got []string
	for len(got) == 0 || !strings.HasPrefix(got[len(got)-1], "BOOKMARK") {
		var length uint32
		if err := binary.Read(response.Body, binary.BigEndian, &length); err != nil {
			t.Fatal(err)
		}
		frame := make([]byte, length)
		if _, err := io.ReadFull(response.Body, frame); err != nil {
			t.Fatal(err)
		}
		var event metav1.WatchEvent
		if err := event.Unmarshal(frame); err != nil {
			t.Fatalf("%s: %v", c.accept, err)
		}
		envelope := unknownOf(t, event.Object.Raw)
		got = append(got, event.Type+" "+envelope.APIVersion+" "+envelope.Kind)
	}
	want := []string{"ADDED " + s.apiVersion + " " + s.kind, "ADDED " + s.apiVersion + " " + s.kind, "BOOKMARK " + s.apiVersion + " " + s.kind}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", c.accept, diff)
	}
}

// unknownOf opens the envelope of an object in protobuf (k8s.io/apimachinery/pkg/runtime/serializer/protobuf).
func unknownOf(t *testing.T, raw []byte) runtime.Unknown {
	t.Helper()
	body, ok := strings.CutPrefix(string(raw), "k8s\x00")
	if !ok {
		t.Fatalf("no envelope: %.20q", raw)
	}
	var out runtime.Unknown
	if err := out.Unmarshal([]byte(body)); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWatchCompression shows which watches are compressed: those that begin with a state and end that with a
// bookmark, in one gzip member per flush (gate WatchListCompression).
func TestWatchCompression(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		names := s.several(t, 2)
		live := mustSend(t, call{method: http.MethodGet, path: s.mine()}, http.StatusOK).text("metadata.resourceVersion")
		for query, compressed := range map[string]bool{
			watchList + "&allowWatchBookmarks=true":                       true,
			"watch=true&resourceVersion=0&allowWatchBookmarks=true":       true,
			"watch=true&allowWatchBookmarks=true":                         true,
			"watch=true&resourceVersion=0":                                false,
			watchList:                                                     false,
			"watch=true&allowWatchBookmarks=true&resourceVersion=" + live: false,
		} {
			for _, accept := range []string{"gzip", "deflate, gzip", "gzip, br;q=0.1", "gzip;q=0.5", "gzip;q=0", "identity", "br", ""} {
				response := open(t, call{method: http.MethodGet, path: s.mine(query), header: http.Header{"Accept-Encoding": {accept}}})
				_ = response.Body.Close()
				// A weight makes it another word, so that gzip is never sent to who does not want it.
				want := ""
				if compressed && (accept == "gzip" || accept == "deflate, gzip" || accept == "gzip, br;q=0.1") {
					want = "gzip"
				}
				if got := response.Header.Get("Content-Encoding"); got != want {
					t.Errorf("%s, %q: Content-Encoding = %q, want %q", query, accept, got, want)
				}
				if got := slices.Contains(response.Header.Values("Vary"), "Accept-Encoding"); got != (want == "gzip") {
					t.Errorf("%s, %q: Vary = %q", query, accept, response.Header.Values("Vary"))
				}
			}
		}
		s.checkGzipMembers(t, names)
	})
}

// checkGzipMembers reads a compressed watch member by member, each of which has to be complete before the next event.
func (s subject) checkGzipMembers(t *testing.T, names []string) {
	t.Helper()
	response := open(t, call{method: http.MethodGet, path: s.mine(watchList, "allowWatchBookmarks=true", "timeoutSeconds=60"), header: http.Header{"Accept-Encoding": {"gzip"}}})
	defer func() { _ = response.Body.Close() }()
	body := bufio.NewReader(response.Body)
	var member *gzip.Reader
	read := func() []string {
		var err error
		if member == nil {
			member, err = gzip.NewReader(body)
		} else {
			err = member.Reset(body)
		}
		if err != nil {
			t.Fatal(err)
		}
		member.Multistream(false)
		var events []watchEvent
		for decoder := json.NewDecoder(member); ; {
			var e watchEvent
			if err := decoder.Decode(&e); err == io.EOF {
				return summaries(events)
			} else if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
	}
	// How many events are in one flush depends on what is ready, so the initial ones may come in several members.
	var initial []string
	for len(initial) < len(names)+1 {
		initial = append(initial, read()...)
	}
	want := []string{}
	for _, name := range names {
		want = append(want, "ADDED "+name)
	}
	if diff := cmp.Diff(append(want, "BOOKMARK "), initial); diff != "" {
		t.Errorf("initial events (-want +got):\n%s", diff)
	}
	for _, value := range []string{"1", "2", "3"} {
		mustSend(t, call{method: http.MethodPatch, contentType: mergePatch, path: s.path(names[0]), body: `{"metadata":{"labels":{"a":"` + value + `"}}}`}, 200)
		got := read()
		for len(got) == 1 && got[0] == "BOOKMARK " {
			got = read()
		}
		if diff := cmp.Diff([]string{"MODIFIED " + names[0]}, got); diff != "" {
			t.Errorf("an update (-want +got):\n%s", diff)
		}
	}
}
