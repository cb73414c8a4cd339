#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Pinnace Authors
# SPDX-License-Identifier: Apache-2.0

# Brings go.mod in line with the code and with what k8s.io/kubernetes asks for.

source "$(dirname "$0")/lib.sh"

run go run ./hack/modcheck --fix
run go mod tidy
run go -C hack/tools mod tidy
