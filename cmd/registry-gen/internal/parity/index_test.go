// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package parity_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	apistorage "k8s.io/apiserver/pkg/storage"
	cachermetrics "k8s.io/apiserver/pkg/storage/cacher/metrics"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/kubernetes/pkg/apis/certificates"
	"k8s.io/kubernetes/pkg/apis/core"
	upstreamcertificates "k8s.io/kubernetes/pkg/registry/certificates/certificates"
	upstreamnamespace "k8s.io/kubernetes/pkg/registry/core/namespace"

	"github.com/pinnace-io/pinnace/pkg/etcd"
	certificatesstorage "github.com/pinnace-io/pinnace/pkg/registry/certificates/certificatesigningrequest/storage"
	namespacestorage "github.com/pinnace-io/pinnace/pkg/registry/core/namespace/storage"
)

const (
	signerName = "spec.signerName"
	robot      = "example.com/robot"
	other      = "example.com/other"
)

// storeOf returns the store of an endpoint: embedded, or in the field store, and perhaps inside a view.
func storeOf(t *testing.T, endpoint rest.Storage) *genericregistry.Store {
	t.Helper()
	v := reflect.ValueOf(endpoint)
	for v.IsValid() && v.Type() != reflect.TypeFor[*genericregistry.Store]() {
		f := v.Elem().FieldByName("Store")
		if !f.IsValid() {
			f = v.Elem().FieldByName("store")
		}
		v = f
	}
	if v.IsValid() {
		return (*genericregistry.Store)(v.UnsafePointer())
	}
	t.Fatalf("%T has no store", endpoint)
	return nil
}

// Selectors see in an object what upstream's see.
func TestSelectableFields(t *testing.T) {
	t.Parallel()
	object := metav1.ObjectMeta{Name: "n", Labels: map[string]string{"l": "1"}}
	for name, c := range map[string]struct {
		ours, theirs              apistorage.AttrFunc
		object, upstream, foreign runtime.Object
	}{
		"a CertificateSigningRequest": {
			ours: certificatesstorage.GetAttrs, theirs: upstreamcertificates.GetAttrs,
			object:   &certificatesv1.CertificateSigningRequest{ObjectMeta: object, Spec: certificatesv1.CertificateSigningRequestSpec{SignerName: robot}},
			upstream: &certificates.CertificateSigningRequest{ObjectMeta: object, Spec: certificates.CertificateSigningRequestSpec{SignerName: robot}},
			foreign:  &corev1.Namespace{},
		},
		"a Namespace": {
			ours: namespacestorage.GetAttrs, theirs: upstreamnamespace.GetAttrs,
			object:   &corev1.Namespace{ObjectMeta: object, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}},
			upstream: &core.Namespace{ObjectMeta: object, Status: core.NamespaceStatus{Phase: core.NamespaceActive}},
			foreign:  &certificatesv1.CertificateSigningRequest{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantLabels, wantFields, err := c.theirs(c.upstream)
			if err != nil {
				t.Fatal(err)
			}
			gotLabels, gotFields, err := c.ours(c.object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wantLabels, gotLabels) + cmp.Diff(wantFields, gotFields); diff != "" {
				t.Errorf("-upstream +ours\n%s", diff)
			}
			if _, _, err := c.ours(c.foreign); err == nil {
				t.Errorf("no error for a %T", c.foreign)
			}
		})
	}
}

// Only CertificateSigningRequests have an index. The watch cache uses it only where the same field is in three
// places: the indexers, the trigger, and the predicate's own list.
func TestIndexesAreWiredInThreePlaces(t *testing.T) {
	t.Parallel()
	for _, group := range serve(t, native) {
		for _, row := range group.Resources {
			opened := group.opened[row.Plural]
			store := storeOf(t, group.endpoints[row.Plural])
			indexed := store.PredicateFunc(nil, nil).IndexFields
			if row.Plural != "certificatesigningrequests" {
				if len(indexed) > 0 || opened.triggers != nil || opened.indexers != nil {
					t.Errorf("%s has an index: %v, %v, %v", row.Plural, indexed, opened.triggers, opened.indexers)
				}
				continue
			}
			if diff := cmp.Diff([]string{signerName}, indexed); diff != "" {
				t.Errorf("fields of the predicate, -want +got\n%s", diff)
			}
			csr := &certificatesv1.CertificateSigningRequest{Spec: certificatesv1.CertificateSigningRequestSpec{SignerName: robot}}
			if len(opened.triggers) != 1 || opened.triggers[signerName](csr) != robot {
				t.Errorf("triggers: %v", opened.triggers)
			}
			index := (*opened.indexers)[apistorage.FieldIndex(signerName)]
			if keys, err := index(csr); err != nil || !cmp.Equal(keys, []string{robot}) {
				t.Errorf("index keys: %v, %v", keys, err)
			}
			if _, err := index("no object"); err == nil {
				t.Error("the index takes a string for an object")
			}
		}
	}
}

// A LIST by signerName reads the index, and a WATCH by signerName sees what a watch without an index would see, on a
// watch cache over a real etcd.
func TestSignerNameIndex(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cachermetrics.Register()
	endpoint := openCertificateSigningRequests(t)
	store := endpoint.Store
	const all, robots = 12, 4
	for i := range all {
		signer := other
		if i < robots {
			signer = robot
		}
		create(ctx, t, store, fmt.Sprintf("csr-%02d", i), signer)
	}

	selector := fields.OneTermEqualSelector(signerName, robot)
	before := fetched(t)
	list, err := endpoint.List(ctx, &metainternalversion.ListOptions{FieldSelector: selector})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(list.(*certificatesv1.CertificateSigningRequestList).Items); n != robots {
		t.Errorf("listed %d, want %d", n, robots)
	}
	if n := fetched(t) - before; n != robots {
		t.Errorf("the list took %v objects from the index, want %d: it did not use it", n, robots)
	}

	watcher, err := endpoint.Watch(ctx, &metainternalversion.ListOptions{
		FieldSelector:   selector,
		ResourceVersion: list.(*certificatesv1.CertificateSigningRequestList).ResourceVersion,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	create(ctx, t, store, "theirs", other)
	create(ctx, t, store, "ours", robot)
	setSigner(ctx, t, store, "theirs", robot)
	setSigner(ctx, t, store, "ours", other)
	for _, want := range []string{"ADDED ours", "ADDED theirs", "DELETED ours"} {
		select {
		case event := <-watcher.ResultChan():
			if got := describe(event); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		case <-ctx.Done():
			t.Fatalf("no event, want %s", want)
		}
	}
}

func describe(event watch.Event) string {
	object := event.Object
	if cached, ok := object.(runtime.CacheableObject); ok {
		object = cached.GetObject()
	}
	csr, ok := object.(*certificatesv1.CertificateSigningRequest)
	if !ok {
		return fmt.Sprintf("%s %v", event.Type, object)
	}
	return fmt.Sprintf("%s %s", event.Type, csr.Name)
}

// openCertificateSigningRequests serves the resource from an etcd of its own through a watch cache.
func openCertificateSigningRequests(t *testing.T) *certificatesstorage.REST {
	t.Helper()
	for _, group := range serve(t, native) {
		if group.Name != "certificates.k8s.io" {
			continue
		}
		backend, err := etcd.Start(t.Context(), etcd.EmbeddedConfig{DataDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := backend.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		config := storagebackend.NewDefaultConfig("", group.scheme.Codecs.LegacyCodec(group.as))
		config.EncodeVersioner = group.as
		storage, err := certificatesstorage.NewStorage(generic.RESTOptions{
			StorageConfig:  config.ForResource(schema.GroupResource{Group: group.as.Group, Resource: "certificatesigningrequests"}),
			Decorator:      backend.Decorator(),
			ResourcePrefix: "certificatesigningrequests",
		}, certificatesstorage.Config{Scheme: group.scheme.Scheme, GroupVersion: group.as})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(storage.CertificateSigningRequest.Destroy)
		err = wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			return storage.CertificateSigningRequest.ReadinessCheck() == nil, nil
		})
		if err != nil {
			t.Fatalf("the watch cache does not become ready: %v", err)
		}
		return storage.CertificateSigningRequest
	}
	t.Fatal("certificates.k8s.io is not declared")
	return nil
}

// create puts a request into storage; no strategy is asked.
func create(ctx context.Context, t *testing.T, store *genericregistry.Store, name, signer string) {
	t.Helper()
	key, err := store.KeyFunc(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	csr := &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       certificatesv1.CertificateSigningRequestSpec{SignerName: signer},
	}
	if err := store.Storage.Create(ctx, key, csr, &certificatesv1.CertificateSigningRequest{}, 0, false); err != nil {
		t.Fatal(err)
	}
}

func setSigner(ctx context.Context, t *testing.T, store *genericregistry.Store, name, signer string) {
	t.Helper()
	key, err := store.KeyFunc(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	update := apistorage.SimpleUpdate(func(obj runtime.Object) (runtime.Object, error) {
		obj.(*certificatesv1.CertificateSigningRequest).Spec.SignerName = signer
		return obj, nil
	})
	err = store.Storage.GuaranteedUpdate(ctx, key, &certificatesv1.CertificateSigningRequest{}, false, nil, update, false, nil)
	if err != nil {
		t.Fatal(err)
	}
}

// fetched is how many objects lists have taken from the index of signerName so far.
func fetched(t *testing.T) float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "apiserver_cache_list_fetched_objects_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "index" && label.GetValue() == apistorage.FieldIndex(signerName) {
					return metric.GetCounter().GetValue()
				}
			}
		}
	}
	return 0
}
