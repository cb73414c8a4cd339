// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package apps

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/pinnace-io/pinnace/pkg/apis/objectmeta"
)

// ValidateControllerRevisionName returns why name is no name for a ControllerRevision. With prefix it is what a name
// will be generated from, and may end in dashes.
func ValidateControllerRevisionName(name string, prefix bool) []string {
	return apimachineryvalidation.NameIsDNSSubdomain(name, prefix)
}

// ValidateControllerRevision returns what is wrong with a ControllerRevision that is to be created. data must be a
// JSON object; what is in it is the business of the controller that wrote it.
func ValidateControllerRevision(revision *appsv1.ControllerRevision) field.ErrorList {
	errs := validateControllerRevision(revision)
	return append(errs, validateRevisionData(revision.Data, field.NewPath("data"))...)
}

// ValidateControllerRevisionUpdate returns what is wrong with revision as the replacement of old: data never changes,
// and is not looked into again. The number may change.
func ValidateControllerRevisionUpdate(revision, old *appsv1.ControllerRevision) field.ErrorList {
	errs := objectmeta.ValidateUpdate(&revision.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
	errs = append(errs, validateControllerRevision(revision)...)
	return append(errs, apimachineryvalidation.ValidateImmutableField(revision.Data, old.Data, field.NewPath("data"))...)
}

func validateControllerRevision(revision *appsv1.ControllerRevision) field.ErrorList {
	errs := objectmeta.Validate(&revision.ObjectMeta, true, ValidateControllerRevisionName, field.NewPath("metadata"))
	return append(errs, notNegative(revision.Revision, field.NewPath("revision"))...)
}

// validateRevisionData refuses absent and null data, bytes that aren't JSON (they can come in protobuf), and JSON that
// isn't an object.
func validateRevisionData(data runtime.RawExtension, path *field.Path) field.ErrorList {
	if data.Raw == nil {
		return field.ErrorList{field.Required(path, "data is mandatory")}
	}
	var value any
	if err := json.Unmarshal(data.Raw, &value); err != nil {
		return field.ErrorList{field.Invalid(path, "<value omitted>", "error parsing data: "+err.Error())}
	}
	if value == nil {
		return field.ErrorList{field.Required(path, "data is mandatory")}
	}
	if _, ok := value.(map[string]any); !ok {
		return field.ErrorList{field.Required(path, "data must be a valid JSON object")}
	}
	return nil
}
