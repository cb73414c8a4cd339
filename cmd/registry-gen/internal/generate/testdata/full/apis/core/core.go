// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package core declares a resource of the group whose name is empty.
//
// +pinnace:group=
// +pinnace:version=v1
package core

import (
	toysv1 "github.com/pinnace-io/pinnace/cmd/registry-gen/internal/generate/testdata/api/v1"
)

// Box is put into a namespace.
//
// +pinnace:resource=boxes
// +pinnace:scope=Namespaced
type Box = toysv1.Box
