// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package table_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1conversion "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/printers"
	printersinternal "k8s.io/kubernetes/pkg/printers/internalversion"
	printerstorage "k8s.io/kubernetes/pkg/printers/storage"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/pinnace-io/pinnace/pkg/registry/table"
)

// namespaceColumns shows namespaces as kube-apiserver does.
type namespaceColumns struct{}

func (namespaceColumns) Definitions() []metav1.TableColumnDefinition {
	doc := metav1.ObjectMeta{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: doc["name"]},
		{Name: "Status", Type: "string", Description: "The status of the namespace"},
		{Name: "Age", Type: "string", Description: doc["creationTimestamp"]},
	}
}

func (namespaceColumns) Cells(ns *corev1.Namespace) []any {
	return []any{ns.Name, string(ns.Status.Phase), "<unknown>"}
}

// secretiveColumns hides the annotations of an object in its metadata.
type secretiveColumns struct{ namespaceColumns }

func (secretiveColumns) Metadata(ns *corev1.Namespace) *corev1.Namespace {
	shown := *ns
	shown.Annotations = nil
	return &shown
}

func namespace(name string) corev1.Namespace {
	return corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "7", SelfLink: "/api/v1/namespaces/" + name, Annotations: map[string]string{"a": "b"}},
		Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}
}

func upstream() rest.TableConvertor {
	return printerstorage.TableConvertor{TableGenerator: printers.NewTableGenerator().With(printersinternal.AddHandlers)}
}

// internal is obj in the type that kube-apiserver's convertor takes.
func internal(t *testing.T, obj runtime.Object) runtime.Object {
	t.Helper()
	var out runtime.Object
	var err error
	switch in := obj.(type) {
	case *corev1.Namespace:
		ns := &core.Namespace{}
		out, err = ns, corev1conversion.Convert_v1_Namespace_To_core_Namespace(in, ns, nil)
	case *corev1.NamespaceList:
		list := &core.NamespaceList{}
		out, err = list, corev1conversion.Convert_v1_NamespaceList_To_core_NamespaceList(in, list, nil)
	default:
		t.Fatalf("no conversion for %T", obj)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestConvertorAnswersAsUpstream(t *testing.T) {
	t.Parallel()
	left := int64(3)
	one, two := namespace("one"), namespace("two")
	tests := map[string]struct {
		obj     runtime.Object
		options runtime.Object
	}{
		"a single object: its resourceVersion":                {obj: &one, options: &metav1.TableOptions{}},
		"a list: resourceVersion, continue, remaining":        {obj: &corev1.NamespaceList{ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "next", RemainingItemCount: &left, SelfLink: "/x"}, Items: []corev1.Namespace{one, two}}, options: &metav1.TableOptions{}},
		"an empty list: rows are there, and empty":            {obj: &corev1.NamespaceList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}}, options: &metav1.TableOptions{}},
		"no headers asked: no column definitions":             {obj: &one, options: &metav1.TableOptions{NoHeaders: true}},
		"no headers asked of an empty list":                   {obj: &corev1.NamespaceList{}, options: &metav1.TableOptions{NoHeaders: true}},
		"no options":                                          {obj: &one},
		"nil options of the right type":                       {obj: &one, options: (*metav1.TableOptions)(nil)},
		"objects asked: the row holds it":                     {obj: &one, options: &metav1.TableOptions{IncludeObject: metav1.IncludeObject}},
		"no objects asked: still there, the handler drops it": {obj: &one, options: &metav1.TableOptions{IncludeObject: metav1.IncludeNone}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := table.NewConvertor(namespaceColumns{}).ConvertToTable(t.Context(), tc.obj, tc.options)
			if err != nil {
				t.Fatal(err)
			}
			want, err := upstream().ConvertToTable(t.Context(), internal(t, tc.obj), tc.options)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got.Rows {
				if _, ok := got.Rows[i].Object.Object.(*corev1.Namespace); !ok {
					t.Errorf("row %d holds a %T", i, got.Rows[i].Object.Object)
				}
			}
			if diff := cmp.Diff(asJSON(t, want), asJSON(t, got)); diff != "" {
				t.Errorf("table differs from upstream's (-upstream +ours):\n%s", diff)
			}
		})
	}
}

// asJSON shows a table as it goes over the wire, except for the row's object: upstream's is internal and has no JSON names.
func asJSON(t *testing.T, in *metav1.Table) string {
	t.Helper()
	out := in.DeepCopy()
	for i := range out.Rows {
		ns, ok := out.Rows[i].Object.Object.(metav1.Object)
		if !ok {
			t.Fatalf("row %d holds a %T", i, out.Rows[i].Object.Object)
		}
		out.Rows[i].Object = runtime.RawExtension{Raw: []byte(`"` + ns.GetName() + `"`)}
	}
	text, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestConvertorRefusesAsUpstream(t *testing.T) {
	t.Parallel()
	one := namespace("one")
	tests := map[string]struct {
		columns  table.Columns[*corev1.Namespace]
		obj      runtime.Object
		internal runtime.Object
		options  runtime.Object
		want     string
	}{
		"foreign options": {
			columns: namespaceColumns{}, obj: &one, internal: &core.Namespace{}, options: &metav1.ListOptions{},
			want: "unrecognized type *v1.ListOptions for table options, can't display tabular output",
		},
		"another kind": {
			columns: namespaceColumns{}, obj: &metav1.APIGroup{}, internal: &metav1.APIGroup{},
			want: "no table handler registered for this type *v1.APIGroup",
		},
		"an empty list of another kind": {
			columns: namespaceColumns{}, obj: &metav1.PartialObjectMetadataList{}, internal: &metav1.PartialObjectMetadataList{},
			want: "no table handler registered for this type *v1.PartialObjectMetadataList",
		},
		"a list of anything": {
			columns: namespaceColumns{}, obj: &metav1.List{}, internal: &metav1.List{},
			want: "no table handler registered for this type *v1.List",
		},
		"no columns": {
			obj: &one, internal: &one, // upstream's printers know internal types only
			want: "no table handler registered for this type *v1.Namespace",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := table.NewConvertor(tc.columns).ConvertToTable(t.Context(), tc.obj, tc.options)
			if err == nil || err.Error() != tc.want {
				t.Fatalf("got error %v, want %s", err, tc.want)
			}
			_, err = upstream().ConvertToTable(t.Context(), tc.internal, tc.options)
			if err == nil || err.Error() != tc.want {
				t.Errorf("upstream says %v, want %s", err, tc.want)
			}
		})
	}
}

type groupColumns struct{}

func (groupColumns) Definitions() []metav1.TableColumnDefinition { return nil }
func (groupColumns) Cells(g *metav1.APIGroup) []any              { return []any{g.Name} }

func TestConvertorOfKindWithoutMetadata(t *testing.T) {
	t.Parallel()
	group := &metav1.APIGroup{Name: "apps"}
	got, err := table.NewConvertor(groupColumns{}).ConvertToTable(t.Context(), group, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &metav1.Table{Rows: []metav1.TableRow{{Cells: []any{"apps"}, Object: runtime.RawExtension{Object: group}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestMetadataView(t *testing.T) {
	t.Parallel()
	one := namespace("one")
	hidden, shown := map[string]string(nil), map[string]string{"a": "b"}
	tests := map[string]struct {
		columns table.Columns[*corev1.Namespace]
		options runtime.Object
		want    map[string]string
	}{
		"the whole object: as it is":                             {secretiveColumns{}, &metav1.TableOptions{IncludeObject: metav1.IncludeObject}, shown},
		"metadata: the view":                                     {secretiveColumns{}, &metav1.TableOptions{IncludeObject: metav1.IncludeMetadata}, hidden},
		"nothing said, which means metadata: the view":           {secretiveColumns{}, &metav1.TableOptions{}, hidden},
		"nothing, where a bookmark still has metadata: the view": {secretiveColumns{}, &metav1.TableOptions{IncludeObject: metav1.IncludeNone}, hidden},
		"no options, which means metadata: the view":             {secretiveColumns{}, nil, hidden},
		"columns without a view: metadata as it is":              {namespaceColumns{}, &metav1.TableOptions{IncludeObject: metav1.IncludeMetadata}, shown},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, obj := range []runtime.Object{&one, &corev1.NamespaceList{Items: []corev1.Namespace{one}}} {
				got, err := table.NewConvertor(tc.columns).ConvertToTable(t.Context(), obj, tc.options)
				if err != nil {
					t.Fatal(err)
				}
				row := got.Rows[0].Object.Object.(*corev1.Namespace)
				if diff := cmp.Diff(tc.want, row.Annotations); diff != "" {
					t.Errorf("%T: annotations (-want +got):\n%s", obj, diff)
				}
				if row.Name != "one" {
					t.Errorf("%T: the row holds %q", obj, row.Name)
				}
			}
		})
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	tests := map[string]struct {
		ago  time.Duration
		want string
	}{
		"this moment":                         {0, "0s"},
		"a clock that lags within tolerance":  {-time.Second, "0s"},
		"a clock that lags":                   {-time.Minute, "<invalid>"},
		"two minutes or less in seconds":      {119 * time.Second, "119s"},
		"some minutes":                        {5*time.Minute + 12*time.Second, "5m12s"},
		"some days":                           {50 * time.Hour, "2d2h"},
		"more than two years: years and days": {3 * 365 * 24 * time.Hour, "3y"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := testingclock.NewFakePassiveClock(now)
			if got := table.Age(clock, metav1.NewTime(now.Add(-tc.ago))); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	t.Run("no time at all", func(t *testing.T) {
		t.Parallel()
		if got := table.Age(testingclock.NewFakePassiveClock(now), metav1.Time{}); got != "<unknown>" {
			t.Errorf("got %q", got)
		}
	})
}
