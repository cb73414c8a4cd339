// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificatesigningrequest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/pinnace-io/pinnace/internal/gen"
	"github.com/pinnace-io/pinnace/pkg/registry/certificates/certificatesigningrequest"
)

func TestCreateRequestor(t *testing.T) {
	t.Parallel()
	byMallory := func(csr *certificatesv1.CertificateSigningRequest) {
		csr.Spec.Username, csr.Spec.UID, csr.Spec.Groups = "mallory", "666", []string{"system:masters"}
		csr.Spec.Extra = map[string]certificatesv1.ExtraValue{"scopes": {"all"}}
	}

	tests := map[string]struct {
		requestor user.Info
		sent      *certificatesv1.CertificateSigningRequest
		want      certificatesv1.CertificateSigningRequestSpec
	}{
		"the request's user is written": {
			requestor: &user.DefaultInfo{
				Name: "alice", UID: "77", Groups: []string{"devs", "system:authenticated"}, Extra: map[string][]string{"scopes": {"view"}},
			},
			sent: gen.CSR("robot"),
			want: certificatesv1.CertificateSigningRequestSpec{
				Username: "alice", UID: "77", Groups: []string{"devs", "system:authenticated"},
				Extra: map[string]certificatesv1.ExtraValue{"scopes": {"view"}},
			},
		},
		"body names another user: the request's user wins": {
			requestor: &user.DefaultInfo{
				Name: "alice", UID: "42", Groups: []string{"devs", "ops", "system:authenticated"}, Extra: map[string][]string{"acme.com/project": {"p1"}},
			},
			sent: gen.CSR("robot", byMallory),
			want: certificatesv1.CertificateSigningRequestSpec{
				Username: "alice", UID: "42", Groups: []string{"devs", "ops", "system:authenticated"},
				Extra: map[string]certificatesv1.ExtraValue{"acme.com/project": {"p1"}},
			},
		},
		"what the user lacks is not taken from the body": {
			requestor: &user.DefaultInfo{Name: "alice"},
			sent:      gen.CSR("robot", byMallory),
			want:      certificatesv1.CertificateSigningRequestSpec{Username: "alice"},
		},
		"extra without entries is none": {
			requestor: &user.DefaultInfo{Name: "alice", Groups: []string{}, Extra: map[string][]string{}},
			sent:      gen.CSR("robot"),
			want:      certificatesv1.CertificateSigningRequestSpec{Username: "alice", Groups: []string{}},
		},
		"without a user nobody asks": {
			sent: gen.CSR("robot", byMallory),
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			want := tt.want
			want.Request, want.SignerName, want.Usages = gen.RobotRequest(), "example.com/robot", []certificatesv1.KeyUsage{"client auth"}

			created := tt.sent.DeepCopy()
			rest.FillObjectMetaSystemFields(created)
			if err := rest.BeforeCreate(newEndpoint(t, ""), requestContext(t.Context(), "", tt.requestor), created); err != nil {
				t.Fatal(err)
			}

			if d := cmp.Diff(want, created.Spec); d != "" {
				t.Errorf("spec (-want +got):\n%s", d)
			}
		})
	}
}

func TestCreateKeepsNoMemoryOfTheUser(t *testing.T) {
	t.Parallel()
	requestor := &user.DefaultInfo{Name: "alice", Groups: []string{"devs"}, Extra: map[string][]string{"scopes": {"view"}}}
	csr := gen.CSR("robot")

	certificatesigningrequest.NewStrategy().PrepareForCreate(requestContext(t.Context(), "", requestor), csr)
	csr.Spec.Groups[0], csr.Spec.Extra["scopes"][0] = "changed", "changed"

	want := &user.DefaultInfo{Name: "alice", Groups: []string{"devs"}, Extra: map[string][]string{"scopes": {"view"}}}
	if d := cmp.Diff(want, requestor); d != "" {
		t.Errorf("whoever changes the object changes the user (-before +after):\n%s", d)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	withText := slices.Concat([]byte("Comment: text before\n"), gen.RobotRequest(), gen.RobotRequest(), []byte("text after"))

	tests := map[string]struct {
		sent *certificatesv1.CertificateSigningRequest
		want []string
	}{
		"a valid request":           {sent: gen.CSR("robot")},
		"a name of many characters": {sent: gen.CSR("CSR_FOR_octo 2026-04-23 16:10:18.32 +0000 UTC m=+120.76")},
		"capitals and a space":      {sent: gen.CSR("UPPER CASE")},
		"other letters":             {sent: gen.CSR("é")},
		"marks of a URL":            {sent: gen.CSR("a?b#c")},
		"254 bytes":                 {sent: gen.CSR(strings.Repeat("n", 254))},
		"5000 bytes":                {sent: gen.CSR(strings.Repeat("n", 5000))},
		"a slash in the name": {
			sent: gen.CSR("a/b"), want: []string{`metadata.name: Invalid value: "a/b": may not contain '/'`},
		},
		"a percent sign in the name": {
			sent: gen.CSR("a%b"), want: []string{`metadata.name: Invalid value: "a%b": may not contain '%'`},
		},
		"this folder": {sent: gen.CSR("."), want: []string{`metadata.name: Invalid value: ".": may not be '.'`}},
		"the folder above": {
			sent: gen.CSR(".."), want: []string{`metadata.name: Invalid value: "..": may not be '..'`},
		},
		"names are looked at when all else is right": {
			sent: gen.CSR("a/b", gen.WithSigner("")), want: []string{`spec.signerName: Required value`},
		},
		"text around the request": {sent: gen.CSR("robot", gen.WithRequest(withText))},
		"a signature that does not verify": {
			sent: gen.CSR("robot", gen.WithRequest([]byte("x"))),
			want: []string{`spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST`},
		},
		"a status that would be refused anywhere else is not looked at": {
			sent: gen.CSR("robot", gen.Approved(), gen.Denied(), gen.WithCertificate([]byte("x"))),
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			created := tt.sent.DeepCopy()
			rest.FillObjectMetaSystemFields(created)

			err := rest.BeforeCreate(newEndpoint(t, ""), requestContext(t.Context(), "", &user.DefaultInfo{Name: "alice"}), created)

			if d := cmp.Diff(tt.want, causes(t, err)); d != "" {
				t.Errorf("errors (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.sent.Spec.Request, created.Spec.Request); d != "" {
				t.Errorf("the request isn't kept byte for byte (-sent +got):\n%s", d)
			}
			empty := certificatesv1.CertificateSigningRequestStatus{Conditions: []certificatesv1.CertificateSigningRequestCondition{}}
			if d := cmp.Diff(empty, created.Status); d != "" {
				t.Errorf("status (-want +got):\n%s", d)
			}
		})
	}
}

func TestCreateWithGeneratedName(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, "")
	csr := gen.CSR("")
	csr.GenerateName = "Node CSR_"
	csr.Name = e.GenerateName(csr.GenerateName)
	rest.FillObjectMetaSystemFields(csr)

	if err := rest.BeforeCreate(e, requestContext(t.Context(), "", nil), csr); err != nil {
		t.Fatal(err)
	}
	if suffix, ok := strings.CutPrefix(csr.Name, "Node CSR_"); !ok || len(suffix) != 5 {
		t.Errorf("name %q, want Node CSR_ and five characters", csr.Name)
	}
}

func TestUpdateThroughMainEndpoint(t *testing.T) {
	t.Parallel()
	labelled := func(csr *certificatesv1.CertificateSigningRequest) { csr.Labels = map[string]string{"app": "x"} }

	tests := map[string]struct {
		old, sent, want *certificatesv1.CertificateSigningRequest
	}{
		"a label is stored": {
			old: gen.CSR("robot"), sent: gen.CSR("robot", labelled), want: gen.CSR("robot", labelled),
		},
		"another spec is dropped": {
			old: gen.CSR("robot"),
			sent: gen.CSR("robot", labelled, gen.WithUsages("any"), gen.WithSigner("example.com/other"), gen.WithRequest([]byte("x")), gen.WithExpirationSeconds(1),
				func(csr *certificatesv1.CertificateSigningRequest) {
					csr.Spec.Username, csr.Spec.Groups = "mallory", []string{"system:masters"}
				}),
			want: gen.CSR("robot", labelled),
		},
		"an approval and a certificate are dropped": {
			old:  gen.CSR("robot"),
			sent: gen.CSR("robot", gen.Approved(), gen.WithCertificate(gen.RobotCertificate())),
			want: gen.CSR("robot"),
		},
		"a status that is left out stays": {
			old:  gen.CSR("robot", gen.Approved(), gen.WithCertificate(gen.RobotCertificate())),
			sent: gen.CSR("robot", labelled),
			want: gen.CSR("robot", labelled, gen.Approved(), gen.WithCertificate(gen.RobotCertificate())),
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			oldCSR, updated := stored(tt.old), stored(tt.sent)

			if err := rest.BeforeUpdate(newEndpoint(t, ""), requestContext(t.Context(), "", nil), updated, oldCSR); err != nil {
				t.Fatal(err)
			}

			if d := cmp.Diff(stored(tt.want), updated); d != "" {
				t.Errorf("object (-want +got):\n%s", d)
			}
			if d := cmp.Diff(stored(tt.old), oldCSR); d != "" {
				t.Errorf("the stored object was changed:\n%s", d)
			}
		})
	}
}

func TestEndpointsShareDecisions(t *testing.T) {
	t.Parallel()
	for _, subresource := range []string{"", "status", "approval"} {
		t.Run("subresource "+subresource, func(t *testing.T) {
			t.Parallel()
			e := newEndpoint(t, subresource)
			if e.AllowCreateOnUpdate(t.Context()) {
				t.Error("a PUT creates")
			}
			if !e.AllowUnconditionalUpdate(t.Context()) {
				t.Error("a PUT needs a resourceVersion")
			}
			csr := gen.CSR("robot")
			if warnings := append(e.WarningsOnCreate(t.Context(), csr), e.WarningsOnUpdate(t.Context(), csr, csr)...); warnings != nil {
				t.Errorf("warnings %q, want none", warnings)
			}
			e.Canonicalize(csr)
			if d := cmp.Diff(gen.CSR("robot"), csr); d != "" {
				t.Errorf("there is no canonical form, but:\n%s", d)
			}
		})
	}
}

// stored returns a copy of csr with what every stored object has.
func stored(csr *certificatesv1.CertificateSigningRequest) *certificatesv1.CertificateSigningRequest {
	csr = csr.DeepCopy()
	csr.UID, csr.ResourceVersion = "1f0a2a3c", "7"
	csr.CreationTimestamp = metav1.NewTime(now().AddDate(0, 0, -1))
	return csr
}
