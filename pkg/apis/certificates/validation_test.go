// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificates_test

import (
	"encoding/pem"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/pinnace-io/pinnace/internal/gen"
	"github.com/pinnace-io/pinnace/pkg/apis/certificates"
)

const usageRule = `supported values: "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", ` +
	`"data encipherment", "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", ` +
	`"ipsec tunnel", "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", ` +
	`"s/mime", "server auth", "signing", "timestamping"`

func TestValidateCertificateSigningRequest(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		csr  *certificatesv1.CertificateSigningRequest
		want []string
	}{
		"a request, a signer and a usage are enough": {csr: gen.CSR("robot")},

		"a name may be anything":            {csr: gen.CSR("CSR_FOR_octo 2026-04-23 16:10:18.32 +0000 UTC m=+120.76")},
		"a name may be of any length":       {csr: gen.CSR(strings.Repeat("n", 5000))},
		"slashes are the registry's matter": {csr: gen.CSR("a/b")},
		"a name prefix may be anything": {csr: gen.CSR("Node CSR_x", func(csr *certificatesv1.CertificateSigningRequest) {
			csr.GenerateName = "Node CSR_"
		})},
		"a name is there": {
			csr: gen.CSR(""), want: []string{`metadata.name: Required value: name or generateName is required`},
		},
		"requests belong to no namespace": {
			csr:  gen.CSR("robot", func(csr *certificatesv1.CertificateSigningRequest) { csr.Namespace = "t" }),
			want: []string{`metadata.namespace: Forbidden: not allowed on this type`},
		},
		"finalizers are qualified": {
			csr:  gen.CSR("robot", func(csr *certificatesv1.CertificateSigningRequest) { csr.Finalizers = []string{"hold"} }),
			want: []string{`metadata.finalizers[0]: Invalid value: "hold": name is neither a standard finalizer name nor is it fully qualified`},
		},

		"the signer is named": {
			csr: gen.CSR("robot", gen.WithSigner("")), want: []string{`spec.signerName: Required value`},
		},
		"the signer's name is qualified": {
			csr: gen.CSR("robot", gen.WithSigner("example.com")),
			want: []string{
				`spec.signerName: Invalid value: "example.com": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
			},
		},
		"the signer of v1beta1 is refused": {
			csr:  gen.CSR("robot", gen.WithSigner("kubernetes.io/legacy-unknown")),
			want: []string{`spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version`},
		},

		"599 seconds are too short":                    {csr: gen.CSR("robot", gen.WithExpirationSeconds(599)), want: []string{tooShort(599)}},
		"600 seconds are enough":                       {csr: gen.CSR("robot", gen.WithExpirationSeconds(600))},
		"no seconds are too short":                     {csr: gen.CSR("robot", gen.WithExpirationSeconds(0)), want: []string{tooShort(0)}},
		"nor may they be negative":                     {csr: gen.CSR("robot", gen.WithExpirationSeconds(-1)), want: []string{tooShort(-1)}},
		"the most that a number holds is not too long": {csr: gen.CSR("robot", gen.WithExpirationSeconds(math.MaxInt32))},

		"all known usages": {csr: gen.CSR("robot", gen.WithUsages(
			"signing", "digital signature", "content commitment", "key encipherment", "key agreement", "data encipherment",
			"cert sign", "crl sign", "encipher only", "decipher only", "any", "server auth", "client auth", "code signing",
			"email protection", "s/mime", "ipsec end system", "ipsec tunnel", "ipsec user", "timestamping", "ocsp signing",
			"microsoft sgc", "netscape sgc"))},
		"no usages": {csr: gen.CSR("robot", gen.WithUsages()), want: []string{`spec.usages: Required value`}},
		"usages are spelled as they are": {
			csr:  gen.CSR("robot", gen.WithUsages("client auth", "Client Auth")),
			want: []string{`spec.usages[1]: Unsupported value: "Client Auth": ` + usageRule},
		},
		"a usage is named once": {
			csr:  gen.CSR("robot", gen.WithUsages("any", "any", "client auth", "any")),
			want: []string{`spec.usages[1]: Duplicate value: "any"`, `spec.usages[3]: Duplicate value: "any"`},
		},
		"unknown usages come before those named twice": {
			csr: gen.CSR("robot", gen.WithUsages("", "")),
			want: []string{
				`spec.usages[0]: Unsupported value: "": ` + usageRule,
				`spec.usages[1]: Unsupported value: "": ` + usageRule,
				`spec.usages[1]: Duplicate value: ""`,
			},
		},

		"all that is wrong is told, in the order of the fields": {
			csr: gen.CSR("", gen.WithRequest([]byte("x")), gen.WithUsages(), gen.WithSigner(""), gen.WithExpirationSeconds(1),
				gen.WithCondition(certificatesv1.CertificateSigningRequestCondition{}), gen.WithCertificate([]byte("x"))),
			want: []string{
				`metadata.name: Required value: name or generateName is required`,
				`spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST`,
				`spec.usages: Required value`,
				`spec.signerName: Required value`,
				tooShort(1),
				`status.conditions[0].type: Required value`,
				`status.conditions[0].status: Required value`,
				`status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block`,
			},
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			before := tt.csr.DeepCopy()

			got := certificates.ValidateCertificateSigningRequest(tt.csr)

			if d := cmp.Diff(tt.want, messages(got)); d != "" {
				t.Errorf("errors (-want +got):\n%s", d)
			}
			if d := cmp.Diff(before, tt.csr); d != "" {
				t.Errorf("validation changed the object:\n%s", d)
			}
		})
	}
}

func tooShort(seconds int32) string {
	return fmt.Sprintf("spec.expirationSeconds: Invalid value: %d: may not specify a duration less than 600 seconds (10 minutes)", seconds)
}

// What a number is is decided while decoding, before any rule of ours.
func TestExpirationSecondsAsJSON(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := certificatesv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(scheme).UniversalDeserializer()

	tests := map[string]struct {
		json string
		// want is the decoded value, nil for none.
		want *int32
		// refused is a part of the decoder's error, "" for none.
		refused string
	}{
		"null is none":                            {json: "null"},
		"the most that fits into 32 bits":         {json: "2147483647", want: new(int32(math.MaxInt32))},
		"one more than that":                      {json: "2147483648", refused: "cannot unmarshal number 2147483648 into Go struct field CertificateSigningRequestSpec.spec.expirationSeconds of type int32"},
		"a number in quotes is text":              {json: `"600"`, refused: "cannot unmarshal string into Go struct field CertificateSigningRequestSpec.spec.expirationSeconds of type int32"},
		"a number with a point is not an integer": {json: "600.0", refused: "cannot unmarshal number 600.0 into"},
		"nor is one with an exponent":             {json: "6e2", refused: "cannot unmarshal number 6e2 into"},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			body := fmt.Sprintf(`{"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "spec": {"expirationSeconds": %s}}`, tt.json)

			obj, _, err := decoder.Decode([]byte(body), nil, nil)

			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Fatalf("error %v, want %s", err, tt.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := obj.(*certificatesv1.CertificateSigningRequest).Spec.ExpirationSeconds
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("expirationSeconds (-want +got):\n%s", d)
			}
		})
	}
}

// endpoint is one of the three ways to change a stored request.
type endpoint string

const (
	mainEndpoint     endpoint = "the main endpoint"
	statusEndpoint   endpoint = "/status"
	approvalEndpoint endpoint = "/approval"
)

func TestValidateCertificateSigningRequestUpdate(t *testing.T) {
	t.Parallel()
	weird := certificatesv1.CertificateSigningRequestCondition{Type: "Weird", Status: "False"}
	untyped := certificatesv1.CertificateSigningRequestCondition{Status: "True"}
	everywhere := []endpoint{mainEndpoint, statusEndpoint, approvalEndpoint}
	removed := func(conditionType string) string {
		return fmt.Sprintf(`status.conditions: Forbidden: updates may not remove a condition of type %q`, conditionType)
	}
	added := func(conditionType string) string {
		return fmt.Sprintf(`status.conditions: Forbidden: updates may not add a condition of type %q`, conditionType)
	}
	exclusive := func(conditionType string) string {
		return fmt.Sprintf(`status.conditions: Invalid value: %q: Approved and Denied conditions are mutually exclusive`, conditionType)
	}

	tests := map[string]struct {
		through  []endpoint
		old, new *certificatesv1.CertificateSigningRequest
		want     []string
	}{
		"nothing changes": {
			through: everywhere, old: gen.CSR("robot", gen.Approved()), new: gen.CSR("robot", gen.Approved()),
		},
		"metadata is checked for what it was, and after everything else": {
			through: everywhere,
			old:     gen.CSR("robot", gen.Denied()),
			new:     gen.CSR("other", func(csr *certificatesv1.CertificateSigningRequest) { csr.Finalizers = []string{"hold"} }),
			want: []string{
				`metadata.finalizers[0]: Invalid value: "hold": name is neither a standard finalizer name nor is it fully qualified`,
				removed("Denied"),
				`metadata.name: Invalid value: "other": field is immutable`,
				`metadata.finalizers[0]: Invalid value: "hold": name is neither a standard finalizer name nor is it fully qualified`,
			},
		},

		"approvers approve": {
			through: []endpoint{approvalEndpoint}, old: gen.CSR("robot"), new: gen.CSR("robot", gen.Approved()),
		},
		"approvers deny": {
			through: []endpoint{approvalEndpoint}, old: gen.CSR("robot"), new: gen.CSR("robot", gen.Denied()),
		},
		"approvers may say that signing failed": {
			through: []endpoint{approvalEndpoint}, old: gen.CSR("robot"), new: gen.CSR("robot", gen.Failed()),
		},
		"approvers may change an approval": {
			through: []endpoint{approvalEndpoint},
			old:     gen.CSR("robot", gen.Approved()),
			new:     gen.CSR("robot", gen.Approved(), because("reviewed")),
		},
		"nobody else approves": {
			through: []endpoint{mainEndpoint, statusEndpoint},
			old:     gen.CSR("robot"), new: gen.CSR("robot", gen.Approved()), want: []string{added("Approved")},
		},
		"nobody else denies": {
			through: []endpoint{mainEndpoint, statusEndpoint},
			old:     gen.CSR("robot"), new: gen.CSR("robot", gen.Denied()), want: []string{added("Denied")},
		},
		"nobody else changes an approval": {
			through: []endpoint{mainEndpoint, statusEndpoint},
			old:     gen.CSR("robot", gen.Approved()),
			new:     gen.CSR("robot", gen.Approved(), because("reviewed")),
			want: []string{`status.conditions: Forbidden: updates may not modify a condition of type "Approved"` + "\n" +
				"@@ -2,7 +2,7 @@\n" +
				"  {\n" +
				"   \"Type\": \"Approved\",\n" +
				"   \"Status\": \"True\",\n" +
				"-  \"Reason\": \"\",\n" +
				"+  \"Reason\": \"reviewed\",\n" +
				"   \"Message\": \"\",\n" +
				"   \"LastUpdateTime\": null,\n" +
				"   \"LastTransitionTime\": null\n"},
		},
		"verdicts stay": {
			through: everywhere,
			old:     gen.CSR("robot", gen.Approved(), gen.Denied(), gen.Failed()),
			new:     gen.CSR("robot"),
			want:    []string{removed("Approved"), removed("Denied"), removed("Failed")},
		},
		"one of two conditions of a type is not dropped": {
			through: everywhere,
			old:     gen.CSR("robot", gen.Failed(), gen.Failed()),
			new:     gen.CSR("robot", gen.Failed()),
			want:    []string{removed("Failed")},
		},
		"a list with another condition drops the approval": {
			through: []endpoint{statusEndpoint, approvalEndpoint},
			old:     gen.CSR("robot", gen.Approved()), new: gen.CSR("robot", gen.Failed()), want: []string{removed("Approved")},
		},
		"an approved request is not denied as well": {
			through: []endpoint{approvalEndpoint},
			old:     gen.CSR("robot", gen.Approved()), new: gen.CSR("robot", gen.Approved(), gen.Denied()), want: []string{exclusive("Denied")},
		},
		"a denied request is not approved as well": {
			through: []endpoint{approvalEndpoint},
			old:     gen.CSR("robot", gen.Denied()), new: gen.CSR("robot", gen.Denied(), gen.Approved()), want: []string{exclusive("Approved")},
		},
		"a denial is not replaced by an approval": {
			through: []endpoint{approvalEndpoint},
			old:     gen.CSR("robot", gen.Denied()), new: gen.CSR("robot", gen.Approved()), want: []string{removed("Denied")},
		},
		"each approval after the opposite one is told": {
			through: []endpoint{approvalEndpoint},
			old:     gen.CSR("robot"),
			new:     gen.CSR("robot", gen.Approved(), gen.Denied(), gen.Approved()),
			want:    []string{exclusive("Denied"), exclusive("Approved"), `status.conditions[2].type: Duplicate value: "Approved"`},
		},
		"a request that is both stays both": {
			through: everywhere,
			old:     gen.CSR("robot", gen.Approved(), gen.Denied()),
			new:     gen.CSR("robot", gen.Approved(), gen.Denied()),
		},

		"conditions without a status": {
			through: []endpoint{approvalEndpoint},
			old:     gen.CSR("robot"),
			new:     gen.CSR("robot", gen.WithCondition(certificatesv1.CertificateSigningRequestCondition{Type: "Approved"})),
			want:    []string{`status.conditions[0].status: Required value`},
		},
		"a verdict is true": {
			through: []endpoint{approvalEndpoint},
			old:     gen.CSR("robot"),
			new: gen.CSR("robot", gen.WithCondition(certificatesv1.CertificateSigningRequestCondition{Type: "Approved", Status: "False"}),
				gen.WithCondition(certificatesv1.CertificateSigningRequestCondition{Type: "Failed", Status: "Unknown"})),
			want: []string{
				`status.conditions[0].status: Unsupported value: "False": supported values: "True"`,
				`status.conditions[1].status: Unsupported value: "Unknown": supported values: "True"`,
			},
		},
		"a verdict is True with a capital": {
			through: []endpoint{approvalEndpoint},
			old:     gen.CSR("robot"),
			new:     gen.CSR("robot", gen.WithCondition(certificatesv1.CertificateSigningRequestCondition{Type: "Denied", Status: "true"})),
			want:    []string{`status.conditions[0].status: Unsupported value: "true": supported values: "True"`},
		},
		"other conditions have three statuses": {
			through: []endpoint{statusEndpoint, approvalEndpoint},
			old:     gen.CSR("robot"),
			new: gen.CSR("robot", gen.WithCondition(weird), gen.WithCondition(certificatesv1.CertificateSigningRequestCondition{Type: "Odd", Status: "Unknown"}),
				gen.WithCondition(certificatesv1.CertificateSigningRequestCondition{Type: "Strange", Status: "maybe"})),
			want: []string{`status.conditions[2].status: Unsupported value: "maybe": supported values: "False", "True", "Unknown"`},
		},
		"other conditions are dropped at will": {
			through: everywhere, old: gen.CSR("robot", gen.WithCondition(weird)), new: gen.CSR("robot"),
		},
		"a condition has a type": {
			through: []endpoint{statusEndpoint, approvalEndpoint},
			old:     gen.CSR("robot"), new: gen.CSR("robot", gen.WithCondition(untyped)),
			want: []string{`status.conditions[0].type: Required value`},
		},
		"a stored condition without a type allows one": {
			through: everywhere,
			old:     gen.CSR("robot", gen.WithCondition(untyped)), new: gen.CSR("robot", gen.WithCondition(weird), gen.WithCondition(untyped)),
		},
		"a type occurs once": {
			through: []endpoint{approvalEndpoint},
			old:     gen.CSR("robot"), new: gen.CSR("robot", gen.Approved(), gen.Approved()),
			want: []string{`status.conditions[1].type: Duplicate value: "Approved"`},
		},
		"a stored type that occurs twice allows more": {
			through: everywhere,
			old:     gen.CSR("robot", gen.WithCondition(weird), gen.WithCondition(weird)),
			new:     gen.CSR("robot", gen.WithCondition(weird), gen.WithCondition(weird), gen.Failed(), gen.Failed()),
		},

		"signers set the certificate": {
			through: []endpoint{statusEndpoint}, old: gen.CSR("robot"), new: gen.CSR("robot", gen.WithCertificate(gen.RobotCertificate())),
		},
		"approval is no condition for a certificate": {
			through: []endpoint{statusEndpoint},
			old:     gen.CSR("robot", gen.Denied()), new: gen.CSR("robot", gen.Denied(), gen.WithCertificate(gen.RobotCertificate())),
		},
		"nobody else sets the certificate": {
			through: []endpoint{mainEndpoint, approvalEndpoint},
			old:     gen.CSR("robot"), new: gen.CSR("robot", gen.WithCertificate(gen.RobotCertificate())),
			want: []string{`status.certificate: Forbidden: updates may not set certificate content`},
		},
		"a certificate is not replaced": {
			through: []endpoint{statusEndpoint},
			old:     gen.CSR("robot", gen.WithCertificate(gen.RobotCertificate())),
			new:     gen.CSR("robot", gen.WithCertificate(gen.RobotAuthority())),
			want:    []string{`status.certificate: Forbidden: updates may not modify existing certificate content`},
		},
		"a certificate is not taken back": {
			through: []endpoint{statusEndpoint},
			old:     gen.CSR("robot", gen.WithCertificate(gen.RobotCertificate())), new: gen.CSR("robot"),
			want: []string{`status.certificate: Forbidden: updates may not modify existing certificate content`},
		},
		"no certificate is an empty one": {
			through: everywhere, old: gen.CSR("robot"), new: gen.CSR("robot", gen.WithCertificate([]byte{})),
		},
		"a stored certificate of no form is left alone": {
			through: everywhere,
			old:     gen.CSR("robot", gen.WithCertificate([]byte("x"))), new: gen.CSR("robot", gen.WithCertificate([]byte("x"))),
		},
		"a stored certificate of no form is not replaced by another one": {
			through: []endpoint{statusEndpoint},
			old:     gen.CSR("robot", gen.WithCertificate([]byte("x"))), new: gen.CSR("robot", gen.WithCertificate([]byte("y"))),
			want: []string{`status.certificate: Forbidden: updates may not modify existing certificate content`},
		},

		"the signer of v1beta1 is kept": {
			through: everywhere,
			old:     gen.CSR("robot", gen.WithSigner("kubernetes.io/legacy-unknown")), new: gen.CSR("robot", gen.WithSigner("kubernetes.io/legacy-unknown")),
		},
		"the signer of v1beta1 is not taken up": {
			through: everywhere,
			old:     gen.CSR("robot"), new: gen.CSR("robot", gen.WithSigner("kubernetes.io/legacy-unknown")),
			want: []string{`spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version`},
		},
		"unknown usages are kept": {
			through: everywhere,
			old:     gen.CSR("robot", gen.WithUsages("flying")), new: gen.CSR("robot", gen.WithUsages("flying", "diving")),
		},
		"unknown usages do not excuse those named twice": {
			through: everywhere,
			old:     gen.CSR("robot", gen.WithUsages("flying")), new: gen.CSR("robot", gen.WithUsages("flying", "flying")),
			want: []string{`spec.usages[1]: Duplicate value: "flying"`},
		},
		"usages named twice are kept": {
			through: everywhere,
			old:     gen.CSR("robot", gen.WithUsages("any", "any")), new: gen.CSR("robot", gen.WithUsages("any", "any", "any")),
		},
		"usages named twice do not excuse unknown ones": {
			through: everywhere,
			old:     gen.CSR("robot", gen.WithUsages("any", "any")), new: gen.CSR("robot", gen.WithUsages("flying")),
			want: []string{`spec.usages[0]: Unsupported value: "flying": ` + usageRule},
		},
		"what can't be a request is refused even where it is stored": {
			through: everywhere,
			old:     gen.CSR("robot", gen.WithRequest([]byte("x"))), new: gen.CSR("robot", gen.WithRequest([]byte("x"))),
			want: []string{`spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST`},
		},
		"so is too short a validity": {
			through: everywhere,
			old:     gen.CSR("robot", gen.WithExpirationSeconds(1)), new: gen.CSR("robot", gen.WithExpirationSeconds(1)),
			want: []string{tooShort(1)},
		},
		"so is a signer without a domain": {
			through: everywhere,
			old:     gen.CSR("robot", gen.WithSigner("a")), new: gen.CSR("robot", gen.WithSigner("a")),
			want: []string{`spec.signerName: Invalid value: "a": must be a fully qualified domain and path of the form 'example.com/signer-name'`},
		},
	}
	for sentence, tt := range tests {
		for _, through := range tt.through {
			t.Run(fmt.Sprintf("%s: %s", through, sentence), func(t *testing.T) {
				t.Parallel()
				oldCSR, newCSR := stored(tt.old), stored(tt.new)
				oldBefore, newBefore := oldCSR.DeepCopy(), newCSR.DeepCopy()

				got := validatorsOf(through).ours(newCSR, oldCSR)

				if d := cmp.Diff(tt.want, messages(got)); d != "" {
					t.Errorf("errors (-want +got):\n%s", d)
				}
				if d := cmp.Diff([]any{oldBefore, newBefore}, []any{oldCSR, newCSR}); d != "" {
					t.Errorf("validation changed an object:\n%s", d)
				}
			})
		}
	}
}

// stored returns a copy of csr with what every stored object has.
func stored(csr *certificatesv1.CertificateSigningRequest) *certificatesv1.CertificateSigningRequest {
	csr = csr.DeepCopy()
	csr.UID, csr.ResourceVersion = "1f0a2a3c", "7"
	return csr
}

// because gives the last condition a reason.
func because(reason string) gen.CSROption {
	return func(csr *certificatesv1.CertificateSigningRequest) {
		csr.Status.Conditions[len(csr.Status.Conditions)-1].Reason = reason
	}
}

func TestValidateCertificate(t *testing.T) {
	t.Parallel()
	leaf := gen.RobotCertificate()
	key := []byte("-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n")

	tests := map[string]struct {
		certificate []byte
		// want is the detail of the error at status.certificate, "" for a certificate that is accepted.
		want string
	}{
		"one certificate":                  {certificate: leaf},
		"text before a certificate":        {certificate: slices.Concat([]byte("text\n"), leaf)},
		"text between and after":           {certificate: slices.Concat(leaf, []byte("text\n"), leaf, []byte("text\n"))},
		"a chain":                          {certificate: slices.Concat(leaf, gen.RobotAuthority())},
		"two certificates in one block":    {certificate: certificateBlock(decode(leaf), decode(gen.RobotAuthority()))},
		"nothing":                          {certificate: nil},
		"a private key after it":           {certificate: slices.Concat(leaf, key), want: `only CERTIFICATE PEM blocks are allowed, found "EC PRIVATE KEY"`},
		"a request":                        {certificate: gen.RobotRequest(), want: `only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"`},
		"another label":                    {certificate: relabel(leaf, "X509 CERTIFICATE"), want: `only CERTIFICATE PEM blocks are allowed, found "X509 CERTIFICATE"`},
		"a header in the block":            {certificate: []byte(strings.Replace(string(leaf), "-\n", "-\nComment: x\n\n", 1)), want: `no PEM block headers are permitted`},
		"text alone":                       {certificate: []byte("text"), want: `must contain at least one CERTIFICATE PEM block`},
		"a block of three zero bytes":      {certificate: certificateBlock([]byte{0, 0, 0}), want: `x509: malformed certificate`},
		"an empty block":                   {certificate: certificateBlock(), want: `found CERTIFICATE PEM block containing 0 certificates`},
		"a certificate that was cut short": {certificate: certificateBlock(decode(leaf)[:100]), want: `x509: malformed certificate`},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			var want []string
			if tt.want != "" {
				want = []string{`status.certificate: Invalid value: "<certificate data>": ` + tt.want}
			}

			got := certificates.ValidateCertificateSigningRequestStatusUpdate(
				stored(gen.CSR("robot", gen.WithCertificate(tt.certificate))), stored(gen.CSR("robot")))

			if d := cmp.Diff(want, messages(got)); d != "" {
				t.Errorf("errors (-want +got):\n%s", d)
			}
		})
	}
}

func TestModifiedApprovalShowsEveryField(t *testing.T) {
	t.Parallel()
	oldCSR := stored(gen.CSR("robot", gen.WithCondition(certificatesv1.CertificateSigningRequestCondition{
		Type: "Denied", Status: "True", Reason: "r1", Message: "m1", LastUpdateTime: moment(1), LastTransitionTime: moment(2),
	})))
	newCSR := stored(gen.CSR("robot", gen.WithCondition(certificatesv1.CertificateSigningRequestCondition{
		Type: "Denied", Status: "True", Reason: "r2", Message: "m2", LastUpdateTime: moment(3), LastTransitionTime: moment(4),
	})))
	want := []string{`status.conditions: Forbidden: updates may not modify a condition of type "Denied"` + "\n" +
		"@@ -2,9 +2,9 @@\n" +
		"  {\n" +
		"   \"Type\": \"Denied\",\n" +
		"   \"Status\": \"True\",\n" +
		"-  \"Reason\": \"r1\",\n" +
		"-  \"Message\": \"m1\",\n" +
		"-  \"LastUpdateTime\": \"2026-01-01T00:00:01Z\",\n" +
		"-  \"LastTransitionTime\": \"2026-01-01T00:00:02Z\"\n" +
		"+  \"Reason\": \"r2\",\n" +
		"+  \"Message\": \"m2\",\n" +
		"+  \"LastUpdateTime\": \"2026-01-01T00:00:03Z\",\n" +
		"+  \"LastTransitionTime\": \"2026-01-01T00:00:04Z\"\n" +
		"  }\n" +
		" ]\n"}

	got := certificates.ValidateCertificateSigningRequestStatusUpdate(newCSR, oldCSR)

	if d := cmp.Diff(want, messages(got)); d != "" {
		t.Errorf("errors (-want +got):\n%s", d)
	}
}

// moment returns a second of 2026.
func moment(second int) metav1.Time {
	return metav1.Date(2026, 1, 1, 0, 0, second, 0, time.UTC)
}

// certificateBlock returns one PEM block CERTIFICATE that holds the given DER one after another.
func certificateBlock(der ...[]byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: slices.Concat(der...)})
}

func relabel(data []byte, label string) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: label, Bytes: decode(data)})
}
