// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package authz_test

import (
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/pinnace-io/pinnace/pkg/authz"
)

func TestStandalone(t *testing.T) {
	t.Parallel()
	a, err := authz.NewStandalone()
	if err != nil {
		t.Fatal(err)
	}
	users := map[string]user.Info{
		"admin":     &user.DefaultInfo{Name: "kubernetes-admin", Groups: []string{"system:masters", "system:authenticated"}},
		"bob":       &user.DefaultInfo{Name: "bob", Groups: []string{"developers", "system:authenticated"}},
		"impostor":  &user.DefaultInfo{Name: "system:masters", Groups: []string{"System:Masters", "system:masters:dev", "system:authenticated"}},
		"anonymous": &user.DefaultInfo{Name: "system:anonymous", Groups: []string{"system:unauthenticated"}},
	}
	path := func(verb, path string) authorizer.AttributesRecord {
		return authorizer.AttributesRecord{Verb: verb, Path: path}
	}
	resource := func(verb, group, resource string) authorizer.AttributesRecord {
		return authorizer.AttributesRecord{
			Verb: verb, APIGroup: group, APIVersion: "v1", Resource: resource, ResourceRequest: true, Path: "/healthz",
		}
	}
	tests := map[string]struct {
		request authorizer.AttributesRecord
		// public tells that everyone may; the administrator always may.
		public bool
		// named tells that everyone with a name may.
		named bool
	}{
		"health":                               {request: path("get", "/healthz"), public: true},
		"liveness":                             {request: path("get", "/livez"), public: true},
		"readiness":                            {request: path("get", "/readyz"), public: true},
		"one check of health":                  {request: path("get", "/healthz/etcd"), public: true},
		"one check of liveness":                {request: path("get", "/livez/ping"), public: true},
		"a check with a slash in its name":     {request: path("get", "/readyz/poststarthook/storage-readiness"), public: true},
		"version":                              {request: path("get", "/version"), public: true},
		"version with a slash":                 {request: path("get", "/version/"), public: true},
		"posting to a public path":             {request: path("post", "/healthz")},
		"asking for the head of a public path": {request: path("head", "/livez")},
		"a path that begins like a public one": {request: path("get", "/healthzz")},
		"a path below version":                 {request: path("get", "/version/openshift")},
		"the root":                             {request: path("get", "/")},
		"discovery of the core group":          {request: path("get", "/api"), named: true},
		"discovery":                            {request: path("get", "/apis"), named: true},
		"discovery of a group":                 {request: path("get", "/apis/apps/v1"), named: true},
		"OpenAPI v2":                           {request: path("get", "/openapi/v2"), named: true},
		"OpenAPI v3":                           {request: path("get", "/openapi/v3/apis/apps/v1"), named: true},
		"metrics":                              {request: path("get", "/metrics")},
		"profiles":                             {request: path("get", "/debug/pprof/heap")},
		"log flags":                            {request: path("put", "/debug/flags/v")},
		"reading objects":                      {request: resource("list", "apps", "daemonsets")},
		"writing objects":                      {request: resource("create", "certificates.k8s.io", "certificatesigningrequests")},
		"approving for a signer":               {request: resource("approve", "certificates.k8s.io", "signers")},
		"reading an object whatever its URL ends with": {request: resource("get", "", "namespaces")},
	}
	for name, test := range tests {
		for who, info := range users {
			t.Run(who+": "+name, func(t *testing.T) {
				t.Parallel()
				request := test.request
				request.User = info
				want := authorizer.DecisionNoOpinion
				if test.public || who == "admin" || test.named && who != "anonymous" {
					want = authorizer.DecisionAllow
				}
				got, reason, err := a.Authorize(t.Context(), request)
				if err != nil {
					t.Fatal(err)
				}
				if got != want {
					t.Errorf("decision is %d, want %d: %s", got, want, reason)
				}
				conditional := a.ConditionsAwareAuthorize(t.Context(), request)
				if conditional.IsAllow() != (want == authorizer.DecisionAllow) {
					t.Errorf("decision with conditions is %v, want that of the one without", conditional)
				}
			})
		}
	}
}

func TestNobodyIsNotAuthorized(t *testing.T) {
	t.Parallel()
	a, err := authz.NewStandalone()
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := a.Authorize(t.Context(), authorizer.AttributesRecord{Verb: "get", Path: "/apis"})
	if err == nil || got == authorizer.DecisionAllow {
		t.Errorf("a request without a user: decision %d and error %v, want an error", got, err)
	}
}

func TestPublicPathsAreACopy(t *testing.T) {
	t.Parallel()
	authz.PublicPaths()[0] = "/*"
	if got := authz.PublicPaths()[0]; got != "/healthz" {
		t.Errorf("a caller changed the list: %s", got)
	}
}
