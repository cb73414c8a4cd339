// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package apps declares the resources of the API group apps and holds what is true of them whoever serves them:
// defaults, normalization, validation.
//
// Which markers a declaration takes, and what is generated from them, is told by "registry-gen --help".
//
// +pinnace:group=apps
// +pinnace:version=v1
// +pinnace:defaults
// +pinnace:validations
// +k8s:defaulter-gen=TypeMeta
// +k8s:defaulter-gen-input=k8s.io/api/apps/v1
package apps
