// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/base64"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"

	"github.com/pinnace-io/pinnace/internal/gen"
	"github.com/pinnace-io/pinnace/pkg/envtest"
)

// etcdVariable names the etcd of the server in kubeconfigVariable, for tests that store what no request could.
const etcdVariable = "PINNACE_TEST_ETCD"

// serverOverEtcd returns a server and its etcd.
func serverOverEtcd(t *testing.T) (*rest.Config, *clientv3.Client) {
	t.Helper()
	if shared.foreign {
		endpoint := os.Getenv(etcdVariable)
		if endpoint == "" {
			t.Skipf("THIS TEST DID NOT RUN: %s is set, and %s does not name the etcd of that server", kubeconfigVariable, etcdVariable)
		}
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		return shared.config, client
	}
	etcd := startEtcd(t)
	environment := &envtest.Environment{Args: []string{"--etcd-servers=" + etcd.Endpoints()[0]}}
	config, err := environment.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return config, etcd
}

// Objects that today's rules refuse, because they were stored under older ones: some faults are tolerated as long as
// they are in the stored object, others stop every update.
func TestCSRRatcheting(t *testing.T) {
	t.Parallel()
	config, etcd := serverOverEtcd(t)
	moment := metav1.NewTime(time.Date(2001, time.February, 3, 4, 5, 6, 0, time.UTC))
	conditions := func(forms ...string) gen.CSROption {
		return func(csr *certificatesv1.CertificateSigningRequest) {
			for _, form := range forms {
				kind, status, _ := strings.Cut(form, "=")
				csr.Status.Conditions = append(csr.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
					Type: certificatesv1.RequestConditionType(kind), Status: corev1.ConditionStatus(status),
					LastUpdateTime: moment, LastTransitionTime: moment,
				})
			}
		}
	}
	const added = `status.conditions: Forbidden: updates may not add a condition of type "Approved"`

	tests := map[string]struct {
		stored gen.CSROption
		// label are the errors of an update that changes a label, through any endpoint; none when the fault is tolerated.
		label []string
		// change is a merge patch of /approval or /status that touches the faulty part, and refused are its errors.
		endpoint string
		change   map[string]any
		refused  []string
	}{
		"the legacy signer":                         {stored: gen.WithSigner("kubernetes.io/legacy-unknown")},
		"an unknown usage":                          {stored: gen.WithUsages("frob")},
		"a usage twice":                             {stored: gen.WithUsages("any", "any")},
		"an unknown usage, twice, and an empty one": {stored: gen.WithUsages("x", "x", "")},
		"no usages":                                 {stored: gen.WithUsages(), label: []string{"spec.usages: Required value"}},
		"no signer":                                 {stored: gen.WithSigner(""), label: []string{"spec.signerName: Required value"}},
		"a signer that is none": {
			stored: gen.WithSigner("robot"),
			label:  []string{"spec.signerName: Invalid value: \"robot\": must be a fully qualified domain and path of the form 'example.com/signer-name'"},
		},
		"too short a duration": {
			stored: gen.WithExpirationSeconds(1),
			label:  []string{"spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 600 seconds (10 minutes)"},
		},
		"a request that is none": {
			stored: gen.WithRequest([]byte("text")),
			label:  []string{`spec.request: Invalid value: "` + base64.StdEncoding.EncodeToString([]byte("text")) + `": PEM block type must be CERTIFICATE REQUEST`},
		},
		"an unknown usage is only tolerated beside what is right": {
			stored: func(csr *certificatesv1.CertificateSigningRequest) {
				gen.WithUsages("frob")(csr)
				gen.WithExpirationSeconds(1)(csr)
			},
			label: []string{"spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 600 seconds (10 minutes)"},
		},
		"approved and denied": {
			stored: conditions("Approved=True", "Denied=True"), endpoint: "approval", change: withConditions(condition("Approved", "reason", "x"), condition("Denied")),
		},
		"approved and denied, one removed": {
			stored: conditions("Approved=True", "Denied=True"), endpoint: "approval", change: withConditions(condition("Approved")),
			refused: []string{`status.conditions: Forbidden: updates may not remove a condition of type "Denied"`},
		},
		"a type twice": {
			stored: conditions("Weird=True", "Weird=False"), endpoint: "status", change: withConditions(condition("Weird"), condition("Weird"), condition("Weird=False")),
		},
		"a type twice, and approval through status": {
			stored: conditions("Weird=True", "Weird=False"), endpoint: "status", change: withConditions(condition("Weird"), condition("Weird"), condition("Approved")),
			refused: []string{added},
		},
		"an empty type": {
			stored: conditions("=True"), endpoint: "approval", change: withConditions(condition(""), condition("Approved")),
		},
		"an empty type, and another of them": {
			stored: conditions("=True"), endpoint: "approval", change: withConditions(condition(""), condition("")),
			refused: []string{`status.conditions[1].type: Duplicate value: ""`},
		},
		"no status": {stored: conditions("Weird="), label: []string{"status.conditions[0].status: Required value"}},
		"a status that is none": {
			stored: conditions("Weird=Maybe"),
			label:  []string{`status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`},
		},
		"an approval that is False": {
			stored: conditions("Approved=False"), label: []string{`status.conditions[0].status: Unsupported value: "False": supported values: "True"`},
		},
		"a certificate that is none": {
			stored: gen.WithCertificate([]byte("text")), endpoint: "status", change: withCertificate([]byte("other text")),
			refused: []string{"status.certificate: Forbidden: updates may not modify existing certificate content"},
		},
		"a certificate that is none, replaced by one": {
			stored: gen.WithCertificate([]byte("text")), endpoint: "status", change: withCertificate(gen.RobotCertificate()),
			refused: []string{"status.certificate: Forbidden: updates may not modify existing certificate content"},
		},
	}
	for about, test := range tests {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			csr := gen.CSR(unique("csr"), test.stored)
			storeCSR(t, etcd, csr)
			for endpoint, subresource := range endpoints {
				a := send(t, call{
					config: config, method: http.MethodPatch, path: csrPath(csr.Name, subresource...), contentType: mergePatch,
					body: withLabel("label", strings.ReplaceAll(endpoint, " ", "-")),
				})
				if test.label != nil {
					checkInvalid(t, a, csr.Name, test.label...)
				} else if a.code != http.StatusOK {
					t.Errorf("a label through %s: got %d: %s", endpoint, a.code, a.raw)
				}
			}
			if test.change == nil {
				return
			}
			a := send(t, call{
				config: config, method: http.MethodPatch, path: csrPath(csr.Name, test.endpoint), contentType: mergePatch, body: test.change,
			})
			if test.refused != nil {
				checkInvalid(t, a, csr.Name, test.refused...)
			} else if a.code != http.StatusOK {
				t.Errorf("a change through %s: got %d: %s", test.endpoint, a.code, a.raw)
			}
		})
	}

	// /status fills in the times, which then is a change of the approval, until /approval has filled them in.
	t.Run("an approval without times", func(t *testing.T) {
		t.Parallel()
		csr := gen.CSR(unique("csr"), gen.Approved())
		storeCSR(t, etcd, csr)
		label := func(value string, subresource ...string) answer {
			return send(t, call{
				config: config, method: http.MethodPatch, path: csrPath(csr.Name, subresource...), contentType: mergePatch, body: withLabel("a", value),
			})
		}
		if a := label("1"); a.code != http.StatusOK {
			t.Errorf("a label: got %d: %s", a.code, a.raw)
		}
		a := label("2", "status")
		a.object["message"] = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`).ReplaceAllString(a.message(), "TIME")
		checkRefused(t, a, csr.Name, refusal{
			Code: http.StatusUnprocessableEntity, Reason: "Invalid",
			Message: `CertificateSigningRequest.certificates.k8s.io "$NAME" is invalid: status.conditions: Forbidden: ` +
				"updates may not modify a condition of type \"Approved\"\n@@ -4,7 +4,7 @@\n   \"Status\": \"True\",\n   \"Reason\": \"\",\n   \"Message\": \"\",\n" +
				"-  \"LastUpdateTime\": null,\n-  \"LastTransitionTime\": null\n+  \"LastUpdateTime\": \"TIME\",\n+  \"LastTransitionTime\": \"TIME\"\n  }\n ]\n",
		})
		if a := label("3", "approval"); a.code != http.StatusOK {
			t.Errorf("a label through approval: got %d: %s", a.code, a.raw)
		}
		if a := label("4", "status"); a.code != http.StatusOK || a.text("metadata.labels.a") != "4" {
			t.Errorf("a label through status at last: got %d: %s", a.code, a.raw)
		}
	})
}

// storeCSR puts an object into etcd as a server stores it, and removes it when the test ends.
func storeCSR(t *testing.T, etcd *clientv3.Client, csr *certificatesv1.CertificateSigningRequest) {
	t.Helper()
	csr.UID, csr.CreationTimestamp = uuid.NewUUID(), metav1.Now()
	key := "/registry/certificatesigningrequests/" + csr.Name
	if _, err := etcd.Put(t.Context(), key, string(csrProtobuf(t, csr))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := etcd.Delete(context.WithoutCancel(t.Context()), key); err != nil {
			t.Error(err)
		}
	})
}
