// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package parity has tests only. They hold the registries that are generated from the checked-in declarations against
// those of kube-apiserver: discovery, what an endpoint can do, reset fields, selectable fields; and they look at what
// no client can see until it is slow, the indexes of the watch cache.
package parity
