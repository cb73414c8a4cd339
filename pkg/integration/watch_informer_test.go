// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/features"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// requestLog notes the requests that a client sends.
type requestLog struct {
	next http.RoundTripper
	mu   sync.Mutex
	urls []string
}

func (l *requestLog) RoundTrip(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	l.urls = append(l.urls, r.URL.String())
	l.mu.Unlock()
	return l.next.RoundTrip(r)
}

// lists are the requests that were no watches.
func (l *requestLog) lists() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, url := range l.urls {
		if !strings.Contains(url, "watch=true") || !strings.Contains(url, "sendInitialEvents=true") {
			out = append(out, url)
		}
	}
	return out
}

// TestWatchInformer shows that the informers of client-go, which begin with a streaming list, are in step soon and
// never have to go back to an ordinary list.
func TestWatchInformer(t *testing.T) {
	t.Parallel()
	if !features.FeatureGates().Enabled(features.WatchListClient) {
		t.Fatal("client-go does not use streaming lists")
	}
	daemonSets, requests := daemonSetSubject(t), csrSubject(t)
	requests.spec = maps.Clone(requests.spec)
	signer := "example.com/" + unique("signer")
	requests.spec["signerName"] = signer
	names := daemonSets.several(t, 3)
	fixed := requests.several(t, 2)
	empty := newNamespace(t)

	daemonSet := func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Apps().V1().DaemonSets().Informer()
	}
	request := func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Certificates().V1().CertificateSigningRequests().Informer()
	}
	// Each case that changes something does so where no other one counts the objects.
	cases := map[string]informerCase{
		"in all namespaces":             {informer: daemonSet, subject: daemonSetSubject(t), want: names, contains: true},
		"in a namespace":                {informer: daemonSet, subject: daemonSets, namespace: daemonSets.namespace, want: names},
		"in an empty namespace":         {informer: daemonSet, namespace: empty, want: []string{}},
		"of one name":                   {informer: daemonSet, namespace: daemonSets.namespace, field: "metadata.name=" + names[1], want: names[1:2]},
		"of a name that does not exist": {informer: daemonSet, namespace: daemonSets.namespace, field: "metadata.name=missing", want: []string{}},
		"cluster-scoped":                {informer: request, subject: csrSubject(t), want: fixed, contains: true},
		"by a field of the spec":        {informer: request, subject: requests, field: "spec.signerName=" + signer, want: fixed},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			informer, log := tc.start(t)
			if diff := cmp.Diff(tc.want, cached(informer, tc.want, tc.contains)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if got := log.lists(); len(got) != 0 {
				t.Errorf("requests that are no streaming lists: %q", got)
			}
			if tc.subject.kind != "" {
				tc.checkChanges(t, informer)
			}
		})
	}
}

// informerCase is an informer and what it should hold.
type informerCase struct {
	informer         func(informers.SharedInformerFactory) cache.SharedIndexInformer
	namespace, field string
	// subject makes further objects for it, if it has a kind.
	subject subject
	want    []string
	// contains tells that objects of other tests may be there, too.
	contains bool
}

// start starts the informer and waits until it is in step. It stops with the test.
func (c informerCase) start(t *testing.T) (cache.SharedIndexInformer, *requestLog) {
	t.Helper()
	log := &requestLog{}
	config := rest.CopyConfig(shared.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		log.next = next
		return log
	})
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(c.namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = c.field }))
	informer := c.informer(factory)
	// The context of the test ends before its cleanups run, so the informer has stopped by then.
	t.Cleanup(factory.Shutdown)
	factory.Start(t.Context().Done())
	// Without the bookmark client-go would wait for some object to change.
	timeout, done := context.WithTimeout(t.Context(), 10*time.Second)
	defer done()
	if !cache.WaitForCacheSync(timeout.Done(), informer.HasSynced) {
		t.Fatalf("not in step; lists: %q", log.lists())
	}
	return informer, log
}

// checkChanges has the informer see an object come and go.
func (c informerCase) checkChanges(t *testing.T, informer cache.SharedIndexInformer) {
	t.Helper()
	created := c.subject.new(t).text("metadata.name")
	has := func(count int) func() error {
		return func() error {
			if got := cached(informer, []string{created}, true); len(got) != count {
				return fmt.Errorf("the informer has %v, want %d of %s", got, count, created)
			}
			return nil
		}
	}
	soon(t, has(1))
	mustSend(t, call{method: http.MethodDelete, path: c.subject.path(created)}, http.StatusOK)
	soon(t, has(0))
}

// cached are the names in an informer, in the order of like; those that are not in like come last, or are left out.
func cached(informer cache.SharedIndexInformer, like []string, leaveOut bool) []string {
	var all []string
	for _, key := range informer.GetStore().ListKeys() {
		_, name, err := cache.SplitMetaNamespaceKey(key)
		if err != nil {
			name = key
		}
		all = append(all, name)
	}
	out := sortedLike(like, all)
	if !leaveOut {
		out = append(out, without(all, like...)...)
	}
	return out
}
