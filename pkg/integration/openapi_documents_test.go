// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// document is an OpenAPI document, of either version, as far as tests look at it.
type document struct {
	OpenAPI string         `json:"openapi"`
	Swagger string         `json:"swagger"`
	Info    map[string]any `json:"info"`
	Paths   map[string]map[string]any
	// Definitions and Parameters are those of version 2, Components.Schemas those of version 3.
	Definitions map[string]map[string]any
	Parameters  map[string]any
	Components  struct{ Schemas map[string]map[string]any }
}

func (d document) schemas() map[string]map[string]any {
	if d.Swagger != "" {
		return d.Definitions
	}
	return d.Components.Schemas
}

func parseDocument(t *testing.T, raw []byte) document {
	t.Helper()
	var out document
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// upstreamDocument is the document of kube-apiserver with all its groups on (k8s.io/kubernetes/api/openapi-spec).
func upstreamDocument(t *testing.T, elements ...string) document {
	t.Helper()
	raw, err := os.ReadFile(upstreamFile(t, append([]string{"api", "openapi-spec"}, elements...)...))
	if err != nil {
		t.Fatal(err)
	}
	return parseDocument(t, raw)
}

// references are the schemas that a part of a document refers to.
func references(part any, found map[string]bool) {
	switch part := part.(type) {
	case map[string]any:
		for key, value := range part {
			if name, ok := value.(string); ok && key == "$ref" {
				found[name[strings.LastIndex(name, "/")+1:]] = true
			}
			references(value, found)
		}
	case []any:
		for _, value := range part {
			references(value, found)
		}
	}
}

// closure are the schemas that parts of a document reach.
func (d document) closure(t *testing.T, parts any) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	found := map[string]bool{}
	references(parts, found)
	for len(found) > 0 {
		next := map[string]bool{}
		for name := range found {
			schema, ok := d.schemas()[name]
			if !ok {
				t.Errorf("a reference to %s leads nowhere", name)
			}
			if _, seen := out[name]; !seen {
				out[name] = schema
				references(schema, next)
			}
		}
		found = next
	}
	return out
}

// servedPaths are the paths of a document that belong to the kinds that are served.
func (d document) servedPaths() map[string]any {
	out := map[string]any{}
	for path, item := range d.Paths {
		for _, group := range []string{"/apis/apps/v1/", "/apis/certificates.k8s.io/v1/", "/api/v1/"} {
			rest, ok := strings.CutPrefix(path, group)
			if !ok {
				continue
			}
			rest = strings.TrimPrefix(rest, "watch/")
			if group != "/api/v1/" {
				rest = strings.TrimPrefix(rest, "namespaces/{namespace}/")
			}
			resource, _, _ := strings.Cut(rest, "/")
			beneath := group == "/api/v1/" && strings.HasPrefix(rest, "namespaces/{namespace}/")
			if slices.Contains([]string{"", "daemonsets", "controllerrevisions", "certificatesigningrequests", "namespaces"}, resource) && !beneath {
				out[path] = d.inlined(item)
			}
		}
	}
	return out
}

// servedRoots name the document of each group and version that is served.
var servedRoots = map[string]string{
	"apis/apps/v1":                "apis__apps__v1_openapi.json",
	"apis/certificates.k8s.io/v1": "apis__certificates.k8s.io__v1_openapi.json",
	"api/v1":                      "api__v1_openapi.json",
}

// hashedURLs are the addresses of the documents of version 3 by group and version.
func hashedURLs(t *testing.T) map[string]string {
	t.Helper()
	a := mustSend(t, call{method: http.MethodGet, path: "/openapi/v3"}, http.StatusOK)
	out := map[string]string{}
	for root := range a.object["paths"].(map[string]any) {
		out[root] = a.text("paths." + strings.ReplaceAll(root, ".", `\.`) + ".serverRelativeURL")
	}
	return out
}

// TestOpenAPIIndex shows the list of documents, each at an address that changes with its content.
func TestOpenAPIIndex(t *testing.T) {
	t.Parallel()
	urls := hashedURLs(t)
	for root, url := range urls {
		path, hash, ok := strings.Cut(url, "?hash=")
		if !ok || path != "/openapi/v3/"+root || len(hash) != 128 || hash != strings.ToUpper(hash) {
			t.Errorf("%s is at %s", root, url)
		}
	}
	want := []string{"api", "api/v1", "apis", "apis/apps", "apis/apps/v1", "apis/certificates.k8s.io", "apis/certificates.k8s.io/v1", "version"}
	for _, root := range want {
		if urls[root] == "" {
			t.Errorf("there is no %s", root)
		}
	}
	if got := slices.Sorted(maps.Keys(urls)); !shared.foreign && !cmp.Equal(got, want) {
		t.Errorf("documents (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestOpenAPICaching shows that a document is kept for a year under its hash, not sent again to who has it, and found
// under an old hash.
func TestOpenAPICaching(t *testing.T) {
	t.Parallel()
	for _, root := range []string{"apis/apps/v1", "apis/certificates.k8s.io/v1", "api/v1", "version"} {
		url := hashedURLs(t)[root]
		path, hash, _ := strings.Cut(url, "?hash=")
		a := mustSend(t, call{method: http.MethodGet, path: url}, http.StatusOK)
		if got := a.header.Get("ETag"); got != `"`+hash+`"` {
			t.Errorf("%s: ETag = %s, want the hash %s", root, got, hash)
		}
		if got := a.header.Get("Content-Type"); got != "application/json" {
			t.Errorf("%s: Content-Type = %s", root, got)
		}
		// The date says UTC where HTTP says GMT; that is how kube-apiserver writes it.
		if expires, err := time.Parse(time.RFC1123, a.header.Get("Expires")); err != nil || time.Until(expires) < 360*24*time.Hour {
			t.Errorf("%s: Expires = %s", root, a.header.Get("Expires"))
		}
		if plain := mustSend(t, call{method: http.MethodGet, path: path}, http.StatusOK); plain.header.Get("Expires") != "" || !cmp.Equal(plain.raw, a.raw) {
			t.Errorf("%s without a hash: Expires = %s", root, plain.header.Get("Expires"))
		}
		for _, address := range []string{url, path} {
			cached := send(t, call{method: http.MethodGet, path: address, header: http.Header{"If-None-Match": {`"` + hash + `"`}}})
			if cached.code != http.StatusNotModified || len(cached.raw) != 0 {
				t.Errorf("%s, known: got %d with %d bytes", address, cached.code, len(cached.raw))
			}
			other := send(t, call{method: http.MethodGet, path: address, header: http.Header{"If-None-Match": {`"x"`}}})
			if other.code != http.StatusOK {
				t.Errorf("%s, another known: got %d", address, other.code)
			}
		}
		// The client follows the redirection to the new hash.
		moved := mustSend(t, call{method: http.MethodGet, path: path + "?hash=OLD"}, http.StatusOK)
		if !cmp.Equal(moved.raw, a.raw) || moved.header.Get("Expires") == "" {
			t.Errorf("%s with an old hash: got %d bytes, Expires = %s", root, len(moved.raw), moved.header.Get("Expires"))
		}
	}
	// kube-apiserver's aggregator says 404 where the library alone says nothing.
	if a := send(t, call{method: http.MethodGet, path: "/openapi/v3/apis/nope/v1"}); a.code != http.StatusNotFound && len(a.raw) != 0 {
		t.Errorf("no such document: got %d %s", a.code, a.raw)
	}
	v2 := mustSend(t, call{method: http.MethodGet, path: "/openapi/v2"}, http.StatusOK)
	cached := send(t, call{method: http.MethodGet, path: "/openapi/v2", header: http.Header{"If-None-Match": {v2.header.Get("ETag")}}})
	if v2.header.Get("ETag") == "" || cached.code != http.StatusNotModified {
		t.Errorf("version 2: ETag = %s, known: got %d", v2.header.Get("ETag"), cached.code)
	}
}

// TestOpenAPIForms shows the formats of documents.
func TestOpenAPIForms(t *testing.T) {
	t.Parallel()
	url := hashedURLs(t)["apis/apps/v1"]
	for accept, contentType := range map[string]string{
		"application/json": "application/json",
		"*/*":              "application/json",
		"application/com.github.proto-openapi.spec.v3.v1.0+protobuf":                   "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
		"application/com.github.proto-openapi.spec.v3@v1.0+protobuf":                   "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
		"application/com.github.proto-openapi.spec.v3@v1.0+protobuf, application/json": "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
	} {
		a := mustSend(t, call{method: http.MethodGet, path: url, accept: accept}, http.StatusOK)
		if got := a.header.Get("Content-Type"); got != contentType || len(a.raw) == 0 {
			t.Errorf("%s: got %s", accept, got)
		}
		accept, contentType = strings.ReplaceAll(accept, "v3", "v2"), strings.ReplaceAll(contentType, "v3", "v2")
		a = mustSend(t, call{method: http.MethodGet, path: "/openapi/v2", accept: accept}, http.StatusOK)
		if got := a.header.Get("Content-Type"); got != contentType || len(a.raw) == 0 {
			t.Errorf("version 2, %s: got %s", accept, got)
		}
	}
	for _, path := range []string{url, "/openapi/v2"} {
		if got := send(t, call{method: http.MethodGet, path: path, accept: "application/yaml"}).code; got != http.StatusNotAcceptable {
			t.Errorf("%s in YAML: got %d", path, got)
		}
	}
}

// TestOpenAPIV3 shows that the documents of version 3 have the paths and schemas that kube-apiserver's have for the
// same kinds, and none of others.
func TestOpenAPIV3(t *testing.T) {
	t.Parallel()
	urls := hashedURLs(t)
	for root, file := range servedRoots {
		t.Run(root, func(t *testing.T) {
			t.Parallel()
			served := parseDocument(t, mustSend(t, call{method: http.MethodGet, path: urls[root]}, http.StatusOK).raw)
			compareDocuments(t, served, upstreamDocument(t, "v3", file))
			if !strings.HasPrefix(served.OpenAPI, "3.0") {
				t.Errorf("it is of version %s", served.OpenAPI)
			}
		})
	}
}

// TestOpenAPIV2 shows the same for the one document of version 2.
func TestOpenAPIV2(t *testing.T) {
	t.Parallel()
	served := parseDocument(t, mustSend(t, call{method: http.MethodGet, path: "/openapi/v2"}, http.StatusOK).raw)
	compareDocuments(t, served, upstreamDocument(t, "swagger.json"))
	if served.Swagger != "2.0" {
		t.Errorf("it is of version %s", served.Swagger)
	}
}

// compareDocuments compares what belongs to the served kinds, and checks that a server of ours has nothing else.
func compareDocuments(t *testing.T, served, upstream document) {
	t.Helper()
	paths := served.servedPaths()
	if len(paths) == 0 {
		t.Fatal("the document has none of the paths")
	}
	if diff := cmp.Diff(withoutCBOR(upstream.servedPaths()), any(paths)); diff != "" {
		t.Errorf("paths (-kube-apiserver +served):\n%.8000s", diff)
	}
	want, got := upstream.closure(t, upstream.servedPaths()), served.closure(t, paths)
	for name := range maps.Keys(want) {
		want[name], got[name] = withoutForeignKinds(want[name]), withoutForeignKinds(got[name])
		withoutEnums(got[name])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schemas (-kube-apiserver +served):\n%.8000s", diff)
	}
	if shared.foreign {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(served.schemas())) {
		for _, kind := range kindsOf(served.schemas()[name]) {
			if !isServedKind(kind) {
				t.Errorf("%s names a kind that is not served: %v", name, kind)
			}
		}
	}
	all := map[string]any{}
	for path, item := range served.Paths {
		all[path] = served.inlined(item)
	}
	reachable := served.closure(t, all)
	for _, name := range slices.Sorted(maps.Keys(served.schemas())) {
		if _, ok := reachable[name]; !ok && !strings.HasPrefix(name, "io.k8s.apimachinery.pkg.apis.meta.v1.") {
			t.Errorf("nothing refers to %s", name)
		}
	}
}

// withoutCBOR leaves the media types out that kube-apiserver has with its gate CBORServingAndStorage on, as it has in the
// documents of its source.
func withoutCBOR(part any) any {
	isCBOR := func(value any) bool {
		text, _ := value.(string)
		return strings.HasPrefix(text, "application/") && strings.Contains(text, "cbor")
	}
	switch part := part.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range part {
			if !isCBOR(key) {
				out[key] = withoutCBOR(value)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, value := range part {
			if !isCBOR(value) {
				out = append(out, withoutCBOR(value))
			}
		}
		return out
	}
	return part
}

// inlined puts the parameters that operations share in place of references to them.
func (d document) inlined(part any) any {
	switch part := part.(type) {
	case map[string]any:
		if name, ok := part["$ref"].(string); ok && strings.HasPrefix(name, "#/parameters/") {
			return d.inlined(d.Parameters[strings.TrimPrefix(name, "#/parameters/")])
		}
		out := map[string]any{}
		for key, value := range part {
			out[key] = d.inlined(value)
		}
		return out
	case []any:
		out := []any{}
		for _, value := range part {
			out = append(out, d.inlined(value))
		}
		return out
	}
	return part
}

// withoutEnums takes the lists of values out that a server adds to its schemas; TestOpenAPIEnums looks at those.
func withoutEnums(part any) {
	switch part := part.(type) {
	case map[string]any:
		if _, ok := part["enum"].([]any); ok {
			delete(part, "enum")
		}
		if text, ok := part["description"].(string); ok {
			part["description"], _, _ = strings.Cut(text, "\n\nPossible enum values:\n")
		}
		for _, value := range part {
			withoutEnums(value)
		}
	case []any:
		for _, value := range part {
			withoutEnums(value)
		}
	}
}

const kindsExtension = "x-kubernetes-group-version-kind"

func kindsOf(schema map[string]any) []any {
	kinds, _ := schema[kindsExtension].([]any)
	return kinds
}

// isServedKind tells whether a kind is one of a group and version that is served, and an external one.
func isServedKind(kind any) bool {
	k, ok := kind.(map[string]any)
	return ok && k["version"] == "v1" && slices.Contains([]any{"", "apps", "certificates.k8s.io"}, k["group"])
}

// withoutForeignKinds leaves those kinds out that a server of other groups has: options and events are kinds of every
// group.
func withoutForeignKinds(schema map[string]any) map[string]any {
	kinds := kindsOf(schema)
	if len(kinds) == 0 {
		return schema
	}
	out := maps.Clone(schema)
	var kept []any
	for _, kind := range kinds {
		if isServedKind(kind) {
			kept = append(kept, kind)
		}
	}
	out[kindsExtension] = kept
	return out
}

// servedEnums are the values that the schemas list, by schema and property, without io.k8s.api.
var servedEnums = map[string]string{
	"apps.v1.DaemonSetUpdateStrategy.type":                       "OnDelete|RollingUpdate",
	"certificates.v1.CertificateSigningRequestSpec.usages.items": "any|cert sign|client auth|code signing|content commitment|crl sign|data encipherment|decipher only|digital signature|email protection|encipher only|ipsec end system|ipsec tunnel|ipsec user|key agreement|key encipherment|microsoft sgc|netscape sgc|ocsp signing|s/mime|server auth|signing|timestamping",
	"core.v1.AppArmorProfile.type":                               "Localhost|RuntimeDefault|Unconfined",
	"core.v1.AzureDiskVolumeSource.cachingMode":                  "None|ReadOnly|ReadWrite",
	"core.v1.AzureDiskVolumeSource.kind":                         "Dedicated|Managed|Shared",
	"core.v1.Container.imagePullPolicy":                          "Always|IfNotPresent|Never",
	"core.v1.Container.terminationMessagePolicy":                 "FallbackToLogsOnError|File",
	"core.v1.ContainerPort.protocol":                             "SCTP|TCP|UDP",
	"core.v1.EphemeralContainer.imagePullPolicy":                 "Always|IfNotPresent|Never",
	"core.v1.EphemeralContainer.terminationMessagePolicy":        "FallbackToLogsOnError|File",
	"core.v1.GRPCAction.mode":                                    "Plaintext|TLS",
	"core.v1.HTTPGetAction.protocol":                             "HTTP1|HTTP2",
	"core.v1.HTTPGetAction.scheme":                               "HTTP|HTTPS",
	"core.v1.HostPathVolumeSource.type":                          "|BlockDevice|CharDevice|Directory|DirectoryOrCreate|File|FileOrCreate|Socket",
	"core.v1.ImageVolumeSource.pullPolicy":                       "Always|IfNotPresent|Never",
	"core.v1.Lifecycle.stopSignal":                               "SIGABRT|SIGALRM|SIGBUS|SIGCHLD|SIGCLD|SIGCONT|SIGFPE|SIGHUP|SIGILL|SIGINT|SIGIO|SIGIOT|SIGKILL|SIGPIPE|SIGPOLL|SIGPROF|SIGPWR|SIGQUIT|SIGRTMAX|SIGRTMAX-1|SIGRTMAX-10|SIGRTMAX-11|SIGRTMAX-12|SIGRTMAX-13|SIGRTMAX-14|SIGRTMAX-2|SIGRTMAX-3|SIGRTMAX-4|SIGRTMAX-5|SIGRTMAX-6|SIGRTMAX-7|SIGRTMAX-8|SIGRTMAX-9|SIGRTMIN|SIGRTMIN+1|SIGRTMIN+10|SIGRTMIN+11|SIGRTMIN+12|SIGRTMIN+13|SIGRTMIN+14|SIGRTMIN+15|SIGRTMIN+2|SIGRTMIN+3|SIGRTMIN+4|SIGRTMIN+5|SIGRTMIN+6|SIGRTMIN+7|SIGRTMIN+8|SIGRTMIN+9|SIGSEGV|SIGSTKFLT|SIGSTOP|SIGSYS|SIGTERM|SIGTRAP|SIGTSTP|SIGTTIN|SIGTTOU|SIGURG|SIGUSR1|SIGUSR2|SIGVTALRM|SIGWINCH|SIGXCPU|SIGXFSZ",
	"core.v1.NamespaceStatus.phase":                              "Active|Terminating",
	"core.v1.NodeSelectorRequirement.operator":                   "DoesNotExist|Exists|Gt|In|Lt|NotIn",
	"core.v1.PersistentVolumeClaimSpec.accessModes.items":        "ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod",
	"core.v1.PersistentVolumeClaimSpec.volumeMode":               "Block|Filesystem",
	"core.v1.PodSecurityContext.fsGroupChangePolicy":             "Always|OnRootMismatch",
	"core.v1.PodSecurityContext.supplementalGroupsPolicy":        "Merge|Strict",
	"core.v1.PodSpec.dnsPolicy":                                  "ClusterFirst|ClusterFirstWithHostNet|Default|None",
	"core.v1.PodSpec.preemptionPolicy":                           "Never|PreemptLowerPriority",
	"core.v1.PodSpec.restartPolicy":                              "Always|Never|OnFailure",
	"core.v1.SeccompProfile.type":                                "Localhost|RuntimeDefault|Unconfined",
	"core.v1.SecurityContext.procMount":                          "Default|Unmasked",
	"core.v1.Toleration.effect":                                  "NoExecute|NoSchedule|PreferNoSchedule",
	"core.v1.Toleration.operator":                                "Equal|Exists|Gt|Lt",
	"core.v1.TopologySpreadConstraint.nodeAffinityPolicy":        "Honor|Ignore",
	"core.v1.TopologySpreadConstraint.nodeTaintsPolicy":          "Honor|Ignore",
	"core.v1.TopologySpreadConstraint.whenUnsatisfiable":         "DoNotSchedule|ScheduleAnyway",
	"core.v1.VolumeMount.mountPropagation":                       "Bidirectional|HostToContainer|None",
}

// TestOpenAPIEnums shows the values that fields are known to have.
func TestOpenAPIEnums(t *testing.T) {
	t.Parallel()
	urls := hashedURLs(t)
	two := parseDocument(t, mustSend(t, call{method: http.MethodGet, path: "/openapi/v2"}, http.StatusOK).raw)
	threes := map[string]string{}
	for root := range servedRoots {
		d := parseDocument(t, mustSend(t, call{method: http.MethodGet, path: urls[root]}, http.StatusOK).raw)
		maps.Copy(threes, d.enums(t))
	}
	for what, got := range map[string]map[string]string{"version 2": two.enums(t), "version 3": threes} {
		if diff := cmp.Diff(servedEnums, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// enums are the lists of values in the schemas of the served kinds.
func (d document) enums(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, schema := range d.closure(t, d.servedPaths()) {
		collectEnums(strings.TrimPrefix(name, "io.k8s.api."), schema, out)
	}
	return out
}

func collectEnums(path string, part any, out map[string]string) {
	schema, ok := part.(map[string]any)
	if !ok {
		return
	}
	if values, ok := schema["enum"].([]any); ok {
		var texts []string
		for _, value := range values {
			texts = append(texts, value.(string))
		}
		out[path] = strings.Join(texts, "|")
	}
	for key, value := range schema {
		if key == "properties" {
			collectEnums(path, value, out)
		} else {
			collectEnums(path+"."+key, value, out)
		}
	}
}
