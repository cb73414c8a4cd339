// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// scope resolves the variables of a scenario while it is played.
type scope struct {
	files fs.FS
	// values are the variables; saved names those that came out of an answer, which differ from server to server.
	values map[string]*Value
	saved  map[string]bool
	// pretend gives unknown variables a value: nothing was sent yet, so that nothing could be saved.
	pretend map[string]bool
}

// Paths of the served resources.
const (
	csrPath       = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	appsPath      = "/apis/apps/v1"
	namespacePath = "/api/v1/namespaces"
)

func newScope(files fs.FS, s *Scenario) *scope {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(s.Name)) // never fails
	id := fmt.Sprintf("s%08x", hash.Sum32())
	namespace := "ns-" + id
	in := appsPath + "/namespaces/" + namespace
	out := &scope{files: files, values: map[string]*Value{}, saved: map[string]bool{}}
	for name, value := range map[string]string{
		"id": id, "ns": namespace, "csrs": csrPath, "namespaces": namespacePath,
		"daemonsets": in + "/daemonsets", "revisions": in + "/controllerrevisions",
		"all-daemonsets": appsPath + "/daemonsets", "all-revisions": appsPath + "/controllerrevisions",
	} {
		out.values[name] = Text(value)
	}
	return out
}

// with returns a scope that has further variables.
func (s *scope) with(values map[string]*Value) *scope {
	out := *s
	out.values = maps.Clone(s.values)
	maps.Copy(out.values, values)
	return &out
}

var variable = regexp.MustCompile(`\{([a-z][a-zA-Z0-9-]*|b64=[^{}]*|(b64|text|repeat):[^{} ]*)\}`)

// lookup finds a variable by what is between its braces.
func (s *scope) lookup(name string) (*Value, error) {
	if v, ok := s.values[name]; ok {
		return v, nil
	}
	if s.pretend[name] {
		return Text("saved"), nil
	}
	function, argument, found := strings.Cut(name, ":")
	switch {
	case strings.HasPrefix(name, "b64="):
		return Text(base64.StdEncoding.EncodeToString([]byte(strings.TrimPrefix(name, "b64=")))), nil
	case found && (function == "b64" || function == "text"):
		data, err := fs.ReadFile(s.files, path.Join("corpus/fixtures", argument))
		if err != nil {
			return nil, err
		}
		if function == "text" {
			return Text(string(data)), nil
		}
		return Text(base64.StdEncoding.EncodeToString(data)), nil
	case found && function == "repeat":
		count, text, _ := strings.Cut(argument, ":")
		n, err := strconv.Atoi(count)
		if err != nil {
			return nil, fmt.Errorf("{%s}: %q is no number", name, count)
		}
		return Text(strings.Repeat(text, n)), nil
	}
	return nil, fmt.Errorf("there is no variable {%s}", name)
}

// expand replaces variables in a text. Where unknown ones are allowed they stay.
func (s *scope) expand(text string, allowUnknown bool) (string, error) {
	var problem error
	out := variable.ReplaceAllStringFunc(text, func(match string) string {
		v, err := s.lookup(match[1 : len(match)-1])
		switch {
		case err == nil:
			return v.plain()
		case !allowUnknown:
			problem = err
		}
		return match
	})
	return out, problem
}

// display is expand for what is printed: saved variables stay, they differ from run to run.
func (s *scope) display(text string) string {
	out := s.with(nil)
	for name := range s.saved {
		out.values[name] = Text("{" + name + "}")
	}
	shown, err := out.expand(text, true)
	if err != nil {
		return text
	}
	return shown
}

// resolve replaces variables in a value. A string that is nothing but a variable becomes its value.
func (s *scope) resolve(v *Value) (*Value, error) {
	out := &Value{Kind: v.Kind, Text: v.Text}
	if text, ok := v.String(); ok {
		if variable.FindString(text) == text && text != "" {
			value, err := s.lookup(text[1 : len(text)-1])
			return value.Copy(), err
		}
		expanded, err := s.expand(text, false)
		return Text(expanded), err
	}
	for _, m := range v.Members {
		key, err := s.expand(m.Key, false)
		if err != nil {
			return nil, err
		}
		value, err := s.resolve(m.Value)
		if err != nil {
			return nil, err
		}
		out.Members = append(out.Members, Member{key, value})
	}
	for _, item := range v.Items {
		value, err := s.resolve(item)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, value)
	}
	return out, nil
}

// body builds what a body says.
func (s *scope) body(node *yaml.Node) (*Value, error) {
	raw, err := fromYAML(node)
	if err != nil {
		return nil, err
	}
	if raw.Field("base") == nil {
		return s.resolve(raw)
	}
	out, err := s.base(raw.Field("base"))
	if err != nil {
		return nil, err
	}
	if set, remove := raw.Field("set"), raw.Field("remove"); set != nil && set.Kind != Object || remove != nil && remove.Kind != List {
		return nil, errors.New("set is a map, and remove a list")
	}
	for _, m := range raw.Members {
		switch m.Key {
		case "base", "set":
		case "remove":
			for _, item := range m.Value.Items {
				pointer, _ := item.String()
				if pointer, err = s.expand(pointer, false); err != nil {
					return nil, err
				}
				if err := out.Remove(pointer); err != nil && s.pretend == nil {
					return nil, err
				}
			}
		default:
			return nil, fmt.Errorf("a body with a base has set and remove, not %q", m.Key)
		}
	}
	if raw.Field("set") == nil {
		return out, nil
	}
	for _, m := range raw.Field("set").Members {
		pointer, err := s.expand(m.Key, false)
		if err != nil {
			return nil, err
		}
		value, err := s.resolve(m.Value)
		if err != nil {
			return nil, err
		}
		if err := out.Set(pointer, value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// base finds what a body begins with.
func (s *scope) base(of *Value) (*Value, error) {
	name, ok := of.String()
	if !ok {
		return nil, errors.New("base is a name")
	}
	if name != "" && variable.FindString(name) == name {
		value, err := s.lookup(name[1 : len(name)-1])
		if err != nil {
			return nil, err
		}
		if value.Kind == Scalar && s.pretend[name[1:len(name)-1]] {
			return &Value{Kind: Object}, nil
		}
		return value.Copy(), nil
	}
	name, err := s.expand(name, false)
	if err != nil {
		return nil, err
	}
	file, found := strings.CutPrefix(name, "file:")
	if !found {
		file = "fixtures/" + name + ".yaml"
	}
	data, err := fs.ReadFile(s.files, path.Join("corpus", file))
	if err != nil {
		return nil, err
	}
	var node yaml.Node
	if err := yaml.Unmarshal(data, &node); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	value, err := fromYAML(&node)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if found {
		// A manifest is taken as it is: braces in it are its own.
		return value, nil
	}
	return s.resolve(value)
}

// cases are the variables of each case of a step, one without any when it has no for.
func (s *scope) cases(step *Step) ([]map[string]*Value, error) {
	if step.ForFiles != "" {
		names, err := fs.Glob(s.files, path.Join("corpus", step.ForFiles))
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("forFiles: %s matches no file", step.ForFiles)
		}
		var out []map[string]*Value
		for _, name := range names {
			name = strings.TrimPrefix(name, "corpus/")
			out = append(out, map[string]*Value{"file": Text(name), "stem": Text(strings.TrimSuffix(path.Base(name), path.Ext(name)))})
		}
		return number(out), nil
	}
	if step.For.IsZero() {
		return []map[string]*Value{{}}, nil
	}
	table, err := fromYAML(&step.For)
	if err != nil {
		return nil, err
	}
	var out []map[string]*Value
	if table.Kind == Object {
		out = []map[string]*Value{{}}
		for _, axis := range table.Members {
			out = multiply(out, axis)
		}
	}
	for _, item := range table.Items {
		row := map[string]*Value{}
		for _, m := range item.Members {
			row[m.Key] = m.Value
		}
		out = append(out, row)
	}
	for _, row := range out {
		for _, name := range slices.Sorted(maps.Keys(row)) {
			if row[name], err = s.resolve(row[name]); err != nil {
				return nil, fmt.Errorf("for: %w", err)
			}
		}
	}
	if len(out) == 0 {
		return nil, errors.New("for is a list of maps, or a map of lists")
	}
	return number(out), nil
}

func multiply(rows []map[string]*Value, axis Member) []map[string]*Value {
	var out []map[string]*Value
	for _, row := range rows {
		for _, value := range axis.Value.Items {
			// An item that is an object gives several variables of one case.
			next := maps.Clone(row)
			if value.Kind == Object {
				for _, m := range value.Members {
					next[m.Key] = m.Value
				}
			} else {
				next[axis.Key] = value
			}
			out = append(out, next)
		}
	}
	return out
}

func number(cases []map[string]*Value) []map[string]*Value {
	for i := range cases {
		cases[i]["case"] = Text("c" + strconv.Itoa(i+1))
	}
	return cases
}
