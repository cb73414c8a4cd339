// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package problem collects what is wrong with declarations, so that a run names all of it and not only the first.
package problem

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"
)

// Problem is one mistake, at the place where it is mended.
type Problem struct {
	// Pos is where; its Filename is relative to the module's root.
	Pos token.Position
	// Marker is the marker that is wrong, missing, or asks for what is missing, as it is written in the source.
	Marker string
	// Text says what is wrong and what is right.
	Text string
}

// Error implements error: "file:line: marker: text".
func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d: %s: %s", p.Pos.Filename, p.Pos.Line, p.Marker, p.Text)
}

// List is any number of problems. As an error it is never empty: see Err.
type List []Problem

// Add appends a problem with a formatted text.
func (l *List) Add(pos token.Position, marker, format string, args ...any) {
	*l = append(*l, Problem{Pos: pos, Marker: marker, Text: fmt.Sprintf(format, args...)})
}

// Err returns the problems in the order of their places, or nil if there are none.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	sorted := slices.Clone(l)
	slices.SortStableFunc(sorted, func(a, b Problem) int {
		return cmp.Or(
			strings.Compare(a.Pos.Filename, b.Pos.Filename),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			strings.Compare(a.Marker, b.Marker),
			strings.Compare(a.Text, b.Text),
		)
	})
	return slices.Compact(sorted)
}

// Error implements error: one problem a line.
func (l List) Error() string {
	lines := make([]string, 0, len(l))
	for _, p := range l {
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}
