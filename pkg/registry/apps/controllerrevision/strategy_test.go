// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package controllerrevision_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	upstreamapps "k8s.io/kubernetes/pkg/apis/apps"
	appsfuzzer "k8s.io/kubernetes/pkg/apis/apps/fuzzer"
	_ "k8s.io/kubernetes/pkg/apis/apps/install" // the oracle's scheme
	"k8s.io/kubernetes/pkg/printers"
	"k8s.io/kubernetes/pkg/printers/internalversion"
	upstream "k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
	"github.com/pinnace-io/pinnace/pkg/registry/apps/controllerrevision"
)

// adapter is what package storage has around the strategy.
type adapter struct {
	rest.DeclarativeValidation
	controllerrevision.Strategy
}

func (adapter) NamespaceScoped() bool           { return true }
func (adapter) GenerateName(base string) string { return names.SimpleNameGenerator.GenerateName(base) }
func (a adapter) Canonicalize(obj runtime.Object) {
	a.Strategy.Canonicalize(obj.(*appsv1.ControllerRevision))
}
func (a adapter) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	a.Strategy.PrepareForCreate(ctx, obj.(*appsv1.ControllerRevision))
}
func (a adapter) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	return a.Strategy.Validate(ctx, obj.(*appsv1.ControllerRevision))
}
func (a adapter) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	return a.Strategy.WarningsOnCreate(ctx, obj.(*appsv1.ControllerRevision))
}
func (a adapter) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	a.Strategy.PrepareForUpdate(ctx, obj.(*appsv1.ControllerRevision), old.(*appsv1.ControllerRevision))
}
func (a adapter) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return a.Strategy.ValidateUpdate(ctx, obj.(*appsv1.ControllerRevision), old.(*appsv1.ControllerRevision))
}
func (a adapter) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	return a.Strategy.WarningsOnUpdate(ctx, obj.(*appsv1.ControllerRevision), old.(*appsv1.ControllerRevision))
}

// server is as much of an API server as decides between the body of a request and the storage: ours or upstream's.
type server struct {
	decoder  runtime.Decoder
	strategy interface {
		rest.RESTCreateStrategy
		rest.RESTUpdateStrategy
	}
	encode func(runtime.Object) (*appsv1.ControllerRevision, error)
	cells  func(runtime.Object) ([]any, error)
}

func ours(t *testing.T) server {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := apps.Install(scheme, appsv1.SchemeGroupVersion); err != nil {
		t.Fatal(err)
	}
	hub := schema.GroupVersion{Group: "apps", Version: runtime.APIVersionInternal}
	return server{
		decoder:  serializer.NewCodecFactory(scheme).UniversalDecoder(hub),
		strategy: adapter{DeclarativeValidation: rest.DeclarativeValidation{Scheme: scheme}, Strategy: controllerrevision.NewStrategy()},
		encode: func(obj runtime.Object) (*appsv1.ControllerRevision, error) {
			return obj.(*appsv1.ControllerRevision), nil
		},
		cells: func(obj runtime.Object) ([]any, error) {
			return controllerrevision.NewColumns(clock.RealClock{}).Cells(obj.(*appsv1.ControllerRevision)), nil
		},
	}
}

func oracle() server {
	tables := printers.NewTableGenerator().With(internalversion.AddHandlers)
	return server{
		decoder:  legacyscheme.Codecs.UniversalDecoder(),
		strategy: upstream.Strategy,
		encode: func(obj runtime.Object) (*appsv1.ControllerRevision, error) {
			v1, err := legacyscheme.Scheme.ConvertToVersion(obj, appsv1.SchemeGroupVersion)
			if err != nil {
				return nil, err
			}
			revision := v1.(*appsv1.ControllerRevision)
			revision.TypeMeta = metav1.TypeMeta{}
			return revision, nil
		},
		cells: func(obj runtime.Object) ([]any, error) {
			table, err := tables.GenerateTable(obj, printers.GenerateOptions{Wide: true})
			if err != nil {
				return nil, err
			}
			return table.Rows[0].Cells, nil
		},
	}
}

// answer is all that a client, or the storage, can see of what a server did.
type answer struct {
	DecodeError string
	Errors      []string
	JSON        string
	Stored      []byte
	Cells       []any
}

// play creates what is in body, or has it replace what is in old.
func (s server) play(t *testing.T, body, old []byte) answer {
	t.Helper()
	ctx := klog.NewContext(t.Context(), klog.Logger{}) // the library logs what upstream's two kinds of validation disagree about
	ctx = genericapirequest.WithNamespace(ctx, "t")
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{APIGroup: "apps", APIVersion: "v1", Resource: "controllerrevisions"})
	obj, err := runtime.Decode(s.decoder, body)
	if err != nil {
		return answer{DecodeError: err.Error()}
	}
	if old == nil {
		meta := obj.(metav1.ObjectMetaAccessor).GetObjectMeta()
		meta.SetUID("u")
		if created := meta.GetCreationTimestamp(); created.IsZero() {
			meta.SetCreationTimestamp(metav1.Unix(1000000000, 0))
		}
		err = rest.BeforeCreate(s.strategy, ctx, obj)
	} else {
		stored, decodeErr := runtime.Decode(s.decoder, old)
		if decodeErr != nil {
			return answer{DecodeError: decodeErr.Error()}
		}
		err = rest.BeforeUpdate(s.strategy, ctx, obj, stored)
	}
	return s.see(t, obj, err)
}

func (s server) see(t *testing.T, obj runtime.Object, failure error) answer {
	t.Helper()
	var got answer
	if failure != nil {
		var status apierrors.APIStatus
		if !errors.As(failure, &status) || status.Status().Details == nil {
			return answer{Errors: []string{failure.Error()}}
		}
		for _, cause := range status.Status().Details.Causes {
			got.Errors = append(got.Errors, fmt.Sprintf("%s: %s: %s", cause.Type, cause.Field, cause.Message))
		}
		return got
	}
	revision, err := s.encode(obj)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(revision)
	if err != nil {
		t.Fatal(err)
	}
	got.JSON = string(text)
	if got.Stored, err = revision.Marshal(); err != nil {
		t.Fatal(err)
	}
	if got.Cells, err = s.cells(obj); err != nil {
		t.Fatal(err)
	}
	return got
}

// bodyWith returns the body of a request with what stands after the name.
func bodyWith(rest string) []byte {
	return []byte(`{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"r","namespace":"t","resourceVersion":"1"}` + rest + `}`)
}

func TestCreate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rest     string
		wantErrs []string
		wantData string
	}{
		"an object":            {rest: `,"data":{"a":1},"revision":3`, wantData: `{"a":1}`},
		"order and duplicates": {rest: `,"data":{"b":1, "a":2 ,"b":3},"revision":3`, wantData: `{"b":1,"a":2,"b":3}`},
		"large numbers":        {rest: `,"data":{"a":12345678901234567890.123e5},"revision":3`, wantData: `{"a":12345678901234567890.123e5}`},
		"null":                 {rest: `,"data":null,"revision":3`, wantErrs: []string{"FieldValueRequired: data: Required value: data is mandatory"}},
		"absent":               {rest: `,"revision":3`, wantErrs: []string{"FieldValueRequired: data: Required value: data is mandatory"}},
		"a number":             {rest: `,"data":5,"revision":3`, wantErrs: []string{"FieldValueRequired: data: Required value: data must be a valid JSON object"}},
		"a list":               {rest: `,"data":[],"revision":3`, wantErrs: []string{"FieldValueRequired: data: Required value: data must be a valid JSON object"}},
		"no revision":          {rest: `,"data":{}`, wantData: `{}`},
		"a negative revision":  {rest: `,"data":{},"revision":-3`, wantErrs: []string{"FieldValueInvalid: revision: Invalid value: -3: must be greater than or equal to 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, want := ours(t).play(t, bodyWith(test.rest), nil), oracle().play(t, bodyWith(test.rest), nil)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("not upstream's answer (-upstream +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantErrs, got.Errors); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			var parsed struct{ Data json.RawMessage }
			if got.JSON != "" {
				if err := json.Unmarshal([]byte(got.JSON), &parsed); err != nil {
					t.Fatal(err)
				}
			}
			if string(parsed.Data) != test.wantData {
				t.Errorf("data is %s, want %s", parsed.Data, test.wantData)
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		old, rest string
		wantErrs  []string
	}{
		"nothing changed": {old: `,"data":{"a":1},"revision":3`, rest: `,"data":{"a":1},"revision":3`},
		"the number":      {old: `,"data":{"a":1},"revision":3`, rest: `,"data":{"a":1},"revision":1`},
		"bad data as before": {
			old: `,"data":5,"revision":3`, rest: `,"data":5,"revision":4`,
		},
		"other data": {
			old: `,"data":{"a":1},"revision":3`, rest: `,"data":{"a":2},"revision":3`,
			wantErrs: []string{`FieldValueInvalid: data: Invalid value: {"a":2}: field is immutable`},
		},
		"blanks in data": {
			old: `,"data":{"a":1},"revision":3`, rest: `,"data":{"a": 1},"revision":3`,
			wantErrs: []string{`FieldValueInvalid: data: Invalid value: {"a":1}: field is immutable`},
		},
		"no data": {
			old: `,"data":{"a":1},"revision":3`, rest: `,"data":null,"revision":3`,
			wantErrs: []string{`FieldValueInvalid: data: Invalid value: null: field is immutable`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, want := ours(t).play(t, bodyWith(test.rest), bodyWith(test.old)), oracle().play(t, bodyWith(test.rest), bodyWith(test.old))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("not upstream's answer (-upstream +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantErrs, got.Errors); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLikeUpstream(t *testing.T) {
	t.Parallel()
	us, them, random := ours(t), oracle(), rand.New(rand.NewSource(11))
	filler := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, appsfuzzer.Funcs), rand.NewSource(12), legacyscheme.Codecs)
	data := []string{`{}`, `{"spec":{"template":{"x":[1,2]}}}`, `5`, `null`, `"s"`, `[{}]`, `{"a": 1e400 }`, `true`}
	next := func() *appsv1.ControllerRevision {
		revision := &appsv1.ControllerRevision{}
		if random.Intn(2) == 0 {
			internal := &upstreamapps.ControllerRevision{}
			filler.Fill(internal)
			revision.ObjectMeta = internal.ObjectMeta
			// Upstream reports on maps in random order, and on an object that is being deleted in terms of the clock.
			revision.Labels, revision.Annotations, revision.DeletionTimestamp, revision.DeletionGracePeriodSeconds = nil, nil, nil, nil
		}
		revision.Name, revision.Namespace, revision.ResourceVersion = []string{"r", "R", "r.s-1"}[random.Intn(3)], "t", "1"
		revision.CreationTimestamp = metav1.Unix(1000000000, 0)
		revision.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ControllerRevision"}
		revision.Data.Raw, revision.Revision = []byte(data[random.Intn(len(data))]), int64(random.Intn(6)-1)
		if random.Intn(3) == 0 {
			owner := metav1.OwnerReference{APIVersion: []string{"apps/v1", "v1", ""}[random.Intn(3)], Kind: "DaemonSet", Name: "d", UID: "u", Controller: ptr.To(true)}
			revision.OwnerReferences = []metav1.OwnerReference{owner}
		}
		return revision
	}
	encoded := func(revision *appsv1.ControllerRevision) []byte {
		text, err := json.Marshal(revision)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	accepted := 0
	for i := range 600 {
		revision, old := next(), []byte(nil)
		if i%2 == 0 {
			former := next()
			if random.Intn(2) == 0 {
				former = revision.DeepCopy()
				former.Revision++
			}
			former.Name = revision.Name
			old = encoded(former)
		}
		got, want := us.play(t, encoded(revision), old), them.play(t, encoded(revision), old)
		if !reflect.DeepEqual(want, got) {
			t.Errorf("object %d: not upstream's answer (-upstream +got):\n%s", i, cmp.Diff(want, got))
		}
		if got.JSON != "" {
			accepted++
		}
	}
	if accepted < 50 || accepted > 550 {
		t.Errorf("%d of 600 were accepted: the corpus shows little", accepted)
	}
}

func TestUpdatePolicies(t *testing.T) {
	t.Parallel()
	strategy := controllerrevision.NewStrategy()
	if got, want := strategy.AllowCreateOnUpdate(t.Context()), upstream.Strategy.AllowCreateOnUpdate(t.Context()); got != want {
		t.Errorf("update creates: %t, want %t", got, want)
	}
	if got, want := strategy.AllowUnconditionalUpdate(t.Context()), upstream.Strategy.AllowUnconditionalUpdate(t.Context()); got != want {
		t.Errorf("update needs no version: %t, want %t", got, want)
	}
}
