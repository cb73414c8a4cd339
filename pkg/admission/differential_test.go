// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/kubernetes/pkg/apis/certificates"
	upstreamv1 "k8s.io/kubernetes/pkg/apis/certificates/v1"
	"k8s.io/kubernetes/plugin/pkg/admission/certificates/approval"
	"k8s.io/kubernetes/plugin/pkg/admission/certificates/signing"
	"k8s.io/kubernetes/plugin/pkg/admission/certificates/subjectrestriction"

	"github.com/pinnace-io/pinnace/pkg/admission/certificateapproval"
	"github.com/pinnace-io/pinnace/pkg/admission/certificatesigning"
	"github.com/pinnace-io/pinnace/pkg/admission/certificatesubjectrestriction"
)

// pair is a plugin of upstream and ours.
type pair struct{ theirs, ours admission.ValidationInterface }

func pairs() map[string]pair {
	return map[string]pair{
		certificateapproval.PluginName:           {approval.NewPlugin(), certificateapproval.New()},
		certificatesigning.PluginName:            {signing.NewPlugin(), certificatesigning.New()},
		certificatesubjectrestriction.PluginName: {subjectrestriction.NewPlugin(), certificatesubjectrestriction.New()},
	}
}

// requests are objects that the plugins tell apart.
func requests(t *testing.T) map[string]*certificatesv1.CertificateSigningRequest {
	t.Helper()
	masters, devs := request(t, "devs", "system:masters"), request(t, "devs")
	status := func(change func(*certificatesv1.CertificateSigningRequestStatus)) func(*certificatesv1.CertificateSigningRequest) {
		return func(c *certificatesv1.CertificateSigningRequest) { change(&c.Status) }
	}
	carrying := func(data []byte) func(*certificatesv1.CertificateSigningRequest) {
		return func(c *certificatesv1.CertificateSigningRequest) { c.Spec.Request = data }
	}
	const client = certificatesv1.KubeAPIServerClientSignerName
	return map[string]*certificatesv1.CertificateSigningRequest{
		"plain":             csr("a.io/b"),
		"deeper":            csr("a.io/b/c"),
		"no slash":          csr("a"),
		"no signer":         csr(""),
		"certificate":       csr("a.io/b", issued),
		"empty certificate": csr("a.io/b", status(func(s *certificatesv1.CertificateSigningRequestStatus) { s.Certificate = []byte{} })),
		"condition":         csr("a.io/b", failed),
		"empty conditions": csr("a.io/b", status(func(s *certificatesv1.CertificateSigningRequestStatus) {
			s.Conditions = []certificatesv1.CertificateSigningRequestCondition{}
		})),
		"masters":            csr(client, carrying(masters)),
		"masters, elsewhere": csr("a.io/b", carrying(masters)),
		"devs":               csr(client, carrying(devs)),
		"nothing":            csr(client),
		"no request":         csr(client, carrying([]byte("x"))),
		"wrong block":        csr(client, carrying([]byte("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"))),
		"no DER":             csr(client, carrying([]byte("-----BEGIN CERTIFICATE REQUEST-----\nAA==\n-----END CERTIFICATE REQUEST-----\n"))),
	}
}

func internal(t *testing.T, c *certificatesv1.CertificateSigningRequest) runtime.Object {
	t.Helper()
	out := &certificates.CertificateSigningRequest{}
	if err := upstreamv1.Convert_v1_CertificateSigningRequest_To_certificates_CertificateSigningRequest(c.DeepCopy(), out, nil); err != nil {
		t.Fatal(err)
	}
	return out
}

// target is where a request goes, with what its user may.
type target struct {
	resource    schema.GroupVersionResource
	subresource string
	operation   admission.Operation
	allowed     []string
}

func targets() []target {
	csrs, namespaces := certificatesv1.SchemeGroupVersion.WithResource("certificatesigningrequests"), corev1.SchemeGroupVersion.WithResource("namespaces")
	var out []target
	for _, resource := range []schema.GroupVersionResource{csrs, namespaces} {
		for _, subresource := range []string{"", "approval", "status"} {
			for _, operation := range []admission.Operation{admission.Create, admission.Update, admission.Delete} {
				for _, allowed := range [][]string{nil, {"approve a.io/b"}, {"sign a.io/b"}, {"approve a.io/*", "sign a.io/*"}, {"approve */*", "sign *"}, {"approve a/*", "sign /*"}} {
					out = append(out, target{resource, subresource, operation, allowed})
				}
			}
		}
	}
	return out
}

func (to target) ask(t *testing.T, plugin admission.ValidationInterface, object, old runtime.Object) string {
	t.Helper()
	if wants, ok := plugin.(initializer.WantsUnconditionalAuthorizer); ok {
		wants.SetUnconditionalAuthorizer(signers(to.allowed))
	}
	if !plugin.Handles(to.operation) {
		return "not asked"
	}
	attributes := admission.NewAttributesRecord(object, old, certificatesv1.SchemeGroupVersion.WithKind("CertificateSigningRequest"), "", "c",
		to.resource, to.subresource, to.operation, &metav1.UpdateOptions{}, false, &user.DefaultInfo{Name: "ada"})
	if err := plugin.Validate(t.Context(), attributes, nil); err != nil {
		return err.Error()
	}
	return ""
}

// TestPluginsDecideAsUpstream asks both about every change of every object into every other, everywhere.
func TestPluginsDecideAsUpstream(t *testing.T) {
	t.Parallel()
	objects := requests(t)
	for plugin, both := range pairs() {
		t.Run(plugin, func(t *testing.T) {
			t.Parallel()
			refused := 0
			for before, old := range objects {
				for after, object := range objects {
					for _, to := range targets() {
						want := to.ask(t, both.theirs, internal(t, object), internal(t, old))
						if got := to.ask(t, both.ours, object, old); got != want {
							t.Errorf("%q to %q, %+v: got %q, want %q", before, after, to, got, want)
						}
						if want != "" && want != "not asked" {
							refused++
						}
					}
				}
			}
			if refused == 0 {
				t.Error("nothing is refused: the test has lost its point")
			}
		})
	}
}
