#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Pinnace Authors
# SPDX-License-Identifier: Apache-2.0

# Fails if go.mod isn't what the code needs, if a dependency that k8s.io/kubernetes needs as well is older than that
# module asks for, or if one of its unpublished versions isn't excluded. See hack/modcheck.

source "$(dirname "$0")/lib.sh"

run go run ./hack/modcheck || stale 'go.mod does not fit k8s.io/kubernetes.' 'make update-mod'
run go mod tidy -diff || stale 'go.mod or go.sum is stale.' 'make update-mod'
run go -C hack/tools mod tidy -diff || stale 'go.mod or go.sum of hack/tools is stale.' 'make update-mod'
