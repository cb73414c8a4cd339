// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/declaration"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/generate"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/hub"
)

// toys is a pattern for packages of declarations, and prefix is where their files go below a root.
const (
	toys   = "../generate/testdata/minimal/apis/..."
	prefix = "cmd/registry-gen/internal/generate/testdata/minimal"
)

// loadOnce loads the types that the packages of toys declare, which takes a second or two, once for all tests.
var loadOnce = sync.OnceValues(func() (*hub.Types, error) {
	return hub.Load([]string{"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/generate/testdata/api/v1"})
})

// run returns what the command wrote and its exit code.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	code = command{stdout: &out, stderr: &err, types: func([]string) (*hub.Types, error) { return loadOnce() }}.main(args)
	return out.String(), err.String(), code
}

// The command as it is shipped finds the golden files up to date. It loads types, which must not be done twice at once.
func TestGoldenFilesAreUpToDate(t *testing.T) {
	var out, err bytes.Buffer
	if code := Main([]string{"--verify", toys}, &out, &err); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, &out, &err)
	}
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
		"a pattern has no directory":   {[]string{"./_none/..."}, "./_none/... is not a package of this module: "},
		"a pattern matches nothing":    {[]string{"../render/templates/..."}, "../render/templates/... match no packages"},
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
	expect(1, files[0]+": differs\n"+difference(lines, string(text))+files[3]+missing+stale, "--verify")
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
	if err := verify(changes, &out); !errors.Is(err, errStale) {
		t.Errorf("got %v, want %v", err, errStale)
	}
	if err := write(root, changes, &out); err != nil {
		t.Fatal(err)
	}
	want := orphan + ": no declaration asks for it any more\ngenerated files are stale; run: make update\nremoved " + orphan + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(root, "registry")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("empty directories are left: %v", err)
	}
	if changes, err := compare(root, output); err != nil || len(changes) > 0 {
		t.Errorf("still to be changed: %v, %v", changes, err)
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ is, should, want string }{
		"a line is replaced":       {"a\nb\nc", "a\nB\nc", "@@ line 1 @@\n a\n-b\n+B\n c\n"},
		"a line is added":          {"a\nc", "a\nb\nc", "@@ line 1 @@\n a\n+b\n c\n"},
		"a line is removed":        {"a\nb\nc", "a\nc", "@@ line 1 @@\n a\n-b\n c\n"},
		"the file is empty":        {"", "a\n", "@@ line 0 @@\n+a\n \n"},
		"equal lines far off":      {"a\nb\nc\nd\ne", "a\nb\nc\nd\nE", "@@ line 3 @@\n c\n d\n-e\n+E\n"},
		"two places":               {"a\n1\n2\n3\n4\n5\nb", "A\n1\n2\n3\n4\n5\nB", "@@ line 1 @@\n-a\n+A\n 1\n 2\n@@ line 5 @@\n 4\n 5\n-b\n+B\n"},
		"two places near together": {"a\n1\n2\n3\nb", "A\n1\n2\n3\nB", "@@ line 1 @@\n-a\n+A\n 1\n 2\n 3\n-b\n+B\n"},
		"much is added":            {"a", strings.Repeat("x\n", shown+3) + "a", "@@ line 0 @@\n" + strings.Repeat("+x\n", shown) + "…\n"},
		"nothing differs":          {"a\nb", "a\nb", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, difference(c.is, c.should)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
