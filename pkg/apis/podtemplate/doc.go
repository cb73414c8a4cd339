// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package podtemplate applies kube-apiserver's rules for pod templates to the v1 type: defaults, the visible effect
// of its conversions, dropped fields of features that are off, validation, and warnings.
//
// It is an adapter over k8s.io/kubernetes, whose ten thousand lines on pods nobody should write again, and the only
// package outside of pkg/authz/rbac that imports it. Which features are on is decided by
// k8s.io/apiserver/pkg/util/feature.DefaultFeatureGate, where k8s.io/kubernetes registers its gates with their defaults.
//
// Those rules are written for upstream's internal type. In v1.37 the internal pod template has the memory layout of
// v1, so that a conversion is the copy of one struct (some 800 bytes) that shares everything below with the original;
// a Template holds the result, so that one caller needs one conversion. Conversions go through upstream's functions
// nevertheless: the day the types part, this package goes on being right, only slower.
package podtemplate
