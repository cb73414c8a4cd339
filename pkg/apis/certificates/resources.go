// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	certificatesv1 "k8s.io/api/certificates/v1"
)

// CertificateSigningRequest asks a signer for an X.509 certificate. What is asked is in spec and does not change
// after creation: who asks is taken from the request, never from the body. The answer is in status and has two
// ways in, so that two parties can be told apart: an approver writes conditions through /approval, a signer
// writes the certificate through /status.
//
// Upstream serves no table at /approval, so a client that asks for one is answered with the object; so do we.
//
// +pinnace:resource=certificatesigningrequests
// +pinnace:scope=Cluster
// +pinnace:shortName=csr
// +pinnace:resetFields=spec,status
// +pinnace:selectableField=spec.signerName
// +pinnace:decodedVersion=v1beta1
// +pinnace:columns
// +pinnace:subresource=status,resetFields=spec;status.conditions
// +pinnace:subresource=approval,resetFields=spec;status.certificate,table=false
type CertificateSigningRequest = certificatesv1.CertificateSigningRequest
