// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package architecture has only tests: they hold the module to the rules of its layout, with no tool but the go command.
// The linter knows the same rules (.golangci.yml), and tells of a breach while the code is being written.
package architecture
