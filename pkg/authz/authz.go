// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package authz decides what a request to a standalone server may do.
package authz

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/path"
	"k8s.io/apiserver/pkg/authorization/union"
)

// PublicPaths are what everyone may read, with or without a name: health and version.
func PublicPaths() []string {
	return []string{"/healthz", "/healthz/*", "/livez", "/livez/*", "/readyz", "/readyz/*", "/version", "/version/"}
}

// DiscoveryPaths are what everyone with a name may read as well: which kinds are served, and their schemas. They are those of
// the role system:discovery of kube-apiserver.
func DiscoveryPaths() []string {
	return []string{"/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*"}
}

// NewStandalone returns an authorizer that lets members of system:masters do everything, everyone else read PublicPaths,
// and those with a name DiscoveryPaths.
func NewStandalone() (authorizer.Authorizer, error) {
	public, err := path.NewAuthorizer(PublicPaths())
	if err != nil {
		return nil, fmt.Errorf("could not build the authorizer of public paths: %w", err)
	}
	discovery, err := path.NewAuthorizer(DiscoveryPaths())
	if err != nil {
		return nil, fmt.Errorf("could not build the authorizer of discovery paths: %w", err)
	}
	return union.New(
		union.NamedAuthorizer{AuthorizerName: "masters", Authorizer: authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup)},
		union.NamedAuthorizer{AuthorizerName: "public", Authorizer: readOnly(public)},
		union.NamedAuthorizer{AuthorizerName: "discovery", Authorizer: authenticated(readOnly(discovery))},
	)
}

// readOnly asks next about reading alone, as system:public-info-viewer of kube-apiserver does
// (plugin/pkg/auth/authorizer/rbac/bootstrappolicy of k8s.io/kubernetes); the library's authorizer of paths looks at
// no verb.
func readOnly(next authorizer.Authorizer) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetVerb() != "get" {
			return authorizer.DecisionNoOpinion, "", nil
		}
		return next.Authorize(ctx, a)
	})
}

// authenticated asks next about users with a name alone.
func authenticated(next authorizer.Authorizer) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetUser() == nil || !slices.Contains(a.GetUser().GetGroups(), user.AllAuthenticated) {
			return authorizer.DecisionNoOpinion, "", nil
		}
		return next.Authorize(ctx, a)
	})
}
