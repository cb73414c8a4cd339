// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"fmt"
	"sync"

	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/apimachinery/pkg/runtime"
	genericfeatures "k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/cache"
)

// Decorator implements Backend. The storages are what genericregistry.StorageWithCacher builds, over a client in this
// process.
func (e *Embedded) Decorator() generic.StorageDecorator {
	return func(
		config *storagebackend.ConfigForResource,
		resourcePrefix string,
		keyFunc func(runtime.Object) (string, error),
		newFunc, newListFunc func() runtime.Object,
		getAttrs storage.AttrFunc,
		indexerFuncs storage.IndexerFuncs,
		indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		raw, destroyRaw, err := e.newStorage(config, resourcePrefix, newFunc, newListFunc)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: storage of %s: %w", e, config.GroupResource, err)
		}
		watchCache, err := cacher.NewCacherFromConfig(cacher.Config{
			Storage:             raw,
			Versioner:           storage.APIObjectVersioner{},
			GroupResource:       config.GroupResource,
			EventsHistoryWindow: config.EventsHistoryWindow,
			ResourcePrefix:      resourcePrefix,
			KeyFunc:             keyFunc,
			NewFunc:             newFunc,
			NewListFunc:         newListFunc,
			GetAttrsFunc:        getAttrs,
			IndexerFuncs:        indexerFuncs,
			Indexers:            indexers,
			Codec:               config.Codec,
		})
		if err != nil {
			destroyRaw()
			return nil, nil, fmt.Errorf("%s: watch cache of %s: %w", e, config.GroupResource, err)
		}
		delegator := cacher.NewCacheDelegator(watchCache, raw)
		// Subresources share their resource's storage, and each of them destroys it.
		return delegator, sync.OnceFunc(func() {
			delegator.Stop()
			watchCache.Stop()
			destroyRaw()
		}), nil
	}
}

// newStorage builds the etcd3 storage of one resource over a client of its own.
func (e *Embedded) newStorage(
	config *storagebackend.ConfigForResource, resourcePrefix string, newFunc, newListFunc func() runtime.Object,
) (storage.Interface, factory.DestroyFunc, error) {
	client, err := e.gate.newClient(e.etcd.Server)
	if err != nil {
		return nil, nil, err
	}
	raw, closeStore, err := e.newStore(client, config, resourcePrefix, newFunc, newListFunc)
	if err != nil {
		e.gate.closeClient(client.Client)
		return nil, nil, err
	}
	return raw, sync.OnceFunc(func() {
		closeStore()
		e.gate.closeClient(client.Client)
	}), nil
}

// newStore builds the etcd3 storage of one resource, as newETCD3Storage of the library's storagebackend/factory does over
// gRPC: with the latency tracker, the transformer, the decoder and the handling of corrupt objects. What belongs to gRPC
// (its metrics and its spans) has no counterpart; compaction is one for all, see Start.
func (e *Embedded) newStore(
	client *kubernetes.Client, config *storagebackend.ConfigForResource, resourcePrefix string, newFunc, newListFunc func() runtime.Object,
) (storage.Interface, func(), error) {
	client.KV = etcd3.NewETCDLatencyTracker(client.KV)
	transformer := config.Transformer
	if transformer == nil {
		transformer = identity.NewEncryptCheckTransformer()
	}
	versioner := storage.APIObjectVersioner{}
	decoder := etcd3.NewDefaultDecoder(config.Codec, versioner)
	deletesCorrupt := utilfeature.DefaultFeatureGate.Enabled(genericfeatures.AllowUnsafeMalformedObjectDeletion)
	if deletesCorrupt {
		transformer = etcd3.WithCorruptObjErrorHandlingTransformer(transformer)
		decoder = etcd3.WithCorruptObjErrorHandlingDecoder(decoder)
	}
	store, err := etcd3.New(client, e.compactor, config.Codec, newFunc, newListFunc, e.config.Prefix, resourcePrefix,
		config.GroupResource, transformer, config.LeaseManagerConfig, decoder, versioner)
	if err != nil {
		return nil, nil, err
	}
	if deletesCorrupt {
		return etcd3.NewStoreWithUnsafeCorruptObjectDeletion(store, config.GroupResource), store.Close, nil
	}
	return store, store.Close, nil
}
