#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Pinnace Authors
# SPDX-License-Identifier: Apache-2.0

# Mends what the linters can mend themselves.

source "$(dirname "$0")/lib.sh"

golangci_lint run --fix ./...
