// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package parity plays a corpus of requests on servers and compares their answers: those of kube-apiserver, live or
// recorded, with those of Pinnace. testdata/corpus/README.md describes the corpus.
package parity
