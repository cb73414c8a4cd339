// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package parity_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emicklei/go-restful/v3"
	gocmp "github.com/google/go-cmp/cmp"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	genericapi "k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	controllerrevisionstorage "k8s.io/kubernetes/pkg/registry/apps/controllerrevision/storage"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	daemonsetstorage "k8s.io/kubernetes/pkg/registry/apps/daemonset/storage"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	certificatesstorage "k8s.io/kubernetes/pkg/registry/certificates/certificates/storage"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	namespacestorage "k8s.io/kubernetes/pkg/registry/core/namespace/storage"
	"k8s.io/utils/clock"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/pinnace-io/pinnace/pkg/apis/resource"
	"github.com/pinnace-io/pinnace/pkg/apis/scheme"
	"github.com/pinnace-io/pinnace/pkg/registry"
)

// served is one group with its endpoints, which have no storage beneath.
type served struct {
	registry.Group
	as        schema.GroupVersion
	scheme    *scheme.Scheme
	endpoints map[string]rest.Storage
	// opened are the options of the stores by resource.
	opened map[string]opened
}

type opened struct {
	triggers apistorage.IndexerFuncs
	indexers *cache.Indexers
}

// serve returns every group; rename gives the name that it is served under.
func serve(t *testing.T, rename func(string) string) []served {
	t.Helper()
	var groups []served
	var names []scheme.Served
	for _, group := range registry.Groups() {
		as := schema.GroupVersion{Group: rename(group.Name), Version: group.Version}
		groups = append(groups, served{Group: group, as: as, opened: map[string]opened{}})
		names = append(names, scheme.Served{Group: group.Group, As: as})
	}
	s, err := scheme.New(names, scheme.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range groups {
		groups[i].scheme = s
		groups[i].endpoints, err = groups[i].Storage(registry.Deps{
			Scheme:       s.Scheme,
			GroupVersion: groups[i].as,
			Clock:        clock.RealClock{},
			Authorizer:   authorizerfactory.NewAlwaysAllowAuthorizer(),
			RESTOptions:  getter{served: &groups[i]},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return groups
}

func native(name string) string { return name }

func renamed(name string) string {
	first, _, _ := strings.Cut(name, ".")
	return strings.TrimPrefix(first+".pinnace.dev", ".")
}

// getter hands out options of stores that have no storage, and remembers what they ask of it.
type getter struct {
	served *served
}

func (g getter) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	config := storagebackend.NewDefaultConfig("/registry", g.served.scheme.Codecs.LegacyCodec(g.served.as))
	config.EncodeVersioner = g.served.as
	return generic.RESTOptions{
		StorageConfig:  config.ForResource(resource),
		ResourcePrefix: resource.Resource,
		Decorator: func(_ *storagebackend.ConfigForResource, _ string, _ func(runtime.Object) (string, error), _, _ func() runtime.Object, _ apistorage.AttrFunc, triggers apistorage.IndexerFuncs, indexers *cache.Indexers) (apistorage.Interface, factory.DestroyFunc, error) {
			g.served.opened[resource.Resource] = opened{triggers: triggers, indexers: indexers}
			return nil, func() {}, nil
		},
	}, nil
}

// upstream are kube-apiserver's endpoints.
func upstream() map[string]rest.Storage {
	return map[string]rest.Storage{
		"namespaces":                          &namespacestorage.REST{},
		"namespaces/status":                   &namespacestorage.StatusREST{},
		"namespaces/finalize":                 &namespacestorage.FinalizeREST{},
		"daemonsets":                          &daemonsetstorage.REST{},
		"daemonsets/status":                   &daemonsetstorage.StatusREST{},
		"controllerrevisions":                 &controllerrevisionstorage.REST{},
		"certificatesigningrequests":          &certificatesstorage.REST{},
		"certificatesigningrequests/status":   &certificatesstorage.StatusREST{},
		"certificatesigningrequests/approval": &certificatesstorage.ApprovalREST{},
	}
}

// Whatever the library asks of an endpoint by its interfaces, ours says yes to where upstream's does. (But for
// rest.StorageWithReadiness: upstream does not wait for the store of namespaces before it is ready; there is no reason.)
func TestEndpointsCanDoWhatUpstreamsCan(t *testing.T) {
	t.Parallel()
	interfaces := map[string]reflect.Type{
		"Creater":                      reflect.TypeFor[rest.Creater](),
		"NamedCreater":                 reflect.TypeFor[rest.NamedCreater](),
		"Getter":                       reflect.TypeFor[rest.Getter](),
		"GetterWithOptions":            reflect.TypeFor[rest.GetterWithOptions](),
		"Lister":                       reflect.TypeFor[rest.Lister](),
		"Watcher":                      reflect.TypeFor[rest.Watcher](),
		"Updater":                      reflect.TypeFor[rest.Updater](),
		"Patcher":                      reflect.TypeFor[rest.Patcher](),
		"GracefulDeleter":              reflect.TypeFor[rest.GracefulDeleter](),
		"CollectionDeleter":            reflect.TypeFor[rest.CollectionDeleter](),
		"CorruptObjectDeleterProvider": reflect.TypeFor[rest.CorruptObjectDeleterProvider](),
		"MayReturnFullObjectDeleter":   reflect.TypeFor[rest.MayReturnFullObjectDeleter](),
		"Connecter":                    reflect.TypeFor[rest.Connecter](),
		"TableConvertor":               reflect.TypeFor[rest.TableConvertor](),
		"Scoper":                       reflect.TypeFor[rest.Scoper](),
		"SingularNameProvider":         reflect.TypeFor[rest.SingularNameProvider](),
		"ShortNamesProvider":           reflect.TypeFor[rest.ShortNamesProvider](),
		"CategoriesProvider":           reflect.TypeFor[rest.CategoriesProvider](),
		"KindProvider":                 reflect.TypeFor[rest.KindProvider](),
		"GroupVersionKindProvider":     reflect.TypeFor[rest.GroupVersionKindProvider](),
		"GroupVersionAcceptor":         reflect.TypeFor[rest.GroupVersionAcceptor](),
		"StorageVersionProvider":       reflect.TypeFor[rest.StorageVersionProvider](),
		"StorageMetadata":              reflect.TypeFor[rest.StorageMetadata](),
		"ResetFieldsStrategy":          reflect.TypeFor[rest.ResetFieldsStrategy](),
		"ResetFieldsFilterStrategy":    reflect.TypeFor[rest.ResetFieldsFilterStrategy](),
	}
	theirs := upstream()
	for _, group := range serve(t, native) {
		for name, endpoint := range group.endpoints {
			other, ok := theirs[name]
			if !ok {
				t.Errorf("%s is not compared with upstream", name)
				continue
			}
			delete(theirs, name)
			for what, i := range interfaces {
				if is, should := reflect.TypeOf(endpoint).Implements(i), reflect.TypeOf(other).Implements(i); is != should {
					t.Errorf("%s is a rest.%s: %t, upstream's: %t", name, what, is, should)
				}
			}
		}
	}
	if len(theirs) > 0 {
		t.Errorf("not served: %v", theirs)
	}
}

// What the library makes of the endpoints is what upstream keeps as its discovery documents.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	theirs := upstreamDiscovery(t)
	for name, rename := range map[string]func(string) string{"native": native, "renamed": renamed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, group := range serve(t, rename) {
				resources, _ := install(t, group)
				for _, r := range resources {
					if diff := gocmp.Diff(theirs[group.Name+"/"+r.Resource], r); diff != "" {
						t.Errorf("%s, -upstream +ours\n%s", r.Resource, diff)
					}
				}
			}
		})
	}
}

// The older documents have the hash of the storage version as well, by which clients tell that two servers store the
// same thing.
func TestLegacyDiscovery(t *testing.T) {
	t.Parallel()
	documents := documents(t)
	for _, group := range serve(t, native) {
		name := "apis__" + group.Name + "__v1.json"
		if group.Name == "" {
			name = "api__v1.json"
		}
		var theirs, ours metav1.APIResourceList
		read(t, filepath.Join(documents, name), &theirs)
		_, container := install(t, group)
		recorder := httptest.NewRecorder()
		container.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path.Join("/apis", group.as.String()), nil))
		if err := json.Unmarshal(recorder.Body.Bytes(), &ours); err != nil {
			t.Fatalf("%v: %s", err, recorder.Body)
		}
		want := map[string]metav1.APIResource{}
		for _, r := range theirs.APIResources {
			want[r.Name] = r
		}
		if len(ours.APIResources) != len(group.endpoints) {
			t.Errorf("%s: %d resources for %d endpoints", name, len(ours.APIResources), len(group.endpoints))
		}
		for _, r := range ours.APIResources {
			if diff := gocmp.Diff(want[r.Name], r); diff != "" {
				t.Errorf("%s, -upstream +ours\n%s", r.Name, diff)
			}
		}
	}
}

// The table says the same as the endpoints.
func TestResourceTable(t *testing.T) {
	t.Parallel()
	for _, group := range serve(t, native) {
		discovered := map[string]apidiscoveryv2.APIResourceDiscovery{}
		resources, _ := install(t, group)
		for _, r := range resources {
			discovered[r.Resource] = r
		}
		for _, row := range group.Resources {
			if diff := gocmp.Diff(discovered[row.Plural], discoveryOf(row)); diff != "" {
				t.Errorf("%s, -endpoint +table\n%s", row.Plural, diff)
			}
			compareResetFields(t, group, row.Plural, row.ResetFields)
			for _, sub := range row.Subresources {
				compareResetFields(t, group, row.Plural+"/"+sub.Name, sub.ResetFields)
			}
		}
	}
}

func compareResetFields(t *testing.T, group served, endpoint string, paths []string) {
	t.Helper()
	var want map[fieldpath.APIVersion]*fieldpath.Set
	if paths != nil {
		set := fieldpath.NewSet()
		for _, path := range paths {
			var elements []any
			for element := range strings.SplitSeq(path, ".") {
				elements = append(elements, element)
			}
			set.Insert(fieldpath.MakePathOrDie(elements...))
		}
		want = map[fieldpath.APIVersion]*fieldpath.Set{fieldpath.APIVersion(group.as.String()): set}
	}
	if got := resetFields(group.endpoints[endpoint]); !sameFields(got, want) {
		t.Errorf("%s resets %v, the table says %v", endpoint, got, want)
	}
}

func resetFields(endpoint rest.Storage) map[fieldpath.APIVersion]*fieldpath.Set {
	return endpoint.(rest.ResetFieldsStrategy).GetResetFields()
}

func sameFields(a, b map[fieldpath.APIVersion]*fieldpath.Set) bool {
	if len(a) != len(b) {
		return false
	}
	for version, set := range a {
		if b[version] == nil || !set.Equals(b[version]) {
			return false
		}
	}
	return true
}

func TestResetFieldsAreUpstreams(t *testing.T) {
	t.Parallel()
	theirs := map[string]rest.ResetFieldsStrategy{
		"namespaces":                          namespace.Strategy,
		"namespaces/status":                   namespace.StatusStrategy,
		"namespaces/finalize":                 namespace.FinalizeStrategy,
		"daemonsets":                          daemonset.Strategy,
		"daemonsets/status":                   daemonset.StatusStrategy,
		"certificatesigningrequests":          certificates.Strategy,
		"certificatesigningrequests/status":   certificates.StatusStrategy,
		"certificatesigningrequests/approval": certificates.ApprovalStrategy,
	}
	for name, rename := range map[string]func(string) string{"native": native, "renamed": renamed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, group := range serve(t, rename) {
				for name, endpoint := range group.endpoints {
					var want map[fieldpath.APIVersion]*fieldpath.Set
					if strategy, ok := theirs[name]; ok {
						// Upstream keeps the versions that are not served here, too.
						set := strategy.GetResetFields()[fieldpath.APIVersion(group.GroupVersion().String())]
						want = map[fieldpath.APIVersion]*fieldpath.Set{fieldpath.APIVersion(group.as.String()): set}
					}
					if got := resetFields(endpoint); !sameFields(got, want) {
						t.Errorf("%s resets %v, upstream %v", name, got, want)
					}
				}
			}
		})
	}
}

// A label that upstream takes is taken, as the same label; one that it refuses is refused in the same words.
func TestFieldLabels(t *testing.T) {
	t.Parallel()
	labels := []string{"metadata.name", "metadata.namespace", "name", "spec.signerName", "spec.username", "status.phase", "status", "", "metadata.uid"}
	for _, group := range serve(t, native) {
		for _, row := range group.Resources {
			for _, label := range append(labels, row.SelectableFields...) {
				gvk := group.as.WithKind(row.Kind)
				wantLabel, wantValue, wantErr := legacyscheme.Scheme.ConvertFieldLabel(gvk, label, "value")
				gotLabel, gotValue, gotErr := group.scheme.ConvertFieldLabel(gvk, label, "value")
				if gotLabel != wantLabel || gotValue != wantValue || message(gotErr) != message(wantErr) {
					t.Errorf("%s %q: got %q, %q, %v, want %q, %q, %v", row.Kind, label, gotLabel, gotValue, gotErr, wantLabel, wantValue, wantErr)
				}
			}
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Only DaemonSets have a policy of garbage collection, and only namespaces answer a DELETE with the object.
func TestDeletion(t *testing.T) {
	t.Parallel()
	type deletion struct {
		Policy  rest.GarbageCollectionPolicy
		Returns bool
	}
	want := map[string]deletion{
		"daemonsets":                 {Policy: rest.DeleteDependents},
		"controllerrevisions":        {},
		"certificatesigningrequests": {},
		"namespaces":                 {Returns: true},
	}
	got := map[string]deletion{}
	for _, group := range serve(t, native) {
		for _, row := range group.Resources {
			store := storeOf(t, group.endpoints[row.Plural])
			d := deletion{Returns: store.ReturnDeletedObject}
			if policy, ok := store.DeleteStrategy.(rest.GarbageCollectionDeleteStrategy); ok {
				d.Policy = policy.DefaultGarbageCollectionPolicy(t.Context())
			}
			got[row.Plural] = d
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// upstreamDiscovery reads the discovery documents of k8s.io/kubernetes by "group/resource".
func upstreamDiscovery(t *testing.T) map[string]apidiscoveryv2.APIResourceDiscovery {
	t.Helper()
	resources := map[string]apidiscoveryv2.APIResourceDiscovery{}
	add := func(group string, version apidiscoveryv2.APIVersionDiscovery) {
		for _, r := range version.Resources {
			if version.Version == "v1" {
				resources[group+"/"+r.Resource] = normalized(r)
			}
		}
	}
	documents := documents(t)
	var groups apidiscoveryv2.APIGroupDiscoveryList
	read(t, filepath.Join(documents, "aggregated_v2.json"), &groups)
	for _, group := range groups.Items {
		for _, version := range group.Versions {
			add(group.Name, version)
		}
	}
	var core metav1.APIResourceList
	read(t, filepath.Join(documents, "api__v1.json"), &core)
	converted, err := genericapi.ConvertGroupVersionIntoToDiscovery(core.APIResources)
	if err != nil {
		t.Fatal(err)
	}
	add("", apidiscoveryv2.APIVersionDiscovery{Version: "v1", Resources: converted})
	return resources
}

// documents is the directory of upstream's discovery documents.
func documents(t *testing.T) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), "api", "discovery")
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// install lets the library serve the endpoints, and returns their discovery and what serves them.
func install(t *testing.T, group served) ([]apidiscoveryv2.APIResourceDiscovery, *restful.Container) {
	t.Helper()
	version := genericapi.APIGroupVersion{
		Storage:                    group.endpoints,
		Root:                       "/apis",
		GroupVersion:               group.as,
		OptionsExternalVersion:     &schema.GroupVersion{Version: "v1"},
		Serializer:                 group.scheme.Codecs,
		ParameterCodec:             group.scheme.ParameterCodec,
		Typer:                      group.scheme,
		Creater:                    group.scheme,
		Convertor:                  group.scheme.Convertor,
		ConvertabilityChecker:      group.scheme,
		Defaulter:                  group.scheme,
		Namer:                      runtime.Namer(meta.NewAccessor()),
		UnsafeConvertor:            group.scheme.UnsafeConvertor,
		TypeConverter:              managedfields.NewDeducedTypeConverter(),
		EquivalentResourceRegistry: runtime.NewEquivalentResourceRegistry(),
		MinRequestTimeout:          time.Minute,
	}
	container := restful.NewContainer()
	resources, _, err := version.InstallREST(container)
	if err != nil {
		t.Fatal(err)
	}
	for i := range resources {
		resources[i] = normalized(resources[i])
	}
	return resources, container
}

// discoveryOf is what a row of the table amounts to.
func discoveryOf(row resource.Resource) apidiscoveryv2.APIResourceDiscovery {
	kind := &metav1.GroupVersionKind{Kind: row.Kind}
	scope := apidiscoveryv2.ScopeCluster
	if row.Namespaced {
		scope = apidiscoveryv2.ScopeNamespace
	}
	d := apidiscoveryv2.APIResourceDiscovery{
		Resource: row.Plural, SingularResource: row.Singular, ResponseKind: kind, Scope: scope,
		ShortNames: row.ShortNames, Categories: row.Categories, Verbs: row.Verbs,
	}
	for _, sub := range row.Subresources {
		d.Subresources = append(d.Subresources, apidiscoveryv2.APISubresourceDiscovery{Subresource: sub.Name, ResponseKind: kind, Verbs: sub.Verbs})
	}
	return normalized(d)
}

// normalized has what the order of a map decides in order.
func normalized(r apidiscoveryv2.APIResourceDiscovery) apidiscoveryv2.APIResourceDiscovery {
	slices.SortFunc(r.Subresources, func(a, b apidiscoveryv2.APISubresourceDiscovery) int {
		return cmp.Compare(a.Subresource, b.Subresource)
	})
	return r
}
