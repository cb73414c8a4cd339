// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/internal/gen"
)

// requestFor makes a PKCS#10 request for O=dev-team, CN=robot-17, signed by key.
func requestFor(t *testing.T, key crypto.Signer) []byte {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{Organization: []string{"dev-team"}, CommonName: "robot-17"},
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

// curveKey makes a key on an elliptic curve.
func curveKey(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// opensslRequest is a request that Go won't make, from the test data of the API group.
func opensslRequest(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "apis", "certificates", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// createWith creates a CertificateSigningRequest with one field of spec set to value, or removed when value is nil.
func createWith(t *testing.T, name, field string, value any) answer {
	t.Helper()
	body := csrBody(t, name)
	if value == nil {
		delete(body["spec"].(map[string]any), field)
	} else {
		body["spec"].(map[string]any)[field] = value
	}
	return send(t, call{method: http.MethodPost, path: csrCollection, body: body})
}

func TestCSRRequest(t *testing.T) {
	t.Parallel()
	const wrongBlock = "PEM block type must be CERTIFICATE REQUEST"
	valid := gen.RobotRequest()
	block, _ := pem.Decode(valid)
	der := block.Bytes
	encode := func(der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: der}) }
	eachLine := func(change func(line string) string) []byte {
		lines := strings.Split(strings.TrimSuffix(string(valid), "\n"), "\n")
		for i := range lines {
			lines[i] = change(lines[i])
		}
		return []byte(strings.Join(lines, "\n") + "\n")
	}
	key := curveKey(t, elliptic.P256())
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, ed25519Key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(der)
	flipped[len(flipped)-1] ^= 1

	tests := map[string]struct {
		request []byte
		// want is the detail of the error; a request without one is accepted.
		want string
	}{
		"two blanks after each line":            {request: eachLine(func(line string) string { return line + "  " })},
		"two blanks before each line":           {request: eachLine(func(line string) string { return "  " + line }), want: wrongBlock},
		"lines that end in CR LF":               {request: bytes.ReplaceAll(valid, []byte("\n"), []byte("\r\n"))},
		"no newline at the end":                 {request: bytes.TrimSuffix(valid, []byte("\n"))},
		"text after the block":                  {request: slices.Concat(valid, []byte("and more\n"))},
		"openssl's description before it":       {request: opensslRequest(t, "p256-text.csr")},
		"two blocks":                            {request: slices.Concat(valid, requestFor(t, key))},
		"garbage in the second block":           {request: slices.Concat(valid, encode([]byte("x")))},
		"a PEM header":                          {request: bytes.Replace(valid, []byte("-\n"), []byte("-\nComment: x\n\n"), 1)},
		"a private key before it":               {request: slices.Concat(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), valid), want: wrongBlock},
		"bare DER":                              {request: der, want: wrongBlock},
		"text":                                  {request: []byte("text"), want: wrongBlock},
		"a NEW CERTIFICATE REQUEST":             {request: opensslRequest(t, "p256-newhdr.csr"), want: wrongBlock},
		"a certificate":                         {request: gen.RobotCertificate(), want: wrongBlock},
		"the last bit of the signature flipped": {request: encode(flipped), want: "x509: ECDSA verification failure"},
		"two zero bytes after the DER":          {request: encode(append(bytes.Clone(der), 0, 0)), want: "asn1: syntax error: trailing data"},
		"DER that is cut by ten bytes":          {request: encode(der[:len(der)-10]), want: "asn1: syntax error: data truncated"},
		"an empty block":                        {request: encode(nil), want: "asn1: syntax error: sequence truncated"},
		"a P-224 key":                           {request: requestFor(t, curveKey(t, elliptic.P224()))},
		"a P-256 key":                           {request: requestFor(t, key)},
		"a P-384 key":                           {request: requestFor(t, curveKey(t, elliptic.P384()))},
		"a P-521 key":                           {request: requestFor(t, curveKey(t, elliptic.P521()))},
		"an Ed25519 key":                        {request: requestFor(t, ed25519Key)},
		"an RSA key of 2048 bits":               {request: requestFor(t, rsaKey)},
		"an RSA key of 1024 bits":               {request: opensslRequest(t, "rsa1024.csr")},
		"an RSA key of 512 bits":                {request: opensslRequest(t, "rsa512.csr"), want: "crypto/rsa: 512-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)"},
		"a secp256k1 key":                       {request: opensslRequest(t, "secp256k1.csr"), want: "x509: unsupported elliptic curve"},
		"an Ed448 key":                          {request: opensslRequest(t, "ed448.csr"), want: "x509: cannot verify signature: algorithm unimplemented"},
		"RSA with SHA-1":                        {request: opensslRequest(t, "rsa2048-sha1.csr")},
		"RSA with MD5":                          {request: opensslRequest(t, "rsa2048-md5.csr"), want: "x509: cannot verify signature: insecure algorithm MD5-RSA"},
		"RSA-PSS as openssl makes it":           {request: opensslRequest(t, "rsa2048-pss.csr"), want: "x509: cannot verify signature: algorithm unimplemented"},
	}
	for about, test := range tests {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			name, encoded := unique("csr"), base64.StdEncoding.EncodeToString(test.request)
			a := createWith(t, name, "request", encoded)
			if test.want != "" {
				checkInvalid(t, a, name, fmt.Sprintf("spec.request: Invalid value: %q: %s", encoded, test.want))
				checkGone(t, name)
				return
			}
			if a.code != http.StatusCreated {
				t.Fatalf("got %d: %s", a.code, a.raw)
			}
			checkField(t, getCSR(t, name), "spec.request", encoded)
		})
	}

	for about, value := range map[string]any{"missing": nil, "null": json.RawMessage("null"), "empty": ""} {
		t.Run("request "+about, func(t *testing.T) {
			t.Parallel()
			name := unique("csr")
			want := `spec.request: Invalid value: null: ` + wrongBlock
			if about == "empty" {
				want = `spec.request: Invalid value: "": ` + wrongBlock
			}
			checkInvalid(t, createWith(t, name, "request", value), name, want)
		})
	}
}

func TestCSRSignerName(t *testing.T) {
	t.Parallel()
	const (
		label = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
			"alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
		subdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an " +
			"alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
		oneLabel   = "should be a domain with at least two segments separated by dots"
		tooLong    = "Too long: may not be more than 571 bytes"
		domainLong = "Too long: may not be more than 253 bytes"
	)
	invalid := func(value, text string) string { return fmt.Sprintf("Invalid value: %q: %s", value, text) }
	// part is the error of one label of a domain, or of one segment between dots of a path.
	part := func(whole, segment, text string) string {
		return invalid(whole, fmt.Sprintf("validating label %q: %s", segment, text))
	}
	// Three labels of 63 characters, one of 61 and three dots.
	domain := strings.Join([]string{strings.Repeat("a", 63), strings.Repeat("b", 63), strings.Repeat("c", 63), strings.Repeat("d", 61)}, ".")
	// With the domain and the slash, 571 bytes.
	path := strings.Repeat("s", 253) + "." + strings.Repeat("t", 63)
	long := strings.Repeat("s", 254)

	tests := map[string]struct {
		signer any
		// want are the texts of the errors; a name without any is accepted.
		want []string
	}{
		"missing": {nil, []string{"Required value"}},
		"empty":   {"", []string{"Required value"}},
		"null":    {json.RawMessage("null"), []string{"Required value"}},
		"the legacy signer": {"kubernetes.io/legacy-unknown", []string{
			invalid("kubernetes.io/legacy-unknown", "the legacy signerName is not allowed via this API version"),
		}},
		"the signer of API clients":             {"kubernetes.io/kube-apiserver-client", nil},
		"the signer of kubelets as clients":     {"kubernetes.io/kube-apiserver-client-kubelet", nil},
		"the signer of kubelets as servers":     {"kubernetes.io/kubelet-serving", nil},
		"a Kubernetes signer that never was":    {"kubernetes.io/nonexistent", nil},
		"a signer that only starts like legacy": {"kubernetes.io/legacy-unknown-not", nil},
		"no slash":                              {"example.com", []string{invalid("example.com", "must be a fully qualified domain and path of the form 'example.com/signer-name'")}},
		"two slashes":                           {"example.com/a/b", []string{invalid("example.com/a/b", "must be a fully qualified domain and path of the form 'example.com/signer-name'")}},
		"no path":                               {"example.com/", []string{part("", "", subdomain)}},
		"no domain":                             {"/robot", []string{part("", "", label), invalid("", oneLabel)}},
		"only a slash":                          {"/", []string{part("", "", label), invalid("", oneLabel), part("", "", subdomain)}},
		"a domain of one label":                 {"example/robot", []string{invalid("example", oneLabel)}},
		"a domain of two labels":                {"a.b/robot", nil},
		"a capital in the domain":               {"Example.com/robot", []string{part("Example.com", "Example", label)}},
		"a capital in the path":                 {"example.com/Robot", []string{part("Robot", "Robot", subdomain)}},
		"an underscore in the path":             {"example.com/robot_1", []string{part("robot_1", "robot_1", subdomain)}},
		"a dot in the path":                     {"example.com/ns.name", nil},
		"two dots in the path":                  {"example.com/ns..name", []string{part("ns..name", "", subdomain)}},
		"two dots in the domain":                {"example..com/robot", []string{part("example..com", "", label)}},
		"a blank in the path":                   {"example.com/a b", []string{part("a b", "a b", subdomain)}},
		"a label of 63 characters":              {strings.Repeat("a", 63) + ".io/x", nil},
		"a label of 64 characters": {strings.Repeat("a", 64) + ".io/x", []string{
			part(strings.Repeat("a", 64)+".io", strings.Repeat("a", 64), "must be no more than 63 characters"),
		}},
		"a path segment of 253 characters": {"a.io/" + strings.Repeat("s", 253), nil},
		"a path segment of 254 characters": {"a.io/" + long, []string{part(long, long, "must be no more than 253 characters")}},
		"a domain of 253 bytes":            {domain + "/x", nil},
		"a domain of 254 bytes":            {domain + "d/x", []string{domainLong}},
		"571 bytes":                        {domain + "/" + path, nil},
		"572 bytes":                        {domain + "/" + path + "t", []string{tooLong}},
		"572 bytes with a domain of 254":   {domain + "d/" + path, []string{domainLong, tooLong}},
	}
	for about, test := range tests {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			name := unique("csr")
			a := createWith(t, name, "signerName", test.signer)
			if test.want == nil {
				if a.code != http.StatusCreated {
					t.Fatalf("got %d: %s", a.code, a.raw)
				}
				checkField(t, getCSR(t, name), "spec.signerName", test.signer)
				return
			}
			causes := []string{}
			for _, text := range test.want {
				causes = append(causes, "spec.signerName: "+text)
			}
			checkInvalid(t, a, name, causes...)
		})
	}
}

// knownUsages are all values that spec.usages takes, in the order in which an error lists them.
var knownUsages = []string{
	"any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only",
	"digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement",
	"key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping",
}

func TestCSRUsages(t *testing.T) {
	t.Parallel()
	all := `supported values: "` + strings.Join(knownUsages, `", "`) + `"`
	tests := map[string]struct {
		usages any
		want   []string
	}{
		"missing":            {nil, []string{"spec.usages: Required value"}},
		"null":               {json.RawMessage("null"), []string{"spec.usages: Required value"}},
		"empty":              {[]string{}, []string{"spec.usages: Required value"}},
		"all of them":        {knownUsages, nil},
		"an unknown one":     {[]string{"client auth", "frob"}, []string{`spec.usages[1]: Unsupported value: "frob": ` + all}},
		"capitals":           {[]string{"Client Auth"}, []string{`spec.usages[0]: Unsupported value: "Client Auth": ` + all}},
		"an empty one":       {[]string{""}, []string{`spec.usages[0]: Unsupported value: "": ` + all}},
		"a duplicate":        {[]string{"client auth", "server auth", "client auth"}, []string{`spec.usages[2]: Duplicate value: "client auth"`}},
		"the same thrice":    {[]string{"any", "any", "any"}, []string{`spec.usages[1]: Duplicate value: "any"`, `spec.usages[2]: Duplicate value: "any"`}},
		"unknown duplicates": {[]string{"x", "x"}, []string{`spec.usages[0]: Unsupported value: "x": ` + all, `spec.usages[1]: Unsupported value: "x": ` + all, `spec.usages[1]: Duplicate value: "x"`}},
	}
	for _, usage := range knownUsages {
		tests["only "+usage] = struct {
			usages any
			want   []string
		}{usages: []string{usage}}
	}
	for about, test := range tests {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			name := unique("csr")
			a := createWith(t, name, "usages", test.usages)
			if test.want != nil {
				checkInvalid(t, a, name, test.want...)
				return
			}
			if a.code != http.StatusCreated {
				t.Fatalf("got %d: %s", a.code, a.raw)
			}
			got := []string{}
			for _, usage := range a.field("spec.usages").([]any) {
				got = append(got, usage.(string))
			}
			if diff := cmp.Diff(test.usages, any(got)); diff != "" {
				t.Errorf("usages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCSRExpirationSeconds(t *testing.T) {
	t.Parallel()
	tooShort := func(value string) []string {
		return []string{"spec.expirationSeconds: Invalid value: " + value + ": may not specify a duration less than 600 seconds (10 minutes)"}
	}
	unfit := func(kind string) refusal {
		return undecodable("json: cannot unmarshal " + kind + " into Go struct field CertificateSigningRequestSpec.spec.expirationSeconds of type int32")
	}
	tests := map[string]struct {
		// value is JSON.
		value string
		// stored is what is read back when the request is accepted.
		stored  any
		invalid []string
		bad     refusal
	}{
		"one second too few": {value: "599", invalid: tooShort("599")},
		"the least":          {value: "600", stored: float64(600)},
		"zero":               {value: "0", invalid: tooShort("0")},
		"negative":           {value: "-1", invalid: tooShort("-1")},
		"the most":           {value: "2147483647", stored: float64(2147483647)},
		"too many":           {value: "2147483648", bad: unfit("number 2147483648")},
		"a string":           {value: `"600"`, bad: unfit("string")},
		"a decimal point":    {value: "600.0", bad: unfit("number 600.0")},
		"an exponent":        {value: "6e2", bad: unfit("number 6e2")},
		"null":               {value: "null"},
	}
	for about, test := range tests {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			name := unique("csr")
			a := createWith(t, name, "expirationSeconds", json.RawMessage(test.value))
			switch {
			case test.invalid != nil:
				checkInvalid(t, a, name, test.invalid...)
			case test.bad != (refusal{}):
				checkRefused(t, a, name, test.bad)
			case a.code != http.StatusCreated:
				t.Fatalf("got %d: %s", a.code, a.raw)
			default:
				checkField(t, getCSR(t, name), "spec.expirationSeconds", test.stored)
			}
		})
	}
}

// The errors of a request with many of them come in a fixed order, each with its reason. That the name holds a slash is
// only said when nothing else is wrong.
func TestCSRManyErrors(t *testing.T) {
	t.Parallel()
	const qualified = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
		"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	body := map[string]any{
		"metadata": map[string]any{
			"name": "a/b", "labels": map[string]any{"-bad": "x"}, "annotations": map[string]any{"-bad": "x"}, "finalizers": []any{"short"},
			"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "", "name": "", "uid": ""}},
		},
		"spec": map[string]any{
			"request": "AAAA", "usages": []any{"x", "any", "any"}, "signerName": "Example", "expirationSeconds": 1,
		},
		"status": map[string]any{"conditions": []any{condition("=nothing")}, "certificate": "AAAA"},
	}
	a := send(t, call{method: http.MethodPost, path: csrCollection, body: body})
	checkInvalid(t, a, "a/b",
		`metadata.labels: Invalid value: "-bad": `+qualified,
		`metadata.annotations: Invalid value: "-bad": `+qualified,
		"metadata.ownerReferences[0].kind: Required value: must not be empty",
		"metadata.ownerReferences[0].name: Required value: must not be empty",
		"metadata.ownerReferences[0].uid: Required value: must not be empty",
		`metadata.finalizers[0]: Invalid value: "short": name is neither a standard finalizer name nor is it fully qualified`,
		`spec.request: Invalid value: "AAAA": PEM block type must be CERTIFICATE REQUEST`,
		`spec.usages[0]: Unsupported value: "x": supported values: "`+strings.Join(knownUsages, `", "`)+`"`,
		`spec.usages[2]: Duplicate value: "any"`,
		`spec.signerName: Invalid value: "Example": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
		"spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 600 seconds (10 minutes)",
	)
	reasons := []string{}
	for i := range 11 {
		reasons = append(reasons, a.text(fmt.Sprintf("details.causes.%d.reason", i)))
	}
	want := []string{
		"FieldValueInvalid", "FieldValueInvalid", "FieldValueRequired", "FieldValueRequired", "FieldValueRequired",
		"FieldValueInvalid", "FieldValueInvalid", "FieldValueNotSupported", "FieldValueDuplicate", "FieldValueInvalid", "FieldValueInvalid",
	}
	if diff := cmp.Diff(want, reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}
