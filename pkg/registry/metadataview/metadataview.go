// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package metadataview shows clients that ask for metadata alone (as=PartialObjectMetadata) what they see of
// kube-apiserver. There such an answer is made from the internal type, whose metadata can differ from that of the
// served version; here one type is both, so a resource that has a difference says what is to be shown.
package metadataview

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
)

type key struct{}

// With returns a context of a request whose answer shows metadata alone.
func With(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, true) }

// In tells whether ctx is from With.
func In(ctx context.Context) bool { return ctx.Value(key{}) != nil }

// Asked tells whether an Accept header may ask for metadata alone. It is cheap and never wrong about a header that does
// not; one that does has still to be negotiated.
func Asked(accept string) bool { return strings.Contains(accept, "PartialObjectMetadata") }

// Store is a store whose answers to requests in a context from With went through a view. T is the hub type.
type Store[T any, P interface {
	*T
	runtime.Object
}] struct {
	*genericregistry.Store
	view func(P) P
}

// New returns a store over another one. view returns the object whose metadata is shown, and leaves its argument alone.
func New[T any, P interface {
	*T
	runtime.Object
}](store *genericregistry.Store, view func(P) P) *Store[T, P] {
	return &Store[T, P]{Store: store, view: view}
}

// Create creates an object.
func (s *Store[T, P]) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	out, err := s.Store.Create(ctx, obj, validate, options)
	return s.object(ctx, out), err
}

// Get reads an object.
func (s *Store[T, P]) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	out, err := s.Store.Get(ctx, name, options)
	return s.object(ctx, out), err
}

// List reads objects.
func (s *Store[T, P]) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	out, err := s.Store.List(ctx, options)
	if err != nil {
		return out, err
	}
	return s.list(ctx, out)
}

// Update replaces or patches an object.
func (s *Store[T, P]) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc, validateUpdate rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	out, created, err := s.Store.Update(ctx, name, info, validateCreate, validateUpdate, forceAllowCreate, options)
	return s.object(ctx, out), created, err
}

// Delete deletes an object.
func (s *Store[T, P]) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	out, deleted, err := s.Store.Delete(ctx, name, validate, options)
	return s.object(ctx, out), deleted, err
}

// DeleteCollection deletes objects.
func (s *Store[T, P]) DeleteCollection(ctx context.Context, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions, listOptions *metainternalversion.ListOptions) (runtime.Object, error) {
	out, err := s.Store.DeleteCollection(ctx, validate, options, listOptions)
	if err != nil {
		return out, err
	}
	return s.list(ctx, out)
}

// Watch watches objects.
func (s *Store[T, P]) Watch(ctx context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	out, err := s.Store.Watch(ctx, options)
	if err != nil || !In(ctx) {
		return out, err
	}
	return watch.Filter(out, func(event watch.Event) (watch.Event, bool) {
		if shared, ok := event.Object.(runtime.CacheableObject); ok {
			// The watch cache shares one encoding among watchers; this one has an encoding of its own.
			event.Object = shared.GetObject()
		}
		event.Object = s.object(ctx, event.Object)
		return event, true
	}), nil
}

// object is the view of an object; anything else, such as a Status or nil, is returned as it is.
func (s *Store[T, P]) object(ctx context.Context, obj runtime.Object) runtime.Object {
	typed, ok := obj.(P)
	if !ok || typed == nil || !In(ctx) {
		return obj
	}
	return s.view(typed)
}

// list puts the view of each item into its place. The items belong to the list: the store has copied them into it.
func (s *Store[T, P]) list(ctx context.Context, list runtime.Object) (runtime.Object, error) {
	if list == nil || !In(ctx) || !meta.IsListType(list) {
		return list, nil
	}
	err := meta.EachListItem(list, func(obj runtime.Object) error {
		if item, ok := obj.(P); ok {
			*item = *s.view(item)
		}
		return nil
	})
	return list, err
}
