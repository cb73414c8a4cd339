// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package registry lists what is served: every declared API group with the constructor of its storage. The list
// is written by registry-gen; each group below it is pkg/registry/<group>/rest, each resource
// pkg/registry/<group>/<resource>, decisions by hand beside generated plumbing.
package registry

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/pinnace-io/pinnace/pkg/apis/resource"
)

// Group is a served API group: its declaration and the way to its storage.
type Group struct {
	resource.Group
	// Storage builds the group's endpoints, keyed by "plural" and "plural/subresource". The caller destroys
	// each rest.Storage that it gets.
	Storage func(Deps) (map[string]rest.Storage, error)
}

// Deps is all that storage and strategies take from the server around them.
type Deps struct {
	// Scheme knows the group's types.
	Scheme *runtime.Scheme
	// GroupVersion is the name that the group is served under, native or not.
	GroupVersion schema.GroupVersion
	// Clock tells the time of conditions and deletions.
	Clock clock.PassiveClock
	// Authorizer is the one outside question that a strategy may ask.
	Authorizer authorizer.Authorizer
	// RESTOptions leads to the storage below.
	RESTOptions generic.RESTOptionsGetter
}
