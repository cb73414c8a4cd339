// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Closure runs generators of Kubernetes that work on whole packages, and keeps what the declared resources need.
//
// openapi-gen describes every type of k8s.io/api/core/v1, and defaulter-gen writes defaults for every kind of it that
// has any. Pinnace serves a few of those kinds. What would be left over is more than code: a definition that is
// published for a kind that isn't served is wrong.
//
//	closure openapi   writes <output-dir>/zz_generated.openapi.go
//	closure defaults  writes zz_generated.defaults.go into each package of <apis> that asks for it
//
// Both read the resources from the declarations (type aliases marked +pinnace:resource=) in the packages of <apis>, so
// that a new resource needs no change here. The generators are built from the versions that go.mod names.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const usage = `usage: closure openapi|defaults [flags], in the root of the module
  --apis dir         the folder of the packages that declare resources (default "pkg/apis")
  --header file      the text that every file begins with (default "hack/boilerplate/boilerplate.go.txt")
  --output-dir dir   where openapi writes (default "pkg/generated/openapi")`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "closure:", err)
		os.Exit(1)
	}
}

// options are the flags of both commands.
type options struct {
	apis, headerFile, outputDir string
	header                      []byte
}

func run(args []string) error {
	commands := map[string]func(options) error{"openapi": openAPI, "defaults": defaults}
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New(usage)
	}
	var o options
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the returned error has it all
	flags.StringVar(&o.apis, "apis", filepath.Join("pkg", "apis"), "")
	flags.StringVar(&o.headerFile, "header", filepath.Join("hack", "boilerplate", "boilerplate.go.txt"), "")
	flags.StringVar(&o.outputDir, "output-dir", filepath.Join("pkg", "generated", "openapi"), "")
	if err := flags.Parse(args[1:]); err != nil || flags.NArg() > 0 {
		return errors.Join(err, errors.New(usage))
	}
	var err error
	if o.header, err = os.ReadFile(o.headerFile); err != nil {
		return fmt.Errorf("could not read the header: %w", err)
	}
	return commands[args[0]](o)
}
