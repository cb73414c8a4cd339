// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/clock"
)

const (
	// caLife and leafLife are how long certificates are valid.
	caLife   = 10 * 365 * 24 * time.Hour
	leafLife = 365 * 24 * time.Hour

	// backdate makes up for clocks that are behind ours.
	backdate = 5 * time.Minute

	// Subjects. The administrator is the one that kubeadm makes, so that audit logs and role bindings read as usual.
	caName      = "pinnace-ca"
	servingName = "pinnace"
	adminName   = "kubernetes-admin"
	adminGroup  = "system:masters"
)

// Config says whose identity is wanted.
type Config struct {
	// Dir is the directory of the files, "<data directory>/pki". It is made with mode 0700, and tightened to it.
	// Required.
	Dir string

	// Names and IPs are what the serving certificate is for, besides localhost, 127.0.0.1, ::1, the host name,
	// kubernetes, kubernetes.default and kubernetes.default.svc. A name may begin with "*.". The unspecified addresses
	// (0.0.0.0, ::) are left out: nobody can connect to them.
	Names []string
	IPs   []net.IP

	// Clock tells the time. Default: the real one.
	Clock clock.PassiveClock
}

// validate returns all that is wrong with a configuration.
func (c Config) validate() error {
	var errs []error
	if c.Dir == "" {
		errs = append(errs, errors.New("Dir: required")) //nolint:staticcheck // the field's name
	}
	for _, name := range c.Names {
		if msgs := nameErrors(name); len(msgs) > 0 {
			errs = append(errs, fmt.Errorf("Names: %q is not a DNS name: %s", name, strings.Join(msgs, ", "))) //nolint:staticcheck // the field's name
		}
	}
	for _, ip := range c.IPs {
		if ip.To16() == nil {
			errs = append(errs, fmt.Errorf("IPs: %q is not an address", ip.String()))
		}
	}
	return errors.Join(errs...)
}

// nameErrors returns why a name can't be in a certificate.
func nameErrors(name string) []string {
	if strings.HasPrefix(name, "*.") {
		return validation.IsWildcardDNS1123Subdomain(name)
	}
	return validation.IsDNS1123Subdomain(name)
}

// KeyPair is a certificate and its key.
type KeyPair struct {
	// CertPEM and KeyPEM are the files' contents.
	CertPEM, KeyPEM []byte
	// Certificate and Key are what is in them.
	Certificate *x509.Certificate
	Key         crypto.Signer
}

// Bundle is the server's identity.
type Bundle struct {
	// The paths of the files. Ensure has made all of them.
	CAFile, CAKeyFile               string
	ServingCertFile, ServingKeyFile string
	AdminCertFile, AdminKeyFile     string

	// CA signs the other two. Clients trust its certificate, and the server trusts clients that it has signed for.
	CA KeyPair
	// Serving is what the server shows.
	Serving KeyPair
	// Admin is what the administrator shows.
	Admin KeyPair
}

// pair is a key pair and its files.
type pair struct {
	KeyPair
	certFile, keyFile string
}

// Ensure makes and renews the files as the package comment has it, and returns what is in them. Processes that run it in
// one directory wait for each other.
func Ensure(config Config) (*Bundle, error) {
	if config.Clock == nil {
		config.Clock = clock.RealClock{}
	}
	return ensure(config, realEnv(config.Clock))
}

func ensure(config Config, env env) (_ *Bundle, err error) {
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("pki: %w", err)
	}
	store, err := openStore(config.Dir, env)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.close()) }()

	ca, err := store.ensureCA()
	if err != nil {
		return nil, err
	}
	names, ips := subjectAlternativeNames(config, env)
	serving, err := store.ensureLeaf(ca, leaf{
		file: "serving", subject: pkix.Name{CommonName: servingName}, usage: x509.ExtKeyUsageServerAuth, names: names, ips: ips,
	})
	if err != nil {
		return nil, err
	}
	admin, err := store.ensureLeaf(ca, leaf{
		file: "admin", subject: pkix.Name{CommonName: adminName, Organization: []string{adminGroup}}, usage: x509.ExtKeyUsageClientAuth,
	})
	if err != nil {
		return nil, err
	}
	return &Bundle{
		CAFile: ca.certFile, CAKeyFile: ca.keyFile, CA: ca.KeyPair,
		ServingCertFile: serving.certFile, ServingKeyFile: serving.keyFile, Serving: serving.KeyPair,
		AdminCertFile: admin.certFile, AdminKeyFile: admin.keyFile, Admin: admin.KeyPair,
	}, nil
}

// subjectAlternativeNames returns what the serving certificate is for, sorted, each once.
func subjectAlternativeNames(config Config, env env) ([]string, []net.IP) {
	names := append([]string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}, config.Names...)
	// A host whose name can't be told or put into a certificate is reached by others.
	if host, err := env.hostname(); err == nil && len(nameErrors(strings.ToLower(host))) == 0 {
		names = append(names, strings.ToLower(host))
	}
	slices.Sort(names)
	ips := []net.IP{net.IPv4(127, 0, 0, 1).To4(), net.IPv6loopback}
	for _, ip := range config.IPs {
		if ip.IsUnspecified() {
			continue
		}
		if v4 := ip.To4(); v4 != nil {
			ip = v4 // as certificates have it
		}
		ips = append(ips, ip)
	}
	slices.SortFunc(ips, func(a, b net.IP) int { return strings.Compare(string(a), string(b)) })
	return slices.Compact(names), slices.CompactFunc(ips, net.IP.Equal)
}

// ensureCA loads the CA, or makes it if there is none.
func (s *store) ensureCA() (pair, error) {
	found, err := s.load("ca")
	if err != nil {
		return pair{}, err
	}
	if found.Certificate == nil {
		// A key alone is what a first start leaves that was killed, before there was anything else.
		if other := s.firstOf("serving.crt", "admin.crt"); found.Key != nil && other != "" {
			return pair{}, fmt.Errorf("%s is missing, but its key and %s are there: put it back, or remove %s to have a new CA made, which clients must be told to trust",
				found.certFile, other, found.keyFile)
		}
		return s.makeCA(found)
	}
	cert, now := found.Certificate, s.env.now()
	const remedy = "put the right file back, or remove ca.crt and ca.key to have a new CA made, which clients must be told to trust"
	switch {
	case !cert.IsCA || cert.KeyUsage&x509.KeyUsageCertSign == 0:
		return pair{}, fmt.Errorf("%s is not the certificate of a CA: %s", found.certFile, remedy)
	case now.Before(cert.NotBefore):
		return pair{}, fmt.Errorf("%s is not valid before %s, and it is %s: set the clock", found.certFile, stamp(cert.NotBefore), stamp(now))
	case !now.Before(cert.NotAfter):
		return pair{}, fmt.Errorf("%s has expired at %s: %s", found.certFile, stamp(cert.NotAfter), remedy)
	}
	return found, nil
}

// makeCA makes the CA's certificate, and its key if the pair has none.
func (s *store) makeCA(found pair) (pair, error) {
	now := s.env.now()
	return s.issue("ca", found, nil, &x509.Certificate{
		Subject:   pkix.Name{CommonName: caName},
		NotBefore: now.Add(-backdate),
		NotAfter:  now.Add(caLife),
		KeyUsage:  x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
		IsCA:      true,
		// It signs no other CA.
		MaxPathLenZero: true,
	})
}

// leaf is a certificate that is wanted.
type leaf struct {
	file    string // without its extension
	subject pkix.Name
	usage   x509.ExtKeyUsage
	names   []string
	ips     []net.IP
}

// ensureLeaf loads a certificate that the CA has issued, and issues it if it is not as it should be.
func (s *store) ensureLeaf(ca pair, want leaf) (pair, error) {
	found, err := s.load(want.file)
	if err != nil {
		return pair{}, err
	}
	if cert := found.Certificate; cert != nil {
		if cert.Issuer.String() != ca.Certificate.Subject.String() {
			return pair{}, fmt.Errorf("%s was issued by %q, not by %s: remove it and %s to have them made anew",
				found.certFile, cert.Issuer, ca.certFile, found.keyFile)
		}
		if s.good(ca, cert, want) {
			return found, nil
		}
	}
	now := s.env.now()
	end := now.Add(leafLife)
	if ca.Certificate.NotAfter.Before(end) {
		end = ca.Certificate.NotAfter
	}
	return s.issue(want.file, found, &ca, &x509.Certificate{
		Subject:     want.subject,
		NotBefore:   now.Add(-backdate),
		NotAfter:    end,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{want.usage},
		DNSNames:    want.names,
		IPAddresses: want.ips,
	})
}

// good tells whether a certificate of ours will do: this CA has signed it, it is for what is wanted, and more than a third
// of its life is left.
func (s *store) good(ca pair, cert *x509.Certificate, want leaf) bool {
	now := s.env.now()
	left, life := cert.NotAfter.Sub(now), cert.NotAfter.Sub(cert.NotBefore)
	return cert.CheckSignatureFrom(ca.Certificate) == nil &&
		cert.Subject.String() == want.subject.String() &&
		slices.Equal(cert.ExtKeyUsage, []x509.ExtKeyUsage{want.usage}) &&
		slices.Equal(cert.DNSNames, want.names) &&
		slices.EqualFunc(cert.IPAddresses, want.ips, net.IP.Equal) &&
		!now.Before(cert.NotBefore) && left > life/3
}

// issue makes a certificate for the pair's key, or for a new one, and writes what it made. The key is written first: alone
// it does no harm. parent is nil for a certificate that signs itself.
func (s *store) issue(file string, found pair, parent *pair, template *x509.Certificate) (pair, error) {
	fail := func(err error) (pair, error) { return pair{}, fmt.Errorf("making %s: %w", found.certFile, err) }
	if found.Key == nil {
		key, err := s.env.generateKey()
		if err != nil {
			return fail(err)
		}
		if found.KeyPEM, err = encodeKey(key); err != nil {
			return fail(err)
		}
		if err := s.write(file+".key", found.KeyPEM, keyMode); err != nil {
			return fail(err)
		}
		found.Key = key
	}
	public, ok := found.Key.Public().(*ecdsa.PublicKey)
	if !ok {
		return fail(fmt.Errorf("%s is not an ECDSA key", found.keyFile))
	}
	var err error
	if template.SerialNumber, err = serialNumber(s.env.random); err != nil {
		return fail(err)
	}
	if template.SubjectKeyId, err = keyID(public); err != nil {
		return fail(err)
	}
	template.BasicConstraintsValid = true
	issuer, signer := template, found.Key
	if parent != nil {
		issuer, signer = parent.Certificate, parent.Key
	}
	der, err := s.env.createCertificate(template, issuer, public, signer)
	if err != nil {
		return fail(err)
	}
	if found.Certificate, err = x509.ParseCertificate(der); err != nil {
		return fail(err)
	}
	found.CertPEM = encodeCertificate(der)
	if err := s.write(file+".crt", found.CertPEM, certMode); err != nil {
		return fail(err)
	}
	return found, nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// firstOf returns the path of the first of some files that is there, "" if none is.
func (s *store) firstOf(names ...string) string {
	for _, name := range names {
		if path := filepath.Join(s.dir, name); exists(path) {
			return path
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
