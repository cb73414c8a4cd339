// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package toys declares resources that use every marker.
//
// +pinnace:group=toys.example.com
// +pinnace:version=v1alpha1
// +pinnace:defaults
// +pinnace:validations
package toys
