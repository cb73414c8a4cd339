// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Command registry-gen writes the registries of API resources from their declarations. "registry-gen --help" tells
// which markers a declaration takes, what is written by hand, and what is generated.
package main

import (
	"os"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/command"
)

func main() {
	os.Exit(command.Main(os.Args[1:], os.Stdout, os.Stderr))
}
