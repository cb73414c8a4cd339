// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificates_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/validate"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	upstream "k8s.io/kubernetes/pkg/apis/certificates"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install" // registers conversions and declared rules
	upstreamvalidation "k8s.io/kubernetes/pkg/apis/certificates/validation"

	"github.com/pinnace-io/pinnace/internal/gen"
	"github.com/pinnace-io/pinnace/pkg/apis/certificates"
)

// validators are the two validations of one endpoint.
type validators struct {
	ours   func(newCSR, oldCSR *certificatesv1.CertificateSigningRequest) field.ErrorList
	theirs func(newCSR, oldCSR *upstream.CertificateSigningRequest) field.ErrorList
	// subresources is the endpoint as the declared rules are asked for it.
	subresources []string
}

func validatorsOf(e endpoint) validators {
	switch e {
	case statusEndpoint:
		return validators{
			ours:         certificates.ValidateCertificateSigningRequestStatusUpdate,
			theirs:       upstreamvalidation.ValidateCertificateSigningRequestStatusUpdate,
			subresources: []string{"status"},
		}
	case approvalEndpoint:
		return validators{
			ours:         certificates.ValidateCertificateSigningRequestApprovalUpdate,
			theirs:       upstreamvalidation.ValidateCertificateSigningRequestApprovalUpdate,
			subresources: []string{"approval"},
		}
	default:
		return validators{
			ours:   certificates.ValidateCertificateSigningRequestUpdate,
			theirs: upstreamvalidation.ValidateCertificateSigningRequestUpdate,
		}
	}
}

func TestCreationIsValidatedAsUpstream(t *testing.T) {
	t.Parallel()
	scheme := schemeWithRules(t)
	seen := newSightings()
	random := rand.New(rand.NewPCG(1, 1)) // a fixed seed: every run sees the same objects

	for i := range 1200 {
		csr := gen.RandomCSR(random)
		theirs := upstreamvalidation.ValidateCertificateSigningRequestCreate(internal(t, csr))
		ours := certificates.ValidateCertificateSigningRequest(csr.DeepCopy())
		seen.add(theirs)
		theirsDeclared := legacyscheme.Scheme.Validate(t.Context(), nil, csr.DeepCopy())
		oursDeclared := scheme.Validate(t.Context(), nil, csr.DeepCopy())
		seen.add(theirsDeclared)

		if d := cmp.Diff(visible(theirs), visible(ours)); d != "" {
			t.Fatalf("object %d (-upstream +ours):\n%s", i, d)
		}
		if d := cmp.Diff(visible(theirsDeclared), visible(oursDeclared)); d != "" {
			t.Fatalf("declared rules on object %d (-upstream +ours):\n%s", i, d)
		}
	}
	seen.require(t,
		"metadata.name: Required value", "metadata.namespace: Forbidden", "metadata.finalizers[0]: Invalid value",
		"spec.request: Invalid value", "PEM block type", "asn1: ", "ECDSA verification failure",
		"spec.usages: Required value", "spec.usages[1]: Unsupported value", "spec.usages[1]: Duplicate value",
		"spec.signerName: Required value", "legacy signerName", "fully qualified domain", "at least two segments", "571 bytes", "253 bytes",
		"spec.expirationSeconds: Invalid value",
		"type: Required value", "status: Required value", "status: Unsupported value", "mutually exclusive", "type: Duplicate value",
		"status.certificate: Invalid value", "no PEM block headers", "0 certificates", "malformed certificate", "at least one CERTIFICATE",
		"must specify at most one of", "metadata.managedFields[0].operation: Unsupported value")
}

func TestUpdatesAreValidatedAsUpstream(t *testing.T) {
	t.Parallel()
	scheme := schemeWithRules(t)

	for seed, through := range []endpoint{mainEndpoint, statusEndpoint, approvalEndpoint} {
		t.Run(string(through), func(t *testing.T) {
			t.Parallel()
			validators := validatorsOf(through)
			seen := newSightings()
			random := rand.New(rand.NewPCG(2, uint64(seed))) // a fixed seed: every run sees the same objects

			for i := range 1200 {
				oldCSR := gen.RandomCSR(random)
				newCSR := gen.RandomCSRUpdate(random, oldCSR)
				theirs := validators.theirs(internal(t, newCSR), internal(t, oldCSR))
				ours := validators.ours(newCSR.DeepCopy(), oldCSR.DeepCopy())
				seen.add(theirs)
				theirsDeclared := legacyscheme.Scheme.ValidateUpdate(t.Context(), nil, newCSR.DeepCopy(), oldCSR.DeepCopy(), validators.subresources...)
				oursDeclared := scheme.ValidateUpdate(t.Context(), nil, newCSR.DeepCopy(), oldCSR.DeepCopy(), validators.subresources...)
				seen.add(theirsDeclared)

				if d := cmp.Diff(visible(theirs), visible(ours)); d != "" {
					t.Fatalf("update %d (-upstream +ours):\n%s", i, d)
				}
				if d := cmp.Diff(visible(theirsDeclared), visible(oursDeclared)); d != "" {
					t.Fatalf("declared rules on update %d (-upstream +ours):\n%s", i, d)
				}
			}

			seen.require(t, `may not remove a condition of type "Approved"`, `may not remove a condition of type "Denied"`,
				`may not remove a condition of type "Failed"`, "metadata.uid: Invalid value", "metadata.name: Invalid value",
				"must specify at most one of")
			if through != approvalEndpoint {
				seen.require(t, `may not add a condition of type "Approved"`, `may not add a condition of type "Denied"`,
					`may not modify a condition of type "Approved"`, `may not modify a condition of type "Denied"`)
			}
			if through == statusEndpoint {
				seen.require(t, "may not modify existing certificate content", "no PEM block headers")
			} else {
				seen.require(t, "may not set certificate content")
			}
		})
	}
}

// In this mode, which upstream keeps for tests, all declared rules are in force, the alpha ones on metadata too.
func TestDeclaredRulesInForceAreUpstreams(t *testing.T) {
	t.Parallel()
	scheme := schemeWithRules(t)
	ctx := validate.WithAllDeclarativeEnforcedForTest(t.Context())
	filtered := func(s *runtime.Scheme, newCSR, oldCSR *certificatesv1.CertificateSigningRequest) []string {
		return visible(validate.FilterEnforcedDeclarativeErrors(ctx, s.ValidateUpdate(ctx, nil, newCSR, oldCSR, "status"), true))
	}
	random := rand.New(rand.NewPCG(3, 1))
	for i := range 300 {
		oldCSR := gen.RandomCSR(random)
		newCSR := gen.RandomCSRUpdate(random, oldCSR)
		theirs, ours := filtered(legacyscheme.Scheme, newCSR, oldCSR), filtered(scheme, newCSR, oldCSR)
		if d := cmp.Diff(theirs, ours); d != "" {
			t.Fatalf("update %d (-upstream +ours):\n%s", i, d)
		}
	}
}

// internal returns csr as kube-apiserver holds it.
func internal(t *testing.T, csr *certificatesv1.CertificateSigningRequest) *upstream.CertificateSigningRequest {
	t.Helper()
	converted := &upstream.CertificateSigningRequest{}
	if err := legacyscheme.Scheme.Convert(csr.DeepCopy(), converted, nil); err != nil {
		t.Fatal(err)
	}
	return converted
}

// visible returns all of errors that reaches a client or decides what does: the text, and the marks by which
// hand-written and declared errors are merged.
func visible(errs field.ErrorList) []string {
	var shown []string
	for _, err := range errs {
		shown = append(shown, fmt.Sprintf("%s %s origin=%s covered=%t alpha=%t beta=%t short=%t",
			err.Type, err.Error(), err.Origin, err.CoveredByDeclarative, err.IsAlpha(), err.IsBeta(), err.ShortCircuit))
	}
	return shown
}

// sightings remember which errors upstream gave, so that a comparison that never meets a rule fails.
type sightings struct{ texts map[string]bool }

func newSightings() sightings { return sightings{texts: map[string]bool{}} }

func (s sightings) add(errs field.ErrorList) {
	for _, err := range errs {
		s.texts[err.Error()] = true
	}
}

func (s sightings) require(t *testing.T, fragments ...string) {
	t.Helper()
next:
	for _, fragment := range fragments {
		for text := range s.texts {
			if strings.Contains(text, fragment) {
				continue next
			}
		}
		t.Errorf("no object brought about %q: the comparison says nothing about it", fragment)
	}
}
