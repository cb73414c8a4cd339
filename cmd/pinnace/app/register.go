// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package app

// The library lets a program choose these by importing them; they are what kube-apiserver imports
// (cmd/kube-apiserver/apiserver.go of k8s.io/kubernetes).
import (
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // rest_client_* metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // kubernetes_build_info
)
