// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package daemonset_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	upstreamapps "k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install" // the oracle's scheme
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/printers"
	"k8s.io/kubernetes/pkg/printers/internalversion"
	upstream "k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/utils/clock"

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
	"github.com/pinnace-io/pinnace/pkg/registry/apps/daemonset"
)

// namespace is where all DaemonSets of these tests live.
const namespace = "t"

var hub = schema.GroupVersion{Group: "apps", Version: runtime.APIVersionInternal}

// server is as much of an API server as decides about a DaemonSet between the body of a request and the storage.
// There are two: ours, and upstream's with its internal types.
type server interface {
	// decode reads a body as a request handler does: decoded, defaulted, in the hub.
	decode(body []byte) (runtime.Object, error)
	// create and update are the strategies', with all that the library does around them.
	create(ctx context.Context, obj runtime.Object) error
	update(ctx context.Context, subresource string, obj, old runtime.Object) error
	// encode is v1 on its way to the client.
	encode(obj runtime.Object) (*appsv1.DaemonSet, error)
	// cells are the row of a table.
	cells(obj runtime.Object) ([]any, error)
}

// ours runs what this repository has, on its v1 hub.
type ours struct {
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
}

func newOurs(t testing.TB) ours {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := apps.Install(scheme, appsv1.SchemeGroupVersion); err != nil {
		t.Fatal(err)
	}
	return ours{scheme: scheme, codecs: serializer.NewCodecFactory(scheme)}
}

func (s ours) decode(body []byte) (runtime.Object, error) {
	obj, err := runtime.Decode(s.codecs.UniversalDecoder(hub), body)
	if err != nil {
		return nil, err
	}
	return obj, apps.NormalizeDaemonSet(obj.(*appsv1.DaemonSet))
}

func (s ours) create(ctx context.Context, obj runtime.Object) error {
	return rest.BeforeCreate(adapter{DeclarativeValidation: rest.DeclarativeValidation{Scheme: s.scheme}, decisions: daemonset.NewStrategy()}, ctx, obj)
}

func (s ours) update(ctx context.Context, subresource string, obj, old runtime.Object) error {
	main := daemonset.NewStrategy()
	a := adapter{DeclarativeValidation: rest.DeclarativeValidation{Scheme: s.scheme}, decisions: main}
	if subresource == "status" {
		a.decisions = daemonset.NewStatusStrategy(main)
	}
	return rest.BeforeUpdate(a, ctx, obj, old)
}

func (ours) encode(obj runtime.Object) (*appsv1.DaemonSet, error) {
	return obj.(*appsv1.DaemonSet), nil
}

func (ours) cells(obj runtime.Object) ([]any, error) {
	return daemonset.NewColumns(clock.RealClock{}).Cells(obj.(*appsv1.DaemonSet)), nil
}

// decisions are what the strategies of the resource and of its status have in common.
type decisions interface {
	PrepareForCreate(ctx context.Context, ds *appsv1.DaemonSet)
	Validate(ctx context.Context, ds *appsv1.DaemonSet) field.ErrorList
	WarningsOnCreate(ctx context.Context, ds *appsv1.DaemonSet) []string
	Canonicalize(ds *appsv1.DaemonSet)
	PrepareForUpdate(ctx context.Context, ds, old *appsv1.DaemonSet)
	ValidateUpdate(ctx context.Context, ds, old *appsv1.DaemonSet) field.ErrorList
	WarningsOnUpdate(ctx context.Context, ds, old *appsv1.DaemonSet) []string
	AllowCreateOnUpdate(ctx context.Context) bool
	AllowUnconditionalUpdate(ctx context.Context) bool
}

// adapter is what package storage has for each endpoint.
type adapter struct {
	rest.DeclarativeValidation
	decisions
}

func (adapter) NamespaceScoped() bool             { return true }
func (adapter) GenerateName(base string) string   { return names.SimpleNameGenerator.GenerateName(base) }
func (a adapter) Canonicalize(obj runtime.Object) { a.decisions.Canonicalize(obj.(*appsv1.DaemonSet)) }
func (a adapter) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	a.decisions.PrepareForCreate(ctx, obj.(*appsv1.DaemonSet))
}
func (a adapter) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	return a.decisions.Validate(ctx, obj.(*appsv1.DaemonSet))
}
func (a adapter) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	return a.decisions.WarningsOnCreate(ctx, obj.(*appsv1.DaemonSet))
}
func (a adapter) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	a.decisions.PrepareForUpdate(ctx, obj.(*appsv1.DaemonSet), old.(*appsv1.DaemonSet))
}
func (a adapter) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return a.decisions.ValidateUpdate(ctx, obj.(*appsv1.DaemonSet), old.(*appsv1.DaemonSet))
}
func (a adapter) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	return a.decisions.WarningsOnUpdate(ctx, obj.(*appsv1.DaemonSet), old.(*appsv1.DaemonSet))
}

// oracle runs what kube-apiserver has.
type oracle struct {
	tables *printers.HumanReadableGenerator
}

func newOracle() oracle {
	return oracle{tables: printers.NewTableGenerator().With(internalversion.AddHandlers)}
}

func (oracle) decode(body []byte) (runtime.Object, error) {
	return runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), body)
}

func (oracle) create(ctx context.Context, obj runtime.Object) error {
	return rest.BeforeCreate(upstream.Strategy, ctx, obj)
}

func (oracle) update(ctx context.Context, subresource string, obj, old runtime.Object) error {
	if subresource == "status" {
		return rest.BeforeUpdate(upstream.StatusStrategy, ctx, obj, old)
	}
	return rest.BeforeUpdate(upstream.Strategy, ctx, obj, old)
}

func (oracle) encode(obj runtime.Object) (*appsv1.DaemonSet, error) {
	v1, err := legacyscheme.Scheme.ConvertToVersion(obj, appsv1.SchemeGroupVersion)
	if err != nil {
		return nil, err
	}
	ds := v1.(*appsv1.DaemonSet)
	ds.TypeMeta = metav1.TypeMeta{}
	return ds, nil
}

func (s oracle) cells(obj runtime.Object) ([]any, error) {
	table, err := s.tables.GenerateTable(obj.(*upstreamapps.DaemonSet), printers.GenerateOptions{Wide: true})
	if err != nil {
		return nil, err
	}
	return table.Rows[0].Cells, nil
}

// answer is all that a client, or the storage, can see of what a server did.
type answer struct {
	DecodeError string
	Status      *metav1.Status
	Warnings    []string
	JSON        string
	Stored      []byte
	Cells       []any
}

// request is the body of a create, or of an update where old is the body that made what is stored.
type request struct {
	body, old   []byte
	subresource string
	// oldIsCreated has old go through a create, or else it is in the storage as it is.
	oldIsCreated bool
}

// play returns the answer of a server to a request.
func play(ctx context.Context, t testing.TB, s server, r request) answer {
	t.Helper()
	obj, err := s.decode(r.body)
	if err != nil {
		return answer{DecodeError: err.Error()}
	}
	recorder := &warnings{}
	ctx = requestContext(ctx, recorder, r.subresource)
	if r.old == nil {
		fillSystemFields(obj)
		err = s.create(ctx, obj)
	} else {
		var old runtime.Object
		old, err = s.decode(r.old)
		if err != nil {
			return answer{DecodeError: "old: " + err.Error()}
		}
		fillSystemFields(old)
		if r.oldIsCreated {
			if err := s.create(requestContext(ctx, &warnings{}, ""), old); err != nil {
				return answer{DecodeError: "old: " + err.Error()}
			}
		}
		err = s.update(ctx, r.subresource, obj, old)
	}
	return see(t, s, obj, err, recorder.texts)
}

// see turns the outcome of a request into what can be seen of it.
func see(t testing.TB, s server, obj runtime.Object, failure error, warnings []string) answer {
	t.Helper()
	got := answer{Warnings: warnings}
	if failure != nil {
		var status apierrors.APIStatus
		if !errors.As(failure, &status) {
			t.Fatalf("not an answer to a client: %v", failure)
		}
		found := status.Status()
		got.Status = &found
		return got
	}
	ds, err := s.encode(obj)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(ds)
	if err != nil {
		t.Fatal(err)
	}
	got.JSON = string(text)
	if got.Stored, err = ds.Marshal(); err != nil {
		t.Fatal(err)
	}
	if got.Cells, err = s.cells(obj); err != nil {
		t.Fatal(err)
	}
	return got
}

func requestContext(ctx context.Context, recorder warning.Recorder, subresource string) context.Context {
	ctx = klog.NewContext(ctx, klog.Logger{}) // the library logs what upstream's two kinds of validation disagree about
	ctx = genericapirequest.WithNamespace(ctx, namespace)
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		IsResourceRequest: true, APIGroup: "apps", APIVersion: "v1", Resource: "daemonsets", Subresource: subresource, Namespace: namespace,
	})
	return warning.WithWarningRecorder(ctx, recorder)
}

// born is when the objects of these tests were created: so long ago that their age shows in years.
var born = metav1.NewTime(time.Date(2000, time.March, 1, 12, 0, 0, 0, time.UTC))

// fillSystemFields does what the store does before a create, with values that are the same for both servers.
func fillSystemFields(obj runtime.Object) {
	meta := obj.(metav1.ObjectMetaAccessor).GetObjectMeta()
	meta.SetCreationTimestamp(born)
	meta.SetUID("3c5f6f2e-0d5e-4f6c-9d8a-000000000001")
}

// warnings records what a client is warned of.
type warnings struct{ texts []string }

func (w *warnings) AddWarning(_, text string) { w.texts = append(w.texts, text) }

// v1 is our object by its type, and upstreamMeta the metadata of upstream's.
func v1(obj runtime.Object) *appsv1.DaemonSet { return obj.(*appsv1.DaemonSet) }

func upstreamMeta(obj runtime.Object) metav1.ObjectMeta {
	return obj.(*upstreamapps.DaemonSet).ObjectMeta
}
