// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
)

// requestBlockType is the label of RFC 7468, section 7. The older "NEW CERTIFICATE REQUEST" is refused, as upstream
// refuses it.
const requestBlockType = "CERTIFICATE REQUEST"

// ParseRequest returns the PKCS#10 request (RFC 2986) in the first PEM block of data, which is what spec.request of a
// CertificateSigningRequest holds. Text around the block, its headers and further blocks are ignored. The signature
// is not checked. Error texts are part of the API: they reach clients as the detail of spec.request.
func ParseRequest(data []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != requestBlockType {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

// checkRequest returns why data is not a request that its own key has signed, nil if it is.
func checkRequest(data []byte) error {
	request, err := ParseRequest(data)
	if err != nil {
		return err
	}
	return request.CheckSignature()
}
