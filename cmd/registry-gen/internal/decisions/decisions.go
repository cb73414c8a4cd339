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
	c.unused(r)
	for _, hook := range hooks(r.Kind) {
		if m, ok := r.Hooks[hook.name]; ok {
			c.function(m, hook)
		}
	}
	result := Package{Path: pkg.Path, Name: pkg.Name}
	result.Strategy = c.constructor(m, "Strategy", []string{clockType, authorizerType})
	for _, sub := range r.Subresources {
		result.Subresources = append(result.Subresources,
			c.constructor(sub.Marker, sub.Title()+"Strategy", []string{clockType, authorizerType, strategyType}))
	}
	if r.Columns {
		result.Columns = c.constructor(r.ColumnsMarker, "Columns", []string{clockType})
	}
	return result
}

// signature is what a function must look like.
type signature struct {
	name            string
	params, results int
	// form is the signature as messages show it.
	form string
}

// hooks are the hooks that are functions.
func hooks(kind string) []signature {
	return []signature{
		{declaration.HookDelete, 3, 3, "func Delete(context.Context, *registry.Store, strategy.DeleteRequest) (runtime.Object, bool, error)"},
		{declaration.HookShouldDeleteDuringUpdate, 4, 1, "func ShouldDeleteDuringUpdate(ctx context.Context, key string, obj, existing *" + kind + ") bool"},
	}
}

// CheckGroup reports what the markers of a group ask for and the package of declarations does not have, or the other
// way round.
func CheckGroup(pkg *source.Package, group *declaration.Group, problems *problem.List) {
	c := checker{pkg: pkg, problems: problems}
	_, registersDefaults := pkg.Func("RegisterDefaults")
	if m := group.DefaultsMarker; group.Defaults && !registersDefaults && !pkg.HasComment("+k8s:defaulter-gen=") {
		problems.Add(m.Pos, m.String(), "nothing writes RegisterDefaults; add +k8s:defaulter-gen=TypeMeta and +k8s:defaulter-gen-input=PACKAGE OF THE TYPES for defaulter-gen")
	}
	form := signature{"RegisterValidations", 1, 1, "func RegisterValidations(*runtime.Scheme) error"}
	if m := group.ValidationsMarker; group.Validations {
		f, ok := c.function(m, form)
		if ok && (f.Params[0].Type != schemePointer || f.Results[0].Type != "error") {
			problems.Add(f.Pos, m.String(), "RegisterValidations has other types than %s", form.form)
		}
	} else {
		c.neverCalled(form.name, "validations", "the comment above the package clause", group.GroupMarker)
	}
	for _, r := range group.Resources {
		if name := r.Normalize; name != "" {
			c.function(r.NormalizeMarker, signature{name, 1, 1, "func " + name + "(*" + r.Kind + ") error"})
		} else {
			c.neverCalled("Normalize"+r.Kind, "normalize=Normalize"+r.Kind, "the declaration of "+r.Kind, r.ResourceMarker)
		}
		if name := r.New; name != "" {
			c.function(r.NewMarker, signature{name, 0, 1, "func " + name + "() *" + r.Kind})
		} else {
			c.neverCalled("New"+r.Kind, "new=New"+r.Kind, "the declaration of "+r.Kind, r.ResourceMarker)
		}
		if name := r.MetadataView; name != "" {
			c.function(r.MetadataViewMarker, signature{name, 1, 1, "func " + name + "(*" + r.Kind + ") *" + r.Kind})
		}
		for i, version := range r.DecodedVersions {
			if m := r.DecodedVersionMarkers[i]; version == group.Version {
				problems.Add(m.Pos, m.String(), "%s is the served version, which is decoded anyway", version)
			}
		}
	}
}

type checker struct {
	pkg      *source.Package
	problems *problem.List
}

// function reports a function that is missing or has other numbers of parameters and results.
func (c checker) function(m marker.Marker, want signature) (source.Func, bool) {
	f, ok := c.pkg.Func(want.name)
	switch {
	case !ok:
		c.problems.Add(m.Pos, m.String(), "package %s has no %s; it is %s", c.pkg.Path, want.name, want.form)
		return f, false
	case len(f.Params) != want.params || len(f.Results) != want.results:
		c.problems.Add(f.Pos, m.String(), "%s takes or returns too much or too little; it is %s", want.name, want.form)
		return f, false
	}
	return f, true
}

// unused reports what the package has and the declaration does not ask for, so that it would be left out in silence.
func (c checker) unused(r declaration.Resource) {
	declared := map[string]bool{"NewStrategy": true}
	for _, sub := range r.Subresources {
		declared["New"+sub.Title()+"Strategy"] = true
	}
	where := "the declaration of " + r.Kind
	for _, f := range c.pkg.Funcs() {
		name, ok := strings.CutPrefix(f.Name, "New")
		name, isStrategy := strings.CutSuffix(name, "Strategy")
		if ok && isStrategy && !declared[f.Name] {
			c.neverCalled(f.Name, "subresource="+strings.ToLower(name), where, r.ResourceMarker)
		}
	}
	if !r.Columns {
		c.neverCalled("NewColumns", "columns", where, r.ResourceMarker)
	}
	if !r.Hooked(declaration.HookShouldDeleteDuringUpdate) {
		c.neverCalled("ShouldDeleteDuringUpdate", "hook=ShouldDeleteDuringUpdate", where, r.ResourceMarker)
	}
	if f, ok := c.pkg.Func("Delete"); ok && !r.Hooked(declaration.HookDelete) && len(f.Params) == 3 && strings.HasSuffix(f.Params[2].Type, "/strategy.DeleteRequest") {
		c.neverCalled("Delete", "hook=Delete", where, r.ResourceMarker)
	}
}

// neverCalled reports a function that is there while the marker that asks for it is not. where and declared tell where
// the marker belongs.
func (c checker) neverCalled(function, missing, where string, declared marker.Marker) {
	if f, ok := c.pkg.Func(function); ok {
		c.problems.Add(f.Pos, marker.Prefix+missing, "is missing, so that %s is never called; add it to %s (%s:%d)",
			function, where, declared.Pos.Filename, declared.Pos.Line)
	}
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
