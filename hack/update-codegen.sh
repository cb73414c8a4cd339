#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Pinnace Authors
# SPDX-License-Identifier: Apache-2.0

# Writes all generated code from the declarations in pkg/apis. The order matters: the registries call the defaults.

source "$(dirname "$0")/lib.sh"

run go run ./hack/closure defaults
run go run ./hack/closure openapi
run go run ./cmd/registry-gen ./pkg/apis/...
