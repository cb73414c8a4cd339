// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package core declares the resources of the core API group, whose name is empty, and holds what is true of them
// whoever serves them: defaults, validation.
//
// Which markers a declaration takes, and what is generated from them, is told by "registry-gen --help".
//
// +pinnace:group=
// +pinnace:version=v1
// +pinnace:defaults
// +pinnace:validations
// +k8s:defaulter-gen=TypeMeta
// +k8s:defaulter-gen-input=k8s.io/api/core/v1
package core
