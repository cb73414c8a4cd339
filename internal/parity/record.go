// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// exchangeMark begins an exchange in a recording.
const exchangeMark = "=== "

// Record writes the normalized exchanges of a scenario.
func Record(dir, version string, s *Scenario, exchanges []Exchange) error {
	var out strings.Builder
	fmt.Fprintf(&out, "# What kube-apiserver %s answers to corpus/%s.yaml. Written by \"make parity-record\"; not to be edited.\n", version, s.Name)
	for _, e := range exchanges {
		if e.Answer.Failure != "" {
			return fmt.Errorf("%s: %s: %s", s.Name, e.Name, e.Answer.Failure)
		}
		e.write(&out)
	}
	path := recordPath(dir, s)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // sources of the project
		return err
	}
	return os.WriteFile(path, []byte(out.String()), 0o644) //nolint:gosec // the same
}

func recordPath(dir string, s *Scenario) string {
	return filepath.Join(dir, filepath.FromSlash(s.Name)+".txt")
}

func (e *Exchange) write(out *strings.Builder) {
	a := e.Answer.reduced(e.only)
	fmt.Fprintf(out, "\n%s%s\n> %s\n%d %s\n", exchangeMark, e.Name, clip(oneLine(e.Request), 300), a.Code, a.Format)
	for _, line := range a.Header {
		out.WriteString(line + "\n")
	}
	for _, document := range a.Documents {
		out.WriteString(document.Format() + "\n")
	}
	if a.Text != "" {
		for _, line := range strings.Split(a.Text, "\n") {
			out.WriteString("| " + line + "\n")
		}
	}
}

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " ") }

// clip shortens a text that is too long to be read.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return s[:limit] + "…"
}

// Recorded reads the exchanges of a recording.
func Recorded(dir string, s *Scenario) ([]Exchange, error) {
	data, err := os.ReadFile(recordPath(dir, s))
	if err != nil {
		return nil, fmt.Errorf("%s has no recorded answers, make parity-record writes them: %w", s.Name, err)
	}
	var out []Exchange
	_, rest, _ := strings.Cut(string(data), "\n"+exchangeMark)
	for block := range strings.SplitSeq(rest, "\n"+exchangeMark) {
		e, err := parseExchange(block)
		if err != nil {
			return nil, fmt.Errorf("the recording of %s: %w", s.Name, err)
		}
		out = append(out, e)
	}
	return out, nil
}

func parseExchange(block string) (Exchange, error) {
	lines := strings.Split(strings.TrimRight(block, "\n"), "\n")
	if len(lines) < 3 {
		return Exchange{}, fmt.Errorf("%q is no exchange", block)
	}
	e := Exchange{Name: lines[0], Request: strings.TrimPrefix(lines[1], "> "), recorded: true}
	code, format, _ := strings.Cut(lines[2], " ")
	var err error
	if e.Answer.Code, err = strconv.Atoi(code); err != nil {
		return e, fmt.Errorf("%s: %w", e.Name, err)
	}
	e.Answer.Format = format
	lines = lines[3:]
	for len(lines) > 0 && isHeader(lines[0]) {
		e.Answer.Header = append(e.Answer.Header, lines[0])
		lines = lines[1:]
	}
	if len(lines) > 0 && strings.HasPrefix(lines[0], "| ") {
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], "| ")
		}
		e.Answer.Text = strings.Join(lines, "\n")
		return e, nil
	}
	if e.Answer.Documents, err = ParseJSON([]byte(strings.Join(lines, "\n"))); err != nil {
		return e, fmt.Errorf("%s: %w", e.Name, err)
	}
	return e, nil
}

func isHeader(line string) bool {
	name, _, found := strings.Cut(line, ": ")
	if !found {
		return false
	}
	for _, known := range comparedHeaders {
		if name == known {
			return true
		}
	}
	return name == "Etag"
}
