// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package namespace

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/storage"
	storageerr "k8s.io/apiserver/pkg/storage/errors"
	"k8s.io/apiserver/pkg/util/dryrun"

	"github.com/pinnace-io/pinnace/pkg/registry/strategy"
)

// Delete takes a namespace one step further in its deletion. The first request marks it: deletion timestamp, phase
// Terminating, and the finalizers of garbage collection that the options ask for. Requests after that change nothing
// until the finalizers in spec are gone; then the namespace is deleted as any other object.
//
// The store must be one of namespaces. The second value tells whether the namespace is gone. Errors are API status
// errors.
func Delete(ctx context.Context, store *genericregistry.Store, request strategy.DeleteRequest) (runtime.Object, bool, error) {
	obj, err := store.Get(ctx, request.Name, &metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	ns := obj.(*corev1.Namespace)
	// The step that is chosen below holds for this very namespace only, not for one that has since taken its name.
	request.Options = withUID(request.Options, ns.UID)
	if err := checkPreconditions(store, ns, request.Options.Preconditions); err != nil {
		return nil, false, err
	}

	switch {
	case ns.DeletionTimestamp.IsZero():
		marked, err := mark(ctx, store, request)
		return marked, false, err
	case len(ns.Spec.Finalizers) != 0:
		return ns, false, nil
	}
	return store.Delete(ctx, request.Name, request.Validate, request.Options)
}

// ShouldDeleteDuringUpdate tells whether the update of an object ends its deletion: not before both lists of
// finalizers, that of metadata and that of spec, are empty.
func ShouldDeleteDuringUpdate(ctx context.Context, key string, ns, existing *corev1.Namespace) bool {
	return len(ns.Spec.Finalizers) == 0 && genericregistry.ShouldDeleteDuringUpdate(ctx, key, ns, existing)
}

// withUID returns a copy of the options that has a precondition on the UID: the client's, or else uid.
func withUID(options *metav1.DeleteOptions, uid types.UID) *metav1.DeleteOptions {
	if options == nil {
		options = metav1.NewDeleteOptions(0)
	} else {
		options = options.DeepCopy()
	}
	if options.Preconditions == nil {
		options.Preconditions = &metav1.Preconditions{}
	}
	if options.Preconditions.UID == nil {
		options.Preconditions.UID = &uid
	}
	return options
}

// checkPreconditions answers a request that is bound to fail before anything is written.
func checkPreconditions(store *genericregistry.Store, ns *corev1.Namespace, want *metav1.Preconditions) error {
	conflict := func(field, want, is string) error {
		return apierrors.NewConflict(store.DefaultQualifiedResource, ns.Name,
			fmt.Errorf("Precondition failed: %s in precondition: %v, %s in object meta: %v", field, want, field, is)) //nolint:staticcheck // upstream's text, which clients see
	}
	if *want.UID != ns.UID {
		return conflict("UID", string(*want.UID), string(ns.UID))
	}
	if want.ResourceVersion != nil && *want.ResourceVersion != ns.ResourceVersion {
		return conflict("ResourceVersion", *want.ResourceVersion, ns.ResourceVersion)
	}
	return nil
}

// mark is the first step of a deletion.
func mark(ctx context.Context, store *genericregistry.Store, request strategy.DeleteRequest) (runtime.Object, error) {
	key, err := store.KeyFunc(ctx, request.Name)
	if err != nil {
		return nil, err
	}
	options := request.Options
	preconditions := &storage.Preconditions{UID: options.Preconditions.UID, ResourceVersion: options.Preconditions.ResourceVersion}
	update := storage.SimpleUpdate(func(existing runtime.Object) (runtime.Object, error) {
		ns := existing.(*corev1.Namespace)
		if err := request.Validate(ctx, ns); err != nil {
			return nil, err
		}
		if ns.DeletionTimestamp.IsZero() {
			now := metav1.NewTime(request.Clock.Now())
			ns.DeletionTimestamp = &now
		}
		ns.Status.Phase = corev1.NamespaceTerminating
		ns.Finalizers = garbageCollectionFinalizers(ns.Finalizers, options)
		return ns, nil
	})

	marked := store.NewFunc()
	err = store.Storage.GuaranteedUpdate(ctx, key, marked, false, preconditions, update, dryrun.IsDryRun(options.DryRun), nil)
	if err != nil {
		return nil, interpret(store, request.Name, err)
	}
	return marked, nil
}

// interpret makes an API status error of whatever went wrong in storage, and leaves what admission said.
func interpret(store *genericregistry.Store, name string, err error) error {
	err = storageerr.InterpretGetError(err, store.DefaultQualifiedResource, name)
	err = storageerr.InterpretUpdateError(err, store.DefaultQualifiedResource, name)
	if _, ok := err.(*apierrors.StatusError); !ok { //nolint:errorlint // a wrapped one is an internal error upstream too
		return apierrors.NewInternalError(err)
	}
	return err
}

// garbageCollectionFinalizers returns the finalizers with those of the garbage collector added or taken out as the
// options want: at most one of the two where the options say something, none where they say "in the background".
// It leaves the list that it's given unchanged.
func garbageCollectionFinalizers(finalizers []string, options *metav1.DeleteOptions) []string {
	hadOrphan := slices.Contains(finalizers, metav1.FinalizerOrphanDependents)
	hadForeground := slices.Contains(finalizers, metav1.FinalizerDeleteDependents)
	orphan, foreground := hadOrphan, hadForeground
	switch {
	case options.OrphanDependents != nil: //nolint:staticcheck // deprecated, and still sent by clients
		orphan = *options.OrphanDependents //nolint:staticcheck // see above
		foreground = !orphan
	case options.PropagationPolicy != nil:
		orphan = *options.PropagationPolicy == metav1.DeletePropagationOrphan
		foreground = *options.PropagationPolicy == metav1.DeletePropagationForeground
	}
	if orphan == hadOrphan && foreground == hadForeground {
		return finalizers
	}

	var kept []string
	for _, name := range finalizers {
		collector := name == metav1.FinalizerOrphanDependents || name == metav1.FinalizerDeleteDependents
		if !collector && !slices.Contains(kept, name) {
			kept = append(kept, name)
		}
	}
	if orphan {
		kept = append(kept, metav1.FinalizerOrphanDependents)
	}
	if foreground {
		kept = append(kept, metav1.FinalizerDeleteDependents)
	}
	return kept
}
