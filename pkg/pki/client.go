// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/ecdsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/utils/clock"
)

// LoadCA reads the CA that Ensure has made in a directory.
func LoadCA(dir string) (KeyPair, error) {
	var out KeyPair
	var err error
	if out.CertPEM, err = os.ReadFile(filepath.Join(dir, "ca.crt")); err != nil {
		return out, err
	}
	if out.KeyPEM, err = os.ReadFile(filepath.Join(dir, "ca.key")); err != nil {
		return out, err
	}
	if out.Certificate, err = decodeCertificate(out.CertPEM); err != nil {
		return out, fmt.Errorf("ca.crt: %w", err)
	}
	if out.Key, err = decodeKey(out.KeyPEM); err != nil {
		return out, fmt.Errorf("ca.key: %w", err)
	}
	return out, nil
}

// IssueClient makes a key and a client certificate for a user (the common name) in groups (the organizations), as
// Kubernetes reads them, valid for life but not longer than the CA. Nothing is written to files.
func (ca KeyPair) IssueClient(name string, groups []string, life time.Duration) (KeyPair, error) {
	if name == "" {
		return KeyPair{}, errors.New("a client certificate needs a name")
	}
	return ca.issueClient(realEnv(clock.RealClock{}), pkix.Name{CommonName: name, Organization: groups}, life)
}

func (ca KeyPair) issueClient(env env, subject pkix.Name, life time.Duration) (_ KeyPair, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("making a certificate for %q: %w", subject.CommonName, err)
		}
	}()
	key, err := env.generateKey()
	if err != nil {
		return KeyPair{}, err
	}
	out := KeyPair{Key: key}
	if out.KeyPEM, err = encodeKey(key); err != nil {
		return KeyPair{}, err
	}
	now := env.now()
	template := &x509.Certificate{
		Subject:               subject,
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(life),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
	}
	if ca.Certificate.NotAfter.Before(template.NotAfter) {
		template.NotAfter = ca.Certificate.NotAfter
	}
	if template.SerialNumber, err = serialNumber(env.random); err != nil {
		return KeyPair{}, err
	}
	public, _ := key.Public().(*ecdsa.PublicKey)
	der, err := env.createCertificate(template, ca.Certificate, public, ca.Key)
	if err != nil {
		return KeyPair{}, err
	}
	if out.Certificate, err = x509.ParseCertificate(der); err != nil {
		return KeyPair{}, err
	}
	out.CertPEM = encodeCertificate(der)
	return out, nil
}
