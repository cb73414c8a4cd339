// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"
)

// width is how long a line of a comment may be.
const width = 118

// wrapComments breaks the lines of comments that names have made too long. Other comments are left as the templates
// have them.
func wrapComments(code []byte) []byte {
	var out, paragraph []string
	flush := func() {
		out = append(out, wrap(paragraph)...)
		paragraph = nil
	}
	for line := range strings.SplitSeq(string(code), "\n") {
		text := strings.TrimLeft(line, "\t")
		indent := line[:len(line)-len(text)]
		if !strings.HasPrefix(text, "// ") {
			flush()
			out = append(out, line)
			continue
		}
		if len(paragraph) > 0 && !strings.HasPrefix(paragraph[0], indent+"//") {
			flush()
		}
		paragraph = append(paragraph, line)
	}
	flush()
	return []byte(strings.Join(out, "\n"))
}

// wrap breaks one paragraph, whose lines are indented alike, if one of its lines is too long.
func wrap(lines []string) []string {
	long := false
	var words []string
	prefix := ""
	for _, line := range lines {
		text := strings.TrimLeft(line, "\t")
		prefix = line[:len(line)-len(text)] + "//"
		long = long || len(line) > width
		words = append(words, strings.Fields(strings.TrimPrefix(text, "//"))...)
	}
	if !long {
		return lines
	}
	var wrapped []string
	current := prefix
	for _, word := range words {
		if current != prefix && len(current)+1+len(word) > width {
			wrapped = append(wrapped, current)
			current = prefix
		}
		current += " " + word
	}
	return append(wrapped, current)
}
