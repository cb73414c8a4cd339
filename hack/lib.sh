#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Pinnace Authors
# SPDX-License-Identifier: Apache-2.0

# What the scripts of this folder share. It's sourced, and leaves the shell in the root of the module.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# run shows a command in a form that can be pasted, and runs it.
run() {
  printf '%% %s\n' "$(printf '%q ' "$@")" >&2
  "$@"
}

# stale ends a verify script: it says what is wrong, and which command mends it.
stale() {
  printf '\n%s\nTo mend it: %s\n' "$1" "$2" >&2
  exit 1
}

# find_files prints those of the module's files whose names match a pattern of find, each followed by a zero byte. Left
# out is what isn't written here: build output, data, and test data.
find_files() {
  find . \( -path ./.git -o -path ./bin -o -path ./.pinnace -o -name testdata \) -prune -o -type f \( "$@" \) -print0
}

# golangci_lint runs the linter that hack/tools/go.mod pins. The first call builds it, which takes minutes.
golangci_lint() {
  local version binary
  version=$(go -C hack/tools list -m -f '{{.Version}}' github.com/golangci/golangci-lint/v2)
  binary=$PWD/bin/tools/golangci-lint-$version-$(go env GOVERSION)
  if [[ ! -x $binary ]]; then
    echo "building golangci-lint $version, once" >&2
    go -C hack/tools build -o "$binary" github.com/golangci/golangci-lint/v2/cmd/golangci-lint
  fi
  run "$binary" "$@"
}
