// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package generate_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/generate"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/source"
)

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// twoGroups are the sources with a second group, dolls.
func twoGroups() map[string]string {
	files := sources()
	files["pkg/apis/dolls/doc.go"] = strings.ReplaceAll(doc("+pinnace:group=dolls.example.com", "+pinnace:version=v1"), "toys\n", "dolls\n")
	files["pkg/apis/dolls/resources.go"] = strings.Replace(declare(resourceMarker, scopeMarker), "package toys", "package dolls", 1)
	files["pkg/registry/dolls/widget/strategy.go"] = strategies(strategyType, newStrategy)
	return files
}

func TestGroupsAreListedThoughNotAskedFor(t *testing.T) {
	t.Parallel()
	output, err := run(t, twoGroups(), "pkg/apis/toys")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := output.Files["pkg/apis/dolls/zz_generated.install.go"]; ok {
		t.Error("the group that was not asked for was generated")
	}
	groups := string(output.Files["pkg/registry/zz_generated.groups.go"])
	for _, want := range []string{"dolls.Group()", "toys.Group()"} {
		if !strings.Contains(groups, want) {
			t.Errorf("the list of groups lacks %s:\n%s", want, groups)
		}
	}
}

func TestOrphans(t *testing.T) {
	t.Parallel()
	files := twoGroups()
	for _, file := range []string{
		"pkg/registry/toys/widget/storage/zz_generated.storage.go", // declared
		"pkg/registry/toys/gone/storage/zz_generated.storage.go",   // the resource is not declared any more
		"pkg/registry/none/rest/zz_generated.rest.go",              // the group is not declared any more
		"pkg/registry/dolls/gone/storage/zz_generated.storage.go",  // the group is not asked for
	} {
		files[file] = generate.Mark + "\n\npackage p\n"
	}
	files["pkg/registry/toys/other/zz_generated.deepcopy.go"] = "package p // by another generator\n"
	output, err := run(t, files, "pkg/apis/toys")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"pkg/registry/none/rest/zz_generated.rest.go", "pkg/registry/toys/gone/storage/zz_generated.storage.go"}
	if diff := cmp.Diff(want, output.Orphans); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestInstallOnly(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for name, text := range sources() {
		if name != strategyFile {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	output, err := generate.Run(generate.Input{
		Tree: source.NewTree(files, module), Dirs: []string{"pkg/apis/toys"}, Renderer: renderer(), Types: loadTestTypes, InstallOnly: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"pkg/apis/toys/zz_generated.install.go"}, sortedKeys(output.Files)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestNothingDeclared(t *testing.T) {
	t.Parallel()
	_, err := run(t, map[string]string{"pkg/apis/others/others.go": "package others\n"}, "pkg/apis/others", "pkg/apis/none")
	want := "no package of declarations: none of the packages has +pinnace:group in the comment above its package clause"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestDeclarationsAreNotGo(t *testing.T) {
	t.Parallel()
	files := sources()
	files[docFile] = "package toys\n\nfunc {\n"
	_, err := run(t, files, "pkg/apis/toys")
	want := "pkg/apis/toys/doc.go:3:6: expected 'IDENT', found '{'"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
