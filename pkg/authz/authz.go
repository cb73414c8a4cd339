// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package authz decides what a request to a standalone server may do.
package authz

import (
	"context"
	"fmt"

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

// NewStandalone returns an authorizer that lets members of system:masters do everything and everyone else read
// PublicPaths.
func NewStandalone() (authorizer.Authorizer, error) {
	public, err := path.NewAuthorizer(PublicPaths())
	if err != nil {
		return nil, fmt.Errorf("could not build the authorizer of public paths: %w", err)
	}
	return union.New(
		union.NamedAuthorizer{AuthorizerName: "masters", Authorizer: authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup)},
		union.NamedAuthorizer{AuthorizerName: "public", Authorizer: readOnly(public)},
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
