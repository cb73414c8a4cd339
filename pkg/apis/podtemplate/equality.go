// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package podtemplate

import (
	"bytes"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Equal tells whether two templates mean the same: whether Semantic.DeepEqual of k8s.io/apimachinery finds them equal,
// for which an empty list is an absent one and 1Gi is 1073741824.
//
// Every update compares templates several times, and most find no difference. That walk by reflection is the largest
// part of what a strategy costs, so equality is first looked for in the encoding, which takes a tenth of the time.
func Equal(a, b *corev1.PodTemplateSpec) bool {
	return sameEncoding(a, b) || apiequality.Semantic.DeepEqual(a, b)
}

// sameEncoding tells whether both templates are the same in protobuf; then they are Equal. The reverse isn't true: the
// encoding of a quantity depends on how it was written.
func sameEncoding(a, b *corev1.PodTemplateSpec) bool {
	if !exactInProtobuf(a) || !exactInProtobuf(b) {
		return false
	}
	size := a.Size()
	if size != b.Size() {
		return false
	}
	buffer := make([]byte, 2*size)
	_, errA := a.MarshalToSizedBuffer(buffer[:size])
	_, errB := b.MarshalToSizedBuffer(buffer[size:])
	return errA == nil && errB == nil && bytes.Equal(buffer[:size], buffer[size:])
}

// exactInProtobuf is false for a template that has a moment in it: the encoding drops fractions of a second. Only
// metadata has any, and that of a template is filled by mistake.
func exactInProtobuf(t *corev1.PodTemplateSpec) bool {
	if hasMoments(&t.ObjectMeta) {
		return false
	}
	for i := range t.Spec.Volumes {
		ephemeral := t.Spec.Volumes[i].Ephemeral
		if ephemeral != nil && ephemeral.VolumeClaimTemplate != nil && hasMoments(&ephemeral.VolumeClaimTemplate.ObjectMeta) {
			return false
		}
	}
	return true
}

func hasMoments(meta *metav1.ObjectMeta) bool {
	return !meta.CreationTimestamp.IsZero() || meta.DeletionTimestamp != nil || len(meta.ManagedFields) != 0
}
