// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package clients plays a script with the clients of client-go, and writes down what they saw: two servers that answer
// alike give the same text.
package clients

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// waitTimeout bounds each wait for something that the server has to tell.
const waitTimeout = 20 * time.Second

// script is one run of all parts.
type script struct {
	config    *rest.Config
	namespace string
	out       strings.Builder
	uids      map[string]string
	watches   watchRecorder
}

// Run plays the script in a namespace that has none of the served objects, as a user who may do everything. It creates
// what is cluster-scoped with names that begin with the namespace's, and removes all of it when it succeeds. The error
// says at which step the script could not go on; what the server refused is part of the transcript.
func Run(ctx context.Context, config *rest.Config, namespace string) (transcript string, err error) {
	s := &script{config: rest.CopyConfig(config), namespace: namespace, uids: map[string]string{}}
	s.config.UserAgent = "clients"
	s.config.QPS = -1
	s.config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			s.watches.note(r)
			return next.RoundTrip(r)
		})
	})
	for _, part := range []struct {
		name string
		play func(context.Context) error
	}{
		{"discovery", s.discovery},
		{"typed clients with JSON", func(ctx context.Context) error { return s.typed(ctx, runtime.ContentTypeJSON) }},
		{"typed clients with protobuf", func(ctx context.Context) error { return s.typed(ctx, runtime.ContentTypeProtobuf) }},
		{"retries on conflict", s.retries},
		{"informers of DaemonSets", s.daemonSetInformer},
		{"informers of CertificateSigningRequests", s.requestInformer},
		{"pages and waits", s.pages},
		{"the dynamic client", s.dynamic},
		{"the metadata client", s.metadata},
		{"the certificate manager", s.certificateManager},
	} {
		s.say("== %s", part.name)
		if err := part.play(ctx); err != nil {
			return s.out.String(), fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return s.out.String(), nil
}

// say writes a line.
func (s *script) say(format string, args ...any) {
	s.out.WriteString(s.masked(fmt.Sprintf(format, args...)) + "\n")
}

// show writes what a call gave: an object, a list, or the error.
func (s *script) show(what string, object any, err error) {
	if err != nil {
		s.say("%s: %s", what, describe(err))
		return
	}
	if object == nil {
		s.say("%s: no error", what)
		return
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		s.say("%s: %v", what, err)
		return
	}
	settle(content)
	text, err := yaml.Marshal(content)
	if err != nil {
		s.say("%s: %v", what, err)
		return
	}
	s.say("%s:\n  %s", what, strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n  "))
}

// describe tells what a client makes of a refusal.
func describe(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return "error: " + err.Error()
	}
	text := fmt.Sprintf("refused: %d %s: %s", status.Status().Code, status.Status().Reason, status.Status().Message)
	if details := status.Status().Details; details != nil {
		for _, cause := range details.Causes {
			text += fmt.Sprintf("\n  %s %s: %s", cause.Type, cause.Field, cause.Message)
		}
	}
	return text
}

var (
	uidForm         = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timeForm        = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	versionForm     = regexp.MustCompile(`resourceVersion: "\d+"`)
	fingerprintForm = regexp.MustCompile(`X509SHA256=[0-9a-f]{64}`)
)

// masked replaces what can't be the same on two servers.
func (s *script) masked(text string) string {
	text = strings.ReplaceAll(text, s.namespace, "<namespace>")
	text = timeForm.ReplaceAllString(text, "<time>")
	text = versionForm.ReplaceAllString(text, "resourceVersion: <version>")
	text = fingerprintForm.ReplaceAllString(text, "X509SHA256=<fingerprint>")
	return uidForm.ReplaceAllStringFunc(text, func(uid string) string {
		if s.uids[uid] == "" {
			s.uids[uid] = fmt.Sprintf("<uid %d>", len(s.uids)+1)
		}
		return s.uids[uid]
	})
}

// settle replaces what was made from a key of this run, and the random part of a name, in an object or the items of a
// list. Entries of managedFields are put in an order that doesn't depend on whether two fell into one second.
func settle(object map[string]any) {
	items, _ := object["items"].([]any)
	for _, item := range items {
		if o, ok := item.(map[string]any); ok {
			settle(o)
		}
	}
	for _, path := range [][]string{{"spec", "request"}, {"status", "certificate"}, {"metadata", "continue"}} {
		if text, found, err := unstructured.NestedString(object, path...); found && err == nil && text != "" {
			_ = unstructured.SetNestedField(object, "<"+path[1]+">", path...) // the parents are there
		}
	}
	if prefix, _, _ := unstructured.NestedString(object, "metadata", "generateName"); prefix != "" {
		_ = unstructured.SetNestedField(object, prefix+"<generated>", "metadata", "name") // metadata is there
	}
	metadata, _ := object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	slices.SortStableFunc(entries, func(a, b any) int { return strings.Compare(identity(a), identity(b)) })
}

// identity tells an entry of managedFields from others.
func identity(entry any) string {
	fields, _ := entry.(map[string]any)
	return fmt.Sprint(fields["operation"], fields["manager"], fields["subresource"])
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// watchRecorder notes how resources are asked for by informers.
type watchRecorder struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (w *watchRecorder) note(r *http.Request) {
	query := r.URL.Query()
	if r.Method != http.MethodGet || query.Get("watch") == "" && query.Get("limit") == "" && query.Get("resourceVersion") == "" {
		return
	}
	how := "lists"
	if query.Get("watch") != "" {
		how = "watches"
	}
	if query.Get("sendInitialEvents") == "true" {
		how = "watches with initial events"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[how] = true
}

// reset forgets what was noted, and returns it.
func (w *watchRecorder) reset() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.seen
	w.seen = nil
	return out
}
