// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package namespace_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	apistorage "k8s.io/apiserver/pkg/storage"
	etcd3testing "k8s.io/apiserver/pkg/storage/etcd3/testing"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	internalcore "k8s.io/kubernetes/pkg/apis/core"
	upstreamv1 "k8s.io/kubernetes/pkg/apis/core/v1"
	upstreamstorage "k8s.io/kubernetes/pkg/registry/core/namespace/storage"

	"github.com/pinnace-io/pinnace/pkg/registry/core/namespace"
	"github.com/pinnace-io/pinnace/pkg/registry/table"
)

// internal returns a namespace in kube-apiserver's internal type.
func internal(t testing.TB, ns *corev1.Namespace) *internalcore.Namespace {
	t.Helper()
	out := &internalcore.Namespace{}
	if err := upstreamv1.Convert_v1_Namespace_To_core_Namespace(ns.DeepCopy(), out, nil); err != nil {
		t.Fatal(err)
	}
	return out
}

// versioned is the way back.
func versioned(t testing.TB, obj runtime.Object) *corev1.Namespace {
	t.Helper()
	if obj == nil {
		return nil
	}
	out := &corev1.Namespace{}
	if err := upstreamv1.Convert_core_Namespace_To_v1_Namespace(obj.(*internalcore.Namespace).DeepCopy(), out, nil); err != nil {
		t.Fatal(err)
	}
	return out
}

// adapter makes a strategy of the library from one of ours, as generated code does.
type adapter struct {
	runtime.ObjectTyper
	names.NameGenerator
	decisions
}

type decisions interface {
	PrepareForUpdate(ctx context.Context, ns, old *corev1.Namespace)
	ValidateUpdate(ctx context.Context, ns, old *corev1.Namespace) field.ErrorList
	WarningsOnUpdate(ctx context.Context, ns, old *corev1.Namespace) []string
	AllowCreateOnUpdate(ctx context.Context) bool
	AllowUnconditionalUpdate(ctx context.Context) bool
	Canonicalize(ns *corev1.Namespace)
}

var _ rest.RESTUpdateStrategy = adapter{}

func (adapter) NamespaceScoped() bool { return false }

func (a adapter) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	a.decisions.PrepareForUpdate(ctx, obj.(*corev1.Namespace), old.(*corev1.Namespace))
}

func (a adapter) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return a.decisions.ValidateUpdate(ctx, obj.(*corev1.Namespace), old.(*corev1.Namespace))
}

func (a adapter) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	return a.decisions.WarningsOnUpdate(ctx, obj.(*corev1.Namespace), old.(*corev1.Namespace))
}

func (a adapter) Canonicalize(obj runtime.Object) {
	a.decisions.Canonicalize(obj.(*corev1.Namespace))
}

// backends are our store and kube-apiserver's endpoints over one etcd, under two prefixes.
type backends struct {
	ours, ourFinalize *genericregistry.Store
	upstream          *upstreamstorage.REST
	upstreamFinalize  *upstreamstorage.FinalizeREST
	upstreamRaw       apistorage.Interface
}

func newBackends(t *testing.T) backends {
	t.Helper()
	server, config := etcd3testing.NewUnsecuredEtcd3TestClientServer(t)
	t.Cleanup(func() { server.Terminate(t) })

	var b backends
	b.ours, b.ourFinalize = newStores(t, restOptions(config, "/ours", ourCodec(t)))
	upstreamOptions := restOptions(config, "/upstream", legacyscheme.Codecs.LegacyCodec(corev1.SchemeGroupVersion))
	var err error
	b.upstream, _, b.upstreamFinalize, err = upstreamstorage.NewREST(upstreamOptions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.upstream.Destroy)
	var destroy func()
	b.upstreamRaw, destroy, err = generic.NewRawStorage(upstreamOptions.StorageConfig,
		func() runtime.Object { return &internalcore.Namespace{} }, func() runtime.Object { return &internalcore.NamespaceList{} }, "/namespaces")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(destroy)
	return b
}

func restOptions(config *storagebackend.Config, prefix string, codec runtime.Codec) generic.RESTOptions {
	own := *config
	own.Prefix, own.Codec = prefix, codec
	return generic.RESTOptions{
		StorageConfig:           own.ForResource(schema.GroupResource{Resource: "namespaces"}),
		Decorator:               generic.UndecoratedStorage,
		DeleteCollectionWorkers: 1,
		ResourcePrefix:          "namespaces",
	}
}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Namespace{}, &corev1.NamespaceList{})
	scheme.AddKnownTypes(schema.GroupVersion{Version: runtime.APIVersionInternal}, &corev1.Namespace{}, &corev1.NamespaceList{})
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	return scheme
}

func ourCodec(t *testing.T) runtime.Codec {
	t.Helper()
	codecs := serializer.NewCodecFactory(newScheme(t))
	return codecs.LegacyCodec(corev1.SchemeGroupVersion)
}

func newStores(t *testing.T, options generic.RESTOptions) (main, finalize *genericregistry.Store) {
	t.Helper()
	getAttrs := func(obj runtime.Object) (labels.Set, fields.Set, error) {
		ns := obj.(*corev1.Namespace)
		return ns.Labels, generic.ObjectMetaFieldsSet(&ns.ObjectMeta, false), nil
	}
	strategy := adapter{newScheme(t), names.SimpleNameGenerator, namespace.NewStrategy()}
	store := &genericregistry.Store{
		NewFunc:     func() runtime.Object { return &corev1.Namespace{} },
		NewListFunc: func() runtime.Object { return &corev1.NamespaceList{} },
		PredicateFunc: func(l labels.Selector, f fields.Selector) apistorage.SelectionPredicate {
			return apistorage.SelectionPredicate{Label: l, Field: f, GetAttrs: getAttrs}
		},
		DefaultQualifiedResource:  schema.GroupResource{Resource: "namespaces"},
		SingularQualifiedResource: schema.GroupResource{Resource: "namespace"},
		UpdateStrategy:            strategy,
		DeleteStrategy:            strategy,
		ReturnDeletedObject:       true,
		ShouldDeleteDuringUpdate: func(ctx context.Context, key string, obj, existing runtime.Object) bool {
			return namespace.ShouldDeleteDuringUpdate(ctx, key, obj.(*corev1.Namespace), existing.(*corev1.Namespace))
		},
		TableConvertor: table.NewConvertor(namespace.NewColumns(nil)),
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options, AttrFunc: getAttrs}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.DestroyFunc)
	finalizeStore := *store
	finalizeStore.UpdateStrategy = adapter{newScheme(t), names.SimpleNameGenerator, namespace.NewFinalizeStrategy(namespace.NewStrategy())}
	return store, &finalizeStore
}

// put stores a namespace as it is in both backends.
func (b backends) put(t *testing.T, ns *corev1.Namespace) {
	t.Helper()
	key := "/namespaces/" + ns.Name
	if err := b.ours.Storage.Create(t.Context(), key, ns.DeepCopy(), nil, 0, false); err != nil {
		t.Fatal(err)
	}
	if err := b.upstreamRaw.Create(t.Context(), key, internal(t, ns), nil, 0); err != nil {
		t.Fatal(err)
	}
}

// requestContext is that of a request for the namespace x: its namespace is x too.
func requestContext(t *testing.T, finalize bool) context.Context {
	t.Helper()
	info := &request.RequestInfo{IsResourceRequest: true, APIVersion: "v1", Resource: "namespaces", Name: "x"}
	if finalize {
		info.Subresource = "finalize"
	}
	return request.WithNamespace(request.WithRequestInfo(t.Context(), info), "x")
}
