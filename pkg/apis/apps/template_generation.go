// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package apps

import (
	"maps"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kube-apiserver keeps the template generation of a DaemonSet in a field of its internal type, spec.templateGeneration,
// that v1 shows as an annotation. Here v1 is the hub, so the annotation is where it lives; the functions below are
// the only ones that know the way.

// hidden marks a selfLink that stands in for the annotation; see HideTemplateGeneration.
const hidden = appsv1.DeprecatedTemplateGeneration + "="

// TemplateGeneration returns how often the template of ds has changed, counted from 1. It is 0 for an object that has
// no (readable) count.
func TemplateGeneration(ds *appsv1.DaemonSet) int64 {
	value, ok := ds.Annotations[appsv1.DeprecatedTemplateGeneration]
	if !ok {
		value, _, _ = hiddenTemplateGeneration(ds)
	}
	generation, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0
	}
	return generation
}

// SetTemplateGeneration sets the count. The map of annotations is replaced, not written to: it may be shared.
func SetTemplateGeneration(ds *appsv1.DaemonSet, generation int64) {
	value := strconv.FormatInt(generation, 10)
	if old, ok := ds.Annotations[appsv1.DeprecatedTemplateGeneration]; ok && old == value {
		return
	}
	ds.Annotations = withTemplateGeneration(ds.Annotations, value)
}

func withTemplateGeneration(annotations map[string]string, value string) map[string]string {
	all := make(map[string]string, len(annotations)+1)
	maps.Copy(all, annotations)
	all[appsv1.DeprecatedTemplateGeneration] = value
	return all
}

// WithoutTemplateGeneration returns ds with the metadata of upstream's internal type, which has no annotation for the
// template generation: it is what kube-apiserver shows when it is asked for metadata alone. ds is not changed; the
// result shares everything else with it.
func WithoutTemplateGeneration(ds *appsv1.DaemonSet) *appsv1.DaemonSet {
	if _, ok := ds.Annotations[appsv1.DeprecatedTemplateGeneration]; !ok {
		return ds
	}
	view := *ds
	view.Annotations = maps.Clone(ds.Annotations)
	delete(view.Annotations, appsv1.DeprecatedTemplateGeneration)
	return &view
}

// HideTemplateGeneration moves the count from the annotations to selfLink, but only where the annotations would
// otherwise be too large: kube-apiserver doesn't count this one against the limit of 256 KiB, and the library
// validates metadata on its own, out of reach of a strategy. RevealTemplateGeneration undoes it once the object is
// found valid; nothing between the two reads selfLink, and no storage keeps it.
func HideTemplateGeneration(ds *appsv1.DaemonSet) {
	value, ok := ds.Annotations[appsv1.DeprecatedTemplateGeneration]
	if !ok || apimachineryvalidation.ValidateAnnotationsSize(ds.Annotations) == nil {
		return
	}
	ds.Annotations = WithoutTemplateGeneration(ds).Annotations
	ds.SetSelfLink(hidden + value + ";" + ds.GetSelfLink())
}

// RevealTemplateGeneration undoes HideTemplateGeneration, to the letter. It does nothing where nothing is hidden.
func RevealTemplateGeneration(ds *appsv1.DaemonSet) {
	value, selfLink, ok := hiddenTemplateGeneration(ds)
	if !ok {
		return
	}
	ds.Annotations = withTemplateGeneration(ds.Annotations, value)
	ds.SetSelfLink(selfLink)
}

// hiddenTemplateGeneration takes apart the selfLink of an object whose count is hidden. An object that has the
// annotation hides nothing, so that a selfLink sent by a client isn't mistaken for ours.
func hiddenTemplateGeneration(ds *appsv1.DaemonSet) (value, selfLink string, ok bool) {
	if _, has := ds.Annotations[appsv1.DeprecatedTemplateGeneration]; has {
		return "", "", false
	}
	rest, ok := strings.CutPrefix(ds.GetSelfLink(), hidden)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ";")
}

// internalMetadata returns the metadata that upstream's validation sees. The annotation itself is always valid, so it
// matters only where it makes all of them together too large.
func internalMetadata(ds *appsv1.DaemonSet) *metav1.ObjectMeta {
	if apimachineryvalidation.ValidateAnnotationsSize(ds.Annotations) == nil {
		return &ds.ObjectMeta
	}
	return &WithoutTemplateGeneration(ds).ObjectMeta
}
