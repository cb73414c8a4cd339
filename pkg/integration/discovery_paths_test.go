// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/discovery"
)

// aggregatedDiscovery asks for all groups with their resources in one answer (KEP-3352).
const aggregatedDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// allVerbs are the verbs of a resource that has all of them, in the order of discovery.
var allVerbs = []any{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// servedGroups are the named groups, each with its one version.
var servedGroups = []string{"apps", "certificates.k8s.io"}

// TestDiscoveryAPIVersions shows the core group's versions and where to reach them.
func TestDiscoveryAPIVersions(t *testing.T) {
	t.Parallel()
	host, err := url.Parse(shared.config.Host)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api", "/api/"} {
		a := mustSend(t, call{method: http.MethodGet, path: path}, http.StatusOK)
		address := a.text("serverAddressByClientCIDRs.0.serverAddress")
		if _, port, err := net.SplitHostPort(address); err != nil || port != host.Port() {
			t.Errorf("%s: serverAddress = %q, want one with port %s", path, address, host.Port())
		}
		want := map[string]any{"kind": "APIVersions", "versions": []any{"v1"},
			"serverAddressByClientCIDRs": []any{map[string]any{"clientCIDR": "0.0.0.0/0", "serverAddress": address}}}
		if diff := cmp.Diff(want, a.object); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// TestDiscoveryGroups shows the groups, in a list and one by one.
func TestDiscoveryGroups(t *testing.T) {
	t.Parallel()
	list := mustSend(t, call{method: http.MethodGet, path: "/apis"}, http.StatusOK)
	// In kube-apiserver the aggregator answers. It says the list's version, and not where to reach the groups; without
	// one it is the other way round, as in /api.
	apiVersion, addresses := "v1", any(nil)
	if !shared.foreign {
		apiVersion = ""
		addresses = mustSend(t, call{method: http.MethodGet, path: "/api"}, http.StatusOK).field("serverAddressByClientCIDRs")
	}
	if list.text("kind") != "APIGroupList" || list.text("apiVersion") != apiVersion {
		t.Errorf("got a %s of %q", list.text("kind"), list.text("apiVersion"))
	}
	found := map[string]any{}
	groups, _ := list.field("groups").([]any)
	for i := range groups {
		found[list.text(fmt.Sprintf("groups.%d.name", i))] = groups[i]
	}
	for _, group := range servedGroups {
		version := map[string]any{"groupVersion": group + "/v1", "version": "v1"}
		want := map[string]any{"name": group, "versions": []any{version}, "preferredVersion": version}
		if addresses != nil {
			want["serverAddressByClientCIDRs"] = addresses
		}
		if diff := cmp.Diff(any(want), found[group]); diff != "" {
			t.Errorf("%s in the list (-want +got):\n%s", group, diff)
		}
		delete(want, "serverAddressByClientCIDRs")
		want["kind"], want["apiVersion"] = "APIGroup", "v1"
		for _, path := range []string{"/apis/" + group, "/apis/" + group + "/"} {
			if diff := cmp.Diff(want, mustSend(t, call{method: http.MethodGet, path: path}, http.StatusOK).object); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		}
	}
	if !shared.foreign && len(groups) != len(servedGroups) {
		t.Errorf("there are groups that are not served: %v", found)
	}
}

// TestDiscoveryResources shows the resources of each version. The hash is that of the version that is stored.
func TestDiscoveryResources(t *testing.T) {
	t.Parallel()
	subresource := func(name, kind string, namespaced bool, verbs ...any) map[string]any {
		return map[string]any{"name": name, "singularName": "", "namespaced": namespaced, "kind": kind, "verbs": verbs}
	}
	cases := map[string]struct {
		groupVersion string
		resources    []map[string]any
	}{
		"/apis/certificates.k8s.io/v1": {"certificates.k8s.io/v1", []map[string]any{
			{"name": "certificatesigningrequests", "singularName": "certificatesigningrequest", "namespaced": false, "kind": "CertificateSigningRequest",
				"verbs": allVerbs, "shortNames": []any{"csr"}, "storageVersionHash": "95fRKMXA+00="},
			subresource("certificatesigningrequests/approval", "CertificateSigningRequest", false, "get", "patch", "update"),
			subresource("certificatesigningrequests/status", "CertificateSigningRequest", false, "get", "patch", "update"),
		}},
		"/apis/apps/v1": {"apps/v1", []map[string]any{
			{"name": "controllerrevisions", "singularName": "controllerrevision", "namespaced": true, "kind": "ControllerRevision",
				"verbs": allVerbs, "storageVersionHash": "85nkx63pcBU="},
			{"name": "daemonsets", "singularName": "daemonset", "namespaced": true, "kind": "DaemonSet",
				"verbs": allVerbs, "shortNames": []any{"ds"}, "categories": []any{"all"}, "storageVersionHash": "dd7pWHUlMKQ="},
			subresource("daemonsets/status", "DaemonSet", true, "get", "patch", "update"),
		}},
		"/api/v1": {"v1", []map[string]any{
			{"name": "namespaces", "singularName": "namespace", "namespaced": false, "kind": "Namespace",
				"verbs": []any{"create", "delete", "get", "list", "patch", "update", "watch"}, "shortNames": []any{"ns"}, "storageVersionHash": "Q3oi5N2YM8M="},
			subresource("namespaces/finalize", "Namespace", false, "update"),
			subresource("namespaces/status", "Namespace", false, "get", "patch", "update"),
		}},
	}
	for path, tc := range cases {
		a := mustSend(t, call{method: http.MethodGet, path: path}, http.StatusOK)
		version := tc.groupVersion
		if a.text("kind") != "APIResourceList" || a.text("groupVersion") != version {
			t.Errorf("%s: got a %s of %s", path, a.text("kind"), a.text("groupVersion"))
		}
		// The oldest list of all says nothing of its own version.
		if want := map[bool]any{true: nil, false: "v1"}[path == "/api/v1"]; a.field("apiVersion") != want {
			t.Errorf("%s: apiVersion = %v, want %v", path, a.field("apiVersion"), want)
		}
		all, _ := a.field("resources").([]any)
		var got []map[string]any
		for i := range all {
			name := a.text(fmt.Sprintf("resources.%d.name", i))
			if !shared.foreign || slices.ContainsFunc(tc.resources, func(want map[string]any) bool { return want["name"] == name }) {
				got = append(got, all[i].(map[string]any))
			}
		}
		if diff := cmp.Diff(tc.resources, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// TestDiscoveryAggregated shows all of it in one answer.
func TestDiscoveryAggregated(t *testing.T) {
	t.Parallel()
	resource := func(name, singular, kind, scope string, verbs []any, more map[string]any) map[string]any {
		out := map[string]any{"resource": name, "singularResource": singular, "scope": scope, "verbs": verbs,
			"responseKind": map[string]any{"group": "", "version": "", "kind": kind}}
		for key, value := range more {
			out[key] = value
		}
		return out
	}
	subresource := func(name, kind string, verbs ...any) map[string]any {
		return map[string]any{"subresource": name, "responseKind": map[string]any{"group": "", "version": "", "kind": kind}, "verbs": verbs}
	}
	want := map[string]map[string]map[string]any{
		"apps": {
			"controllerrevisions": resource("controllerrevisions", "controllerrevision", "ControllerRevision", "Namespaced", allVerbs, nil),
			"daemonsets": resource("daemonsets", "daemonset", "DaemonSet", "Namespaced", allVerbs, map[string]any{"shortNames": []any{"ds"}, "categories": []any{"all"},
				"subresources": []any{subresource("status", "DaemonSet", "get", "patch", "update")}}),
		},
		"certificates.k8s.io": {
			"certificatesigningrequests": resource("certificatesigningrequests", "certificatesigningrequest", "CertificateSigningRequest", "Cluster", allVerbs,
				map[string]any{"shortNames": []any{"csr"}, "subresources": []any{
					subresource("approval", "CertificateSigningRequest", "get", "patch", "update"),
					subresource("status", "CertificateSigningRequest", "get", "patch", "update"),
				}}),
		},
		"": {
			"namespaces": resource("namespaces", "namespace", "Namespace", "Cluster", []any{"create", "delete", "get", "list", "patch", "update", "watch"},
				map[string]any{"shortNames": []any{"ns"}, "subresources": []any{
					subresource("finalize", "Namespace", "update"),
					subresource("status", "Namespace", "get", "patch", "update"),
				}}),
		},
	}
	for path, groups := range map[string][]string{"/api": {""}, "/apis": servedGroups} {
		a := mustSend(t, call{method: http.MethodGet, path: path, accept: aggregatedDiscovery}, http.StatusOK)
		if got := a.header.Get("Content-Type"); got != aggregatedDiscovery {
			t.Errorf("%s: Content-Type %s", path, got)
		}
		if a.text("kind") != "APIGroupDiscoveryList" || a.text("apiVersion") != "apidiscovery.k8s.io/v2" {
			t.Errorf("%s: got a %s of %s", path, a.text("kind"), a.text("apiVersion"))
		}
		got := map[string]map[string]map[string]any{}
		items, _ := a.field("items").([]any)
		for i := range items {
			name := a.text(fmt.Sprintf("items.%d.metadata.name", i))
			if shared.foreign && want[name] == nil {
				continue
			}
			if a.text(fmt.Sprintf("items.%d.versions.0.version", i)) != "v1" || a.text(fmt.Sprintf("items.%d.versions.0.freshness", i)) != "Current" {
				t.Errorf("%s of %s: %v", name, path, items[i])
			}
			got[name] = map[string]map[string]any{}
			resources, _ := a.field(fmt.Sprintf("items.%d.versions.0.resources", i)).([]any)
			for _, r := range resources {
				resource := r.(map[string]any)["resource"].(string)
				if !shared.foreign || want[name][resource] != nil {
					got[name][resource] = r.(map[string]any)
				}
			}
		}
		wantHere := map[string]map[string]map[string]any{}
		for _, group := range groups {
			wantHere[group] = want[group]
		}
		if diff := cmp.Diff(wantHere, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// TestDiscoveryAggregatedForms shows the formats and versions of the aggregated answer, and that a client that can't
// have it gets the plain one if it takes that.
func TestDiscoveryAggregatedForms(t *testing.T) {
	t.Parallel()
	const g = ";g=apidiscovery.k8s.io;"
	for _, path := range []string{"/api", "/apis"} {
		plain := map[string]string{"/api": "APIVersions", "/apis": "APIGroupList"}[path]
		for accept, want := range map[string]struct{ contentType, kind string }{
			aggregatedDiscovery: {aggregatedDiscovery, "APIGroupDiscoveryList"},
			aggregatedDiscovery + ",application/json" + g + "v=v2beta1;as=APIGroupDiscoveryList,application/json": {aggregatedDiscovery, "APIGroupDiscoveryList"},
			"application/json" + g + "v=v2beta1;as=APIGroupDiscoveryList,application/json":                        {"application/json", plain},
			"application/json" + g + "v=v7;as=APIGroupDiscoveryList,application/json":                             {"application/json", plain},
			"application/yaml" + g + "v=v2;as=APIGroupDiscoveryList":                                              {"application/yaml" + g + "v=v2;as=APIGroupDiscoveryList", "APIGroupDiscoveryList"},
			protobufType + g + "v=v2;as=APIGroupDiscoveryList":                                                    {protobufType + g + "v=v2;as=APIGroupDiscoveryList", "APIGroupDiscoveryList"},
			"application/json": {"application/json", plain},
			"application/yaml": {"application/yaml", plain},
			protobufType:       {protobufType, plain},
			"*/*":              {"application/json", plain},
		} {
			a := mustSend(t, call{method: http.MethodGet, path: path, accept: accept}, http.StatusOK)
			kind := a.text("kind")
			switch {
			case strings.HasPrefix(want.contentType, protobufType):
				kind = unknownOf(t, a.raw).Kind
			case strings.HasPrefix(want.contentType, yamlBody):
				a.header.Set("Content-Type", yamlBody)
				kind = a.decoded(t).text("kind")
				a.header.Set("Content-Type", want.contentType)
			}
			if got := a.header.Get("Content-Type"); got != want.contentType || kind != want.kind {
				t.Errorf("%s, %s: got a %s as %s, want %+v", path, accept, kind, got, want)
			}
		}
		for _, accept := range []string{"application/json" + g + "v=v7;as=APIGroupDiscoveryList", "application/json" + g + "v=v2beta1;as=APIGroupDiscoveryList", "text/html"} {
			a := send(t, call{method: http.MethodGet, path: path, accept: accept})
			if a.code != http.StatusNotAcceptable || a.text("reason") != "NotAcceptable" || !strings.Contains(a.message(), "application/json, application/yaml, application/vnd.kubernetes.protobuf") {
				t.Errorf("%s, %s: got %d %s", path, accept, a.code, a.raw)
			}
		}
	}
	refused := send(t, call{method: http.MethodGet, path: "/apis/apps", accept: aggregatedDiscovery})
	if diff := cmp.Diff(refusal{406, "NotAcceptable", acceptedTypes}, refused.refusal()); diff != "" {
		t.Errorf("of one group (-want +got):\n%s", diff)
	}
}

// TestDiscoveryETag shows that an answer that a client has already is not sent again.
func TestDiscoveryETag(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/api", "/apis"} {
		first := mustSend(t, call{method: http.MethodGet, path: path, accept: aggregatedDiscovery}, http.StatusOK)
		tag := first.header.Get("ETag")
		if len(tag) != 130 || tag != `"`+strings.ToUpper(strings.Trim(tag, `"`))+`"` {
			t.Errorf("%s: ETag = %s", path, tag)
		}
		if !slices.Contains(first.header.Values("Vary"), "Accept") {
			t.Errorf("%s: Vary = %q", path, first.header.Values("Vary"))
		}
		for match, code := range map[string]int{tag: http.StatusNotModified, `"x"`: http.StatusOK, strings.Trim(tag, `"`): http.StatusOK, "": http.StatusOK} {
			a := send(t, call{method: http.MethodGet, path: path, accept: aggregatedDiscovery, header: http.Header{"If-None-Match": {match}}})
			if a.code != code || a.header.Get("ETag") != tag || (code == http.StatusNotModified) != (len(a.raw) == 0) {
				t.Errorf("%s, %s: got %d, ETag %s, %d bytes", path, match, a.code, a.header.Get("ETag"), len(a.raw))
			}
		}
		plain := mustSend(t, call{method: http.MethodGet, path: path, header: http.Header{"If-None-Match": {tag}}}, http.StatusOK)
		if len(plain.raw) == 0 || plain.header.Get("ETag") != "" {
			t.Errorf("%s: the plain answer has ETag %s", path, plain.header.Get("ETag"))
		}
	}
}

// TestDiscoveryOfNothing shows paths that lead nowhere.
func TestDiscoveryOfNothing(t *testing.T) {
	t.Parallel()
	notFound := refusal{404, "NotFound", "the server could not find the requested resource"}
	for _, path := range []string{"/apis/apps/v9", "/apis/certificates.k8s.io/v9", "/apis/apps/v1/nope", "/apis/apps/v1/namespaces", "/api/v9",
		"/apis/certificates.k8s.io/v1beta1/certificatesigningrequests", "/apis/apps/v1beta2/daemonsets", "/apis/apps/v1/daemonsets/x"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if path == "/apis/apps/v1/daemonsets/x" && method == http.MethodPost {
				continue
			}
			if diff := cmp.Diff(notFound, send(t, call{method: method, path: path, body: `{}`}).refusal()); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", method, path, diff)
			}
		}
	}
	for _, path := range []string{"/apis/nope", "/apis/nope/v1", "/nope"} {
		if got := send(t, call{method: http.MethodGet, path: path}).code; got != http.StatusNotFound {
			t.Errorf("%s: got %d", path, got)
		}
	}
	notAllowed := refusal{405, "MethodNotAllowed", "the server does not allow this method on the requested resource"}
	for _, path := range []string{"/api", "/apis/apps/v1", "/apis/certificates.k8s.io/v1"} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
			if diff := cmp.Diff(notAllowed, send(t, call{method: method, path: path, body: `{}`}).refusal()); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", method, path, diff)
			}
		}
		if got := send(t, call{method: http.MethodHead, path: path}).code; got != http.StatusMethodNotAllowed {
			t.Errorf("HEAD %s: got %d", path, got)
		}
	}
}

// TestDiscoveryClient shows that client-go's discovery finds the kinds, with and without the aggregated answer.
func TestDiscoveryClient(t *testing.T) {
	t.Parallel()
	for _, legacy := range []bool{false, true} {
		client, err := discovery.NewDiscoveryClientForConfig(shared.config)
		if err != nil {
			t.Fatal(err)
		}
		client.UseLegacyDiscovery = legacy
		_, lists, err := client.ServerGroupsAndResources()
		if err != nil {
			t.Fatalf("legacy = %t: %v", legacy, err)
		}
		found := map[string][]string{}
		for _, list := range lists {
			for _, r := range list.APIResources {
				found[list.GroupVersion+" "+r.Name] = r.ShortNames
			}
		}
		for resource, shortNames := range map[string][]string{
			"apps/v1 daemonsets": {"ds"}, "apps/v1 daemonsets/status": nil, "apps/v1 controllerrevisions": nil, "v1 namespaces": {"ns"},
			"certificates.k8s.io/v1 certificatesigningrequests": {"csr"}, "certificates.k8s.io/v1 certificatesigningrequests/approval": nil,
		} {
			got, ok := found[resource]
			if !ok || !slices.Equal(got, shortNames) {
				t.Errorf("legacy = %t: %s is found = %t, short names %v", legacy, resource, ok, got)
			}
		}
		preferred, err := client.ServerPreferredResources()
		if err != nil || len(preferred) == 0 {
			t.Errorf("legacy = %t: preferred: %v", legacy, err)
		}
	}
}
