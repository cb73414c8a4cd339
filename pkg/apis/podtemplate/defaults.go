// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package podtemplate

import (
	corev1 "k8s.io/api/core/v1"
	core "k8s.io/kubernetes/pkg/apis/core"
	upstream "k8s.io/kubernetes/pkg/apis/core/v1"
)

// SetDefaults fills the unset fields of a template that has just been decoded, in place.
//
// A template is defaulted in the same way in every kind that holds one, PodTemplate among them, whose function calls
// nothing but the template's part (compare SetObjectDefaults_PodTemplate in pkg/apis/core/v1 with
// SetObjectDefaults_DaemonSet in pkg/apis/apps/v1 of k8s.io/kubernetes).
func SetDefaults(t *corev1.PodTemplateSpec) {
	wrapper := corev1.PodTemplate{Template: *t}
	upstream.SetObjectDefaults_PodTemplate(&wrapper)
	*t = wrapper.Template
}

// Normalize does to t what clients of kube-apiserver see of its conversion of a template from v1 to the internal type
// and back. Afterwards every further conversion succeeds and changes nothing. Memory that t refers to is not written
// to, it may belong to others.
//
// The round trip is always made: it costs two copies of a struct. In v1.37 it changes nothing at all, since what it
// used to do was moved to defaults (serviceAccount) and to DropDisabledFields (annotations of init containers).
func Normalize(t *corev1.PodTemplateSpec) error {
	var internal core.PodTemplateSpec
	if err := upstream.Convert_v1_PodTemplateSpec_To_core_PodTemplateSpec(t, &internal, nil); err != nil {
		return err
	}
	return upstream.Convert_core_PodTemplateSpec_To_v1_PodTemplateSpec(&internal, t, nil)
}
