// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificates_test

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
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/internal/gen"
	"github.com/pinnace-io/pinnace/pkg/apis/certificates"
)

const wrongBlock = "PEM block type must be CERTIFICATE REQUEST"

func TestParseRequest(t *testing.T) {
	t.Parallel()

	request, err := certificates.ParseRequest(gen.RobotRequest())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := request.Subject.String(), "CN=robot-17,O=dev-team"; got != want {
		t.Errorf("subject %s, want %s", got, want)
	}
	if _, err := certificates.ParseRequest([]byte("no PEM")); err == nil || err.Error() != wrongBlock {
		t.Errorf("error %v, want %s", err, wrongBlock)
	}
	flipped := flipLastByte(gen.RobotRequest())
	if _, err := certificates.ParseRequest(flipped); err != nil {
		t.Errorf("the signature must not be checked while parsing: %v", err)
	}
}

func TestValidateRequestEncoding(t *testing.T) {
	t.Parallel()
	valid := gen.RobotRequest()
	der := decode(valid)

	tests := map[string]struct {
		request []byte
		// want is the detail of the error at spec.request, "" for a request that is accepted.
		want string
	}{
		"one PEM block":                      {request: valid},
		"two spaces at the end of each line": {request: bytes.ReplaceAll(valid, []byte("\n"), []byte("  \n"))},
		"two spaces before each line":        {request: indent(valid), want: wrongBlock},
		"lines end as in Windows":            {request: bytes.ReplaceAll(valid, []byte("\n"), []byte("\r\n"))},
		"no newline at the end":              {request: bytes.TrimSuffix(valid, []byte("\n"))},
		"text after the block":               {request: slices.Concat(valid, []byte("text\n"))},
		"text of openssl before the block":   {request: testdata(t, "p256-text.csr")},
		"two blocks":                         {request: slices.Concat(valid, valid)},
		"a second block of another type":     {request: slices.Concat(valid, gen.RobotCertificate())},
		"a header in the block": {
			request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Headers: map[string]string{"Comment": "x"}, Bytes: der}),
		},
		"a private key before the block": {
			request: slices.Concat(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: []byte("key")}), valid),
			want:    wrongBlock,
		},
		"bare DER":             {request: der, want: wrongBlock},
		"nothing":              {request: nil, want: wrongBlock},
		"a certificate":        {request: gen.RobotCertificate(), want: wrongBlock},
		"the label of keytool": {request: testdata(t, "p256-newhdr.csr"), want: wrongBlock},
		"the last byte of the signature is flipped": {
			request: flipLastByte(valid), want: "x509: ECDSA verification failure",
		},
		"two bytes after the DER": {
			request: encode(slices.Concat(der, []byte{0, 0})), want: "asn1: syntax error: trailing data",
		},
		"ten bytes are missing": {
			request: encode(der[:len(der)-10]), want: "asn1: syntax error: data truncated",
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			checkRequestDetail(t, tt.request, tt.want)
		})
	}
}

func TestValidateRequestKeys(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		request []byte
		// want is the detail of the error at spec.request, "" for a request that is accepted.
		want string
	}{
		"P-224":               {request: sign(t, ecdsaKey(t, elliptic.P224()))},
		"P-256":               {request: sign(t, ecdsaKey(t, elliptic.P256()))},
		"P-384":               {request: sign(t, ecdsaKey(t, elliptic.P384()))},
		"P-521":               {request: sign(t, ecdsaKey(t, elliptic.P521()))},
		"Ed25519":             {request: sign(t, ed25519Key(t))},
		"RSA 2048":            {request: sign(t, rsaKey(t, 2048))},
		"RSA 1024":            {request: testdata(t, "rsa1024.csr")},
		"RSA 2048 with SHA-1": {request: testdata(t, "rsa2048-sha1.csr")},
		"RSA 2048 with MD5": {
			request: testdata(t, "rsa2048-md5.csr"),
			want:    "x509: cannot verify signature: insecure algorithm MD5-RSA",
		},
		"RSA 2048 with PSS as openssl makes it": {
			request: testdata(t, "rsa2048-pss.csr"),
			want:    "x509: cannot verify signature: algorithm unimplemented",
		},
		"RSA 512": {
			request: testdata(t, "rsa512.csr"),
			want:    "crypto/rsa: 512-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)",
		},
		"secp256k1": {request: testdata(t, "secp256k1.csr"), want: "x509: unsupported elliptic curve"},
		"Ed448": {
			request: testdata(t, "ed448.csr"),
			want:    "x509: cannot verify signature: algorithm unimplemented",
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			checkRequestDetail(t, tt.request, tt.want)
		})
	}
}

// checkRequestDetail validates a CertificateSigningRequest around request and compares the whole answer.
func checkRequestDetail(t *testing.T, request []byte, detail string) {
	t.Helper()
	var want []string
	if detail != "" {
		shown := "null"
		if request != nil {
			shown = fmt.Sprintf("%q", base64.StdEncoding.EncodeToString(request))
		}
		want = []string{fmt.Sprintf("spec.request: Invalid value: %s: %s", shown, detail)}
	}
	csr := gen.CSR("robot", gen.WithRequest(request))

	got := certificates.ValidateCertificateSigningRequest(csr)

	if d := cmp.Diff(want, messages(got)); d != "" {
		t.Errorf("errors (-want +got):\n%s", d)
	}
	if !bytes.Equal(csr.Spec.Request, request) {
		t.Error("validation changed the request")
	}
}

func ecdsaKey(t *testing.T, curve elliptic.Curve) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func ed25519Key(t *testing.T) crypto.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func rsaKey(t *testing.T, bits int) crypto.Signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign returns a request for O=dev-team, CN=robot-17 that key signed.
func sign(t *testing.T, key crypto.Signer) []byte {
	t.Helper()
	subject := pkix.Name{Organization: []string{"dev-team"}, CommonName: "robot-17"}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, key)
	if err != nil {
		t.Fatal(err)
	}
	return encode(der)
}

func testdata(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decode(data []byte) []byte {
	block, _ := pem.Decode(data)
	return block.Bytes
}

func encode(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

// flipLastByte returns the request with another last byte of the signature.
func flipLastByte(request []byte) []byte {
	der := decode(request)
	der[len(der)-1] ^= 0xff
	return encode(der)
}

func indent(data []byte) []byte {
	return slices.Concat([]byte("  "), bytes.ReplaceAll(bytes.TrimSpace(data), []byte("\n"), []byte("\n  ")))
}
