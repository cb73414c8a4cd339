// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"
)

// shown is how many lines of each side a difference shows.
const shown = 20

// difference shows the part of two texts that differs, from the first differing line to the last.
func difference(is, should string) string {
	a, b := strings.Split(is, "\n"), strings.Split(should, "\n")
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var out strings.Builder
	fmt.Fprintf(&out, "@@ line %d @@\n", start+1)
	side(&out, "-", a[start:len(a)-end])
	side(&out, "+", b[start:len(b)-end])
	return out.String()
}

func side(out *strings.Builder, sign string, lines []string) {
	for i, line := range lines {
		if i == shown {
			fmt.Fprintf(out, "%s … %d more lines\n", sign, len(lines)-shown)
			return
		}
		fmt.Fprintf(out, "%s%s\n", sign, line)
	}
}
