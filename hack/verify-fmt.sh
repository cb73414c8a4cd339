#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Pinnace Authors
# SPDX-License-Identifier: Apache-2.0

# Fails if Go code isn't formatted as "make update-fmt" does it.

source "$(dirname "$0")/lib.sh"

golangci_lint fmt --diff ./... || stale 'Code is not formatted.' 'make update-fmt'
