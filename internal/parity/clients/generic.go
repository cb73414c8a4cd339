// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
)

// unstructuredSet is a DaemonSet as the dynamic client wants it.
func unstructuredSet(name string) (*unstructured.Unstructured, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(newDaemonSet(name))
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{Object: object}
	out.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
	return out, nil
}

// dynamic works on objects without their types.
func (s *script) dynamic(ctx context.Context) error {
	client, err := dynamic.NewForConfig(s.config)
	if err != nil {
		return err
	}
	resource := appsv1.SchemeGroupVersion.WithResource("daemonsets")
	sets := client.Resource(resource).Namespace(s.namespace)
	object, err := unstructuredSet("u")
	if err != nil {
		return err
	}
	created, err := sets.Create(ctx, object, metav1.CreateOptions{FieldManager: "dynamic"})
	if err != nil {
		return err
	}
	s.show("create", created, nil)
	s.watches.reset()
	following, cancel := context.WithCancel(ctx)
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, s.namespace, nil)
	defer func() {
		cancel()
		factory.Shutdown()
	}()
	informer := factory.ForResource(resource).Informer()
	events, err := follow(informer)
	if err != nil {
		return err
	}
	factory.Start(following.Done())
	if err := s.initial(ctx, informer, events, 1); err != nil {
		return err
	}
	if err := s.dynamicWrites(ctx, sets, created, events); err != nil {
		return err
	}
	if err := sets.Delete(ctx, "u", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return s.told(ctx, events, "delete")
}

func (s *script) dynamicWrites(ctx context.Context, sets dynamic.ResourceInterface, created *unstructured.Unstructured, events <-chan seen) error {
	strange := created.DeepCopy()
	if err := unstructured.SetNestedField(strange.Object, int64(3), "spec", "replicas"); err != nil {
		return err
	}
	_, err := sets.Update(ctx, strange, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
	s.show("update with a field that there is none", nil, err)
	strange.SetLabels(map[string]string{"strange": "yes"})
	updated, err := sets.Update(ctx, strange, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationIgnore})
	s.show("update with such a field unnoticed", updated, err)
	if err := s.told(ctx, events, "update"); err != nil {
		return err
	}
	apply, err := unstructuredSet("u")
	if err != nil {
		return err
	}
	unstructured.RemoveNestedField(apply.Object, "status")
	_, err = sets.Apply(ctx, "u", apply, metav1.ApplyOptions{FieldManager: "applier"})
	s.show("apply", nil, err)
	applied, err := sets.Apply(ctx, "u", apply, metav1.ApplyOptions{FieldManager: "applier", Force: true})
	s.show("apply by force", applied, err)
	if err := s.told(ctx, events, "apply"); err != nil {
		return err
	}
	status, err := sets.Patch(ctx, "u", types.MergePatchType, []byte(`{"status":{"numberReady":4},"spec":{"minReadySeconds":9}}`), metav1.PatchOptions{}, "status")
	s.show("patch the status", status, err)
	if err := s.told(ctx, events, "status"); err != nil {
		return err
	}
	_, err = sets.Get(ctx, "u", metav1.GetOptions{}, "scale")
	s.show("get the scale", nil, err)
	list, err := sets.List(ctx, metav1.ListOptions{})
	s.show("list", list, err)
	return nil
}

// metadata works on the metadata of objects alone.
func (s *script) metadata(ctx context.Context) error {
	typed, err := s.clientset(runtime.ContentTypeJSON)
	if err != nil {
		return err
	}
	if _, err := typed.AppsV1().DaemonSets(s.namespace).Create(ctx, newDaemonSet("m"), metav1.CreateOptions{}); err != nil {
		return err
	}
	client, err := metadata.NewForConfig(s.config)
	if err != nil {
		return err
	}
	resource := appsv1.SchemeGroupVersion.WithResource("daemonsets")
	sets := client.Resource(resource).Namespace(s.namespace)
	s.watches.reset()
	following, cancel := context.WithCancel(ctx)
	factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, s.namespace, nil)
	defer func() {
		cancel()
		factory.Shutdown()
	}()
	informer := factory.ForResource(resource).Informer()
	events, err := follow(informer)
	if err != nil {
		return err
	}
	factory.Start(following.Done())
	if err := s.initial(ctx, informer, events, 1); err != nil {
		return err
	}
	object, err := sets.Get(ctx, "m", metav1.GetOptions{})
	s.show("get", object, err)
	list, err := sets.List(ctx, metav1.ListOptions{LabelSelector: "app=m"})
	s.show("list", list, err)
	object, err = sets.Patch(ctx, "m", types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}},"spec":{"minReadySeconds":2}}`), metav1.PatchOptions{})
	s.show("patch", object, err)
	e, err := next(ctx, events)
	if err != nil {
		return err
	}
	s.show("the informer is told", e.object, nil)
	if err := sets.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return err
	}
	if err := s.told(ctx, events, "delete"); err != nil {
		return err
	}
	_, err = sets.Get(ctx, "m", metav1.GetOptions{})
	s.show("get after the deletion", nil, err)
	return nil
}
