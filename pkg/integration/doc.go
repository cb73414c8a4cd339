// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package integration holds only tests: real HTTP to a whole server over real etcd.
//
// The tests start a standalone server of their own. With PINNACE_TEST_KUBECONFIG set they run against the server that
// the file names instead, such as a kube-apiserver 1.37, whose answers are what every expectation here was taken
// from; tests of what only Pinnace has are skipped then. A test owns a namespace, or names that it made up, and leaves
// other objects alone, so that all of them can run at once.
package integration
