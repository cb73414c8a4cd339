// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/sharding"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

const shardSelectorParameter = "shardSelector"

// withShardSelector answers 400 to a shardSelector that can't be parsed. The library's store, which parses it too, has
// no status for the error, so that a client's mistake would be answered 500.
func withShardSelector(next http.Handler, codecs runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := checkShardSelector(r); err != nil {
			info, _ := request.RequestInfoFrom(r.Context())
			gv := schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}
			responsewriters.ErrorNegotiated(apierrors.NewBadRequest(err.Error()), codecs, gv, w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkShardSelector returns what is wrong with the selector of a request that would be selected by it.
func checkShardSelector(r *http.Request) error {
	if !strings.Contains(r.URL.RawQuery, shardSelectorParameter) || !utilfeature.DefaultFeatureGate.Enabled(features.ShardedListAndWatch) {
		return nil
	}
	info, ok := request.RequestInfoFrom(r.Context())
	if !ok || !info.IsResourceRequest {
		return nil
	}
	switch info.Verb {
	case "list", "watch", "deletecollection":
	default:
		return nil
	}
	selector := r.URL.Query().Get(shardSelectorParameter)
	if selector == "" {
		return nil
	}
	if _, err := sharding.Parse(selector); err != nil {
		// The words are the store's.
		return fmt.Errorf("invalid shard selector: %w", err)
	}
	return nil
}
