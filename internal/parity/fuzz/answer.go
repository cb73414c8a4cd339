// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"
)

// server is one of the two.
type server struct {
	client *http.Client
	url    string
	made   *regexp.Regexp
}

func newServer(config *rest.Config, namespace string) (*server, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	target := base.JoinPath("apis/apps/v1/namespaces", namespace, "daemonsets")
	target.RawQuery = url.Values{"dryRun": {"All"}, "fieldManager": {"fuzz"}}.Encode()
	return &server{client: client, url: target.String(), made: regexp.MustCompile(`"(uid|creationTimestamp|time)":"[^"]*"`)}, nil
}

// answer is what is compared.
type answer struct {
	code     int
	warnings string // a line each
	body     string // without what each server makes anew
}

// create creates an object without storing it.
func (s *server) create(ctx context.Context, object map[string]any) (answer, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return answer{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(data))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, fmt.Errorf("reading an answer: %w", err)
	}
	return answer{
		code:     response.StatusCode,
		warnings: strings.Join(response.Header.Values("Warning"), "\n"),
		body:     s.made.ReplaceAllString(string(body), `"$1":"<$1>"`),
	}, nil
}

// text is an answer for people, a field a line.
func (a answer) text() string {
	var body bytes.Buffer
	if err := json.Indent(&body, []byte(a.body), "", "  "); err != nil {
		body.Reset()
		body.WriteString(a.body)
	}
	lines := []string{strconv.Itoa(a.code)}
	if a.warnings != "" {
		lines = append(lines, a.warnings)
	}
	return strings.Join(append(lines, strings.TrimSpace(body.String())), "\n")
}
