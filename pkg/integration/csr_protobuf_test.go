// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pinnace-io/pinnace/internal/gen"
)

// csrProtobuf is csr as a request body.
func csrProtobuf(t *testing.T, csr *certificatesv1.CertificateSigningRequest) []byte {
	t.Helper()
	raw, err := csr.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "certificates.k8s.io/v1", Kind: "CertificateSigningRequest"}, Raw: raw}
	data, err := unknown.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append(bytes.Clone(protobufMagic), data...)
}

// readCSR reads an object in protobuf.
func readCSR(t *testing.T, path string) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	csr := &certificatesv1.CertificateSigningRequest{}
	a := mustSend(t, call{method: http.MethodGet, path: path, accept: protobufBody}, http.StatusOK)
	fromProtobuf(t, a, "certificates.k8s.io/v1", "CertificateSigningRequest", csr)
	return csr
}

func TestCSRProtobuf(t *testing.T) {
	t.Parallel()
	name := unique("csr")
	want := gen.CSR(name, gen.WithExpirationSeconds(3600), gen.Approved())
	want.Spec.Username, want.Labels = "mallory", map[string]string{"a": "b"}
	var got certificatesv1.CertificateSigningRequest
	created := mustSend(t, call{
		method: http.MethodPost, path: csrCollection, contentType: protobufBody, accept: protobufBody, body: csrProtobuf(t, want), header: asAlice(),
	}, http.StatusCreated)
	fromProtobuf(t, created, "certificates.k8s.io/v1", "CertificateSigningRequest", &got)
	want.Status = certificatesv1.CertificateSigningRequestStatus{}
	want.Spec.Username, want.Spec.UID = "alice", "77"
	want.Spec.Groups = []string{"devs", "system:masters", "system:authenticated"}
	want.Spec.Extra = map[string]certificatesv1.ExtraValue{"scopes": {"view", "edit"}}
	if diff := cmp.Diff(want.Spec, got.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Status, got.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if got.Name != name || got.UID == "" || got.Labels["a"] != "b" {
		t.Errorf("metadata %v", got.ObjectMeta)
	}
	for _, subresource := range endpoints {
		if diff := cmp.Diff(&got, readCSR(t, csrPath(name, subresource...))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", subresource, diff)
		}
	}

	t.Run("the same bytes change nothing", func(t *testing.T) {
		before := getCSR(t, name)
		for _, subresource := range endpoints {
			path := csrPath(name, subresource...)
			read := mustSend(t, call{method: http.MethodGet, path: path, accept: protobufBody}, http.StatusOK)
			put := mustSend(t, call{method: http.MethodPut, path: path, contentType: protobufBody, accept: protobufBody, body: read.raw}, http.StatusOK)
			if !bytes.Equal(read.raw, put.raw) {
				t.Errorf("%s: other bytes came back", path)
			}
		}
		checkUnchanged(t, name, before)
	})
	t.Run("approve and issue", func(t *testing.T) {
		csr := readCSR(t, csrPath(name))
		csr.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "r"}}
		mustSend(t, call{method: http.MethodPut, path: csrPath(name, "approval"), contentType: protobufBody, body: csrProtobuf(t, csr)}, http.StatusOK)
		csr = readCSR(t, csrPath(name))
		if len(csr.Status.Conditions) != 1 || csr.Status.Conditions[0].LastUpdateTime.IsZero() || csr.Status.Conditions[0].Reason != "r" {
			t.Fatalf("conditions %v", csr.Status.Conditions)
		}
		csr.Status.Certificate = gen.RobotCertificate()
		mustSend(t, call{method: http.MethodPut, path: csrPath(name, "status"), contentType: protobufBody, body: csrProtobuf(t, csr)}, http.StatusOK)
		if got := readCSR(t, csrPath(name)).Status.Certificate; !bytes.Equal(got, gen.RobotCertificate()) {
			t.Errorf("certificate %q", got)
		}
	})
	t.Run("lists", func(t *testing.T) {
		var list certificatesv1.CertificateSigningRequestList
		path := csrCollection + "?fieldSelector=metadata.name%3D" + name
		fromProtobuf(t, mustSend(t, call{method: http.MethodGet, path: path, accept: protobufBody}, http.StatusOK), "certificates.k8s.io/v1", "CertificateSigningRequestList", &list)
		if len(list.Items) != 1 || list.ResourceVersion == "" {
			t.Fatalf("list %v", list)
		}
		if diff := cmp.Diff(readCSR(t, csrPath(name)), &list.Items[0]); diff != "" {
			t.Errorf("item (-want +got):\n%s", diff)
		}
	})
	t.Run("deletion", func(t *testing.T) {
		var status metav1.Status
		a := mustSend(t, call{method: http.MethodDelete, path: csrPath(name), accept: protobufBody}, http.StatusOK)
		fromProtobuf(t, a, "v1", "Status", &status)
		if status.Status != metav1.StatusSuccess || status.Details.Name != name {
			t.Errorf("status %v", status)
		}
		checkGone(t, name)
	})
}

func TestCSRProtobufRefused(t *testing.T) {
	t.Parallel()
	name := unique("csr")
	var status metav1.Status
	a := send(t, call{method: http.MethodGet, path: csrPath(name), accept: protobufBody})
	fromProtobuf(t, a, "v1", "Status", &status)
	if want := `certificatesigningrequests.certificates.k8s.io "` + name + `" not found`; a.code != http.StatusNotFound || status.Message != want {
		t.Errorf("got %d %q, want 404 %q", a.code, status.Message, want)
	}
	a = send(t, call{
		method: http.MethodPost, path: csrCollection, contentType: protobufBody, accept: protobufBody, body: csrProtobuf(t, gen.CSR(name, gen.WithUsages())),
	})
	status = metav1.Status{}
	fromProtobuf(t, a, "v1", "Status", &status)
	want := `CertificateSigningRequest.certificates.k8s.io "` + name + `" is invalid: spec.usages: Required value`
	if a.code != http.StatusUnprocessableEntity || status.Message != want {
		t.Errorf("got %d %q, want 422 %q", a.code, status.Message, want)
	}
	const unrecognized = "the object provided is unrecognized (must be of type CertificateSigningRequest): "
	checkRefused(t, send(t, call{method: http.MethodPost, path: csrCollection, contentType: protobufBody, body: `{"kind":"CertificateSigningRequest"}`}), "",
		badRequest(unrecognized+`provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({"kind":"CertificateSigningReq ...)`))
	checkRefused(t, send(t, call{method: http.MethodPost, path: csrCollection, contentType: protobufBody, body: []byte{}}), "",
		badRequest(unrecognized+"empty data (<empty>)"))
	checkGone(t, name)
}

// Each event of a watch in protobuf is a frame: its length in four bytes, then a WatchEvent.
func TestCSRProtobufWatch(t *testing.T) {
	t.Parallel()
	name, _ := newCSR(t)
	response := open(t, call{
		method: http.MethodGet, path: csrCollection + "?watch=true&fieldSelector=" + url.QueryEscape("metadata.name="+name),
		accept: protobufBody + ";stream=watch",
	})
	defer func() { _ = response.Body.Close() }()
	if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != protobufBody+";stream=watch" {
		t.Fatalf("got %d of type %q", response.StatusCode, got)
	}
	var length [4]byte
	if _, err := io.ReadFull(response.Body, length[:]); err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(response.Body, frame); err != nil {
		t.Fatal(err)
	}
	var event metav1.WatchEvent
	if err := event.Unmarshal(frame); err != nil {
		t.Fatal(err)
	}
	var csr certificatesv1.CertificateSigningRequest
	object := answer{code: http.StatusOK, raw: event.Object.Raw, header: http.Header{"Content-Type": {protobufBody}}}
	fromProtobuf(t, object, "certificates.k8s.io/v1", "CertificateSigningRequest", &csr)
	if diff := cmp.Diff(readCSR(t, csrPath(name)), &csr); event.Type != "ADDED" || diff != "" {
		t.Errorf("event %s (-want +got):\n%s", event.Type, diff)
	}
}

// The same object in the other encodings.
func TestCSRYAML(t *testing.T) {
	t.Parallel()
	name, object := newCSR(t)
	for _, path := range []string{csrPath(name), csrPath(name, "status"), csrPath(name, "approval")} {
		a := mustSend(t, call{method: http.MethodGet, path: path, accept: yamlBody}, http.StatusOK)
		if diff := cmp.Diff(object.object, fromYAML(t, string(a.raw))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		if got := a.header.Get("Content-Type"); got != yamlBody {
			t.Errorf("Content-Type %q", got)
		}
		a = mustSend(t, call{method: http.MethodPut, path: path, contentType: yamlBody, body: a.raw}, http.StatusOK)
		if diff := cmp.Diff(object.object, a.object); diff != "" {
			t.Errorf("%s after the same YAML (-want +got):\n%s", path, diff)
		}
	}
	checkUnchanged(t, name, object)
}
