// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// mostLines is what a new resource may take, in lines that are written by hand.
const mostLines = 40

// file is one that the page shows: its path in backquotes, then a block of Go.
var file = regexp.MustCompile("(?m)^`([^`]+\\.go)`\n```go\n((?s:.*?))^```$")

// TestAddingAResource does what docs/adding-a-resource.md says in a copy of the module, and gets what the page shows.
func TestAddingAResource(t *testing.T) {
	t.Parallel()
	onlyPinnace(t, "the test builds a server")
	for _, tool := range []string{"bash", "kubectl", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("docs/adding-a-resource.md isn't tested, for want of %s: %v", tool, err)
		}
	}
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "adding-a-resource.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := copyModule(t, root)
	lines := 0
	for _, match := range file.FindAllStringSubmatch(string(page), -1) {
		path := filepath.Join(dir, match[1])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(match[2]), 0o600); err != nil {
			t.Fatal(err)
		}
		lines += handWritten(match[2])
	}
	if lines == 0 || lines >= mostLines {
		t.Errorf("the page has %d hand-written lines, want fewer than %d", lines, mostLines)
	}

	steps, err := parseConsole(string(page))
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) < 2 || !strings.HasPrefix(steps[0].command, "make ") {
		t.Fatalf("the page doesn't begin with a make command and go on from there: %+v", steps)
	}
	generated := inModule(t, dir, steps[0].command)
	if diff := cmp.Diff(sortedLines(steps[0].output), sortedLines(generated)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", steps[0].command, diff)
	}
	inModule(t, dir, "go build -o pinnace ./cmd/pinnace")

	data := t.TempDir()
	p := startProgram(t, filepath.Join(dir, "pinnace"), data)
	mustSend(t, call{config: p.config, method: "GET", path: "/apis/coordination.k8s.io/v1"})
	session := append([]consoleStep{{command: "export KUBECONFIG=" + filepath.Join(data, "admin.kubeconfig")}}, steps[1:]...)
	outputs := runSession(t, t.TempDir(), session)
	for i, step := range session {
		checkStep(t, "docs/adding-a-resource.md", step, outputs[i])
	}
}

// handWritten counts lines that say something: not blank ones, and not the header that every file has.
func handWritten(text string) int {
	count := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "// SPDX-") {
			count++
		}
	}
	return count
}

// sortedLines is text without regard to order: stdout and stderr of a command may mix.
func sortedLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSpace(line))
	}
	slices.Sort(lines)
	return lines
}

// copyModule copies what the module is built from to a new directory: no build output, and no history.
func copyModule(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir() && relative != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "bin"):
			return filepath.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(dir, relative), 0o755)
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, relative), data, info.Mode().Perm())
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// inModule runs a command in a module and returns what it printed; it has to succeed.
func inModule(t *testing.T, dir, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-c", command)
	c.Dir = dir
	c.Env = environWithout("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	return string(out)
}
