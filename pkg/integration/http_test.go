// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"
)

// Content types of patches and bodies.
const (
	jsonBody       = "application/json"
	yamlBody       = "application/yaml"
	mergePatch     = "application/merge-patch+json"
	strategicPatch = "application/strategic-merge-patch+json"
	jsonPatch      = "application/json-patch+json"
	applyPatch     = "application/apply-patch+yaml"
)

// call is one request. Method and path are needed, the rest is optional.
type call struct {
	// method is the HTTP method; path begins with / and holds the query.
	method, path string
	// contentType describes body, jsonBody when empty; accept is the Accept header, JSON when empty.
	contentType, accept string
	// body is sent as it is when it is a string or []byte, and as JSON otherwise; nil sends none.
	body any
	// header holds further headers.
	header http.Header
	// config is the client to use, the administrator when nil.
	config *rest.Config
}

// answer is what came back.
type answer struct {
	code   int
	header http.Header
	raw    []byte
	// object is the decoded JSON body, nil when the body is no JSON object.
	object map[string]any
}

// send sends c and returns the answer, whatever its status code.
func send(t *testing.T, c call) answer {
	t.Helper()
	response := open(t, c)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: could not read the answer: %v", c.method, c.path, err)
	}
	out := answer{code: response.StatusCode, header: response.Header, raw: raw}
	// A body that is no JSON object is looked at through raw.
	_ = json.Unmarshal(raw, &out.object)
	return out
}

// open sends c and returns the response with its body still to be read: a watch, for instance.
func open(t *testing.T, c call) *http.Response {
	t.Helper()
	config := c.config
	if config == nil {
		config = shared.config
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), c.method, config.Host+c.path, c.reader(t))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", orElse(c.accept, "application/json"))
	// Without this the transport asks for gzip and hides that it did.
	request.Header.Set("Accept-Encoding", "identity")
	if c.body != nil {
		request.Header.Set("Content-Type", orElse(c.contentType, jsonBody))
	}
	for name, values := range c.header {
		request.Header[name] = values
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", c.method, c.path, err)
	}
	return response
}

func (c call) reader(t *testing.T) io.Reader {
	t.Helper()
	switch body := c.body.(type) {
	case nil:
		return nil
	case string:
		return strings.NewReader(body)
	case []byte:
		return bytes.NewReader(body)
	default:
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.NewReader(data)
	}
}

// mustSend is send for a request that has to succeed with one of codes (any 2xx when there is none).
func mustSend(t *testing.T, c call, codes ...int) answer {
	t.Helper()
	a := send(t, c)
	ok := len(codes) == 0 && a.code/100 == 2
	for _, code := range codes {
		ok = ok || a.code == code
	}
	if !ok {
		t.Fatalf("%s %s: got %d, want %v: %s", c.method, c.path, a.code, codes, a.raw)
	}
	return a
}

// field returns what is at a path of the decoded body such as "status.conditions.0.type"; nil when it isn't there.
// A dot inside a key is written as \.
func (a answer) field(path string) any {
	var value any = a.object
	for _, key := range splitPath(path) {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			var index int
			if _, err := fmt.Sscanf(key, "%d", &index); err != nil || index < 0 || index >= len(v) {
				return nil
			}
			value = v[index]
		default:
			return nil
		}
	}
	return value
}

// text is field as a string, "" when it isn't one.
func (a answer) text(path string) string {
	s, _ := a.field(path).(string)
	return s
}

// message is the message of a Status.
func (a answer) message() string { return a.text("message") }

// warnings are the texts of the Warning headers (RFC 7234, 5.5), without code and agent.
func (a answer) warnings() []string {
	var out []string
	for _, value := range a.header.Values("Warning") {
		value = strings.TrimSuffix(strings.TrimPrefix(value, `299 - "`), `"`)
		out = append(out, strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(value))
	}
	return out
}

func splitPath(path string) []string {
	const dot = "\x00"
	parts := strings.Split(strings.ReplaceAll(path, `\.`, dot), ".")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], dot, ".")
	}
	return parts
}

func orElse(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

// unique returns a name that no other test uses.
func unique(prefix string) string { return prefix + "-" + rand.String(8) }

// newNamespace makes a namespace for this test. Nobody deletes it: the server goes with its data.
func newNamespace(t *testing.T) string {
	t.Helper()
	name := unique("ns")
	mustSend(t, call{method: http.MethodPost, path: "/api/v1/namespaces", body: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}})
	return name
}
