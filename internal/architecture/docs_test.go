// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documents returns the texts of all Markdown files by their paths, relative to the root of the module.
func documents(t *testing.T, root string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (name == "bin" || name == "testdata" || name != "." && strings.HasPrefix(name, ".")) {
			return fs.SkipDir
		}
		if filepath.Ext(name) == ".md" {
			text, err := os.ReadFile(filepath.Join(root, path))
			if err != nil {
				return err
			}
			texts[path] = string(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	for path, text := range documents(t, root) {
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			target := match[1]
			if strings.Contains(target, ":") { // a URL
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(path), target)); err != nil {
				t.Errorf("%s links to %s, which isn't there", path, target)
			}
		}
	}
}

func TestDocumentsNameTargetsThatExist(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile("(?m)(?:^|`|\\$ )make ([a-z][a-z-]*)")
	for path, text := range documents(t, root) {
		for _, match := range command.FindAllStringSubmatch(text, -1) {
			if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(match[1]) + `:`).Match(makefile) {
				t.Errorf("%s speaks of \"make %s\", which isn't a target", path, match[1])
			}
		}
	}
}
