// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package core

import corev1 "k8s.io/api/core/v1"

// SetDefaults_Namespace labels a namespace with its own name, so that selectors can pick it by name (KEP-2161).
// A namespace that is still to be named by generateName gets the label from the strategy's Canonicalize.
func SetDefaults_Namespace(ns *corev1.Namespace) {
	if ns.Name != "" {
		LabelWithName(ns)
	}
}

// SetDefaults_NamespaceStatus makes a namespace without a phase active: those stored before there were phases.
func SetDefaults_NamespaceStatus(status *corev1.NamespaceStatus) {
	if status.Phase == "" {
		status.Phase = corev1.NamespaceActive
	}
}

// LabelWithName sets the label kubernetes.io/metadata.name, whatever value it had.
func LabelWithName(ns *corev1.Namespace) {
	if ns.Labels == nil {
		ns.Labels = map[string]string{}
	}
	ns.Labels[corev1.LabelMetadataName] = ns.Name
}
