#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Pinnace Authors
# SPDX-License-Identifier: Apache-2.0

# Puts the header above the Go files that have none.

source "$(dirname "$0")/lib.sh"

header=hack/boilerplate/boilerplate.go.txt
lines=$(wc -l <"$header")
while IFS= read -r -d '' file; do
  if ! cmp -s <(cat "$header" && echo) <(head -n "$((lines + 1))" "$file"); then
    echo "header added: $file" >&2
    { cat "$header" && echo && cat "$file"; } >"$file.headed"
    cat "$file.headed" >"$file" && rm "$file.headed"
  fi
done < <(find_files -name '*.go')
