// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/pinnace-io/pinnace/internal/gen"
	"github.com/pinnace-io/pinnace/pkg/apis/resource"
	"github.com/pinnace-io/pinnace/pkg/controllers/systemnamespaces"
	"github.com/pinnace-io/pinnace/pkg/envtest"
	"github.com/pinnace-io/pinnace/pkg/registry"
)

// example is what the tests that walk every resource need to know of one.
type example struct {
	// stub is a valid object without a name.
	stub map[string]any
	// changes is merged into stub to change every top-level field that the resource has, its status included.
	changes map[string]any
	// written are reset fields that an endpoint writes all the same, by the endpoint: kube-apiserver resets only who
	// owns them.
	written map[string][]string
	// key is where kube-apiserver stores the object called "x" in namespace "default", below the prefix.
	key string
}

// examples has one row for each served resource; a resource without one fails the tests below.
func examples() map[string]example {
	template := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": "x"}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "img:1"}}},
	}
	return map[string]example{
		"daemonsets.apps": {
			stub: map[string]any{"spec": map[string]any{
				"selector": map[string]any{"matchLabels": map[string]any{"app": "x"}},
				"template": template,
			}},
			changes: map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"changed": "yes"}},
				"spec":     map[string]any{"minReadySeconds": 7},
				"status": map[string]any{
					"numberReady": 3, "currentNumberScheduled": 3, "desiredNumberScheduled": 3, "numberMisscheduled": 0,
					"conditions": []any{map[string]any{"type": "Odd", "status": "True"}},
				},
			},
			key: "/registry/daemonsets/default/x",
		},
		"controllerrevisions.apps": {
			stub:    map[string]any{"data": map[string]any{"a": "b"}, "revision": 1},
			changes: map[string]any{"metadata": map[string]any{"labels": map[string]any{"changed": "yes"}}, "revision": 2},
			key:     "/registry/controllerrevisions/default/x",
		},
		"certificatesigningrequests.certificates.k8s.io": {
			stub: map[string]any{"spec": map[string]any{
				"request": gen.RobotRequest(), "signerName": "example.com/robot", "usages": []any{"client auth"},
			}},
			changes: map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"changed": "yes"}},
				"spec":     map[string]any{"signerName": "example.com/other", "usages": []any{"server auth"}},
				"status": map[string]any{
					"conditions":  []any{map[string]any{"type": "Odd", "status": "True"}},
					"certificate": gen.RobotCertificate(),
				},
			},
			written: map[string][]string{"status": {"status.conditions"}},
			key:     "/registry/certificatesigningrequests/x",
		},
		"namespaces": {
			stub: map[string]any{},
			changes: map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"changed": "yes"}},
				"spec":     map[string]any{"finalizers": []any{"kubernetes", "example.com/odd"}},
				"status":   map[string]any{"conditions": []any{map[string]any{"type": "Odd", "status": "True"}}},
			},
			key: "/registry/namespaces/x",
		},
	}
}

// served is a resource with its group.
type served struct {
	resource.Resource
	group resource.Group
}

// name is the resource as in "daemonsets.apps".
func (s served) name() string {
	return strings.TrimSuffix(s.Plural+"."+s.group.Name, ".")
}

// path is the URL of the collection in a namespace.
func (s served) path(namespace string) string {
	root := "/apis/" + s.group.Name
	if s.group.Name == "" {
		root = "/api"
	}
	path := root + "/" + s.group.Version
	if s.Namespaced {
		path += "/namespaces/" + namespace
	}
	return path + "/" + s.Plural
}

// object is body as an object of this resource called name.
func (s served) object(name string, body map[string]any) map[string]any {
	return overlaid(body, map[string]any{
		"apiVersion": s.group.GroupVersion().String(), "kind": s.Kind, "metadata": map[string]any{"name": name},
	})
}

// everyResource runs body for each resource of the resource table, with its example.
func everyResource(t *testing.T, body func(*testing.T, served, example)) {
	t.Helper()
	rows := examples()
	for _, group := range registry.Groups() {
		for _, r := range group.Resources {
			s := served{Resource: r, group: group.Group}
			row, ok := rows[s.name()]
			if !ok {
				t.Errorf("%s is served, but has no row in examples", s.name())
				continue
			}
			delete(rows, s.name())
			t.Run(s.name(), func(t *testing.T) { body(t, s, row) })
		}
	}
	for name := range rows {
		t.Errorf("%s has a row in examples, but is not served", name)
	}
}

// overlaid returns a copy of base with over merged into it, as a JSON merge patch would.
func overlaid(base, over map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range base {
		out[key] = value
	}
	for key, value := range over {
		inner, ok := value.(map[string]any)
		if old, was := out[key].(map[string]any); ok && was {
			out[key] = overlaid(old, inner)
			continue
		}
		out[key] = value
	}
	return out
}

func TestResourceStorage(t *testing.T) {
	t.Parallel()
	onlyPinnace(t, "the test starts a server over an etcd that it can read")
	etcd := startEtcd(t)
	config := startEnvironment(t, &envtest.Environment{Args: []string{"--etcd-servers=" + etcd.Endpoints()[0]}})
	var keys []string
	everyResource(t, func(t *testing.T, s served, row example) {
		mustSend(t, call{config: config, method: http.MethodPost, path: s.path("default"), body: s.object("x", row.stub)})
		checkStored(t, etcd, config, s, row.key)
		keys = append(keys, row.key)
	})
	// Whatever else lies in etcd would surprise a kube-apiserver that reads it.
	all, err := etcd.Get(t.Context(), "/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, kv := range all.Kvs {
		got = append(got, string(kv.Key))
	}
	for _, name := range systemnamespaces.Names() {
		keys = append(keys, "/registry/namespaces/"+name)
	}
	slices.Sort(keys)
	if diff := cmp.Diff(keys, got); diff != "" {
		t.Errorf("keys in etcd (-want +got):\n%s", diff)
	}
}

// checkStored checks that the object lies under key in kube-apiserver's protobuf envelope, and that it can be read.
func checkStored(t *testing.T, etcd *clientv3.Client, config *rest.Config, s served, key string) {
	t.Helper()
	stored, err := etcd.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if len(stored.Kvs) != 1 {
		t.Fatalf("nothing is stored under %s", key)
	}
	envelope, ok := bytes.CutPrefix(stored.Kvs[0].Value, []byte("k8s\x00"))
	if !ok {
		t.Fatalf("%s does not hold protobuf: %q", key, stored.Kvs[0].Value)
	}
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(envelope); err != nil {
		t.Fatalf("%s holds no envelope: %v", key, err)
	}
	want := runtime.TypeMeta{APIVersion: s.group.GroupVersion().String(), Kind: s.Kind}
	if diff := cmp.Diff(want, unknown.TypeMeta); diff != "" {
		t.Errorf("type of what is stored under %s (-want +got):\n%s", key, diff)
	}
	read := mustSend(t, call{config: config, method: http.MethodGet, path: s.path("default") + "/x"})
	if got, want := read.text("metadata.resourceVersion"), fmt.Sprint(stored.Kvs[0].ModRevision); got != want {
		t.Errorf("resourceVersion is %s, want the revision of the key, %s", got, want)
	}
}

func TestResourceDiscovery(t *testing.T) {
	t.Parallel()
	everyResource(t, func(t *testing.T, s served, _ example) {
		root := strings.TrimSuffix(s.path("x"), "/"+s.Plural)
		root = strings.TrimSuffix(root, "/namespaces/x")
		list := mustSend(t, call{method: http.MethodGet, path: root})
		got := map[string]any{}
		for i := range list.field("resources").([]any) {
			name := list.text(fmt.Sprintf("resources.%d.name", i))
			if name == s.Plural || strings.HasPrefix(name, s.Plural+"/") {
				got[name] = list.field(fmt.Sprintf("resources.%d.verbs", i))
			}
		}
		want := map[string]any{s.Plural: asAny(s.Verbs)}
		for _, sub := range s.Subresources {
			want[s.Plural+"/"+sub.Name] = asAny(sub.Verbs)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("endpoints and verbs (-declared +discovered):\n%s", diff)
		}
	})
}

func TestResourceResetFields(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	everyResource(t, func(t *testing.T, s served, row example) {
		endpoints := append([]resource.Subresource{{Verbs: s.Verbs, ResetFields: s.ResetFields}}, s.Subresources...)
		for _, endpoint := range endpoints {
			t.Run(orElse(endpoint.Name, "main"), func(t *testing.T) {
				checkReset(t, resetCase{served: s, example: row, endpoint: endpoint, namespace: namespace})
			})
		}
	})
}

type resetCase struct {
	served
	example
	endpoint  resource.Subresource
	namespace string
}

// checkReset writes every field of an object through one endpoint and checks that the fields which the endpoint resets
// have kept their values and are not owned by the writer.
func checkReset(t *testing.T, c resetCase) {
	t.Helper()
	name := unique("reset")
	object := c.path(c.namespace) + "/" + name
	before := mustSend(t, call{method: http.MethodPost, path: c.path(c.namespace), body: c.served.object(name, c.stub)})
	write := call{
		method: http.MethodPatch, contentType: applyPatch,
		path: strings.TrimSuffix(object+"/"+c.endpoint.Name, "/") + "?fieldManager=writer&force=true",
		body: overlaid(c.served.object(name, c.stub), c.changes),
	}
	if !slices.Contains(c.endpoint.Verbs, "patch") {
		write.method, write.contentType = http.MethodPut, jsonBody
		write.path = strings.Replace(write.path, "&force=true", "", 1)
		write.body = overlaid(before.object, c.changes)
	}
	mustSend(t, write)
	after := mustSend(t, call{method: http.MethodGet, path: object})

	if after.text("metadata.labels.changed") != "yes" {
		t.Errorf("the write had no effect: %s", after.raw)
	}
	owned := ownedBy(t, after, "writer")
	for _, path := range c.endpoint.ResetFields {
		if diff := cmp.Diff(before.field(path), after.field(path)); diff != "" && !slices.Contains(c.written[c.endpoint.Name], path) {
			t.Errorf("%s is reset by the endpoint, but has changed (-before +after):\n%s", path, diff)
		}
		var steps []any
		for _, step := range strings.Split(path, ".") {
			steps = append(steps, step)
		}
		reset := fieldpath.NewSet(fieldpath.MakePathOrDie(steps...))
		if left := owned.Difference(owned.RecursiveDifference(reset)); !left.Empty() {
			t.Errorf("%s is reset by the endpoint, but the writer owns %s", path, left)
		}
	}
}

// ownedBy is the set of fields that managedFields say manager owns.
func ownedBy(t *testing.T, a answer, manager string) *fieldpath.Set {
	t.Helper()
	owned := fieldpath.NewSet()
	entries, _ := a.field("metadata.managedFields").([]any)
	for _, entry := range entries {
		entry := entry.(map[string]any)
		if entry["manager"] != manager {
			continue
		}
		data, err := json.Marshal(entry["fieldsV1"])
		if err != nil {
			t.Fatal(err)
		}
		set := fieldpath.NewSet()
		if err := set.FromJSON(bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		owned = owned.Union(set)
	}
	return owned
}

func asAny(values []string) any {
	out := make([]any, 0, len(values))
	for _, value := range values {
		out = append(out, value)
	}
	return out
}
