// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The three URLs of an object show the same, and refuse the same.
func TestCSRRead(t *testing.T) {
	t.Parallel()
	name, _ := newCSR(t)
	approve(t, name)
	issued := issue(t, name)
	for endpoint, subresource := range endpoints {
		t.Run(endpoint, func(t *testing.T) {
			t.Parallel()
			path := csrPath(name, subresource...)
			a := mustSend(t, call{method: http.MethodGet, path: path}, http.StatusOK)
			if diff := cmp.Diff(issued.object, a.object); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
			pretty := mustSend(t, call{method: http.MethodGet, path: path + "?pretty=true"}, http.StatusOK)
			if diff := cmp.Diff(a.object, pretty.object); diff != "" || !strings.HasPrefix(string(pretty.raw), "{\n  \"kind\": \"CertificateSigningRequest\",\n") {
				t.Errorf("pretty: %s\n%s", diff, pretty.raw)
			}
			at := mustSend(t, call{method: http.MethodGet, path: path + "?resourceVersion=" + issued.text("metadata.resourceVersion")}, http.StatusOK)
			if diff := cmp.Diff(a.object, at.object); diff != "" {
				t.Errorf("at its resource version (-want +got):\n%s", diff)
			}
			missing := unique("csr")
			checkRefused(t, send(t, call{method: http.MethodGet, path: csrPath(missing, subresource...)}), missing, csrNotFound)
			a = send(t, call{method: http.MethodGet, path: csrPath(missing, subresource...)})
			checkField(t, a, "details", map[string]any{"name": missing, "group": "certificates.k8s.io", "kind": "certificatesigningrequests"})
		})
	}
}

func TestCSRDiscovery(t *testing.T) {
	t.Parallel()
	t.Run("the group", func(t *testing.T) {
		t.Parallel()
		v1 := map[string]any{"groupVersion": "certificates.k8s.io/v1", "version": "v1"}
		group := mustSend(t, call{method: http.MethodGet, path: "/apis/certificates.k8s.io"}, http.StatusOK)
		checkField(t, group, "kind", "APIGroup")
		checkField(t, group, "name", "certificates.k8s.io")
		checkField(t, group, "versions.0", v1)
		checkField(t, group, "preferredVersion", v1)
		listed := 0
		for _, item := range mustSend(t, call{method: http.MethodGet, path: "/apis"}, http.StatusOK).field("groups").([]any) {
			if item := (answer{object: item.(map[string]any)}); item.text("name") == "certificates.k8s.io" {
				listed++
				checkField(t, item, "preferredVersion", v1)
			}
		}
		if listed != 1 {
			t.Errorf("the group is listed %d times", listed)
		}
	})
	t.Run("the resources", func(t *testing.T) {
		t.Parallel()
		subresource := func(name string) map[string]any {
			return map[string]any{
				"name": "certificatesigningrequests/" + name, "singularName": "", "namespaced": false, "kind": "CertificateSigningRequest",
				"verbs": []any{"get", "patch", "update"},
			}
		}
		want := []any{
			map[string]any{
				"name": "certificatesigningrequests", "singularName": "certificatesigningrequest", "namespaced": false, "kind": "CertificateSigningRequest",
				"verbs":      []any{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
				"shortNames": []any{"csr"}, "storageVersionHash": "95fRKMXA+00=",
			},
			subresource("approval"), subresource("status"),
		}
		list := mustSend(t, call{method: http.MethodGet, path: "/apis/certificates.k8s.io/v1"}, http.StatusOK)
		checkField(t, list, "kind", "APIResourceList")
		checkField(t, list, "groupVersion", "certificates.k8s.io/v1")
		got := []any{}
		for _, item := range list.field("resources").([]any) {
			if name, _ := item.(map[string]any)["name"].(string); strings.HasPrefix(name, "certificatesigningrequests") {
				got = append(got, item)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("resources (-want +got):\n%s", diff)
		}
	})
	t.Run("aggregated", func(t *testing.T) {
		t.Parallel()
		// Group and version are those of the list around it and left empty.
		kind := map[string]any{"group": "", "version": "", "kind": "CertificateSigningRequest"}
		subresource := func(name string) map[string]any {
			return map[string]any{"subresource": name, "responseKind": kind, "verbs": []any{"get", "patch", "update"}}
		}
		want := map[string]any{
			"resource": "certificatesigningrequests", "responseKind": kind, "scope": "Cluster", "singularResource": "certificatesigningrequest",
			"verbs":      []any{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
			"shortNames": []any{"csr"}, "subresources": []any{subresource("approval"), subresource("status")},
		}
		a := mustSend(t, call{method: http.MethodGet, path: "/apis", accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}, http.StatusOK)
		var got any
		for _, group := range a.field("items").([]any) {
			group := answer{object: group.(map[string]any)}
			if group.text("metadata.name") != "certificates.k8s.io" {
				continue
			}
			checkField(t, group, "versions.0.version", "v1")
			for _, item := range group.field("versions.0.resources").([]any) {
				if item.(map[string]any)["resource"] == "certificatesigningrequests" {
					got = item
				}
			}
		}
		if diff := cmp.Diff(any(want), got); diff != "" {
			t.Errorf("resource (-want +got):\n%s", diff)
		}
	})
}
