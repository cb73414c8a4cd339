// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package registry lists the groups of a golden test.
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

// Group is a group and the way to its storage.
type Group struct {
	resource.Group
	Storage func(Deps) (map[string]rest.Storage, error)
}

// Deps is what storage needs.
type Deps struct {
	Scheme       *runtime.Scheme
	GroupVersion schema.GroupVersion
	Clock        clock.PassiveClock
	Authorizer   authorizer.Authorizer
	RESTOptions  generic.RESTOptionsGetter
}
