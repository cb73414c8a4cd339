// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package gen builds objects for tests: a valid one of each kind from a name, and options that change what a case is
// about. Files are one a kind.
//
//	csr := gen.CSR("robot", gen.WithSigner("example.com/other"), gen.Approved())
//
// Every call returns memory of its own. Random objects depend on nothing but the generator they are given, so that a
// test with a fixed seed sees the same ones in every run.
package gen
