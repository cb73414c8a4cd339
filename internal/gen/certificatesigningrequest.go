// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
)

// robotRequest is a PKCS#10 request for O=dev-team, CN=robot-17 with a P-256 key, made by openssl. It never expires.
const robotRequest = `-----BEGIN CERTIFICATE REQUEST-----
MIHiMIGIAgEAMCYxETAPBgNVBAoMCGRldi10ZWFtMREwDwYDVQQDDAhyb2JvdC0x
NzBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABC0S3KyBtilplY0+ecVBTBgzGB68
griETguSvlQNtLOAqbg/dWiw80Tnz79ptXk58X6ZU5NnC6Qeqe91cTY/TEigADAK
BggqhkjOPQQDAgNJADBGAiEApRPPliAiGMHg1lw5ac0PpxOkPfF0xCVKGCcgQexF
ujECIQDB24gIz8I8CpXfoHxicVsRwLEVORjaV9ahG0kPjY3UIw==
-----END CERTIFICATE REQUEST-----
`

// robotCertificate answers robotRequest: a client certificate of 2020 to 2120, signed by robotAuthority.
const robotCertificate = `-----BEGIN CERTIFICATE-----
MIIBdDCCARmgAwIBAgIBAjAKBggqhkjOPQQDAjAUMRIwEAYDVQQDEwlyb2JvdHMg
Q0EwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMCYxETAPBgNVBAoT
CGRldi10ZWFtMREwDwYDVQQDEwhyb2JvdC0xNzBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABC0S3KyBtilplY0+ecVBTBgzGB68griETguSvlQNtLOAqbg/dWiw80Tn
z79ptXk58X6ZU5NnC6Qeqe91cTY/TEijSDBGMA4GA1UdDwEB/wQEAwIHgDATBgNV
HSUEDDAKBggrBgEFBQcDAjAfBgNVHSMEGDAWgBQo2KWS1ZDUp/XUxDAin523I1fO
+TAKBggqhkjOPQQDAgNJADBGAiEAk1/W7CQZ52kJwCYatw6A5ZwGvCJmZCfbtKwP
OPqnq/gCIQDKObw0TOaGtNl8doI7/AmiQxU4Kn4DETPsfvYKmpsxHg==
-----END CERTIFICATE-----
`

// robotAuthority is the self-signed CA certificate behind robotCertificate.
const robotAuthority = `-----BEGIN CERTIFICATE-----
MIIBWzCCAQGgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDEwlyb2JvdHMg
Q0EwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMT
CXJvYm90cyBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGdYXMtTfcHmwr6B
IUv70maNgRBvCBGzWFsvdjSxeW/PQuTpb5OjZTScKDG4ifRCXhfvw/Bh1LIkOmzu
jxIo6PSjQjBAMA4GA1UdDwEB/wQEAwICBDAPBgNVHRMBAf8EBTADAQH/MB0GA1Ud
DgQWBBQo2KWS1ZDUp/XUxDAin523I1fO+TAKBggqhkjOPQQDAgNIADBFAiB+btSH
7rt6eDLL+EogCM0s2wAR7XJodrIczYl/EE0VrQIhAOcoP+/lvHUnD5QD6U9NIjxI
bop6CtVF6A0dqgttcYcE
-----END CERTIFICATE-----
`

// RobotRequest returns a valid spec.request: one PEM block for O=dev-team, CN=robot-17 with a P-256 key. The key is
// known to nobody.
func RobotRequest() []byte { return []byte(robotRequest) }

// RobotCertificate returns a valid status.certificate for RobotRequest: one PEM block, valid from 2020 to 2120.
func RobotCertificate() []byte { return []byte(robotCertificate) }

// RobotAuthority returns the certificate of the CA that signed RobotCertificate, as one PEM block.
func RobotAuthority() []byte { return []byte(robotAuthority) }

// CSROption changes a CertificateSigningRequest that is being built.
type CSROption func(*certificatesv1.CertificateSigningRequest)

// CSR returns a CertificateSigningRequest that is valid for creation: RobotRequest to the signer "example.com/robot" for
// the usage "client auth", changed by the options in their order.
func CSR(name string, options ...CSROption) *certificatesv1.CertificateSigningRequest {
	csr := &certificatesv1.CertificateSigningRequest{
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    RobotRequest(),
			SignerName: "example.com/robot",
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
		},
	}
	csr.Name = name
	for _, change := range options {
		change(csr)
	}
	return csr
}

// WithRequest sets spec.request.
func WithRequest(pem []byte) CSROption {
	return func(csr *certificatesv1.CertificateSigningRequest) { csr.Spec.Request = pem }
}

// WithSigner sets spec.signerName.
func WithSigner(name string) CSROption {
	return func(csr *certificatesv1.CertificateSigningRequest) { csr.Spec.SignerName = name }
}

// WithUsages sets spec.usages.
func WithUsages(usages ...certificatesv1.KeyUsage) CSROption {
	return func(csr *certificatesv1.CertificateSigningRequest) { csr.Spec.Usages = usages }
}

// WithExpirationSeconds sets spec.expirationSeconds.
func WithExpirationSeconds(seconds int32) CSROption {
	return func(csr *certificatesv1.CertificateSigningRequest) { csr.Spec.ExpirationSeconds = &seconds }
}

// WithCertificate sets status.certificate.
func WithCertificate(pem []byte) CSROption {
	return func(csr *certificatesv1.CertificateSigningRequest) { csr.Status.Certificate = pem }
}

// WithCondition adds a condition to status.conditions.
func WithCondition(condition certificatesv1.CertificateSigningRequestCondition) CSROption {
	return func(csr *certificatesv1.CertificateSigningRequest) {
		csr.Status.Conditions = append(csr.Status.Conditions, condition)
	}
}

// Approved adds the condition Approved as an approver sends it: True, without times.
func Approved() CSROption { return WithCondition(verdict(certificatesv1.CertificateApproved)) }

// Denied adds the condition Denied as an approver sends it: True, without times.
func Denied() CSROption { return WithCondition(verdict(certificatesv1.CertificateDenied)) }

// Failed adds the condition Failed as a signer sends it: True, without times.
func Failed() CSROption { return WithCondition(verdict(certificatesv1.CertificateFailed)) }

func verdict(conditionType certificatesv1.RequestConditionType) certificatesv1.CertificateSigningRequestCondition {
	return certificatesv1.CertificateSigningRequestCondition{Type: conditionType, Status: corev1.ConditionTrue}
}
