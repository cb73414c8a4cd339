// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package namespace_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"
	apistorage "k8s.io/apiserver/pkg/storage"
)

// atDeletion is what our clock shows.
func atDeletion() time.Time { return time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC) }

func stored(changes ...func(*corev1.Namespace)) *corev1.Namespace {
	ns := &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{UID: "1-2-3", CreationTimestamp: metav1.Unix(1700000000, 0)},
		Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
		Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}
	for _, change := range changes {
		change(ns)
	}
	return ns
}

func terminating(ns *corev1.Namespace) {
	at := metav1.Unix(1700000001, 0)
	ns.DeletionTimestamp = &at
	ns.Status.Phase = corev1.NamespaceTerminating
}

func specFinalizers(names ...corev1.FinalizerName) func(*corev1.Namespace) {
	return func(ns *corev1.Namespace) { ns.Spec.Finalizers = names }
}

func metaFinalizers(names ...string) func(*corev1.Namespace) {
	return func(ns *corev1.Namespace) { ns.Finalizers = names }
}

func propagation(policy metav1.DeletionPropagation) *metav1.DeleteOptions {
	return &metav1.DeleteOptions{PropagationPolicy: &policy}
}

func orphanDependents(orphan bool) *metav1.DeleteOptions {
	return &metav1.DeleteOptions{OrphanDependents: &orphan}
}

func preconditions(uid types.UID, resourceVersion string) *metav1.DeleteOptions {
	p := &metav1.Preconditions{}
	if uid != "" {
		p.UID = &uid
	}
	if resourceVersion != "" {
		p.ResourceVersion = &resourceVersion
	}
	return &metav1.DeleteOptions{Preconditions: p}
}

// outcome is what a client can tell of a deletion.
type outcome struct {
	Err       string
	Code      int32
	Immediate bool
	Returned  *corev1.Namespace
	Left      *corev1.Namespace // in the store afterwards
}

func TestDeleteAsUpstream(t *testing.T) {
	t.Parallel()
	const orphan, foreground = metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents
	refuse := func(context.Context, runtime.Object) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "x", errors.New("this namespace may not be deleted"))
	}
	tests := map[string]struct {
		stored   *corev1.Namespace // nil: there is none
		options  *metav1.DeleteOptions
		validate rest.ValidateObjectFunc
		want     func(t *testing.T, got outcome)
	}{
		"none of that name": {want: fails(404, `namespaces "x" not found`)},
		"no options: marked, still there": {
			stored: stored(), want: func(t *testing.T, got outcome) {
				marked(t, got, "")
				if at := got.Left.DeletionTimestamp; !at.Time.Equal(atDeletion()) {
					t.Errorf("marked at %v, want the clock's time", at)
				}
			},
		},
		"finalizers of garbage collection stay without a wish": {
			stored: stored(metaFinalizers(orphan)), want: func(t *testing.T, got outcome) { marked(t, got, orphan) },
		},
		"background: those of garbage collection go, others stay": {
			stored: stored(metaFinalizers("a.io/b", orphan, foreground)), options: propagation(metav1.DeletePropagationBackground),
			want: func(t *testing.T, got outcome) { marked(t, got, "a.io/b") },
		},
		"background, with none there": {
			stored: stored(), options: propagation(metav1.DeletePropagationBackground),
			want: func(t *testing.T, got outcome) { marked(t, got, "") },
		},
		"foreground": {
			stored: stored(metaFinalizers("a.io/b")), options: propagation(metav1.DeletePropagationForeground),
			want: func(t *testing.T, got outcome) { marked(t, got, "a.io/b,"+foreground) },
		},
		"foreground, with orphan there": {
			stored: stored(metaFinalizers(orphan)), options: propagation(metav1.DeletePropagationForeground),
			want: func(t *testing.T, got outcome) { marked(t, got, foreground) },
		},
		"foreground, with it there": {
			stored: stored(metaFinalizers(foreground, "a.io/b")), options: propagation(metav1.DeletePropagationForeground),
			want: func(t *testing.T, got outcome) { marked(t, got, "a.io/b,"+foreground) },
		},
		"orphan": {
			stored: stored(metaFinalizers(foreground)), options: propagation(metav1.DeletePropagationOrphan),
			want: func(t *testing.T, got outcome) { marked(t, got, orphan) },
		},
		"orphanDependents=true, the old way": {
			stored: stored(metaFinalizers(foreground)), options: orphanDependents(true),
			want: func(t *testing.T, got outcome) { marked(t, got, orphan) },
		},
		"orphanDependents=false, the old way: that's foreground": {
			stored: stored(metaFinalizers(orphan)), options: orphanDependents(false),
			want: func(t *testing.T, got outcome) { marked(t, got, foreground) },
		},
		"a finalizer twice: once when the list changes": {
			stored: stored(metaFinalizers("a.io/b", "a.io/b")), options: propagation(metav1.DeletePropagationOrphan),
			want: func(t *testing.T, got outcome) { marked(t, got, "a.io/b,"+orphan) },
		},
		"a finalizer twice: twice when it doesn't": {
			stored: stored(metaFinalizers("a.io/b", "a.io/b")),
			want:   func(t *testing.T, got outcome) { marked(t, got, "a.io/b,a.io/b") },
		},
		"no finalizers in spec: the first request still only marks": {
			stored: stored(specFinalizers()), want: func(t *testing.T, got outcome) { marked(t, got, "") },
		},
		"dry run: answered, nothing written": {
			stored: stored(), options: &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}},
			want: func(t *testing.T, got outcome) {
				if got.Returned.Status.Phase != corev1.NamespaceTerminating || got.Left.Status.Phase != corev1.NamespaceActive || got.Left.DeletionTimestamp != nil {
					t.Errorf("returned %v, left %v", got.Returned.Status, got.Left.Status)
				}
			},
		},
		"the right uid": {
			stored: stored(), options: preconditions("1-2-3", ""), want: func(t *testing.T, got outcome) { marked(t, got, "") },
		},
		"another uid": {
			stored: stored(), options: preconditions("4-5-6", ""),
			want: fails(409, `Operation cannot be fulfilled on namespaces "x": Precondition failed: UID in precondition: 4-5-6, UID in object meta: 1-2-3`),
		},
		"another resourceVersion": {
			stored: stored(), options: preconditions("", "999999"),
			want: fails(409, `Operation cannot be fulfilled on namespaces "x": Precondition failed: ResourceVersion in precondition: 999999, ResourceVersion in object meta: N`),
		},
		"another uid, of one that is terminating": {
			stored: stored(terminating), options: preconditions("4-5-6", ""),
			want: fails(409, `Operation cannot be fulfilled on namespaces "x": Precondition failed: UID in precondition: 4-5-6, UID in object meta: 1-2-3`),
		},
		"preconditions that say nothing": {
			stored: stored(), options: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{}},
			want: func(t *testing.T, got outcome) { marked(t, got, "") },
		},
		"admission refuses": {
			stored: stored(), validate: refuse, want: fails(403, `namespaces "x" is forbidden: this namespace may not be deleted`),
		},
		"admission fails with no status": {
			stored: stored(), validate: func(context.Context, runtime.Object) error { return errors.New("broken") },
			want: fails(500, `Internal error occurred: broken`),
		},
		"admission wraps a status": {
			stored: stored(), validate: func(ctx context.Context, obj runtime.Object) error {
				return fmt.Errorf("wrapped: %w", refuse(ctx, obj))
			},
			want: fails(500, `Internal error occurred: wrapped: namespaces "x" is forbidden: this namespace may not be deleted`),
		},
		"admission isn't asked while finalizers are left": {
			stored: stored(terminating), validate: refuse,
			want: func(t *testing.T, got outcome) {
				if got.Err != "" || got.Immediate || got.Left == nil {
					t.Errorf("got %+v", got)
				}
			},
		},
		"terminating, finalizers in spec: nothing changes, whatever the options": {
			stored: stored(terminating, metaFinalizers(orphan)), options: propagation(metav1.DeletePropagationBackground),
			want: func(t *testing.T, got outcome) {
				if got.Err != "" || got.Immediate || got.Returned == nil || !slices.Equal(got.Left.Finalizers, []string{orphan}) {
					t.Errorf("got %+v", got)
				}
			},
		},
		"terminating, all finalizers gone: deleted, and returned": {
			stored: stored(terminating, specFinalizers()),
			want: func(t *testing.T, got outcome) {
				if got.Err != "" || !got.Immediate || got.Returned == nil || got.Left != nil {
					t.Errorf("got %+v", got)
				}
			},
		},
		"terminating, all finalizers gone, admission refuses": {
			stored: stored(terminating, specFinalizers()), validate: refuse,
			want: fails(403, `namespaces "x" is forbidden: this namespace may not be deleted`),
		},
		"terminating, one finalizer left in metadata": {
			stored: stored(terminating, specFinalizers(), metaFinalizers("a.io/b")),
			want: func(t *testing.T, got outcome) {
				if got.Err != "" || got.Immediate || got.Left == nil {
					t.Errorf("got %+v", got)
				}
			},
		},
	}

	b := newBackends(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { // one at a time: all are named x
			if tc.stored != nil {
				tc.stored.Name = "x"
				b.put(t, tc.stored)
			}
			if tc.validate == nil {
				tc.validate = rest.ValidateAllObjectFunc
			}
			options := tc.options.DeepCopy()
			obj, immediate, err := b.ours.Namespace.Delete(t.Context(), "x", tc.validate, options)
			if diff := cmp.Diff(tc.options, options); diff != "" {
				t.Errorf("the caller's options changed:\n%s", diff)
			}
			left, getErr := b.ours.Namespace.Get(t.Context(), "x", &metav1.GetOptions{})
			got := newOutcome(t, obj, immediate, err, left, getErr, asIs)

			obj, immediate, err = b.upstream.Delete(t.Context(), "x", tc.validate, tc.options.DeepCopy())
			left, getErr = b.upstream.Get(t.Context(), "x", &metav1.GetOptions{})
			want := newOutcome(t, obj, immediate, err, left, getErr, versioned)
			b.clear(t)

			tc.want(t, got)
			if tc.stored != nil && tc.stored.DeletionTimestamp == nil {
				sameTime(t, &got, &want)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("differs from upstream (-upstream +ours):\n%s", diff)
			}
		})
	}
}

// marked checks the outcome of a first request.
func marked(t *testing.T, got outcome, finalizers string) {
	t.Helper()
	if got.Err != "" || got.Immediate {
		t.Fatalf("got error %q, immediate %t", got.Err, got.Immediate)
	}
	for _, ns := range []*corev1.Namespace{got.Returned, got.Left} {
		if ns.Status.Phase != corev1.NamespaceTerminating || ns.DeletionTimestamp == nil {
			t.Errorf("phase %q, deletion timestamp %v", ns.Status.Phase, ns.DeletionTimestamp)
		}
		if names := strings.Join(ns.Finalizers, ","); names != finalizers {
			t.Errorf("finalizers %q, want %q", names, finalizers)
		}
	}
}

func fails(code int32, message string) func(*testing.T, outcome) {
	return func(t *testing.T, got outcome) {
		t.Helper()
		if got.Code != code || got.Err != message {
			t.Errorf("got %d %s\nwant %d %s", got.Code, got.Err, code, message)
		}
	}
}

func asIs(_ testing.TB, obj runtime.Object) *corev1.Namespace {
	if obj == nil {
		return nil
	}
	return obj.(*corev1.Namespace)
}

// newOutcome leaves out what two stores can't have in common: resource versions, and the order of finalizers, which is
// random upstream.
func newOutcome(t *testing.T, obj runtime.Object, immediate bool, err error, left runtime.Object, getErr error, convert func(testing.TB, runtime.Object) *corev1.Namespace) outcome {
	t.Helper()
	out := outcome{Immediate: immediate, Returned: comparable(convert(t, obj))}
	if getErr == nil {
		out.Left = comparable(convert(t, left))
	} else if !apierrors.IsNotFound(getErr) {
		t.Fatal(getErr)
	}
	if err != nil {
		status, ok := err.(apierrors.APIStatus)
		if !ok {
			t.Fatalf("%T is no API status: %v", err, err)
		}
		out.Code = status.Status().Code
		out.Err = regexp.MustCompile(`in object meta: \d+$`).ReplaceAllString(err.Error(), "in object meta: N")
	}
	return out
}

func comparable(ns *corev1.Namespace) *corev1.Namespace {
	if ns == nil {
		return nil
	}
	out := ns.DeepCopy()
	out.ResourceVersion = ""
	out.TypeMeta = metav1.TypeMeta{} // the codecs of this test differ in it
	slices.Sort(out.Finalizers)
	return out
}

// sameTime replaces upstream's time of deletion, which is now, by ours where both have one.
func sameTime(t *testing.T, ours, upstreams *outcome) {
	t.Helper()
	for _, pair := range [][2]*corev1.Namespace{{ours.Returned, upstreams.Returned}, {ours.Left, upstreams.Left}} {
		if pair[0] == nil || pair[1] == nil || pair[0].DeletionTimestamp == nil || pair[1].DeletionTimestamp == nil {
			continue
		}
		if since := time.Since(pair[1].DeletionTimestamp.Time); since < 0 || since > time.Minute {
			t.Errorf("upstream's time of deletion is %v ago", since)
		}
		pair[1].DeletionTimestamp = pair[0].DeletionTimestamp
	}
}

// clear removes the namespace x from both stores, whatever state it's in.
func (b backends) clear(t *testing.T) {
	t.Helper()
	err := b.ourRaw.Delete(t.Context(), "/namespaces/x", &corev1.Namespace{}, nil, rest.ValidateAllObjectFunc, nil, apistorage.DeleteOptions{})
	if err != nil && !apistorage.IsNotFound(err) {
		t.Fatal(err)
	}
	err = b.upstreamRaw.Delete(t.Context(), "/namespaces/x", b.upstream.New(), nil, rest.ValidateAllObjectFunc, nil, apistorage.DeleteOptions{})
	if err != nil && !apistorage.IsNotFound(err) {
		t.Fatal(err)
	}
}

func TestNamespaceIsReplacedWhileItsDeletionIsAsked(t *testing.T) {
	t.Parallel()
	b := newBackends(t)
	ns := stored()
	ns.Name = "x"
	b.put(t, ns)
	// Validation is asked with the stored object in hand, so a change at that moment is what a race looks like: the
	// update is tried again, and then meets another namespace of that name.
	replaced := false
	validate := func(ctx context.Context, obj runtime.Object) error {
		if replaced {
			return nil
		}
		replaced = true
		b.clear(t)
		next := stored()
		next.Name, next.UID = "x", "7-8-9"
		b.put(t, next)
		return nil
	}
	_, _, err := b.ours.Namespace.Delete(t.Context(), "x", validate, nil)
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), "UID in precondition: 1-2-3, UID in object meta: 7-8-9") {
		t.Errorf("got error %v, want a conflict", err)
	}
}

func TestUpdateEndsDeletionAsUpstream(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		stored   *corev1.Namespace
		change   func(*corev1.Namespace)
		finalize bool
		wantGone bool
	}{
		"main endpoint: metadata's last finalizer goes, spec has none": {
			stored: stored(terminating, specFinalizers(), metaFinalizers("a.io/b")), change: metaFinalizers(), wantGone: true,
		},
		"main endpoint: metadata's last finalizer goes, spec has one": {
			stored: stored(terminating, metaFinalizers("a.io/b")), change: metaFinalizers(),
		},
		"main endpoint: spec's last finalizer can't go here": {
			stored: stored(terminating), change: specFinalizers(),
		},
		"main endpoint: metadata has one left": {
			stored: stored(terminating, specFinalizers(), metaFinalizers("a.io/b", "a.io/c")), change: metaFinalizers("a.io/c"),
		},
		"finalize: spec's last finalizer goes": {
			stored: stored(terminating), change: specFinalizers(), finalize: true, wantGone: true,
		},
		"finalize: spec's last finalizer goes, metadata has one": {
			stored: stored(terminating, metaFinalizers("a.io/b")), change: specFinalizers(), finalize: true,
		},
		"finalize: spec has one left": {
			stored: stored(terminating, specFinalizers("kubernetes", "a.io/b")), change: specFinalizers("a.io/b"), finalize: true,
		},
		"finalize: nobody deletes it": {
			stored: stored(), change: specFinalizers(), finalize: true,
		},
	}
	b := newBackends(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { // one at a time: all are named x
			tc.stored.Name = "x"
			b.put(t, tc.stored)
			defer b.clear(t)

			next := tc.stored.DeepCopy()
			tc.change(next)
			update, upstreamUpdate := b.ours.Namespace.Update, b.upstream.Update
			if tc.finalize {
				update, upstreamUpdate = b.ours.Finalize.Update, b.upstreamFinalize.Update
			}
			ctx := requestContext(t, tc.finalize)
			_, _, err := update(ctx, "x", rest.DefaultUpdatedObjectInfo(next.DeepCopy()), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			left, getErr := b.ours.Namespace.Get(t.Context(), "x", &metav1.GetOptions{})
			got := newOutcome(t, nil, false, nil, left, getErr, asIs)

			_, _, err = upstreamUpdate(ctx, "x", rest.DefaultUpdatedObjectInfo(internal(t, next)), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			left, getErr = b.upstream.Get(t.Context(), "x", &metav1.GetOptions{})
			want := newOutcome(t, nil, false, nil, left, getErr, versioned)

			if gone := got.Left == nil; gone != tc.wantGone {
				t.Errorf("gone: %t, want %t", gone, tc.wantGone)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("differs from upstream (-upstream +ours):\n%s", diff)
			}
		})
	}
}
