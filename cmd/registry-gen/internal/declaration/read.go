// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package declaration

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/marker"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/problem"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/source"
)

// Read returns the group that a package declares, nil if it declares none. What is wrong goes to problems; the group
// is then good for finding more problems, not for generating from it.
func Read(pkg *source.Package, problems *problem.List) *Group {
	r := reader{pkg: pkg, problems: problems, read: map[*ast.CommentGroup]bool{}}
	group := r.group()
	for _, file := range pkg.Files {
		r.declarations(file, group)
	}
	for _, file := range pkg.Files {
		r.strays(file)
	}
	if group != nil {
		checkNames(group, problems)
	}
	return group
}

type reader struct {
	pkg      *source.Package
	problems *problem.List
	// read are the comments whose markers have been read; markers of others are attached to nothing.
	read map[*ast.CommentGroup]bool
}

func (r *reader) scan(comment *ast.CommentGroup) []marker.Marker {
	r.read[comment] = true
	return marker.Scan(r.pkg.Fset(), comment)
}

// group reads the markers of the package. It returns nil if there are none.
func (r *reader) group() *Group {
	var markers []marker.Marker
	for _, file := range r.pkg.Files {
		markers = append(markers, r.scan(file.Doc)...)
	}
	if len(markers) == 0 {
		return nil
	}

	group := &Group{Dir: r.pkg.Dir, Path: r.pkg.Path, Package: r.pkg.Name, GroupMarker: markers[0]}
	given := map[string]marker.Marker{}
	for _, m := range markers {
		if _, ok := checkMarker(m, OnPackage, given, r.problems); !ok {
			continue
		}
		switch m.Key {
		case "group":
			group.Name, group.GroupMarker = m.Value, m
		case "version":
			group.Version = m.Value
			if !source.IsVersion(m.Value) {
				r.problems.Add(m.Pos, m.String(), "%q is not a version; versions look like v1, v1beta1, v2alpha3", m.Value)
			}
		case "defaults":
			group.Defaults, group.DefaultsMarker = true, m
		case "validations":
			group.Validations, group.ValidationsMarker = true, m
		}
	}
	for _, key := range []string{"group", "version"} {
		if _, ok := given[key]; !ok {
			form, _ := lookup(key, OnPackage)
			r.problems.Add(markers[0].Pos, marker.Prefix+key, "is missing; a package of declarations has %s in %s", form.Form, OnPackage)
		}
	}
	return group
}

// declarations reads the aliases of a file into group, which is nil if the package is none of declarations.
func (r *reader) declarations(file *ast.File, group *Group) {
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok || general.Tok != token.TYPE {
			continue
		}
		for _, spec := range general.Specs {
			typeSpec := spec.(*ast.TypeSpec)
			comment := typeSpec.Doc
			if comment == nil && !general.Lparen.IsValid() {
				comment = general.Doc
			}
			markers := r.scan(comment)
			if len(markers) == 0 {
				continue
			}
			if group == nil {
				r.problems.Add(markers[0].Pos, markers[0].String(), "the package is none of declarations: %s is missing in %s", marker.Prefix+"group", OnPackage)
				continue
			}
			if resource, ok := r.resource(file, typeSpec, markers); ok {
				group.Resources = append(group.Resources, resource)
			}
		}
	}
}

// resource reads the markers of one type. It is false where there is nothing further to check.
func (r *reader) resource(file *ast.File, spec *ast.TypeSpec, markers []marker.Marker) (Resource, bool) {
	pos := r.pkg.Position(spec.Name.Pos())
	typePackage, name := r.aliased(file, spec)
	if name == "" {
		r.problems.Add(pos, markers[0].String(), "%s is not an alias of a type of another package; a declaration is \"type Kind = package.Kind\"", spec.Name.Name)
		return Resource{}, false
	}
	if name != spec.Name.Name {
		r.problems.Add(pos, markers[0].String(), "the alias %s has another name than its type %s, which is the kind that clients write", spec.Name.Name, name)
	}

	resource := Resource{
		Kind:           name,
		TypePackage:    typePackage,
		Singular:       strings.ToLower(name),
		Verbs:          AllVerbs(),
		Hooks:          map[string]marker.Marker{},
		ResourceMarker: markers[0],
	}
	rr := resourceReader{resource: &resource, problems: r.problems}
	given := map[string]marker.Marker{}
	for _, m := range markers {
		if definition, ok := checkMarker(m, OnType, given, r.problems); ok {
			definition.read(&rr, m)
		}
	}
	for _, key := range []string{"resource", "scope"} {
		if _, ok := given[key]; !ok {
			form, _ := lookup(key, OnType)
			r.problems.Add(pos, marker.Prefix+key, "is missing; every declaration has %s", form.Form)
		}
	}
	rr.checkHooks()
	return resource, true
}

// aliased returns package and name of the type that spec is an alias of, empty names if it is none.
func (r *reader) aliased(file *ast.File, spec *ast.TypeSpec) (pkg, name string) {
	selector, ok := spec.Type.(*ast.SelectorExpr)
	if !ok || !spec.Assign.IsValid() {
		return "", ""
	}
	qualified := source.TypeName(file, selector)
	return strings.TrimSuffix(qualified, "."+selector.Sel.Name), qualified[strings.LastIndex(qualified, ".")+1:]
}

// strays reports markers in comments that are attached to nothing: they would be ignored in silence.
func (r *reader) strays(file *ast.File) {
	for _, comment := range file.Comments {
		if r.read[comment] {
			continue
		}
		for _, m := range r.scan(comment) {
			r.problems.Add(m.Pos, m.String(), "is attached to nothing; markers stand in %s or in %s, with no blank line between", OnPackage, OnType)
		}
	}
}

// checkMarker checks what is the same for all markers, and remembers the marker in given. It is false if the value
// is of no use.
func checkMarker(m marker.Marker, place Place, given map[string]marker.Marker, problems *problem.List) (Definition, bool) {
	if m.Misspelt != "" {
		problems.Add(m.Pos, m.String(), "is no marker; markers start with %s", marker.Prefix)
		return Definition{}, false
	}
	definition, ok := lookup(m.Key, place)
	if !ok {
		problems.Add(m.Pos, m.String(), "%s", unknown(m, place))
		return definition, false
	}
	if first, ok := given[m.Key]; ok && !definition.repeatable {
		problems.Add(m.Pos, m.String(), "is given twice; the first is in line %d", first.Pos.Line)
		return definition, false
	}
	given[m.Key] = m
	switch {
	case !definition.takesValue && m.HasValue:
		problems.Add(m.Pos, m.String(), "takes no value; it is written %s", definition.Form)
	case definition.takesValue && !m.HasValue, definition.takesValue && m.Value == "" && !definition.mayBeEmpty:
		problems.Add(m.Pos, m.String(), "needs a value; it is written %s", definition.Form)
	default:
		return definition, true
	}
	return definition, false
}

// checkNames reports names that two resources of the group would share.
func checkNames(group *Group, problems *problem.List) {
	taken := map[string]Resource{}
	check := func(r Resource, m marker.Marker, name string) {
		if other, ok := taken[name]; ok {
			problems.Add(m.Pos, m.String(), "%q is a name of %s already (%s:%d); names are unique within a group",
				name, other.Kind, other.ResourceMarker.Pos.Filename, other.ResourceMarker.Pos.Line)
			return
		}
		taken[name] = r
	}
	for _, r := range group.Resources {
		if r.Plural != "" {
			check(r, r.ResourceMarker, r.Plural)
		}
		if r.Singular != r.Plural {
			check(r, r.ResourceMarker, r.Singular)
		}
	}
	for _, r := range group.Resources {
		for i, name := range r.ShortNames {
			check(r, r.ShortNameMarkers[i], name)
		}
	}
}
