// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package generate_test

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/generate"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/render"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/source"
)

// update is set by "go test ./cmd/registry-gen/... -update".
var update = flag.Bool("update", false, "rewrite the golden files below testdata")

const (
	module = "github.com/pinnace-io/pinnace"
	// here is the directory of this package from the module's root, and root is the way back.
	here = "cmd/registry-gen/internal/generate"
	root = "../../../.."
)

func renderer() render.Renderer {
	return render.Renderer{
		Header:  "// SPDX-FileCopyrightText: 2026 The Pinnace Authors\n// SPDX-License-Identifier: Apache-2.0",
		Module:  module,
		Support: module + "/pkg",
	}
}

// input returns the input for the packages of declarations below base/apis, a directory from the module's root.
func input(t *testing.T, base string) generate.Input {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, base, "apis"))
	if err != nil {
		t.Fatal(err)
	}
	in := generate.Input{Tree: source.NewTree(os.DirFS(root), module), Renderer: renderer(), Types: loadTestTypes}
	for _, entry := range entries {
		in.Dirs = append(in.Dirs, path.Join(base, "apis", entry.Name()))
	}
	return in
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, base := range map[string]string{
		"a resource with no more than is required":          "minimal",
		"every marker, every shape of endpoint, two groups": "full",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := path.Join(here, "testdata", base)
			output, err := generate.Run(input(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			if len(output.Orphans) > 0 {
				t.Errorf("orphans: %v", output.Orphans)
			}
			if *update {
				rewrite(t, output)
			}
			if diff := cmp.Diff(generated(t, dir), texts(output)); diff != "" {
				t.Errorf("golden files differ, -is +should; rewrite them with -update\n%s", diff)
			}
		})
	}
}

// The checked-in files are those of the checked-in declarations.
func TestUpToDate(t *testing.T) {
	t.Parallel()
	output, err := generate.Run(input(t, "pkg"))
	if err != nil {
		t.Fatal(err)
	}
	if len(output.Orphans) > 0 {
		t.Errorf("no declaration asks for %v; run: make update", output.Orphans)
	}
	for file, should := range texts(output) {
		is, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Errorf("%v; run: make update", err)
			continue
		}
		if diff := cmp.Diff(string(is), should); diff != "" {
			t.Errorf("%s is stale, -is +should; run: make update\n%s", file, diff)
		}
	}
}

// What is generated compiles, with its assertions that endpoints implement what they mean to.
func TestGoldenCompiles(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "vet", "./testdata/minimal/...", "./testdata/full/...").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// rewrite makes the golden files what they should be.
func rewrite(t *testing.T, output *generate.Output) {
	t.Helper()
	for file, content := range output.Files {
		target := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// generated reads all generated files below a directory from the module's root.
func generated(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasPrefix(entry.Name(), source.GeneratedPrefix) {
			return err
		}
		content, err := os.ReadFile(filepath.Join(root, file))
		files[file] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func texts(output *generate.Output) map[string]string {
	files := map[string]string{}
	for file, content := range output.Files {
		files[file] = string(content)
	}
	return files
}
