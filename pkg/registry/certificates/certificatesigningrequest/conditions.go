// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificatesigningrequest

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
)

// keepConditions puts the stored conditions of one type in the places where newConditions has conditions of that type,
// first for first. If there are more or fewer of them than stored it leaves them alone.
func keepConditions(newConditions, oldConditions []certificatesv1.CertificateSigningRequestCondition, conditionType certificatesv1.RequestConditionType) {
	places, stored := indices(newConditions, conditionType), indices(oldConditions, conditionType)
	if len(places) != len(stored) {
		return
	}
	for i, place := range places {
		newConditions[place] = oldConditions[stored[i]]
	}
}

func indices(conditions []certificatesv1.CertificateSigningRequestCondition, conditionType certificatesv1.RequestConditionType) []int {
	var found []int
	for i := range conditions {
		if conditions[i].Type == conditionType {
			found = append(found, i)
		}
	}
	return found
}

// fillConditionTimes sets the times that newConditions lack. The last update is now. So is the last transition, unless
// a condition of the same type and status is stored with one: then nothing has transitioned since.
func fillConditionTimes(now clock.PassiveClock, newConditions, oldConditions []certificatesv1.CertificateSigningRequestCondition) {
	moment := metav1.NewTime(now.Now())
	transitions := transitionTimes(oldConditions)
	for i := range newConditions {
		condition := &newConditions[i]
		if condition.LastUpdateTime.IsZero() {
			condition.LastUpdateTime = moment
		}
		if condition.LastTransitionTime.IsZero() {
			condition.LastTransitionTime = moment
			if stored, ok := transitions[stateOf(condition)]; ok {
				condition.LastTransitionTime = stored
			}
		}
	}
}

// state is what a transition is away from.
type state struct {
	conditionType certificatesv1.RequestConditionType
	status        corev1.ConditionStatus
}

func stateOf(condition *certificatesv1.CertificateSigningRequestCondition) state {
	return state{conditionType: condition.Type, status: condition.Status}
}

// transitionTimes returns when each state was reached: of several conditions in one state the first that knows counts.
func transitionTimes(conditions []certificatesv1.CertificateSigningRequestCondition) map[state]metav1.Time {
	times := make(map[state]metav1.Time, len(conditions))
	for i := range conditions {
		condition := &conditions[i]
		if _, known := times[stateOf(condition)]; !known && !condition.LastTransitionTime.IsZero() {
			times[stateOf(condition)] = condition.LastTransitionTime
		}
	}
	return times
}
