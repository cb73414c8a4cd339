// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	testclock "k8s.io/utils/clock/testing"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fixture is a directory and the outside world around it.
type fixture struct {
	config Config
	clock  *testclock.FakePassiveClock
	env    env
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{clock: testclock.NewFakePassiveClock(start)}
	f.config = Config{Dir: filepath.Join(t.TempDir(), "data", "pki"), Clock: f.clock}
	f.env = realEnv(f.clock)
	f.env.hostname = func() (string, error) { return "Host.Example.com", nil }
	return f
}

func (f *fixture) ensure(t *testing.T) *Bundle {
	t.Helper()
	bundle, err := ensure(f.config, f.env)
	must(t, err)
	return bundle
}

func (f *fixture) path(name string) string { return filepath.Join(f.config.Dir, name) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEnsureMakesEverything(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.config.Names = []string{"pinnace.example.com", "localhost", "*.example.com"}
	f.config.IPs = []net.IP{net.ParseIP("192.0.2.1"), net.IPv4zero, net.IPv6zero, net.ParseIP("127.0.0.1"), net.ParseIP("2001:db8::1")}
	bundle := f.ensure(t)

	for name, tt := range map[string]struct {
		pair     KeyPair
		certFile string
		keyFile  string
		want     x509.Certificate
	}{
		"ca": {bundle.CA, bundle.CAFile, bundle.CAKeyFile, x509.Certificate{
			Subject: pkix.Name{CommonName: "pinnace-ca"}, NotAfter: start.Add(10 * 365 * 24 * time.Hour), IsCA: true, MaxPathLenZero: true,
			KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
		}},
		"serving": {bundle.Serving, bundle.ServingCertFile, bundle.ServingKeyFile, x509.Certificate{
			Subject: pkix.Name{CommonName: "pinnace"}, NotAfter: start.Add(365 * 24 * time.Hour), MaxPathLen: -1,
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
			DNSNames: []string{
				"*.example.com", "host.example.com", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost", "pinnace.example.com",
			},
			IPAddresses: []net.IP{net.IPv6loopback, net.ParseIP("2001:db8::1"), net.IPv4(127, 0, 0, 1).To4(), net.IPv4(192, 0, 2, 1).To4()},
		}},
		"admin": {bundle.Admin, bundle.AdminCertFile, bundle.AdminKeyFile, x509.Certificate{
			Subject: pkix.Name{CommonName: "kubernetes-admin", Organization: []string{"system:masters"}}, NotAfter: start.Add(365 * 24 * time.Hour), MaxPathLen: -1,
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}},
	} {
		cert := tt.pair.Certificate
		got := x509.Certificate{
			Subject: pkix.Name{CommonName: cert.Subject.CommonName, Organization: cert.Subject.Organization}, NotAfter: cert.NotAfter, IsCA: cert.IsCA,
			MaxPathLen: cert.MaxPathLen, MaxPathLenZero: cert.MaxPathLenZero, KeyUsage: cert.KeyUsage, ExtKeyUsage: cert.ExtKeyUsage,
			DNSNames: cert.DNSNames, IPAddresses: cert.IPAddresses,
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if want := start.Add(-5 * time.Minute); !cert.NotBefore.Equal(want) {
			t.Errorf("%s: valid from %s, want %s", name, cert.NotBefore, want)
		}
		if bits := cert.SerialNumber.BitLen(); cert.SerialNumber.Sign() <= 0 || bits < 64 || bits > 128 {
			t.Errorf("%s: serial number %s", name, cert.SerialNumber)
		}
		if !cert.BasicConstraintsValid || len(cert.SubjectKeyId) != 20 {
			t.Errorf("%s: basic constraints %t, subject key identifier %x", name, cert.BasicConstraintsValid, cert.SubjectKeyId)
		}
		if name != "ca" && !bytes.Equal(cert.AuthorityKeyId, bundle.CA.Certificate.SubjectKeyId) {
			t.Errorf("%s: authority key identifier %x, want %x", name, cert.AuthorityKeyId, bundle.CA.Certificate.SubjectKeyId)
		}
		if key, ok := tt.pair.Key.(*ecdsa.PrivateKey); !ok || key.Curve != elliptic.P256() || !key.PublicKey.Equal(cert.PublicKey) {
			t.Errorf("%s: key %T", name, tt.pair.Key)
		}
		for file, want := range map[string]struct {
			path    string
			content []byte
			mode    os.FileMode
		}{
			name + ".crt": {tt.certFile, tt.pair.CertPEM, 0o644},
			name + ".key": {tt.keyFile, tt.pair.KeyPEM, 0o600},
		} {
			content, err := os.ReadFile(f.path(file))
			info, statErr := os.Stat(f.path(file))
			must(t, errors.Join(err, statErr))
			if want.path != f.path(file) || !bytes.Equal(content, want.content) || info.Mode() != want.mode {
				t.Errorf("%s: path %s, mode %s, content\n%s", file, want.path, info.Mode(), content)
			}
		}
	}
	info, err := os.Stat(f.config.Dir)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %s", info.Mode())
	}
	entries, err := os.ReadDir(f.config.Dir)
	must(t, err)
	if len(entries) != 7 {
		t.Errorf("files: %v", entries)
	}
	verify(t, bundle)
	verifyWithOpenSSL(t, f)

	again := f.ensure(t)
	if diff := cmp.Diff(pems(bundle), pems(again)); diff != "" {
		t.Errorf("a second run changes files: %s", diff)
	}
}

func pems(b *Bundle) []string {
	var all []string
	for _, pair := range []KeyPair{b.CA, b.Serving, b.Admin} {
		all = append(all, string(pair.CertPEM), string(pair.KeyPEM))
	}
	return all
}

func verify(t *testing.T, b *Bundle) {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(b.CA.CertPEM) {
		t.Fatal("the CA is no certificate")
	}
	for _, name := range []string{"localhost", "kubernetes.default.svc", "host.example.com", "a.example.com", "127.0.0.1", "::1", "192.0.2.1"} {
		options := x509.VerifyOptions{Roots: roots, CurrentTime: start, DNSName: name, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
		if _, err := b.Serving.Certificate.Verify(options); err != nil {
			t.Errorf("serving %s: %v", name, err)
		}
	}
	for usage, ok := range map[x509.ExtKeyUsage]bool{x509.ExtKeyUsageClientAuth: true, x509.ExtKeyUsageServerAuth: false} {
		_, err := b.Admin.Certificate.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: start, KeyUsages: []x509.ExtKeyUsage{usage}})
		if (err == nil) != ok {
			t.Errorf("admin for usage %v: %v", usage, err)
		}
	}
}

// verifyWithOpenSSL lets another implementation judge the certificates, where there is one.
func verifyWithOpenSSL(t *testing.T, f *fixture) {
	t.Helper()
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		return // crypto/x509 has verified them
	}
	at := fmt.Sprint(start.Unix())
	for _, args := range [][]string{
		{"verify", "-x509_strict", "-attime", at, "-CAfile", f.path("ca.crt"), "-purpose", "sslserver", "-verify_hostname", "localhost", f.path("serving.crt")},
		{"verify", "-x509_strict", "-attime", at, "-CAfile", f.path("ca.crt"), "-purpose", "sslserver", "-verify_ip", "127.0.0.1", f.path("serving.crt")},
		{"verify", "-x509_strict", "-attime", at, "-CAfile", f.path("ca.crt"), "-purpose", "sslclient", f.path("admin.crt")},
		{"pkey", "-in", f.path("ca.key"), "-check", "-noout"},
		{"pkey", "-in", f.path("serving.key"), "-check", "-noout"},
	} {
		if out, err := exec.CommandContext(t.Context(), openssl, args...).CombinedOutput(); err != nil { //nolint:gosec // a test
			t.Errorf("openssl %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// changed names the files that differ between two bundles.
func changed(before, after *Bundle) []string {
	names := []string{"ca.crt", "ca.key", "serving.crt", "serving.key", "admin.crt", "admin.key"}
	var got []string
	b, a := pems(before), pems(after)
	for n, name := range names {
		if b[n] != a[n] {
			got = append(got, name)
		}
	}
	return got
}

func TestEnsureRenews(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, tt := range map[string]struct {
		change func(t *testing.T, f *fixture)
		want   []string
	}{
		"nothing has changed":               {func(*testing.T, *fixture) {}, nil},
		"more than a third is left":         {func(_ *testing.T, f *fixture) { f.clock.SetTime(start.Add(243 * day)) }, nil},
		"less than a third is left":         {func(_ *testing.T, f *fixture) { f.clock.SetTime(start.Add(244 * day)) }, []string{"serving.crt", "admin.crt"}},
		"they have expired":                 {func(_ *testing.T, f *fixture) { f.clock.SetTime(start.Add(400 * day)) }, []string{"serving.crt", "admin.crt"}},
		"the clock has gone back 4 minutes": {func(_ *testing.T, f *fixture) { f.clock.SetTime(start.Add(-4 * time.Minute)) }, nil},
		"the host has another name":         {func(_ *testing.T, f *fixture) { f.env.hostname = func() (string, error) { return "other", nil } }, []string{"serving.crt"}},
		"the host's name can't be told": {func(_ *testing.T, f *fixture) {
			f.env.hostname = func() (string, error) { return "", errors.New("no") }
		}, []string{"serving.crt"}},
		"the host's name is no DNS name":       {func(_ *testing.T, f *fixture) { f.env.hostname = func() (string, error) { return "my_host", nil } }, []string{"serving.crt"}},
		"another name":                         {func(_ *testing.T, f *fixture) { f.config.Names = []string{"a.example.com"} }, []string{"serving.crt"}},
		"a name that is there already":         {func(_ *testing.T, f *fixture) { f.config.Names = []string{"localhost"} }, nil},
		"another address":                      {func(_ *testing.T, f *fixture) { f.config.IPs = []net.IP{net.IPv4(10, 0, 0, 1)} }, []string{"serving.crt"}},
		"the unspecified address":              {func(_ *testing.T, f *fixture) { f.config.IPs = []net.IP{net.IPv4zero} }, nil},
		"the serving certificate is gone":      {func(t *testing.T, f *fixture) { must(t, os.Remove(f.path("serving.crt"))) }, []string{"serving.crt"}},
		"the serving certificate and key":      {func(t *testing.T, f *fixture) { removeAll(t, f, "serving.crt", "serving.key") }, []string{"serving.crt", "serving.key"}},
		"the administrator's are gone":         {func(t *testing.T, f *fixture) { removeAll(t, f, "admin.crt", "admin.key") }, []string{"admin.crt", "admin.key"}},
		"the CA is gone":                       {func(t *testing.T, f *fixture) { removeAll(t, f, "ca.crt", "ca.key") }, []string{"ca.crt", "ca.key", "serving.crt", "admin.crt"}},
		"a key is open to others":              {func(t *testing.T, f *fixture) { must(t, os.Chmod(f.path("admin.key"), 0o644)) }, nil},
		"the administrator is another":         {otherAdmin, []string{"admin.crt"}},
		"what is left of a write that was cut": {func(t *testing.T, f *fixture) { must(t, os.WriteFile(f.path(".tmp-1"), nil, 0o600)) }, nil},
		"the directory is open to others":      {func(t *testing.T, f *fixture) { must(t, os.Chmod(f.config.Dir, 0o755)) }, nil},
		"the key is in PKCS #8 form":           {pkcs8Key, []string{"serving.key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			before := f.ensure(t)
			tt.change(t, f)
			after := f.ensure(t)
			if diff := cmp.Diff(tt.want, changed(before, after)); diff != "" {
				t.Error(diff)
			}
			roots := x509.NewCertPool()
			roots.AddCert(after.CA.Certificate)
			for _, pair := range []KeyPair{after.Serving, after.Admin} {
				if _, err := pair.Certificate.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: f.clock.Now(), KeyUsages: pair.Certificate.ExtKeyUsage}); err != nil {
					t.Errorf("%s: %v", pair.Certificate.Subject, err)
				}
			}
			for path, mode := range map[string]os.FileMode{f.path("admin.key"): 0o600, f.config.Dir: 0o700} {
				if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
					t.Errorf("%s: %v %v, want mode %s", path, info.Mode(), err, mode)
				}
			}
			if _, err := os.Stat(f.path(".tmp-1")); err == nil {
				t.Error("what was left of a write is still there")
			}
			if diff := cmp.Diff([]string(nil), changed(after, f.ensure(t))); diff != "" {
				t.Errorf("the next run changes something again: %s", diff)
			}
		})
	}
}

func removeAll(t *testing.T, f *fixture, names ...string) {
	t.Helper()
	for _, name := range names {
		must(t, os.Remove(f.path(name)))
	}
}

// otherAdmin puts a certificate for somebody else in the administrator's place.
func otherAdmin(t *testing.T, f *fixture) {
	store, err := openStore(f.config.Dir, f.env)
	must(t, err)
	ca, err := store.load("ca")
	must(t, err)
	admin, err := store.load("admin")
	must(t, err)
	_, err = store.issue("admin", admin, &ca, &x509.Certificate{
		Subject: pkix.Name{CommonName: "somebody"}, NotBefore: start.Add(-time.Minute), NotAfter: start.Add(time.Hour * 5000),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	must(t, errors.Join(err, store.close()))
}

// pkcs8Key writes the serving key in the form that openssl genpkey writes.
func pkcs8Key(t *testing.T, f *fixture) {
	content, err := os.ReadFile(f.path("serving.key"))
	must(t, err)
	key, err := decodeKey(content)
	must(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	must(t, os.WriteFile(f.path("serving.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
}

// TestEnsureNearTheCAsEnd: a certificate does not outlive the CA.
func TestEnsureNearTheCAsEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ca := f.ensure(t).CA.Certificate
	f.clock.SetTime(ca.NotAfter.Add(-24 * time.Hour))
	if got := f.ensure(t); !got.Serving.Certificate.NotAfter.Equal(ca.NotAfter) || !got.Admin.Certificate.NotAfter.Equal(ca.NotAfter) {
		t.Errorf("valid until %s and %s, the CA until %s", got.Serving.Certificate.NotAfter, got.Admin.Certificate.NotAfter, ca.NotAfter)
	}
}

// TestEnsureAfterAKill goes through what a first run leaves that is killed between two files.
func TestEnsureAfterAKill(t *testing.T) {
	t.Parallel()
	files := []string{"ca.key", "ca.crt", "serving.key", "serving.crt", "admin.key", "admin.crt"}
	for n := range files {
		t.Run(fmt.Sprintf("after %d files", n), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			killed, renamed := errors.New("killed"), 0
			var order []string
			rename := f.env.rename
			f.env.rename = func(from, to string) error {
				if renamed == n {
					return killed
				}
				renamed++
				order = append(order, filepath.Base(to))
				return rename(from, to)
			}
			if _, err := ensure(f.config, f.env); !errors.Is(err, killed) {
				t.Fatalf("error: %v", err)
			}
			if diff := cmp.Diff(files[:n], order, cmpEmpty()); diff != "" {
				t.Error(diff)
			}
			f.env.rename = rename
			bundle := f.ensure(t)
			for _, pair := range []KeyPair{bundle.Serving, bundle.Admin} {
				must(t, pair.Certificate.CheckSignatureFrom(bundle.CA.Certificate))
			}
		})
	}
}

// cmpEmpty takes nil and empty slices for equal.
func cmpEmpty() cmp.Option {
	return cmp.Transformer("len0", func(s []string) string { return strings.Join(s, " ") })
}

func TestEnsureErrors(t *testing.T) {
	t.Parallel()
	replace := func(name, content string) func(*testing.T, *fixture) {
		return func(t *testing.T, f *fixture) { must(t, os.WriteFile(f.path(name), []byte(content), 0o600)) }
	}
	swap := func(name, other string) func(*testing.T, *fixture) {
		return func(t *testing.T, f *fixture) {
			content, err := os.ReadFile(f.path(other))
			must(t, err)
			must(t, os.WriteFile(f.path(name), content, 0o600))
		}
	}
	const remedy = ": put the right file back, or remove %s.crt and %s.key to have them made anew"
	made := func(text, pair string) string { return text + strings.ReplaceAll(remedy, "%s", pair) }
	const newCA = "put the right file back, or remove ca.crt and ca.key to have a new CA made, which clients must be told to trust"
	for name, tt := range map[string]struct {
		change func(*testing.T, *fixture)
		want   string // DIR is the directory
	}{
		"the CA's key is missing":              {func(t *testing.T, f *fixture) { removeAll(t, f, "ca.key") }, made("DIR/ca.key is missing, but DIR/ca.crt is there", "ca")},
		"the CA's certificate is missing":      {func(t *testing.T, f *fixture) { removeAll(t, f, "ca.crt") }, "DIR/ca.crt is missing, but its key and DIR/serving.crt are there: put it back, or remove DIR/ca.key to have a new CA made, which clients must be told to trust"},
		"the CA's and the serving certificate": {func(t *testing.T, f *fixture) { removeAll(t, f, "ca.crt", "serving.crt") }, "DIR/ca.crt is missing, but its key and DIR/admin.crt are there: put it back, or remove DIR/ca.key to have a new CA made, which clients must be told to trust"},
		"the CA's certificate is empty":        {replace("ca.crt", ""), made("DIR/ca.crt is damaged: it is not a PEM certificate", "ca")},
		"the CA's key is empty":                {replace("ca.key", ""), made("DIR/ca.key is damaged: it is not a PEM private key", "ca")},
		"the CA's certificate is half written": {half("ca.crt"), made("DIR/ca.crt is damaged: it is not a PEM certificate", "ca")},
		"the CA's key is half written":         {half("ca.key"), made("DIR/ca.key is damaged: it is not a PEM private key", "ca")},
		"the CA's key is another's":            {swap("ca.key", "admin.key"), made("DIR/ca.crt and DIR/ca.key do not belong together", "ca")},
		"the CA is no CA":                      {func(t *testing.T, f *fixture) { swap("ca.crt", "admin.crt")(t, f); swap("ca.key", "admin.key")(t, f) }, "DIR/ca.crt is not the certificate of a CA: " + newCA},
		"the CA has expired":                   {func(_ *testing.T, f *fixture) { f.clock.SetTime(start.Add(11 * 365 * 24 * time.Hour)) }, "DIR/ca.crt has expired at 2035-12-31T03:04:05Z: " + newCA},
		"the clock is far behind":              {func(_ *testing.T, f *fixture) { f.clock.SetTime(start.Add(-time.Hour)) }, "DIR/ca.crt is not valid before 2026-01-02T02:59:05Z, and it is 2026-01-02T02:04:05Z: set the clock"},
		"the CA's certificate is a directory":  {func(t *testing.T, f *fixture) { removeAll(t, f, "ca.crt"); must(t, os.Mkdir(f.path("ca.crt"), 0o700)) }, "DIR/ca.crt cannot be read: is a directory"},
		"the serving key is a directory": {func(t *testing.T, f *fixture) {
			removeAll(t, f, "serving.key")
			must(t, os.Mkdir(f.path("serving.key"), 0o700))
		}, "DIR/serving.key cannot be read: is a directory"},
		"the serving key is missing":                 {func(t *testing.T, f *fixture) { removeAll(t, f, "serving.key") }, made("DIR/serving.key is missing, but DIR/serving.crt is there", "serving")},
		"the serving key is another's":               {swap("serving.key", "admin.key"), made("DIR/serving.crt and DIR/serving.key do not belong together", "serving")},
		"the serving certificate is text":            {replace("serving.crt", "hello"), made("DIR/serving.crt is damaged: it is not a PEM certificate", "serving")},
		"the serving certificate is a key":           {swap("serving.crt", "serving.key"), made("DIR/serving.crt is damaged: it is not a PEM certificate", "serving")},
		"the serving key is a certificate":           {swap("serving.key", "serving.crt"), made("DIR/serving.key is damaged: it is not a PEM private key", "serving")},
		"the serving certificate is a chain":         {twice("serving.crt"), made("DIR/serving.crt is damaged: it has more than one PEM block", "serving")},
		"the serving key is there twice":             {twice("serving.key"), made("DIR/serving.key is damaged: it has more than one PEM block", "serving")},
		"the serving certificate is somebody else's": {foreign("serving"), `DIR/serving.crt was issued by "CN=somebody", not by DIR/ca.crt: remove it and DIR/serving.key to have them made anew`},
		"the administrator's is somebody else's":     {foreign("admin"), `DIR/admin.crt was issued by "CN=somebody", not by DIR/ca.crt: remove it and DIR/admin.key to have them made anew`},
		"the key alone is one that can't be used":    {rsaKey, "making DIR/admin.crt: DIR/admin.key is not an ECDSA key"},
		"the lock is a directory":                    {func(t *testing.T, f *fixture) { removeAll(t, f, "LOCK"); must(t, os.Mkdir(f.path("LOCK"), 0o700)) }, "directory DIR cannot be written: LOCK: is a directory"},
		"the directory is a file": {func(t *testing.T, f *fixture) {
			must(t, os.RemoveAll(f.config.Dir))
			must(t, os.WriteFile(f.config.Dir, nil, 0o600))
		}, "directory DIR cannot be made: not a directory"},
		"the directory is below a file": {func(t *testing.T, f *fixture) { f.config.Dir = filepath.Join(f.path("ca.crt"), "pki") }, "directory DIR cannot be made: not a directory"},
		"the configuration, everything at once": {func(_ *testing.T, f *fixture) {
			f.config = Config{Names: []string{"a b", "*.", "ok"}, IPs: []net.IP{{1}}}
		}, `pki: Dir: required
Names: "a b" is not a DNS name: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')
Names: "*." is not a DNS name: a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')
IPs: "?01" is not an address`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.ensure(t)
			tt.change(t, f)
			before := snapshot(t, f.config.Dir)
			_, err := ensure(f.config, f.env)
			if want := strings.ReplaceAll(tt.want, "DIR", f.config.Dir); err == nil || err.Error() != want {
				t.Errorf("error:\n%v\nwant:\n%s", err, want)
			}
			if diff := cmp.Diff(before, snapshot(t, f.config.Dir)); diff != "" {
				t.Errorf("files were changed: %s", diff)
			}
		})
	}
}

// snapshot reads all files of a directory.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, _ := os.ReadDir(dir) // there may be none
	for _, entry := range entries {
		content, _ := os.ReadFile(filepath.Join(dir, entry.Name())) // a directory has none
		files[entry.Name()] = string(content)
	}
	return files
}

func half(name string) func(*testing.T, *fixture) {
	return func(t *testing.T, f *fixture) {
		info, err := os.Stat(f.path(name))
		must(t, err)
		must(t, os.Truncate(f.path(name), info.Size()/2))
	}
}

func twice(name string) func(*testing.T, *fixture) {
	return func(t *testing.T, f *fixture) {
		content, err := os.ReadFile(f.path(name))
		must(t, err)
		must(t, os.WriteFile(f.path(name), append(content, content...), 0o600))
	}
}

// foreign puts a pair that somebody else has issued in the place of ours.
func foreign(name string) func(*testing.T, *fixture) {
	return func(t *testing.T, f *fixture) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		must(t, err)
		template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "somebody"}, NotBefore: start, NotAfter: start.Add(time.Hour)}
		der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
		must(t, err)
		keyPEM, err := encodeKey(key)
		must(t, err)
		must(t, errors.Join(os.WriteFile(f.path(name+".crt"), encodeCertificate(der), 0o600), os.WriteFile(f.path(name+".key"), keyPEM, 0o600)))
	}
}

// rsaKey leaves the administrator an RSA key and no certificate.
func rsaKey(t *testing.T, f *fixture) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	removeAll(t, f, "admin.crt")
	must(t, os.WriteFile(f.path("admin.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
}

func TestDecodeKey(t *testing.T) {
	t.Parallel()
	_, signer, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	signerDER, err := x509.MarshalPKCS8PrivateKey(signer)
	must(t, err)
	exchange, err := ecdhKey(t)
	must(t, err)
	for name, tt := range map[string]struct {
		block pem.Block
		want  string // of the error; "" is none
	}{
		"a key that signs":       {pem.Block{Type: "PRIVATE KEY", Bytes: signerDER}, ""},
		"a key that does not":    {pem.Block{Type: "PRIVATE KEY", Bytes: exchange}, "a *ecdh.PrivateKey cannot sign"},
		"a damaged key":          {pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")}, "asn1: "},
		"a damaged EC key":       {pem.Block{Type: "EC PRIVATE KEY", Bytes: []byte("x")}, "x509: failed to parse EC private key: "},
		"a damaged certificate":  {pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}, "it is not a PEM private key"},
		"a key of an older form": {pem.Block{Type: "RSA PRIVATE KEY", Bytes: []byte("x")}, "it is not a PEM private key"},
	} {
		_, err := decodeKey(pem.EncodeToMemory(&tt.block))
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if _, err := decodeCertificate(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})); err == nil {
		t.Error("a damaged certificate was read")
	}
}

func ecdhKey(t *testing.T) ([]byte, error) {
	t.Helper()
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	must(t, err)
	return x509.MarshalPKCS8PrivateKey(key)
}

// brokenFile is a temporary file whose operations fail by name.
type brokenFile struct {
	*os.File
	broken string
}

var errBroken = errors.New("the disk is broken")

func (f brokenFile) fail(operation string, err error) error {
	if f.broken == operation {
		return errBroken
	}
	return err
}

func (f brokenFile) Write(p []byte) (int, error) { return len(p), f.fail("write", nil) }
func (f brokenFile) Chmod(m os.FileMode) error   { return f.fail("chmod", f.File.Chmod(m)) }
func (f brokenFile) Sync() error                 { return f.fail("sync", f.File.Sync()) }
func (f brokenFile) Close() error                { return f.fail("close", f.File.Close()) }

// TestStarvedSources takes away each source of the outside world.
func TestStarvedSources(t *testing.T) {
	t.Parallel()
	breakFile := func(operation string) func(*env) {
		return func(e *env) {
			e.createTemp = func(dir, pattern string) (tempFile, error) {
				file, err := os.CreateTemp(dir, pattern)
				return brokenFile{file, operation}, err
			}
		}
	}
	for name, tt := range map[string]struct {
		starve func(*env)
		want   string // DIR is the directory
	}{
		"no key": {func(e *env) {
			e.generateKey = func() (*ecdsa.PrivateKey, error) { return nil, errors.New("no entropy") }
		}, "making DIR/ca.crt: no entropy"},
		"a key of no curve": {func(e *env) {
			e.generateKey = func() (*ecdsa.PrivateKey, error) {
				return &ecdsa.PrivateKey{PublicKey: ecdsa.PublicKey{Curve: &elliptic.CurveParams{}, X: new(big.Int), Y: new(big.Int)}, D: new(big.Int)}, nil
			}
		}, "making DIR/ca.crt: x509: unknown elliptic curve"},
		"no serial number":  {func(e *env) { e.random = iotest.ErrReader(errors.New("no entropy")) }, "making DIR/ca.crt: serial number: no entropy"},
		"too little random": {func(e *env) { e.random = io.LimitReader(rand.Reader, 3) }, "making DIR/ca.crt: serial number: unexpected EOF"},
		"no signature": {func(e *env) {
			e.createCertificate = func(*x509.Certificate, *x509.Certificate, *ecdsa.PublicKey, crypto.Signer) ([]byte, error) {
				return nil, errors.New("no signature")
			}
		}, "making DIR/ca.crt: no signature"},
		"no certificate": {func(e *env) {
			e.createCertificate = func(*x509.Certificate, *x509.Certificate, *ecdsa.PublicKey, crypto.Signer) ([]byte, error) {
				return []byte("x"), nil
			}
		}, "making DIR/ca.crt: x509: malformed certificate"},
		"no file":  {func(e *env) { e.createTemp = func(string, string) (tempFile, error) { return nil, errBroken } }, "making DIR/ca.crt: DIR/ca.key cannot be written: the disk is broken"},
		"no write": {breakFile("write"), "making DIR/ca.crt: DIR/ca.key cannot be written: the disk is broken"},
		"no mode":  {breakFile("chmod"), "making DIR/ca.crt: DIR/ca.key cannot be written: the disk is broken"},
		"no sync":  {breakFile("sync"), "making DIR/ca.crt: DIR/ca.key cannot be written: the disk is broken"},
		"no close": {breakFile("close"), "making DIR/ca.crt: DIR/ca.key cannot be written: the disk is broken"},
		"no rename": {func(e *env) {
			e.rename = func(from, to string) error { return &os.LinkError{Op: "rename", Old: from, New: to, Err: errBroken} }
		}, "making DIR/ca.crt: DIR/ca.key cannot be written: the disk is broken"},
		"no sync of the directory": {func(e *env) { e.syncDir = func(string) error { return errBroken } }, "making DIR/ca.crt: DIR/ca.key cannot be written: the disk is broken"},
		"no third write": {func(e *env) {
			rename, n := e.rename, 0
			e.rename = func(from, to string) error {
				if n++; n == 4 {
					return errBroken
				}
				return rename(from, to)
			}
		}, "making DIR/serving.crt: DIR/serving.crt cannot be written: the disk is broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			tt.starve(&f.env)
			_, err := ensure(f.config, f.env)
			if want := strings.ReplaceAll(tt.want, "DIR", f.config.Dir); err == nil || err.Error() != want {
				t.Errorf("error:\n%v\nwant:\n%s", err, want)
			}
			for file := range snapshot(t, f.config.Dir) {
				if strings.HasPrefix(file, ".tmp") {
					t.Errorf("%s is left", file)
				}
			}
			f.env = newFixture(t).env
			f.ensure(t) // and goes on from there
		})
	}
}

func TestEnsureAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pki")
	bundles := make([]*Bundle, 8)
	var running sync.WaitGroup
	for n := range bundles {
		running.Go(func() {
			var err error
			if bundles[n], err = Ensure(Config{Dir: dir}); err != nil { // the real clock, and everything else
				t.Error(err)
			}
		})
	}
	running.Wait()
	for _, bundle := range bundles[1:] {
		if bundle == nil || bundles[0] == nil {
			continue
		}
		if diff := cmp.Diff(pems(bundles[0]), pems(bundle)); diff != "" {
			t.Errorf("they have different identities: %s", diff)
		}
	}
}

func TestWriteKubeconfig(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.config.Clock = nil
	bundle, err := Ensure(f.config)
	must(t, err)
	serving, err := tls.X509KeyPair(bundle.Serving.CertPEM, bundle.Serving.KeyPEM)
	must(t, err)
	clients := x509.NewCertPool()
	clients.AddCert(bundle.CA.Certificate)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject := r.TLS.PeerCertificates[0].Subject
		_, _ = fmt.Fprint(w, subject.CommonName, subject.Organization)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{serving}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	defer server.Close()

	path := filepath.Join(t.TempDir(), "admin.kubeconfig")
	must(t, os.WriteFile(path, []byte("old"), 0o644)) //nolint:gosec // what others can read is replaced
	must(t, bundle.WriteKubeconfig(path, server.URL))
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %s", info.Mode())
	}
	// A real client goes through with it.
	config, err := clientcmd.BuildConfigFromFlags("", path)
	must(t, err)
	transport, err := tlsTransport(config.CAData, config.CertData, config.KeyData)
	must(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host, nil)
	must(t, err)
	response, err := (&http.Client{Transport: transport}).Do(request)
	must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	if got, want := string(body), "kubernetes-admin[system:masters]"; got != want {
		t.Errorf("the server saw %s, want %s", got, want)
	}
	raw, err := clientcmd.LoadFromFile(path)
	must(t, err)
	if raw.CurrentContext != "pinnace" || raw.Clusters["pinnace"] == nil || raw.AuthInfos["kubernetes-admin"] == nil || raw.Contexts["pinnace"] == nil {
		t.Errorf("kubeconfig: %+v", raw)
	}
}

func tlsTransport(ca, cert, key []byte) (*http.Transport, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}}, nil
}

func TestWriteKubeconfigErrors(t *testing.T) {
	t.Parallel()
	bundle := newFixture(t).ensure(t)
	path := filepath.Join(t.TempDir(), "missing", "admin.kubeconfig")
	for serverURL, want := range map[string]string{
		"https://localhost:7443": path + " cannot be written: no such file or directory",
		"http://localhost:7443":  `kubeconfig ` + path + `: server "http://localhost:7443": not an https URL`,
		"https://":               `kubeconfig ` + path + `: server "https://": not an https URL`,
		"https://a:x":            `kubeconfig ` + path + `: server "https://a:x": invalid port ":x" after host`,
	} {
		if err := bundle.WriteKubeconfig(path, serverURL); err == nil || err.Error() != want {
			t.Errorf("error: %v, want %s", err, want)
		}
	}
}

// TestEnsureWaitsForAnother: the lock is held by another process as long as it works.
func TestEnsureWaitsForAnother(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ensure(t)
	store, err := openStore(f.config.Dir, f.env)
	must(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := ensure(f.config, f.env)
		done <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	select {
	case err := <-done:
		t.Errorf("it did not wait: %v", err)
	case <-ctx.Done():
	}
	must(t, store.close())
	must(t, <-done)
}
