#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Pinnace Authors
# SPDX-License-Identifier: Apache-2.0

# Prints the coverage of the hand-written code of pkg/registry and pkg/apis by package, and fails where the whole is
# under the minimum. A test counts for what it reaches in these two trees, in whichever package it is.

source "$(dirname "$0")/lib.sh"

minimum=${MINIMUM:-90}
profile=bin/cover.out
mkdir -p bin
run go test -coverprofile="$profile" -coverpkg=./pkg/registry/...,./pkg/apis/... ./pkg/registry/... ./pkg/apis/... >&2

# A line of the profile is "file:from,to statements count"; every test binary repeats all of them.
awk -v minimum="$minimum" '
  NR == 1 || $1 ~ /\/zz_generated\.[^\/]*:/ { next }
  { statements[$1] = $2; if ($3 > 0) covered[$1] = 1 }
  END {
    for (block in statements) {
      package = block
      sub(/\/[^\/]*$/, "", package)
      all[package] += statements[block]; total += statements[block]
      if (block in covered) { hit[package] += statements[block]; totalHit += statements[block] }
    }
    if (total == 0) { print "no statements at all" > "/dev/stderr"; exit 1 }
    for (package in all) printf "%6.1f %%  %5d  %s\n", 100 * hit[package] / all[package], all[package], package | "sort -k4"
    close("sort -k4")
    share = 100 * totalHit / total
    printf "%6.1f %%  %5d  %s\n", share, total, "hand-written statements of pkg/registry and pkg/apis"
    if (share < minimum) { printf "coverage is under %s %%\n", minimum > "/dev/stderr"; exit 1 }
  }
' "$profile"
