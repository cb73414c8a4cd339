// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package certificates declares the resources of the API group certificates.k8s.io and holds what is true of
// them whoever serves them: validation. The group has no defaults of its own in v1.
//
// Which markers a declaration takes, and what is generated from them, is told by "registry-gen --help".
//
// +pinnace:group=certificates.k8s.io
// +pinnace:version=v1
// +pinnace:validations
package certificates
