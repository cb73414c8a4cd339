// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package render writes Go files from checked declarations.
//
// The templates are Go code under the names that packages usually go by here; which of them a file imports is found
// by looking at the code that came out. So a template can be read like the file that it makes.
package render

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/declaration"
)

//go:embed templates/*.tmpl
var templates embed.FS

// Renderer writes files with one header for one module.
type Renderer struct {
	// Header is the licence comment at the top of every file, without a newline at its end.
	Header string
	// Module is the module that the files are for; its packages are imported last.
	Module string
	// Support is the import path that apis/resource and the packages of pkg/registry are found under.
	Support string
}

// imports are packages by the name that generated code uses them by.
type imports map[string]string

// add adds a package. It fails if the name is another's.
func (i imports) add(name, imported string) error {
	if other, ok := i[name]; ok && other != imported {
		return fmt.Errorf("%s and %s would both be imported as %s; one of them needs another name", other, imported, name)
	}
	i[name] = imported
	return nil
}

// imports are those that all templates draw on.
func (r Renderer) imports() imports {
	return imports{
		"context":             "context",
		"fmt":                 "fmt",
		"maps":                "maps",
		"metainternalversion": "k8s.io/apimachinery/pkg/apis/meta/internalversion",
		"metav1":              "k8s.io/apimachinery/pkg/apis/meta/v1",
		"fields":              "k8s.io/apimachinery/pkg/fields",
		"labels":              "k8s.io/apimachinery/pkg/labels",
		"runtime":             "k8s.io/apimachinery/pkg/runtime",
		"schema":              "k8s.io/apimachinery/pkg/runtime/schema",
		"field":               "k8s.io/apimachinery/pkg/util/validation/field",
		"watch":               "k8s.io/apimachinery/pkg/watch",
		"authorizer":          "k8s.io/apiserver/pkg/authorization/authorizer",
		"generic":             "k8s.io/apiserver/pkg/registry/generic",
		"genericregistry":     "k8s.io/apiserver/pkg/registry/generic/registry",
		"rest":                "k8s.io/apiserver/pkg/registry/rest",
		"apistorage":          "k8s.io/apiserver/pkg/storage",
		"names":               "k8s.io/apiserver/pkg/storage/names",
		"cache":               "k8s.io/client-go/tools/cache",
		"clock":               "k8s.io/utils/clock",
		"fieldpath":           "sigs.k8s.io/structured-merge-diff/v6/fieldpath",
		"metadataview":        path.Join(r.Support, "registry/metadataview"),
		"resource":            path.Join(r.Support, "apis/resource"),
		"strategy":            path.Join(r.Support, "registry/strategy"),
		"table":               path.Join(r.Support, "registry/table"),
	}
}

// Install writes the install code of a group.
func (r Renderer) Install(g Group) ([]byte, error) {
	imports := r.imports()
	for _, resource := range g.Resources {
		if err := imports.add(typeAlias(resource.TypePackage), resource.TypePackage); err != nil {
			return nil, err
		}
	}
	return r.file("install.go.tmpl", g, imports)
}

// Storage writes the storage of a resource.
func (r Renderer) Storage(resource Resource) ([]byte, error) {
	imports := r.imports()
	err := errors.Join(
		imports.add(typeAlias(resource.TypePackage), resource.TypePackage),
		imports.add(resource.Package.Name, resource.Package.Path),
	)
	if resource.New != "" || resource.MetadataView != "" {
		err = errors.Join(err, imports.add(resource.Declarations(), resource.Group.Path))
	}
	if err != nil {
		return nil, err
	}
	return r.file("storage.go.tmpl", resource, imports)
}

// Provider writes the provider of a group.
func (r Renderer) Provider(g Group) ([]byte, error) {
	imports := r.imports()
	for _, resource := range g.Resources {
		err := errors.Join(
			imports.add(resource.Package.Name, resource.Package.Path),
			imports.add(resource.StorageName(), path.Join(resource.Package.Path, "storage")),
		)
		if err != nil {
			return nil, err
		}
	}
	return r.file("provider.go.tmpl", g, imports)
}

// GroupRef is what the list of groups needs to know of a group.
type GroupRef struct {
	// Package is the name of the package of declarations, Path its import path, RESTPath that of the provider.
	Package, Path, RESTPath string
}

// RESTName is what the provider's package is imported as.
func (g GroupRef) RESTName() string { return g.Package + "rest" }

// Groups writes the list of groups.
func (r Renderer) Groups(groups []GroupRef) ([]byte, error) {
	imports := r.imports()
	for _, g := range groups {
		if err := errors.Join(imports.add(g.Package, g.Path), imports.add(g.RESTName(), g.RESTPath)); err != nil {
			return nil, err
		}
	}
	return r.file("groups.go.tmpl", groups, imports)
}

// Reserved tells whether generated code uses a name for something else than a package of declarations or strategies
// where it would have to use that package.
func (r Renderer) Reserved(name string) bool {
	_, imported := r.imports()[name]
	return imported || slices.Contains(locals(), name)
}

// locals are the names in templates, beside imports, that could be names of packages and are in scope where packages
// of declarations or strategies are used.
func locals() []string {
	return []string{"ctx", "deps", "err", "existing", "getter", "key", "name", "obj", "options", "predicate", "storage", "store", "typed", "validate"}
}

// file executes a template and completes what comes out: header, imports, format.
func (r Renderer) file(name string, data any, known imports) ([]byte, error) {
	parsed, err := template.New(name).Funcs(functions()).ParseFS(templates, "templates/*.tmpl")
	if err != nil {
		return nil, err
	}
	var code bytes.Buffer
	if err := parsed.Execute(&code, data); err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, code.Bytes(), parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("the template made code that is not Go: %w\n%s", err, code.Bytes())
	}

	head := fset.Position(file.Name.End()).Offset
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\n\n// Code generated by registry-gen. DO NOT EDIT.\n\n", r.Header)
	out.Write(code.Bytes()[:head])
	out.WriteString("\n\n" + r.importDecl(used(file, known)))
	out.Write(code.Bytes()[head:])
	formatted, err := format.Source(wrapComments(out.Bytes()))
	if err != nil {
		return nil, fmt.Errorf("could not format generated code: %w", err)
	}
	return formatted, nil
}

// used returns the imports that a file refers to.
func used(file *ast.File, known imports) imports {
	found := imports{}
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			if name, ok := selector.X.(*ast.Ident); ok && known[name.Name] != "" {
				found[name.Name] = known[name.Name]
			}
		}
		return true
	})
	return found
}

// importDecl writes imports in three groups: the standard library, others, the module's own.
func (r Renderer) importDecl(used imports) string {
	groups := make([][]string, 3)
	for name, imported := range used {
		group := 1
		switch first, _, _ := strings.Cut(imported, "/"); {
		case !strings.Contains(first, "."):
			group = 0
		case imported == r.Module, strings.HasPrefix(imported, r.Module+"/"):
			group = 2
		}
		line := strconv.Quote(imported)
		if path.Base(imported) != name {
			line = name + " " + line
		}
		groups[group] = append(groups[group], line)
	}
	var blocks []string
	for _, lines := range groups {
		if len(lines) > 0 {
			slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[strings.Index(a, `"`):], b[strings.Index(b, `"`):]) })
			blocks = append(blocks, strings.Join(lines, "\n"))
		}
	}
	return "import (\n" + strings.Join(blocks, "\n\n") + "\n)\n"
}

func functions() template.FuncMap {
	return template.FuncMap{
		"quote": strconv.Quote,
		"strings": func(values []string) string {
			return "[]string{" + quoted(values) + "}"
		},
		"paths": func(paths []declaration.FieldPath) string {
			var values []string
			for _, p := range paths {
				values = append(values, p.String())
			}
			return "[]string{" + quoted(values) + "}"
		},
		"fieldpaths": func(paths []declaration.FieldPath) string {
			var values []string
			for _, p := range paths {
				values = append(values, "fieldpath.MakePathOrDie("+quoted(p.Elements)+")")
			}
			return strings.Join(values, ", ")
		},
	}
}

func quoted(values []string) string {
	all := make([]string, 0, len(values))
	for _, v := range values {
		all = append(all, strconv.Quote(v))
	}
	return strings.Join(all, ", ")
}
