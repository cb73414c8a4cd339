// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package kube

import "syscall"

// dieWithParent does nothing where the system has no such thing.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
