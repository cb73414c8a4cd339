// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pinnace-io/pinnace/pkg/envtest"
)

// What kube-apiserver answers about an object that can't be read was seen on one whose etcd the same bytes were put into.
func TestUndecodableObject(t *testing.T) {
	t.Parallel()
	onlyPinnace(t, "the test starts a server over an etcd that it can write")
	etcd := startEtcd(t)
	config := startEnvironment(t, &envtest.Environment{Args: []string{"--etcd-servers=" + etcd.Endpoints()[0]}})
	// A server whose watch cache cannot be filled does not become ready, so the damage is done while it runs.
	if _, err := etcd.Put(t.Context(), "/registry/daemonsets/default/bad", "not-a-proto"); err != nil {
		t.Fatal(err)
	}
	const collection = "/apis/apps/v1/namespaces/default/daemonsets"
	const bad, good = collection + "/bad", collection + "/good"
	const ignore = "?ignoreStoreReadErrorWithClusterBreakingPotential=true"
	mustSend(t, call{config: config, method: http.MethodPost, path: collection, body: map[string]any{
		"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": map[string]any{"name": "good"},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "x"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "x"}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "img:1"}}},
			},
		},
	}})

	steps := []struct {
		name string
		call call
		code int
		// reason and message are of the Status; message is a part of it.
		reason, message string
	}{
		{"get", call{method: http.MethodGet, path: bad}, 500, "InternalError", "object not decodable"},
		{"list", call{method: http.MethodGet, path: collection + "?resourceVersion="}, 500, "StorageReadError", "failed to read one or more daemonsets.apps from the storage"},
		{"delete", call{method: http.MethodDelete, path: bad}, 500, "InternalError", "object not decodable"},
		{"the option and a grace period", call{method: http.MethodDelete, path: bad + ignore + "&gracePeriodSeconds=1"}, 422, "Invalid", "cannot be set together with .gracePeriodSeconds"},
		{"the option on a healthy object", call{method: http.MethodDelete, path: good + ignore}, 409, "Conflict", "unsafe deletion is not allowed because the object is decodable from storage"},
		{"the option", call{method: http.MethodDelete, path: bad + ignore}, 200, "", ""},
		{"get again", call{method: http.MethodGet, path: bad}, 404, "NotFound", ""},
	}
	for _, step := range steps {
		step.call.config = config
		got := send(t, step.call)
		if got.code != step.code || got.text("reason") != step.reason || !strings.Contains(got.message(), step.message) {
			t.Errorf("%s: got %d, want %d %q %q: %s", step.name, got.code, step.code, step.reason, step.message, got.raw)
		}
	}
}
