// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pinnace-io/pinnace/pkg/apis/scheme"
	"github.com/pinnace-io/pinnace/pkg/registry/metadataview"
)

func TestMetadataView(t *testing.T) {
	t.Parallel()
	s, err := scheme.New(native(), scheme.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		accept string
		want   bool
	}{
		"nothing":                      {},
		"an object":                    {accept: "application/json"},
		"a table":                      {accept: "application/json;as=Table;v=v1;g=meta.k8s.io"},
		"metadata":                     {accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", want: true},
		"metadata in protobuf":         {accept: "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", want: true},
		"metadata of a list":           {accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", want: true},
		"metadata of a watch":          {accept: "application/json;stream=watch;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", want: true},
		"metadata of another stream":   {accept: "application/json;stream=river;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"},
		"metadata before an object":    {accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json", want: true},
		"an object before metadata":    {accept: "application/json,application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"},
		"metadata of an unknown group": {accept: "application/json;as=PartialObjectMetadata;v=v1;g=example.com"},
		"metadata in an unknown form, an object otherwise": {accept: "text/odd;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"},
		"metadata in an unknown form":                      {accept: "text/odd;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got bool
			handler := withMetadataView(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = metadataview.In(r.Context()) }), s.Requests)
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/namespaces", nil)
			request.Header.Set("Accept", test.accept)
			handler.ServeHTTP(httptest.NewRecorder(), request)
			if got != test.want {
				t.Errorf("the request is one for metadata: %t, want %t", got, test.want)
			}
		})
	}
}
