// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/rest"
)

// Target is a running server.
type Target struct {
	// Name is what the report calls it.
	Name string
	// User returns the client configuration of a user.
	User func(name string, groups ...string) (*rest.Config, error)
	// Etcd is where the server keeps its data, nil where that can't be reached.
	Etcd *clientv3.Client
	// Kubectl is the program, "" where there is none.
	Kubectl string

	mu    sync.Mutex
	users map[string]*rest.Config
}

// comparedHeaders are those that carry meaning, in the order in which they are noted.
var comparedHeaders = []string{ //nolint:gochecknoglobals // a constant list
	"Content-Type", "Warning", "Retry-After", "Location", "Allow", "Www-Authenticate", "Content-Encoding", "Vary", "Cache-Control",
}

// send sends a request and reads the whole answer.
func (t *Target) send(ctx context.Context, r *outgoing) Answer {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	response, err := t.do(ctx, r)
	if err != nil {
		return Answer{Failure: t.explainFailure(err)}
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return Answer{Code: response.StatusCode, Failure: "the answer broke off: " + t.explainFailure(err)}
	}
	return t.answer(response, data)
}

// explainFailure keeps the address out of the text: it differs from server to server.
func (t *Target) explainFailure(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return err.Error()
}

func (t *Target) do(ctx context.Context, r *outgoing) (*http.Response, error) {
	config, err := t.config(r.user)
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	request, err := http.NewRequestWithContext(ctx, r.method, config.Host+r.path, body)
	if err != nil {
		return nil, err
	}
	request.Header = r.header.Clone()
	if strings.EqualFold(r.header.Get("Transfer-Encoding"), "chunked") {
		request.Header.Del("Transfer-Encoding")
		request.ContentLength = -1
	}
	// No redirect is followed: it is the answer.
	noFollow := *client
	noFollow.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return noFollow.Do(request)
}

// answer turns a response into what is compared.
func (t *Target) answer(response *http.Response, data []byte) Answer {
	out := Answer{Code: response.StatusCode, Header: headerLines(response.Header)}
	if response.Header.Get("Content-Encoding") == "gzip" {
		plain, err := gunzip(data)
		if err != nil {
			out.Failure = "the body is no gzip: " + err.Error()
			return out
		}
		data = plain
	}
	out.decode(response.Header.Get("Content-Type"), data)
	t.maskAddress(&out)
	return out
}

func headerLines(header http.Header) []string {
	var out []string
	for _, name := range comparedHeaders {
		for _, value := range header.Values(name) {
			out = append(out, name+": "+value)
		}
	}
	if header.Get("Etag") != "" {
		out = append(out, "Etag: <there>")
	}
	return out
}

func gunzip(data []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// maskAddress is the normalization "address": done here, where the address is known.
func (t *Target) maskAddress(a *Answer) {
	config, err := t.config(administrator)
	if err != nil {
		return
	}
	host := config.Host[strings.LastIndex(config.Host, "/")+1:]
	mask := func(s string) string { return strings.ReplaceAll(s, host, "<address>") }
	a.Text = mask(a.Text)
	for i := range a.Header {
		a.Header[i] = mask(a.Header[i])
	}
	for _, document := range a.Documents {
		document.walk(func(v *Value) { v.Text = mask(v.Text) })
	}
}

// walk calls visit for every scalar.
func (v *Value) walk(visit func(*Value)) {
	if v.Kind == Scalar {
		visit(v)
	}
	for _, m := range v.Members {
		m.Value.walk(visit)
	}
	for _, item := range v.Items {
		item.walk(visit)
	}
}

// decode fills in what a body says, by its content type.
func (a *Answer) decode(contentType string, data []byte) {
	media, parameters, _ := mime.ParseMediaType(contentType)
	if len(data) == 0 {
		a.Format = "none"
		return
	}
	var err error
	switch {
	case strings.HasSuffix(media, "json"):
		a.Format = "json"
		a.Documents, err = ParseJSON(data)
		if err == nil && len(a.Documents) == 1 && bytes.Contains(data, []byte("\n  \"")) {
			a.Format = "json, indented"
		}
	case strings.HasSuffix(media, "yaml"):
		a.Format = "yaml"
		a.Documents, err = parseYAML(data)
	case strings.HasSuffix(media, "cbor"), strings.HasSuffix(media, "cbor-seq"):
		a.Format = "cbor"
		a.Documents, err = decodeCBOR(data)
	case strings.Contains(media, "protobuf"):
		a.Format = "protobuf"
		a.Documents, err = decodeProtobuf(data, parameters["stream"] != "")
	default:
		a.Format, a.Text = "text", string(data)
	}
	if err != nil {
		a.Format, a.Documents, a.Text = "text", nil, string(data)
	}
}

// stream is a watch that stays open.
type stream struct {
	stop   context.CancelFunc
	events chan *Value
	err    error // why events was closed; read after that
	target *Target
}

// open starts a watch.
func (p *player) open(r *outgoing, name string) Answer {
	ctx, cancel := context.WithCancel(p.ctx)
	response, err := p.target.do(ctx, r)
	if err != nil {
		cancel()
		return Answer{Failure: p.target.explainFailure(err)}
	}
	if response.StatusCode != http.StatusOK {
		defer cancel()
		defer func() { _ = response.Body.Close() }()
		data, err := io.ReadAll(response.Body)
		if err != nil {
			return Answer{Code: response.StatusCode, Failure: err.Error()}
		}
		return p.target.answer(response, data)
	}
	w := &stream{stop: cancel, events: make(chan *Value, 1000), target: p.target}
	p.watches[name] = w
	go w.read(ctx, response)
	return Answer{Code: response.StatusCode, Header: headerLines(response.Header), Format: "none"}
}

// read passes events on until the stream ends.
func (w *stream) read(ctx context.Context, response *http.Response) {
	defer close(w.events)
	defer func() { _ = response.Body.Close() }()
	var body io.Reader = response.Body
	if response.Header.Get("Content-Encoding") == "gzip" {
		reader, err := gzip.NewReader(body)
		if err != nil {
			w.err = err
			return
		}
		body = reader
	}
	next := frames(response.Header.Get("Content-Type"), body)
	for {
		event, err := next()
		if err != nil {
			if !errors.Is(err, io.EOF) && ctx.Err() == nil {
				w.err = err
			}
			return
		}
		select {
		case w.events <- event:
		case <-ctx.Done():
			return
		}
	}
}

// frames returns a function that reads one event after the other.
func frames(contentType string, body io.Reader) func() (*Value, error) {
	media, _, _ := mime.ParseMediaType(contentType)
	if strings.Contains(media, "protobuf") {
		return func() (*Value, error) { return readProtobufEvent(body) }
	}
	decoder := json.NewDecoder(body)
	decoder.UseNumber()
	return func() (*Value, error) { return readValue(decoder) }
}

// events waits for events of a watch.
func (p *player) events(scope *scope, step *Step) error {
	e := Exchange{Name: scope.display(step.Name), Request: fmt.Sprintf("%d events of %s", step.Count, step.Events), only: step.Only}
	if step.Count == 0 {
		e.Request = "events of " + step.Events + " until it ends"
	}
	if p.target != nil {
		w := p.watches[step.Events]
		if w == nil {
			e.Answer = Answer{Failure: "there is no watch " + step.Events}
		} else {
			e.Answer = w.take(p.ctx, step.Count)
			p.target.maskAddress(&e.Answer)
		}
	}
	p.out = append(p.out, e)
	return p.save(scope, step, e.Answer)
}

func (w *stream) take(ctx context.Context, count int) Answer {
	out := Answer{Code: http.StatusOK, Format: "json"}
	timeout := time.After(eventTimeout)
	for count == 0 || len(out.Documents) < count {
		select {
		case event, ok := <-w.events:
			if !ok {
				if count > 0 || w.err != nil {
					out.Failure = fmt.Sprintf("the watch ended after %d events: %v", len(out.Documents), cmp.Or(w.err, io.EOF))
				}
				return out
			}
			out.Documents = append(out.Documents, event)
		case <-timeout:
			out.Failure = fmt.Sprintf("after %s there were %d events", eventTimeout, len(out.Documents))
			return out
		case <-ctx.Done():
			out.Failure = ctx.Err().Error()
			return out
		}
	}
	return out
}

// makeNamespace makes the namespace of a scenario; one that is there already is fine.
func (t *Target) makeNamespace(ctx context.Context, name string) error {
	body := &Value{Kind: Object}
	for pointer, text := range map[string]string{"/apiVersion": "v1", "/kind": "Namespace", "/metadata/name": name} {
		if err := body.Set(pointer, Text(text)); err != nil {
			return err
		}
	}
	answer := t.sendJSON(ctx, http.MethodPost, namespacePath, body)
	if !slices.Contains([]int{http.StatusCreated, http.StatusConflict}, answer.Code) {
		return fmt.Errorf("%s: could not make the namespace %s: %d %s %s", t.Name, name, answer.Code, answer.Failure, answer.bodyText())
	}
	return nil
}

func (t *Target) sendJSON(ctx context.Context, method, path string, body *Value) Answer {
	r := &outgoing{method: method, path: path, user: administrator, timeout: requestTimeout, header: http.Header{}}
	r.header.Set("Accept", "application/json")
	r.header.Set("User-Agent", "parity/1")
	if body != nil {
		r.body = body.JSON()
		contentType := "application/json"
		if method == http.MethodPatch {
			contentType = "application/merge-patch+json"
		}
		r.header.Set("Content-Type", contentType)
	}
	return t.send(ctx, r)
}

func (a *Answer) bodyText() string {
	var parts []string
	for _, document := range a.Documents {
		parts = append(parts, document.Format())
	}
	return strings.Join(append(parts, a.Text), "\n")
}

// Clear removes all objects of the served kinds, for a scenario that looks at all of them.
func (t *Target) Clear(ctx context.Context) error {
	noFinalizers := &Value{Kind: Object}
	if err := noFinalizers.Set("/metadata/finalizers", &Value{Text: "null"}); err != nil {
		return err
	}
	for _, collection := range []string{csrPath, appsPath + "/daemonsets", appsPath + "/controllerrevisions"} {
		list := t.sendJSON(ctx, http.MethodGet, collection, nil)
		if len(list.Documents) == 0 {
			return fmt.Errorf("%s: could not list %s: %d %s", t.Name, collection, list.Code, list.Failure)
		}
		for _, item := range list.Documents[0].Field("items").list() {
			path := objectPath(collection, item)
			if item.At("metadata", "finalizers") != nil {
				t.sendJSON(ctx, http.MethodPatch, path, noFinalizers)
			}
			answer := t.sendJSON(ctx, http.MethodDelete, path, nil)
			if answer.Code != http.StatusOK && answer.Code != http.StatusNotFound {
				return fmt.Errorf("%s: could not delete %s: %d %s", t.Name, path, answer.Code, answer.bodyText())
			}
		}
	}
	return nil
}

func (v *Value) list() []*Value {
	if v == nil {
		return nil
	}
	return v.Items
}
