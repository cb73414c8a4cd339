// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package apps

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/pinnace-io/pinnace/pkg/apis/objectmeta"
	"github.com/pinnace-io/pinnace/pkg/apis/podtemplate"
)

// The rules of this file, their messages and their order are those of pkg/apis/apps/validation/validation.go of
// k8s.io/kubernetes. Objects are expected in normalized form.

// ValidateDaemonSetName returns why name is no name for a DaemonSet. With prefix it is what a name will be generated
// from, and may end in dashes.
func ValidateDaemonSetName(name string, prefix bool) []string {
	return apimachineryvalidation.NameIsDNSSubdomain(name, prefix)
}

// ValidateDaemonSet returns what is wrong with a DaemonSet that is to be created.
func ValidateDaemonSet(ds *appsv1.DaemonSet) field.ErrorList {
	template := podtemplate.Of(&ds.Spec.Template)
	errs := objectmeta.Validate(internalMetadata(ds), true, ValidateDaemonSetName, field.NewPath("metadata"))
	return append(errs, validateDaemonSetSpec(ds, template, template.Options(nil))...)
}

// ValidateDaemonSetUpdate returns what is wrong with ds as the replacement of old. What old has wrong already is let
// pass where upstream lets it pass. The template generation must have been brought up to date.
func ValidateDaemonSetUpdate(ds, old *appsv1.DaemonSet) field.ErrorList {
	template := podtemplate.Of(&ds.Spec.Template)
	options := template.Options(podtemplate.Of(&old.Spec.Template))
	if metav1validation.LabelSelectorHasInvalidLabelValue(old.Spec.Selector) {
		options.AllowInvalidLabelValueInSelector = true
	}

	errs := objectmeta.ValidateUpdate(internalMetadata(ds), internalMetadata(old), field.NewPath("metadata"))
	errs = append(errs, validateDaemonSetSpecChange(ds, old)...)
	return append(errs, validateDaemonSetSpec(ds, template, options)...)
}

// validateDaemonSetSpecChange keeps the template generation in step with the template, and the selector as it is.
func validateDaemonSetSpecChange(ds, old *appsv1.DaemonSet) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")

	generation, oldGeneration := TemplateGeneration(ds), TemplateGeneration(old)
	if generation < oldGeneration {
		errs = append(errs, field.Invalid(spec.Child("templateGeneration"), generation, "must not be decremented"))
	} else {
		switch changed := !podtemplate.Equal(&ds.Spec.Template, &old.Spec.Template); {
		case changed && generation == oldGeneration:
			errs = append(errs, field.Invalid(spec.Child("templateGeneration"), generation, "must be incremented upon template update"))
		case !changed && generation > oldGeneration:
			errs = append(errs, field.Invalid(spec.Child("templateGeneration"), generation, "must not be incremented without template update"))
		}
	}

	return append(errs, apimachineryvalidation.ValidateImmutableField(ds.Spec.Selector, old.Spec.Selector, spec.Child("selector"))...)
}

func validateDaemonSetSpec(ds *appsv1.DaemonSet, template *podtemplate.Template, options podtemplate.Options) field.ErrorList {
	spec, path := &ds.Spec, field.NewPath("spec")
	templatePath := path.Child("template")

	errs := validateDaemonSetSelector(spec, path, options)
	errs = append(errs, template.Validate(templatePath, options)...)
	// The template's own validation knows the policies that exist; a DaemonSet takes only one of them.
	if policy := spec.Template.Spec.RestartPolicy; policy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(templatePath.Child("spec", "restartPolicy"), policy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if spec.Template.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(templatePath.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in DaemonSet is not Supported"))
	}
	errs = append(errs, notNegative(spec.MinReadySeconds, path.Child("minReadySeconds"))...)
	errs = append(errs, notNegative(TemplateGeneration(ds), path.Child("templateGeneration"))...)
	errs = append(errs, validateUpdateStrategy(&spec.UpdateStrategy, path.Child("updateStrategy"))...)
	if spec.RevisionHistoryLimit != nil { // zero is fine: no history
		errs = append(errs, notNegative(*spec.RevisionHistoryLimit, path.Child("revisionHistoryLimit"))...)
	}
	return errs
}

// validateDaemonSetSelector wants a selector that is well formed, that matches the template, and that isn't empty. A
// missing one matches nothing, so it is reported as not matching, not as missing.
func validateDaemonSetSelector(spec *appsv1.DaemonSetSpec, path *field.Path, options podtemplate.Options) field.ErrorList {
	tolerances := metav1validation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: options.AllowInvalidLabelValueInSelector}
	errs := metav1validation.ValidateLabelSelector(spec.Selector, tolerances, path.Child("selector"))

	selector, err := metav1.LabelSelectorAsSelector(spec.Selector)
	if err == nil && !selector.Matches(labels.Set(spec.Template.Labels)) {
		errs = append(errs, field.Invalid(path.Child("template", "metadata", "labels"), spec.Template.Labels, "`selector` does not match template `labels`"))
	}
	if spec.Selector != nil && len(spec.Selector.MatchLabels) == 0 && len(spec.Selector.MatchExpressions) == 0 {
		errs = append(errs, field.Invalid(path.Child("selector"), spec.Selector, "empty selector is invalid for daemonset"))
	}
	return errs
}

// validateUpdateStrategy looks into rollingUpdate only where it is in use.
func validateUpdateStrategy(strategy *appsv1.DaemonSetUpdateStrategy, path *field.Path) field.ErrorList {
	switch strategy.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
		return nil
	case appsv1.RollingUpdateDaemonSetStrategyType:
		if strategy.RollingUpdate == nil {
			return field.ErrorList{field.Required(path.Child("rollingUpdate"), "")}
		}
		return validateRollingUpdate(strategy.RollingUpdate, path.Child("rollingUpdate"))
	default:
		valid := []appsv1.DaemonSetUpdateStrategyType{appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType}
		return field.ErrorList{field.NotSupported(path, quoted(strategy), valid)}
	}
}

// quotedStrategy is an update strategy as an error shows it: the names and the shape of upstream's internal type.
type quotedStrategy struct {
	Type          appsv1.DaemonSetUpdateStrategyType
	RollingUpdate *quotedRollingUpdate
}

type quotedRollingUpdate struct {
	MaxUnavailable, MaxSurge intstr.IntOrString
}

func quoted(strategy *appsv1.DaemonSetUpdateStrategy) quotedStrategy {
	quote := quotedStrategy{Type: strategy.Type}
	if rolling := strategy.RollingUpdate; rolling != nil {
		quote.RollingUpdate = &quotedRollingUpdate{}
		quote.RollingUpdate.MaxUnavailable, quote.RollingUpdate.MaxSurge = valuesOf(rolling)
	}
	return quote
}

// valuesOf returns both values of a rolling update, 0 for one that is absent.
func valuesOf(rolling *appsv1.RollingUpdateDaemonSet) (maxUnavailable, maxSurge intstr.IntOrString) {
	return ptr.Deref(rolling.MaxUnavailable, intstr.IntOrString{}), ptr.Deref(rolling.MaxSurge, intstr.IntOrString{})
}

// validateRollingUpdate wants exactly one of the two values beyond zero.
func validateRollingUpdate(rolling *appsv1.RollingUpdateDaemonSet, path *field.Path) field.ErrorList {
	maxUnavailable, maxSurge := valuesOf(rolling)
	unavailablePath, surgePath := path.Child("maxUnavailable"), path.Child("maxSurge")

	errs := validateCountOrPercent(maxUnavailable, unavailablePath)
	errs = append(errs, validateCountOrPercent(maxSurge, surgePath)...)
	errs = append(errs, validateAtMostAll(maxUnavailable, unavailablePath)...)
	errs = append(errs, validateAtMostAll(maxSurge, surgePath)...)

	hasUnavailable, hasSurge := magnitude(maxUnavailable) != 0, magnitude(maxSurge) != 0
	switch {
	case hasUnavailable && hasSurge:
		errs = append(errs, field.Invalid(surgePath, maxSurge, "may not be set when maxUnavailable is non-zero"))
	case !hasUnavailable && !hasSurge:
		errs = append(errs, field.Required(unavailablePath, "cannot be 0 when maxSurge is 0"))
	}
	return errs
}

func validateCountOrPercent(value intstr.IntOrString, path *field.Path) field.ErrorList {
	switch value.Type {
	case intstr.Int:
		return notNegative(value.IntVal, path)
	case intstr.String:
		var errs field.ErrorList
		for _, reason := range validation.IsValidPercent(value.StrVal) {
			errs = append(errs, field.Invalid(path, value, reason))
		}
		return errs
	default: // protobuf can carry any number as the type; the two percent signs are upstream's
		return field.ErrorList{field.Invalid(path, value, "must be an integer or percentage (e.g '5%%')")}
	}
}

func validateAtMostAll(value intstr.IntOrString, path *field.Path) field.ErrorList {
	if percent, ok := percentage(value); ok && percent > 100 {
		return field.ErrorList{field.Invalid(path, value, "must not be greater than 100%")}
	}
	return nil
}

// percentage returns the number before the sign of a valid percentage. One too large for an int is the largest int.
func percentage(value intstr.IntOrString) (int, bool) {
	if value.Type != intstr.String || len(validation.IsValidPercent(value.StrVal)) != 0 {
		return 0, false
	}
	percent, _ := strconv.Atoi(value.StrVal[:len(value.StrVal)-1]) // its only error is a number out of range
	return percent, true
}

// magnitude is what decides whether a value is beyond zero: the percentage, or the number.
func magnitude(value intstr.IntOrString) int {
	if percent, ok := percentage(value); ok {
		return percent
	}
	return value.IntValue()
}

// ValidateDaemonSetStatusUpdate returns what is wrong with the metadata and status of ds as the replacement of old's.
// Numbers are checked for their sign alone, conditions not at all.
func ValidateDaemonSetStatusUpdate(ds, old *appsv1.DaemonSet) field.ErrorList {
	path := field.NewPath("status")
	errs := objectmeta.ValidateUpdate(internalMetadata(ds), internalMetadata(old), field.NewPath("metadata"))
	errs = append(errs, validateDaemonSetStatus(&ds.Status, path)...)
	return append(errs, validateCollisionCount(ds.Status.CollisionCount, old.Status.CollisionCount, path.Child("collisionCount"))...)
}

func validateDaemonSetStatus(status *appsv1.DaemonSetStatus, path *field.Path) field.ErrorList {
	errs := notNegative(status.CurrentNumberScheduled, path.Child("currentNumberScheduled"))
	errs = append(errs, notNegative(status.NumberMisscheduled, path.Child("numberMisscheduled"))...)
	errs = append(errs, notNegative(status.DesiredNumberScheduled, path.Child("desiredNumberScheduled"))...)
	errs = append(errs, notNegative(status.NumberReady, path.Child("numberReady"))...)
	errs = append(errs, notNegative(status.ObservedGeneration, path.Child("observedGeneration"))...)
	errs = append(errs, notNegative(status.UpdatedNumberScheduled, path.Child("updatedNumberScheduled"))...)
	errs = append(errs, notNegative(status.NumberAvailable, path.Child("numberAvailable"))...)
	errs = append(errs, notNegative(status.NumberUnavailable, path.Child("numberUnavailable"))...)
	if status.CollisionCount != nil {
		errs = append(errs, notNegative(*status.CollisionCount, path.Child("collisionCount"))...)
	}
	return errs
}

// validateCollisionCount lets the count only grow: names of ControllerRevisions are made from it.
func validateCollisionCount(count, old *int32, path *field.Path) field.ErrorList {
	if old == nil {
		return nil
	}
	if count == nil {
		return field.ErrorList{field.Invalid(path, int32(0), "cannot be decremented")}
	}
	if *count < *old {
		return field.ErrorList{field.Invalid(path, *count, "cannot be decremented")}
	}
	return nil
}

func notNegative[T int32 | int64](value T, path *field.Path) field.ErrorList {
	return apimachineryvalidation.ValidateNonnegativeField(int64(value), path)
}
