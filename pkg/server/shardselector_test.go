// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/pinnace-io/pinnace/pkg/apis/scheme"
	"github.com/pinnace-io/pinnace/pkg/server/options"
)

func TestShardSelector(t *testing.T) {
	t.Parallel()
	if _, err := options.NewStandalone(); err != nil { // turns the gate on
		t.Fatal(err)
	}
	s, err := scheme.New(native(), scheme.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const (
		good = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"
		bad  = "shardRange("
	)
	resource := func(verb string) *request.RequestInfo {
		return &request.RequestInfo{IsResourceRequest: true, Verb: verb, APIGroup: "apps", APIVersion: "v1", Resource: "daemonsets"}
	}
	tests := map[string]struct {
		selector string
		info     *request.RequestInfo
		// refused tells that the request does not come through.
		refused bool
	}{
		"a list without a selector":                          {info: resource("list")},
		"a list":                                             {info: resource("list"), selector: good},
		"a list with a selector that is none":                {info: resource("list"), selector: bad, refused: true},
		"a watch with a selector that is none":               {info: resource("watch"), selector: bad, refused: true},
		"a deletion of what a selector that is none selects": {info: resource("deletecollection"), selector: bad, refused: true},
		"nothing is selected by a get":                       {info: resource("get"), selector: bad},
		"nothing is selected by a create":                    {info: resource("create"), selector: bad},
		"a path that is no resource":                         {info: &request.RequestInfo{Verb: "list", Path: "/metrics"}, selector: bad},
		"a request that nobody knows anything of":            {selector: bad},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			through := false
			handler := withShardSelector(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { through = true }), s.Requests)
			target := "/apis/apps/v1/daemonsets"
			if test.selector != "" {
				target += "?" + url.Values{"shardSelector": {test.selector}}.Encode()
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
			if test.info != nil {
				r = r.WithContext(request.WithRequestInfo(r.Context(), test.info))
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if through == test.refused {
				t.Errorf("the request comes through: %t, want %t", through, !test.refused)
			}
			if !test.refused {
				return
			}
			var status metav1.Status
			if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil {
				t.Fatal(err)
			}
			if w.Code != http.StatusBadRequest || status.Reason != metav1.StatusReasonBadRequest || status.Code != http.StatusBadRequest {
				t.Errorf("got %d and %+v, want a bad request", w.Code, status)
			}
			const prefix = "invalid shard selector: "
			if len(status.Message) <= len(prefix) || status.Message[:len(prefix)] != prefix {
				t.Errorf("message is %s, want one that begins with %s", status.Message, prefix)
			}
		})
	}
}
