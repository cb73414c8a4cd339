// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// patience bounds every wait for something that has to happen. It is generous: what is waited for comes within
// milliseconds on an idle machine.
const patience = 30 * time.Second

// subject is a kind that a test of what all kinds have in common runs for, with a place of its own on the server:
// what the test makes carries a label that nothing else has.
type subject struct {
	kind, apiVersion, group, resource string
	// namespace is the place of a namespaced kind, empty for a cluster-scoped one.
	namespace string
	// root is the path of the collection.
	root string
	// subresources of the kind, all of which can be read, replaced and patched.
	subresources []string
	// label is the value of the label "test" of every object.
	label string
	// spec is the spec of a valid object; number names an optional field of it that holds an int32.
	spec   map[string]any
	number string
	// config is the client to use, that of the shared server when nil.
	config *rest.Config
}

// forEachSubject runs test for every kind that has all common operations, at the same time.
func forEachSubject(t *testing.T, test func(t *testing.T, s subject)) {
	t.Helper()
	t.Run("CertificateSigningRequest", func(t *testing.T) {
		t.Parallel()
		test(t, csrSubject(t))
	})
	t.Run("DaemonSet", func(t *testing.T) {
		t.Parallel()
		test(t, daemonSetSubject(t))
	})
}

func csrSubject(t *testing.T) subject {
	t.Helper()
	return subject{
		kind:         "CertificateSigningRequest",
		apiVersion:   "certificates.k8s.io/v1",
		group:        "certificates.k8s.io",
		resource:     "certificatesigningrequests",
		root:         "/apis/certificates.k8s.io/v1/certificatesigningrequests",
		subresources: []string{"status", "approval"},
		label:        unique("l"),
		number:       "expirationSeconds",
		spec: map[string]any{
			"request":    certificateRequest(t),
			"signerName": "example.com/robot",
			"usages":     []any{"client auth"},
		},
	}
}

func daemonSetSubject(t *testing.T) subject {
	t.Helper()
	namespace := newNamespace(t)
	return subject{
		kind:         "DaemonSet",
		apiVersion:   "apps/v1",
		group:        "apps",
		resource:     "daemonsets",
		namespace:    namespace,
		root:         "/apis/apps/v1/namespaces/" + namespace + "/daemonsets",
		subresources: []string{"status"},
		label:        unique("l"),
		number:       "minReadySeconds",
		spec: map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "x"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "x"}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "img:1"}}},
			},
		},
	}
}

// certificateRequest returns a new PEM-encoded PKCS#10 request.
func certificateRequest(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.CertificateRequest{Subject: pkix.Name{Organization: []string{"dev-team"}, CommonName: "robot-17"}}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

// object returns a valid object that does not exist yet. It is the caller's to change.
func (s subject) object(name string) map[string]any {
	metadata := map[string]any{"name": name, "labels": map[string]any{"test": s.label}}
	if s.namespace != "" {
		metadata["namespace"] = s.namespace
	}
	return map[string]any{
		"apiVersion": s.apiVersion,
		"kind":       s.kind,
		"metadata":   metadata,
		"spec":       maps.Clone(s.spec),
	}
}

// new creates an object with a name that it makes up.
func (s subject) new(t *testing.T) answer {
	t.Helper()
	return s.create(t, unique("o"))
}

func (s subject) create(t *testing.T, name string) answer {
	t.Helper()
	return mustSend(t, call{method: http.MethodPost, path: s.root, body: s.object(name), config: s.config}, http.StatusCreated)
}

// get reads an object that has to be there.
func (s subject) get(t *testing.T, name string) answer {
	t.Helper()
	return mustSend(t, call{method: http.MethodGet, path: s.path(name)}, http.StatusOK)
}

// exists tells whether an object is there.
func (s subject) exists(t *testing.T, name string) bool {
	t.Helper()
	return mustSend(t, call{method: http.MethodGet, path: s.path(name)}, http.StatusOK, http.StatusNotFound).code == http.StatusOK
}

// path is the path of an object or of one of its subresources.
func (s subject) path(name string, subresource ...string) string {
	return strings.Join(append([]string{s.root, name}, subresource...), "/")
}

// mine is the path of the collection with a selector for the objects of this test.
func (s subject) mine(query ...string) string {
	return withQuery(s.root, append([]string{"labelSelector=test%3D" + s.label}, query...)...)
}

// qualified is the resource as messages name it, such as daemonsets.apps.
func (s subject) qualified() string { return s.resource + "." + s.group }

// withQuery adds query strings to a path; empty ones are left out.
func withQuery(path string, queries ...string) string {
	for _, query := range queries {
		switch {
		case query == "":
		case strings.Contains(path, "?"):
			path += "&" + query
		default:
			path += "?" + query
		}
	}
	return path
}

// parameter is name=value with the value escaped.
func parameter(name, value string) string { return name + "=" + url.QueryEscape(value) }

// operation is one way to reach a kind. Ones that write to an object put the label written=yes on it.
type operation struct {
	method      string
	contentType string
	subresource string
	// options is the kind that the query parameters are read as.
	options string
	// collection tells that the path is that of the collection, one object of which is selected.
	collection bool
	// creates tells that the object must not exist before.
	creates bool
	// query is what the operation always needs in the query.
	query string
	body  func(s subject, before answer) any
}

// code is the status code of a success.
func (o operation) code() int {
	if o.creates {
		return http.StatusCreated
	}
	return http.StatusOK
}

// prepare makes the object that the operation works on, if it needs one, and returns the call, the name of the object
// and the answer to its creation.
func (o operation) prepare(t *testing.T, s subject) (call, string, answer) {
	t.Helper()
	name := unique("o")
	before := answer{object: s.object(name)}
	if !o.creates {
		before = s.create(t, name)
	}
	c := call{method: o.method, contentType: o.contentType, path: s.root}
	switch {
	case o.collection:
		c.path = withQuery(s.root, "fieldSelector=metadata.name%3D"+name)
	case o.subresource != "":
		c.path = s.path(name, o.subresource)
	case o.method != http.MethodPost:
		c.path = s.path(name)
	}
	c.path = withQuery(c.path, o.query)
	if o.body != nil {
		c.body = o.body(s, before)
	}
	return c, name, before
}

// reads are the operations that answer with an object or a list of objects.
func (s subject) reads() map[string]operation {
	out := map[string]operation{
		"get":  {method: http.MethodGet, options: "GetOptions"},
		"list": {method: http.MethodGet, options: "ListOptions", collection: true},
	}
	for _, subresource := range s.subresources {
		out[subresource+" get"] = operation{method: http.MethodGet, options: "GetOptions", subresource: subresource}
	}
	return out
}

// writes are the operations that store an object, without those that delete.
func (s subject) writes() map[string]operation {
	out := map[string]operation{
		"create": {method: http.MethodPost, options: "CreateOptions", creates: true, body: labelWritten},
		"apply to create": {method: http.MethodPatch, options: "PatchOptions", creates: true, contentType: applyPatch,
			query: "fieldManager=applier", body: labelWritten},
	}
	for _, subresource := range append([]string{""}, s.subresources...) {
		prefix := strings.TrimPrefix(subresource+" ", " ")
		out[prefix+"replace"] = operation{method: http.MethodPut, options: "UpdateOptions", subresource: subresource, body: labelWritten}
		for name, patch := range patches() {
			patch.subresource = subresource
			out[prefix+name] = patch
		}
	}
	return out
}

// deletes are the operations that delete.
func (s subject) deletes() map[string]operation {
	return map[string]operation{
		"delete":            {method: http.MethodDelete, options: "DeleteOptions"},
		"delete collection": {method: http.MethodDelete, options: "DeleteOptions", collection: true},
	}
}

// patches are the patch types.
func patches() map[string]operation {
	merge := func(subject, answer) any { return `{"metadata":{"labels":{"written":"yes"}}}` }
	return map[string]operation{
		"json patch": {method: http.MethodPatch, options: "PatchOptions", contentType: jsonPatch, body: func(subject, answer) any {
			return `[{"op":"add","path":"/metadata/labels/written","value":"yes"}]`
		}},
		"merge patch":     {method: http.MethodPatch, options: "PatchOptions", contentType: mergePatch, body: merge},
		"strategic patch": {method: http.MethodPatch, options: "PatchOptions", contentType: strategicPatch, body: merge},
		"apply": {method: http.MethodPatch, options: "PatchOptions", contentType: applyPatch, query: "fieldManager=applier",
			body: func(s subject, before answer) any {
				return map[string]any{"apiVersion": s.apiVersion, "kind": s.kind, "metadata": map[string]any{
					"name": before.text("metadata.name"), "labels": map[string]any{"written": "yes"},
				}}
			}},
	}
}

// labelWritten is before with the label written=yes.
func labelWritten(_ subject, before answer) any {
	var object map[string]any
	data, err := json.Marshal(before.object)
	if err == nil {
		err = json.Unmarshal(data, &object)
	}
	if err != nil {
		return err.Error()
	}
	object["metadata"].(map[string]any)["labels"].(map[string]any)["written"] = "yes"
	return object
}

// forEachOperation runs test for each of the operations, at the same time.
func forEachOperation(t *testing.T, operations map[string]operation, test func(t *testing.T, o operation)) {
	t.Helper()
	for name, o := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, o)
		})
	}
}

// allOperations returns all operations of the maps.
func allOperations(operations ...map[string]operation) map[string]operation {
	out := map[string]operation{}
	for _, m := range operations {
		maps.Copy(out, m)
	}
	return out
}

// refusal is what is wrong with an answer that should be an error: its code, reason and message.
type refusal struct {
	Code            int
	Reason, Message string
}

func (a answer) refusal() refusal {
	return refusal{Code: a.code, Reason: a.text("reason"), Message: a.message()}
}

// causes are the fields of the causes of a Status, in order.
func (a answer) causes() []string {
	var out []string
	causes, _ := a.field("details.causes").([]any)
	for i := range causes {
		out = append(out, a.text("details.causes."+strconv.Itoa(i)+".field"))
	}
	return out
}

// names are the names of the items of a list, in order.
func (a answer) names() []string {
	out := []string{}
	items, _ := a.field("items").([]any)
	for i := range items {
		out = append(out, a.text("items."+strconv.Itoa(i)+".metadata.name"))
	}
	return out
}

// watchEvent is an event of a watch.
type watchEvent struct {
	Type   string         `json:"type"`
	Object map[string]any `json:"object"`
}

func (e watchEvent) text(path string) string { return answer{object: e.Object}.text(path) }

// name of the object, for instance "ADDED a".
func (e watchEvent) summary() string { return e.Type + " " + e.text("metadata.name") }

// watching is an open watch. Its events are read in the background, so that a test that waits for one can give up.
type watching struct {
	response *http.Response
	events   chan watchEvent
	// failure is why the stream ended, io.EOF for the regular end, and took how long it was open; both are set before
	// events is closed.
	failure error
	took    time.Duration
}

// startWatch opens a watch in JSON that has to be answered with 200. It ends with the test.
func startWatch(t *testing.T, c call) *watching {
	t.Helper()
	if c.method == "" {
		c.method = http.MethodGet
	}
	start := time.Now()
	response := open(t, c)
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(response.Body)
		t.Fatalf("watch %s: got %d: %s", c.path, response.StatusCode, raw)
	}
	// With some room, events are read when they come, so that the end of the stream is seen when it is there.
	w := &watching{response: response, events: make(chan watchEvent, 100)}
	done := t.Context().Done()
	go func() {
		defer func() {
			w.took = time.Since(start)
			close(w.events)
		}()
		decoder := json.NewDecoder(bufio.NewReader(response.Body))
		for {
			var e watchEvent
			if err := decoder.Decode(&e); err != nil {
				w.failure = err
				return
			}
			select {
			case w.events <- e:
			case <-done:
				w.failure = errors.New("the test has ended")
				return
			}
		}
	}()
	return w
}

// next is the next event, which has to come.
func (w *watching) next(t *testing.T) watchEvent {
	t.Helper()
	select {
	case e, ok := <-w.events:
		if !ok {
			t.Fatalf("the watch ended while an event was expected: %v", w.failure)
		}
		return e
	case <-time.After(patience):
		t.Fatal("no event came")
	}
	return watchEvent{}
}

// nextChange is the next event of an object. The server sends bookmarks that only tell the version when it likes.
func (w *watching) nextChange(t *testing.T) watchEvent {
	t.Helper()
	for {
		if e := w.next(t); e.Type != "BOOKMARK" || isInitialEventsEnd(e) {
			return e
		}
	}
}

// rest are all further events until the server ends the watch, which it has to do.
func (w *watching) rest(t *testing.T) []watchEvent {
	t.Helper()
	var out []watchEvent
	deadline := time.After(patience)
	for {
		select {
		case e, ok := <-w.events:
			if !ok {
				if !errors.Is(w.failure, io.EOF) {
					t.Fatalf("the watch did not end by itself: %v", w.failure)
				}
				return out
			}
			out = append(out, e)
		case <-deadline:
			t.Fatal("the server did not end the watch")
		}
	}
}

// until are the events up to and with the first that satisfies found.
func (w *watching) until(t *testing.T, found func(watchEvent) bool) []watchEvent {
	t.Helper()
	var out []watchEvent
	for {
		e := w.next(t)
		out = append(out, e)
		if found(e) {
			return out
		}
	}
}

// summaries are type and name of events.
func summaries(events []watchEvent) []string {
	out := []string{}
	for _, e := range events {
		out = append(out, e.summary())
	}
	return out
}

// soon waits until check returns no error.
func soon(t *testing.T, check func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// upstreamModule is the directory of the source of kube-apiserver.
var upstreamModule = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	return strings.TrimSpace(string(out)), err
})

// upstreamFile is the path of a file of the source of kube-apiserver.
func upstreamFile(t *testing.T, elements ...string) string {
	t.Helper()
	dir, err := upstreamModule()
	if err != nil {
		t.Fatalf("could not find the source of k8s.io/kubernetes: %v", err)
	}
	return filepath.Join(append([]string{dir}, elements...)...)
}

// without returns values that are not in drop.
func without(values []string, drop ...string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return slices.Contains(drop, v) })
}

// timed is an answer and how long it took to come.
type timed struct {
	answer
	took time.Duration
}

// sendTogether sends all calls at the same time and returns their answers in the same order. Requests that the server
// takes its time for cost the time of one.
func sendTogether(t *testing.T, calls ...call) []timed {
	t.Helper()
	answers, failures := make([]timed, len(calls)), make([]error, len(calls))
	var group sync.WaitGroup
	for i, c := range calls {
		request, client := c.request(t)
		group.Go(func() {
			start := time.Now()
			response, err := client.Do(request)
			if err != nil {
				failures[i] = err
				return
			}
			defer func() { _ = response.Body.Close() }()
			raw, err := io.ReadAll(response.Body)
			failures[i] = err
			answers[i] = timed{answer{code: response.StatusCode, header: response.Header, raw: raw}, time.Since(start)}
		})
	}
	group.Wait()
	for i, err := range failures {
		if err != nil {
			t.Fatalf("%s %s: %v", calls[i].method, calls[i].path, err)
		}
		// A body that is no JSON object is looked at through raw.
		_ = json.Unmarshal(answers[i].raw, &answers[i].object)
	}
	return answers
}

// request is the call as a request of the administrator, and the client to send it with.
func (c call) request(t *testing.T) (*http.Request, *http.Client) {
	t.Helper()
	client, err := rest.HTTPClientFor(shared.config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), c.method, shared.config.Host+c.path, c.reader(t))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", orElse(c.accept, jsonBody))
	if c.body != nil {
		request.Header.Set("Content-Type", orElse(c.contentType, jsonBody))
	}
	return request, client
}

// diffError is an error that shows how got differs from want, nil when it does not.
func diffError(want, got any) error {
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("(-want +got):\n%s", diff)
	}
	return nil
}

// decoded is the answer with an object that is there for YAML too.
func (a answer) decoded(t *testing.T) answer {
	t.Helper()
	if a.header.Get("Content-Type") == yamlBody {
		if err := yaml.Unmarshal(a.raw, &a.object); err != nil {
			t.Fatalf("no YAML: %v: %s", err, a.raw)
		}
	}
	return a
}

func jsonOf(object any) (string, error) {
	data, err := json.Marshal(object)
	return string(data), err
}
