// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
	cachermetrics "k8s.io/apiserver/pkg/storage/cacher/metrics"
	"k8s.io/apiserver/pkg/storage/feature"
	"k8s.io/component-base/metrics/testutil"
)

// createPods creates numbered pods and returns the last one.
func createPods(t testing.TB, s storage.Interface, count int) *example.Pod {
	t.Helper()
	out := &example.Pod{}
	for n := range count {
		pod := &example.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("pod-%05d", n)}}
		*out = example.Pod{}
		must(t, s.Create(t.Context(), podsPrefix+"ns/"+pod.Name, pod, out, 0))
	}
	return out
}

func list(t testing.TB, s storage.Interface, opts storage.ListOptions) *example.PodList {
	t.Helper()
	out := &example.PodList{}
	opts.Recursive = true
	must(t, s.GetList(t.Context(), podsPrefix, opts, out))
	return out
}

// everything is a predicate for pages of at most limit objects; 0 is no limit.
func everything(limit int64, continuation string) storage.SelectionPredicate {
	predicate := storage.Everything
	predicate.Limit, predicate.Continue = limit, continuation
	predicate.GetAttrs = podAttrs
	return predicate
}

// resetFeatures gives the test a feature check that knows nothing yet, as in a new process.
func resetFeatures(t *testing.T) {
	t.Helper()
	before := feature.DefaultFeatureSupportChecker
	feature.DefaultFeatureSupportChecker = feature.NewDefaultFeatureSupportChecker()
	t.Cleanup(func() { feature.DefaultFeatureSupportChecker = before })
}

// TestConsistentReadsFromTheCache: etcd's revision moves by writes of others, and the watch cache learns it only because it
// asks for progress, which works if the library was told that etcd has it and if the request reaches the cache's stream.
func TestConsistentReadsFromTheCache(t *testing.T) {
	cachermetrics.Register() // or they count nothing
	resetFeatures(t)
	if feature.DefaultFeatureSupportChecker.Supports(storage.RequestWatchProgress) {
		t.Fatal("a new check knows the feature already")
	}
	e := start(t)
	if !feature.DefaultFeatureSupportChecker.Supports(storage.RequestWatchProgress) {
		t.Fatal("Start has not announced the feature")
	}
	s := decorated(t, e, "consistentpods", true)
	createPods(t, s, 3)
	for n := range 5 {
		put, err := e.client.Put(t.Context(), "/other", fmt.Sprint(n))
		must(t, err)
		begin := time.Now()
		got := list(t, s, storage.ListOptions{Predicate: everything(0, "")})
		if len(got.Items) != 3 {
			t.Errorf("%d pods", len(got.Items))
		}
		if revision, err := (storage.APIObjectVersioner{}).ParseResourceVersion(got.ResourceVersion); err != nil || int64(revision) < put.Header.Revision {
			t.Errorf("the list is of revision %d, after a write of revision %d", revision, put.Header.Revision)
		}
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("the list took %s", took)
		}
	}
	if got := consistentReads(t, "consistentpods", "true"); got != 5 {
		t.Errorf("%v lists were read from the cache, want 5", got)
	}

	// And without the feature they are not: the test would notice.
	feature.DefaultFeatureSupportChecker = feature.NewDefaultFeatureSupportChecker()
	list(t, s, storage.ListOptions{Predicate: everything(0, "")})
	if got := consistentReads(t, "consistentpods", "true"); got != 5 {
		t.Errorf("%v lists were read from the cache though etcd can't tell of its progress", got)
	}
}

func consistentReads(t *testing.T, resource, success string) float64 {
	t.Helper()
	got, err := testutil.GetCounterMetricValue(cachermetrics.ConsistentReadTotal.WithLabelValues("", resource, success, "false"))
	must(t, err)
	return got
}

// TestWatchList: a watch that begins with the objects there are, and says when it has sent them.
func TestWatchList(t *testing.T) {
	resetFeatures(t)
	e := start(t)
	s := decorated(t, e, "pods", true)
	createPods(t, s, 3)
	_, err := e.client.Put(t.Context(), "/other", "x")
	must(t, err)
	begin := true
	predicate := everything(0, "")
	predicate.AllowWatchBookmarks = true
	w, err := s.Watch(t.Context(), podsPrefix, storage.ListOptions{Predicate: predicate, SendInitialEvents: &begin, Recursive: true})
	must(t, err)
	defer w.Stop()
	var names []string
	deadline := time.After(20 * time.Second)
	for ended := false; !ended; {
		select {
		case event := <-w.ResultChan():
			pod, ok := event.Object.(*example.Pod)
			switch {
			case !ok:
				t.Fatalf("event: %+v", event)
			case event.Type == watch.Added:
				names = append(names, pod.Name)
			case event.Type == watch.Bookmark:
				ended = pod.Annotations[metav1.InitialEventsAnnotationKey] == "true"
			}
		case <-deadline:
			t.Fatal("no end of the initial events")
		}
	}
	if got := strings.Join(names, " "); got != "pod-00000 pod-00001 pod-00002" {
		t.Errorf("initial events: %s", got)
	}
	createPod := &example.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "new"}}
	must(t, s.Create(t.Context(), podsPrefix+"ns/new", createPod, &example.Pod{}, 0))
	event := <-w.ResultChan()
	if cached, ok := event.Object.(runtime.CacheableObject); ok {
		event.Object = cached.GetObject()
	}
	if pod, ok := event.Object.(*example.Pod); !ok || event.Type != watch.Added || pod.Name != "new" {
		t.Errorf("event: %+v", event)
	}
}

// TestListsOfMoreThanAPage: RangeStream is not there, and lists work without it.
func TestListsOfMoreThanAPage(t *testing.T) {
	resetFeatures(t)
	e := start(t)
	config := podConfig(t, false)
	raw, destroy, err := e.newStorage(config, podsPrefix, newPod, newPodList)
	must(t, err)
	t.Cleanup(destroy)
	const count = 1201
	last := createPods(t, raw, count)
	for name, s := range map[string]storage.Interface{"the store": raw, "the watch cache": decorated(t, e, "pods", true)} {
		if got := list(t, s, storage.ListOptions{Predicate: everything(0, "")}); len(got.Items) != count || got.ResourceVersion != last.ResourceVersion {
			t.Errorf("%s: %d pods of revision %s, want %d of %s", name, len(got.Items), got.ResourceVersion, count, last.ResourceVersion)
		}
		var pages, total int
		for continuation := ""; pages == 0 || continuation != ""; pages++ {
			got := list(t, s, storage.ListOptions{Predicate: everything(500, continuation)})
			if total += len(got.Items); len(got.Items) > 500 {
				t.Errorf("%s: a page of %d", name, len(got.Items))
			}
			continuation = got.Continue
		}
		if pages != 3 || total != count {
			t.Errorf("%s: %d pods on %d pages", name, total, pages)
		}
	}
	if feature.DefaultFeatureSupportChecker.Supports(storage.RangeStream) {
		t.Error("RangeStream works: the package comment says that it does not")
	}
}

// TestKeysAreKubeAPIServers: what is stored, and where.
func TestKeysAreKubeAPIServers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ configured, key string }{
		"the default": {"", "/registry/pods/ns/pod-00000"},
		"another one": {"/a/b", "/a/b/pods/ns/pod-00000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t, func(c *EmbeddedConfig) { c.Prefix = tt.configured })
			createPods(t, decorated(t, e, "pods", true), 1)
			got, err := e.client.Get(t.Context(), tt.key)
			must(t, err)
			if len(got.Kvs) != 1 || !strings.HasPrefix(string(got.Kvs[0].Value), "k8s\x00") {
				t.Errorf("%s: %v", tt.key, got.Kvs)
			}
		})
	}
}

func TestDecoratorErrors(t *testing.T) {
	checkLeaks(t)
	e := start(t)
	build := func(prefix string, codec runtime.Codec) error {
		config := podConfig(t, false)
		config.Codec = codec
		_, _, err := e.Decorator()(config, prefix, nil, newPod, newPodList, podAttrs, nil, nil)
		return err
	}
	codec := podConfig(t, false).Codec
	wantError(t, build("pods", codec), "%s: storage of pods: resourcePrefix needs to start from /", e)
	foreign := serializer.NewCodecFactory(runtime.NewScheme()).LegacyCodec(schema.GroupVersion{Group: "g", Version: "v1"})
	if err := build(podsPrefix, foreign); err == nil || !strings.HasPrefix(err.Error(), e.String()+": watch cache of pods: storage codec doesn't seem to match given type: ") {
		t.Errorf("error: %v", err)
	}
	if n := len(e.gate.clients); n != 1 {
		t.Errorf("%d clients are open, want the backend's own", n)
	}
	closeBackend(t, e)
	wantError(t, build(podsPrefix, codec), "%s: storage of pods: etcdserver: server stopped", e)
}

// TestDestroyedTwice: subresources share a storage, and each destroys it.
func TestDestroyedTwice(t *testing.T) {
	checkLeaks(t)
	e := start(t)
	keyFunc := func(obj runtime.Object) (string, error) { return storage.NamespaceKeyFunc(podsPrefix, obj) }
	s, destroy, err := e.Decorator()(podConfig(t, false), podsPrefix, keyFunc, newPod, newPodList, podAttrs, nil, nil)
	must(t, err)
	createPods(t, s, 1)
	destroy()
	destroy()
	if n := len(e.gate.clients); n != 1 {
		t.Errorf("%d clients are open, want the backend's own", n)
	}
}

// TestStorageThatIsDestroyedAfterClose is the wrong order, which must not hang or panic.
func TestStorageThatIsDestroyedAfterClose(t *testing.T) {
	checkLeaks(t)
	e := start(t)
	keyFunc := func(obj runtime.Object) (string, error) { return storage.NamespaceKeyFunc(podsPrefix, obj) }
	s, destroy, err := e.Decorator()(podConfig(t, false), podsPrefix, keyFunc, newPod, newPodList, podAttrs, nil, nil)
	must(t, err)
	createPods(t, s, 1)
	closeBackend(t, e)
	if err := s.Get(t.Context(), podsPrefix+"ns/pod-00000", storage.GetOptions{}, &example.Pod{}); err == nil || !strings.Contains(err.Error(), "server stopped") {
		t.Errorf("a read after Close: %v", err)
	}
	destroy()
}

func TestRequestsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	e := start(t)
	s := decorated(t, e, "pods", true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	pod := &example.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
	if err := s.Create(ctx, podsPrefix+"ns/a", pod, &example.Pod{}, 0); err == nil {
		t.Error("a write with a context that has ended")
	}
	if err := s.Get(ctx, podsPrefix+"ns/a", storage.GetOptions{}, &example.Pod{}); err == nil || storage.IsNotFound(err) {
		t.Errorf("a read with a context that has ended: %v", err)
	}
}

// TestCompaction: old revisions are dropped, as kube-apiserver does it, so that either may run on the data.
func TestCompaction(t *testing.T) {
	t.Parallel()
	e := start(t, func(c *EmbeddedConfig) { c.CompactionInterval = 200 * time.Millisecond })
	first, err := e.client.Put(t.Context(), "/key", "1")
	must(t, err)
	_, err = e.client.Put(t.Context(), "/key", "2")
	must(t, err)
	for deadline := time.Now().Add(20 * time.Second); e.compactor.CompactRevision() < first.Header.Revision+1; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("compacted up to %d, want %d", e.compactor.CompactRevision(), first.Header.Revision+1)
		}
	}
	if _, err := e.client.Get(t.Context(), "/key", clientv3.WithRev(first.Header.Revision)); err == nil || !strings.Contains(err.Error(), "compacted") {
		t.Errorf("a read of an old revision: %v", err)
	}
	if got, err := e.client.Get(t.Context(), "compact_rev_key"); err != nil || len(got.Kvs) != 1 {
		t.Errorf("kube-apiserver's compaction key: %v %v", got, err)
	}
}

func TestInterval(t *testing.T) {
	t.Parallel()
	for configured, want := range map[time.Duration]time.Duration{0: 5 * time.Minute, -1: 0, time.Second: time.Second} {
		if got := interval(configured); got != want {
			t.Errorf("%s: %s, want %s", configured, got, want)
		}
	}
}

// TestAnnouncementFails: an etcd that is too old, elsewhere in the process, turns the feature off for all.
func TestAnnouncementFails(t *testing.T) {
	before := feature.DefaultFeatureSupportChecker
	feature.DefaultFeatureSupportChecker = unsupported{before}
	t.Cleanup(func() { feature.DefaultFeatureSupportChecker = before })
	ctx, log := logged(t, 0)
	e, err := Start(ctx, EmbeddedConfig{DataDir: newDir(t)})
	must(t, err)
	closeBackend(t, e)
	if want := "Consistent lists are read from etcd, not from the watch cache"; !strings.Contains(log.String(), want) {
		t.Errorf("it says\n%swant\n%s", log, want)
	}
}

type unsupported struct{ feature.FeatureSupportChecker }

func (unsupported) Supports(storage.Feature) bool { return false }
