// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// PLACEHOLDER by the lead so that the server can run: the owner of pkg/pki deletes this file when writing the real package.
// pkg/server (parts.go, server.go) uses: Config{Dir}, Ensure(Config) (*Bundle, error), Bundle.{CAFile,ServingCertFile,ServingKeyFile}, Bundle.WriteKubeconfig(path, url).

package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/client-go/tools/clientcmd/api"
)

type Config struct{ Dir string }
type Bundle struct{ CAFile, ServingCertFile, ServingKeyFile, AdminCertFile, AdminKeyFile string }

func Ensure(c Config) (*Bundle, error) {
	os.MkdirAll(c.Dir, 0o700)
	f := func(n string) string { return filepath.Join(c.Dir, n) }
	b := &Bundle{f("ca.crt"), f("serving.crt"), f("serving.key"), f("admin.crt"), f("admin.key")}
	if _, err := os.Stat(b.CAFile); err == nil {
		return b, nil
	}
	var caKey crypto.Signer
	var ca *x509.Certificate
	mk := func(cn string, org []string, isCA bool, crt, key string) {
		k, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		sn, _ := rand.Int(rand.Reader, big.NewInt(1<<60))
		t := &x509.Certificate{SerialNumber: sn, Subject: pkix.Name{CommonName: cn, Organization: org}, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour * 9999), IsCA: isCA, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
		p, pk := t, crypto.Signer(k)
		if ca != nil {
			p, pk = ca, caKey
		}
		der, _ := x509.CreateCertificate(rand.Reader, t, p, k.Public(), pk)
		if isCA {
			ca, _ = x509.ParseCertificate(der)
			caKey = k
		}
		os.WriteFile(crt, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
		kd, _ := x509.MarshalECPrivateKey(k)
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: kd}), 0o600)
	}
	mk("ca", nil, true, b.CAFile, f("ca.key"))
	mk("serving", nil, false, b.ServingCertFile, b.ServingKeyFile)
	mk("kubernetes-admin", []string{"system:masters"}, false, b.AdminCertFile, b.AdminKeyFile)
	return b, nil
}

func (b *Bundle) WriteKubeconfig(path, url string) error {
	rd := func(n string) []byte { d, _ := os.ReadFile(n); return d }
	c := api.NewConfig()
	c.Clusters["pinnace"] = &api.Cluster{Server: url, CertificateAuthorityData: rd(b.CAFile)}
	c.AuthInfos["admin"] = &api.AuthInfo{ClientCertificateData: rd(b.AdminCertFile), ClientKeyData: rd(b.AdminKeyFile)}
	c.Contexts["pinnace"] = &api.Context{Cluster: "pinnace", AuthInfo: "admin"}
	c.CurrentContext = "pinnace"
	return clientcmd.WriteToFile(*c, path)
}
