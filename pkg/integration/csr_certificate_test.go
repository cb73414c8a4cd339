// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/internal/gen"
)

func TestCSRCertificate(t *testing.T) {
	t.Parallel()
	leaf, authority := gen.RobotCertificate(), gen.RobotAuthority()
	der, err := x509.MarshalECPrivateKey(curveKey(t, elliptic.P256()))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(leaf)
	issuer, _ := pem.Decode(authority)
	encode := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	const none = "must contain at least one CERTIFICATE PEM block"
	only := func(kind string) string { return `only CERTIFICATE PEM blocks are allowed, found "` + kind + `"` }

	tests := map[string]struct {
		certificate []byte
		// want is the detail of the error; a certificate without one is stored.
		want string
	}{
		"one":                              {certificate: leaf},
		"a chain":                          {certificate: slices.Concat(leaf, authority)},
		"the same twice":                   {certificate: slices.Concat(leaf, leaf)},
		"one of another key and subject":   {certificate: authority},
		"text around the blocks":           {certificate: slices.Concat([]byte("first\n"), leaf, []byte("between\n"), authority, []byte("last\n"))},
		"two certificates in one block":    {certificate: encode("CERTIFICATE", slices.Concat(block.Bytes, issuer.Bytes))},
		"no newline at the end":            {certificate: bytes.TrimSuffix(leaf, []byte("\n"))},
		"a private key after it":           {certificate: slices.Concat(leaf, encode("EC PRIVATE KEY", der)), want: only("EC PRIVATE KEY")},
		"a private key before it":          {certificate: slices.Concat(encode("EC PRIVATE KEY", der), leaf), want: only("EC PRIVATE KEY")},
		"a request":                        {certificate: gen.RobotRequest(), want: only("CERTIFICATE REQUEST")},
		"X509 CERTIFICATE":                 {certificate: encode("X509 CERTIFICATE", block.Bytes), want: only("X509 CERTIFICATE")},
		"TRUSTED CERTIFICATE":              {certificate: encode("TRUSTED CERTIFICATE", block.Bytes), want: only("TRUSTED CERTIFICATE")},
		"a PEM header":                     {certificate: bytes.Replace(leaf, []byte("-\n"), []byte("-\nComment: x\n\n"), 1), want: "no PEM block headers are permitted"},
		"a PEM header in the second block": {certificate: slices.Concat(leaf, bytes.Replace(authority, []byte("-\n"), []byte("-\nComment: x\n\n"), 1)), want: "no PEM block headers are permitted"},
		"text":                             {certificate: []byte("text"), want: none},
		"bare DER":                         {certificate: block.Bytes, want: none},
		"a newline":                        {certificate: []byte("\n"), want: none},
		"three zero bytes in a block":      {certificate: encode("CERTIFICATE", []byte{0, 0, 0}), want: "x509: malformed certificate"},
		"an empty block":                   {certificate: encode("CERTIFICATE", nil), want: "found CERTIFICATE PEM block containing 0 certificates"},
		"DER that is cut":                  {certificate: encode("CERTIFICATE", block.Bytes[:len(block.Bytes)-1]), want: "x509: malformed certificate"},
		"a byte after the DER":             {certificate: encode("CERTIFICATE", append(bytes.Clone(block.Bytes), 0)), want: "x509: malformed certificate"},
		"a good one and a broken one":      {certificate: slices.Concat(leaf, encode("CERTIFICATE", []byte("x"))), want: "x509: malformed certificate"},
	}
	for about, test := range tests {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			name, before := newCSR(t)
			a := send(t, call{method: http.MethodPatch, path: csrPath(name, "status"), contentType: mergePatch, body: withCertificate(test.certificate)})
			if test.want != "" {
				checkInvalid(t, a, name, `status.certificate: Invalid value: "<certificate data>": `+test.want)
				checkUnchanged(t, name, before)
				return
			}
			if a.code != http.StatusOK {
				t.Fatalf("got %d: %s", a.code, a.raw)
			}
			want := map[string]any{"certificate": base64.StdEncoding.EncodeToString(test.certificate)}
			checkField(t, getCSR(t, name), "status", want)
		})
	}
}

func TestCSRCertificateIsImmutable(t *testing.T) {
	t.Parallel()
	const modified = "status.certificate: Forbidden: updates may not modify existing certificate content"
	leaf := base64.StdEncoding.EncodeToString(gen.RobotCertificate())
	for _, w := range writings() {
		t.Run(w.about+": other bytes", func(t *testing.T) {
			t.Parallel()
			name, _ := newCSR(t)
			before := issue(t, name)
			checkInvalid(t, send(t, w.call(t, name, csrPath(name, "status"), withCertificate(gen.RobotAuthority()))), name, modified)
			checkInvalid(t, send(t, w.call(t, name, csrPath(name, "status"), withCertificate([]byte("text")))), name,
				`status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block`, modified)
			checkUnchanged(t, name, before)
		})
		t.Run(w.about+": an empty string", func(t *testing.T) {
			t.Parallel()
			name, _ := newCSR(t)
			before := issue(t, name)
			checkInvalid(t, send(t, w.call(t, name, csrPath(name, "status"), withCertificate(nil))), name, modified)
			checkUnchanged(t, name, before)
		})
		t.Run(w.about+": the same bytes and another label", func(t *testing.T) {
			t.Parallel()
			name, _ := newCSR(t)
			issue(t, name)
			mustSend(t, w.call(t, name, csrPath(name, "status"), merged(withCertificate(gen.RobotCertificate()), withLabel("written", "yes"))), http.StatusOK)
			after := getCSR(t, name)
			checkField(t, after, "status.certificate", leaf)
			checkField(t, after, "metadata.labels.written", "yes")
		})
	}
	for about, c := range map[string]call{
		"null by merge patch":           {contentType: mergePatch, body: `{"status":{"certificate":null}}`},
		"null by strategic merge patch": {contentType: strategicPatch, body: `{"status":{"certificate":null}}`},
		"removed by JSON patch":         {contentType: jsonPatch, body: `[{"op":"remove","path":"/status/certificate"}]`},
		"status removed by JSON patch":  {contentType: jsonPatch, body: `[{"op":"remove","path":"/status"}]`},
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			name, _ := newCSR(t)
			before := issue(t, name)
			c.method, c.path = http.MethodPatch, csrPath(name, "status")
			checkInvalid(t, send(t, c), name, modified)
			checkUnchanged(t, name, before)
		})
	}
	t.Run("an empty string where there is none", func(t *testing.T) {
		t.Parallel()
		name, before := newCSR(t)
		a := mustSend(t, call{method: http.MethodPatch, path: csrPath(name, "status"), contentType: mergePatch, body: withCertificate(nil)}, http.StatusOK)
		// Storage tells an empty certificate from none, so that this is a write, though one that nobody can see.
		if a.text("metadata.resourceVersion") == before.text("metadata.resourceVersion") {
			t.Error("the resource version is the old one")
		}
		before.object["metadata"].(map[string]any)["resourceVersion"] = a.text("metadata.resourceVersion")
		checkUnchanged(t, name, before)
	})
}

// The API doesn't tie the certificate to an approval: that is the signer's business.
func TestCSRCertificateNeedsNoApproval(t *testing.T) {
	t.Parallel()
	for about, stored := range map[string][]string{
		"pending": {}, "denied": {"Denied"}, "failed": {"Failed"}, "denied and failed": {"Denied", "Failed"}, "approved": {"Approved"},
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			name, _ := newCSR(t)
			want := []string{}
			list := []map[string]any{}
			for _, form := range stored {
				list, want = append(list, condition(form)), append(want, form+"=True")
			}
			writeConditions(t, name, list...)
			a := issue(t, name)
			if diff := cmp.Diff(want, conditionsOf(a)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			checkField(t, a, "status.certificate", base64.StdEncoding.EncodeToString(gen.RobotCertificate()))
		})
	}
}
