// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package metadataview_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	etcd3testing "k8s.io/apiserver/pkg/storage/etcd3/testing"
	"k8s.io/utils/clock"

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
	"github.com/pinnace-io/pinnace/pkg/registry/apps/daemonset"
	"github.com/pinnace-io/pinnace/pkg/registry/apps/daemonset/storage"
	"github.com/pinnace-io/pinnace/pkg/registry/metadataview"
)

// newStorage opens DaemonSets, which have a view, on a watch cache over a real etcd.
func newStorage(t *testing.T) *storage.Storage {
	t.Helper()
	server, config := etcd3testing.NewUnsecuredEtcd3TestClientServer(t)
	t.Cleanup(func() { server.Terminate(t) })
	scheme := runtime.NewScheme()
	if err := apps.Install(scheme, appsv1.SchemeGroupVersion); err != nil {
		t.Fatal(err)
	}
	resource := appsv1.Resource("daemonsets")
	config.EventsHistoryWindow = 75 * time.Second // the least that the watch cache takes
	forResource := config.ForResource(resource)
	forResource.Codec = serializer.NewCodecFactory(scheme).LegacyCodec(appsv1.SchemeGroupVersion)
	columns := daemonset.NewColumns(clock.RealClock{})
	strategy := daemonset.NewStrategy()
	s, err := storage.NewStorage(generic.RESTOptions{
		StorageConfig: forResource, Decorator: genericregistry.StorageWithCacher(), ResourcePrefix: resource.Resource,
		DeleteCollectionWorkers: 1, EnableGarbageCollection: true,
	}, storage.Config{
		Scheme: scheme, GroupVersion: appsv1.SchemeGroupVersion, Strategy: strategy,
		Status: daemonset.NewStatusStrategy(strategy), Columns: columns,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.DaemonSet.Destroy)
	err = wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		return s.DaemonSet.ReadinessCheck() == nil, nil
	})
	if err != nil {
		t.Fatalf("the watch cache was not ready within 30 s: %v", err)
	}
	return s
}

func newDaemonSet(name string) *appsv1.DaemonSet {
	labels := map[string]string{"app": name}
	ds := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", Annotations: map[string]string{"kept": "yes"}},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "img:1", ImagePullPolicy: corev1.PullAlways, TerminationMessagePolicy: corev1.TerminationMessageReadFile}}},
			},
		},
	}
	apps.SetDefaults_DaemonSet(ds)
	apps.SetTemplateGeneration(ds, 0)
	return ds
}

// check looks at the annotations of one answer.
func check(t *testing.T, what string, obj runtime.Object, viewed bool) {
	t.Helper()
	ds, ok := obj.(*appsv1.DaemonSet)
	if !ok {
		t.Errorf("%s: got %T", what, obj)
		return
	}
	_, shown := ds.Annotations[appsv1.DeprecatedTemplateGeneration]
	if shown == viewed || (ds.Name != "" && ds.Annotations["kept"] != "yes") {
		t.Errorf("%s: annotations %v, with a view: %t", what, ds.Annotations, viewed)
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	s := newStorage(t)
	plain := request.WithRequestInfo(request.WithNamespace(t.Context(), "ns"), &request.RequestInfo{APIGroup: "apps", APIVersion: "v1", Resource: "daemonsets"})
	for name, viewed := range map[string]bool{"whole": false, "metadata": true} {
		ctx := plain
		if viewed {
			ctx = metadataview.With(plain)
		}
		t.Run(name, func(t *testing.T) { everyAnswer(ctx, t, s, name, viewed) })
	}
}

// everyAnswer gets an answer of every kind about an object called name, and checks each.
func everyAnswer(ctx context.Context, t *testing.T, s *storage.Storage, name string, viewed bool) {
	must := func(obj runtime.Object, err error) runtime.Object {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return obj
	}
	selector, err := selecting(name)
	if err != nil {
		t.Fatal(err)
	}
	watching, err := s.DaemonSet.Watch(ctx, selector)
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Stop()

	check(t, "create", must(s.DaemonSet.Create(ctx, newDaemonSet(name), rest.ValidateAllObjectFunc, &metav1.CreateOptions{})), viewed)
	check(t, "get", must(s.DaemonSet.Get(ctx, name, &metav1.GetOptions{})), viewed)
	check(t, "get of the status", must(s.Status.Get(ctx, name, &metav1.GetOptions{})), viewed)
	list := must(s.DaemonSet.List(ctx, selector)).(*appsv1.DaemonSetList)
	if len(list.Items) != 1 {
		t.Fatalf("got %d items", len(list.Items))
	}
	check(t, "list", &list.Items[0], viewed)

	changed := newDaemonSet(name)
	changed.Labels = map[string]string{"changed": "yes"}
	updated, _, err := s.DaemonSet.Update(ctx, name, rest.DefaultUpdatedObjectInfo(changed), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	check(t, "update", must(updated, err), viewed)
	// A view takes nothing from what is stored.
	stored := must(s.DaemonSet.Store.Store.Get(ctx, name, &metav1.GetOptions{})).(*appsv1.DaemonSet)
	if got := apps.TemplateGeneration(stored); got != 1 {
		t.Errorf("the template generation is %d after an update, want 1", got)
	}

	for _, want := range []watch.EventType{watch.Added, watch.Modified} {
		select {
		case event := <-watching.ResultChan():
			obj := event.Object
			if shared, ok := obj.(runtime.CacheableObject); ok {
				obj = shared.GetObject()
			}
			if event.Type != want {
				t.Fatalf("got %s, want %s", event.Type, want)
			}
			check(t, "watch "+string(want), obj, viewed)
		case <-time.After(30 * time.Second):
			t.Fatalf("no %s event within 30 s", want)
		}
	}
	deleted, err := s.DaemonSet.DeleteCollection(ctx, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}, selector)
	check(t, "delete collection", &must(deleted, err).(*appsv1.DaemonSetList).Items[0], viewed)
	finalized := newDaemonSet(name + "-2")
	finalized.Finalizers = []string{"example.com/held"}
	must(s.DaemonSet.Create(ctx, finalized, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}))
	held, _, err := s.DaemonSet.Delete(ctx, finalized.Name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{})
	check(t, "delete", must(held, err), viewed)
}

// selecting selects one object by its name.
func selecting(name string) (*metainternalversion.ListOptions, error) {
	out := &metainternalversion.ListOptions{}
	err := metainternalversion.Convert_v1_ListOptions_To_internalversion_ListOptions(&metav1.ListOptions{FieldSelector: "metadata.name=" + name}, out, nil)
	return out, err
}

func TestAsked(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"":                 false,
		"application/json": false,
		"application/json;as=Table;v=v1;g=meta.k8s.io":                                        false,
		"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io":                        true,
		"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1": true,
	} {
		if got := metadataview.Asked(accept); got != want {
			t.Errorf("%q: got %t", accept, got)
		}
	}
}
