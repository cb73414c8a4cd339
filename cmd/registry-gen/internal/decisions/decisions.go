// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package decisions holds declarations against what is written by hand for them: the strategies, columns and hooks
// in a resource's package, and the functions in the package of declarations. It looks at names and at what
// constructors ask for; whether methods and hooks have the right types, the compiler tells of the generated code.
package decisions

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/declaration"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/marker"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/problem"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/source"
)

// Dependency is what a constructor can ask for.
type Dependency int

// The dependencies.
const (
	// Clock is a clock.PassiveClock.
	Clock Dependency = iota
	// Authorizer is an authorizer.Authorizer.
	Authorizer
	// Strategy is the resource's own Strategy.
	Strategy
)

const (
	clockType      = "k8s.io/utils/clock.PassiveClock"
	authorizerType = "k8s.io/apiserver/pkg/authorization/authorizer.Authorizer"
	strategyType   = "Strategy"
	schemePointer  = "*k8s.io/apimachinery/pkg/runtime.Scheme"
)

// Constructor is what a constructor asks for, in order.
type Constructor []Dependency

// Package is the package of a resource as generated code uses it.
type Package struct {
	// Path and Name are its import path and its name.
	Path, Name string
	// Strategy constructs the strategy of the main endpoint, Columns the columns if there are any, Subresources the
	// strategies of the subresources, in their order.
	Strategy     Constructor
	Columns      Constructor
	Subresources []Constructor
}

// Check reads the package of a resource in dir and reports what a declaration asks for and the package does not have.
func Check(tree *source.Tree, dir string, r declaration.Resource, problems *problem.List) Package {
	m := r.ResourceMarker
	pkg, err := tree.Package(dir)
	switch {
	case errors.Is(err, source.ErrNoPackage):
		problems.Add(m.Pos, m.String(), "there is no Go package in %s; write Strategy and NewStrategy there (with --install-only, registry-gen does not ask for it)", dir)
		return Package{}
	case err != nil:
		problems.Add(m.Pos, m.String(), "could not read %s: %s", dir, err)
		return Package{}
	}

	c := checker{pkg: pkg, problems: problems}
	result := Package{Path: pkg.Path, Name: pkg.Name}
	result.Strategy = c.constructor(m, "Strategy", []string{clockType, authorizerType})
	for _, sub := range r.Subresources {
		result.Subresources = append(result.Subresources,
			c.constructor(sub.Marker, sub.Title()+"Strategy", []string{clockType, authorizerType, strategyType}))
	}
	if r.Columns {
		result.Columns = c.constructor(r.ColumnsMarker, "Columns", []string{clockType})
	} else if f, ok := pkg.Func("NewColumns"); ok {
		problems.Add(f.Pos, marker.Prefix+"columns", "is missing, so that NewColumns is never called; add it to the declaration of %s (%s:%d)", r.Kind, m.Pos.Filename, m.Pos.Line)
	}
	for _, hook := range []struct {
		name           string
		params, result int
		form           string
	}{
		{declaration.HookDelete, 3, 3, "func Delete(context.Context, *registry.Store, strategy.DeleteRequest) (runtime.Object, bool, error)"},
		{declaration.HookShouldDeleteDuringUpdate, 4, 1, "func ShouldDeleteDuringUpdate(ctx context.Context, key string, obj, existing *" + r.Kind + ") bool"},
	} {
		if m, ok := r.Hooks[hook.name]; ok {
			c.function(m, hook.name, hook.form, hook.params, hook.result)
		}
	}
	return result
}

// CheckGroup reports what the markers of a group ask for and the package of declarations does not have.
func CheckGroup(pkg *source.Package, group *declaration.Group, problems *problem.List) {
	c := checker{pkg: pkg, problems: problems}
	if m := group.DefaultsMarker; group.Defaults && !pkg.HasComment("+k8s:defaulter-gen=") {
		if _, ok := pkg.Func("RegisterDefaults"); !ok {
			problems.Add(m.Pos, m.String(), "nothing writes RegisterDefaults; add +k8s:defaulter-gen=TypeMeta and +k8s:defaulter-gen-input=PACKAGE OF THE TYPES for defaulter-gen")
		}
	}
	if group.Validations {
		m, form := group.ValidationsMarker, "func RegisterValidations(*runtime.Scheme) error"
		f, ok := c.function(m, "RegisterValidations", form, 1, 1)
		if ok && (f.Params[0].Type != schemePointer || f.Results[0].Type != "error") {
			problems.Add(f.Pos, m.String(), "RegisterValidations has other types than %s", form)
		}
	}
	for _, r := range group.Resources {
		if r.Normalize != "" {
			c.function(r.NormalizeMarker, r.Normalize, "func "+r.Normalize+"(*"+r.Kind+") error", 1, 1)
		}
	}
}

type checker struct {
	pkg      *source.Package
	problems *problem.List
}

// function reports a function that is missing or has other numbers of parameters and results.
func (c checker) function(m marker.Marker, name, form string, params, results int) (source.Func, bool) {
	f, ok := c.pkg.Func(name)
	switch {
	case !ok:
		c.problems.Add(m.Pos, m.String(), "package %s has no %s; it is %s", c.pkg.Path, name, form)
		return f, false
	case len(f.Params) != params || len(f.Results) != results:
		c.problems.Add(f.Pos, m.String(), "%s takes or returns too much or too little; it is %s", name, form)
		return f, false
	}
	return f, true
}

// constructor reads "New" + name, which returns the type name. It reports what is missing or asks for what is not allowed.
func (c checker) constructor(m marker.Marker, name string, allowed []string) Constructor {
	f, ok := c.pkg.Func("New" + name)
	if !ok {
		c.problems.Add(m.Pos, m.String(), "package %s has no constructor New%s; it is func New%s(%s) %s", c.pkg.Path, name, name, list(allowed), name)
		return nil
	}
	if len(f.Results) != 1 || f.Results[0].Type != name {
		c.problems.Add(f.Pos, m.String(), "New%s returns something else than one %s", name, name)
	}
	var asked Constructor
	seen := map[string]bool{}
	for _, param := range f.Params {
		if err := checkParam(param, allowed, seen); err != nil {
			c.problems.Add(param.Pos, m.String(), "New%s %s", name, err)
			continue
		}
		seen[param.Type] = true
		asked = append(asked, map[string]Dependency{clockType: Clock, authorizerType: Authorizer, strategyType: Strategy}[param.Type])
	}
	return asked
}

func checkParam(param source.Param, allowed []string, seen map[string]bool) error {
	if seen[param.Type] {
		return fmt.Errorf("asks for %s twice", param.Source)
	}
	for _, a := range allowed {
		if param.Type == a {
			return nil
		}
	}
	return fmt.Errorf("asks for %s; it can ask for %s", param.Source, list(allowed))
}

// list joins types, shortened to package and name, with commas.
func list(types []string) string {
	short := make([]string, 0, len(types))
	for _, t := range types {
		short = append(short, t[strings.LastIndex(t, "/")+1:])
	}
	return strings.Join(short, ", ")
}
