// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificatesigningrequest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	upstream "k8s.io/kubernetes/pkg/apis/certificates"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install" // registers conversions and declared rules
	upstreamregistry "k8s.io/kubernetes/pkg/registry/certificates/certificates"

	"github.com/pinnace-io/pinnace/internal/gen"
)

// rounds is how many random updates an endpoint is compared on; creation, which is quicker, has twice as many objects.
const rounds = 600

// Upstream reads the clock of the bubble, which stands still at now.
func TestCreationIsUpstreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		requireBubbleAt(t, now())
		ours := newEndpoint(t, "")
		seen := newSightings()
		random := rand.New(rand.NewPCG(1, 1)) // a fixed seed: every run sees the same objects

		for i := range 2 * rounds {
			sent := gen.RandomCSR(random)
			ctx := requestContext(t.Context(), "", randomUser(random))

			their, our := internal(t, sent), sent.DeepCopy()
			theirErr := rest.BeforeCreate(upstreamregistry.Strategy, ctx, their)
			ourErr := rest.BeforeCreate(ours, ctx, our)
			seen.add(theirErr)
			compare(t, i, outcome{external(t, their), theirErr}, outcome{our, ourErr})

			their, our = internal(t, sent), sent.DeepCopy()
			upstreamregistry.Strategy.PrepareForCreate(ctx, their)
			ours.PrepareForCreate(ctx, our)
			compareErrors(t, i, rest.ValidateCreate(ctx, their, upstreamregistry.Strategy), rest.ValidateCreate(ctx, our, ours))
		}
		seen.require(t, noError, "Required value: name or generateName", "may not contain '/'", "may not contain '%'", "may not be '.'",
			"spec.request: Invalid value", "ECDSA verification failure", "legacy signerName", "spec.usages: Required value", "Duplicate value",
			"spec.expirationSeconds: Invalid value", "metadata.labels: Invalid value", "metadata.ownerReferences[0]")
	})
}

func TestUpdatesAreUpstreams(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		theirs rest.RESTUpdateStrategy
		seed   uint64
		want   []string
	}{
		"": {
			theirs: upstreamregistry.Strategy, seed: 2,
			want: []string{"field is immutable", "spec.request: Invalid value", "fully qualified domain", "must be specified for an update", "may not contain '/'"},
		},
		"status": {
			theirs: upstreamregistry.StatusStrategy, seed: 3,
			want: []string{
				`may not add a condition of type "Approved"`, `may not add a condition of type "Denied"`,
				`may not remove a condition of type "Approved"`, `may not remove a condition of type "Failed"`,
				"may not modify existing certificate content", "at least one CERTIFICATE PEM block", "must specify at most one of",
				"type: Required value", "status: Unsupported value", "type: Duplicate value",
			},
		},
		"approval": {
			theirs: upstreamregistry.ApprovalStrategy, seed: 4,
			want: []string{
				`may not remove a condition of type "Denied"`, "must specify at most one of",
				"type: Required value", "status: Required value", "status: Unsupported value", "type: Duplicate value",
			},
		},
	}
	for subresource, tt := range tests {
		t.Run("subresource "+subresource, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				requireBubbleAt(t, now())
				ours := newEndpoint(t, subresource)
				seen := newSightings()
				random := rand.New(rand.NewPCG(tt.seed, 1)) // a fixed seed: every run sees the same updates

				for i := range rounds {
					oldCSR := gen.RandomCSR(random)
					sent := gen.RandomCSRUpdate(random, oldCSR)
					ctx := requestContext(t.Context(), subresource, randomUser(random))

					their, our := internal(t, sent), sent.DeepCopy()
					theirErr := rest.BeforeUpdate(tt.theirs, ctx, their, internal(t, oldCSR))
					ourErr := rest.BeforeUpdate(ours, ctx, our, oldCSR.DeepCopy())
					seen.add(theirErr)
					compare(t, i, outcome{external(t, their), theirErr}, outcome{our, ourErr})

					their, our = internal(t, sent), sent.DeepCopy()
					theirOld, ourOld := internal(t, oldCSR), oldCSR.DeepCopy()
					tt.theirs.PrepareForUpdate(ctx, their, theirOld)
					ours.PrepareForUpdate(ctx, our, ourOld)
					compareErrors(t, i, rest.ValidateUpdate(ctx, their, theirOld, tt.theirs), rest.ValidateUpdate(ctx, our, ourOld, ours))
					if d := cmp.Diff(oldCSR, ourOld); d != "" {
						t.Fatalf("update %d changed the stored object:\n%s", i, d)
					}
				}
				seen.require(t, append(tt.want, noError)...)
			})
		})
	}
}

// outcome is what a request comes to: the object that would be stored, or the error that is answered.
type outcome struct {
	csr *certificatesv1.CertificateSigningRequest
	err error
}

// compare ends the test if the outcomes differ in anything that is stored or answered.
func compare(t *testing.T, round int, theirs, ours outcome) {
	t.Helper()
	if d := cmp.Diff(theirs.csr, ours.csr); d != "" {
		t.Fatalf("object of round %d (-upstream +ours):\n%s", round, d)
	}
	if d := cmp.Diff(answer(theirs.err), answer(ours.err)); d != "" {
		t.Fatalf("answer of round %d (-upstream +ours):\n%s", round, d)
	}
}

// answer is the status that a client is sent for err, nil for none.
func answer(err error) *metav1.Status {
	if err == nil {
		return nil
	}
	var withStatus apierrors.APIStatus
	if errors.As(err, &withStatus) {
		status := withStatus.Status()
		return &status
	}
	return &metav1.Status{Message: err.Error()}
}

// compareErrors ends the test if the lists differ in length, order, text or any mark.
func compareErrors(t *testing.T, round int, theirs, ours field.ErrorList) {
	t.Helper()
	lines := func(errs field.ErrorList) []string {
		var shown []string
		for _, err := range errs {
			shown = append(shown, fmt.Sprintf("%s %s origin=%s covered=%t written=%t alpha=%t beta=%t",
				err.Type, err.Error(), err.Origin, err.CoveredByDeclarative, err.FromImperative, err.IsAlpha(), err.IsBeta()))
		}
		return shown
	}
	if d := cmp.Diff(lines(theirs), lines(ours)); d != "" {
		t.Fatalf("errors of round %d (-upstream +ours):\n%s", round, d)
	}
}

func randomUser(random *rand.Rand) user.Info {
	users := []user.Info{
		nil,
		&user.DefaultInfo{},
		&user.DefaultInfo{Name: "alice", UID: "77", Groups: []string{"devs"}, Extra: map[string][]string{"scopes": {"view", "edit"}, "none": nil, "empty": {}}},
		&user.DefaultInfo{Name: "bob", Groups: []string{}, Extra: map[string][]string{}},
	}
	return users[random.IntN(len(users))]
}

// requireBubbleAt ends the test unless the clock stands where the strategies' does.
func requireBubbleAt(t *testing.T, moment time.Time) {
	t.Helper()
	if !time.Now().Equal(moment) {
		t.Fatalf("the bubble's time is %s, want %s", time.Now(), moment)
	}
}

// internal returns a copy of csr as kube-apiserver holds it.
func internal(t *testing.T, csr *certificatesv1.CertificateSigningRequest) *upstream.CertificateSigningRequest {
	t.Helper()
	converted := &upstream.CertificateSigningRequest{}
	if err := legacyscheme.Scheme.Convert(csr.DeepCopy(), converted, nil); err != nil {
		t.Fatal(err)
	}
	return converted
}

// external returns csr as kube-apiserver answers it.
func external(t *testing.T, csr *upstream.CertificateSigningRequest) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	converted := &certificatesv1.CertificateSigningRequest{}
	if err := legacyscheme.Scheme.Convert(csr, converted, nil); err != nil {
		t.Fatal(err)
	}
	return converted
}

// noError is the sighting of a request that is accepted.
const noError = "accepted"

// sightings remember what upstream answered, so that a comparison that never meets a rule fails.
type sightings struct{ texts map[string]bool }

func newSightings() sightings { return sightings{texts: map[string]bool{}} }

func (s sightings) add(err error) {
	if err == nil {
		s.texts[noError] = true
		return
	}
	s.texts[err.Error()] = true
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
		t.Errorf("upstream never answered %q: the comparison says nothing about it", fragment)
	}
}
