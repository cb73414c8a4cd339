// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestIssueClient(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bundle, err := Ensure(Config{Dir: dir})
	must(t, err)
	ca, err := LoadCA(dir)
	must(t, err)
	client, err := ca.IssueClient("ada", []string{"devs", "ops"}, time.Hour)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(bundle.CA.Certificate)
	if _, err := client.Certificate.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Error(err)
	}
	subject := client.Certificate.Subject
	if subject.CommonName != "ada" || len(subject.Organization) != 2 || !slices.Contains(subject.Organization, "devs") || !slices.Contains(subject.Organization, "ops") {
		t.Errorf("the subject is %s", subject)
	}
	if left := time.Until(client.Certificate.NotAfter); left > time.Hour || left < 50*time.Minute {
		t.Errorf("it is valid for %s", left)
	}
	long, err := ca.IssueClient("ada", nil, 100*365*24*time.Hour)
	must(t, err)
	if !long.Certificate.NotAfter.Equal(ca.Certificate.NotAfter) {
		t.Errorf("it ends at %s, the CA at %s", long.Certificate.NotAfter, ca.Certificate.NotAfter)
	}
	if _, err := ca.IssueClient("", nil, time.Hour); err == nil {
		t.Error("a certificate for nobody was made")
	}
}

func TestLoadCAErrors(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(string) error{
		"no certificate":    func(dir string) error { return os.Remove(filepath.Join(dir, "ca.crt")) },
		"no key":            func(dir string) error { return os.Remove(filepath.Join(dir, "ca.key")) },
		"not a certificate": func(dir string) error { return os.WriteFile(filepath.Join(dir, "ca.crt"), []byte("x"), 0o600) },
		"not a key":         func(dir string) error { return os.WriteFile(filepath.Join(dir, "ca.key"), []byte("x"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, err := Ensure(Config{Dir: dir})
			must(t, err)
			must(t, change(dir))
			if _, err := LoadCA(dir); err == nil {
				t.Error("there was no error")
			}
		})
	}
}
