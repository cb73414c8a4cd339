// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package source reads Go packages of one module as syntax, without type checking: declarations and strategies must
// be readable while the code generated from them is missing, stale or wrong.
package source

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// GeneratedPrefix starts the name of every generated file.
const GeneratedPrefix = "zz_generated."

// ErrNoPackage is returned for a directory that does not exist or has no Go files.
var ErrNoPackage = errors.New("no Go package")

// Tree is the source of a module.
type Tree struct {
	// FS has the module's root as its root; positions are relative to it.
	FS fs.FS
	// Module is the module's path.
	Module string
	// Fset holds the positions of all that was parsed.
	Fset *token.FileSet
}

// NewTree returns the tree of the module whose root is the root of files.
func NewTree(files fs.FS, module string) *Tree {
	return &Tree{FS: files, Module: module, Fset: token.NewFileSet()}
}

// Package is a parsed package: its files without tests and without generated files. Build constraints are not
// looked at.
type Package struct {
	// Dir is relative to the module's root, with slashes; Path is the import path; Name is the name in the package clause.
	Dir, Path, Name string
	// Files are in the order of their names.
	Files []*ast.File

	fset *token.FileSet
}

// ImportPath returns the import path of a directory of the module.
func (t *Tree) ImportPath(dir string) string {
	return path.Join(t.Module, dir)
}

// Package parses the package in dir. It returns ErrNoPackage where there is none, and the parser's error, which
// names file and line, where the source is not Go.
func (t *Tree) Package(dir string) (*Package, error) {
	entries, err := fs.ReadDir(t.FS, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	pkg := &Package{Dir: dir, Path: t.ImportPath(dir), fset: t.Fset}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, GeneratedPrefix) {
			continue
		}
		file := path.Join(dir, name)
		text, err := fs.ReadFile(t.FS, file)
		if err != nil {
			return nil, err
		}
		parsed, err := parser.ParseFile(t.Fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		pkg.Files = append(pkg.Files, parsed)
		pkg.Name = parsed.Name.Name
	}
	if len(pkg.Files) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, ErrNoPackage)
	}
	return pkg, nil
}

// Fset returns the file set that has the positions of the package.
func (p *Package) Fset() *token.FileSet {
	return p.fset
}

// Position returns the position of a node of one of the package's files.
func (p *Package) Position(pos token.Pos) token.Position {
	return p.fset.Position(pos)
}

// HasComment tells whether a line of a comment above a package clause starts with a text.
func (p *Package) HasComment(start string) bool {
	for _, file := range p.Files {
		for line := range strings.Lines(file.Doc.Text()) {
			if strings.HasPrefix(line, start) {
				return true
			}
		}
	}
	return false
}

// Func is a function, not a method, of a package.
type Func struct {
	Name string
	// Pos is the position of its name.
	Pos token.Position
	// Params and Results are one a value, however they are grouped in the source.
	Params, Results []Param
}

// Param is a parameter or a result of a function.
type Param struct {
	// Pos is the position of its type.
	Pos token.Position
	// Type is the type: the import path, a dot, and the name ("k8s.io/utils/clock.PassiveClock"), the name alone for
	// a type of the package itself or of the language, "*" before either for a pointer. For other types it is the
	// empty string.
	Type string
	// Source is the type as it is written.
	Source string
}

// Func returns the function of that name, false if the package has none.
func (p *Package) Func(name string) (Func, bool) {
	for _, f := range p.Funcs() {
		if f.Name == name {
			return f, true
		}
	}
	return Func{}, false
}

// Funcs returns the functions of the package in the order of files and lines.
func (p *Package) Funcs() []Func {
	var funcs []Func
	for _, file := range p.Files {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			funcs = append(funcs, Func{
				Name:    f.Name.Name,
				Pos:     p.Position(f.Name.Pos()),
				Params:  p.params(file, f.Type.Params),
				Results: p.params(file, f.Type.Results),
			})
		}
	}
	return funcs
}

func (p *Package) params(file *ast.File, list *ast.FieldList) []Param {
	var params []Param
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		for range max(1, len(f.Names)) {
			params = append(params, Param{
				Pos:    p.Position(f.Type.Pos()),
				Type:   TypeName(file, f.Type),
				Source: expression(f.Type),
			})
		}
	}
	return params
}

// TypeName returns the name of a type as Param.Type has it.
func TypeName(file *ast.File, expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		if name := TypeName(file, e.X); name != "" {
			return "*" + name
		}
	case *ast.SelectorExpr:
		pkg, ok := e.X.(*ast.Ident)
		if !ok {
			return ""
		}
		if imported := importPath(file, pkg.Name); imported != "" {
			return imported + "." + e.Sel.Name
		}
	}
	return ""
}

// expression writes the types that parameters usually have the way they are written in the source.
func expression(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return "*" + expression(e.X)
	case *ast.SelectorExpr:
		return expression(e.X) + "." + e.Sel.Name
	case *ast.ArrayType:
		return "[]" + expression(e.Elt)
	case *ast.Ellipsis:
		return "..." + expression(e.Elt)
	case *ast.MapType:
		return "map[" + expression(e.Key) + "]" + expression(e.Value)
	case *ast.FuncType:
		return "func"
	case *ast.InterfaceType:
		return "interface"
	case *ast.IndexExpr:
		return expression(e.X) + "[" + expression(e.Index) + "]"
	}
	return "another type"
}

// importPath returns the path that a file imports under a name, "" if it imports none. Without type checking, the
// name of an import that is not renamed is taken from its path: the last element, or, for a major version, the one
// before.
func importPath(file *ast.File, name string) string {
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has refused it before
		}
		if spec.Name != nil {
			if spec.Name.Name == name {
				return imported
			}
			continue
		}
		dir, last := path.Split(imported)
		if last == name || (IsVersion(last) && path.Base(dir) == name) {
			return imported
		}
	}
	return ""
}

// IsVersion tells whether a path element is a version: "v" and a number, with or without "alpha" or "beta" and another.
func IsVersion(element string) bool {
	rest, ok := strings.CutPrefix(element, "v")
	if !ok || rest == "" || rest[0] < '1' || rest[0] > '9' {
		return false
	}
	rest = strings.TrimLeft(rest, "0123456789")
	for _, stage := range []string{"alpha", "beta"} {
		if number, ok := strings.CutPrefix(rest, stage); ok && number != "" {
			rest = number
			break
		}
	}
	return strings.Trim(rest, "0123456789") == ""
}
