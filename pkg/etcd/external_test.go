// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/klog/v2"
)

// server starts an etcd that listens, as somebody else's would.
func server(t testing.TB, listen url.URL, change ...func(*embed.Config)) *listener {
	t.Helper()
	config := EmbeddedConfig{DataDir: newDir(t)}.withDefaults()
	cfg := config.embedConfig(newZapLogger(logr.Discard(), newFatalHook(klog.Background(), "", nil)))
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{listen}, []url.URL{listen}
	for _, f := range change {
		f(cfg)
	}
	must(t, os.MkdirAll(cfg.Dir, dirMode))
	e, err := embed.StartEtcd(cfg)
	must(t, err)
	l := &listener{Etcd: e, close: sync.OnceFunc(e.Close)}
	t.Cleanup(l.close)
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(20 * time.Second):
		t.Fatal("etcd is not ready")
	}
	return l
}

// listener is an etcd that can be closed twice.
type listener struct {
	*embed.Etcd
	close func()
}

// freePort returns the URL of a port that nothing listens on.
func freePort(t testing.TB, scheme string) url.URL {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test
	must(t, err)
	defer listener.Close()
	return url.URL{Scheme: scheme, Host: listener.Addr().String()}
}

func connect(t testing.TB, config ExternalConfig) *External {
	t.Helper()
	x, err := Connect(t.Context(), config)
	must(t, err)
	t.Cleanup(func() { closeBackend(t, x) })
	return x
}

func TestExternalLife(t *testing.T) {
	checkLeaks(t)
	address := freePort(t, "http")
	ctx, log := logged(t, 2)
	x, err := Connect(ctx, ExternalConfig{Endpoints: []string{address.String()}})
	must(t, err)
	t.Cleanup(func() { closeBackend(t, x) })
	if got, want := x.String(), "etcd at "+address.String(); got != want {
		t.Errorf("String: %s, want %s", got, want)
	}
	if err := x.Pending(); err == nil {
		t.Error("ready without etcd")
	}
	request := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
	refused := "etcd at " + address.String() + ": rpc error: code = Unavailable desc = connection error: desc = " +
		"\"transport: Error while dialing: dial tcp " + address.Host + ": connect: connection refused\""
	wantError(t, x.HealthChecks()[0].Check(request), "%s", refused)
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(log.String(), "Waiting for etcd"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it says\n%s", log)
		}
	}
	wantError(t, x.ReadyChecks()[0].Check(request), "%s", "waiting for "+x.String()+": "+refused)
	waiting, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	wantError(t, WaitReady(waiting, x), "%s", x.String()+" is not ready: context deadline exceeded: "+refused)

	e := server(t, address)
	waiting, cancel = context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	must(t, WaitReady(waiting, x))
	must(t, WaitReady(waiting, x))
	must(t, x.Pending())
	must(t, x.HealthChecks()[0].Check(request))
	must(t, x.ReadyChecks()[0].Check(request))
	if got := x.Version(); got != "3.7.3" {
		t.Errorf("Version: %s", got)
	}
	if got, err := x.Monitors()[0].Monitor(ctx); err != nil || got.Size < 16<<10 {
		t.Errorf("Monitor: %+v %v", got, err)
	}
	for _, want := range []string{`"Waiting for etcd" logger="etcd" endpoints=["` + address.String() + `"] err=`, `"etcd is ready" logger="etcd" endpoints=["` + address.String() + `"] version="3.7.3"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("it says\n%swant\n%s", log, want)
		}
	}

	e.close()
	if err := x.HealthChecks()[0].Check(request); err == nil || !strings.Contains(err.Error(), address.String()) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("healthy without etcd: %v", err)
	}
	if _, err := x.Monitors()[0].Monitor(ctx); err == nil || !strings.HasPrefix(err.Error(), "etcd at "+address.String()+": ") {
		t.Errorf("Monitor: %v", err)
	}
	closeBackend(t, x)
	closeBackend(t, x)
	if err, open := <-x.Err(); open {
		t.Errorf("Err: %v", err)
	}
}

func TestWaitReadyOfAClosedBackend(t *testing.T) {
	t.Parallel()
	address := freePort(t, "http")
	x := connect(t, ExternalConfig{Endpoints: []string{address.String()}})
	closeBackend(t, x)
	wantError(t, WaitReady(t.Context(), x), "etcd at %s: closed", address.String())
}

func TestExternalCloseWaitsNoLongerThanItsContext(t *testing.T) {
	t.Parallel()
	address := freePort(t, "http")
	x := connect(t, ExternalConfig{Endpoints: []string{address.String()}})
	hang := make(chan struct{})
	x.waiting.Go(func() { <-hang })
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no time"))
	wantError(t, x.Close(ctx), "closing %s: no time", x)
	close(hang)
}

// TestExternalWithOneMemberOfTwo: one that answers is enough, and of those that do not, each is named.
func TestExternalWithOneMemberOfTwo(t *testing.T) {
	t.Parallel()
	there, missing := freePort(t, "http"), freePort(t, "http")
	server(t, there)
	x := connect(t, ExternalConfig{Endpoints: []string{missing.Host, there.String()}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	must(t, WaitReady(ctx, x))
	if got, err := x.Monitors()[0].Monitor(ctx); err != nil || got.Size == 0 {
		t.Errorf("Monitor: %+v %v", got, err)
	}

	other := freePort(t, "http")
	y := connect(t, ExternalConfig{Endpoints: []string{missing.Host, other.String()}})
	_, err := y.askMembers(ctx)
	for _, endpoint := range []string{missing.Host, other.String()} {
		if err == nil || !strings.Contains(err.Error(), "etcd at "+endpoint+": ") {
			t.Errorf("%s is not named by %v", endpoint, err)
		}
	}
}

// TestExternalDecorator: the same storage over the network, and the data that Embedded writes is what External reads.
func TestExternalDecorator(t *testing.T) {
	t.Parallel()
	address := freePort(t, "http")
	e := server(t, address)
	x := connect(t, ExternalConfig{Endpoints: []string{address.String()}, CompactionInterval: -1})
	s := decorated(t, x, "pods", true)
	createPods(t, s, 3)
	if got := list(t, s, storage.ListOptions{Predicate: everything(0, "")}); len(got.Items) != 3 {
		t.Errorf("%d pods", len(got.Items))
	}
	dir := e.Config().Dir
	e.close()

	embedded := start(t, inDir(dir))
	if got := list(t, decorated(t, embedded, "pods", true), storage.ListOptions{Predicate: everything(0, "")}); len(got.Items) != 3 {
		t.Errorf("%d pods in the same directory", len(got.Items))
	}
}

func TestExternalDecoratorErrors(t *testing.T) {
	t.Parallel()
	address := freePort(t, "http")
	server(t, address)
	x := connect(t, ExternalConfig{Endpoints: []string{address.String()}})
	_, _, err := x.Decorator()(podConfig(t, false), "pods", nil, newPod, newPodList, podAttrs, nil, nil)
	wantError(t, err, "%s: storage of pods: resourcePrefix needs to start from /", x)
}

// pki is a CA with a certificate for both ends, in PEM files.
type pki struct{ ca, cert, key string }

func newPKI(t *testing.T) pki {
	t.Helper()
	dir := t.TempDir()
	p := pki{filepath.Join(dir, "ca.crt"), filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	must(t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "etcd"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	must(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	for path, block := range map[string]*pem.Block{
		p.ca:   {Type: "CERTIFICATE", Bytes: caDER},
		p.cert: {Type: "CERTIFICATE", Bytes: leafDER},
		p.key:  {Type: "PRIVATE KEY", Bytes: keyDER},
	} {
		must(t, os.WriteFile(path, pem.EncodeToMemory(block), fileMode))
	}
	return p
}

func TestExternalOverTLS(t *testing.T) {
	t.Parallel()
	p := newPKI(t)
	address := freePort(t, "https")
	server(t, address, func(c *embed.Config) {
		c.ClientTLSInfo.CertFile, c.ClientTLSInfo.KeyFile, c.ClientTLSInfo.TrustedCAFile, c.ClientTLSInfo.ClientCertAuth = p.cert, p.key, p.ca, true
		c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop()) // it warns of the handshakes below
	})
	endpoints := []string{address.String()}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	x := connect(t, ExternalConfig{Endpoints: endpoints, CertFile: p.cert, KeyFile: p.key, CAFile: p.ca})
	must(t, WaitReady(ctx, x))
	s := decorated(t, x, "pods", true)
	createPods(t, s, 1)

	// The errors say which member, and why.
	stranger := connect(t, ExternalConfig{Endpoints: endpoints, CAFile: newPKI(t).ca})
	if err := stranger.ask(ctx); err == nil || !strings.HasPrefix(err.Error(), "etcd at "+address.String()+": ") || !strings.Contains(err.Error(), "certificate signed by unknown authority") {
		t.Errorf("an unknown CA: %v", err)
	}
	anonymous := connect(t, ExternalConfig{Endpoints: endpoints, CAFile: p.ca})
	if err := anonymous.ask(ctx); err == nil || !strings.HasPrefix(err.Error(), "etcd at "+address.String()+": ") {
		t.Errorf("no client certificate: %v", err)
	}
}

func TestExternalConfigErrors(t *testing.T) {
	t.Parallel()
	p := newPKI(t)
	missing := filepath.Join(t.TempDir(), "missing")
	for name, tt := range map[string]struct {
		config ExternalConfig
		want   string
	}{
		"everything at once": {
			ExternalConfig{Prefix: "x", CertFile: missing, CAFile: missing},
			"external etcd: Endpoints: required\nCertFile and KeyFile: both or none\nCertFile: open " + missing + ": no such file or directory\n" +
				"CAFile: open " + missing + ": no such file or directory\nPrefix: \"x\" is not a clean absolute path such as \"/registry\"",
		},
		"endpoints of all kinds": {
			ExternalConfig{Endpoints: []string{"ftp://a:1", "http://a", "a", "http://:2379", "http://a:1/b", "http://a:%zz", "unix:///run/etcd.sock", "a:1"}},
			"external etcd: Endpoints: \"ftp://a:1\": scheme \"ftp\" is none of http, https, unix, unixs\n" +
				"Endpoints: \"http://a\": not host:port\nEndpoints: \"a\": not host:port\nEndpoints: \"http://:2379\": the host is missing\n" +
				"Endpoints: \"http://a:1/b\": a path is not allowed\nEndpoints: \"http://a:%zz\": invalid port \":%zz\" after host",
		},
		"a key that is not the certificate's": {
			ExternalConfig{Endpoints: []string{"https://a:1"}, CertFile: p.cert, KeyFile: newPKI(t).key},
			"external etcd: tls: private key does not match public key",
		},
		"a CA that is none": {
			ExternalConfig{Endpoints: []string{"https://a:1"}, CAFile: p.key},
			"external etcd: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, err := Connect(t.Context(), tt.config)
			if err == nil {
				closeBackend(t, x)
				t.Fatal("no error")
			}
			if got := err.Error(); got != tt.want && (tt.want != "external etcd: " || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("error:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}
