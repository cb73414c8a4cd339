// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package authn tells who a request to a standalone server comes from.
package authn

import (
	"fmt"

	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// NewStandalone returns an authenticator that trusts client certificates of clientCA and nothing else: the common
// name is the user, the organizations are its groups (k8s.io/apiserver/pkg/authentication/request/x509). A request
// without a certificate is anonymous, a request with a foreign one is refused.
func NewStandalone(clientCA dynamiccertificates.CAContentProvider) (authenticator.Request, error) {
	config := authenticatorfactory.DelegatingAuthenticatorConfig{
		Anonymous:                          &apiserver.AnonymousAuthConfig{Enabled: true},
		ClientCertificateCAContentProvider: clientCA,
	}
	authn, _, err := config.New()
	if err != nil {
		return nil, fmt.Errorf("could not build the authenticator of client certificates: %w", err)
	}
	return authn, nil
}
