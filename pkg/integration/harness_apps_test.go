// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"
)

// templateGeneration is the annotation that shows the internal field spec.templateGeneration of a DaemonSet.
const templateGeneration = "deprecated.daemonset.template.generation"

// Paths and objects.

func daemonSetsPath(namespace string) string {
	return "/apis/apps/v1/namespaces/" + namespace + "/daemonsets"
}

func daemonSetPath(namespace, name string) string { return daemonSetsPath(namespace) + "/" + name }

func revisionsPath(namespace string) string {
	return "/apis/apps/v1/namespaces/" + namespace + "/controllerrevisions"
}

func namespacePath(name string) string { return "/api/v1/namespaces/" + name }

// change alters an object that a test is about to send.
type change func(t *testing.T, object map[string]any)

// changed returns an object with changes made to it.
func changed(t *testing.T, object map[string]any, changes ...change) map[string]any {
	t.Helper()
	for _, c := range changes {
		c(t, object)
	}
	return object
}

// daemonSet returns the smallest DaemonSet that is accepted, with changes made to it.
func daemonSet(t *testing.T, name string, changes ...change) map[string]any {
	t.Helper()
	return changed(t, fromYAML(t, `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: `+name+`}
spec:
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec: {containers: [{name: c, image: 'img:1'}]}
`), changes...)
}

// root merges text into an object: maps are merged, null removes, anything else replaces. text is YAML.
func root(text string) change { return within(text) }

// meta is root for metadata.
func meta(text string) change { return within(text, "metadata") }

// spec is root for spec.
func spec(text string) change { return within(text, "spec") }

// template is root for the pod template of a DaemonSet.
func template(text string) change { return within(text, "spec", "template") }

// pod is root for the pod spec in the template of a DaemonSet.
func pod(text string) change { return within(text, "spec", "template", "spec") }

// container is root for the first container in the template of a DaemonSet.
func container(text string) change {
	return func(t *testing.T, object map[string]any) {
		t.Helper()
		podSpec := descend(t, object, "spec", "template", "spec")
		first := podSpec["containers"].([]any)[0].(map[string]any)
		merge(first, fromYAML(t, text))
	}
}

// within is root for what is at path, whose maps have to be there.
func within(text string, path ...string) change {
	return func(t *testing.T, object map[string]any) {
		t.Helper()
		merge(descend(t, object, path...), fromYAML(t, text))
	}
}

// descend returns the map at path.
func descend(t *testing.T, object map[string]any, path ...string) map[string]any {
	t.Helper()
	for _, key := range path {
		inner, ok := object[key].(map[string]any)
		if !ok {
			t.Fatalf("the object has no map at %s of %v", key, path)
		}
		object = inner
	}
	return object
}

// merge is a JSON merge patch (RFC 7386) of one map into another.
func merge(into, patch map[string]any) {
	for key, value := range patch {
		inner, isMap := value.(map[string]any)
		target, hasMap := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isMap && hasMap:
			merge(target, inner)
		default:
			into[key] = value
		}
	}
}

// fromYAML decodes text with the number types of encoding/json.
func fromYAML(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("could not decode %s: %v", text, err)
	}
	return out
}

// valueFromYAML is fromYAML for any value.
func valueFromYAML(t *testing.T, text string) any {
	t.Helper()
	var out any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("could not decode %s: %v", text, err)
	}
	return out
}

// createDaemonSet creates daemonSet(name, changes...) in namespace.
func createDaemonSet(t *testing.T, namespace, name string, changes ...change) answer {
	t.Helper()
	return mustSend(t, call{method: http.MethodPost, path: daemonSetsPath(namespace), body: daemonSet(t, name, changes...)}, http.StatusCreated)
}

// patch returns a call that patches.
func patch(contentType, path string, body any) call {
	return call{method: http.MethodPatch, path: path, contentType: contentType, body: body}
}

func get(path string) call { return call{method: http.MethodGet, path: path} }

// Expectations.

// Placeholders for what differs from run to run, put in by scrubbed.
const (
	someUID     = "UID"
	someVersion = "VERSION"
	someTime    = "TIME"
)

var (
	uidForm     = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	versionForm = regexp.MustCompile(`^[1-9][0-9]*$`)
)

// scrubbed returns a copy of object whose uid, resourceVersion and times are placeholders, after checking their form,
// and without managedFields, which managers shows.
func scrubbed(t *testing.T, object map[string]any) map[string]any {
	t.Helper()
	out := deepCopy(t, object)
	metadata, ok := out["metadata"].(map[string]any)
	if !ok {
		t.Fatalf("the object has no metadata: %v", object)
	}
	replaceIf(t, metadata, "uid", someUID, uidForm.MatchString)
	replaceIf(t, metadata, "resourceVersion", someVersion, versionForm.MatchString)
	replaceIf(t, metadata, "creationTimestamp", someTime, isRecent)
	replaceIf(t, metadata, "deletionTimestamp", someTime, isRecent)
	delete(metadata, "managedFields")
	return out
}

// replaceIf puts a placeholder in the place of a value that is there, and fails the test when that isn't ok.
func replaceIf(t *testing.T, in map[string]any, key, placeholder string, ok func(string) bool) {
	t.Helper()
	value, found := in[key]
	if !found {
		return
	}
	text, _ := value.(string)
	if !ok(text) {
		t.Errorf("%s is %v, which is not of its form", key, value)
	}
	in[key] = placeholder
}

// isRecent tells whether text is a time in whole seconds not far from now; the server may be on a machine whose clock
// differs.
func isRecent(text string) bool {
	at, err := time.Parse("2006-01-02T15:04:05Z", text)
	return err == nil && time.Since(at).Abs() < time.Hour
}

func deepCopy(t *testing.T, object map[string]any) map[string]any {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// wantCode ends the test when the answer has another status code.
func wantCode(t *testing.T, a answer, code int) {
	t.Helper()
	if a.code != code {
		t.Fatalf("got %d, want %d: %s", a.code, code, a.raw)
	}
}

// wantField compares one field of an answer with a YAML text; "null" stands for a field that isn't there, too.
func wantField(t *testing.T, a answer, path, want string) {
	t.Helper()
	if diff := cmp.Diff(valueFromYAML(t, want), a.field(path)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

// wantFields is wantField for several fields, after wantCode.
func wantFields(t *testing.T, a answer, code int, fields map[string]string) {
	t.Helper()
	wantCode(t, a, code)
	for path, want := range fields {
		wantField(t, a, path, want)
	}
}

// unchanged fails the test when an answer is not the very object of another one.
func unchanged(t *testing.T, before, after answer) {
	t.Helper()
	if diff := cmp.Diff(before.object, after.object); diff != "" {
		t.Errorf("the object has changed (-before +after):\n%s", diff)
	}
}

// failure is a Status of a request that failed. details is YAML; empty means that there are none.
type failure struct {
	code            int
	reason, message string
	details         string
}

// wantFailure compares the whole body of an answer.
func wantFailure(t *testing.T, a answer, want failure) {
	t.Helper()
	status := map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure",
		"message": want.message, "code": float64(want.code),
	}
	if want.reason != "" {
		status["reason"] = want.reason
	}
	if want.details != "" {
		status["details"] = valueFromYAML(t, want.details)
	}
	if diff := cmp.Diff(status, a.object); a.code != want.code || diff != "" {
		t.Errorf("got %d, want %d; the body differs (-want +got):\n%s", a.code, want.code, diff)
	}
}

// notFound is the failure of a DaemonSet that isn't there.
func notFound(name string) failure {
	return failure{
		code: http.StatusNotFound, reason: "NotFound", message: fmt.Sprintf("daemonsets.apps %q not found", name),
		details: "{name: " + name + ", group: apps, kind: daemonsets}",
	}
}

// wrongMethod is the failure of a method that a path doesn't have.
func wrongMethod() failure {
	return failure{
		code: http.StatusMethodNotAllowed, reason: "MethodNotAllowed",
		message: "the server does not allow this method on the requested resource", details: "{}",
	}
}

// causeReasons are the reasons of the causes in a Status, by how their messages begin.
var causeReasons = map[string]string{
	"Required value":    "FieldValueRequired",
	"Duplicate value":   "FieldValueDuplicate",
	"Invalid value":     "FieldValueInvalid",
	"Unsupported value": "FieldValueNotSupported",
	"Forbidden":         "FieldValueForbidden",
	"Too long":          "FieldValueTooLong",
	"Too many":          "FieldValueTooMany",
	"Not found":         "FieldValueNotFound",
	"Internal error":    "InternalError",
}

// invalid returns the failure of an object that validation refuses. kind has its group after a dot, if it has one;
// causes are in order, each its field, a colon and its message.
func invalid(t *testing.T, kind, name string, causes ...string) failure {
	t.Helper()
	bare, group, _ := strings.Cut(kind, ".")
	details := map[string]any{"kind": bare}
	for key, value := range map[string]string{"name": name, "group": group} {
		if value != "" {
			details[key] = value
		}
	}
	var list []any
	var distinct []string
	for _, cause := range causes {
		path, message, _ := strings.Cut(cause, ": ")
		beginning, _, _ := strings.Cut(message, ":")
		reason, ok := causeReasons[beginning]
		if !ok {
			t.Fatalf("no reason is known for the cause %q", cause)
		}
		item := map[string]any{"reason": reason, "message": message}
		if path != "<nil>" {
			item["field"] = path
		}
		list = append(list, item)
		if !slices.Contains(distinct, cause) {
			distinct = append(distinct, cause)
		}
	}
	details["causes"] = list
	text, err := json.Marshal(details)
	if err != nil {
		t.Fatal(err)
	}
	message := strings.Join(distinct, ", ")
	if len(distinct) > 1 {
		message = "[" + message + "]"
	}
	return failure{
		code: http.StatusUnprocessableEntity, reason: "Invalid", details: string(text),
		message: fmt.Sprintf("%s %q is invalid: %s", kind, name, message),
	}
}

// wantPatchRefused checks the failure of a patch that leads to no object: the message quotes either the patch, when
// value is a string, or the patched object as JSON.
func wantPatchRefused(t *testing.T, a answer, value any, cause string) {
	t.Helper()
	const beginning, prefix = ` "" is invalid: patch: `, "Invalid value: "
	message := a.message()
	text := strings.TrimSuffix(strings.TrimPrefix(message, beginning+prefix), ": "+cause)
	if message != beginning+prefix+text+": "+cause {
		t.Fatalf("got %d, want a message about the cause %q: %s", a.code, cause, a.raw)
	}
	got, err := strconv.Unquote(text)
	if err != nil {
		t.Fatalf("the message quotes no value: %v: %s", err, a.raw)
	}
	if want, ok := value.(string); ok {
		if got != want {
			t.Errorf("the message quotes %q, want %q", got, want)
		}
	} else {
		var object any
		if err := json.Unmarshal([]byte(got), &object); err != nil {
			t.Errorf("the message quotes no JSON: %v", err)
		}
		if diff := cmp.Diff(value, object); diff != "" {
			t.Errorf("the object in the message differs (-want +got):\n%s", diff)
		}
	}
	details, err := json.Marshal(map[string]any{"causes": []any{map[string]any{
		"reason": "FieldValueInvalid", "message": strings.TrimPrefix(message, beginning), "field": "patch",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	wantFailure(t, a, failure{http.StatusUnprocessableEntity, "Invalid", message, string(details)})
}

// wantWarnings compares the warnings of an answer.
func wantWarnings(t *testing.T, a answer, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, a.warnings()); diff != "" {
		t.Errorf("the warnings differ (-want +got):\n%s", diff)
	}
}

// managers are the entries of managedFields. Their times, which have to be recent, are placeholders.
func managers(t *testing.T, a answer) []any {
	t.Helper()
	entries, _ := deepCopy(t, a.object)["metadata"].(map[string]any)["managedFields"].([]any)
	for i := range entries {
		replaceIf(t, entries[i].(map[string]any), "time", someTime, isRecent)
	}
	return entries
}

// owners are the entries of managedFields in short: manager, operation and, if any, subresource, joined by "/".
func owners(a answer) []string {
	var out []string
	entries, _ := a.field("metadata.managedFields").([]any)
	for _, entry := range entries {
		e := entry.(map[string]any)
		text := fmt.Sprintf("%v/%v", e["manager"], e["operation"])
		if subresource, ok := e["subresource"]; ok {
			text += fmt.Sprintf("/%v", subresource)
		}
		out = append(out, text)
	}
	return out
}

// names are the names of a list's items, in order.
func names(a answer) []string {
	var out []string
	items, _ := a.field("items").([]any)
	for _, item := range items {
		metadata, _ := item.(map[string]any)["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		out = append(out, name)
	}
	return out
}

// Watches.

// event is one event of a watch.
type event struct {
	Type   string         `json:"type"`
	Object map[string]any `json:"object"`
}

// name is the event's type and the name of its object.
func (e event) name() string {
	metadata, _ := e.Object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return strings.TrimSpace(e.Type + " " + name)
}

// stream is a running watch.
type stream struct {
	t       *testing.T
	decoder *json.Decoder
}

// watch starts a watch, which ends with the test.
func watch(t *testing.T, path string) *stream {
	t.Helper()
	return watchAs(t, path, "")
}

// watchAs is watch for an answer of another type.
func watchAs(t *testing.T, path, accept string) *stream {
	t.Helper()
	response := open(t, call{method: http.MethodGet, path: path, accept: accept})
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(response.Body)
		t.Fatalf("GET %s: got %d: %s", path, response.StatusCode, body)
	}
	return &stream{t: t, decoder: json.NewDecoder(response.Body)}
}

// next waits for the next event; the server ends a watch whose path has a timeout.
func (s *stream) next() event {
	s.t.Helper()
	var e event
	if err := s.decoder.Decode(&e); err != nil {
		s.t.Fatalf("the watch has ended: %v", err)
	}
	return e
}

// generatedName matches what the server makes of a generateName.
func generatedName(base string) *regexp.Regexp {
	return regexp.MustCompile("^" + regexp.QuoteMeta(base) + "[bcdfghjklmnpqrstvwxz2456789]{5}$")
}

// kubectl runs a kubectl: the one that the variable KUBECTL names, or that of the PATH. Without either the test is
// skipped.
type kubectl struct {
	binary, kubeconfig, home string
}

// output is what a kubectl has printed.
type output struct {
	code           int
	stdout, stderr string
}

// newKubectl returns a kubectl that knows the server and, as its default, a namespace. It has a home of its own.
func newKubectl(t *testing.T, namespace string) kubectl {
	t.Helper()
	binary := os.Getenv("KUBECTL")
	if binary == "" {
		var err error
		if binary, err = exec.LookPath("kubectl"); err != nil {
			t.Skip("no kubectl in the PATH, and KUBECTL names none")
		}
	}
	home := t.TempDir()
	k := kubectl{binary: binary, kubeconfig: filepath.Join(home, "kubeconfig"), home: home}
	c := shared.config
	config := clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"it": {
			Server: c.Host, CertificateAuthority: c.CAFile, CertificateAuthorityData: c.CAData, InsecureSkipTLSVerify: c.Insecure,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"it": {
			Token: c.BearerToken, ClientCertificate: c.CertFile, ClientCertificateData: c.CertData, ClientKey: c.KeyFile, ClientKeyData: c.KeyData,
		}},
		Contexts:       map[string]*clientcmdapi.Context{"it": {Cluster: "it", AuthInfo: "it", Namespace: namespace}},
		CurrentContext: "it",
	}
	if err := clientcmd.WriteToFile(config, k.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return k
}

// run runs kubectl with stdin.
func (k kubectl) run(t *testing.T, stdin string, arguments ...string) output {
	t.Helper()
	command := exec.CommandContext(t.Context(), k.binary, append([]string{"--kubeconfig", k.kubeconfig}, arguments...)...)
	command.Env = append(os.Environ(), "HOME="+k.home, "KUBECACHEDIR="+filepath.Join(k.home, "cache"))
	command.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil && command.ProcessState == nil {
		t.Fatal(err)
	}
	return output{command.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// ok is run for what has to succeed; it returns what was printed to stdout.
func (k kubectl) ok(t *testing.T, stdin string, arguments ...string) string {
	t.Helper()
	out := k.run(t, stdin, arguments...)
	if out.code != 0 {
		t.Fatalf("kubectl %v: exit code %d\n%s%s", arguments, out.code, out.stdout, out.stderr)
	}
	return out.stdout
}

// fails is run for what has to fail with a text on stderr.
func (k kubectl) fails(t *testing.T, text string, arguments ...string) {
	t.Helper()
	if out := k.run(t, "", arguments...); out.code != 1 || !strings.Contains(out.stderr, text) {
		t.Errorf("kubectl %v: exit code %d, want 1 and %q on stderr\n%s%s", arguments, out.code, text, out.stdout, out.stderr)
	}
}

// says fails the test when the output of a successful run does not contain text.
func (k kubectl) says(t *testing.T, text string, arguments ...string) {
	t.Helper()
	if out := k.ok(t, "", arguments...); !strings.Contains(out, text) {
		t.Errorf("kubectl %v: want %q in\n%s", arguments, text, out)
	}
}
