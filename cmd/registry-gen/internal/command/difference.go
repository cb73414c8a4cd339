// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"
)

const (
	// around is how many equal lines are shown around what differs.
	around = 2
	// shown is how many lines of a difference are shown.
	shown = 40
)

// difference lists the lines by which two texts differ, like diff -u: "-" for those that are, "+" for those that should
// be there instead.
func difference(is, should string) string {
	lines := edits(strings.Split(is, "\n"), strings.Split(should, "\n"))
	var out strings.Builder
	written, last := 0, -1
	for i := range lines {
		if !nearEdit(lines, i) {
			continue
		}
		if written == shown {
			out.WriteString("…\n")
			break
		}
		if last != i-1 || written == 0 {
			fmt.Fprintf(&out, "@@ line %d @@\n", lines[i].number)
		}
		fmt.Fprintf(&out, "%c%s\n", lines[i].sign, lines[i].text)
		written, last = written+1, i
	}
	return out.String()
}

// line is a line of two texts laid over each other.
type line struct {
	// sign is '-' for a line of the first text, '+' for one of the second, ' ' for one of both.
	sign rune
	text string
	// number is the number of the line, or of the one that it follows, in the first text.
	number int
}

// edits lays two texts over each other by their longest common subsequence of lines.
func edits(a, b []string) []line {
	// common[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
	common := make([][]int, len(a)+1)
	common[len(a)] = make([]int, len(b)+1)
	for i := len(a) - 1; i >= 0; i-- {
		common[i] = make([]int, len(b)+1)
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var lines []line
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			lines = append(lines, line{' ', a[i], i + 1})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			lines = append(lines, line{'-', a[i], i + 1})
			i++
		default:
			lines = append(lines, line{'+', b[j], i})
			j++
		}
	}
	return lines
}

// nearEdit tells whether a line differs or is context of one that does.
func nearEdit(lines []line, i int) bool {
	for _, near := range lines[max(0, i-around):min(len(lines), i+around+1)] {
		if near.sign != ' ' {
			return true
		}
	}
	return false
}
