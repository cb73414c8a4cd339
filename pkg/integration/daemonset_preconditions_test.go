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
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// modified is the failure of an update of an old version of a DaemonSet.
func modified(name string) failure {
	return failure{
		code: http.StatusConflict, reason: "Conflict", details: "{name: " + name + ", group: apps, kind: daemonsets}",
		message: fmt.Sprintf("Operation cannot be fulfilled on daemonsets.apps %q: the object has been modified; please apply your changes to the latest version and try again", name),
	}
}

func TestDaemonSetPutRefused(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	created := createDaemonSet(t, ns, "d")
	badRequest := func(message string) failure {
		return failure{code: http.StatusBadRequest, reason: "BadRequest", message: message}
	}
	tests := map[string]struct {
		name string
		sent []change
		want failure
	}{
		"an old version": {"d", []change{meta("resourceVersion: '1'")}, modified("d")},
		"no version":     {"d", []change{meta("resourceVersion: abc")}, failure{code: http.StatusInternalServerError, message: `strconv.ParseUint: parsing "abc": invalid syntax`}},
		"another uid": {"d", []change{meta("uid: x")}, failure{
			code: http.StatusConflict, reason: "Conflict", details: "{name: d, group: apps, kind: daemonsets}",
			message: `Operation cannot be fulfilled on daemonsets.apps "d": StorageError: invalid object, Code: 4, Key: /registry/daemonsets/` + ns +
				`/d, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: ` + created.text("metadata.uid"),
		}},
		"another name":      {"d", []change{meta("name: other")}, badRequest("the name of the object (other) does not match the name on the URL (d)")},
		"no name":           {"d", []change{meta("name: null")}, badRequest("the name of the object (d based on URL) was undeterminable: name must be provided")},
		"another namespace": {"d", []change{meta("namespace: other")}, badRequest("the namespace of the provided object does not match the namespace sent on the request")},
		"another version":   {"d", []change{root("apiVersion: apps/v1beta2")}, badRequest("the API version in the data (apps/v1beta2) does not match the expected API version (apps/v1)")},
		"one that is missing, which PUT does not create":               {"nope", nil, notFound("nope")},
		"one that is missing, of a version, which PUT does not create": {"nope", []change{meta("resourceVersion: '5'")}, notFound("nope")},
		"a spec that is refused": {"d", []change{spec("minReadySeconds: -1")},
			invalid(t, "DaemonSet.apps", "d", "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0")},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			got := send(t, call{method: http.MethodPut, path: daemonSetPath(ns, test.name), body: daemonSet(t, test.name, test.sent...)})
			wantFailure(t, got, test.want)
		})
	}
	for sentence, test := range map[string]struct{ change, prefix string }{
		"another kind":        {"kind: Deployment", `Deployment in version "v1" cannot be handled as a DaemonSet: `},
		"a version of no one": {"apiVersion: apps/v2", `DaemonSet in version "v2" cannot be handled as a DaemonSet: no kind "DaemonSet" is registered for version "apps/v2" in scheme `},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			got := send(t, call{method: http.MethodPut, path: daemonSetPath(ns, "d"), body: daemonSet(t, "d", root(test.change))})
			wantFields(t, got, http.StatusBadRequest, map[string]string{"reason": "BadRequest"})
			if !strings.HasPrefix(got.message(), test.prefix) {
				t.Errorf("the message is %q", got.message())
			}
		})
	}
}

func TestDaemonSetPutAccepted(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]change{
		"no version, which updates any": meta("{}"),
		"version 0":                     meta("resourceVersion: '0'"),
		"an empty uid and no time":      meta("{uid: '', creationTimestamp: null}"),
		"no namespace":                  meta("namespace: null"),
		"no kind and no version":        root("{kind: null, apiVersion: null}"),
		"another time of creation":      meta("creationTimestamp: '2001-01-01T00:00:00Z'"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := newNamespace(t)
			created := createDaemonSet(t, ns, "d")
			got := send(t, call{method: http.MethodPut, path: daemonSetPath(ns, "d"), body: daemonSet(t, "d", sent, meta("labels: {a: b}"))})
			wantDaemonSet(t, got, http.StatusOK, ns, meta("labels: {a: b}"))
			for _, path := range []string{"metadata.uid", "metadata.creationTimestamp"} {
				if got.field(path) != created.field(path) {
					t.Errorf("%s is %v, was %v", path, got.field(path), created.field(path))
				}
			}
		})
	}
}

// TestDaemonSetPutConcurrently: of many updates of one version, one is made.
func TestDaemonSetPutConcurrently(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	created := createDaemonSet(t, ns, "d")
	const writers = 8
	answers := make([]answer, writers)
	var group sync.WaitGroup
	for i := range answers {
		body := changed(t, deepCopy(t, created.object), spec(fmt.Sprintf("minReadySeconds: %d", i+1)))
		group.Go(func() { answers[i] = send(t, call{method: http.MethodPut, path: daemonSetPath(ns, "d"), body: body}) })
	}
	group.Wait()
	var made []answer
	for _, a := range answers {
		if a.code == http.StatusOK {
			made = append(made, a)
			continue
		}
		wantFailure(t, a, modified("d"))
	}
	if len(made) != 1 {
		t.Fatalf("%d updates were made", len(made))
	}
	unchanged(t, made[0], mustSend(t, get(daemonSetPath(ns, "d"))))
}

func TestDaemonSetCreatePreconditions(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	createDaemonSet(t, ns, "d")
	post := func(query string, name string, changes ...change) answer {
		t.Helper()
		return send(t, call{method: http.MethodPost, path: daemonSetsPath(ns) + query, body: daemonSet(t, name, changes...)})
	}
	exists := failure{
		code: http.StatusConflict, reason: "AlreadyExists", message: `daemonsets.apps "d" already exists`, details: "{name: d, group: apps, kind: daemonsets}",
	}
	wantFailure(t, post("", "d"), exists)
	wantFailure(t, post("?dryRun=All", "d"), exists)
	wantFailure(t, post("", "e", meta("resourceVersion: '5'")),
		failure{code: http.StatusInternalServerError, message: "resourceVersion should not be set on objects to be created"})
	wantDaemonSet(t, post("", "f", meta("resourceVersion: abc")), http.StatusCreated, ns, meta("name: f"))
	wantDaemonSet(t, post("", "g", meta("{uid: x, creationTimestamp: '2001-01-01T00:00:00Z', deletionTimestamp: '2001-01-01T00:00:00Z'}")),
		http.StatusCreated, ns, meta("name: g"))
	wantFailure(t, send(t, patch(applyPatch, daemonSetPath(ns, "d")+"?fieldManager=m", daemonSet(t, "d", meta("resourceVersion: '1'")))), modified("d"))
}

func TestDaemonSetDryRun(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d")
	created := createDaemonSet(t, ns, "d")

	post := send(t, call{method: http.MethodPost, path: daemonSetsPath(ns) + "?dryRun=All", body: daemonSet(t, "e")})
	wantDaemonSet(t, post, http.StatusCreated, ns, meta("{name: e, resourceVersion: null}"))
	wantFailure(t, send(t, get(daemonSetPath(ns, "e"))), notFound("e"))
	waiting := []change{spec("minReadySeconds: 7"), meta("generation: 2")}
	put := send(t, call{method: http.MethodPut, path: path + "?dryRun=All", body: daemonSet(t, "d", spec("minReadySeconds: 7"))})
	wantDaemonSet(t, put, http.StatusOK, ns, waiting...)
	wantDaemonSet(t, send(t, patch(mergePatch, path+"?dryRun=All", `{"spec":{"minReadySeconds":7}}`)), http.StatusOK, ns, waiting...)
	apply := send(t, patch(applyPatch, path+"?dryRun=All&fieldManager=m", "{apiVersion: apps/v1, kind: DaemonSet, spec: {minReadySeconds: 7}}"))
	wantDaemonSet(t, apply, http.StatusOK, ns, waiting...)
	applyNew := send(t, patch(applyPatch, daemonSetPath(ns, "f")+"?dryRun=All&fieldManager=m", daemonSet(t, "f")))
	wantDaemonSet(t, applyNew, http.StatusCreated, ns, meta("{name: f, resourceVersion: null}"))
	deleted := send(t, call{method: http.MethodDelete, path: path + "?dryRun=All"})
	wantFields(t, deleted, http.StatusOK, map[string]string{"status": "Success", "details.name": "d"})
	unchanged(t, created, mustSend(t, get(path)))

	for kind, c := range map[string]call{
		"CreateOptions": {method: http.MethodPost, path: daemonSetsPath(ns) + "?dryRun=Some", body: daemonSet(t, "e")},
		"UpdateOptions": {method: http.MethodPut, path: path + "?dryRun=Some", body: daemonSet(t, "d")},
		"PatchOptions":  patch(mergePatch, path+"?dryRun=Some", "{}"),
		"DeleteOptions": {method: http.MethodDelete, path: path + "?dryRun=Some"},
	} {
		wantFailure(t, send(t, c), invalid(t, kind+".meta.k8s.io", "", `dryRun: Unsupported value: ["Some"]: supported values: "All"`))
	}
}

func TestDaemonSetGenerateName(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	for base, kept := range map[string]string{"gn-": "gn-", strings.Repeat("g", 100): strings.Repeat("g", 58)} {
		got := send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), body: daemonSet(t, "x", meta("{name: null, generateName: "+base+"}"))})
		name := got.text("metadata.name")
		if !generatedName(kept).MatchString(name) {
			t.Errorf("the name made of %s is %q", base, name)
		}
		wantDaemonSet(t, got, http.StatusCreated, ns, meta("{name: "+name+", generateName: "+base+"}"))
	}
	got := send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), body: daemonSet(t, "x", meta("generateName: gn-"))})
	wantDaemonSet(t, got, http.StatusCreated, ns, meta("{name: x, generateName: gn-}"))
}

// TestDaemonSetSizes is about the limits of a request (3 MiB), of one write to etcd (1.5 MiB) and of annotations.
func TestDaemonSetSizes(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	created := createDaemonSet(t, ns, "d")
	value := func(size int) change {
		return container("env: [{name: E, value: " + strings.Repeat("x", size) + "}]")
	}
	post := func(name string, changes ...change) answer {
		t.Helper()
		return send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), body: daemonSet(t, name, changes...)})
	}
	tooLarge := failure{
		code: http.StatusRequestEntityTooLarge, reason: "RequestEntityTooLarge", message: "Request entity too large: limit is 3145728",
	}
	wantCode(t, post("large", value(1_400_000)), http.StatusCreated)
	wantFailure(t, post("larger", value(1_600_000)), failure{code: http.StatusInternalServerError, message: "etcdserver: request is too large"})
	wantFailure(t, post("largest", value(3_200_000)), tooLarge)
	wantFailure(t, postChunked(t, daemonSetsPath(ns), daemonSet(t, "largest", value(3_200_000))), tooLarge)
	wantCode(t, postChunked(t, daemonSetsPath(ns), daemonSet(t, "chunked", value(100_000))), http.StatusCreated)
	wantFailure(t, send(t, patch(mergePatch, daemonSetPath(ns, "d"), `{"metadata":{"annotations":{"a":"`+strings.Repeat("x", 3_200_000)+`"}}}`)), tooLarge)
	unchanged(t, created, mustSend(t, get(daemonSetPath(ns, "d"))))

	// Key and value count: "a" and the rest.
	annotation := func(size int) change { return meta("annotations: {a: " + strings.Repeat("x", size-len("a")) + "}") }
	wantCode(t, post("annotated", annotation(262_144)), http.StatusCreated)
	wantFailure(t, post("over-annotated", annotation(262_145)),
		invalid(t, "DaemonSet.apps", "over-annotated", "metadata.annotations: Too long: may not be more than 262144 bytes"))
}

// postChunked sends a body whose length is told by no header.
func postChunked(t *testing.T, path string, body any) answer {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(shared.config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, shared.config.Host+path, io.NopCloser(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", jsonBody)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	out := answer{code: response.StatusCode, header: response.Header}
	if out.raw, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.raw, &out.object); err != nil {
		t.Fatalf("the answer is no JSON: %v: %s", err, out.raw)
	}
	return out
}

// TestDaemonSetFieldValidation sends fields that are unknown, twice or in the wrong case.
func TestDaemonSetFieldValidation(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	const (
		inJSON = `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"d","Name":"a"},"spec":{"minReadySeconds":1,"minReadySeconds":2,
			"minreadyseconds":3,"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},
			"spec":{"containers":[{"name":"c","image":"img:1","bogus":1}]}}}}`
		inYAML = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d}
spec:
  minReadySeconds: 1
  minReadySeconds: 2
  selector: {matchLabels: {app: x}}
  bogus: 1
  template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: 'img:1'}]}}
`
	)
	problems := map[string][]string{
		inJSON: {
			`unknown field "metadata.Name"`, `duplicate field "spec.minReadySeconds"`, `unknown field "spec.minreadyseconds"`,
			`unknown field "spec.template.spec.containers[0].bogus"`,
		},
		inYAML: {`line 6: key "minReadySeconds" already set in map`, `unknown field "spec.bogus"`},
	}
	strict := map[string]string{
		inJSON: strings.Join(problems[inJSON], ", "),
		inYAML: "yaml: unmarshal errors:\n  " + strings.Join(problems[inYAML], ", "),
	}
	for name, body := range map[string]string{jsonBody: inJSON, yamlBody: inYAML} {
		post := func(t *testing.T, mode string) answer {
			t.Helper()
			return send(t, call{method: http.MethodPost, path: daemonSetsPath(ns) + "?dryRun=All&fieldValidation=" + mode, contentType: name, body: body})
		}
		for mode, warned := range map[string]bool{"": true, "Warn": true, "Ignore": false} {
			t.Run(name+" "+orElse(mode, "no mode"), func(t *testing.T) {
				t.Parallel()
				got := post(t, mode)
				wantDaemonSet(t, got, http.StatusCreated, ns, spec("minReadySeconds: 2"), meta("resourceVersion: null"))
				if warned {
					wantWarnings(t, got, problems[body]...)
				} else {
					wantWarnings(t, got)
				}
			})
		}
		t.Run(name+" Strict", func(t *testing.T) {
			t.Parallel()
			wantFailure(t, post(t, "Strict"), failure{
				code: http.StatusBadRequest, reason: "BadRequest",
				message: `DaemonSet in version "v1" cannot be handled as a DaemonSet: strict decoding error: ` + strict[body],
			})
		})
		t.Run(name+" a mode that is none", func(t *testing.T) {
			t.Parallel()
			wantFailure(t, post(t, "strict"), invalid(t, "CreateOptions.meta.k8s.io", "",
				`fieldValidation: Unsupported value: "strict": supported values: "", "Ignore", "Strict", "Warn"`))
		})
	}
}

// TestDaemonSetBadUTF8 stores replacement characters, so that what is stored can be read in every form.
func TestDaemonSetBadUTF8(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	post := func(query, name, annotation string) answer {
		t.Helper()
		data, err := json.Marshal(daemonSet(t, name, meta("annotations: {a: HERE}")))
		if err != nil {
			t.Fatal(err)
		}
		return send(t, call{method: http.MethodPost, path: daemonSetsPath(ns) + query, body: strings.Replace(string(data), "HERE", annotation, 1)})
	}
	tests := map[string]struct{ query, sent, want string }{
		"a": {"", "\xff\xfe", "\ufffd\ufffd"},
		"b": {"?fieldValidation=Strict", "\xff\xfe", "\ufffd\ufffd"},
		"c": {"", `x\u0000y\ud800`, "x\x00y\ufffd"},
	}
	for name, test := range tests {
		got := post(test.query, name, test.sent)
		wantCode(t, got, http.StatusCreated)
		if diff := cmp.Diff(test.want, got.text("metadata.annotations.a")); diff != "" {
			t.Errorf("the annotation of %s differs (-want +got):\n%s", name, diff)
		}
	}
	bom := send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), body: "\xef\xbb\xbf{}"})
	wantFailure(t, bom, failure{
		code: http.StatusBadRequest, reason: "BadRequest",
		message: "the object provided is unrecognized (must be of type DaemonSet): couldn't get version/kind; json parse error: invalid character 'ï' looking for beginning of value (efbbbf7b7d)",
	})
	apply := send(t, patch(applyPatch, daemonSetPath(ns, "e")+"?fieldManager=m", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {annotations: {a: \"\xff\"}}\n"))
	wantFailure(t, apply, failure{code: http.StatusBadRequest, reason: "BadRequest", message: "error encoding patch: yaml: invalid leading UTF-8 octet"})

	if diff := cmp.Diff([]string{"a", "b", "c"}, names(mustSend(t, get(daemonSetsPath(ns)), http.StatusOK))); diff != "" {
		t.Errorf("the list differs (-want +got):\n%s", diff)
	}
	list := mustSend(t, call{method: http.MethodGet, path: daemonSetsPath(ns), accept: protobufBody}, http.StatusOK)
	if !bytes.HasPrefix(list.raw, protobufMagic) {
		t.Errorf("the list in protobuf begins with %q", list.raw[:min(4, len(list.raw))])
	}
}
