// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testHeader = "// the header\n"

// zoo is what the test data calls its packages.
func zoo(names ...string) []goType {
	var types []goType
	for _, name := range names {
		pkg, name, _ := strings.Cut(name, ".")
		types = append(types, goType{"example.com/" + pkg, name})
	}
	return types
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestPruneOpenAPI(t *testing.T) {
	t.Parallel()
	text := readFile(t, filepath.Join("testdata", "openapi.go.txt"))
	tests := map[string]struct {
		roots       []goType
		wantEntries []string
		wantErr     string
		wantMissing []string
	}{
		"a type without references": {
			roots: zoo("zoo/v1.Fish"), wantEntries: []string{"Fish"},
		},
		"what it refers to, and what that refers to": {
			roots: zoo("zoo/v1.Aquarium"), wantEntries: []string{"Aquarium", "Fish", "Plant", "Root"},
		},
		"two roots": {
			roots: zoo("zoo/v1.Fish", "zoo/v1.Cage"), wantEntries: []string{"Cage", "Fish", "Plant", "Root"},
		},
		"a reference to itself": {
			roots: zoo("zoo/v1.Bird"), wantEntries: []string{"Bird"},
		},
		"an unknown root": {
			roots: zoo("zoo/v1.Unicorn"), wantErr: "there is no definition of example.com/zoo/v1.Unicorn",
		},
		"several unknown roots: all named": {
			roots: zoo("zoo/v1.Unicorn", "garden/v1.Dragon"), wantErr: "there is no definition of example.com/zoo/v1.Unicorn\nthere is no definition of example.com/garden/v1.Dragon",
		},
		"a reference to a package that isn't described": {
			roots: zoo("zoo/v1.Visitor"), wantErr: `no definitions of packages ["example.com/town/v1"]`, wantMissing: []string{"example.com/town/v1"},
		},
		"a root of a package that isn't described": {
			roots: zoo("shop/v1.Ticket", "zoo/v1.Visitor"), wantErr: `no definitions of packages ["example.com/shop/v1" "example.com/town/v1"]`,
			wantMissing: []string{"example.com/shop/v1", "example.com/town/v1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := pruneOpenAPI(text, tc.roots, []byte(testHeader))
			if tc.wantErr != "" {
				if err == nil || err.Error() != tc.wantErr {
					t.Fatalf("got error %v, want %s", err, tc.wantErr)
				}
				missing := (missingPackages)(nil)
				errors.As(err, &missing)
				if diff := cmp.Diff(tc.wantMissing, []string(missing)); diff != "" {
					t.Errorf("missing packages (-want +got):\n%s", diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var entries []string
			for _, line := range strings.Split(string(got), "\n") {
				if left, right, ok := strings.Cut(strings.TrimSpace(line), "{}.OpenAPIModelName():"); ok {
					_, name, _ := strings.Cut(left, ".")
					entries = append(entries, name)
					if function := "func schema_" + name + "("; !strings.Contains(string(got), function) || !strings.Contains(right, "schema_"+name+"(") {
						t.Errorf("%s has no function", name)
					}
				}
			}
			if diff := cmp.Diff(tc.wantEntries, entries); diff != "" {
				t.Errorf("definitions (-want +got):\n%s", diff)
			}
			if functions := bytes.Count(got, []byte("\nfunc schema_")); functions != len(entries) {
				t.Errorf("%d functions for %d definitions", functions, len(entries))
			}
		})
	}
}

func TestPrunedOpenAPIAsText(t *testing.T) {
	t.Parallel()
	got, err := pruneOpenAPI(readFile(t, filepath.Join("testdata", "openapi.go.txt")), zoo("zoo/v1.Cage"), []byte(testHeader))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(readFile(t, filepath.Join("testdata", "openapi.want.txt"))), string(got)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	again, err := pruneOpenAPI(got, zoo("zoo/v1.Cage"), []byte(testHeader))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), string(again)); diff != "" {
		t.Errorf("a second time changes it (-first +second):\n%s", diff)
	}
}

func TestPruneOpenAPIOfOddInput(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text, want string
	}{
		"no Go":    {"hello", "could not parse the generated file: 1:1: expected 'package', found hello"},
		"no table": {"package p\nfunc Other() {}\n", "there is no function GetOpenAPIDefinitions in the generated file"},
		"a definition keyed by a string": {
			"package p\nfunc GetOpenAPIDefinitions() map[string]int {\n\treturn map[string]int{\n\t\t\"a.b\": 1,\n\t}\n}\n",
			"4:3: a definition is keyed by something else than OpenAPIModelName()",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := pruneOpenAPI([]byte(tc.text), nil, nil); err == nil || err.Error() != tc.want {
				t.Errorf("got error %v, want %s", err, tc.want)
			}
		})
	}
}

func TestPruneDefaults(t *testing.T) {
	t.Parallel()
	text := readFile(t, filepath.Join("testdata", "defaults.go.txt"))
	got, err := pruneDefaults(text, zoo("zoo/v1.Cage", "zoo/v1.CageList", "zoo/v1.Stone"), []byte(testHeader))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(readFile(t, filepath.Join("testdata", "defaults.want.txt"))), string(got)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}

	_, err = pruneDefaults(text, zoo("zoo/v1.Stone"), nil)
	if want := "none of [example.com/zoo/v1.Stone] has defaults"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	_, err = pruneDefaults([]byte("package p\n"), nil, nil)
	if want := "there is no function RegisterDefaults in the generated file"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if _, err = pruneDefaults([]byte("no Go"), nil, nil); err == nil {
		t.Error("no error for a file that is no Go")
	}
}

func TestReadGroups(t *testing.T) {
	t.Parallel()
	const declaration = `// Package zoo declares.
//
// +k8s:defaulter-gen=TypeMeta
package zoo

import (
	"time"

	zoov1 "example.com/zoo/v1"
	"example.com/garden/v1"
)

// Cage is one.
//
// +pinnace:resource=cages
type Cage = zoov1.Cage

// Other has no marker, though it speaks of +pinnace:resource= in a line.
type Other = zoov1.Other

type (
	// Tree is in a group of declarations.
	//
	// +pinnace:resource=trees
	Tree = v1.Tree

	// Moment is none.
	Moment = time.Time
)
`
	tests := map[string]struct {
		files   map[string]string
		want    []group
		wantErr string
	}{
		"aliases with a marker, and their lists": {
			files: map[string]string{"zoo/resources.go": declaration, "other/doc.go": "package other\n", "README.md": "no folder"},
			want:  []group{{dir: "zoo", types: zoo("zoo/v1.Cage", "zoo/v1.CageList", "garden/v1.Tree", "garden/v1.TreeList"), defaults: true}},
		},
		"tests and generated files declare nothing": {
			files: map[string]string{
				"zoo/a_test.go": declaration, "zoo/zz_generated.x.go": declaration,
				"zoo/doc.go": "package zoo\nimport \"example.com/zoo/v1\"\n// +pinnace:resource=cages\ntype Cage = v1.Cage\n",
			},
			want: []group{{dir: "zoo", types: zoo("zoo/v1.Cage", "zoo/v1.CageList")}},
		},
		"nothing is declared": {
			files:   map[string]string{"zoo/doc.go": "package zoo\n"},
			wantErr: "no type in the packages of DIR is marked +pinnace:resource=",
		},
		"a marker on a type of its own": {
			files:   map[string]string{"zoo/doc.go": "package zoo\n// +pinnace:resource=cages\ntype Cage struct{}\n"},
			wantErr: "DIR/zoo/doc.go: type Cage is marked +pinnace:resource=, but isn't an alias of another package's type",
		},
		"a marker on a new type of another package's": {
			files:   map[string]string{"zoo/doc.go": "package zoo\nimport \"example.com/zoo/v1\"\n// +pinnace:resource=cages\ntype Cage v1.Cage\n"},
			wantErr: "DIR/zoo/doc.go: type Cage is marked +pinnace:resource=, but isn't an alias of another package's type",
		},
		"no Go": {
			files:   map[string]string{"zoo/doc.go": "hello"},
			wantErr: "could not read the declarations: DIR/zoo/doc.go:1:1: expected 'package', found hello",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range tc.files {
				if err := write(filepath.Join(dir, name), []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			got, err := readGroups(dir)
			if tc.wantErr != "" {
				if want := strings.ReplaceAll(tc.wantErr, "DIR", dir); err == nil || err.Error() != want {
					t.Fatalf("got error %v\nwant %s", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i].dir, _ = filepath.Rel(dir, got[i].dir)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(group{}, goType{})); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	header := filepath.Join(t.TempDir(), "header")
	if err := os.WriteFile(header, []byte(testHeader), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args []string
		want string
	}{
		"no command":               {nil, "usage: closure openapi|defaults"},
		"an unknown command":       {[]string{"conversions"}, "usage: closure openapi|defaults"},
		"an unknown flag":          {[]string{"openapi", "--fast"}, "flag provided but not defined: -fast"},
		"an argument":              {[]string{"openapi", "--header", header, "pkg/apis"}, "usage: closure openapi|defaults"},
		"no header":                {[]string{"openapi", "--header", header + "s"}, "could not read the header: open "},
		"no declarations":          {[]string{"defaults", "--header", header, "--apis", header + "s"}, "could not read the declarations: open "},
		"no declarations, openapi": {[]string{"openapi", "--header", header, "--apis", header + "s"}, "could not read the declarations: open "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := run(tc.args); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got error %v, want %s…", err, tc.want)
			}
		})
	}
}
