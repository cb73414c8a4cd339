// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package apps_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	upstream "k8s.io/kubernetes/pkg/apis/apps"
	upstreamv1 "k8s.io/kubernetes/pkg/apis/apps/v1"
	upstreamvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
)

// revision returns a ControllerRevision that is valid after change.
func revision(change func(*appsv1.ControllerRevision)) *appsv1.ControllerRevision {
	r := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: "r", Namespace: "t", ResourceVersion: "1"},
		Data:       runtime.RawExtension{Raw: []byte(`{"a":1}`)},
		Revision:   1,
	}
	if change != nil {
		change(r)
	}
	return r
}

func raw(data string) func(*appsv1.ControllerRevision) {
	return func(r *appsv1.ControllerRevision) { r.Data = runtime.RawExtension{Raw: []byte(data)} }
}

func internalRevision(t *testing.T, r *appsv1.ControllerRevision) *upstream.ControllerRevision {
	t.Helper()
	out := &upstream.ControllerRevision{}
	if err := upstreamv1.Convert_v1_ControllerRevision_To_apps_ControllerRevision(r.DeepCopy(), out, nil); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestValidateControllerRevision(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*appsv1.ControllerRevision)
		want   []string
	}{
		"an object":                 {},
		"an empty object":           {change: raw(`{}`)},
		"an object of another kind": {change: raw(` {"apiVersion":"x/y","kind":"Z"} `)},
		"a key twice":               {change: raw(`{"a":1,"a":2}`)},
		"no data":                   {change: func(r *appsv1.ControllerRevision) { r.Data = runtime.RawExtension{} }, want: []string{"data: Required value: data is mandatory"}},
		"data in memory only":       {change: func(r *appsv1.ControllerRevision) { r.Data = runtime.RawExtension{Object: &appsv1.DaemonSet{}} }, want: []string{"data: Required value: data is mandatory"}},
		"null":                      {change: raw(`null`), want: []string{"data: Required value: data is mandatory"}},
		"a number":                  {change: raw(`5`), want: []string{"data: Required value: data must be a valid JSON object"}},
		"a string":                  {change: raw(`"x"`), want: []string{"data: Required value: data must be a valid JSON object"}},
		"a list":                    {change: raw(`[{}]`), want: []string{"data: Required value: data must be a valid JSON object"}},
		"bytes that aren't JSON":    {change: raw(`{`), want: []string{`data: Invalid value: "<value omitted>": error parsing data: unexpected end of JSON input`}},
		"no bytes at all":           {change: raw(``), want: []string{`data: Invalid value: "<value omitted>": error parsing data: unexpected end of JSON input`}},
		"two objects":               {change: raw(`{}{}`), want: []string{`data: Invalid value: "<value omitted>": error parsing data: invalid character '{' after top-level value`}},
		"revision 0":                {change: func(r *appsv1.ControllerRevision) { r.Revision = 0 }},
		"a negative revision":       {change: func(r *appsv1.ControllerRevision) { r.Revision = -1 }, want: []string{"revision: Invalid value: -1: must be greater than or equal to 0"}},
		"everything wrong, in order": {
			change: func(r *appsv1.ControllerRevision) { r.Namespace, r.Revision, r.Data = "", -1, runtime.RawExtension{} },
			want: []string{
				"metadata.namespace: Required value",
				"revision: Invalid value: -1: must be greater than or equal to 0",
				"data: Required value: data is mandatory",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := revision(test.change)
			checkErrors(t, test.want, apps.ValidateControllerRevision(r), upstreamvalidation.ValidateControllerRevisionCreate(internalRevision(t, r)))
		})
	}
}

func TestValidateControllerRevisionUpdate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		old, change func(*appsv1.ControllerRevision)
		want        []string
	}{
		"nothing changed":      {},
		"another number":       {change: func(r *appsv1.ControllerRevision) { r.Revision = 9 }},
		"a smaller number":     {change: func(r *appsv1.ControllerRevision) { r.Revision = 0 }},
		"a negative number":    {change: func(r *appsv1.ControllerRevision) { r.Revision = -9 }, want: []string{"revision: Invalid value: -9: must be greater than or equal to 0"}},
		"old data that is bad": {old: raw(`5`), change: raw(`5`)},
		"other data":           {change: raw(`{"a":2}`), want: []string{`data: Invalid value: {"a":2}: field is immutable`}},
		"the same data spaced": {change: raw(`{ "a":1}`), want: []string{`data: Invalid value: {"a":1}: field is immutable`}},
		"no data": {
			change: func(r *appsv1.ControllerRevision) { r.Data = runtime.RawExtension{} },
			want:   []string{`data: Invalid value: null: field is immutable`},
		},
		"another name is refused in metadata alone": {
			change: func(r *appsv1.ControllerRevision) { r.Name = "other" },
			want:   []string{"metadata.name: Invalid value: \"other\": field is immutable"},
		},
		"a bad finalizer is refused twice": {
			change: func(r *appsv1.ControllerRevision) { r.Finalizers = []string{"x"} },
			want: []string{
				"metadata.finalizers[0]: Invalid value: \"x\": name is neither a standard finalizer name nor is it fully qualified",
				"metadata.finalizers[0]: Invalid value: \"x\": name is neither a standard finalizer name nor is it fully qualified",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, old := revision(test.change), revision(test.old)
			upstream := upstreamvalidation.ValidateControllerRevisionUpdate(internalRevision(t, r), internalRevision(t, old))
			checkErrors(t, test.want, apps.ValidateControllerRevisionUpdate(r, old), upstream)
		})
	}
}

// ControllerRevision has no normalizer. This is why: upstream's internal type holds data as v1 does.
func TestControllerRevisionNeedsNoNormalization(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"an object keeps keys, order and blanks": `{"metadata":{"name":"r"},"data":{"b":1, "a": {"c":null}},"revision":3}`,
		"null is no data":                        `{"metadata":{"name":"r"},"data":null,"revision":3}`,
		"a number stays until it is validated":   `{"metadata":{"name":"r"},"data":5,"revision":3}`,
		"no data":                                `{"metadata":{"name":"r"},"revision":3}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := &appsv1.ControllerRevision{}
			if err := json.Unmarshal([]byte(body), want); err != nil {
				t.Fatal(err)
			}
			got := &appsv1.ControllerRevision{}
			if err := upstreamv1.Convert_apps_ControllerRevision_To_v1_ControllerRevision(internalRevision(t, want), got, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("upstream's round trip can be seen (-before +after):\n%s", diff)
			}
		})
	}
}
