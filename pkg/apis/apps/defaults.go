// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/pinnace-io/pinnace/pkg/apis/podtemplate"
)

// defaultRevisionHistoryLimit is how many old ControllerRevisions of a DaemonSet are kept unless it says otherwise.
const defaultRevisionHistoryLimit int32 = 10

// SetDefaults_DaemonSet fills the unset fields of a DaemonSet that has just been decoded, in place: update strategy
// RollingUpdate with maxUnavailable 1 and maxSurge 0, revisionHistoryLimit 10, and all defaults of the pod template.
// Under any other update strategy rollingUpdate is left alone.
//
// Rule: SetObjectDefaults_DaemonSet in pkg/apis/apps/v1 of k8s.io/kubernetes.
func SetDefaults_DaemonSet(ds *appsv1.DaemonSet) {
	setUpdateStrategyDefaults(&ds.Spec.UpdateStrategy)
	if ds.Spec.RevisionHistoryLimit == nil {
		limit := defaultRevisionHistoryLimit
		ds.Spec.RevisionHistoryLimit = &limit
	}
	podtemplate.SetDefaults(&ds.Spec.Template)
}

func setUpdateStrategyDefaults(strategy *appsv1.DaemonSetUpdateStrategy) {
	if strategy.Type == "" {
		strategy.Type = appsv1.RollingUpdateDaemonSetStrategyType
	}
	if strategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		return
	}
	if strategy.RollingUpdate == nil {
		strategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{}
	}
	if strategy.RollingUpdate.MaxUnavailable == nil {
		one := intstr.FromInt32(1)
		strategy.RollingUpdate.MaxUnavailable = &one
	}
	if strategy.RollingUpdate.MaxSurge == nil {
		zero := intstr.FromInt32(0)
		strategy.RollingUpdate.MaxSurge = &zero
	}
}
