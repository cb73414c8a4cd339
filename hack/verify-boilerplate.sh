#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Pinnace Authors
# SPDX-License-Identifier: Apache-2.0

# Fails if a Go file doesn't begin with the header and an empty line, or if a script or build file names no licence.

source "$(dirname "$0")/lib.sh"

header=hack/boilerplate/boilerplate.go.txt
lines=$(wc -l <"$header")
bad=0
while IFS= read -r -d '' file; do
  if ! cmp -s <(cat "$header" && echo) <(head -n "$((lines + 1))" "$file"); then
    echo "no header: $file" >&2
    bad=1
  fi
done < <(find_files -name '*.go')
((bad == 0)) || stale "Go files lack the header of $header." 'make update-boilerplate'

while IFS= read -r -d '' file; do
  if ! head -n 5 "$file" | grep -q '^# SPDX-License-Identifier: Apache-2.0$'; then
    echo "no licence: $file" >&2
    bad=1
  fi
done < <(find_files -name '*.sh' -o -name Makefile -o -name Dockerfile -o -path './.ci/*' -o -name '*.yml' -o -name '*.yaml')
((bad == 0)) || stale 'Files lack their licence.' 'write the two SPDX lines of hack/lib.sh at the top'
