// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package toys declares one resource with no more than is required.
//
// +pinnace:group=toys.example.com
// +pinnace:version=v1
package toys

import (
	toysv1 "github.com/pinnace-io/pinnace/cmd/registry-gen/internal/generate/testdata/api/v1"
)

// Box is put into a cluster.
//
// +pinnace:resource=boxes
// +pinnace:scope=Cluster
type Box = toysv1.Box
