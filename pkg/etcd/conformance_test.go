// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/feature"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	"k8s.io/client-go/tools/cache"
)

const (
	podsPrefix  = "/pods/"
	valuePrefix = "test!"
)

func newPod() runtime.Object     { return &example.Pod{} }
func newPodList() runtime.Object { return &example.PodList{} }

// podConfig is a storage configuration for the library's example pods, stored as protobuf or as JSON.
func podConfig(t testing.TB, json bool) *storagebackend.ConfigForResource {
	t.Helper()
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	must(t, errors.Join(example.AddToScheme(scheme), examplev1.AddToScheme(scheme)))
	pb := protobuf.NewSerializer(scheme, scheme)
	codec := serializer.NewCodecFactory(scheme).CodecForVersions(pb, pb, schema.GroupVersions{examplev1.SchemeGroupVersion}, nil)
	config := storagebackend.NewDefaultConfig("ignored", codec).ForResource(schema.GroupResource{Resource: "pods"})
	if json {
		config.Codec = serializer.NewCodecFactory(scheme).LegacyCodec(examplev1.SchemeGroupVersion)
	}
	return config
}

// swappable is a transformer that a test can replace.
type swappable struct {
	current atomic.Pointer[value.Transformer]
}

func (s *swappable) set(t value.Transformer) { s.current.Store(&t) }
func (s *swappable) get() value.Transformer  { return *s.current.Load() }

func (s *swappable) TransformFromStorage(ctx context.Context, data []byte, dataCtx value.Context) ([]byte, bool, error) {
	return s.get().TransformFromStorage(ctx, data, dataCtx)
}

func (s *swappable) TransformToStorage(ctx context.Context, data []byte, dataCtx value.Context) ([]byte, error) {
	return s.get().TransformToStorage(ctx, data, dataCtx)
}

// rawStore is the etcd3 storage over a client in process, without a watch cache.
type rawStore struct {
	storage.Interface
	embedded    *Embedded
	codec       runtime.Codec
	client      *kubernetes.Client
	kv          *storagetesting.KVRecorder
	lists       *storagetesting.KubernetesRecorder
	transformer *swappable
}

func newRawStore(t *testing.T) *rawStore {
	t.Helper()
	s := &rawStore{embedded: start(t), transformer: &swappable{}}
	s.transformer.set(storagetesting.NewPrefixTransformer([]byte(valuePrefix), false))
	config := podConfig(t, true) // a test stores what JSON only allows, a leading space
	config.Transformer = s.transformer
	s.codec = config.Codec
	var err error
	s.client, err = s.embedded.gate.newClient(s.embedded.etcd.Server)
	must(t, err)
	s.lists = storagetesting.NewKubernetesRecorder(s.client.Kubernetes)
	s.kv = storagetesting.NewKVRecorder(s.client.KV, s.lists)
	s.client.KV, s.client.Kubernetes = s.kv, s.lists
	store, closeStore, err := s.embedded.newStore(s.client, config, podsPrefix, newPod, newPodList)
	must(t, err)
	t.Cleanup(closeStore)
	s.Interface = store
	// So that no test counts the one call by which the library learns it.
	feature.DefaultFeatureSupportChecker.MarkUnsupported(storage.RangeStream)
	return s
}

// UpdatePrefixTransformer implements storagetesting.InterfaceWithPrefixTransformer.
func (s *rawStore) UpdatePrefixTransformer(modify storagetesting.PrefixTransformerModifier) func() {
	original := s.transformer.get()
	prefix, ok := original.(*storagetesting.PrefixTransformer)
	if !ok {
		panic("the prefix transformer is replaced already")
	}
	modified := *prefix
	s.transformer.set(modify(&modified))
	return func() { s.transformer.set(original) }
}

// UpdateTransformer implements storagetesting.InterfaceWithTransformerOverride.
func (s *rawStore) UpdateTransformer(modify storagetesting.TransformerModifier) func() {
	original := s.transformer.get()
	s.transformer.set(modify(original))
	return func() { s.transformer.set(original) }
}

// validateKey checks what is stored under a key.
func (s *rawStore) validateKey(ctx context.Context, t *testing.T, key string) {
	t.Helper()
	got, err := s.client.KV.Get(ctx, DefaultPrefix+key)
	must(t, err)
	if len(got.Kvs) != 1 {
		t.Fatalf("%s: %d values", key, len(got.Kvs))
	}
	obj, err := runtime.Decode(s.codec, got.Kvs[0].Value[len(valuePrefix):])
	must(t, err)
	if pod := obj.(*example.Pod); pod.ResourceVersion != "" || pod.SelfLink != "" { //nolint:forcetypeassert // a test
		t.Errorf("stored with resourceVersion %q and selfLink %q", pod.ResourceVersion, pod.SelfLink)
	}
}

// validateCalls checks that pages grow: as many objects are read as were looked at, in few calls.
func (s *rawStore) validateCalls(t *testing.T, pageSize, processed uint64) {
	t.Helper()
	prefix := s.transformer.get().(*storagetesting.PrefixTransformer) //nolint:forcetypeassert // a test
	if reads := prefix.GetReadsAndReset(); reads != processed {
		t.Errorf("%d values were read, want %d", reads, processed)
	}
	calls := uint64(1)
	if pageSize != 0 {
		for sum := uint64(1); sum < processed; calls++ {
			pageSize = min(2*pageSize, 10000)
			sum += pageSize
		}
	}
	if reads := s.kv.GetReadsAndReset() + s.kv.GetStreamReadsAndReset(); reads != calls {
		t.Errorf("%d calls, want %d", reads, calls)
	}
}

// compact compacts etcd as another API server does, and waits until the store has seen it.
func compact(client *clientv3.Client, store interface{ CompactRevision() int64 }) storagetesting.Compaction {
	return func(ctx context.Context, t *testing.T, resourceVersion string) {
		t.Helper()
		revision, err := storage.APIObjectVersioner{}.ParseResourceVersion(resourceVersion)
		must(t, err)
		version, _, _, err := etcd3.Compact(ctx, client, 0, int64(revision))
		if err != nil {
			_, _, _, err = etcd3.Compact(ctx, client, version, int64(revision))
		}
		must(t, err)
		for deadline := time.Now().Add(20 * time.Second); store.CompactRevision() != int64(revision); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the store's compaction is at %d, want %d", store.CompactRevision(), revision)
			}
		}
	}
}

func increaseRV(client *clientv3.Client) storagetesting.IncreaseRVFunc {
	return func(ctx context.Context, t *testing.T) int64 {
		t.Helper()
		got, err := client.Put(ctx, "increaseRV", "ok")
		must(t, err)
		return got.Header.Revision
	}
}

// sequential names the tests that set feature gates, which are the process's, and the one whose object lives for a second.
func sequential(name string) bool {
	switch name {
	case "Get", "WatchSemantics", "WatchSemanticInitialEventsExtended", "WatchListMatchSingle", "SendInitialEventsCompatible":
		return true
	}
	return false
}

// TestStoreConformance runs the library's own suite for storages over the in-process client. Three of its tests can't be
// run from outside the store's package (TransformationFailure, GetListWithErrorAggregation, …WithoutErrorAggregation): they
// put their failing transformer below the one that marks errors as those of corrupt objects, and we build both.
func TestStoreConformance(t *testing.T) {
	for name, run := range map[string]func(ctx context.Context, t *testing.T, s *rawStore){
		"Create": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestCreate(ctx, t, s, s.validateKey)
		},
		"CreateWithTTL": func(ctx context.Context, t *testing.T, s *rawStore) { storagetesting.RunTestCreateWithTTL(ctx, t, s) },
		"CreateWithKeyExist": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestCreateWithKeyExist(ctx, t, s)
		},
		"Get": func(ctx context.Context, t *testing.T, s *rawStore) { storagetesting.RunTestGet(ctx, t, s) },
		"UnconditionalDelete": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestUnconditionalDelete(ctx, t, s)
		},
		"ConditionalDelete": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestConditionalDelete(ctx, t, s)
		},
		"DeleteWithSuggestion": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestDeleteWithSuggestion(ctx, t, s)
		},
		"DeleteWithSuggestionAndConflict": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestDeleteWithSuggestionAndConflict(ctx, t, s)
		},
		"DeleteWithConflict": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestDeleteWithConflict(ctx, t, s)
		},
		"DeleteWithSuggestionOfDeleted": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestDeleteWithSuggestionOfDeletedObject(ctx, t, s)
		},
		"ValidateDeletionWithSuggestion": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestValidateDeletionWithSuggestion(ctx, t, s)
		},
		"ValidateDeletionOnlySuggestion": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestValidateDeletionWithOnlySuggestionValid(ctx, t, s)
		},
		"PreconditionalDeleteWithSuggestion": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestPreconditionalDeleteWithSuggestion(ctx, t, s)
		},
		"PreconditionalDeleteOnlySuggestion": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestPreconditionalDeleteWithOnlySuggestionPass(ctx, t, s)
		},
		"DeleteCorruptWithoutSuggestion": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError(ctx, t, s)
		},
		"DeleteWithConflictAndMissingExpectedError": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError(ctx, t, s, s.failing())
		},
		"DeleteExpectedTransformError": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestDeleteExpectedTransformOrDecodeError(ctx, t, s, s.failing())
		},
		"List": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestList(ctx, t, s, compact(s.client.Client, s), false, s.lists)
		},
		"ListPaging": func(ctx context.Context, t *testing.T, s *rawStore) { storagetesting.RunTestListPaging(ctx, t, s) },
		"NamespaceScopedList": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestNamespaceScopedList(ctx, t, s)
		},
		"GetListNonRecursive": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestGetListNonRecursive(ctx, t, increaseRV(s.client.Client), s)
		},
		"GetListRecursivePrefix": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestGetListRecursivePrefix(ctx, t, s)
		},
		"KeySchema": func(ctx context.Context, t *testing.T, s *rawStore) { storagetesting.RunTestKeySchema(ctx, t, s) },
		"ConsistentList": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestConsistentList(ctx, t, s, increaseRV(s.client.Client), false, true, false)
		},
		"CompactRevision": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestCompactRevision(ctx, t, s, increaseRV(s.client.Client), compact(s.client.Client, s))
		},
		"ListContinuation": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestListContinuation(ctx, t, s, s.validateCalls)
		},
		"ListPaginationRareObject": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestListPaginationRareObject(ctx, t, s, s.validateCalls)
		},
		"ListContinuationWithFilter": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestListContinuationWithFilter(ctx, t, s, s.validateCalls)
		},
		"ListInconsistentContinuation": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestListInconsistentContinuation(ctx, t, s, compact(s.client.Client, s))
		},
		"ListResourceVersionMatch": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestListResourceVersionMatch(ctx, t, s)
		},
		"GuaranteedUpdate": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestGuaranteedUpdate(ctx, t, s, s.validateKey)
		},
		"GuaranteedUpdateWithTTL": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestGuaranteedUpdateWithTTL(ctx, t, s)
		},
		"GuaranteedUpdateChecksData": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestGuaranteedUpdateChecksStoredData(ctx, t, s)
		},
		"GuaranteedUpdateConflict": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestGuaranteedUpdateWithConflict(ctx, t, s)
		},
		"GuaranteedUpdateSuggestion": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestGuaranteedUpdateWithSuggestionAndConflict(ctx, t, s)
		},
		"Stats": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestStats(ctx, t, s, s.codec, s.transformer, false)
		},
		"Watch": func(ctx context.Context, t *testing.T, s *rawStore) { storagetesting.RunTestWatch(ctx, t, s) },
		"ClusterScopedWatch": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestClusterScopedWatch(ctx, t, s)
		},
		"NamespaceScopedWatch": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestNamespaceScopedWatch(ctx, t, s)
		},
		"DeleteTriggerWatch": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestDeleteTriggerWatch(ctx, t, s)
		},
		"WatchFromZero": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestWatchFromZero(ctx, t, s, compact(s.client.Client, s))
		},
		"WatchFromNonZero": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestWatchFromNonZero(ctx, t, s)
		},
		"DelayedWatchDelivery": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestDelayedWatchDelivery(ctx, t, s)
		},
		"WatchError": func(ctx context.Context, t *testing.T, s *rawStore) { storagetesting.RunTestWatchError(ctx, t, s) },
		"WatchContextCancel": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestWatchContextCancel(ctx, t, s)
		},
		"WatcherTimeout": func(ctx context.Context, t *testing.T, s *rawStore) { storagetesting.RunTestWatcherTimeout(ctx, t, s) },
		"WatchDeleteEventHasLatestRV": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV(ctx, t, s)
		},
		"WatchInitializationSignal": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestWatchInitializationSignal(ctx, t, s)
		},
		"WatchWithUnsafeDelete": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunTestWatchWithUnsafeDelete(ctx, t, s, errors.New("bits flipped"))
		},
		"SendInitialEventsCompatible": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunSendInitialEventsBackwardCompatibility(ctx, t, s)
		},
		"WatchSemantics": func(ctx context.Context, t *testing.T, s *rawStore) { storagetesting.RunWatchSemantics(ctx, t, s) },
		"WatchSemanticInitialEventsExtended": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunWatchSemanticInitialEventsExtended(ctx, t, s)
		},
		"WatchListMatchSingle": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunWatchListMatchSingle(ctx, t, s)
		},
		"WatchErrorIsBlockingFurtherEvents": func(ctx context.Context, t *testing.T, s *rawStore) {
			storagetesting.RunWatchErrorIsBlockingFurtherEvents(ctx, t, s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if !sequential(name) {
				t.Parallel()
			}
			run(t.Context(), t, newRawStore(t))
		})
	}
}

// failing returns a function that makes the transformer fail.
func (s *rawStore) failing() func(bool) {
	working := s.transformer.get()
	return func(fail bool) {
		if fail {
			s.transformer.set(brokenTransformer{working})
		} else {
			s.transformer.set(working)
		}
	}
}

type brokenTransformer struct{ value.Transformer }

func (brokenTransformer) TransformFromStorage(context.Context, []byte, value.Context) ([]byte, bool, error) {
	return nil, false, errors.New("synthetic error")
}

// podAttrs is what pods can be selected by.
func podAttrs(obj runtime.Object) (labels.Set, fields.Set, error) {
	pod, ok := obj.(*example.Pod)
	if !ok {
		return nil, nil, errors.New("not a pod")
	}
	return pod.Labels, fields.Set{
		"metadata.name":      pod.Name,
		"metadata.namespace": pod.Namespace,
		"spec.nodeName":      pod.Spec.NodeName,
		"spec.restartPolicy": string(pod.Spec.RestartPolicy),
		"status.phase":       string(pod.Status.Phase),
	}, nil
}

// decorated builds a storage of pods, under the name of a resource, through a backend's decorator, and destroys it with
// the test.
func decorated(t testing.TB, b Backend, resource string, namespaced bool) storage.Interface {
	t.Helper()
	keyFunc := func(obj runtime.Object) (string, error) {
		if namespaced {
			return storage.NamespaceKeyFunc(podsPrefix, obj)
		}
		return storage.NoNamespaceKeyFunc(podsPrefix, obj)
	}
	nodeName := func(obj runtime.Object) string { return obj.(*example.Pod).Spec.NodeName } //nolint:forcetypeassert // a test
	indexers := cache.Indexers{
		storage.FieldIndex("spec.nodeName"): func(obj any) ([]string, error) { return []string{nodeName(obj.(runtime.Object))}, nil }, //nolint:forcetypeassert // a test
		storage.FieldIndex("metadata.namespace"): func(obj any) ([]string, error) {
			return []string{obj.(*example.Pod).Namespace}, nil //nolint:forcetypeassert // a test
		},
	}
	config := podConfig(t, false)
	config.GroupResource.Resource = resource
	config.Transformer = identity.NewEncryptCheckTransformer()
	s, destroy, err := b.Decorator()(config, podsPrefix, keyFunc, newPod, newPodList, podAttrs, storage.IndexerFuncs{"spec.nodeName": nodeName}, &indexers)
	must(t, err)
	t.Cleanup(destroy)
	for deadline := time.Now().Add(20 * time.Second); s.ReadinessCheck() != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(s.ReadinessCheck())
		}
	}
	return s
}

// cachedStore creates objects that the watch cache has when Create returns, as the suite's watch tests expect.
type cachedStore struct{ storage.Interface }

func (s cachedStore) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	if err := s.Interface.Create(ctx, key, obj, out, ttl); err != nil {
		return err
	}
	for {
		cached := newPod()
		err := s.Get(ctx, key, storage.GetOptions{ResourceVersion: "0"}, cached)
		if err == nil && cached.(*example.Pod).ResourceVersion == out.(*example.Pod).ResourceVersion { //nolint:forcetypeassert // a test
			return nil
		}
		if err != nil && !storage.IsNotFound(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not in the cache: %w", key, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// TestDecoratorConformance runs the suite over what the server gets: a watch cache over the store.
func TestDecoratorConformance(t *testing.T) {
	noValidation := func(context.Context, *testing.T, string) {}
	noCalls := func(*testing.T, uint64, uint64) {}
	for name, run := range map[string]func(ctx context.Context, t *testing.T, s storage.Interface, client *clientv3.Client){
		"Create": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestCreate(ctx, t, s, noValidation)
		},
		"Get": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestGet(ctx, t, s)
		},
		"ConditionalDelete": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestConditionalDelete(ctx, t, s)
		},
		"ConsistentList": func(ctx context.Context, t *testing.T, s storage.Interface, client *clientv3.Client) {
			storagetesting.RunTestConsistentList(ctx, t, s, increaseRV(client), true, true, true)
		},
		"GetListNonRecursive": func(ctx context.Context, t *testing.T, s storage.Interface, client *clientv3.Client) {
			storagetesting.RunTestGetListNonRecursive(ctx, t, increaseRV(client), s)
		},
		"GetListRecursivePrefix": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestGetListRecursivePrefix(ctx, t, s)
		},
		"ListPaging": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestListPaging(ctx, t, s)
		},
		"ListContinuation": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestListContinuation(ctx, t, s, noCalls)
		},
		"ListContinuationWithFilter": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestListContinuationWithFilter(ctx, t, s, noCalls)
		},
		"NamespaceScopedList": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestNamespaceScopedList(ctx, t, s)
		},
		"GuaranteedUpdateWithConflict": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestGuaranteedUpdateWithConflict(ctx, t, s)
		},
		"KeySchema": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestKeySchema(ctx, t, s)
		},
		"Watch": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestWatch(ctx, t, s)
		},
		"DeleteTriggerWatch": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestDeleteTriggerWatch(ctx, t, s)
		},
		"WatchFromNonZero": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestWatchFromNonZero(ctx, t, s)
		},
		"DelayedWatchDelivery": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestDelayedWatchDelivery(ctx, t, s)
		},
		"WatchDeleteEventHasLatestRV": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV(ctx, t, s)
		},
		"WatchInitializationSignal": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestWatchInitializationSignal(ctx, t, s)
		},
		"NamespaceScopedWatch": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestNamespaceScopedWatch(ctx, t, s)
		},
		"WatchDispatchBookmarkEvents": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestWatchDispatchBookmarkEvents(ctx, t, s, true)
		},
		"WatchBookmarksWithCorrectRV": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunTestOptionalWatchBookmarksWithCorrectResourceVersion(ctx, t, s)
		},
		"SendInitialEventsCompatible": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunSendInitialEventsBackwardCompatibility(ctx, t, s)
		},
		"WatchSemantics": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunWatchSemantics(ctx, t, cachedStore{s})
		},
		"WatchSemanticInitialEventsExtended": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunWatchSemanticInitialEventsExtended(ctx, t, cachedStore{s})
		},
		"WatchListMatchSingle": func(ctx context.Context, t *testing.T, s storage.Interface, _ *clientv3.Client) {
			storagetesting.RunWatchListMatchSingle(ctx, t, cachedStore{s})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if !sequential(name) {
				t.Parallel()
			}
			e := start(t)
			run(t.Context(), t, decorated(t, e, "pods", true), e.client)
		})
	}
	t.Run("ClusterScopedWatch", func(t *testing.T) {
		t.Parallel()
		storagetesting.RunTestClusterScopedWatch(t.Context(), t, decorated(t, start(t), "pods", false))
	})
}
