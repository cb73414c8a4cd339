// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package pki is the standalone server's own identity: a CA that it makes once, a serving certificate and an
// administrator's client certificate that it renews, and the kubeconfig that ties them together.
//
// # Files
//
// All are PEM, in one directory of mode 0700 that belongs to the server:
//
//	ca.crt       ca.key        ECDSA P-256, 10 years. Made if neither is there, and never written again.
//	serving.crt  serving.key   1 year, for the server's names and addresses.
//	admin.crt    admin.key     1 year, for the user kubernetes-admin in the group system:masters.
//	LOCK                       locked while the files are looked at.
//
// Keys have mode 0600, certificates 0644. Each file is replaced as a whole: written next to its place, synced, renamed.
//
// # What Ensure mends and what it reports
//
// A key without its certificate is what a process leaves that is killed in its first start: the certificate is made. A
// certificate is made anew, for the same key, when less than a third of its life is left, when the names that it is for
// have changed, or when the CA is another one than the one of ours that issued it. Everything else (a certificate without
// its key, a pair that does not match, a file that is no PEM, a certificate that somebody else has issued, a CA that has
// expired) may be somebody's intention or the only copy of something: Ensure changes nothing, and its error names the file
// and what can be done.
//
// Certificates follow RFC 5280: random serial numbers of 128 bits, subject and authority key identifiers (by RFC 7093,
// section 2, method 1), basic constraints, and no key usage that ECDSA has no use for.
package pki
