// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/pinnace-io/pinnace/pkg/registry"
)

// The names by which clients know the resources must not depend on which of them is asked first.
func TestNamesAreUnique(t *testing.T) {
	t.Parallel()
	groups, names := map[string]bool{}, map[string]string{}
	for _, group := range registry.Groups() {
		if groups[group.Name] {
			t.Errorf("group %q is there twice", group.Name)
		}
		groups[group.Name] = true
		for _, r := range group.Resources {
			for _, name := range append([]string{r.Plural, r.Singular}, r.ShortNames...) {
				if other, taken := names[name]; taken {
					t.Errorf("%s is a name of %s and of %s", name, other, r.Plural)
				}
				names[name] = r.Plural
			}
		}
	}
}

func TestRowsAreWellFormed(t *testing.T) {
	t.Parallel()
	s := newScheme(t)
	everyResource(t, func(t *testing.T, r row) {
		if r.Singular != strings.ToLower(r.Kind) || r.Plural != strings.ToLower(r.Plural) {
			t.Errorf("names of %s are %s and %s", r.Kind, r.Singular, r.Plural)
		}
		if !slices.IsSorted(r.Verbs) || len(r.Verbs) == 0 {
			t.Errorf("verbs are %v, want them in order", r.Verbs)
		}
		for _, sub := range r.Subresources {
			if !slices.IsSorted(sub.Verbs) || len(sub.Verbs) == 0 || sub.Name == "" {
				t.Errorf("verbs of %q are %v, want them in order", sub.Name, sub.Verbs)
			}
		}
		for name, made := range map[string]func() runtime.Object{r.Kind: r.New, r.Kind + "List": r.NewList} {
			kinds, _, err := s.ObjectKinds(made())
			if err != nil {
				t.Fatal(err)
			}
			for _, version := range []schema.GroupVersion{r.gv, r.hub} {
				if !slices.Contains(kinds, version.WithKind(name)) {
					t.Errorf("%s is not registered as one of %s", version.WithKind(name), kinds)
				}
			}
			if first, second := made(), made(); first == second {
				t.Errorf("%s is always the same object", name)
			}
		}
		items, err := meta.GetItemsPtr(r.NewList())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := reflect.TypeOf(items).Elem().Elem(), reflect.TypeOf(r.New()).Elem(); got != want {
			t.Errorf("the list holds %s, want %s", got, want)
		}
		// What clients send with nothing in it can be normalized.
		if r.Normalize != nil {
			if err := r.Normalize(r.New()); err != nil {
				t.Errorf("an empty object is not normalized: %v", err)
			}
		}
	})
}

// options are the options of storage that holds nothing, or an error.
type options struct {
	err error
}

// GetRESTOptions is part of generic.RESTOptionsGetter.
func (o options) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{
		ResourcePrefix: resource.Resource,
		StorageConfig:  &storagebackend.ConfigForResource{GroupResource: resource},
		Decorator: func(
			*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error), func() runtime.Object, func() runtime.Object,
			storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers,
		) (storage.Interface, factory.DestroyFunc, error) {
			return &nothing{}, func() {}, nil
		},
	}, o.err
}

// nothing is a storage that nobody calls.
type nothing struct {
	storage.Interface
}

// deps are what the storage of a group takes.
func deps(t *testing.T, group registry.Group, err error) registry.Deps {
	t.Helper()
	return registry.Deps{
		Scheme:       newScheme(t).Scheme,
		GroupVersion: group.GroupVersion(),
		Clock:        clock.RealClock{},
		Authorizer:   authorizerfactory.NewAlwaysAllowAuthorizer(),
		RESTOptions:  options{err: err},
	}
}

func TestStorageHasEveryEndpointOfTheTable(t *testing.T) {
	t.Parallel()
	for _, group := range registry.Groups() {
		t.Run(group.GroupVersion().String(), func(t *testing.T) {
			t.Parallel()
			endpoints, err := group.Storage(deps(t, group, nil))
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for _, r := range group.Resources {
				want[r.Plural] = r.Kind
				for _, sub := range r.Subresources {
					want[r.Plural+"/"+sub.Name] = r.Kind
				}
			}
			s := newScheme(t)
			got := map[string]string{}
			for name, endpoint := range endpoints {
				kinds, _, err := s.ObjectKinds(endpoint.New())
				if err != nil {
					t.Fatal(err)
				}
				got[name] = kinds[0].Kind
				endpoint.Destroy()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("endpoints and their kinds (-table +storage):\n%s", diff)
			}
			for _, r := range group.Resources {
				checkNames(t, endpoints[r.Plural], r.Singular, r.ShortNames, r.Categories, r.Namespaced)
			}
		})
	}
}

// checkNames checks that an endpoint tells discovery what the table says.
func checkNames(t *testing.T, endpoint rest.Storage, singular string, shortNames, categories []string, namespaced bool) {
	t.Helper()
	if got := endpoint.(rest.SingularNameProvider).GetSingularName(); got != singular {
		t.Errorf("singular name is %s, want %s", got, singular)
	}
	if got := endpoint.(rest.Scoper).NamespaceScoped(); got != namespaced {
		t.Errorf("%s: namespaced is %t, want %t", singular, got, namespaced)
	}
	var got []string
	if provider, ok := endpoint.(rest.ShortNamesProvider); ok {
		got = provider.ShortNames()
	}
	if !slices.Equal(got, shortNames) {
		t.Errorf("short names of %s are %v, want %v", singular, got, shortNames)
	}
	got = nil
	if provider, ok := endpoint.(rest.CategoriesProvider); ok {
		got = provider.Categories()
	}
	if !slices.Equal(got, categories) {
		t.Errorf("categories of %s are %v, want %v", singular, got, categories)
	}
}

func TestStorageErrorIsReturned(t *testing.T) {
	t.Parallel()
	unreachable := errors.New("unreachable")
	for _, group := range registry.Groups() {
		endpoints, err := group.Storage(deps(t, group, unreachable))
		if !errors.Is(err, unreachable) {
			t.Errorf("%s: error is %v, want %v", group.GroupVersion(), err, unreachable)
		}
		if len(endpoints) > 0 {
			t.Errorf("%s: endpoints %v come with the error", group.GroupVersion(), slices.Sorted(maps.Keys(endpoints)))
		}
	}
}
