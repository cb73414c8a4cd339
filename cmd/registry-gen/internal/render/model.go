// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"path"
	"strings"
	"unicode"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/decisions"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/declaration"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/hub"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/source"
)

// Group is a group as the templates see it.
type Group struct {
	*declaration.Group
	Resources []Resource
}

// Extras lists what Install registers beside types, as words for a comment.
func (g Group) Extras() string {
	var extras []string
	for _, r := range g.Resources {
		if len(r.Fields) > 0 {
			extras = append(extras, "the field labels that clients may select by")
			break
		}
	}
	if g.Defaults {
		extras = append(extras, "defaults")
	}
	if g.Validations {
		extras = append(extras, "declarative validations")
	}
	if len(extras) < 2 {
		return strings.Join(extras, "")
	}
	return strings.Join(extras[:len(extras)-1], ", ") + " and " + extras[len(extras)-1]
}

// Resource is a resource as the templates see it.
type Resource struct {
	declaration.Resource
	// Group is the group that declares it.
	Group *declaration.Group
	// Fields are the selectable fields.
	Fields []Field
	// Package is the resource's package, the zero Package for install code, which does not need it.
	Package decisions.Package
}

// Lower is the kind as the start of an unexported identifier: "daemonSet" of "DaemonSet", "apiService" of "APIService".
func (r Resource) Lower() string {
	runes := []rune(r.Kind)
	for i, c := range runes {
		wordStarts := i+1 < len(runes) && !unicode.IsUpper(runes[i+1])
		if i > 0 && (wordStarts || !unicode.IsUpper(c)) {
			break
		}
		runes[i] = unicode.ToLower(c)
	}
	return string(runes)
}

// Type and ListType are the qualified Go types.
func (r Resource) Type() string { return typeAlias(r.TypePackage) + "." + r.Kind }

// ListType is Type for lists.
func (r Resource) ListType() string { return r.Type() + "List" }

// Declarations is the name of the package that declares the resource.
func (r Resource) Declarations() string { return r.Group.Package }

// StoreType is the type of the store behind an endpoint.
func (r Resource) StoreType() string {
	if r.MetadataView == "" {
		return "*genericregistry.Store"
	}
	return "*metadataview.Store[" + r.Type() + ", *" + r.Type() + "]"
}

// Viewed is an expression of StoreType for a store.
func (r Resource) Viewed(store string) string {
	if r.MetadataView == "" {
		return store
	}
	return "metadataview.New(" + store + ", " + r.Declarations() + "." + r.MetadataView + ")"
}

// Labels are the field labels that clients may use beside those of metadata.
func (r Resource) Labels() []string {
	var labels []string
	for _, f := range r.Fields {
		if !f.Alias {
			labels = append(labels, f.Label)
		}
	}
	return labels
}

// Indexed are the fields that the watch cache keeps an index of.
func (r Resource) Indexed() []Field {
	var indexed []Field
	for _, f := range r.Fields {
		if f.Indexed() {
			indexed = append(indexed, f)
		}
	}
	return indexed
}

// ResetsFields tells whether any endpoint resets fields.
func (r Resource) ResetsFields() bool {
	resets := len(r.ResetFields) > 0
	for _, s := range r.Subresources {
		resets = resets || len(s.ResetFields) > 0
	}
	return resets
}

// Wrapped tells whether the endpoint must hide what the store can do, or do a part of it itself.
func (r Resource) Wrapped() bool {
	return len(r.Verbs) < len(declaration.AllVerbs()) || r.Hooked(declaration.HookDelete)
}

// Sub is a subresource with its resource.
func (r Resource) Sub(s declaration.Subresource) any {
	return struct {
		declaration.Subresource
		Resource Resource
	}{s, r}
}

// StorageName is what the resource's storage package is imported as.
func (r Resource) StorageName() string { return r.Package.Name + "storage" }

// StrategyReused tells whether a subresource's constructor wants the resource's strategy.
func (r Resource) StrategyReused() bool {
	for _, constructor := range r.Package.Subresources {
		for _, d := range constructor {
			if d == decisions.Strategy {
				return true
			}
		}
	}
	return false
}

// Arguments are the arguments of a constructor in a method of Provider.
func (r Resource) Arguments(c decisions.Constructor) string {
	var arguments []string
	for _, d := range c {
		switch d {
		case decisions.Clock:
			arguments = append(arguments, "p.Clock")
		case decisions.Authorizer:
			arguments = append(arguments, "p.Authorizer")
		case decisions.Strategy:
			arguments = append(arguments, "strategy")
		}
	}
	return strings.Join(arguments, ", ")
}

// Field is a selectable field as the templates see it.
type Field struct {
	hub.Field
}

// selectFrom is the field of an object as an expression of its own type.
func (f Field) selectFrom(object string) string {
	return object + "." + strings.TrimPrefix(f.Selector, "ObjectMeta.")
}

// Value is the field of an object as a string expression.
func (f Field) Value(object string) string {
	if f.Named {
		return "string(" + f.selectFrom(object) + ")"
	}
	return f.selectFrom(object)
}

// Func is the name of the function that returns the value: "specSignerName".
func (f Field) Func() string {
	name := ""
	for i, element := range f.Path.Elements {
		if i > 0 {
			element = strings.ToUpper(element[:1]) + element[1:]
		}
		name += element
	}
	return name
}

// IndexFunc is the name of the function that returns the value as an index key.
func (f Field) IndexFunc() string {
	name := f.Func()
	return "index" + strings.ToUpper(name[:1]) + name[1:]
}

// typeAlias is what a package of API types is imported as: the last element of its path, with the one before it where
// the last is a version.
func typeAlias(pkg string) string {
	alias := path.Base(pkg)
	if source.IsVersion(alias) {
		alias = path.Base(path.Dir(pkg)) + alias
	}
	return strings.NewReplacer("-", "", ".", "", "_", "").Replace(alias)
}
