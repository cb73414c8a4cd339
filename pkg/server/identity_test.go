// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/pinnace-io/pinnace/pkg/server/options"
)

// newTestIdentity makes an identity in a new directory.
func newTestIdentity(t *testing.T, change func(*options.Options)) *identity {
	t.Helper()
	o, err := options.NewStandalone()
	if err != nil {
		t.Fatal(err)
	}
	o.DataDir = t.TempDir()
	change(o)
	completed, err := o.Complete()
	if err != nil {
		t.Fatal(err)
	}
	i, err := newIdentity(completed)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestIdentityNames(t *testing.T) {
	t.Parallel()
	i := newTestIdentity(t, func(o *options.Options) {
		o.SecureServing.BindAddress = net.IPv4(192, 0, 2, 7)
		o.ServingNames = []string{"pinnace.example.com", "2001:db8::7"}
	})
	certificate := i.bundle.Serving.Certificate
	for _, name := range []string{"localhost", "pinnace.example.com", "127.0.0.1", "192.0.2.7", "2001:db8::7"} {
		if err := certificate.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	if slices.ContainsFunc(certificate.IPAddresses, net.IP.IsUnspecified) {
		t.Error("the certificate is for an unspecified address")
	}
}

func TestIdentityRenew(t *testing.T) {
	t.Parallel()
	i := newTestIdentity(t, func(*options.Options) {})
	path := filepath.Join(t.TempDir(), "admin.kubeconfig")
	if err := i.writeKubeconfig(path, "https://127.0.0.1:7443"); err != nil {
		t.Fatal(err)
	}
	first := i.bundle
	if err := i.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Serving.CertPEM, i.bundle.Serving.CertPEM) || !bytes.Equal(first.Admin.CertPEM, i.bundle.Admin.CertPEM) {
		t.Error("certificates were renewed on their first day")
	}

	i.config.Clock = clocktesting.NewFakePassiveClock(time.Now().Add(300 * 24 * time.Hour))
	if err := i.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(first.Serving.CertPEM, i.bundle.Serving.CertPEM) || bytes.Equal(first.Admin.CertPEM, i.bundle.Admin.CertPEM) {
		t.Error("certificates were not renewed two months before their end")
	}
	if !bytes.Equal(first.CA.CertPEM, i.bundle.CA.CertPEM) {
		t.Error("the CA was renewed")
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(config.CertData, i.bundle.Admin.CertPEM) {
		t.Error("the kubeconfig does not hold the renewed certificate")
	}
}

func TestIdentityTrustsTheUsersCertificate(t *testing.T) {
	t.Parallel()
	other := newTestIdentity(t, func(*options.Options) {})
	i := newTestIdentity(t, func(o *options.Options) {
		o.SecureServing.ServerCert.CertKey.CertFile = other.bundle.ServingCertFile
		o.SecureServing.ServerCert.CertKey.KeyFile = other.bundle.ServingKeyFile
	})
	path := filepath.Join(t.TempDir(), "admin.kubeconfig")
	if err := i.writeKubeconfig(path, "https://127.0.0.1:7443"); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"our CA": i.bundle.CA.CertPEM, "the user's certificate": other.bundle.Serving.CertPEM} {
		if !bytes.Contains(config.CAData, bytes.TrimSpace(want)) {
			t.Errorf("the kubeconfig does not trust %s", name)
		}
	}
	if err := os.Remove(other.bundle.ServingCertFile); err != nil {
		t.Fatal(err)
	}
	if err := i.writeKubeconfig(path, "https://127.0.0.1:7443"); err == nil {
		t.Error("a certificate that is gone is no error")
	}
}
