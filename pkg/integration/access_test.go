// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/pinnace-io/pinnace/pkg/envtest"
)

// access is a request and whether everyone may make it.
type access struct {
	method, path string
	public       bool
	// named tells that everyone with a name may.
	named bool
	// forbidden is the message for someone called %s who may not.
	forbidden string
}

func accesses() map[string]access {
	cannot := func(path string) string { return `forbidden: User "%s" cannot get path "` + path + `"` }
	return map[string]access{
		"liveness":                 {path: "/livez", public: true},
		"readiness":                {path: "/readyz", public: true},
		"health":                   {path: "/healthz", public: true},
		"version":                  {path: "/version", public: true},
		"version with a slash":     {path: "/version/", public: true},
		"posting to a public path": {method: http.MethodPost, path: "/livez", forbidden: `forbidden: User "%s" cannot post path "/livez"`},
		"the root":                 {path: "/", forbidden: cannot("/")},
		"the core API":             {path: "/api", named: true, forbidden: cannot("/api")},
		"all APIs":                 {path: "/apis", named: true, forbidden: cannot("/apis")},
		"one API":                  {path: "/apis/apps/v1", named: true, forbidden: cannot("/apis/apps/v1")},
		"OpenAPI v2":               {path: "/openapi/v2", named: true, forbidden: cannot("/openapi/v2")},
		"OpenAPI v3":               {path: "/openapi/v3", named: true, forbidden: cannot("/openapi/v3")},
		"metrics":                  {path: "/metrics", forbidden: cannot("/metrics")},
		"metrics of health":        {path: "/metrics/slis", forbidden: cannot("/metrics/slis")},
		"profiles":                 {path: "/debug/pprof/", forbidden: cannot("/debug/pprof/")},
		"a path that isn't there":  {path: "/nonexistent", forbidden: cannot("/nonexistent")},
		"objects": {
			path:      "/apis/apps/v1/daemonsets",
			forbidden: `daemonsets.apps is forbidden: User "%s" cannot list resource "daemonsets" in API group "apps" at the cluster scope`,
		},
		"an object": {
			path:      "/apis/certificates.k8s.io/v1/certificatesigningrequests/x",
			forbidden: `certificatesigningrequests.certificates.k8s.io "x" is forbidden: User "%s" cannot get resource "certificatesigningrequests" in API group "certificates.k8s.io" at the cluster scope`,
		},
		"a subresource": {
			path:      "/apis/apps/v1/namespaces/a/daemonsets/x/status",
			forbidden: `daemonsets.apps "x" is forbidden: User "%s" cannot get resource "daemonsets/status" in API group "apps" in the namespace "a"`,
		},
	}
}

// check makes the request as user, who is no administrator.
func (a access) check(t *testing.T, config *rest.Config, user string) {
	t.Helper()
	got := send(t, call{config: config, method: orElse(a.method, http.MethodGet), path: a.path, accept: "*/*"})
	if a.public || a.named && user != "system:anonymous" {
		if got.code != http.StatusOK {
			t.Errorf("got %d: %s", got.code, got.raw)
		}
		return
	}
	if got.code != http.StatusForbidden || got.text("reason") != "Forbidden" {
		t.Errorf("got %d, want a refusal: %s", got.code, got.raw)
	}
	if want := fmt.Sprintf(a.forbidden, user); got.message() != want {
		t.Errorf("message is %s, want %s", got.message(), want)
	}
}

func TestAccessOfAnonymous(t *testing.T) {
	t.Parallel()
	config := rest.AnonymousClientConfig(shared.config)
	for name, a := range accesses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a.check(t, config, "system:anonymous")
		})
	}
}

// In standalone mode a monitor without a name may look at single checks, which kube-apiserver does not let it.
func TestAccessOfAnonymousToSingleChecks(t *testing.T) {
	t.Parallel()
	onlyPinnace(t, "anonymous users see the whole of health there, no part of it")
	for _, path := range []string{"/livez/etcd", "/readyz/poststarthook/storage-readiness", "/healthz/ping"} {
		mustSend(t, call{config: rest.AnonymousClientConfig(shared.config), method: http.MethodGet, path: path, accept: "*/*"}, http.StatusOK)
	}
}

// signer signs client certificates.
type signer struct {
	certificate *x509.Certificate
	key         crypto.PrivateKey
}

// client is what config describes, with a certificate for subject that s has signed.
func (s signer) client(t *testing.T, config *rest.Config, subject pkix.Name) *rest.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: subject,
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, s.certificate, key.Public(), s.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	out := rest.AnonymousClientConfig(config)
	out.CertData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	out.KeyData = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	return out
}

// foreignSigner is an authority that no server knows, with the name of ours.
func foreignSigner(t *testing.T, name pkix.Name) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: name, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return signer{certificate: certificate, key: key}
}

func TestAccessByCertificate(t *testing.T) {
	t.Parallel()
	onlyPinnace(t, "the test signs with the server's own authority")
	dir := t.TempDir()
	config := startEnvironment(t, &envtest.Environment{DataDir: dir})
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "pki", "ca.crt"), filepath.Join(dir, "pki", "ca.key"))
	if err != nil {
		t.Fatal(err)
	}
	authority := signer{certificate: pair.Leaf, key: pair.PrivateKey}

	bob := authority.client(t, config, pkix.Name{CommonName: "bob", Organization: []string{"developers"}})
	for name, a := range accesses() {
		t.Run("bob: "+name, func(t *testing.T) { a.check(t, bob, "bob") })
	}
	carol := authority.client(t, config, pkix.Name{CommonName: "carol", Organization: []string{"system:masters"}})
	for name, a := range accesses() {
		t.Run("carol, an administrator: "+name, func(t *testing.T) {
			if got := send(t, call{config: carol, method: http.MethodGet, path: a.path, accept: "*/*"}); got.code == http.StatusForbidden || got.code == http.StatusUnauthorized {
				t.Errorf("got %d: %s", got.code, got.raw)
			}
		})
	}
	eve := foreignSigner(t, pair.Leaf.Subject).client(t, config, pkix.Name{CommonName: "kubernetes-admin", Organization: []string{"system:masters"}})
	for name, a := range accesses() {
		t.Run("eve, with a certificate of another authority: "+name, func(t *testing.T) {
			got := send(t, call{config: eve, method: http.MethodGet, path: a.path, accept: "*/*"})
			if got.code != http.StatusUnauthorized || got.message() != "Unauthorized" {
				t.Errorf("got %d, want a refusal: %s", got.code, got.raw)
			}
		})
	}
}
