#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Pinnace Authors
# SPDX-License-Identifier: Apache-2.0

# Fails if generated code isn't what its generators write. They work on a copy of the module: a check changes nothing.

source "$(dirname "$0")/lib.sh"

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
mkdir "$temporary/before"
tar --exclude=./.git --exclude=./bin --exclude=./.pinnace -cf - . | tar -xf - -C "$temporary/before"
cp -R "$temporary/before" "$temporary/after"
"$temporary/after/hack/update-codegen.sh"
if ! (cd "$temporary" && diff -ruN before after) >&2; then
  stale 'Generated code is stale: lines with "+" are what the generators write now.' 'make update-codegen'
fi
