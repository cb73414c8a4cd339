// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package authz

import (
	"context"
	"strings"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/klog/v2"
)

// Verbs on signers (https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#authorization).
const (
	VerbApprove = "approve"
	VerbSign    = "sign"
)

// MayUseSigner tells whether a user may approve or sign (verb) requests for a signer: the permission is on the resource
// "signers" of certificates.k8s.io with the whole signer name, or its domain followed by "/*", as the name (KEP-1513). An
// authorizer that fails permits nothing.
func MayUseSigner(ctx context.Context, a authorizer.UnconditionalAuthorizer, user user.Info, verb, signerName string) bool {
	domain, _, _ := strings.Cut(signerName, "/")
	for _, name := range []string{signerName, domain + "/*"} {
		decision, reason, err := a.Authorize(ctx, authorizer.AttributesRecord{
			User: user, Verb: verb, Name: name,
			APIGroup: "certificates.k8s.io", APIVersion: "*", Resource: "signers", ResourceRequest: true,
		})
		if err != nil {
			klog.FromContext(ctx).V(3).Info("Could not ask the authorizer about a signer", "verb", verb, "signer", name, "reason", reason, "err", err)
			continue
		}
		if decision == authorizer.DecisionAllow {
			return true
		}
	}
	return false
}
