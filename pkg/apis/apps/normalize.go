// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package apps

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/pinnace-io/pinnace/pkg/apis/podtemplate"
)

// NewDaemonSet returns what NormalizeDaemonSet makes of an empty object. It is what clients see of a bookmark.
func NewDaemonSet() *appsv1.DaemonSet {
	ds := &appsv1.DaemonSet{}
	SetTemplateGeneration(ds, 0)
	return ds
}

// NormalizeDaemonSet does to ds what clients of kube-apiserver see of its conversion from v1 to the internal type and
// back (pkg/apis/apps/v1/conversion.go of k8s.io/kubernetes):
//
//   - the annotation deprecated.daemonset.template.generation is there, in canonical form: "0" when it was absent;
//   - updateStrategy.rollingUpdate, where there is one, has both of its values: 0 for one that was absent;
//   - the pod template went through upstream's internal type.
//
// An annotation that is not a decimal int64 is an error, the one of strconv.ParseInt, as upstream answers it; ds is
// then unchanged. The function writes to ds alone, never to maps or structs that ds refers to, since a patched object
// may share them with the watch cache. Doing it twice changes nothing more.
func NormalizeDaemonSet(ds *appsv1.DaemonSet) error {
	var generation int64
	if value, ok := ds.Annotations[appsv1.DeprecatedTemplateGeneration]; ok {
		parsed, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return err
		}
		generation = parsed
	}
	if err := podtemplate.Normalize(&ds.Spec.Template); err != nil {
		return err
	}
	SetTemplateGeneration(ds, generation)
	normalizeRollingUpdate(&ds.Spec.UpdateStrategy)
	return nil
}

// normalizeRollingUpdate fills what is absent: upstream's internal type holds both values by value.
func normalizeRollingUpdate(strategy *appsv1.DaemonSetUpdateStrategy) {
	rolling := strategy.RollingUpdate
	if rolling == nil || (rolling.MaxUnavailable != nil && rolling.MaxSurge != nil) {
		return
	}
	maxUnavailable, maxSurge := valuesOf(rolling)
	strategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &maxUnavailable, MaxSurge: &maxSurge}
}
