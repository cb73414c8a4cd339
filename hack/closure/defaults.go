// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

const (
	defaultsTool = "k8s.io/code-generator/cmd/defaulter-gen"
	defaultsFile = generatedPrefix + "defaults.go"
	// registerFunc is the generated function that registers the defaults of all kinds.
	registerFunc = "RegisterDefaults"
)

// defaults generates the defaults of the declared resources, in each package that asks for them.
func defaults(o options) error {
	groups, err := readGroups(o.apis)
	if err != nil {
		return err
	}
	for _, g := range groups {
		if !g.defaults {
			continue
		}
		text, err := runDefaulterGen(o, g.dir)
		if err != nil {
			return err
		}
		pruned, err := pruneDefaults(text, g.types, o.header)
		if err != nil {
			return fmt.Errorf("%s: %w", g.dir, err)
		}
		if err := write(filepath.Join(g.dir, defaultsFile), pruned); err != nil {
			return err
		}
	}
	return nil
}

// runDefaulterGen returns the defaults of all kinds of the package's input. The generator knows no other place to write
// to than the package itself.
func runDefaulterGen(o options, dir string) ([]byte, error) {
	name := filepath.Join(dir, defaultsFile)
	cmd := exec.Command("go", "run", defaultsTool, "--go-header-file", o.headerFile, "--output-file", defaultsFile, "./"+filepath.ToSlash(dir))
	// What it says is shown on failure only: it warns of each alias that has another comment than its type, as all have.
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("defaulter-gen failed: %w\n%s", err, output)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("defaulter-gen wrote nothing; is there a function SetDefaults_… in %s? %w", dir, err)
	}
	return text, nil
}

// pruneDefaults returns defaulter-gen's output reduced to what the defaults of the given types consist of.
func pruneDefaults(text []byte, types []goType, header []byte) ([]byte, error) {
	s, err := newSource(text)
	if err != nil {
		return nil, err
	}
	functions := s.functions()
	register := functions[registerFunc]
	if register == nil {
		return nil, fmt.Errorf("there is no function %s in the generated file", registerFunc)
	}

	var kept []ast.Node
	imports := importPaths(s.file)
	for _, statement := range register.Body.List {
		t, ok := registeredType(statement, imports)
		switch {
		case !ok: // the return
		case slices.Contains(types, t):
			kept = append(kept, statement)
		default:
			s.cut(statement)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("none of %v has defaults", types)
	}
	reached := reach(kept, functions)
	for name, function := range functions {
		if !reached[name] && name != registerFunc {
			s.cut(function)
		}
	}
	return s.finish(header, "defaulter-gen and hack/closure")
}

// registeredType reads a statement like scheme.AddTypeDefaultingFunc(&v1.DaemonSet{}, …).
func registeredType(statement ast.Stmt, imports map[string]string) (goType, bool) {
	expr, ok := statement.(*ast.ExprStmt)
	if !ok {
		return goType{}, false
	}
	call, ok := expr.X.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return goType{}, false
	}
	pointer, ok := call.Args[0].(*ast.UnaryExpr)
	if !ok {
		return goType{}, false
	}
	literal, ok := pointer.X.(*ast.CompositeLit)
	if !ok {
		return goType{}, false
	}
	return qualifiedType(literal.Type, imports)
}
