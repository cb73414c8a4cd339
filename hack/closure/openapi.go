// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	openAPITool = "k8s.io/kube-openapi/cmd/openapi-gen"
	openAPIFile = generatedPrefix + "openapi.go"
	// definitionsFunc is the generated function that returns all definitions.
	definitionsFunc = "GetOpenAPIDefinitions"
	// modelNameFunc is the method of a type that returns the name of its definition.
	modelNameFunc = "OpenAPIModelName"

	metaPackage = "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// serverTypes are the types beside the resources that requests or answers of any API server consist of: those that
// k8s.io/apiserver names in its routes (pkg/endpoints/installer.go, pkg/endpoints/discovery, pkg/server/routes).
// Table and PartialObjectMetadata aren't among them: the API serves them, but kube-apiserver doesn't describe them.
func serverTypes() []goType {
	types := []goType{{"k8s.io/apimachinery/pkg/version", "Info"}}
	for _, name := range []string{
		"APIGroup", "APIGroupList", "APIResourceList", "APIVersions", // discovery
		"DeleteOptions", "Patch", "Status", "WatchEvent", // the verbs
	} {
		types = append(types, goType{metaPackage, name})
	}
	return types
}

// openAPI generates the definitions of everything that is served. The packages to describe follow from the resources:
// those of the resources first, then, as long as a definition refers to a package that isn't there yet, that as well.
func openAPI(o options) error {
	groups, err := readGroups(o.apis)
	if err != nil {
		return err
	}
	roots := serverTypes()
	for _, g := range groups {
		roots = append(roots, g.types...)
	}
	packages := packagesOf(roots)
	for {
		text, err := runOpenAPIGen(o, packages)
		if err != nil {
			return err
		}
		pruned, err := pruneOpenAPI(text, roots, o.header)
		if missing := (missingPackages)(nil); errors.As(err, &missing) {
			packages = append(packages, missing...)
			continue
		}
		if err != nil {
			return err
		}
		return write(filepath.Join(o.outputDir, openAPIFile), pruned)
	}
}

// runOpenAPIGen returns the definitions of all types of the packages.
func runOpenAPIGen(o options, packages []string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "openapi-gen")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()

	// The report tells which of upstream's fields break naming rules; nobody here can mend them.
	args := []string{
		"run", openAPITool, "--go-header-file", o.headerFile, "--output-dir", dir, "--output-file", openAPIFile,
		"--output-pkg", "openapi", "--report-filename", filepath.Join(dir, "report"),
	}
	cmd := exec.Command("go", append(args, packages...)...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("openapi-gen failed: %w\n%s", err, output)
	}
	return os.ReadFile(filepath.Join(dir, openAPIFile))
}

// missingPackages is the error that definitions refer to types of packages that haven't been described.
type missingPackages []string

func (m missingPackages) Error() string {
	return fmt.Sprintf("no definitions of packages %q", []string(m))
}

// pruneOpenAPI returns openapi-gen's output reduced to the definitions of the roots and of all that they refer to.
// It fails with missingPackages if a package is missing as a whole, and otherwise names what has no definition.
func pruneOpenAPI(text []byte, roots []goType, header []byte) ([]byte, error) {
	s, err := newSource(text)
	if err != nil {
		return nil, err
	}
	d, err := readDefinitions(s)
	if err != nil {
		return nil, err
	}
	kept, err := d.closure(roots)
	if err != nil {
		return nil, err
	}

	var from []ast.Node
	for t, entry := range d.entries {
		if kept[t] {
			from = append(from, entry.Value)
		} else {
			s.cut(entry)
		}
	}
	reached := reach(from, d.functions)
	for name, function := range d.functions {
		if !reached[name] && name != definitionsFunc {
			s.cut(function)
		}
	}
	return s.finish(header, "openapi-gen and hack/closure")
}

// definitions is what openapi-gen has written.
type definitions struct {
	functions map[string]*ast.FuncDecl
	// entries are the rows of the table that the generated function returns.
	entries map[goType]*ast.KeyValueExpr
	imports map[string]string
}

func readDefinitions(s *source) (*definitions, error) {
	d := &definitions{functions: s.functions(), entries: map[goType]*ast.KeyValueExpr{}, imports: importPaths(s.file)}
	function := d.functions[definitionsFunc]
	if function == nil {
		return nil, fmt.Errorf("there is no function %s in the generated file", definitionsFunc)
	}
	var errs []error
	ast.Inspect(function.Body, func(node ast.Node) bool {
		entry, ok := node.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		if t, ok := d.modelName(entry.Key); ok {
			d.entries[t] = entry
		} else {
			// A reference to it would be written as a Go name, and its definition published under another: a type
			// of our own needs a generated model name (openapi-gen --output-model-name-file).
			errs = append(errs, fmt.Errorf("%s: a definition is keyed by something else than %s()", s.set.Position(entry.Pos()), modelNameFunc))
		}
		return false
	})
	return d, errors.Join(errs...)
}

// closure returns the roots and all types that their definitions refer to.
func (d *definitions) closure(roots []goType) (map[goType]bool, error) {
	described := map[string]bool{}
	for t := range d.entries {
		described[t.pkg] = true
	}

	kept := map[goType]bool{}
	missing := map[string]bool{}
	var errs []error
	for queue := slices.Clone(roots); len(queue) > 0; queue = queue[1:] {
		t := queue[0]
		if kept[t] {
			continue
		}
		kept[t] = true
		switch entry := d.entries[t]; {
		case entry != nil:
			queue = append(queue, d.references(entry)...)
		case described[t.pkg]:
			errs = append(errs, fmt.Errorf("there is no definition of %s", t))
		default:
			missing[t.pkg] = true
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if len(missing) > 0 {
		return nil, missingPackages(slices.Sorted(maps.Keys(missing)))
	}
	return kept, nil
}

// references are the types that the definition of an entry of the table refers to.
func (d *definitions) references(entry *ast.KeyValueExpr) []goType {
	nodes := []ast.Node{entry.Value}
	for name := range reach(nodes, d.functions) {
		nodes = append(nodes, d.functions[name].Body)
	}
	var types []goType
	for _, node := range nodes {
		ast.Inspect(node, func(node ast.Node) bool {
			if expr, ok := node.(ast.Expr); ok {
				if t, ok := d.modelName(expr); ok {
					types = append(types, t)
				} else if t, ok := goName(expr); ok {
					types = append(types, t)
				}
			}
			return true
		})
	}
	return types
}

// modelName reads an expression like v1.DaemonSet{}.OpenAPIModelName().
func (d *definitions) modelName(expr ast.Expr) (goType, bool) {
	call, ok := expr.(*ast.CallExpr)
	if !ok {
		return goType{}, false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != modelNameFunc {
		return goType{}, false
	}
	literal, ok := method.X.(*ast.CompositeLit)
	if !ok {
		return goType{}, false
	}
	return qualifiedType(literal.Type, d.imports)
}

// goName reads an expression like ref("k8s.io/api/apps/v1.DaemonSet"). That is how the generator refers to a type of a
// package that it wasn't asked to describe, for it hasn't seen whether the type has a model name.
func goName(expr ast.Expr) (goType, bool) {
	call, ok := expr.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return goType{}, false
	}
	if function, ok := call.Fun.(*ast.Ident); !ok || function.Name != "ref" {
		return goType{}, false
	}
	literal, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return goType{}, false
	}
	name, err := strconv.Unquote(literal.Value)
	dot := strings.LastIndexByte(name, '.')
	if err != nil || dot < 0 {
		return goType{}, false
	}
	return goType{name[:dot], name[dot+1:]}, true
}

func packagesOf(types []goType) []string {
	packages := map[string]bool{}
	for _, t := range types {
		packages[t.pkg] = true
	}
	return slices.Sorted(maps.Keys(packages))
}

func write(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}
