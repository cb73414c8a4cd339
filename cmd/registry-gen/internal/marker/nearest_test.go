// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package marker_test

import (
	"testing"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/marker"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"get", "group", "shortName", "selectableField", "resource", "resetFields"}
	for name, c := range map[string]struct{ word, want string }{
		"two letters are swapped":                 {"gruop", "group"},
		"a letter is missing":                     {"shortNam", "shortName"},
		"the case is another":                     {"SHORTNAME", "shortName"},
		"a long word may be further off":          {"theSelectableField", "selectableField"},
		"the nearer of two wins":                  {"resetField", "resetFields"},
		"nothing in common":                       {"wheels", ""},
		"a short word is not replaced as a whole": {"abc", ""},
		"no word":     {"", ""},
		"it is there": {"resource", "resource"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := marker.Nearest(c.word, words); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
