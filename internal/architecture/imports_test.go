// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goPackage is what "go list -json" tells of a package.
type goPackage struct {
	ImportPath string
	Name       string
	Imports    []string
	Module     *struct{ Path string }
}

// listPackages returns the module's packages and all that they depend on. Files for other platforms than this one don't
// take part.
func listPackages(t *testing.T) []goPackage {
	t.Helper()
	dependOnSources(t)
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-json=ImportPath,Name,Imports,Module", modulePath+"/...")
	var problems strings.Builder
	cmd.Stderr = &problems
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("could not list packages: %v\n%s", err, problems.String())
	}
	var packages []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// dependOnSources reads the module's folders, for the test cache: it reruns a test when a folder that it has read is
// changed, but doesn't see what the go command reads.
func dependOnSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // a file that others have removed meanwhile
		}
		if name := entry.Name(); entry.IsDir() && name != "." && name != ".." && (strings.HasPrefix(name, ".") || name == "bin") {
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (p goPackage) ours() bool { return p.Module != nil && p.Module.Path == modulePath }

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	packages := listPackages(t)
	if ours := slices.DeleteFunc(slices.Clone(packages), func(p goPackage) bool { return !p.ours() }); len(ours) < 10 {
		t.Fatalf("only %d packages were found", len(ours))
	}
	for _, p := range packages {
		for _, imported := range p.Imports {
			if wrong := checkImport(p.ImportPath, imported); wrong != "" {
				t.Error(wrong)
			}
		}
	}
}

func TestPackagesHaveTellingNames(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		if !p.ours() {
			continue
		}
		if wrong := checkName(p.ImportPath); wrong != "" {
			t.Error(wrong)
		}
	}
}

func TestTheServerLinksNoTestingCode(t *testing.T) {
	t.Parallel()
	dependOnSources(t)
	output, err := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", modulePath+"/cmd/pinnace").Output()
	if err != nil {
		t.Fatalf("could not list the dependencies of cmd/pinnace: %v", err)
	}
	for path := range strings.Lines(string(output)) {
		path = strings.TrimSpace(path)
		if path == "testing" || strings.HasPrefix(path, modulePath+"/internal/") || strings.HasPrefix(path, modulePath+"/pkg/envtest") {
			t.Errorf("cmd/pinnace depends on %s", path)
		}
	}
}

func TestCheckImport(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		from, to, want string
	}{
		"down":                     {"pkg/server", "pkg/registry/apps/rest", ""},
		"down over several layers": {"pkg/envtest", "pkg/apis/core", ""},
		"within a room":            {"pkg/registry/core/rest", "pkg/registry/table", ""},
		"others' code":             {"pkg/apis/core", "!k8s.io/api/core/v1", ""},
		"others' imports":          {"!k8s.io/apiserver", "!k8s.io/kubernetes/pkg/apis/core", ""},
		"up": {
			"pkg/apis/core", "pkg/registry/table",
			"pkg/apis/core imports pkg/registry/table, but pkg/apis (layer 0) is below pkg/registry (layer 2): imports point down",
		},
		"the server, from below": {
			"pkg/controllers/namespace", "pkg/server/options",
			"pkg/controllers/namespace imports pkg/server/options, but pkg/controllers (layer 3) is below pkg/server (layer 4): imports point down",
		},
		"sideways": {
			"pkg/registry/core/namespace", "pkg/admission/lifecycle",
			"pkg/registry/core/namespace imports pkg/admission/lifecycle, but pkg/registry and pkg/admission don't know of each other: what they share belongs below them",
		},
		"a room with a name that begins like another's": {
			"pkg/serverless", "pkg/apis/core",
			"pkg/serverless has no place in the house; give it one in rooms()",
		},
		"into no room": {
			"pkg/server", "pkg/attic",
			"pkg/attic has no place in the house; give it one in rooms()",
		},
		"code for tests": {
			"cmd/pinnace", "internal/gen",
			"cmd/pinnace imports internal/gen, which is for tests",
		},
		"k8s.io/kubernetes in an adapter": {"pkg/apis/podtemplate", "!k8s.io/kubernetes/pkg/apis/core", ""},
		"k8s.io/kubernetes elsewhere": {
			"pkg/apis/apps", "!k8s.io/kubernetes/pkg/apis/apps",
			"pkg/apis/apps imports k8s.io/kubernetes/pkg/apis/apps, which only pkg/apis/podtemplate and pkg/authz/rbac may: that module is no library, and each use of it is a part of kube-apiserver linked in",
		},
		"k8s.io/kubernetes below an adapter's folder": {
			"pkg/apis/podtemplate/more", "!k8s.io/kubernetes",
			"pkg/apis/podtemplate/more imports k8s.io/kubernetes, which only pkg/apis/podtemplate and pkg/authz/rbac may: that module is no library, and each use of it is a part of kube-apiserver linked in",
		},
	}
	whole := func(path string) string {
		if foreign, ok := strings.CutPrefix(path, "!"); ok {
			return foreign
		}
		return modulePath + "/" + path
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checkImport(whole(tc.from), whole(tc.to))); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	for path, good := range map[string]bool{
		"pkg/registry/table": true, "pkg/utility": true, "pkg/util": false, "pkg/util/sets": false,
		"pkg/pki/helpers": false, "cmd/common": false, "internal/testutil": false,
	} {
		if got := checkName(modulePath+"/"+path) == ""; got != good {
			t.Errorf("%s: good %t, want %t", path, got, good)
		}
	}
}
