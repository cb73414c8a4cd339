// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package namespace_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	apistorage "k8s.io/apiserver/pkg/storage"
	etcd3testing "k8s.io/apiserver/pkg/storage/etcd3/testing"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	internalcore "k8s.io/kubernetes/pkg/apis/core"
	upstreamv1 "k8s.io/kubernetes/pkg/apis/core/v1"
	upstreamstorage "k8s.io/kubernetes/pkg/registry/core/namespace/storage"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/pinnace-io/pinnace/pkg/apis/core"
	"github.com/pinnace-io/pinnace/pkg/registry/core/namespace"
	"github.com/pinnace-io/pinnace/pkg/registry/core/namespace/storage"
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

// backends are our endpoints and kube-apiserver's over one etcd, under two prefixes, with the stores below them.
type backends struct {
	ours             *storage.Storage
	ourRaw           apistorage.Interface
	upstream         *upstreamstorage.REST
	upstreamFinalize *upstreamstorage.FinalizeREST
	upstreamRaw      apistorage.Interface
}

func newBackends(t *testing.T) backends {
	t.Helper()
	server, config := etcd3testing.NewUnsecuredEtcd3TestClientServer(t)
	t.Cleanup(func() { server.Terminate(t) })

	scheme := runtime.NewScheme()
	if err := core.Install(scheme, corev1.SchemeGroupVersion); err != nil {
		t.Fatal(err)
	}
	codecs := serializer.NewCodecFactory(scheme)
	ourOptions := restOptions(config, "/ours", codecs.LegacyCodec(corev1.SchemeGroupVersion))
	upstreamOptions := restOptions(config, "/upstream", legacyscheme.Codecs.LegacyCodec(corev1.SchemeGroupVersion))

	clock, main := testingclock.NewFakePassiveClock(atDeletion()), namespace.NewStrategy()
	var b backends
	var err error
	b.ours, err = storage.NewStorage(ourOptions, storage.Config{
		Scheme: scheme, GroupVersion: corev1.SchemeGroupVersion, Clock: clock, Columns: namespace.NewColumns(clock),
		Strategy: main, Status: namespace.NewStatusStrategy(main), Finalize: namespace.NewFinalizeStrategy(main),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.ours.Namespace.Destroy)
	b.upstream, _, b.upstreamFinalize, err = upstreamstorage.NewREST(upstreamOptions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.upstream.Destroy)
	b.ourRaw = rawStorage(t, ourOptions, b.ours.Namespace)
	b.upstreamRaw = rawStorage(t, upstreamOptions, b.upstream)
	return b
}

func rawStorage(t *testing.T, options generic.RESTOptions, endpoint interface {
	New() runtime.Object
	NewList() runtime.Object
},
) apistorage.Interface {
	t.Helper()
	raw, destroy, err := generic.NewRawStorage(options.StorageConfig, endpoint.New, endpoint.NewList, "/namespaces")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(destroy)
	return raw
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

// put stores a namespace as it is in both backends.
func (b backends) put(t *testing.T, ns *corev1.Namespace) {
	t.Helper()
	key := "/namespaces/" + ns.Name
	if err := b.ourRaw.Create(t.Context(), key, ns.DeepCopy(), nil, 0); err != nil {
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
