// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// allDaemonSets is the collection over all namespaces.
const allDaemonSets = "/apis/apps/v1/daemonsets"

func TestDaemonSetList(t *testing.T) {
	t.Parallel()
	first, second := newNamespace(t), newNamespace(t)
	if first > second {
		first, second = second, first
	}
	mark := unique("list")
	labelled := meta("labels: {mark: " + mark + "}")
	b := createDaemonSet(t, first, "b", labelled)
	a := createDaemonSet(t, first, "a", labelled)
	createDaemonSet(t, first, "other")
	c := createDaemonSet(t, second, "c", labelled)
	item := func(created answer) any {
		object := deepCopy(t, created.object)
		delete(object, "kind")
		delete(object, "apiVersion")
		return object
	}

	tests := map[string]struct {
		path string
		want []any
	}{
		"all of a namespace in the order of names": {daemonSetsPath(first) + "?labelSelector=mark%3D" + mark, []any{item(a), item(b)}},
		"one by its name":                          {daemonSetsPath(first) + "?fieldSelector=metadata.name%3Db", []any{item(b)}},
		"all but one by its name":                  {daemonSetsPath(second) + "?fieldSelector=metadata.name!%3Db", []any{item(c)}},
		"all namespaces":                           {allDaemonSets + "?labelSelector=mark%3D" + mark, []any{item(a), item(b), item(c)}},
		"all namespaces but one": {
			allDaemonSets + "?labelSelector=mark%3D" + mark + "&fieldSelector=metadata.namespace!%3D" + first, []any{item(c)},
		},
		"a set of label values":           {allDaemonSets + "?labelSelector=mark+in+(x," + mark + "),mark", []any{item(a), item(b), item(c)}},
		"a namespace that does not exist": {daemonSetsPath(unique("none")), []any{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := mustSend(t, get(test.path), http.StatusOK)
			if version := got.text("metadata.resourceVersion"); !versionForm.MatchString(version) {
				t.Errorf("the list has resourceVersion %q", version)
			}
			want := map[string]any{
				"kind": "DaemonSetList", "apiVersion": "apps/v1",
				"metadata": map[string]any{"resourceVersion": got.field("metadata.resourceVersion")}, "items": test.want,
			}
			if diff := cmp.Diff(want, got.object); diff != "" {
				t.Errorf("the list differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDaemonSetListPages(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		createDaemonSet(t, ns, name)
	}
	path := daemonSetsPath(ns) + "?limit=2"
	one := mustSend(t, get(path))
	if diff := cmp.Diff([]string{"a", "b"}, names(one)); diff != "" {
		t.Errorf("the first page differs (-want +got):\n%s", diff)
	}
	wantField(t, one, "metadata.remainingItemCount", "3")
	// What is made in between is on no page: all pages are of one version.
	createDaemonSet(t, ns, "bb")
	two := mustSend(t, get(path+"&continue="+one.text("metadata.continue")))
	if diff := cmp.Diff([]string{"c", "d"}, names(two)); diff != "" {
		t.Errorf("the second page differs (-want +got):\n%s", diff)
	}
	wantField(t, two, "metadata.remainingItemCount", "1")
	three := mustSend(t, get(path+"&continue="+two.text("metadata.continue")))
	if diff := cmp.Diff([]string{"e"}, names(three)); diff != "" {
		t.Errorf("the last page differs (-want +got):\n%s", diff)
	}
	wantFields(t, three, http.StatusOK, map[string]string{"metadata.continue": "null", "metadata.remainingItemCount": "null"})
	for _, page := range []answer{two, three} {
		wantField(t, page, "metadata.resourceVersion", fmt.Sprintf("%q", one.text("metadata.resourceVersion")))
	}
}

func TestDaemonSetDeleteCollection(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		createDaemonSet(t, ns, name, meta("labels: {name: "+name+"}"))
	}
	createDaemonSet(t, ns, "kept", meta("{labels: {name: kept}, finalizers: [example.com/hold]}"))
	remove := func(query string) answer {
		t.Helper()
		return mustSend(t, call{method: http.MethodDelete, path: daemonSetsPath(ns) + query}, http.StatusOK)
	}
	left := func() []string {
		t.Helper()
		return names(mustSend(t, get(daemonSetsPath(ns))))
	}
	want := func(what string, want, got []string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s differ (-want +got):\n%s", what, diff)
		}
	}

	want("those that a dry run names", []string{"a", "b", "c", "d", "kept"}, names(remove("?dryRun=All")))
	want("those left by a dry run", []string{"a", "b", "c", "d", "kept"}, left())

	byField := remove("?fieldSelector=metadata.name%3Db")
	wantFields(t, byField, http.StatusOK, map[string]string{"kind": "DaemonSetList", "apiVersion": "apps/v1", "items.0.spec.revisionHistoryLimit": "10"})
	want("those deleted by name", []string{"b"}, names(byField))
	want("those deleted by label", []string{"a", "c"}, names(remove("?labelSelector=name+in+(a,c,x)")))
	want("those left by selectors", []string{"d", "kept"}, left())

	want("all that were deleted", []string{"d", "kept"}, names(remove("")))
	want("those with a finalizer", []string{"kept"}, left())
	kept := mustSend(t, get(daemonSetPath(ns, "kept")))
	wantDaemonSet(t, kept, http.StatusOK, ns, meta(`{name: kept, labels: {name: kept}, finalizers: [example.com/hold],
		generation: 2, deletionTimestamp: TIME, deletionGracePeriodSeconds: 0}`))
	mustSend(t, patch(mergePatch, daemonSetPath(ns, "kept"), `{"metadata":{"finalizers":null}}`))
	want("those left at the end", nil, left())
}

func TestDaemonSetDeleteCollectionWithBody(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	createDaemonSet(t, ns, "a")
	wantFailure(t, send(t, call{
		method: http.MethodDelete, path: daemonSetsPath(ns), body: `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Bogus"}`,
	}), invalid(t, "DeleteOptions.meta.k8s.io", "", `propagationPolicy: Unsupported value: "Bogus": supported values: "Foreground", "Background", "Orphan", "nil"`))
	mustSend(t, call{
		method: http.MethodDelete, path: daemonSetsPath(ns), body: `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Foreground"}`,
	}, http.StatusOK)
	wantDaemonSet(t, send(t, get(daemonSetPath(ns, "a"))), http.StatusOK, ns, meta(`{name: a, finalizers: [foregroundDeletion],
		generation: 2, deletionTimestamp: TIME, deletionGracePeriodSeconds: 0}`))
}

// TestDaemonSetWatch goes through every form of a watch's address.
func TestDaemonSetWatch(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		// path gets the namespace, the label value and the version to start from; %[n]s leaves out what it has no use for.
		path string
		want []string
	}{
		"parameter, one namespace": {
			"/apis/apps/v1/namespaces/%[1]s/daemonsets?watch=true&resourceVersion=%[3]s",
			[]string{"ADDED a", "ADDED b", "MODIFIED a", "MODIFIED a", "MODIFIED a", "DELETED a", "DELETED b"},
		},
		"parameter, all namespaces": {
			"/apis/apps/v1/daemonsets?watch=1&labelSelector=mark%%3D%[2]s&resourceVersion=%[3]s",
			[]string{"ADDED a", "ADDED b", "MODIFIED a", "DELETED a", "ADDED a", "DELETED a", "DELETED b"},
		},
		"parameter, one name": {
			"/apis/apps/v1/namespaces/%[1]s/daemonsets?watch=true&fieldSelector=metadata.name%%3Da&resourceVersion=%[3]s",
			[]string{"ADDED a", "MODIFIED a", "MODIFIED a", "MODIFIED a", "DELETED a"},
		},
		"path, all namespaces": {
			"/apis/apps/v1/watch/daemonsets?labelSelector=mark%%3D%[2]s&resourceVersion=%[3]s",
			[]string{"ADDED a", "ADDED b", "MODIFIED a", "DELETED a", "ADDED a", "DELETED a", "DELETED b"},
		},
		"path, one namespace": {
			"/apis/apps/v1/watch/namespaces/%[1]s/daemonsets?resourceVersion=%[3]s",
			[]string{"ADDED a", "ADDED b", "MODIFIED a", "MODIFIED a", "MODIFIED a", "DELETED a", "DELETED b"},
		},
		"path, one name": {
			"/apis/apps/v1/watch/namespaces/%[1]s/daemonsets/a?resourceVersion=%[3]s",
			[]string{"ADDED a", "MODIFIED a", "MODIFIED a", "MODIFIED a", "DELETED a"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns, mark := newNamespace(t), unique("watch")
			version := mustSend(t, get(daemonSetsPath(ns))).text("metadata.resourceVersion")
			w := watch(t, fmt.Sprintf(test.path, ns, mark, version)+"&timeoutSeconds=30")
			labelled := meta("labels: {mark: " + mark + "}")
			createDaemonSet(t, ns, "a", labelled)
			createDaemonSet(t, ns, "b", labelled)
			path := daemonSetPath(ns, "a")
			mustSend(t, patch(mergePatch, path, `{"spec":{"minReadySeconds":1}}`))
			mustSend(t, patch(mergePatch, path, `{"metadata":{"labels":null}}`))
			last := mustSend(t, patch(mergePatch, path, `{"metadata":{"labels":{"mark":"`+mark+`"}}}`))
			mustSend(t, call{method: http.MethodDelete, path: path})
			mustSend(t, call{method: http.MethodDelete, path: daemonSetsPath(ns)})

			var got []string
			var deleted event
			for range test.want {
				e := w.next()
				got = append(got, e.name())
				if e.name() == "DELETED a" {
					deleted = e
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the events differ (-want +got):\n%s", diff)
			}
			// The object of a deletion is the last one, with the version of the deletion.
			want := deepCopy(t, last.object)
			want["metadata"].(map[string]any)["resourceVersion"] = answer{object: deleted.Object}.field("metadata.resourceVersion")
			if diff := cmp.Diff(want, deleted.Object); diff != "" {
				t.Errorf("the deleted object differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDaemonSetWatchFromNow checks that a watch that names no version begins with the objects that are there.
func TestDaemonSetWatchFromNow(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"parameter":      "/apis/apps/v1/namespaces/%s/daemonsets?watch=true&timeoutSeconds=30",
		"path":           "/apis/apps/v1/watch/namespaces/%s/daemonsets?timeoutSeconds=30",
		"path with name": "/apis/apps/v1/watch/namespaces/%s/daemonsets/a?timeoutSeconds=30",
		"version 0":      "/apis/apps/v1/namespaces/%s/daemonsets?watch=true&resourceVersion=0&timeoutSeconds=30",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := newNamespace(t)
			created := createDaemonSet(t, ns, "a")
			w := watch(t, fmt.Sprintf(path, ns))
			if diff := cmp.Diff(event{"ADDED", created.object}, w.next()); diff != "" {
				t.Errorf("the first event differs (-want +got):\n%s", diff)
			}
			patched := mustSend(t, patch(mergePatch, daemonSetPath(ns, "a"), `{"spec":{"minReadySeconds":1}}`))
			if diff := cmp.Diff(event{"MODIFIED", patched.object}, w.next()); diff != "" {
				t.Errorf("the second event differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDaemonSetWatchBookmarks is about the event that ends the initial ones. Its object shows traces of upstream's
// internal type: the annotation of the template generation and the empty parts of spec and status.
func TestDaemonSetWatchBookmarks(t *testing.T) {
	t.Parallel()
	bookmark := fromYAML(t, `
kind: DaemonSet
apiVersion: apps/v1
metadata:
  resourceVersion: VERSION
  annotations: {deprecated.daemonset.template.generation: "0", k8s.io/initial-events-end: "true"}
spec:
  selector: null
  template: {metadata: {}, spec: {containers: null}}
  updateStrategy: {}
status: {currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0}
`)
	queries := map[string]struct {
		query string
		// bookmark tells whether the initial events end with one.
		bookmark bool
	}{
		"initial events, no version":      {"sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", true},
		"initial events, version 0":       {"sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=0", true},
		"bookmarks from version 0":        {"allowWatchBookmarks=true&resourceVersion=0", true},
		"initial events, no bookmarks":    {"sendInitialEvents=true&resourceVersionMatch=NotOlderThan", false},
		"no initial events, no bookmarks": {"resourceVersion=0", false},
	}
	for name, test := range queries {
		for _, count := range []int{0, 3} {
			t.Run(fmt.Sprintf("%s, %d objects", name, count), func(t *testing.T) {
				t.Parallel()
				ns := newNamespace(t)
				var want []event
				for i := range count {
					want = append(want, event{"ADDED", createDaemonSet(t, ns, fmt.Sprintf("d%d", i)).object})
				}
				w := watch(t, daemonSetsPath(ns)+"?watch=1&timeoutSeconds=30&"+test.query)
				var got []event
				for range count {
					got = append(got, w.next())
				}
				if test.bookmark {
					e := w.next()
					want, got = append(want, event{"BOOKMARK", bookmark}), append(got, event{e.Type, scrubbed(t, e.Object)})
				}
				// Nothing is sent between the initial events and those that follow.
				want = append(want, event{"ADDED", createDaemonSet(t, ns, "later").object})
				if diff := cmp.Diff(want, append(got, w.next())); diff != "" {
					t.Errorf("the events differ (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestDaemonSetInformer: a client's cache is in sync as soon as the bookmark comes that ends the initial events.
func TestDaemonSetInformer(t *testing.T) {
	t.Parallel()
	client, err := kubernetes.NewForConfig(shared.config)
	if err != nil {
		t.Fatal(err)
	}
	ns, empty := newNamespace(t), newNamespace(t)
	createDaemonSet(t, ns, "d")
	createDaemonSet(t, ns, "e")
	byName := func(options *metav1.ListOptions) { options.FieldSelector = "metadata.name=d" }
	for name, test := range map[string]struct {
		options []informers.SharedInformerOption
		want    map[string]bool
	}{
		"all namespaces":  {nil, map[string]bool{ns + "/d": true, ns + "/e": true}},
		"one namespace":   {[]informers.SharedInformerOption{informers.WithNamespace(ns)}, map[string]bool{ns + "/d": true, ns + "/e": true}},
		"an empty one":    {[]informers.SharedInformerOption{informers.WithNamespace(empty)}, map[string]bool{}},
		"one name of one": {[]informers.SharedInformerOption{informers.WithNamespace(ns), informers.WithTweakListOptions(byName)}, map[string]bool{ns + "/d": true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A client whose bookmark does not come waits for ten seconds before it says so.
			ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
			defer cancel()
			factory := informers.NewSharedInformerFactoryWithOptions(client, 0, test.options...)
			informer := factory.Apps().V1().DaemonSets().Informer()
			factory.Start(ctx.Done())
			if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
				t.Fatal("the cache is not in sync")
			}
			got := map[string]bool{}
			for _, key := range informer.GetStore().ListKeys() {
				// Other tests have theirs.
				if name != "all namespaces" || test.want[key] {
					got[key] = true
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the cache differs (-want +got):\n%s", diff)
			}
		})
	}
}
