// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

const (
	// most is how many items a list or map has at most.
	most = 3
	// unknown is one in how many objects with mistakes an unknown field or a wrong type comes with.
	unknown = 400
)

// Generate returns the DaemonSet of a seed and a number, as JSON. Some are valid, some break a rule or a few.
func Generate(seed, n uint64) map[string]any {
	random := rand.New(rand.NewPCG(seed, n)) //nolint:gosec // it has to be the same each time
	g := &generator{Rand: random, values: newValues(), density: pick(random, 0.05, 0.1, 0.2, 0.35)}
	if g.IntN(3) > 0 {
		g.mistakes = pick(random, 0.004, 0.015, 0.05)
	}
	object := g.daemonSet()
	if g.mistakes == 0 || g.IntN(3) > 0 {
		repair(object)
	}
	return object
}

// generator fills types of k8s.io/api by reflection.
type generator struct {
	*rand.Rand

	values   *values
	density  float64 // the share of optional fields that are there
	mistakes float64 // the share of values that break a rule
}

func pick[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

func (g *generator) maybe(share float64) bool { return g.Float64() < share }

func (g *generator) daemonSet() map[string]any {
	spec, _ := g.fill(place{typ: reflect.TypeFor[appsv1.DaemonSetSpec](), field: "DaemonSet.spec"}).(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	labels := map[string]any{"app": "x"}
	if !g.maybe(g.mistakes) {
		spec["selector"] = map[string]any{"matchLabels": labels}
	}
	if template, ok := spec["template"].(map[string]any); ok && !g.maybe(g.mistakes) {
		meta, _ := template["metadata"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
		}
		meta["labels"] = labels
		template["metadata"] = meta
	}
	return map[string]any{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": map[string]any{"name": "x"}, "spec": spec}
}

// place is where a value goes.
type place struct {
	typ   reflect.Type
	field string // of the nearest struct: Container.image
}

// fill makes a value of a type.
func (g *generator) fill(at place) any {
	if at.typ.Kind() == reflect.Pointer {
		at.typ = at.typ.Elem()
	}
	if g.mistakes > 0 && g.IntN(unknown) == 0 {
		return pick[any](g.Rand, nil, "text", int64(7), true, []any{}, map[string]any{}, map[string]any{"nobodyKnows": "this"})
	}
	if value, ok := g.listed(at); ok {
		return value
	}
	switch at.typ.Kind() {
	case reflect.Struct:
		return g.object(at.typ)
	case reflect.Slice:
		return g.list(at)
	case reflect.Map:
		return g.table(at)
	case reflect.Bool:
		return g.IntN(2) == 0
	case reflect.String:
		return "a"
	case reflect.Int32, reflect.Int64:
		return int64(1 + g.IntN(20))
	default:
		return nil
	}
}

// listed takes a value from the lists: of the field, of its type, or of all fields of this name.
func (g *generator) listed(at place) (any, bool) {
	_, name, _ := strings.Cut(at.field, ".")
	for _, key := range []string{at.field, at.typ.Name(), name} {
		from, ok := g.values.of[key]
		if !ok || key == name && !fits(at.typ, from) {
			continue
		}
		if len(from.wrong) > 0 && g.maybe(g.mistakes) {
			return g.clone(pick(g.Rand, from.wrong...)), true
		}
		if len(from.right) > 0 && !(at.typ.Kind() == reflect.Struct && g.maybe(g.mistakes)) {
			return g.clone(pick(g.Rand, from.right...)), true
		}
	}
	return nil, false
}

// fits says whether choices for all fields of a name are for a type as well: mode is a number here and a text there.
func fits(t reflect.Type, from choice) bool {
	text := len(from.right) > 0 && strings.HasPrefix(from.right[0], `"`)
	switch t.Kind() {
	case reflect.String:
		return text
	case reflect.Int32, reflect.Int64:
		return !text
	default:
		return false
	}
}

// clone reads a value that the lists have as JSON.
func (g *generator) clone(text string) any {
	var out any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&out) != nil {
		return text
	}
	return withIntegers(out)
}

// withIntegers turns numbers into int64 or float64, as the rest of an object has them.
func withIntegers(value any) any {
	switch value := value.(type) {
	case json.Number:
		if n, err := value.Int64(); err == nil {
			return n
		}
		f, _ := value.Float64() // infinity will do as well
		return f
	case map[string]any:
		for key, item := range value {
			value[key] = withIntegers(item)
		}
	case []any:
		for i, item := range value {
			value[i] = withIntegers(item)
		}
	}
	return value
}

// object fills a struct: what has to be there, and some of the rest; one member of a union.
func (g *generator) object(t reflect.Type) any {
	out := map[string]any{}
	fields := fieldsOf(t)
	only := ""
	if g.values.unions[t.Name()] && !g.maybe(g.mistakes) {
		only = g.fieldToFill(t, fields)
	}
	for _, f := range fields {
		if f.inline {
			if inner, ok := g.fill(place{f.typ, t.Name()}).(map[string]any); ok {
				for key, value := range inner {
					out[key] = value
				}
			}
			continue
		}
		key := t.Name() + "." + f.name
		switch {
		case only != "" && f.name != only:
			continue
		case only == f.name:
		case g.values.never[key]:
			if !g.maybe(g.mistakes) {
				continue
			}
		case f.required || g.values.required[key]:
			if g.maybe(g.mistakes / 2) {
				continue
			}
		case !g.maybe(g.share(t)):
			continue
		}
		out[f.name] = g.fill(place{f.typ, key})
	}
	return out
}

// share is how many optional fields a type gets: less where there are many.
func (g *generator) share(t reflect.Type) float64 {
	if t.NumField() < 10 {
		return min(1, 3*g.density)
	}
	return g.density
}

func (g *generator) fieldToFill(t reflect.Type, fields []field) string {
	var names []string
	for _, f := range fields {
		if !g.values.never[t.Name()+"."+f.name] {
			names = append(names, f.name)
		}
	}
	if common := g.values.common[t.Name()]; len(common) > 0 && g.IntN(3) > 0 {
		names = common
	}
	return pick(g.Rand, names...)
}

func (g *generator) list(at place) any {
	n := 1 + g.IntN(most)
	if g.maybe(g.mistakes) {
		n = 0
	}
	out := make([]any, 0, n)
	for range n {
		out = append(out, g.fill(place{at.typ.Elem(), at.field}))
	}
	return out
}

func (g *generator) table(at place) any {
	out := map[string]any{}
	for range 1 + g.IntN(most) {
		key, ok := g.fill(place{at.typ.Key(), at.field + "[key]"}).(string)
		if !ok {
			continue
		}
		out[key] = g.fill(place{at.typ.Elem(), at.field + "[value]"})
	}
	return out
}

// field is one of a struct, as JSON has it.
type field struct {
	name             string
	typ              reflect.Type
	required, inline bool
}

func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "":
			out = append(out, field{typ: f.Type, inline: true})
		default:
			out = append(out, field{name: name, typ: f.Type, required: !strings.Contains(options, "omitempty")})
		}
	}
	return out
}
