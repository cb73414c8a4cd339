// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package podtemplate

import "k8s.io/kubernetes/pkg/capabilities"

// AllowPrivileged says whether templates may have privileged containers, as the flag --allow-privileged of
// kube-apiserver does. Upstream keeps that for the process: the first call counts, and without one before the first
// validation they are refused.
func AllowPrivileged(allow bool) {
	capabilities.Setup(allow, 0)
}
