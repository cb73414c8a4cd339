// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package declaration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/marker"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/problem"
)

// The hooks.
const (
	HookDelete                   = "Delete"
	HookReturnDeletedObject      = "ReturnDeletedObject"
	HookShouldDeleteDuringUpdate = "ShouldDeleteDuringUpdate"
)

// AllVerbs are the verbs that a resource has unless it declares others, in alphabetical order.
func AllVerbs() []string {
	return []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
}

// resourceReader reads the values of the markers of one declaration.
type resourceReader struct {
	resource *Resource
	problems *problem.List
}

func (r *resourceReader) plural(m marker.Marker) {
	r.resource.ResourceMarker = m
	if r.checkName(m, m.Value) {
		r.resource.Plural = m.Value
	}
}

func (r *resourceReader) scope(m marker.Marker) {
	if r.oneOf(m, m.Value, "scope", []string{"Cluster", "Namespaced"}) {
		r.resource.Namespaced = m.Value == "Namespaced"
	}
}

func (r *resourceReader) shortName(m marker.Marker) {
	if r.checkName(m, m.Value) {
		r.resource.ShortNames = append(r.resource.ShortNames, m.Value)
		r.resource.ShortNameMarkers = append(r.resource.ShortNameMarkers, m)
	}
}

func (r *resourceReader) category(m marker.Marker) {
	if r.checkName(m, m.Value) && r.once(m, r.resource.Categories, m.Value) {
		r.resource.Categories = append(r.resource.Categories, m.Value)
	}
}

func (r *resourceReader) verbs(m marker.Marker) {
	var verbs []string
	for verb := range strings.SplitSeq(m.Value, ",") {
		if r.oneOf(m, verb, "verb", AllVerbs()) && r.once(m, verbs, verb) {
			verbs = append(verbs, verb)
		}
	}
	slices.Sort(verbs)
	r.resource.Verbs = verbs

	// The library serves PATCH wherever it finds a getter and an updater.
	patchable := r.resource.Has("get") && r.resource.Has("update")
	switch {
	case r.resource.Has("patch") && !patchable:
		r.problems.Add(m.Pos, m.String(), "patch needs get and update")
	case !r.resource.Has("patch") && patchable:
		r.problems.Add(m.Pos, m.String(), "get and update bring patch with them; add patch, or leave one of the two out")
	case r.resource.Has("watch") && !r.resource.Has("list"):
		r.problems.Add(m.Pos, m.String(), "watch needs list")
	}
}

func (r *resourceReader) resetFields(m marker.Marker) {
	r.resource.ResetFields = r.paths(m, m.Value, ",")
}

func (r *resourceReader) selectableField(m marker.Marker) {
	label, path, alias := strings.Cut(m.Value, "=")
	if !alias {
		path = label
	}
	elements, ok := r.path(m, path)
	if !ok {
		return
	}
	if label == "metadata.name" || label == "metadata.namespace" {
		r.problems.Add(m.Pos, m.String(), "%s needs no marker; it always is selectable where objects have it", label)
		return
	}
	var labels []string
	for _, f := range r.resource.SelectableFields {
		labels = append(labels, f.Label)
	}
	if label == "" {
		r.problems.Add(m.Pos, m.String(), "the label before = is empty")
	} else if r.once(m, labels, label) {
		r.resource.SelectableFields = append(r.resource.SelectableFields, SelectableField{
			Label: label, Path: FieldPath{Elements: elements, Marker: m}, Alias: alias,
		})
	}
}

func (r *resourceReader) garbageCollection(m marker.Marker) {
	if r.oneOf(m, m.Value, "policy", []string{"DeleteDependents", "OrphanDependents", "Unsupported"}) {
		r.resource.GarbageCollection = m.Value
	}
}

func (r *resourceReader) normalize(m marker.Marker) {
	r.resource.Normalize, r.resource.NormalizeMarker = m.Value, m
}

func (r *resourceReader) newFunc(m marker.Marker) {
	r.resource.New, r.resource.NewMarker = m.Value, m
}

func (r *resourceReader) metadataView(m marker.Marker) {
	r.resource.MetadataView, r.resource.MetadataViewMarker = m.Value, m
}

func (r *resourceReader) decodedVersion(m marker.Marker) {
	if r.checkName(m, m.Value) && r.once(m, r.resource.DecodedVersions, m.Value) {
		r.resource.DecodedVersions = append(r.resource.DecodedVersions, m.Value)
		r.resource.DecodedVersionMarkers = append(r.resource.DecodedVersionMarkers, m)
	}
}

func (r *resourceReader) columns(m marker.Marker) {
	r.resource.Columns, r.resource.ColumnsMarker = true, m
}

func (r *resourceReader) hook(m marker.Marker) {
	if !r.oneOf(m, m.Value, "hook", []string{HookDelete, HookReturnDeletedObject, HookShouldDeleteDuringUpdate}) {
		return
	}
	if first, ok := r.resource.Hooks[m.Value]; ok {
		r.problems.Add(m.Pos, m.String(), "is given twice; the first is in line %d", first.Pos.Line)
		return
	}
	r.resource.Hooks[m.Value] = m
}

// checkHooks reports hooks that the declared verbs would never call, or would pass by.
func (r *resourceReader) checkHooks() {
	if m, ok := r.resource.Hooks[HookDelete]; ok && r.resource.Has("deletecollection") {
		r.problems.Add(m.Pos, m.String(), "the deletion of a collection would pass the hook by; leave deletecollection out of %sverbs", marker.Prefix)
	}
	for _, need := range []struct{ hook, verb string }{
		{HookDelete, "delete"},
		{HookReturnDeletedObject, "delete"},
		{HookShouldDeleteDuringUpdate, "update"},
	} {
		if m, ok := r.resource.Hooks[need.hook]; ok && !r.resource.Has(need.verb) {
			r.problems.Add(m.Pos, m.String(), "is never called; %sverbs does not have %s", marker.Prefix, need.verb)
		}
	}
}

func (r *resourceReader) subresource(m marker.Marker) {
	name, options, _ := strings.Cut(m.Value, ",")
	sub := Subresource{Name: name, Get: true, Table: true, Marker: m}
	if !r.checkName(m, name) {
		return
	}
	var given []string
	for option := range strings.SplitSeq(options, ",") {
		key, value, _ := strings.Cut(option, "=")
		if options == "" || !r.oneOf(m, key, "option", []string{"resetFields", "get", "table"}) || !r.once(m, given, key) {
			continue
		}
		given = append(given, key)
		switch key {
		case "resetFields":
			sub.ResetFields = r.paths(m, value, ";")
		case "get":
			sub.Get = r.boolean(m, key, value)
		case "table":
			sub.Table = r.boolean(m, key, value)
		}
	}
	var names []string
	for _, other := range r.resource.Subresources {
		names = append(names, other.Name)
	}
	switch {
	case strings.EqualFold(name, r.resource.Kind), slices.Contains([]string{"scheme", "strategy", "columns", "clock"}, name):
		r.problems.Add(m.Pos, m.String(), "generated code needs the name %q for something else", name)
	case r.once(m, names, name):
		r.resource.Subresources = append(r.resource.Subresources, sub)
	}
}

// boolean reads an option whose default is true.
func (r *resourceReader) boolean(m marker.Marker, key, value string) bool {
	r.oneOf(m, value, "value of "+key, []string{"true", "false"})
	return value != "false"
}

func (r *resourceReader) paths(m marker.Marker, value, separator string) []FieldPath {
	var paths []FieldPath
	var given []string
	for path := range strings.SplitSeq(value, separator) {
		if elements, ok := r.path(m, path); ok && r.once(m, given, path) {
			paths = append(paths, FieldPath{Elements: elements, Marker: m})
			given = append(given, path)
		}
	}
	return paths
}

func (r *resourceReader) path(m marker.Marker, path string) ([]string, bool) {
	elements := strings.Split(path, ".")
	if slices.Contains(elements, "") || strings.ContainsAny(path, "[]/ \t,;=") {
		r.problems.Add(m.Pos, m.String(), "%q is not a path; paths are JSON names joined by dots, such as status.conditions", path)
		return nil, false
	}
	return elements, true
}

// once reports a value that is in values already.
func (r *resourceReader) once(m marker.Marker, values []string, value string) bool {
	if slices.Contains(values, value) {
		r.problems.Add(m.Pos, m.String(), "%q is given twice", value)
		return false
	}
	return true
}

// oneOf reports a value that is none of those allowed.
func (r *resourceReader) oneOf(m marker.Marker, value, what string, allowed []string) bool {
	if slices.Contains(allowed, value) {
		return true
	}
	text := fmt.Sprintf("unknown %s %q; ", what, value)
	if nearest := marker.Nearest(value, allowed); nearest != "" {
		text += "did you mean " + nearest + "? "
	}
	r.problems.Add(m.Pos, m.String(), "%sit is one of %s", text, strings.Join(allowed, ", "))
	return false
}

// checkName reports a name that does not fit into a URL as one lower-case word.
func (r *resourceReader) checkName(m marker.Marker, name string) bool {
	valid := name != "" && name[0] >= 'a' && name[0] <= 'z'
	for _, c := range name {
		valid = valid && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	}
	if !valid {
		r.problems.Add(m.Pos, m.String(), "%q is not a name; names are lower-case letters and digits and start with a letter", name)
	}
	return valid
}
