// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"maps"
	"slices"
	"strings"
)

// edit changes one place of an object.
type edit struct {
	path   []any // keys and indexes
	remove bool
	value  any // what is put there when it isn't removed
}

// shrink makes an object smaller while it stays interesting, with at most so many tries. The object isn't changed.
func shrink(object map[string]any, tries int, interesting func(map[string]any) bool) map[string]any {
	for changed := true; changed; {
		changed = false
		edits := editsOf(object)
		for i := 0; i < len(edits) && tries > 0; {
			candidate := edits[i].apply(object)
			tries--
			if !interesting(candidate) {
				i++
				continue
			}
			// What follows has moved; places before it were tried and are tried again in the next round.
			object, changed = candidate, true
			edits = editsOf(object)
		}
	}
	return object
}

// editsOf lists what to try: big parts first, then their own parts, then shorter values.
func editsOf(object map[string]any) []edit {
	var removals, values []edit
	places := [][]any{{}}
	for len(places) > 0 {
		place := places[0]
		places = places[1:]
		if len(place) > 0 {
			removals = append(removals, edit{path: place, remove: true})
		}
		switch value := at(object, place).(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				places = append(places, append(slices.Clone(place), key))
			}
		case []any:
			for i := range value {
				places = append(places, append(slices.Clone(place), i))
			}
		default:
			for _, shorter := range shorterValues(value) {
				values = append(values, edit{path: place, value: shorter})
			}
		}
	}
	return append(removals, values...)
}

// shorterValues are values that say less, the shortest first.
func shorterValues(value any) []any {
	switch value := value.(type) {
	case string:
		var out []any
		for _, shorter := range []string{"", "a", firstHalf(value)} {
			if len(shorter) < len(value) && !slices.Contains(out, any(shorter)) {
				out = append(out, shorter)
			}
		}
		return out
	case int64:
		var out []any
		for _, smaller := range []int64{0, 1, value / 2} {
			if abs(smaller) < abs(value) && !slices.Contains(out, any(smaller)) {
				out = append(out, smaller)
			}
		}
		return out
	case bool:
		if value {
			return []any{false}
		}
	}
	return nil
}

func firstHalf(s string) string { return strings.ToValidUTF8(s[:len(s)/2], "") }

func abs(n int64) int64 { return max(n, -n) }

// apply returns a changed copy.
func (e edit) apply(object map[string]any) map[string]any {
	changed, _ := e.rebuild(object, e.path).(map[string]any)
	return changed
}

// rebuild copies a value along a path; the rest is shared.
func (e edit) rebuild(value any, path []any) any {
	if len(path) == 0 {
		return e.value
	}
	switch value := value.(type) {
	case map[string]any:
		key, _ := path[0].(string)
		out := maps.Clone(value)
		if len(path) == 1 && e.remove {
			delete(out, key)
			return out
		}
		out[key] = e.rebuild(value[key], path[1:])
		return out
	case []any:
		i, _ := path[0].(int)
		out := slices.Clone(value)
		if len(path) == 1 && e.remove {
			return slices.Delete(out, i, i+1)
		}
		out[i] = e.rebuild(value[i], path[1:])
		return out
	}
	return value
}

// at is the value at a path.
func at(value any, path []any) any {
	for _, step := range path {
		switch of := value.(type) {
		case map[string]any:
			key, _ := step.(string)
			value = of[key]
		case []any:
			i, _ := step.(int)
			value = of[i]
		}
	}
	return value
}
