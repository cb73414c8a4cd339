// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Modcheck compares go.mod with what the pinned k8s.io/kubernetes was built and tested with.
//
// That module isn't meant to be imported: it asks for v0.0.0 of the modules that it's published with, which exist
// under other versions. So go.mod excludes each of those versions, and takes the modules from one release.
//
//	modcheck         lists what is wrong, and exits with 1 if there is anything
//	modcheck --fix   edits go.mod instead; "go mod tidy" has to follow
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	fix := flag.Bool("fix", false, "edit go.mod")
	flag.Parse()
	problems, err := run(*fix, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "modcheck:", err)
	}
	if err != nil || problems > 0 {
		os.Exit(1)
	}
}

// run returns how many problems are left.
func run(fix bool, out io.Writer) (int, error) {
	modules, err := listModules()
	if err != nil {
		return 0, err
	}
	kubernetes, ok := modules[kubernetesModule]
	if !ok || kubernetes.GoMod == "" {
		return 0, fmt.Errorf("%s isn't required, or isn't downloaded", kubernetesModule)
	}
	ours, err := os.ReadFile("go.mod")
	if err != nil {
		return 0, err
	}
	upstream, err := os.ReadFile(kubernetes.GoMod)
	if err != nil {
		return 0, err
	}
	problems, err := check(ours, upstream, modules)
	if err != nil {
		return 0, err
	}

	var edits []string
	for _, p := range problems {
		fmt.Fprintln(out, "go.mod: "+p.text)
		if p.edit != "" {
			edits = append(edits, p.edit)
		}
	}
	if !fix || len(edits) == 0 {
		return len(problems), nil
	}
	if output, err := exec.Command("go", append([]string{"mod", "edit"}, edits...)...).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("could not edit go.mod: %w\n%s", err, output)
	}
	return len(problems) - len(edits), nil
}

// listModules returns the modules that the build uses.
func listModules() (map[string]module, error) {
	cmd := exec.Command("go", "list", "-m", "-json", "all")
	var problems strings.Builder
	cmd.Stderr = &problems
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("could not list modules: %w\n%s", err, problems.String())
	}
	modules := map[string]module{}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var m module
		err := decoder.Decode(&m)
		if errors.Is(err, io.EOF) {
			return modules, nil
		}
		if err != nil {
			return nil, fmt.Errorf("could not read the list of modules: %w", err)
		}
		modules[m.Path] = m
	}
}
