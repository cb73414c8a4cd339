// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package resource holds the rows of the resource table: what is declared about each served resource,
// as plain data. The rows are written by registry-gen from the declarations in pkg/apis/<group>; the
// scheme, the server and the tests that walk every resource read them.
package resource

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is one API group in the one version it is served in.
type Group struct {
	// Name is the native name of the group, "" for the core group. A server may serve the group under
	// another name; whatever depends on the name takes it from the GroupVersion it is given.
	Name string
	// Version is the served version, which is the hub version as well.
	Version string
	// Install registers the group's types, defaults, validations and field labels under gv and under
	// the internal version of gv's group.
	Install func(scheme *runtime.Scheme, gv schema.GroupVersion) error
	// Resources are the group's resources in the order of their declarations.
	Resources []Resource
}

// GroupVersion returns the native group and version.
func (g Group) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: g.Name, Version: g.Version}
}

// Resource is one row of the table.
type Resource struct {
	// Kind is the kind as clients write it; the list kind is Kind + "List".
	Kind string
	// Plural and Singular are the lower-case names in URLs and in discovery.
	Plural, Singular string
	// Namespaced tells the scope.
	Namespaced bool
	// ShortNames and Categories are the names that kubectl resolves, nil for none.
	ShortNames, Categories []string
	// Verbs are the verbs of discovery, in alphabetical order.
	Verbs []string
	// ResetFields are the paths (dots between field names) that the main endpoint resets.
	ResetFields []string
	// SelectableFields are the field labels beside metadata.name and metadata.namespace.
	SelectableFields []string
	// Subresources are the endpoints below an object.
	Subresources []Subresource
	// New and NewList return empty objects of the hub version.
	New, NewList func() runtime.Object
	// Normalize brings an object that was just decoded or patched into the form that the hub keeps;
	// nil where every decoded object has it. It may replace, never modify, memory that obj shares with others.
	Normalize func(obj runtime.Object) error
}

// Subresource is an endpoint below an object that reads and writes the whole object.
type Subresource struct {
	// Name is the last segment of the URL.
	Name string
	// Verbs are the verbs of discovery, in alphabetical order.
	Verbs []string
	// ResetFields are the paths that the endpoint resets.
	ResetFields []string
}
