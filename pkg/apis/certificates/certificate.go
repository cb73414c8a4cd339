// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// certificateBlockType is the label of RFC 7468, section 5.
const certificateBlockType = "CERTIFICATE"

// checkCertificate returns why data can't be the status.certificate of a CertificateSigningRequest, nil if it can.
// Empty data is a certificate not issued yet. Otherwise there is at least one PEM block; each is labelled CERTIFICATE,
// has no headers and holds DER certificates (RFC 5280, section 4). Text around the blocks is free (RFC 7468, section 5.2).
func checkCertificate(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	blocks := 0
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if err := checkCertificateBlock(block); err != nil {
			return err
		}
		blocks++
	}
	if blocks == 0 {
		return errors.New("must contain at least one CERTIFICATE PEM block")
	}
	return nil
}

func checkCertificateBlock(block *pem.Block) error {
	if block.Type != certificateBlockType {
		return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
	}
	if len(block.Headers) != 0 {
		return errors.New("no PEM block headers are permitted")
	}
	certs, err := x509.ParseCertificates(block.Bytes)
	if err != nil {
		return err
	}
	if len(certs) == 0 {
		return errors.New("found CERTIFICATE PEM block containing 0 certificates")
	}
	return nil
}
