// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Kind tells what a Value is.
type Kind int

// The kinds of values.
const (
	Scalar Kind = iota
	Object
	List
)

// Value is a JSON value that knows the order of its fields, and fields that are there twice: an answer with the same fields in
// another order is another answer.
type Value struct {
	Kind    Kind
	Members []Member // of an object
	Items   []*Value // of a list
	Text    string   // of a scalar: its JSON form
}

// Member is a field of an object.
type Member struct {
	Key   string
	Value *Value
}

// Text makes a string.
func Text(s string) *Value {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	// A string can always be encoded.
	_ = encoder.Encode(s)
	return &Value{Text: strings.TrimSuffix(out.String(), "\n")}
}

// String returns the text of a string, and whether v is one.
func (v *Value) String() (string, bool) {
	if v == nil || v.Kind != Scalar || !strings.HasPrefix(v.Text, `"`) {
		return "", false
	}
	var s string
	err := json.Unmarshal([]byte(v.Text), &s)
	return s, err == nil
}

// plain is what v looks like inside a text: a string without its quotes, anything else as JSON.
func (v *Value) plain() string {
	if s, ok := v.String(); ok {
		return s
	}
	return string(v.JSON())
}

// Field returns a field of an object, nil when there is none.
func (v *Value) Field(key string) *Value {
	if v == nil || v.Kind != Object {
		return nil
	}
	for _, m := range v.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// At follows keys from object to object.
func (v *Value) At(keys ...string) *Value {
	for _, key := range keys {
		v = v.Field(key)
	}
	return v
}

// Copy returns a deep copy.
func (v *Value) Copy() *Value {
	if v == nil {
		return nil
	}
	out := &Value{Kind: v.Kind, Text: v.Text}
	for _, m := range v.Members {
		out.Members = append(out.Members, Member{m.Key, m.Value.Copy()})
	}
	for _, item := range v.Items {
		out.Items = append(out.Items, item.Copy())
	}
	return out
}

// ParseJSON reads the JSON values that data consists of. Numbers keep their form.
func ParseJSON(data []byte) ([]*Value, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var out []*Value
	for {
		v, err := readValue(decoder)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, v)
	}
}

func readValue(decoder *json.Decoder) (*Value, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	return readAfter(decoder, token)
}

func readAfter(decoder *json.Decoder, token json.Token) (*Value, error) {
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return readList(decoder)
		}
		return readObject(decoder)
	case string:
		return Text(t), nil
	case json.Number:
		return &Value{Text: t.String()}, nil
	case bool:
		return &Value{Text: strconv.FormatBool(t)}, nil
	default:
		return &Value{Text: "null"}, nil
	}
}

func readList(decoder *json.Decoder) (*Value, error) {
	out := &Value{Kind: List}
	for decoder.More() {
		item, err := readValue(decoder)
		if err != nil {
			return nil, unexpectedEnd(err)
		}
		out.Items = append(out.Items, item)
	}
	_, err := decoder.Token()
	return out, unexpectedEnd(err)
}

func readObject(decoder *json.Decoder) (*Value, error) {
	out := &Value{Kind: Object}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, unexpectedEnd(err)
		}
		key, ok := token.(string)
		if !ok {
			return nil, fmt.Errorf("the key %v is no string", token)
		}
		value, err := readValue(decoder)
		if err != nil {
			return nil, unexpectedEnd(err)
		}
		out.Members = append(out.Members, Member{key, value})
	}
	_, err := decoder.Token()
	return out, unexpectedEnd(err)
}

// unexpectedEnd keeps an end inside a value apart from the one after the last.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// fromYAML turns a YAML node into a value.
func fromYAML(node *yaml.Node) (*Value, error) {
	switch node.Kind {
	case yaml.DocumentNode:
		return fromYAML(node.Content[0])
	case yaml.AliasNode:
		return fromYAML(node.Alias)
	case yaml.SequenceNode:
		out := &Value{Kind: List}
		for _, child := range node.Content {
			item, err := fromYAML(child)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, item)
		}
		return out, nil
	case yaml.MappingNode:
		out := &Value{Kind: Object}
		for i := 0; i < len(node.Content); i += 2 {
			value, err := fromYAML(node.Content[i+1])
			if err != nil {
				return nil, err
			}
			out.Members = append(out.Members, Member{node.Content[i].Value, value})
		}
		return out, nil
	default:
		return fromYAMLScalar(node)
	}
}

func fromYAMLScalar(node *yaml.Node) (*Value, error) {
	switch node.ShortTag() {
	case "!!null":
		return &Value{Text: "null"}, nil
	case "!!bool":
		var b bool
		err := node.Decode(&b)
		return &Value{Text: strconv.FormatBool(b)}, err
	case "!!int":
		if json.Valid([]byte(node.Value)) {
			return &Value{Text: node.Value}, nil
		}
		var i int64
		if err := node.Decode(&i); err != nil {
			return nil, fmt.Errorf("line %d: %w", node.Line, err)
		}
		return &Value{Text: strconv.FormatInt(i, 10)}, nil
	case "!!float":
		if json.Valid([]byte(node.Value)) {
			return &Value{Text: node.Value}, nil
		}
		var f float64
		if err := node.Decode(&f); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return nil, fmt.Errorf("line %d: %s has no JSON form", node.Line, node.Value)
		}
		return &Value{Text: strconv.FormatFloat(f, 'g', -1, 64)}, nil
	default:
		return Text(node.Value), nil
	}
}

// JSON returns v without white space.
func (v *Value) JSON() []byte { return v.appendJSON(nil) }

func (v *Value) appendJSON(out []byte) []byte {
	switch v.Kind {
	case Object:
		out = append(out, '{')
		for i, m := range v.Members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, Text(m.Key).Text...)
			out = append(out, ':')
			out = m.Value.appendJSON(out)
		}
		return append(out, '}')
	case List:
		out = append(out, '[')
		for i, item := range v.Items {
			if i > 0 {
				out = append(out, ',')
			}
			out = item.appendJSON(out)
		}
		return append(out, ']')
	default:
		return append(out, v.Text...)
	}
}

// lineWidth is how long a value may be to be written on one line.
const lineWidth = 120

// Format returns v as JSON that can be read: what fits is on one line, the rest is indented.
func (v *Value) Format() string {
	var out strings.Builder
	v.format(&out, "")
	return out.String()
}

func (v *Value) format(out *strings.Builder, indent string) {
	short := v.JSON()
	if v.Kind == Scalar || len(indent)+len(short) <= lineWidth {
		out.Write(short)
		return
	}
	inner := indent + " "
	open, shut, n := "[", "]", len(v.Items)
	if v.Kind == Object {
		open, shut, n = "{", "}", len(v.Members)
	}
	out.WriteString(open)
	for i := range n {
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n" + inner)
		if v.Kind == Object {
			out.WriteString(Text(v.Members[i].Key).Text + ": ")
			v.Members[i].Value.format(out, inner)
			continue
		}
		v.Items[i].format(out, inner)
	}
	out.WriteString("\n" + indent + shut)
}

// pointerKeys splits a JSON pointer (RFC 6901).
func pointerKeys(pointer string) ([]string, error) {
	if pointer == "" {
		return nil, nil
	}
	if !strings.HasPrefix(pointer, "/") {
		return nil, fmt.Errorf("the pointer %q does not begin with /", pointer)
	}
	keys := strings.Split(pointer[1:], "/")
	for i, key := range keys {
		keys[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
	}
	return keys, nil
}

// escapeKey is a key as part of a JSON pointer.
func escapeKey(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

// Get returns what is at a pointer, nil when nothing is.
func (v *Value) Get(pointer string) (*Value, error) {
	keys, err := pointerKeys(pointer)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if v == nil {
			return nil, nil
		}
		if v.Kind == List {
			index, err := strconv.Atoi(key)
			if err != nil || index < 0 || index >= len(v.Items) {
				return nil, nil
			}
			v = v.Items[index]
			continue
		}
		v = v.Field(key)
	}
	return v, nil
}

// Set writes at a pointer and makes the objects that are missing on the way.
func (v *Value) Set(pointer string, value *Value) error {
	keys, err := pointerKeys(pointer)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		*v = *value
		return nil
	}
	return v.set(pointer, keys, value)
}

func (v *Value) set(pointer string, keys []string, value *Value) error {
	key, last := keys[0], len(keys) == 1
	child := value
	switch v.Kind {
	case List:
		index, err := strconv.Atoi(key)
		if key == "-" || err == nil && index == len(v.Items) {
			if !last {
				child = &Value{Kind: Object}
			}
			v.Items = append(v.Items, child)
		} else if err != nil || index < 0 || index > len(v.Items) {
			return fmt.Errorf("%s: there is no item %s in a list of %d", pointer, key, len(v.Items))
		} else if last {
			v.Items[index] = child
		} else {
			child = v.Items[index]
		}
	case Object:
		at := slices.IndexFunc(v.Members, func(m Member) bool { return m.Key == key })
		switch {
		case at < 0:
			if !last {
				child = emptyFor(keys[1])
			}
			v.Members = append(v.Members, Member{key, child})
		case last:
			v.Members[at].Value = child
		default:
			child = v.Members[at].Value
		}
	default:
		if v.Text != "null" {
			return fmt.Errorf("%s: %s is in the way", pointer, v.Text)
		}
		*v = Value{Kind: Object}
		return v.set(pointer, keys, value)
	}
	if last {
		return nil
	}
	return child.set(pointer, keys[1:], value)
}

// emptyFor is what has to be there for key to be written into it.
func emptyFor(key string) *Value {
	if key == "-" || key == "0" {
		return &Value{Kind: List}
	}
	return &Value{Kind: Object}
}

// Remove removes what is at a pointer, which has to be there.
func (v *Value) Remove(pointer string) error {
	keys, err := pointerKeys(pointer)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return errors.New("the whole value can't be removed")
	}
	last := keys[len(keys)-1]
	parent, err := v.Get(strings.TrimSuffix(pointer, pointer[strings.LastIndex(pointer, "/"):]))
	if err != nil {
		return err
	}
	missing := fmt.Errorf("%s can't be removed, it isn't there", pointer)
	switch {
	case parent == nil:
		return missing
	case parent.Kind == List:
		index, err := strconv.Atoi(last)
		if err != nil || index < 0 || index >= len(parent.Items) {
			return missing
		}
		parent.Items = slices.Delete(parent.Items, index, index+1)
		return nil
	default:
		before := len(parent.Members)
		parent.Members = slices.DeleteFunc(parent.Members, func(m Member) bool { return m.Key == last })
		if len(parent.Members) == before {
			return missing
		}
		return nil
	}
}
