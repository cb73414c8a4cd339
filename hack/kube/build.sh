#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Pinnace Authors
# SPDX-License-Identifier: Apache-2.0

# Builds kube-apiserver, kube-controller-manager, kubectl and etcd at the versions in go.mod beside this file, into
# bin/kube (or the directory in the first argument): the layout that KUBEBUILDER_ASSETS names. Does nothing where that
# variable is set. A binary that is up to date is built again in seconds, from Go's cache.

set -euo pipefail
cd "$(dirname "$0")"

if [[ -n ${KUBEBUILDER_ASSETS:-} ]]; then
  missing=()
  for name in kube-apiserver etcd kubectl; do
    [[ -x $KUBEBUILDER_ASSETS/$name ]] || missing+=("$name")
  done
  if ((${#missing[@]})); then
    echo "KUBEBUILDER_ASSETS is $KUBEBUILDER_ASSETS, where there is no ${missing[*]}; unset it to have them built" >&2
    exit 1
  fi
  echo "nothing to build: KUBEBUILDER_ASSETS is $KUBEBUILDER_ASSETS"
  exit 0
fi

out=$(mkdir -p "${1:-../../bin/kube}" && cd "${1:-../../bin/kube}" && pwd)
kubernetes=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
etcd=$(go list -m -f '{{.Version}}' go.etcd.io/etcd/server/v3)
minor=${kubernetes#v1.}
stamp=k8s.io/component-base/version
# What a release of Kubernetes says of itself, as far as it can be known here. kube-apiserver derives its compatibility
# version from it.
ldflags="-s -w -X $stamp.gitVersion=$kubernetes -X $stamp.gitMajor=1 -X $stamp.gitMinor=${minor%%.*} -X $stamp.gitTreeState=clean"

# build shows the packages as they are compiled, as a count and the last name: "go build -v" prints one a line.
build() {
  local name=$1 package=$2 version=$3 started=$SECONDS
  printf '%s %s: looking at its packages\n' "$name" "$version"
  go build -v -trimpath -ldflags="$ldflags" -o "$out/$name" "$package" 2>&1 | awk -v name="$name" '
    /^go: downloading/ { printf "%s: %s\n", name, substr($0, 5); fflush(); next }
    /^[a-z0-9._-]+(\/[^ ]+)*$/ { n++; if (n % 100 == 0) { printf "%s: %d packages compiled, the last is %s\n", name, n, $0; fflush() } next }
    { print; fflush() }'
  printf '%s %s: built in %d s\n' "$name" "$version" "$((SECONDS - started))"
}

build etcd go.etcd.io/etcd/server/v3 "$etcd"
build kubectl k8s.io/kubernetes/cmd/kubectl "$kubernetes"
build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver "$kubernetes"
build kube-controller-manager k8s.io/kubernetes/cmd/kube-controller-manager "$kubernetes"
echo "built into $out"
