// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package marker

import (
	"strings"
)

// Nearest returns the word that was most likely meant, "" if none is near: it is within two edits, or within a third
// of its length for longer words, regardless of case. Of equally near words the first wins.
func Nearest(word string, words []string) string {
	nearest, least := "", 0
	for _, candidate := range words {
		distance := edits(strings.ToLower(word), strings.ToLower(candidate))
		if distance > max(2, len(candidate)/3) || distance >= len(candidate) {
			continue
		}
		if nearest == "" || distance < least {
			nearest, least = candidate, distance
		}
	}
	return nearest
}

// edits is the Levenshtein distance in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
