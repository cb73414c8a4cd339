// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const protobufBody = "application/vnd.kubernetes.protobuf"

// protobufMagic begins every object in protobuf.
var protobufMagic = []byte("k8s\x00")

// fromProtobuf decodes an answer whose body holds an object of this kind.
func fromProtobuf(t *testing.T, a answer, apiVersion, kind string, into interface{ Unmarshal([]byte) error }) {
	t.Helper()
	raw, found := bytes.CutPrefix(a.raw, protobufMagic)
	if contentType := a.header.Get("Content-Type"); !found || contentType != protobufBody {
		t.Fatalf("got %d of type %s, want protobuf: %q", a.code, contentType, a.raw)
	}
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(raw); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, unknown.TypeMeta); diff != "" {
		t.Fatalf("the kind differs (-want +got):\n%s", diff)
	}
	if err := into.Unmarshal(unknown.Raw); err != nil {
		t.Fatal(err)
	}
}

func TestDaemonSetProtobuf(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d")
	created := createDaemonSet(t, ns, "d", spec("minReadySeconds: 3"))
	read := mustSend(t, call{method: http.MethodGet, path: path, accept: protobufBody}, http.StatusOK)
	var ds appsv1.DaemonSet
	fromProtobuf(t, read, "apps/v1", "DaemonSet", &ds)
	got := []any{ds.Name, ds.ResourceVersion, ds.Spec.MinReadySeconds, ds.Annotations[templateGeneration], ds.Spec.UpdateStrategy.RollingUpdate.MaxSurge.String()}
	if diff := cmp.Diff([]any{"d", created.text("metadata.resourceVersion"), int32(3), "1", "0"}, got); diff != "" {
		t.Errorf("the object differs (-want +got):\n%s", diff)
	}

	// The same bytes again change nothing; as a new object they are created.
	put := mustSend(t, call{method: http.MethodPut, path: path, contentType: protobufBody, body: read.raw}, http.StatusOK)
	unchanged(t, created, put)
	ds.Name, ds.ResourceVersion, ds.ManagedFields = "e", "", nil
	raw, err := ds.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}, Raw: raw}
	data, err := unknown.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	second := send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), contentType: protobufBody, body: append(bytes.Clone(protobufMagic), data...)})
	wantDaemonSet(t, second, http.StatusCreated, ns, meta("name: e"), spec("minReadySeconds: 3"))

	var list appsv1.DaemonSetList
	fromProtobuf(t, mustSend(t, call{method: http.MethodGet, path: daemonSetsPath(ns), accept: protobufBody}), "apps/v1", "DaemonSetList", &list)
	if len(list.Items) != 2 || list.Items[0].Name != "d" || list.Items[1].Name != "e" {
		t.Errorf("the list holds %d items: %v", len(list.Items), list.Items)
	}
	var status metav1.Status
	missing := send(t, call{method: http.MethodGet, path: daemonSetPath(ns, "nope"), accept: protobufBody})
	fromProtobuf(t, missing, "v1", "Status", &status)
	if missing.code != http.StatusNotFound || status.Message != `daemonsets.apps "nope" not found` || status.Reason != metav1.StatusReasonNotFound {
		t.Errorf("got %d: %v", missing.code, status)
	}
	wantFailure(t, send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), contentType: protobufBody, body: `{"kind":"DaemonSet"}`}), failure{
		code: http.StatusBadRequest, reason: "BadRequest",
		message: `the object provided is unrecognized (must be of type DaemonSet): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({"kind":"DaemonSet"})`,
	})
}
