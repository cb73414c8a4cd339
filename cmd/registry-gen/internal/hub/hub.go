// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package hub holds declarations against the Go types that they are about: whether a type is an API object with a
// list type, and whether the fields that markers name are there.
//
// The types are loaded by gengo, which sees through an alias to the type behind it; that is why the declarations
// themselves, whose comments and lines it would lose, are not read here.
package hub

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/gengo/v2/parser"
	"k8s.io/gengo/v2/types"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/declaration"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/marker"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/problem"
)

const metaPackage = "k8s.io/apimachinery/pkg/apis/meta/v1"

// Types are the Go types of any number of packages.
type Types struct {
	universe types.Universe
	// failed are the packages that could not be loaded.
	failed map[string]error
}

// Load loads packages by their import paths as the module of the working directory sees them. A package that can't
// be loaded becomes a problem of the declarations that name it. Two calls at the same time are a data race: all universes
// of gengo share the basic types of Go, and every load writes to them.
func Load(paths []string) (*Types, error) {
	t := &Types{failed: map[string]error{}}
	p := parser.New()
	if len(paths) > 0 && p.LoadPackages(paths...) != nil {
		// One bad package spoils the whole load, so find out which.
		p = parser.New()
		for _, path := range paths {
			if err := p.LoadPackages(path); err != nil {
				t.failed[path] = err
			}
		}
	}
	universe, err := p.NewUniverse()
	if err != nil {
		return nil, fmt.Errorf("could not read the types of %s: %w", strings.Join(paths, ", "), err)
	}
	t.universe = universe
	return t, nil
}

// Field is a selectable field as Go code reads it.
type Field struct {
	declaration.SelectableField
	// Selector leads from an object to the field: "Spec.SignerName".
	Selector string
	// Named tells that the Go type of the field is not string itself but has string beneath.
	Named bool
}

// Check reports what is wrong between a declaration and its Go type. It returns the selectable fields that are right.
func (t *Types) Check(r declaration.Resource, problems *problem.List) []Field {
	m := r.ResourceMarker
	if err := t.failed[r.TypePackage]; err != nil {
		problems.Add(m.Pos, m.String(), "could not load %s: %s", r.TypePackage, oneLine(err))
		return nil
	}
	object := t.lookup(r.TypePackage, r.Kind)
	if object == nil {
		problems.Add(m.Pos, m.String(), "there is no type %s in %s", r.Kind, r.TypePackage)
		return nil
	}
	if !isObject(object, "ObjectMeta") {
		problems.Add(m.Pos, m.String(), "%s.%s is not an API object: it has no TypeMeta, no ObjectMeta or no DeepCopyObject", r.TypePackage, r.Kind)
		return nil
	}
	if list := t.lookup(r.TypePackage, r.Kind+"List"); list == nil || !isObject(list, "ListMeta") {
		problems.Add(m.Pos, m.String(), "there is no list type %sList with a ListMeta in %s", r.Kind, r.TypePackage)
	}

	checkResetFields(object, r.ResetFields, problems)
	for _, sub := range r.Subresources {
		checkResetFields(object, sub.ResetFields, problems)
	}
	var fields []Field
	for _, selectable := range r.SelectableFields {
		m := selectable.Path.Marker
		selector, leaf, err := walk(object, selectable.Path.Elements)
		if err == nil {
			err = selectableType(selectable.Path, leaf)
		}
		if err != nil {
			problems.Add(m.Pos, m.String(), "%s", err)
			continue
		}
		fields = append(fields, Field{SelectableField: selectable, Selector: selector.expression(), Named: leaf.Kind == types.Alias})
		if selector.pointer != "" {
			problems.Add(m.Pos, m.String(), "%s is a pointer; only fields that every object has can be selected", selector.pointer)
		}
	}
	return fields
}

func checkResetFields(object *types.Type, paths []declaration.FieldPath, problems *problem.List) {
	for _, path := range paths {
		if _, _, err := walk(object, path.Elements); err != nil {
			problems.Add(path.Marker.Pos, path.Marker.String(), "%s", err)
		}
	}
}

// lookup returns a struct type of a package, nil if there is none. The universe would make up what it does not know.
func (t *Types) lookup(pkg, name string) *types.Type {
	if p, ok := t.universe[pkg]; ok && p.Has(name) {
		if found := p.Type(name); found.Kind == types.Struct {
			return found
		}
	}
	return nil
}

// isObject tells whether a type embeds TypeMeta and the given metadata, and can be copied as a runtime.Object.
func isObject(t *types.Type, metadata string) bool {
	has := map[string]bool{}
	for _, member := range t.Members {
		if member.Embedded && member.Type.Name.Package == metaPackage {
			has[member.Name] = true
		}
	}
	_, copies := t.Methods["DeepCopyObject"]
	return has["TypeMeta"] && has[metadata] && copies
}

// selector is the way from an object to a field.
type selector struct {
	names []string
	// pointer is the JSON path of the first pointer on the way, "" if there is none.
	pointer string
}

func (s selector) expression() string {
	return strings.Join(s.names, ".")
}

// walk follows a path of JSON names from an object. The error names the element that is not there.
func walk(object *types.Type, path []string) (selector, *types.Type, error) {
	var way selector
	current := object
	for i, element := range path {
		members := members(current)
		if len(members) == 0 {
			return way, nil, fmt.Errorf("%s has no fields with names of their own, so there is no %s", strings.Join(path[:i], "."), strings.Join(path[:i+1], "."))
		}
		found, names := find(members, element)
		if found == nil {
			return way, nil, missing(object, path[:i], element, names)
		}
		way.names = append(way.names, found.Name)
		current = found.Type
		if current.Kind == types.Pointer {
			current = current.Elem
			if way.pointer == "" {
				way.pointer = strings.Join(path[:i+1], ".")
			}
		}
	}
	return way, current, nil
}

// members returns the fields of a struct; fields of inlined structs count as its own.
func members(t *types.Type) []types.Member {
	if t.Kind != types.Struct {
		return nil
	}
	var all []types.Member
	for _, member := range t.Members {
		if member.Embedded && jsonName(member) == "" {
			all = append(all, members(member.Type)...)
			continue
		}
		all = append(all, member)
	}
	return all
}

// find returns the member of a JSON name, and the names of all if there is none.
func find(members []types.Member, name string) (*types.Member, []string) {
	var names []string
	for _, member := range members {
		if jsonName(member) == name {
			return &member, nil
		}
		names = append(names, jsonName(member))
	}
	return nil, names
}

func jsonName(member types.Member) string {
	name, _, _ := strings.Cut(reflect.StructTag(member.Tags).Get("json"), ",")
	return name
}

// missing names what is right instead of an element that is not there.
func missing(object *types.Type, before []string, element string, names []string) error {
	path := strings.Join(append(before[:len(before):len(before)], element), ".")
	text := fmt.Sprintf("%s has no field %s", object.Name.Name, path)
	if nearest := marker.Nearest(element, names); nearest != "" {
		text += "; did you mean " + strings.TrimSuffix(path, element) + nearest + "?"
	}
	return fmt.Errorf("%s", text)
}

// selectableType returns an error for a field that is not a string.
func selectableType(path declaration.FieldPath, t *types.Type) error {
	if t == types.String || (t.Kind == types.Alias && t.Underlying == types.String) {
		return nil
	}
	return fmt.Errorf("%s is not a string but %s; only strings can be selected", path, t.Name.Name)
}

func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
