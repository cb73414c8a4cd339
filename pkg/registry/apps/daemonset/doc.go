// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package daemonset decides what happens to a DaemonSet that is created, updated, or shown in a table.
package daemonset
