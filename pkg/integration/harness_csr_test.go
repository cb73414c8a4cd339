// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/internal/gen"
)

const (
	csrCollection = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	csrWatch      = "/apis/certificates.k8s.io/v1/watch/certificatesigningrequests"
)

// csrPath is the path of the CertificateSigningRequest called name, and of its subresource when one is given.
func csrPath(name string, subresource ...string) string {
	return strings.Join(append([]string{csrCollection, url.PathEscape(name)}, subresource...), "/")
}

// csrBody is what gen.CSR builds, as the JSON object of a request.
func csrBody(t *testing.T, name string, options ...gen.CSROption) map[string]any {
	t.Helper()
	csr := gen.CSR(name, options...)
	csr.APIVersion, csr.Kind = "certificates.k8s.io/v1", "CertificateSigningRequest"
	body := asObject(t, csr)
	delete(body, "status")
	return body
}

// newCSR creates a CertificateSigningRequest under a name of its own and returns the name and the server's answer.
func newCSR(t *testing.T, options ...gen.CSROption) (string, answer) {
	t.Helper()
	name := unique("csr")
	return name, mustSend(t, call{method: http.MethodPost, path: csrCollection, body: csrBody(t, name, options...)}, http.StatusCreated)
}

// getCSR reads a CertificateSigningRequest.
func getCSR(t *testing.T, name string) answer {
	t.Helper()
	return mustSend(t, call{method: http.MethodGet, path: csrPath(name)}, http.StatusOK)
}

// approve adds the condition Approved.
func approve(t *testing.T, name string) answer {
	t.Helper()
	return writeConditions(t, name, condition("Approved"))
}

// writeConditions makes list the conditions of a CertificateSigningRequest through /approval, which takes every type.
func writeConditions(t *testing.T, name string, list ...map[string]any) answer {
	t.Helper()
	return mustSend(t, call{
		method: http.MethodPatch, path: csrPath(name, "approval"), contentType: mergePatch, body: withConditions(list...),
	}, http.StatusOK)
}

// issue stores the certificate that gen has for its request.
func issue(t *testing.T, name string) answer {
	t.Helper()
	return mustSend(t, call{
		method: http.MethodPatch, path: csrPath(name, "status"), contentType: mergePatch, body: withCertificate(gen.RobotCertificate()),
	}, http.StatusOK)
}

// condition is a condition as a client sends it. form is "Type" or "Type=Status", the status is True when not given;
// more are pairs of further fields.
func condition(form string, more ...string) map[string]any {
	kind, status, found := strings.Cut(form, "=")
	if !found {
		status = "True"
	}
	out := map[string]any{"type": kind, "status": status}
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// withConditions is a body that sets status.conditions.
func withConditions(list ...map[string]any) map[string]any {
	return map[string]any{"status": map[string]any{"conditions": list}}
}

// withCertificate is a body that sets status.certificate.
func withCertificate(pem []byte) map[string]any {
	return map[string]any{"status": map[string]any{"certificate": base64.StdEncoding.EncodeToString(pem)}}
}

// withLabel is a body that sets one label.
func withLabel(key, value string) map[string]any {
	return map[string]any{"metadata": map[string]any{"labels": map[string]any{key: value}}}
}

// applied is a body for server-side apply: object with the type and name that apply asks for.
func applied(name string, object map[string]any) map[string]any {
	out := clone(object)
	out["apiVersion"], out["kind"] = "certificates.k8s.io/v1", "CertificateSigningRequest"
	metadata, _ := out["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["name"] = name
	out["metadata"] = metadata
	return out
}

// conditionsOf lists the conditions of an answer as "Type=Status", with "/reason" when there is one.
func conditionsOf(a answer) []string {
	list, _ := a.field("status.conditions").([]any)
	out := []string{}
	for i := range list {
		at := fmt.Sprintf("status.conditions.%d.", i)
		text := a.text(at+"type") + "=" + a.text(at+"status")
		if reason := a.text(at + "reason"); reason != "" {
			text += "/" + reason
		}
		out = append(out, text)
	}
	return out
}

// asObject turns a value into its JSON object.
func asObject(t *testing.T, value any) map[string]any {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// clone copies decoded JSON.
func clone[T any](value T) T {
	copied, _ := cloneValue(value).(T)
	return copied
}

func cloneValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = cloneValue(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = cloneValue(item)
		}
		return out
	default:
		return value
	}
}

// merged is object with the members of others merged in, as a merge patch does it.
func merged(object map[string]any, others ...map[string]any) map[string]any {
	out := clone(object)
	for _, other := range others {
		for key, value := range other {
			inner, isObject := value.(map[string]any)
			below, wasObject := out[key].(map[string]any)
			if isObject && wasObject {
				out[key] = merged(below, inner)
			} else {
				out[key] = value
			}
		}
	}
	return out
}

// checkRefused fails the test unless a is a Status that says want; $NAME in the message stands for name.
func checkRefused(t *testing.T, a answer, name string, want refusal) {
	t.Helper()
	want.Message = strings.NewReplacer(`"$NAME"`, strconv.Quote(name), "$NAME", name).Replace(want.Message)
	if diff := cmp.Diff(want, a.refusal()); diff != "" {
		t.Errorf("refusal (-want +got):\n%s\nthe whole answer: %s", diff, a.raw)
	}
	if a.text("kind") != "Status" || a.text("status") != "Failure" || a.field("code") != float64(want.Code) {
		t.Errorf("the body is no Status of a failure with code %d: %s", want.Code, a.raw)
	}
}

// checkInvalid fails the test unless a refuses the CertificateSigningRequest called name with 422 for exactly these
// causes, each "field: text", in this order.
func checkInvalid(t *testing.T, a answer, name string, causes ...string) {
	t.Helper()
	all := strings.Join(causes, ", ")
	if len(causes) > 1 {
		all = "[" + all + "]"
	}
	checkRefused(t, a, name, refusal{
		Code: http.StatusUnprocessableEntity, Reason: "Invalid",
		Message: fmt.Sprintf("CertificateSigningRequest.certificates.k8s.io %q is invalid: %s", name, all),
	})
	list, _ := a.field("details.causes").([]any)
	got := []string{}
	for i := range list {
		at := fmt.Sprintf("details.causes.%d.", i)
		got = append(got, a.text(at+"field")+": "+a.text(at+"message"))
	}
	if diff := cmp.Diff(causes, got); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
	want := map[string]any{"name": name, "group": "certificates.k8s.io", "kind": "CertificateSigningRequest"}
	details, _ := clone(a.field("details")).(map[string]any)
	delete(details, "causes")
	if name == "" {
		delete(want, "name")
	}
	if diff := cmp.Diff(want, details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

// checkField fails the test unless the value at path is want; nil means that nothing is there.
func checkField(t *testing.T, a answer, path string, want any) {
	t.Helper()
	if diff := cmp.Diff(want, a.field(path)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// checkRecent fails the test unless the value at path is an RFC 3339 time in UTC, in whole seconds, not before since.
func checkRecent(t *testing.T, a answer, path string, since time.Time) {
	t.Helper()
	text := a.text(path)
	got, err := time.Parse("2006-01-02T15:04:05Z", text)
	if err != nil || got.Before(since.Truncate(time.Second)) || got.After(time.Now()) {
		t.Errorf("%s is %q, want a time between %s and now", path, text, since.UTC().Format(time.RFC3339))
	}
}

// checkUnchanged fails the test unless the CertificateSigningRequest is stored as before says, to the resource version.
func checkUnchanged(t *testing.T, name string, before answer) {
	t.Helper()
	if diff := cmp.Diff(before.object, getCSR(t, name).object); diff != "" {
		t.Errorf("%s was changed (-before +after):\n%s", name, diff)
	}
}

// checkGone fails the test unless there is no CertificateSigningRequest of that name.
func checkGone(t *testing.T, name string) {
	t.Helper()
	checkRefused(t, send(t, call{method: http.MethodGet, path: csrPath(name)}), name, csrNotFound)
}

// csrModified is the refusal of a write that carries an old resource version.
var csrModified = refusal{
	Code: http.StatusConflict, Reason: "Conflict",
	Message: `Operation cannot be fulfilled on certificatesigningrequests.certificates.k8s.io "$NAME": the object has been modified; ` +
		"please apply your changes to the latest version and try again",
}

// csrNotFound is the refusal of every request for a CertificateSigningRequest that doesn't exist.
var csrNotFound = refusal{
	Code: http.StatusNotFound, Reason: "NotFound", Message: `certificatesigningrequests.certificates.k8s.io "$NAME" not found`,
}

// expectEvents waits for the next events of a watch and fails the test unless they are want, each "TYPE name". It returns
// the last.
func expectEvents(t *testing.T, w *watching, want ...string) watchEvent {
	t.Helper()
	var last watchEvent
	for _, text := range want {
		last = w.next(t)
		if got := strings.TrimSpace(last.summary()); got != text {
			t.Fatalf("got the event %q, want %q: %v", got, text, last.Object)
		}
	}
	return last
}
