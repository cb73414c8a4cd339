// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Difference is one thing in which two answers differ.
type Difference struct {
	// Path is where: "code", "header", "format", "failure", "text", or a JSON pointer into the body, behind the number of the
	// document when there are several.
	Path         string
	Theirs, Ours string
	// Explanation is the id of the one that covers it, "" when there is none.
	Explanation string
}

// Explanation says why a difference is there, in explained.yaml and docs/parity.md.
type Explanation struct {
	ID string `yaml:"id"`
	// Scenarios and Exchanges are patterns of names, in which * stands for any text; an absent one matches all.
	Scenarios string `yaml:"scenarios"`
	Exchanges string `yaml:"exchanges"`
	// Paths are regular expressions that match the whole of a Path.
	Paths []string `yaml:"paths"`
	// Theirs and Ours are regular expressions that the two sides contain; an absent one matches anything.
	Theirs string `yaml:"theirs"`
	Ours   string `yaml:"ours"`
	// Reason says why, and Better what a user has of it.
	Reason string `yaml:"reason"`
	Better string `yaml:"better"`
}

func (c *Corpus) loadExplained() error {
	if err := c.read("explained.yaml", &c.Explained); err != nil {
		return err
	}
	var problems []error
	for _, e := range c.Explained {
		if e.ID == "" || e.Reason == "" || e.Better == "" || len(e.Paths) == 0 {
			problems = append(problems, fmt.Errorf("explained.yaml: %q needs id, paths, reason and better", e.ID))
		}
		for _, pattern := range append(slices.Clone(e.Paths), e.Theirs, e.Ours) {
			if _, err := regexp.Compile(pattern); err != nil {
				problems = append(problems, fmt.Errorf("explained.yaml: %s: %w", e.ID, err))
			}
		}
	}
	return errors.Join(problems...)
}

func (e Explanation) covers(scenario, exchange string, d Difference) bool {
	if !matches(e.Scenarios, scenario) || !matches(e.Exchanges, exchange) {
		return false
	}
	if !slices.ContainsFunc(e.Paths, func(p string) bool { return regexp.MustCompile("^(?:" + p + ")$").MatchString(d.Path) }) {
		return false
	}
	return regexp.MustCompile(e.Theirs).MatchString(d.Theirs) && regexp.MustCompile(e.Ours).MatchString(d.Ours)
}

// matches tells whether a pattern, in which * stands for any text, is that of a name; an empty one is that of all.
func matches(pattern, name string) bool {
	form := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
	return pattern == "" || regexp.MustCompile("^"+form+"$").MatchString(name)
}

// Compare returns in what ours differs from theirs, both normalized, with what explains it.
func (c *Corpus) Compare(s *Scenario, theirs, ours Exchange) []Difference {
	reference := theirs.Answer
	if !theirs.recorded {
		reference = reference.reduced(ours.only)
	}
	out := compareAnswers(reference, ours.Answer.reduced(ours.only))
	for i := range out {
		for _, e := range c.Explained {
			if e.covers(s.Name, ours.Name, out[i]) {
				out[i].Explanation = e.ID
				break
			}
		}
	}
	return out
}

// reduced leaves the parts of a body that count.
func (a Answer) reduced(only []string) Answer {
	if len(only) == 0 || len(a.Documents) == 0 {
		return a
	}
	reduced := &Value{Kind: Object}
	for _, pointer := range only {
		part, err := a.Documents[0].Get(pointer)
		if err != nil || part == nil {
			part = Text("<not there>")
		}
		reduced.Members = append(reduced.Members, Member{pointer, part})
	}
	a.Documents = []*Value{reduced}
	return a
}

func compareAnswers(theirs, ours Answer) []Difference {
	var out []Difference
	note := func(path, theirs, ours string) {
		if theirs != ours {
			out = append(out, Difference{Path: path, Theirs: theirs, Ours: ours})
		}
	}
	note("code", strconv.Itoa(theirs.Code), strconv.Itoa(ours.Code))
	note("failure", theirs.Failure, ours.Failure)
	out = append(out, compareHeaders(theirs.Header, ours.Header)...)
	note("format", theirs.Format, ours.Format)
	note("text", theirs.Text, ours.Text)
	for i := range max(len(theirs.Documents), len(ours.Documents)) {
		prefix := ""
		if i > 0 || len(theirs.Documents) > 1 || len(ours.Documents) > 1 {
			prefix = strconv.Itoa(i)
		}
		out = append(out, compareValues(prefix, at(theirs.Documents, i), at(ours.Documents, i))...)
	}
	return out
}

// compareHeaders compares the lines of each header.
func compareHeaders(theirs, ours []string) []Difference {
	var out []Difference
	for _, name := range append(slices.Clone(comparedHeaders), "Etag") {
		of := func(lines []string) string {
			var found []string
			for _, line := range lines {
				if strings.HasPrefix(line, name+": ") {
					found = append(found, line)
				}
			}
			return strings.Join(found, "\n")
		}
		if a, b := of(theirs), of(ours); a != b {
			out = append(out, Difference{Path: "header " + name, Theirs: a, Ours: b})
		}
	}
	return out
}

func at(list []*Value, i int) *Value {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func compareValues(path string, theirs, ours *Value) []Difference {
	differ := []Difference{{Path: path, Theirs: theirs.shown(), Ours: ours.shown()}}
	switch {
	case theirs == nil || ours == nil || theirs.Kind != ours.Kind:
		return differ
	case theirs.Kind == Scalar:
		if theirs.Text == ours.Text {
			return nil
		}
		return differ
	case theirs.Kind == List:
		var out []Difference
		for i := range max(len(theirs.Items), len(ours.Items)) {
			out = append(out, compareValues(path+"/"+strconv.Itoa(i), at(theirs.Items, i), at(ours.Items, i))...)
		}
		return out
	}
	return compareObjects(path, theirs, ours)
}

func compareObjects(path string, theirs, ours *Value) []Difference {
	var out []Difference
	keys := func(v *Value) []string {
		var out []string
		for _, m := range v.Members {
			out = append(out, m.Key)
		}
		return out
	}
	if slices.Equal(keys(theirs), keys(ours)) {
		// One by one: a key may be there twice.
		for i, m := range theirs.Members {
			out = append(out, compareValues(path+"/"+escapeKey(m.Key), m.Value, ours.Members[i].Value)...)
		}
		return out
	}
	for _, m := range theirs.Members {
		out = append(out, compareValues(path+"/"+escapeKey(m.Key), m.Value, ours.Field(m.Key))...)
	}
	for _, m := range ours.Members {
		if theirs.Field(m.Key) == nil {
			out = append(out, compareValues(path+"/"+escapeKey(m.Key), nil, m.Value)...)
		}
	}
	if len(out) == 0 {
		out = append(out, Difference{Path: path + " (order of fields)", Theirs: strings.Join(keys(theirs), " "), Ours: strings.Join(keys(ours), " ")})
	}
	return out
}

func (v *Value) shown() string {
	if v == nil {
		return "<not there>"
	}
	return v.Format()
}
