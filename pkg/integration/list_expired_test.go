// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/pinnace-io/pinnace/pkg/envtest"
)

const (
	tokenTooOld = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, " +
		"or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list" +
		" - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list."
	versionTooOld = "The resourceVersion for the provided list is too old."
)

// forgetful returns a server that forgets the version that it returns with it, for want of one that can be asked to: a
// server of ours that was started again over old data and that compacts all the time, or the foreign one if it has run
// for long.
func forgetful(t *testing.T) (*rest.Config, int64) {
	t.Helper()
	if shared.foreign {
		path := withQuery("/apis/apps/v1/daemonsets", "limit=1&resourceVersionMatch=Exact&resourceVersion=1")
		if a := send(t, call{method: http.MethodGet, path: path}); a.code != http.StatusGone {
			t.Skipf("the server still knows its first version: %d", a.code)
		}
		return shared.config, 1
	}
	dir := t.TempDir()
	run := func(args ...string) (*rest.Config, *envtest.Environment) {
		environment := &envtest.Environment{DataDir: dir, Args: args}
		config, err := environment.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return config, environment
	}
	config, first := run()
	namespace := func(name string) answer {
		return mustSend(t, call{method: http.MethodPost, path: "/api/v1/namespaces", config: config, body: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}, http.StatusCreated)
	}
	old := namespace("old")
	// The watch cache of the second start begins after this write, so it can't know the version before it.
	namespace("newer")
	version, err := strconv.ParseInt(old.text("metadata.resourceVersion"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	config, second := run("--etcd-compaction-interval=200ms")
	t.Cleanup(func() {
		if err := second.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return config, version
}

// TestListExpired shows what is answered about versions that etcd has compacted away: 410, and for a token one that
// goes on with the state of now.
func TestListExpired(t *testing.T) {
	t.Parallel()
	config, old := forgetful(t)
	namespace := unique("ns")
	mustSend(t, call{method: http.MethodPost, path: "/api/v1/namespaces", config: config, body: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace}}}, http.StatusCreated)
	daemonSets := daemonSetSubject(t)
	daemonSets.namespace, daemonSets.root = namespace, strings.ReplaceAll(daemonSets.root, daemonSets.namespace, namespace)
	requests := csrSubject(t)
	for _, s := range []subject{daemonSets, requests} {
		s.config = config
		t.Run(s.kind, func(t *testing.T) {
			names := s.several(t, 4)
			s.checkExpired(t, names, old)
		})
	}
}

func (s subject) checkExpired(t *testing.T, names []string, version int64) {
	t.Helper()
	list := func(queries ...string) answer {
		return send(t, call{method: http.MethodGet, path: s.mine(queries...), config: s.config})
	}
	start := names[0] + "\x00"
	if s.namespace != "" {
		start = "/" + start
	}
	old := token{"meta.k8s.io/v1", version, start}
	var expired answer
	soon(t, func() error {
		expired = list("limit=2", parameter("continue", old.String()))
		return diffError(http.StatusGone, expired.code)
	})
	if diff := cmp.Diff(refusal{410, "Expired", tokenTooOld}, expired.refusal()); diff != "" {
		t.Errorf("token (-want +got):\n%s", diff)
	}
	next := parseToken(t, expired.text("metadata.continue"))
	if diff := cmp.Diff(token{"meta.k8s.io/v1", -1, names[0] + "\x00"}, next); diff != "" {
		t.Errorf("the token to go on with (-want +got):\n%s", diff)
	}
	page := list("limit=2", parameter("continue", next.String()))
	if diff := cmp.Diff(names[1:3], page.names()); diff != "" {
		t.Errorf("the next page (-want +got):\n%s", diff)
	}
	rest := list(parameter("continue", page.text("metadata.continue")))
	if rest.code == http.StatusGone {
		// This server forgets that fast; the new token of each answer leads on.
		rest = list(parameter("continue", rest.text("metadata.continue")))
	}
	if diff := cmp.Diff(names[3:], rest.names()); diff != "" {
		t.Errorf("the last page (-want +got):\n%s", diff)
	}

	exactly := "resourceVersion=" + strconv.FormatInt(version, 10)
	for _, query := range []string{"resourceVersionMatch=Exact&" + exactly, "limit=1&" + exactly, "limit=1&resourceVersionMatch=Exact&" + exactly} {
		if diff := cmp.Diff(refusal{410, "Expired", versionTooOld}, list(query).refusal()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	for _, query := range []string{exactly, "resourceVersionMatch=NotOlderThan&" + exactly} {
		if got := list(query); got.code != http.StatusOK {
			t.Errorf("%s: got %d %s", query, got.code, got.raw)
		}
	}
	s.checkExpiredWatch(t)
}

// checkExpiredWatch watches from a version that is older than all that the watch cache has events of.
func (s subject) checkExpiredWatch(t *testing.T) {
	t.Helper()
	for _, path := range []string{s.mine("watch=true&resourceVersion=1"), s.mine("watch=true&resourceVersion=1&allowWatchBookmarks=true"),
		withQuery(watchPath(s), "resourceVersion=1"), s.mine("watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=1")} {
		events := startWatch(t, call{path: path, config: s.config}).rest(t)
		if len(events) != 1 || events[0].Type != "ERROR" {
			t.Errorf("%s: got %v, want an error", path, events)
			continue
		}
		got := answer{object: events[0].Object}
		var current int
		if n, err := fmt.Sscanf(got.message(), "too old resource version: 1 (%d)", &current); n != 1 || err != nil || current <= 1 {
			t.Errorf("%s: got message %q", path, got.message())
		}
		delete(got.object, "message")
		want := map[string]any{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure", "reason": "Expired", "code": 410.0}
		if diff := cmp.Diff(want, got.object); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	// A watch that begins with the state of now doesn't need the past.
	watch := startWatch(t, call{path: s.mine(watchList, "allowWatchBookmarks=true&resourceVersion=1"), config: s.config})
	if got := watch.next(t).Type; got != "ADDED" {
		t.Errorf("initial events: got %s", got)
	}
}
