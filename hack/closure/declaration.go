// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	resourceMarker  = "+pinnace:resource="
	defaultsMarker  = "+k8s:defaulter-gen="
	generatedPrefix = "zz_generated."
)

// goType is a type by its import path and name.
type goType struct {
	pkg, name string
}

func (t goType) String() string { return t.pkg + "." + t.name }

// group is a package that declares resources.
type group struct {
	// dir is the package's folder.
	dir string
	// types are the Go types of the declared resources, each followed by the type of its list.
	types []goType
	// defaults tells whether the package asks for generated defaults.
	defaults bool
}

// readGroups returns the groups among the folders of apis. It fails where there is none: a wrong folder would otherwise
// make a server that publishes nothing.
func readGroups(apis string) ([]group, error) {
	entries, err := os.ReadDir(apis)
	if err != nil {
		return nil, fmt.Errorf("could not read the declarations: %w", err)
	}
	var groups []group
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		g, err := readGroup(filepath.Join(apis, entry.Name()))
		if err != nil {
			return nil, err
		}
		if len(g.types) > 0 {
			groups = append(groups, g)
		}
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("no type in the packages of %s is marked %s", apis, resourceMarker)
	}
	return groups, nil
}

func readGroup(dir string) (group, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return group{}, fmt.Errorf("could not read the declarations: %w", err)
	}
	g := group{dir: dir}
	for _, entry := range entries {
		name := entry.Name()
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, generatedPrefix) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return group{}, fmt.Errorf("could not read the declarations: %w", err)
		}
		types, err := declaredTypes(file)
		if err != nil {
			return group{}, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
		}
		g.types = append(g.types, types...)
		g.defaults = g.defaults || marked(file.Doc, defaultsMarker)
	}
	return g, nil
}

func declaredTypes(file *ast.File) ([]goType, error) {
	imports := importPaths(file)
	var types []goType
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok || general.Tok != token.TYPE {
			continue
		}
		for _, spec := range general.Specs {
			spec := spec.(*ast.TypeSpec)
			if !marked(general.Doc, resourceMarker) && !marked(spec.Doc, resourceMarker) {
				continue
			}
			t, ok := qualifiedType(spec.Type, imports)
			if !ok || !spec.Assign.IsValid() {
				return nil, fmt.Errorf("type %s is marked %s, but isn't an alias of another package's type", spec.Name.Name, resourceMarker)
			}
			types = append(types, t, goType{t.pkg, t.name + "List"})
		}
	}
	return types, nil
}

// marked tells whether one line of a comment begins with the marker.
func marked(doc *ast.CommentGroup, marker string) bool {
	if doc == nil {
		return false
	}
	for _, comment := range doc.List {
		if strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(comment.Text, "//")), marker) {
			return true
		}
	}
	return false
}

// importPaths returns the file's imports by the name that they have in the file.
func importPaths(file *ast.File) map[string]string {
	paths := map[string]string{}
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // can't be: the parser has read it
		}
		name := path.Base(importPath)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		paths[name] = importPath
	}
	return paths
}

// qualifiedType reads an expression like v1.DaemonSet.
func qualifiedType(expr ast.Expr, imports map[string]string) (goType, bool) {
	selector, ok := expr.(*ast.SelectorExpr)
	if !ok {
		return goType{}, false
	}
	pkg, ok := selector.X.(*ast.Ident)
	if !ok || imports[pkg.Name] == "" {
		return goType{}, false
	}
	return goType{imports[pkg.Name], selector.Sel.Name}, true
}
