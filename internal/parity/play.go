// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/client-go/rest"
)

// Exchange is a request and its answer.
type Exchange struct {
	// Name is what the scenario calls it.
	Name string
	// Request shows what was asked, on one line.
	Request string
	Answer  Answer
	// only are the parts of the body that count; all when empty.
	only []string
	// recorded tells that the answer comes from a recording, which has nothing but these parts.
	recorded bool
	// generateName is what the body asked a name to begin with.
	generateName string
}

// Answer is what a server, or a program, answered.
type Answer struct {
	// Code is the status code, or the exit code.
	Code int
	// Header are the lines of the headers that are compared.
	Header []string
	// Format tells what the body was: "none", "json", "json, indented", "yaml", "protobuf", "cbor" or "text".
	Format string
	// Documents is the body, several for a stream; Text is a body that is no JSON in any form.
	Documents []*Value
	Text      string
	// Failure is why there is no answer.
	Failure string
}

const (
	// requestTimeout bounds a request, and with it a scenario that waits for what never comes.
	requestTimeout = 30 * time.Second
	// eventTimeout bounds the wait for an event of a watch.
	eventTimeout = 10 * time.Second
	// administrator is the user of requests that name none.
	administrator = "admin"
)

// player plays one scenario on one server.
type player struct {
	ctx      context.Context // nil in a rehearsal, as target is
	target   *Target         // nil in a rehearsal
	scenario *Scenario
	dir      string // of kubectl
	watches  map[string]*stream
	out      []Exchange
}

// Play plays a scenario, and returns its exchanges as the server gave them. The error is one of the scenario, or of what
// is around the server; a request that fails is part of the result.
func (c *Corpus) Play(ctx context.Context, s *Scenario, target *Target) (_ []Exchange, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &player{ctx: ctx, target: target, scenario: s, watches: map[string]*stream{}}
	scope := newScope(c.files, s)
	namespace := scope.values["ns"].plain()
	if err := target.makeNamespace(ctx, namespace); err != nil {
		return nil, err
	}
	if s.NeedsKubectl() || uses(s.Steps, func(s *Step) bool { return !s.Files.IsZero() }) {
		if p.dir, err = os.MkdirTemp("", "parity-"); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, removeAll(p.dir)) }()
	}
	defer func() {
		for _, w := range p.watches {
			w.stop()
		}
	}()
	err = p.steps(scope, s.Steps)
	return p.out, err
}

// removeAll removes a directory in which programs may still be ending.
func removeAll(dir string) error {
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if err := os.RemoveAll(dir); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// rehearse goes through a scenario without a server.
func (c *Corpus) rehearse(s *Scenario) error {
	p := &player{scenario: s, watches: map[string]*stream{}}
	scope := newScope(c.files, s)
	scope.pretend = map[string]bool{}
	if err := p.steps(scope, s.Steps); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range p.out {
		if seen[e.Name] {
			return fmt.Errorf("the name %q is there twice", e.Name)
		}
		seen[e.Name] = true
	}
	return nil
}

// Count returns the number of exchanges of a scenario.
func (c *Corpus) Count(s *Scenario) int {
	p := &player{scenario: s, watches: map[string]*stream{}}
	scope := newScope(c.files, s)
	scope.pretend = map[string]bool{}
	if err := p.steps(scope, s.Steps); err != nil {
		return 0
	}
	return len(p.out)
}

func (p *player) steps(scope *scope, steps []*Step) error {
	for _, step := range steps {
		cases, err := scope.cases(step)
		if err != nil {
			return fmt.Errorf("%s: %w", step.Name, err)
		}
		for _, values := range cases {
			inner := scope.with(values)
			if len(cases) == 1 {
				inner = scope
				for name, value := range values {
					inner.values[name] = value
				}
			}
			if err := p.step(inner, step); err != nil {
				return fmt.Errorf("%s: %w", cmp.Or(inner.display(step.Name), "step"), err)
			}
			// What one case saves is there for what follows, as the last one left it.
			for name := range scope.saved {
				if value, ok := inner.values[name]; ok {
					scope.values[name] = value
				}
			}
		}
	}
	return nil
}

func (p *player) step(scope *scope, step *Step) error {
	if p.target != nil && p.ctx.Err() != nil {
		return p.ctx.Err()
	}
	switch {
	case len(step.Steps) > 0:
		return p.steps(scope, step.Steps)
	case step.Do != "" && step.Together > 0:
		return p.together(scope, step)
	case step.Do != "":
		return p.one(scope, step)
	case step.Events != "":
		return p.events(scope, step)
	case step.Close != "":
		if w := p.watches[step.Close]; w != nil {
			w.stop()
		}
		return nil
	case step.Pause != nil:
		return p.pause(*step.Pause)
	case step.Run != "":
		return p.run(scope, step)
	case step.Etcd != nil:
		return p.etcd(scope, step)
	default:
		return p.writeFiles(scope, &step.Files)
	}
}

func (p *player) pause(d time.Duration) error {
	if p.target == nil {
		return nil
	}
	select {
	case <-p.ctx.Done():
		return p.ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// one sends a request and notes the answer.
func (p *player) one(scope *scope, step *Step) error {
	r, err := p.request(scope, step)
	if err != nil {
		return err
	}
	e := Exchange{Name: scope.display(step.Name), Request: r.shown, only: step.Only, generateName: r.generateName}
	if p.target != nil {
		if step.Watch != "" {
			e.Answer = p.open(r, step.Watch)
		} else {
			e.Answer = p.target.send(p.ctx, r)
		}
	}
	p.out = append(p.out, e)
	return p.save(scope, step, e.Answer)
}

// together sends a request several times at once. The answers are sorted: which one wins is not fixed.
func (p *player) together(scope *scope, step *Step) error {
	answers := make([]Answer, step.Together)
	var shown string
	var wait sync.WaitGroup
	for i := range answers {
		r, err := p.request(scope.with(map[string]*Value{"copy": Text(fmt.Sprint(i + 1))}), step)
		if err != nil {
			return err
		}
		shown = r.shown
		if p.target != nil {
			wait.Go(func() { answers[i] = p.target.send(p.ctx, r) })
		}
	}
	wait.Wait()
	slices.SortStableFunc(answers, func(a, b Answer) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Failure, b.Failure))
	})
	for i, answer := range answers {
		name := fmt.Sprintf("%s, answer %d of %d", scope.display(step.Name), i+1, step.Together)
		p.out = append(p.out, Exchange{Name: name, Request: shown, Answer: answer, only: step.Only})
	}
	return nil
}

// save keeps parts of an answer as variables.
func (p *player) save(scope *scope, step *Step, answer Answer) error {
	for i := 0; i+1 < len(step.Save.Content); i += 2 {
		name, pointer := step.Save.Content[i].Value, step.Save.Content[i+1].Value
		scope.saved[name] = true
		if p.target == nil {
			scope.pretend[name] = true
			continue
		}
		if len(answer.Documents) == 0 {
			return fmt.Errorf("there is nothing to save from the answer %d %s%s", answer.Code, answer.Text, answer.Failure)
		}
		value, err := answer.Documents[0].Get(pointer)
		if err != nil {
			return err
		}
		if value == nil {
			return fmt.Errorf("there is no %s in the answer %d: %s", pointer, answer.Code, answer.Documents[0].JSON())
		}
		scope.values[name] = value.Copy()
	}
	return nil
}

// outgoing is a request that is ready to be sent.
type outgoing struct {
	shown, method, path, user string
	generateName              string
	header                    http.Header
	body                      []byte
	timeout                   time.Duration
}

// Short names of media types.
var mediaTypes = map[string]string{ //nolint:gochecknoglobals // a constant table
	"json":         "application/json",
	"yaml":         "application/yaml",
	"protobuf":     "application/vnd.kubernetes.protobuf",
	"cbor":         "application/cbor",
	"table":        "application/json;as=Table;v=v1;g=meta.k8s.io",
	"partial":      "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
	"partial-list": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
	"merge":        "application/merge-patch+json",
	"strategic":    "application/strategic-merge-patch+json",
	"json-patch":   "application/json-patch+json",
	"apply":        "application/apply-patch+yaml",
	"apply-cbor":   "application/apply-patch+cbor",
}

func mediaType(name string) string { return cmp.Or(mediaTypes[name], name) }

// request builds what a step says.
func (p *player) request(scope *scope, step *Step) (*outgoing, error) {
	expanded, err := scope.expand(step.Do, false)
	if err != nil {
		return nil, err
	}
	r := &outgoing{user: cmp.Or(step.As, administrator), header: http.Header{}, timeout: requestTimeout}
	if step.Timeout != nil {
		r.timeout = *step.Timeout
	}
	r.method, r.path, _ = strings.Cut(expanded, " ")
	if r.user, err = scope.expand(r.user, false); err != nil {
		return nil, err
	}
	query, shownQuery, err := scope.query(&step.Query)
	if err != nil {
		return nil, err
	}
	r.path = join(r.path, query)
	r.shown = join(scope.display(step.Do), shownQuery)
	if err := r.setBody(scope, step); err != nil {
		return nil, err
	}
	return r, r.setHeader(scope, step)
}

// join adds a query to a path that may have one.
func join(path, query string) string {
	if query == "" {
		return path
	}
	if strings.Contains(path, "?") {
		return path + "&" + query
	}
	return path + "?" + query
}

// query encodes a map of parameters, once for the server and once with saved variables left as they are.
func (s *scope) query(node *yaml.Node) (sent, shown string, err error) {
	if node.IsZero() {
		return "", "", nil
	}
	raw, err := fromYAML(node)
	if err != nil {
		return "", "", err
	}
	resolved, err := s.resolve(raw)
	if err != nil {
		return "", "", err
	}
	var parts, shownParts []string
	for i, m := range resolved.Members {
		values, templates := []*Value{m.Value}, []*Value{raw.Members[i].Value}
		if m.Value.Kind == List {
			values, templates = m.Value.Items, raw.Members[i].Value.Items
		}
		for j, value := range values {
			parts = append(parts, url.QueryEscape(m.Key)+"="+url.QueryEscape(value.plain()))
			template := value
			if j < len(templates) {
				template = templates[j]
			}
			shownParts = append(shownParts, m.Key+"="+s.display(template.plain()))
		}
	}
	return strings.Join(parts, "&"), strings.Join(shownParts, "&"), nil
}

func (r *outgoing) setHeader(scope *scope, step *Step) error {
	r.header.Set("User-Agent", "parity/1")
	r.header.Set("Accept-Encoding", "identity")
	for name, value := range map[string]*string{"Accept": step.Accept, "Content-Type": step.Type} {
		text := "json"
		if name == "Content-Type" && r.body == nil {
			text = ""
		}
		if value != nil {
			var err error
			if text, err = scope.expand(*value, false); err != nil {
				return err
			}
		}
		if text == "" {
			// A header that is nil isn't sent, and no default takes its place.
			r.header[name] = nil
			continue
		}
		r.header.Set(name, mediaType(text))
	}
	for i := 0; i+1 < len(step.Headers.Content); i += 2 {
		name, node := step.Headers.Content[i].Value, step.Headers.Content[i+1]
		r.header.Del(name)
		nodes := []*yaml.Node{node}
		if node.Kind == yaml.SequenceNode {
			nodes = node.Content
		}
		for _, n := range nodes {
			text, err := scope.expand(n.Value, false)
			if err != nil {
				return err
			}
			r.header.Add(name, text)
		}
	}
	return nil
}

func (r *outgoing) setBody(scope *scope, step *Step) error {
	switch {
	case step.Raw != nil:
		text, err := scope.expand(*step.Raw, true)
		r.body = []byte(text)
		return err
	case step.Raw64 != nil:
		text, err := scope.expand(*step.Raw64, false)
		if err != nil {
			return err
		}
		r.body, err = base64.StdEncoding.DecodeString(text)
		return err
	case step.Body.IsZero():
		return nil
	}
	body, err := scope.body(&step.Body)
	if err != nil {
		return err
	}
	r.generateName = body.At("metadata", "generateName").orEmpty()
	kind := "json"
	if step.Type != nil {
		if kind, err = scope.expand(*step.Type, false); err != nil {
			return err
		}
	}
	if scope.pretend != nil {
		r.body = body.JSON()
		return nil
	}
	r.body, err = encodeBody(body, mediaType(kind))
	return err
}

// writeFiles writes files for the scripts that follow.
func (p *player) writeFiles(scope *scope, node *yaml.Node) error {
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, content := node.Content[i].Value, node.Content[i+1]
		text, err := scope.content(content)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if p.target == nil {
			continue
		}
		path := filepath.Join(p.dir, filepath.Clean("/"+name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// content is a text, or a body as JSON, which is YAML as well.
func (s *scope) content(node *yaml.Node) (string, error) {
	if node.Kind == yaml.ScalarNode {
		return s.expand(node.Value, true)
	}
	body, err := s.body(node)
	if err != nil {
		return "", err
	}
	return body.Format() + "\n", nil
}

// config returns the client configuration of a user.
func (t *Target) config(user string) (*rest.Config, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if config, ok := t.users[user]; ok {
		return config, nil
	}
	var config *rest.Config
	var err error
	switch user {
	case administrator:
		config, err = t.User(administrator, "system:masters")
	case "anonymous":
		if config, err = t.User(administrator, "system:masters"); err == nil {
			config = rest.AnonymousClientConfig(config)
		}
	default:
		config, err = t.User(user)
	}
	if err != nil {
		return nil, err
	}
	if t.users == nil {
		t.users = map[string]*rest.Config{}
	}
	t.users[user] = config
	return config, nil
}
