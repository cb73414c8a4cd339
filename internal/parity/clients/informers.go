// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	watchtools "k8s.io/client-go/tools/watch"
)

// seen is what a handler of an informer was told.
type seen struct {
	what string
	// initial tells that the object was there before.
	initial bool
	object  metav1.Object
	version string // of what was there before an update
}

// follow adds a handler and returns what it is told, in order.
func follow(informer cache.SharedIndexInformer) (<-chan seen, error) {
	out := make(chan seen, 100)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if o, ok := object.(metav1.Object); ok {
				out <- seen{what: "added", initial: initial, object: o}
			}
		},
		UpdateFunc: func(before, after any) {
			o, ok := after.(metav1.Object)
			old, oldOK := before.(metav1.Object)
			if ok && oldOK {
				out <- seen{what: "updated", object: o, version: old.GetResourceVersion()}
			}
		},
		DeleteFunc: func(object any) {
			if o, ok := object.(metav1.Object); ok {
				out <- seen{what: "deleted", object: o}
			}
		},
	})
	return out, err
}

// next waits for what an informer is told next.
func next(ctx context.Context, events <-chan seen) (seen, error) {
	select {
	case e := <-events:
		return e, nil
	case <-ctx.Done():
		return seen{}, ctx.Err()
	case <-time.After(waitTimeout):
		return seen{}, errors.New("the informer is told of nothing")
	}
}

// told writes the next event of an informer.
func (s *script) told(ctx context.Context, events <-chan seen, after string) error {
	e, err := next(ctx, events)
	if err != nil {
		return fmt.Errorf("%s: %w", after, err)
	}
	s.say("%s: %s %s %v, generation %d", after, e.what, e.object.GetName(), e.object.GetLabels(), e.object.GetGeneration())
	return nil
}

// initial waits until the informer has synced, and writes in order of their names what was there before.
func (s *script) initial(ctx context.Context, informer cache.SharedIndexInformer, events <-chan seen, count int) error {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return errors.New("the informer has not synced")
	}
	var all []seen
	for range count {
		e, err := next(ctx, events)
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b seen) int { return cmp.Compare(a.object.GetName(), b.object.GetName()) })
	for _, e := range all {
		s.say("before: %s %s, initial: %t", e.what, e.object.GetName(), e.initial)
	}
	s.say("the informer %v", slices.Sorted(maps.Keys(s.watches.reset())))
	return nil
}

// daemonSetInformer follows the DaemonSets of the namespace.
func (s *script) daemonSetInformer(ctx context.Context) error {
	client, err := s.clientset(runtime.ContentTypeProtobuf)
	if err != nil {
		return err
	}
	sets := client.AppsV1().DaemonSets(s.namespace)
	for _, name := range []string{"a", "b"} {
		if _, err := sets.Create(ctx, newDaemonSet(name), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	s.watches.reset()
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(s.namespace))
	defer func() {
		cancel()
		factory.Shutdown()
	}()
	informer := factory.Apps().V1().DaemonSets()
	events, err := follow(informer.Informer())
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if err := s.initial(ctx, informer.Informer(), events, 2); err != nil {
		return err
	}
	if err := s.changeSets(ctx, client, events); err != nil {
		return err
	}
	cached, err := informer.Lister().DaemonSets(s.namespace).List(labels.SelectorFromSet(labels.Set{"app": "a"}))
	if err != nil || len(cached) != 1 {
		return fmt.Errorf("the cache has %d: %w", len(cached), err)
	}
	served, err := sets.Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		return err
	}
	s.show("the cache has", cached[0], nil)
	s.say("as the server: %t", reflect.DeepEqual(cached[0], served))
	if err := sets.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app"}); err != nil {
		return err
	}
	return s.told(ctx, events, "delete all")
}

// changeSets makes changes, one after the other, and writes what an informer is told of each.
func (s *script) changeSets(ctx context.Context, client kubernetes.Interface, events <-chan seen) error {
	sets := client.AppsV1().DaemonSets(s.namespace)
	patch := func(body string, subresources ...string) func() error {
		return func() error {
			_, err := sets.Patch(ctx, "a", types.MergePatchType, []byte(body), metav1.PatchOptions{}, subresources...)
			return err
		}
	}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"create", func() error {
			_, err := sets.Create(ctx, newDaemonSet("c"), metav1.CreateOptions{})
			return err
		}},
		{"label", patch(`{"metadata":{"labels":{"more":"yes"}}}`)},
		{"spec", patch(`{"spec":{"minReadySeconds":3}}`)},
		{"status", patch(`{"status":{"numberReady":1}}`, "status")},
		{"finalizer", patch(`{"metadata":{"finalizers":["example.com/hold"]}}`)},
		{"delete", func() error { return sets.Delete(ctx, "c", metav1.DeleteOptions{}) }},
		{"delete another", func() error { return sets.Delete(ctx, "b", metav1.DeleteOptions{}) }},
		{"no finalizer", patch(`{"metadata":{"finalizers":null}}`)},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		if err := s.told(ctx, events, step.what); err != nil {
			return err
		}
	}
	return nil
}

// requestInformer follows requests for a signer of this run.
func (s *script) requestInformer(ctx context.Context) error {
	client, err := s.clientset(runtime.ContentTypeJSON)
	if err != nil {
		return err
	}
	requests, name := client.CertificatesV1().CertificateSigningRequests(), s.namespace+"-informer"
	object, err := s.newRequest(name)
	if err != nil {
		return err
	}
	if _, err := requests.Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	s.watches.reset()
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = "spec.signerName=" + s.signer()
	}))
	defer func() {
		cancel()
		factory.Shutdown()
	}()
	informer := factory.Certificates().V1().CertificateSigningRequests().Informer()
	events, err := follow(informer)
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if err := s.initial(ctx, informer, events, 1); err != nil {
		return err
	}
	request, err := requests.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	request.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateDenied, Status: corev1.ConditionTrue, Reason: "Tested"}}
	if _, err := requests.UpdateApproval(ctx, name, request, metav1.UpdateOptions{}); err != nil {
		return err
	}
	e, err := next(ctx, events)
	if err != nil {
		return err
	}
	s.show("the informer is told of the denial", e.object, nil)
	if err := requests.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return s.told(ctx, events, "delete")
}

// pages lists in pages, and waits for a change by a watch that begins where a list ended.
func (s *script) pages(ctx context.Context) error {
	client, err := s.clientset(runtime.ContentTypeJSON)
	if err != nil {
		return err
	}
	sets := client.AppsV1().DaemonSets(s.namespace)
	for _, name := range []string{"p1", "p2", "p3"} {
		if _, err := sets.Create(ctx, newDaemonSet(name), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	pages := 0
	p := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		pages++
		return sets.List(ctx, options)
	})
	p.PageSize = 2
	err = p.EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
		if o, ok := object.(metav1.Object); ok {
			s.say("item %s", o.GetName())
		}
		return nil
	})
	s.say("%d pages, %v", pages, err)
	list, err := sets.List(ctx, metav1.ListOptions{Limit: 2})
	s.show("the first page", list, err)
	if _, err := sets.Patch(ctx, "p2", types.MergePatchType, []byte(`{"metadata":{"labels":{"seen":"yes"}}}`), metav1.PatchOptions{}); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	source := &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		return sets.Watch(ctx, options)
	}}
	event, err := watchtools.Until(waiting, list.ResourceVersion, source, func(event watch.Event) (bool, error) {
		o, ok := event.Object.(metav1.Object)
		return ok && o.GetLabels()["seen"] == "yes", nil
	})
	if err != nil {
		return err
	}
	s.show("the watch tells, "+string(event.Type), event.Object, nil)
	_, err = sets.Watch(ctx, metav1.ListOptions{ResourceVersion: "nonsense"})
	s.show("a watch from nowhere", nil, err)
	return sets.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}
