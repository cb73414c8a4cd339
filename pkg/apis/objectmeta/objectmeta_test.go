// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package objectmeta_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	upstream "k8s.io/kubernetes/pkg/apis/core/validation"

	"github.com/pinnace-io/pinnace/pkg/apis/objectmeta"
)

// metas are the inputs of both tests; what upstream answers to each is the expectation.
func metas() map[string]*metav1.ObjectMeta {
	return map[string]*metav1.ObjectMeta{
		"nothing set":                      {},
		"a plain name":                     {Name: "a", ResourceVersion: "1", UID: "u"},
		"a name in a namespace":            {Name: "a", Namespace: "ns", ResourceVersion: "1"},
		"a bad name":                       {Name: "A_b", ResourceVersion: "1"},
		"standard finalizers":              {Name: "a", Finalizers: []string{"kubernetes", "orphan", "foregroundDeletion"}},
		"qualified finalizer":              {Name: "a", Finalizers: []string{"example.com/clean"}},
		"unqualified finalizer":            {Name: "a", Finalizers: []string{"clean", "other"}},
		"orphan and foreground together":   {Name: "a", Finalizers: []string{"orphan", "foregroundDeletion"}},
		"finalizer with two slashes":       {Name: "a", Finalizers: []string{"a/b/c"}},
		"an empty finalizer":               {Name: "a", Finalizers: []string{""}},
		"labels and annotations too large": {Name: "a", Labels: map[string]string{"-": "-"}, Annotations: map[string]string{"a": strings.Repeat("x", 300000)}},
		"an owner without a name":          {Name: "a", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod"}}},
	}
}

// texts are the messages of a list, in order; nil and empty lists are the same to a client.
func texts(errs field.ErrorList) []string {
	out := []string{}
	for _, err := range errs {
		out = append(out, string(err.Type)+" "+err.Error()+" "+err.Origin)
	}
	return out
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, meta := range metas() {
		for _, namespaced := range []bool{false, true} {
			path := field.NewPath("metadata")
			got := objectmeta.Validate(meta, namespaced, apimachineryvalidation.NameIsDNSSubdomain, path)
			want := upstream.ValidateObjectMeta(meta, namespaced, apimachineryvalidation.NameIsDNSSubdomain, path)
			if diff := cmp.Diff(texts(want), texts(got)); diff != "" {
				t.Errorf("%s (namespaced: %t): not what upstream says (-want +got):\n%s", name, namespaced, diff)
			}
		}
	}
}

func TestValidateUpdate(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	olds := metas()
	olds["being deleted"] = &metav1.ObjectMeta{Name: "a", DeletionTimestamp: &now, Finalizers: []string{"example.com/x"}, ResourceVersion: "1"}
	for oldName, oldMeta := range olds {
		for newName, newMeta := range metas() {
			path := field.NewPath("metadata")
			// Validation of an update may copy immutable fields from old to new, so each side gets its own copy.
			got := objectmeta.ValidateUpdate(newMeta.DeepCopy(), oldMeta.DeepCopy(), path)
			want := upstream.ValidateObjectMetaUpdate(newMeta.DeepCopy(), oldMeta.DeepCopy(), path)
			if diff := cmp.Diff(texts(want), texts(got)); diff != "" {
				t.Errorf("from %s to %s: not what upstream says (-want +got):\n%s", oldName, newName, diff)
			}
		}
	}
}
