#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Pinnace Authors
# SPDX-License-Identifier: Apache-2.0

# Formats Go code with gofmt, and its imports in three groups: standard library, others, ours.

source "$(dirname "$0")/lib.sh"

golangci_lint fmt ./...
