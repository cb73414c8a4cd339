// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package declaration reads what is declared about API groups: the markers on a package of declarations and on the
// type aliases in it. It knows the grammar of every marker and what can be said about a declaration without looking
// at any other package.
package declaration

import (
	"slices"
	"strings"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/marker"
)

// Group is one package of declarations.
type Group struct {
	// Dir is the directory of the package, relative to the module's root; Path and Package are its import path and name.
	Dir, Path, Package string
	// Name is the native name of the API group, "" for the core group; Version is the served version.
	Name, Version string
	// Defaults and Validations tell whether RegisterDefaults and RegisterValidations are called.
	Defaults, Validations bool
	// Resources are in the order of files and lines.
	Resources []Resource

	// GroupMarker is the marker that makes the package one of declarations. DefaultsMarker and ValidationsMarker are set
	// with Defaults and Validations.
	GroupMarker, DefaultsMarker, ValidationsMarker marker.Marker
}

// Resource is one declared resource.
type Resource struct {
	// Kind is the name of the Go type, which is the kind that clients write. TypePackage is the import path of the
	// package that has the type.
	Kind, TypePackage string
	// Plural and Singular are the lower-case names in URLs and in discovery.
	Plural, Singular string
	// Namespaced is the scope.
	Namespaced bool
	// ShortNames and Categories are in the order of their markers.
	ShortNames, Categories []string
	// Verbs are in alphabetical order.
	Verbs []string
	// ResetFields are the paths that the main endpoint resets.
	ResetFields []FieldPath
	// SelectableFields are the labels beside metadata.name and metadata.namespace.
	SelectableFields []SelectableField
	// GarbageCollection is the name of a rest.GarbageCollectionPolicy, "" if none is declared.
	GarbageCollection string
	// Normalize, New and MetadataView are names of functions of the package of declarations, "" for none.
	Normalize, New, MetadataView string
	// DecodedVersions are versions that requests may name although only the group's version is served.
	DecodedVersions []string
	// Columns tells whether the resource has columns of its own.
	Columns bool
	// Hooks are the declared hooks by name.
	Hooks map[string]marker.Marker
	// Subresources are in the order of their markers.
	Subresources []Subresource

	// ResourceMarker names the resource, or is the first marker where no other does. The others are the zero Marker
	// where they are not given. ShortNameMarkers go with ShortNames.
	ResourceMarker, NormalizeMarker, NewMarker, MetadataViewMarker, ColumnsMarker marker.Marker
	ShortNameMarkers, DecodedVersionMarkers                                       []marker.Marker
}

// Has tells whether the resource has a verb.
func (r Resource) Has(verb string) bool {
	return slices.Contains(r.Verbs, verb)
}

// Hooked tells whether the resource declares a hook.
func (r Resource) Hooked(hook string) bool {
	_, ok := r.Hooks[hook]
	return ok
}

// Package is the name of the directory of the resource's strategies: the kind in lower case.
func (r Resource) Package() string {
	return strings.ToLower(r.Kind)
}

// Subresource is an endpoint below an object that reads and writes the whole object.
type Subresource struct {
	// Name is the last element of the URL.
	Name string
	// ResetFields are the paths that the endpoint resets.
	ResetFields []FieldPath
	// Get and Table are false where the endpoint has no GET (and so no PATCH) or answers with no table.
	Get, Table bool

	Marker marker.Marker
}

// Title is the name in Go identifiers: "Status" of "status".
func (s Subresource) Title() string {
	return strings.ToUpper(s.Name[:1]) + s.Name[1:]
}

// Verbs are the verbs of discovery in alphabetical order.
func (s Subresource) Verbs() []string {
	if !s.Get {
		return []string{"update"}
	}
	return []string{"get", "patch", "update"}
}

// FieldPath is the path of a field by its JSON names.
type FieldPath struct {
	Elements []string
	Marker   marker.Marker
}

// String joins the path with dots.
func (p FieldPath) String() string {
	return strings.Join(p.Elements, ".")
}

// SelectableField is a label that field selectors match.
type SelectableField struct {
	// Label is what selectors match; it is the path of the field except for an alias.
	Label string
	// Path is the field.
	Path FieldPath
	// Alias marks a label that is not a path. Objects match it, but no client can select by it.
	Alias bool
}

// Indexed tells whether the store keeps an index of the field. Fields that the client writes and seldom changes are
// worth one; status changes all the time, and metadata has its own ways.
func (f SelectableField) Indexed() bool {
	return !f.Alias && f.Path.Elements[0] != "metadata" && f.Path.Elements[0] != "status"
}
