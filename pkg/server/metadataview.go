// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"

	"github.com/pinnace-io/pinnace/pkg/registry/metadataview"
)

// withMetadataView tells the endpoints behind it which requests will be answered with metadata alone. The library
// decides that after an endpoint has answered, by the same negotiation.
func withMetadataView(next http.Handler, codecs runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if metadataview.Asked(r.Header.Get("Accept")) && metadataOnly(r, codecs) {
			r = r.WithContext(metadataview.With(r.Context()))
		}
		next.ServeHTTP(w, r)
	})
}

func metadataOnly(r *http.Request, codecs runtime.NegotiatedSerializer) bool {
	media, _, err := negotiation.NegotiateOutputMediaType(r, codecs, transforms{})
	if err != nil || media.Convert == nil {
		// The library answers such a request itself, with an error or with the object.
		return false
	}
	return media.Convert.Kind == "PartialObjectMetadata" || media.Convert.Kind == "PartialObjectMetadataList"
}

// transforms allows what the library's endpoints allow (RequestScope.AllowsMediaTypeTransform of
// k8s.io/apiserver/pkg/endpoints/handlers).
type transforms struct{}

var _ negotiation.EndpointRestrictions = transforms{}

// AllowsMediaTypeTransform implements negotiation.EndpointRestrictions.
func (transforms) AllowsMediaTypeTransform(_, _ string, target *schema.GroupVersionKind) bool {
	return target == nil || target.Group == metav1.GroupName
}

// AllowsServerVersion implements negotiation.EndpointRestrictions.
func (transforms) AllowsServerVersion(string) bool { return false }

// AllowsStreamSchema implements negotiation.EndpointRestrictions.
func (transforms) AllowsStreamSchema(name string) bool { return name == "watch" }
