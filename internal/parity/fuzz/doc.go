// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package fuzz looks for differences between two servers with random DaemonSets: each is created on both, without being
// stored. One that is answered differently is made small before it is reported.
package fuzz
