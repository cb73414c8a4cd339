// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"time"

	"k8s.io/utils/clock"
)

// env is the outside world, which tests replace.
type env struct {
	now      func() time.Time
	hostname func() (string, error)
	// random is for serial numbers alone: since Go 1.26 key generation and signatures use no source but the system's.
	random            io.Reader
	generateKey       func() (*ecdsa.PrivateKey, error)
	createCertificate func(template, parent *x509.Certificate, public *ecdsa.PublicKey, signer crypto.Signer) ([]byte, error)
	// createTemp makes a file that only its owner can read, as os.CreateTemp does.
	createTemp func(dir, pattern string) (tempFile, error)
	rename     func(from, to string) error
	syncDir    func(dir string) error
}

// tempFile is what is needed of an *os.File.
type tempFile interface {
	io.WriteCloser
	Name() string
	Chmod(os.FileMode) error
	Sync() error
}

func realEnv(clock clock.PassiveClock) env {
	return env{
		now:         clock.Now,
		hostname:    os.Hostname,
		random:      rand.Reader,
		generateKey: func() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) },
		createCertificate: func(template, parent *x509.Certificate, public *ecdsa.PublicKey, signer crypto.Signer) ([]byte, error) {
			return x509.CreateCertificate(rand.Reader, template, parent, public, signer)
		},
		createTemp: func(dir, pattern string) (tempFile, error) { return os.CreateTemp(dir, pattern) },
		rename:     os.Rename,
		syncDir:    syncDir,
	}
}

// serialNumber returns a random number of 128 bits that is not zero (RFC 5280, 4.1.2.2 allows 160 bits).
func serialNumber(random io.Reader) (*big.Int, error) {
	limit := new(big.Int).Lsh(big.NewInt(1), 128)
	n, err := rand.Int(random, limit.Sub(limit, big.NewInt(1)))
	if err != nil {
		return nil, fmt.Errorf("serial number: %w", err)
	}
	return n.Add(n, big.NewInt(1)), nil
}

// keyID returns the identifier of a key: the leftmost 160 bits of the SHA-256 of its bits (RFC 7093, section 2, method 1).
func keyID(public *ecdsa.PublicKey) ([]byte, error) {
	bits, err := public.Bytes()
	if err != nil {
		return nil, fmt.Errorf("key identifier: %w", err)
	}
	sum := sha256.Sum256(bits)
	return sum[:20], nil
}

const (
	certType    = "CERTIFICATE"
	ecKeyType   = "EC PRIVATE KEY"
	pkcs8Type   = "PRIVATE KEY"
	otherBlocks = "it has more than one PEM block"
)

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certType, Bytes: der})
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: ecKeyType, Bytes: der}), nil
}

// decodeCertificate reads a file that holds one certificate.
func decodeCertificate(content []byte) (*x509.Certificate, error) {
	block, rest := pem.Decode(content)
	switch {
	case block == nil || block.Type != certType:
		return nil, errors.New("it is not a PEM certificate")
	case hasBlock(rest):
		return nil, errors.New(otherBlocks)
	}
	return x509.ParseCertificate(block.Bytes)
}

// decodeKey reads a file that holds one private key, in SEC 1 or PKCS #8 form.
func decodeKey(content []byte) (crypto.Signer, error) {
	block, rest := pem.Decode(content)
	switch {
	case block == nil:
		return nil, errors.New("it is not a PEM private key")
	case hasBlock(rest):
		return nil, errors.New(otherBlocks)
	case block.Type == ecKeyType:
		return x509.ParseECPrivateKey(block.Bytes)
	case block.Type != pkcs8Type:
		return nil, errors.New("it is not a PEM private key")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("a %T cannot sign", key)
	}
	return signer, nil
}

func hasBlock(content []byte) bool {
	block, _ := pem.Decode(content)
	return block != nil
}
