// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/declaration"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/generate"
)

// toys is a pattern for packages of declarations, and prefix is where their files go below a root.
const (
	toys   = "../generate/testdata/minimal/apis/..."
	prefix = "cmd/registry-gen/internal/generate/testdata/minimal"
)

// run returns what the command wrote and its exit code.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	code = Main(args, &out, &err)
	return out.String(), err.String(), code
}

func TestHelpNamesEveryMarkerAndFlag(t *testing.T) {
	t.Parallel()
	stdout, stderr, code := run(t, "--help")
	if code != 0 || stderr != "" {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
	wanted := []string{"-verify", "-output-root", "-go-header-file", "-install-only", defaultHeaderFile, "./pkg/apis/..."}
	for _, d := range declaration.Grammar() {
		wanted = append(wanted, d.Form+"\n      "+d.Help)
	}
	for _, want := range wanted {
		if !strings.Contains(stdout, want) {
			t.Errorf("help lacks %q", want)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no packages":        {nil, "registry-gen needs packages, such as ./pkg/apis/...\nregistry-gen --help tells more\n"},
		"a flag is unknown":  {[]string{"--verfy", toys}, "flag provided but not defined: -verfy\nregistry-gen --help tells more\n"},
		"a flag is no value": {[]string{"--verify=maybe", toys}, "invalid boolean value \"maybe\" for -verify: parse error\nregistry-gen --help tells more\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := run(t, c.args...)
			if code != 2 || stdout != "" {
				t.Errorf("exit code %d, stdout %q", code, stdout)
			}
			if diff := cmp.Diff(c.want, stderr); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestPackagesAreNotThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a directory does not exist":   {[]string{"./no/such/package"}, "./no/such/package is not a package of this module: "},
		"a pattern matches nothing":    {[]string{"./testdata/..."}, "./testdata/... match no packages"},
		"a package is of Go itself":    {[]string{"fmt"}, "fmt is not a package of this module: it belongs to no module"},
		"a package is another's":       {[]string{toys, "k8s.io/utils/clock"}, "k8s.io/utils/clock is in module k8s.io/utils, others are in github.com/pinnace-io/pinnace; registry-gen works on one module"},
		"the pattern is none":          {[]string{"./\x00"}, "could not list packages: "},
		"nothing is declared":          {[]string{"./..."}, "no package of declarations: "},
		"the header is not there":      {[]string{"--go-header-file", "no/such/file", toys}, "could not read the header of generated files: open no/such/file: "},
		"the output can't be written":  {[]string{"--output-root", "command.go", toys}, ""},
		"the output can't be verified": {[]string{"--verify", "--output-root", "command.go", toys}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := run(t, c.args...)
			if code != 1 || stdout != "" {
				t.Errorf("exit code %d, stdout %q", code, stdout)
			}
			if stderr == "" || !strings.HasPrefix(stderr, c.want) {
				t.Errorf("got %q, want %q", stderr, c.want)
			}
		})
	}
}

// A first run writes everything, a second nothing; a file that is changed or removed is stale until the next.
func TestWriteAndVerify(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	files := []string{
		prefix + "/apis/toys/zz_generated.install.go",
		prefix + "/registry/toys/box/storage/zz_generated.storage.go",
		prefix + "/registry/toys/rest/zz_generated.rest.go",
		prefix + "/registry/zz_generated.groups.go",
	}
	expect := func(wantCode int, want string, flags ...string) {
		t.Helper()
		stdout, stderr, code := run(t, append(flags, "--output-root", root, toys)...)
		if code != wantCode || stderr != "" {
			t.Errorf("exit code %d, want %d; stderr %q", code, wantCode, stderr)
		}
		if diff := cmp.Diff(want, stdout); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}

	missing := ": is missing\n"
	stale := "generated files are stale; run: make update\n"
	expect(1, strings.Join(files, missing)+missing+stale, "--verify")
	expect(0, "wrote "+strings.Join(files, "\nwrote ")+"\n")
	expect(0, "", "--verify")
	expect(0, "")

	edited := filepath.Join(root, files[0])
	text, err := os.ReadFile(edited)
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile(filepath.Join("../generate/testdata/minimal/apis/toys/zz_generated.install.go"))
	if err != nil || !bytes.Equal(text, golden) {
		t.Errorf("what is written is not the golden file: %v", err)
	}
	lines := strings.Replace(string(text), "\tmetav1.AddToGroupVersion(scheme, gv)\n", "\t// Edited.\n", 1)
	if err := os.WriteFile(edited, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, files[3])); err != nil {
		t.Fatal(err)
	}
	line := strings.Count(string(text[:bytes.Index(text, []byte("\tmetav1.AddTo"))]), "\n") + 1
	expect(1, files[0]+": differs\n@@ line "+strconv.Itoa(line)+" @@\n-\t// Edited.\n+\tmetav1.AddToGroupVersion(scheme, gv)\n"+files[3]+missing+stale, "--verify")
	expect(0, "wrote "+files[0]+"\nwrote "+files[3]+"\n")
	expect(0, "", "--verify")
}

func TestInstallOnly(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	stdout, _, code := run(t, "--install-only", "--output-root", root, toys)
	if want := "wrote " + prefix + "/apis/toys/zz_generated.install.go\n"; code != 0 || stdout != want {
		t.Errorf("exit code %d, got %q, want %q", code, stdout, want)
	}
}

func TestHeader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "header.txt")
	if err := os.WriteFile(file, []byte("// Another header.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := run(t, "--go-header-file", file, "--install-only", "--output-root", dir, toys); code != 0 {
		t.Fatal(stderr)
	}
	text, err := os.ReadFile(filepath.Join(dir, prefix, "apis/toys/zz_generated.install.go"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "// Another header.\n\n" + generate.Mark + "\n\npackage toys\n"; !strings.HasPrefix(string(text), want) {
		t.Errorf("the file starts with %q, want %q", text[:len(want)], want)
	}

	// Without the flag: the file of the module, and where it has none, the one that this program has.
	header, err := (&options{}).header(dir)
	if err != nil || header != strings.TrimSpace(defaultHeader) {
		t.Errorf("got %q, %v, want %q", header, err, defaultHeader)
	}
}

// Files that no declaration asks for any more are listed, and removed.
func TestOrphans(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const orphan = "registry/toys/gone/storage/zz_generated.storage.go"
	if err := os.MkdirAll(filepath.Join(root, filepath.Dir(orphan)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, orphan), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	output := &generate.Output{Orphans: []string{"registry/elsewhere/zz_generated.storage.go", orphan}}
	changes, err := compare(root, output)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := verify(changes, &out); !errors.Is(err, ErrStale) {
		t.Errorf("got %v, want %v", err, ErrStale)
	}
	if err := write(root, changes, &out); err != nil {
		t.Fatal(err)
	}
	want := orphan + ": no declaration asks for it any more\ngenerated files are stale; run: make update\nremoved " + orphan + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if changes, err := compare(root, output); err != nil || len(changes) > 0 {
		t.Errorf("still to be changed: %v, %v", changes, err)
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("x\n", shown+3)
	for name, c := range map[string]struct{ is, should, want string }{
		"a line is replaced": {"a\nb\nc\n", "a\nB\nc\n", "@@ line 2 @@\n-b\n+B\n"},
		"a line is added":    {"a\nc\n", "a\nb\nc\n", "@@ line 2 @@\n+b\n"},
		"a line is removed":  {"a\nb\nc\n", "a\nc\n", "@@ line 2 @@\n-b\n"},
		"the file is empty":  {"", "a\n", "@@ line 1 @@\n+a\n"},
		"much is added":      {"a\n", many + "a\n", "@@ line 1 @@\n" + strings.Repeat("+x\n", shown) + "+ … 3 more lines\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, difference(c.is, c.should)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
