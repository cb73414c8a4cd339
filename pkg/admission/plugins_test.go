// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	pinnaceadmission "github.com/pinnace-io/pinnace/pkg/admission"
	"github.com/pinnace-io/pinnace/pkg/admission/certificateapproval"
	"github.com/pinnace-io/pinnace/pkg/admission/certificatesigning"
	"github.com/pinnace-io/pinnace/pkg/admission/certificatesubjectrestriction"
)

func TestOrderNamesEveryPlugin(t *testing.T) {
	t.Parallel()
	ordered := pinnaceadmission.Order()
	slices.Sort(ordered)
	if diff := cmp.Diff(pinnaceadmission.Plugins().Registered(), ordered); diff != "" {
		t.Errorf("plugins (-registered +ordered):\n%s", diff)
	}
}

// signers allows verbs on signers by "verb name", and fails for those in broken.
func signers(allowed []string, broken ...string) authorizer.UnconditionalAuthorizer {
	return authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		asked := a.GetVerb() + " " + a.GetName()
		if a.GetResource() != "signers" || a.GetAPIGroup() != "certificates.k8s.io" || !a.IsResourceRequest() {
			return authorizer.DecisionDeny, "", errors.New("it is asked about something else")
		}
		if slices.Contains(broken, asked) {
			return authorizer.DecisionNoOpinion, "", errors.New("broken")
		}
		if slices.Contains(allowed, asked) {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})
}

func csr(signer string, change ...func(*certificatesv1.CertificateSigningRequest)) *certificatesv1.CertificateSigningRequest {
	out := &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: certificatesv1.CertificateSigningRequestSpec{SignerName: signer},
	}
	for _, c := range change {
		c(out)
	}
	return out
}

func issued(c *certificatesv1.CertificateSigningRequest) { c.Status.Certificate = []byte("x") }

func failed(c *certificatesv1.CertificateSigningRequest) {
	c.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateFailed}}
}

type attempt struct {
	plugin       admission.ValidationInterface
	operation    admission.Operation
	resource     string
	subresource  string
	object, old  runtime.Object
	allowed, bad []string
	want         string
}

func (a attempt) run(t *testing.T) {
	t.Helper()
	if wants, ok := a.plugin.(initializer.WantsUnconditionalAuthorizer); ok {
		wants.SetUnconditionalAuthorizer(signers(a.allowed, a.bad...))
	}
	if validates, ok := a.plugin.(admission.InitializationValidator); ok {
		if err := validates.ValidateInitialization(); err != nil {
			t.Fatal(err)
		}
	}
	resource := a.resource
	if resource == "" {
		resource = "certificatesigningrequests"
	}
	attributes := admission.NewAttributesRecord(a.object, a.old, certificatesv1.SchemeGroupVersion.WithKind("CertificateSigningRequest"), "", "c",
		certificatesv1.SchemeGroupVersion.WithResource(resource), a.subresource, a.operation, nil, false, &user.DefaultInfo{Name: "ada"})
	got := ""
	if a.plugin.Handles(a.operation) {
		if err := a.plugin.Validate(t.Context(), attributes, nil); err != nil {
			got = err.Error()
		}
	}
	if got != a.want {
		t.Errorf("got %q, want %q", got, a.want)
	}
}

const prefix = `certificatesigningrequests.certificates.k8s.io "c" is forbidden: `

func TestSignerPermissions(t *testing.T) {
	t.Parallel()
	approval := func() admission.ValidationInterface { return certificateapproval.New() }
	signing := func() admission.ValidationInterface { return certificatesigning.New() }
	const noApprove = prefix + `user not permitted to approve requests with signerName "a.io/b"`
	const noSign = prefix + `user not permitted to sign requests with signerName "a.io/b"`
	for name, test := range map[string]attempt{
		"approval without permission":              {plugin: approval(), subresource: "approval", object: csr("a.io/b"), old: csr("a.io/b"), want: noApprove},
		"approval with permission for the signer":  {plugin: approval(), subresource: "approval", object: csr("a.io/b"), old: csr("a.io/b"), allowed: []string{"approve a.io/b"}},
		"approval with permission for the domain":  {plugin: approval(), subresource: "approval", object: csr("a.io/b"), old: csr("a.io/b"), allowed: []string{"approve a.io/*"}},
		"approval with permission for another one": {plugin: approval(), subresource: "approval", object: csr("a.io/c"), old: csr("a.io/b"), allowed: []string{"approve a.io/c", "sign a.io/b"}, want: noApprove},
		"approval when the first question fails":   {plugin: approval(), subresource: "approval", object: csr("a.io/b"), old: csr("a.io/b"), bad: []string{"approve a.io/b"}, allowed: []string{"approve a.io/*"}},
		"approval when no question is answered":    {plugin: approval(), subresource: "approval", object: csr("a.io/b"), old: csr("a.io/b"), bad: []string{"approve a.io/b", "approve a.io/*"}, want: noApprove},
		"approval of an object of another type": {
			plugin: approval(), subresource: "approval", object: csr("a.io/b"), old: &metav1.Status{},
			want: prefix + "expected type CertificateSigningRequest, got: *v1.Status",
		},
		"the approval plugin minds no other endpoint": {plugin: approval(), subresource: "status", object: csr("a.io/b"), old: csr("a.io/b")},
		"the approval plugin minds no other resource": {plugin: approval(), resource: "others", subresource: "approval", object: csr("a.io/b"), old: csr("a.io/b")},

		"a certificate without permission":            {plugin: signing(), subresource: "status", object: csr("a.io/b", issued), old: csr("a.io/b"), want: noSign},
		"a condition without permission":              {plugin: signing(), subresource: "status", object: csr("a.io/b", failed), old: csr("a.io/b"), want: noSign},
		"taking a certificate away needs it as well":  {plugin: signing(), subresource: "status", object: csr("a.io/b"), old: csr("a.io/b", issued), want: noSign},
		"a certificate with permission":               {plugin: signing(), subresource: "status", object: csr("a.io/b", issued), old: csr("a.io/b"), allowed: []string{"sign a.io/b"}},
		"a certificate with permission to approve":    {plugin: signing(), subresource: "status", object: csr("a.io/b", issued), old: csr("a.io/b"), allowed: []string{"approve a.io/b"}, want: noSign},
		"a status that stays as it was needs nothing": {plugin: signing(), subresource: "status", object: csr("a.io/b", issued), old: csr("a.io/b", issued)},
		"the signing plugin minds no other endpoint":  {plugin: signing(), subresource: "approval", object: csr("a.io/b", issued), old: csr("a.io/b")},
		"signing of an object of another type": {
			plugin: signing(), subresource: "status", object: csr("a.io/b"), old: &metav1.Status{},
			want: prefix + "expected type CertificateSigningRequest, got: *v1.Status",
		},
		"signing into an object of another type": {
			plugin: signing(), subresource: "status", object: &metav1.Status{}, old: csr("a.io/b"),
			want: prefix + "expected type CertificateSigningRequest, got: *v1.Status",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.operation = admission.Update
			test.run(t)
		})
	}
}

func TestPluginsNeedAnAuthorizer(t *testing.T) {
	t.Parallel()
	for name, plugin := range map[string]admission.InitializationValidator{"approval": certificateapproval.New(), "signing": certificatesigning.New()} {
		if plugin.ValidateInitialization() == nil {
			t.Errorf("the %s plugin starts without one", name)
		}
	}
}

func TestSubjectRestriction(t *testing.T) {
	t.Parallel()
	masters, devs := request(t, "devs", "system:masters"), request(t, "devs", "system:master")
	with := func(data []byte) func(*certificatesv1.CertificateSigningRequest) {
		return func(c *certificatesv1.CertificateSigningRequest) { c.Spec.Request = data }
	}
	const client = certificatesv1.KubeAPIServerClientSignerName
	for name, test := range map[string]attempt{
		"a client certificate of system:masters": {
			object: csr(client, with(masters)), want: prefix + "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed",
		},
		"a client certificate of another group":       {object: csr(client, with(devs))},
		"another signer may use the group as it will": {object: csr("a.io/b", with(masters))},
		"another resource":                            {resource: "others", object: csr(client, with(masters))},
		"a subresource":                               {subresource: "status", object: csr(client, with(masters))},
		"an update changes nothing of it":             {operation: admission.Update, object: csr(client, with(masters)), old: csr(client)},
		"no request":                                  {object: csr(client, with([]byte("x"))), want: prefix + "failed to parse CSR: PEM block type must be CERTIFICATE REQUEST"},
		"an object of another type":                   {object: &metav1.Status{}, want: prefix + "expected type CertificateSigningRequest, got: *v1.Status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.plugin = certificatesubjectrestriction.New()
			if test.operation == "" {
				test.operation = admission.Create
			}
			test.run(t)
		})
	}
}

func request(t *testing.T, groups ...string) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "ada", Organization: groups}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}
