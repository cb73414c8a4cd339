#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Pinnace Authors
# SPDX-License-Identifier: Apache-2.0

# Fails if a linter of .golangci.yml finds something.

source "$(dirname "$0")/lib.sh"

golangci_lint run ./... || stale 'The linters found something.' 'make update-lint (mends some of it)'
