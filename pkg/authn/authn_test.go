// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package authn_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"github.com/pinnace-io/pinnace/pkg/authn"
)

// authority is a certificate authority for one test.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	return authority{certificate: sign(t, template, template, key, key), key: key}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign returns template as a certificate of key, signed by the parent's key.
func sign(t *testing.T, template, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// issue returns a client certificate for one hour; change changes it before it is signed.
func (a authority) issue(t *testing.T, subject pkix.Name, change func(*x509.Certificate)) *x509.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: subject,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	return sign(t, template, a.certificate, newKey(t), a.key)
}

// provider is the authority as servers know it.
func (a authority) provider(t *testing.T) dynamiccertificates.CAContentProvider {
	t.Helper()
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
	provider, err := dynamiccertificates.NewStaticCAContent("client-ca", bundle)
	if err != nil {
		t.Fatal(err)
	}
	return provider
}

func TestStandalone(t *testing.T) {
	t.Parallel()
	ours, foreign := newAuthority(t), newAuthority(t)
	a, err := authn.NewStandalone(ours.provider(t))
	if err != nil {
		t.Fatal(err)
	}
	admin := pkix.Name{CommonName: "kubernetes-admin", Organization: []string{"system:masters"}}
	tests := map[string]struct {
		certificate *x509.Certificate
		header      http.Header
		// name and groups are the user's; fails is part of the error, when the request is refused.
		name   string
		groups []string
		fails  string
	}{
		"a certificate of our authority": {
			certificate: ours.issue(t, pkix.Name{CommonName: "bob", Organization: []string{"developers", "testers"}}, nil),
			// A certificate holds the organizations as a set, the shortest first (X.690, 11.6).
			name: "bob", groups: []string{"testers", "developers", user.AllAuthenticated},
		},
		"an administrator's certificate": {
			certificate: ours.issue(t, admin, nil),
			name:        "kubernetes-admin", groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated},
		},
		"a certificate without a group": {
			certificate: ours.issue(t, pkix.Name{CommonName: "bob"}, nil),
			name:        "bob", groups: []string{user.AllAuthenticated},
		},
		"no certificate": {
			name: user.Anonymous, groups: []string{user.AllUnauthenticated},
		},
		"a token says nothing": {
			header: http.Header{"Authorization": {"Bearer sesame"}},
			name:   user.Anonymous, groups: []string{user.AllUnauthenticated},
		},
		"a proxy's headers say nothing": {
			header: http.Header{"X-Remote-User": {"kubernetes-admin"}, "X-Remote-Group": {user.SystemPrivilegedGroup}},
			name:   user.Anonymous, groups: []string{user.AllUnauthenticated},
		},
		"an administrator's certificate of a foreign authority": {
			certificate: foreign.issue(t, admin, nil),
			fails:       "certificate signed by unknown authority",
		},
		"a certificate that has expired": {
			certificate: ours.issue(t, admin, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }),
			fails:       "certificate has expired or is not yet valid",
		},
		"a certificate that is not valid yet": {
			certificate: ours.issue(t, admin, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }),
			fails:       "certificate has expired or is not yet valid",
		},
		"a serving certificate": {
			certificate: ours.issue(t, admin, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }),
			fails:       "certificate specifies an incompatible key usage",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://server/apis", nil)
			request.TLS = &tls.ConnectionState{}
			if test.certificate != nil {
				request.TLS.PeerCertificates = []*x509.Certificate{test.certificate}
			}
			for key, values := range test.header {
				request.Header[key] = values
			}
			response, ok, err := a.AuthenticateRequest(request)
			if test.fails != "" {
				checkRefused(t, response, ok, err, test.fails)
				return
			}
			if err != nil || !ok {
				t.Fatalf("the request is refused: %t, %v", ok, err)
			}
			if got := response.User.GetName(); got != test.name {
				t.Errorf("user is %s, want %s", got, test.name)
			}
			if diff := cmp.Diff(test.groups, response.User.GetGroups()); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
		})
	}
}

// checkRefused checks that a request was refused for a reason, and not taken for an anonymous one.
func checkRefused(t *testing.T, response *authenticator.Response, ok bool, err error, reason string) {
	t.Helper()
	if ok || response != nil {
		t.Errorf("the request is one of %v", response)
	}
	if err == nil || !strings.Contains(err.Error(), reason) {
		t.Errorf("error is %v, want one with %q", err, reason)
	}
}

func TestStandaloneFollowsTheAuthority(t *testing.T) {
	t.Parallel()
	first, second := newAuthority(t), newAuthority(t)
	rotating := &rotatingProvider{CAContentProvider: first.provider(t)}
	a, err := authn.NewStandalone(rotating)
	if err != nil {
		t.Fatal(err)
	}
	authenticated := func(issuer authority) bool {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://server/apis", nil)
		request.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{issuer.issue(t, pkix.Name{CommonName: "bob"}, nil)}}
		_, ok, _ := a.AuthenticateRequest(request)
		return ok
	}
	if !authenticated(first) || authenticated(second) {
		t.Error("it is not the first authority that is trusted")
	}
	rotating.CAContentProvider = second.provider(t)
	if authenticated(first) || !authenticated(second) {
		t.Error("it is not the second authority that is trusted")
	}
}

// rotatingProvider is an authority that is exchanged while the server runs.
type rotatingProvider struct {
	dynamiccertificates.CAContentProvider
}
