// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package marker reads the markers of a comment: lines "+pinnace:key" or "+pinnace:key=value".
package marker

import (
	"go/ast"
	"go/token"
	"strings"
)

// Prefix starts every marker.
const Prefix = "+pinnace:"

// Marker is one marker.
type Marker struct {
	// Pos is its line; columns are not kept.
	Pos token.Position
	// Key is what stands between the prefix and the first "=", Value what stands behind it.
	Key, Value string
	// HasValue tells "key=" from "key".
	HasValue bool
	// Misspelt is a line that was meant for a marker but does not start like one. It has no key then.
	Misspelt string
}

// String returns the marker as it is written.
func (m Marker) String() string {
	if m.Misspelt != "" {
		return m.Misspelt
	}
	if !m.HasValue {
		return Prefix + m.Key
	}
	return Prefix + m.Key + "=" + m.Value
}

// Scan returns the markers of a comment group in the order of their lines. A nil group has none.
func Scan(fset *token.FileSet, group *ast.CommentGroup) []Marker {
	if group == nil {
		return nil
	}
	var markers []Marker
	for _, comment := range group.List {
		start := fset.Position(comment.Slash)
		for i, line := range strings.Split(comment.Text, "\n") {
			line = strings.TrimSuffix(strings.TrimSpace(line), "*/")
			line = strings.TrimSpace(strings.TrimLeft(line, "/*"))
			pos := token.Position{Filename: start.Filename, Line: start.Line + i}
			if text, ok := strings.CutPrefix(line, Prefix); ok {
				key, value, hasValue := strings.Cut(text, "=")
				markers = append(markers, Marker{Pos: pos, Key: key, Value: value, HasValue: hasValue})
			} else if misspelt(line) {
				markers = append(markers, Marker{Pos: pos, Misspelt: line})
			}
		}
	}
	return markers
}

// misspelt tells whether a line that does not start with the prefix was meant to: markers of other tools and prose do not
// come near it.
func misspelt(line string) bool {
	word, plus := strings.CutPrefix(line, "+")
	word = strings.TrimSpace(word)
	if end := strings.IndexAny(word, ":.= "); end >= 0 {
		// Without the plus, only a colon tells a marker from a sentence that starts with the name.
		if !plus && word[end] != ':' {
			return false
		}
		word = word[:end]
	} else if !plus {
		return false
	}
	return Nearest(word, []string{strings.Trim(Prefix, "+:")}) != ""
}
