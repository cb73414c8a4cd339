// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package controllerrevision decides what happens to a ControllerRevision that is created, updated, or shown in a
// table.
package controllerrevision
