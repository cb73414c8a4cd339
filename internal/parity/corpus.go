// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Corpus is what testdata holds, without the recorded answers.
type Corpus struct {
	Sections  []Section
	Scenarios []*Scenario
	Explained []Explanation

	files fs.FS
}

// Section is a part of the report.
type Section struct {
	Name string
	Rows []Row
}

// Row is a line of the report.
type Row struct{ ID, Title string }

// Scenario is one file of the corpus.
type Scenario struct {
	// Name is the path below corpus/ without its ending: csr/create/pem.
	Name string `yaml:"-"`

	Shows   string   `yaml:"shows"`
	Rows    []string `yaml:"rows"`
	Report  reports  `yaml:"report"`
	Alone   bool     `yaml:"alone"`
	Profile string   `yaml:"profile"`
	Steps   []*Step  `yaml:"steps"`

	// source is all text that the scenario consists of, to tell what it has sent from what a server has made.
	source string
}

// Step is a request, a group, or something else that happens.
type Step struct {
	Name     string         `yaml:"name"`
	Do       string         `yaml:"do"`
	Query    yaml.Node      `yaml:"query"`
	As       string         `yaml:"as"`
	Headers  yaml.Node      `yaml:"headers"`
	Accept   *string        `yaml:"accept"`
	Type     *string        `yaml:"type"`
	Body     yaml.Node      `yaml:"body"`
	Raw      *string        `yaml:"raw"`
	Raw64    *string        `yaml:"raw64"`
	Save     yaml.Node      `yaml:"save"`
	Only     []string       `yaml:"only"`
	Timeout  *time.Duration `yaml:"timeout"`
	For      yaml.Node      `yaml:"for"`
	ForFiles string         `yaml:"forFiles"`
	Together int            `yaml:"together"`

	Watch  string         `yaml:"watch"`
	Events string         `yaml:"events"`
	Count  int            `yaml:"count"`
	Close  string         `yaml:"close"`
	Pause  *time.Duration `yaml:"pause"`
	Run    string         `yaml:"run"`
	Stdin  yaml.Node      `yaml:"stdin"`
	Files  yaml.Node      `yaml:"files"`
	Etcd   *EtcdStep      `yaml:"etcd"`
	Steps  []*Step        `yaml:"steps"`
}

// EtcdStep is something done to the stored data, past the server.
type EtcdStep struct {
	Put     string `yaml:"put"`
	Value   string `yaml:"value"`
	Value64 string `yaml:"value64"`
	Get     string `yaml:"get"`
	List    string `yaml:"list"`
	Delete  string `yaml:"delete"`
	Compact bool   `yaml:"compact"`
}

// reports is a number or a list of them.
type reports []int

func (r *reports) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		var n int
		err := node.Decode(&n)
		*r = reports{n}
		return err
	}
	return node.Decode((*[]int)(r))
}

// Profiles of servers, by what scenarios call them.
const (
	DefaultProfile  = ""
	UpstreamProfile = "upstream-gates"
	CBORProfile     = "cbor"
)

// FeatureGates are the gates of a profile, as flags for kube-apiserver and for Pinnace.
func FeatureGates(profile string) (theirs, ours string) {
	const shards = "ShardedListAndWatch="
	switch profile {
	case UpstreamProfile:
		return shards + "false", shards + "false"
	case CBORProfile:
		return shards + "true,CBORServingAndStorage=true", "CBORServingAndStorage=true"
	default:
		return shards + "true", ""
	}
}

// Load reads a corpus: corpus/, rows.yaml and explained.yaml of files. The error names every mistake.
func Load(files fs.FS) (*Corpus, error) {
	c := &Corpus{files: files}
	var problems []error
	note := func(err error) {
		if err != nil {
			problems = append(problems, err)
		}
	}
	note(c.loadRows())
	note(c.loadExplained())
	note(fs.WalkDir(files, "corpus", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{"corpus/fixtures", "corpus/manifests"}, file) {
			return fs.SkipDir
		}
		if entry.IsDir() || path.Ext(file) != ".yaml" {
			return nil
		}
		scenario, err := c.loadScenario(file)
		if err != nil {
			note(fmt.Errorf("%s: %w", file, err))
			return nil
		}
		c.Scenarios = append(c.Scenarios, scenario)
		return nil
	}))
	return c, errors.Join(problems...)
}

func (c *Corpus) loadRows() error {
	var sections []struct {
		Section string    `yaml:"section"`
		Rows    yaml.Node `yaml:"rows"`
	}
	if err := c.read("rows.yaml", &sections); err != nil {
		return err
	}
	for _, s := range sections {
		section := Section{Name: s.Section}
		for i := 0; i+1 < len(s.Rows.Content); i += 2 {
			section.Rows = append(section.Rows, Row{s.Rows.Content[i].Value, s.Rows.Content[i+1].Value})
		}
		c.Sections = append(c.Sections, section)
	}
	return nil
}

// read decodes a file and refuses fields that out doesn't have.
func (c *Corpus) read(file string, out any) error {
	data, err := fs.ReadFile(c.files, file)
	if err != nil {
		return err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(out); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func (c *Corpus) loadScenario(file string) (*Scenario, error) {
	data, err := fs.ReadFile(c.files, file)
	if err != nil {
		return nil, err
	}
	s := &Scenario{Name: strings.TrimSuffix(strings.TrimPrefix(file, "corpus/"), ".yaml"), source: string(data)}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(s); err != nil {
		return nil, err
	}
	var problems []error
	if s.Shows == "" || len(s.Rows) == 0 || len(s.Steps) == 0 {
		problems = append(problems, errors.New("shows, rows and steps are needed"))
	}
	known := c.rows()
	for _, row := range s.Rows {
		if !known[row] {
			problems = append(problems, fmt.Errorf("rows.yaml has no row %q", row))
		}
	}
	if !slices.Contains([]string{DefaultProfile, UpstreamProfile, CBORProfile}, s.Profile) {
		problems = append(problems, fmt.Errorf("there is no profile %q", s.Profile))
	}
	for i, step := range s.Steps {
		if err := step.check(); err != nil {
			problems = append(problems, fmt.Errorf("step %d (%s): %w", i+1, step.Name, err))
		}
	}
	if len(problems) == 0 {
		// A dry play finds unknown variables, wrong pointers, and names that are there twice.
		if err := c.rehearse(s); err != nil {
			problems = append(problems, err)
		}
	}
	return s, errors.Join(problems...)
}

func (c *Corpus) rows() map[string]bool {
	known := map[string]bool{}
	for _, section := range c.Sections {
		for _, row := range section.Rows {
			known[row.ID] = true
		}
	}
	return known
}

// request is the form of Do.
var request = regexp.MustCompile(`^(\{[a-z]+\}|[A-Z]+) [/{]`)

// check finds steps that are none, or two things in one.
func (s *Step) check() error {
	var kinds []string
	for kind, there := range map[string]bool{
		"do": s.Do != "", "events": s.Events != "", "close": s.Close != "", "pause": s.Pause != nil, "run": s.Run != "",
		"files": !s.Files.IsZero(), "etcd": s.Etcd != nil, "steps": len(s.Steps) > 0,
	} {
		if there {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	if len(kinds) != 1 {
		return fmt.Errorf("a step is one of do, events, close, pause, run, files, etcd, steps; this is %s", strings.Join(kinds, " and "))
	}
	switch {
	case s.Do != "" && !request.MatchString(s.Do):
		return fmt.Errorf("do: %q is no method and path", s.Do)
	case s.Watch != "" && s.Do == "":
		return errors.New("watch needs do")
	case s.exchanges() && s.Name == "":
		return errors.New("a name is needed")
	case kinds[0] == "steps" && s.For.IsZero() && s.ForFiles == "":
		return errors.New("a group needs for or forFiles")
	}
	bodies := 0
	for _, there := range []bool{!s.Body.IsZero(), s.Raw != nil, s.Raw64 != nil} {
		if there {
			bodies++
		}
	}
	if bodies > 1 {
		return errors.New("body, raw and raw64 exclude each other")
	}
	for i, step := range s.Steps {
		if err := step.check(); err != nil {
			return fmt.Errorf("step %d (%s): %w", i+1, step.Name, err)
		}
	}
	return nil
}

// exchanges tells whether the step has an answer.
func (s *Step) exchanges() bool {
	return s.Do != "" || s.Events != "" || s.Run != "" || s.Etcd != nil && (s.Etcd.Get != "" || s.Etcd.List != "")
}

// uses tells whether a step of the scenario is of a sort.
func uses(steps []*Step, sort func(*Step) bool) bool {
	return slices.ContainsFunc(steps, func(s *Step) bool { return sort(s) || uses(s.Steps, sort) })
}

// NeedsEtcd tells whether the scenario touches the stored data.
func (s *Scenario) NeedsEtcd() bool {
	return uses(s.Steps, func(s *Step) bool { return s.Etcd != nil })
}

// NeedsKubectl tells whether the scenario runs kubectl.
func (s *Scenario) NeedsKubectl() bool {
	return uses(s.Steps, func(s *Step) bool { return s.Run != "" })
}
