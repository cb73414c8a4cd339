// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package certificatesigningrequest decides how CertificateSigningRequests of certificates.k8s.io/v1 are created, changed
// and shown. Who a request comes from, and what each endpoint may write, is settled here before validation:
//
//   - creation takes request, signerName, expirationSeconds and usages from the client, the requestor's identity from
//     the authenticated user, and leaves the status empty;
//   - the main endpoint changes metadata only;
//   - /status changes the certificate and every condition but the approvals (Approved and Denied);
//   - /approval changes conditions only.
//
// What an endpoint may not write is dropped without a word, or refused by the validation in pkg/apis/certificates.
// The rules are those of pkg/registry/certificates/certificates in k8s.io/kubernetes.
package certificatesigningrequest
