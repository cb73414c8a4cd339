// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// TestDefinitionGenerateName shows names that the server makes up: at most 58 characters of the base, and five.
func TestDefinitionGenerateName(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		create := func(name, generateName string) answer {
			object := s.object(name)
			object["metadata"].(map[string]any)["generateName"] = generateName
			return send(t, call{method: http.MethodPost, path: s.root, body: object})
		}
		for base, length := range map[string]int{"a-": 7, "a": 6, strings.Repeat("x", 57): 62, strings.Repeat("x", 58): 63, strings.Repeat("x", 59): 63, strings.Repeat("x", 100): 63} {
			a := create("", base)
			name := a.text("metadata.name")
			if a.code != http.StatusCreated || len(name) != length || !strings.HasPrefix(name, base[:length-5]) || a.text("metadata.generateName") != base {
				t.Errorf("%s: got %d %s", base, a.code, a.raw)
			}
			if tail := name[max(0, len(name)-5):]; strings.Trim(tail, "bcdfghjklmnpqrstvwxz2456789") != "" {
				t.Errorf("%s: the name ends in %s", base, tail)
			}
		}
		name := unique("o")
		if a := create(name, "a-"); a.text("metadata.name") != name || a.text("metadata.generateName") != "a-" {
			t.Errorf("a name of its own: %s", a.raw)
		}
		want := refusal{409, "AlreadyExists", s.qualified() + ` "` + name + `" already exists`}
		if diff := cmp.Diff(want, create(name, "").refusal()); diff != "" {
			t.Errorf("a name that is taken (-want +got):\n%s", diff)
		}
		want = refusal{422, "Invalid", s.kind + "." + s.group + ` "" is invalid: metadata.name: Required value: name or generateName is required`}
		if diff := cmp.Diff(want, create("", "").refusal()); diff != "" {
			t.Errorf("no name at all (-want +got):\n%s", diff)
		}
		if s.kind == "DaemonSet" {
			for _, base := range []string{strings.Repeat("x", 300), "Bad_"} {
				if a := create("", base); a.code != 422 || !cmp.Equal(a.causes(), []string{"metadata.generateName", "metadata.name"}) && !cmp.Equal(a.causes(), []string{"metadata.generateName"}) {
					t.Errorf("%.10s: got %d %s", base, a.code, a.raw)
				}
			}
		} else if a := create("", "Node CSR_"); a.code != http.StatusCreated || len(a.text("metadata.name")) != 14 {
			t.Errorf("a name that is no DNS name: %d %s", a.code, a.raw)
		}
	})
}

// TestDefinitionCreateSystemFields shows which fields of a new object are the server's.
func TestDefinitionCreateSystemFields(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		object := s.object(unique("o"))
		maps.Copy(object["metadata"].(map[string]any), map[string]any{
			"uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z", "deletionTimestamp": "2001-01-01T00:00:00Z",
			"deletionGracePeriodSeconds": 7, "generation": 55, "selfLink": "/x",
		})
		a := mustSend(t, call{method: http.MethodPost, path: s.root, body: object}, http.StatusCreated)
		if uid := a.text("metadata.uid"); uid == "mine" || len(uid) != 36 {
			t.Errorf("uid = %s", uid)
		}
		if created, err := time.Parse(time.RFC3339, a.text("metadata.creationTimestamp")); err != nil || time.Since(created).Abs() > time.Hour {
			t.Errorf("creationTimestamp = %s", a.text("metadata.creationTimestamp"))
		}
		for _, field := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} {
			if got := a.field("metadata." + field); got != nil {
				t.Errorf("%s = %v", field, got)
			}
		}
		want := map[bool]any{true: 1.0, false: 55.0}[s.generational()]
		if got := a.field("metadata.generation"); got != want {
			t.Errorf("generation = %v, want %v", got, want)
		}
		object["metadata"].(map[string]any)["resourceVersion"] = "1"
		refused := send(t, call{method: http.MethodPost, path: s.root, body: object})
		if diff := cmp.Diff(refusal{500, "", "resourceVersion should not be set on objects to be created"}, refused.refusal()); diff != "" {
			t.Errorf("a version (-want +got):\n%s", diff)
		}
	})
}

// TestDefinitionReplace shows what a replacement is compared with before it is looked at.
func TestDefinitionReplace(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		for _, subresource := range append([]string{""}, s.subresources...) {
			before := s.new(t)
			name := before.text("metadata.name")
			uid := before.text("metadata.uid")
			title := s.qualified() + ` "` + name + `"`
			otherNamespace := patched
			if s.namespace != "" {
				otherNamespace = badPatch("the namespace of the provided object does not match the namespace sent on the request")
			}
			modified := refusal{409, "Conflict", `Operation cannot be fulfilled on ` + title + `: the object has been modified; please apply your changes to the latest version and try again`}
			cases := map[string]struct {
				change map[string]any
				want   refusal
			}{
				"nothing changed":          {nil, patched},
				"no version":               {map[string]any{"resourceVersion": nil}, patched},
				"an empty version":         {map[string]any{"resourceVersion": ""}, patched},
				"version 0":                {map[string]any{"resourceVersion": "0"}, patched},
				"an old version":           {map[string]any{"resourceVersion": "1"}, modified},
				"a version of the future":  {map[string]any{"resourceVersion": tooLarge}, modified},
				"a version that is a word": {map[string]any{"resourceVersion": "abc"}, refusal{500, "", `strconv.ParseUint: parsing "abc": invalid syntax`}},
				"another uid": {map[string]any{"uid": "nope"}, refusal{409, "Conflict", `Operation cannot be fulfilled on ` + title + `: StorageError: invalid object, Code: 4, Key: /` +
					path.Join(s.resource, s.namespace, name) + `, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: nope, UID in object meta: ` + uid}},
				"no uid and no time of creation": {map[string]any{"uid": nil, "creationTimestamp": nil}, patched},
				"another time of creation":       {map[string]any{"creationTimestamp": "2001-01-01T00:00:00Z"}, patched},
				"a time of deletion":             {map[string]any{"deletionTimestamp": "2001-01-01T00:00:00Z"}, refusal{422, "Invalid", s.kind + "." + s.group + ` "` + name + `" is invalid: metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": field is immutable`}},
				"another name":                   {map[string]any{"name": "zz"}, badPatch(`the name of the object (zz) does not match the name on the URL (` + name + `)`)},
				"no name":                        {map[string]any{"name": nil}, badPatch(`the name of the object (` + name + ` based on URL) was undeterminable: name must be provided`)},
				"another namespace":              {map[string]any{"namespace": "zz"}, otherNamespace},
				"no namespace":                   {map[string]any{"namespace": nil}, patched},
			}
			for sentence, tc := range cases {
				object := written(t, before)
				for key, value := range tc.change {
					if value == nil {
						delete(object["metadata"].(map[string]any), key)
					} else {
						object["metadata"].(map[string]any)[key] = value
					}
				}
				a := send(t, call{method: http.MethodPut, path: withQuery(strings.TrimSuffix(s.path(name, subresource), "/"), "dryRun=All"), body: object})
				got := refusal{Code: a.code}
				if a.code != http.StatusOK {
					got = a.refusal()
				} else if a.text("metadata.uid") != uid || a.field("metadata.deletionTimestamp") != nil {
					t.Errorf("%s at %q: got %s", sentence, subresource, a.raw)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s at %q (-want +got):\n%s", sentence, subresource, diff)
				}
			}
			missing := s.object("missing")
			got := send(t, call{method: http.MethodPut, path: strings.TrimSuffix(s.path("missing", subresource), "/"), body: missing}).refusal()
			if diff := cmp.Diff(refusal{404, "NotFound", s.qualified() + ` "missing" not found`}, got); diff != "" {
				t.Errorf("nothing to replace at %q (-want +got):\n%s", subresource, diff)
			}
		}
	})
}

// written is a copy of an object that can be changed.
func written(t *testing.T, a answer) map[string]any {
	t.Helper()
	object, ok := labelWritten(subject{}, a).(map[string]any)
	if !ok {
		t.Fatalf("no object: %s", a.raw)
	}
	return object
}

// TestDefinitionMethods shows the methods that a path does not have.
func TestDefinitionMethods(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.new(t).text("metadata.name")
		refused := refusal{405, "MethodNotAllowed", "the server does not allow this method on the requested resource"}
		cases := map[string][]string{
			s.root:       {http.MethodPut, http.MethodPatch, http.MethodOptions},
			s.path(name): {http.MethodPost, http.MethodOptions},
			watchPath(s): {http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions},
		}
		for _, subresource := range s.subresources {
			cases[s.path(name, subresource)] = []string{http.MethodPost, http.MethodDelete, http.MethodOptions}
		}
		for url, methods := range cases {
			for _, method := range methods {
				a := send(t, call{method: method, path: url, body: s.object(name), contentType: map[bool]string{true: mergePatch}[method == http.MethodPatch]})
				if diff := cmp.Diff(refused, a.refusal()); diff != "" {
					t.Errorf("%s %s (-want +got):\n%s", method, url, diff)
				}
			}
			head := send(t, call{method: http.MethodHead, path: url})
			if head.code != http.StatusMethodNotAllowed {
				t.Errorf("HEAD %s: got %d", url, head.code)
			}
		}
		for _, url := range []string{s.path(name, "scale"), s.path(name, "nope"), s.path(name, "status", "more")} {
			a := send(t, call{method: http.MethodGet, path: url})
			if diff := cmp.Diff(refusal{404, "NotFound", "the server could not find the requested resource"}, a.refusal()); diff != "" {
				t.Errorf("GET %s (-want +got):\n%s", url, diff)
			}
		}
		if s.namespace != "" {
			// A list of all namespaces is there to read only.
			for _, method := range []string{http.MethodPost, http.MethodDelete, http.MethodPut} {
				a := send(t, call{method: method, path: "/apis/apps/v1/daemonsets", body: s.object(name)})
				if diff := cmp.Diff(refused, a.refusal()); diff != "" {
					t.Errorf("%s of all namespaces (-want +got):\n%s", method, diff)
				}
			}
		}
	})
}

// large is a DaemonSet with n more bytes of arguments.
func large(s subject, name string, n int) map[string]any {
	object := s.object(name)
	object["spec"] = map[string]any{
		"selector": s.spec["selector"],
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"app": "x"}},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "img:1", "args": []string{strings.Repeat("x", n)}}}},
		},
	}
	return object
}

// TestDefinitionSizes shows the limits of size: etcd's of 1.5 MiB for what is stored, the server's of 3 MiB for what
// is sent, and that of all annotations.
func TestDefinitionSizes(t *testing.T) {
	t.Parallel()
	s := daemonSetSubject(t)
	name := s.new(t).text("metadata.name")
	tooLarge := refusal{500, "", "etcdserver: request is too large"}
	tooLong := refusal{413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728"}
	patch := func(n int) string {
		return `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"img:1","args":["` + strings.Repeat("x", n) + `"]}]}}}}`
	}
	// The annotation that the server adds is not counted.
	annotations := func(n int) map[string]any {
		object := s.object(unique("o"))
		object["metadata"].(map[string]any)["annotations"] = map[string]any{"a": strings.Repeat("x", n-len("a"))}
		return object
	}
	cases := map[string]struct {
		call call
		want refusal
	}{
		"1.4 MB":                 {call{method: http.MethodPost, path: s.root, body: large(s, unique("o"), 1400000)}, refusal{Code: 201}},
		"1.6 MB":                 {call{method: http.MethodPost, path: s.root, body: large(s, unique("o"), 1600000)}, tooLarge},
		"3.2 MB":                 {call{method: http.MethodPost, path: s.root, body: large(s, unique("o"), 3200000)}, tooLong},
		"replace by 1.6 MB":      {call{method: http.MethodPut, path: s.path(name), body: large(s, name, 1600000)}, tooLarge},
		"replace by 3.2 MB":      {call{method: http.MethodPut, path: s.path(name), body: large(s, name, 3200000)}, tooLong},
		"status of 3.2 MB":       {call{method: http.MethodPut, path: s.path(name, "status"), body: large(s, name, 3200000)}, tooLong},
		"merge 1.6 MB":           {call{method: http.MethodPatch, contentType: mergePatch, path: s.path(name), body: patch(1600000)}, tooLarge},
		"merge 3.2 MB":           {call{method: http.MethodPatch, contentType: mergePatch, path: s.path(name), body: patch(3200000)}, tooLong},
		"delete 3.2 MB":          {call{method: http.MethodDelete, path: s.path(name), body: `{"dryRun":["` + strings.Repeat("x", 3200000) + `"]}`}, tooLong},
		"exactly 3 MiB":          {call{method: http.MethodPost, path: s.root, body: "{}" + strings.Repeat(" ", 3<<20-2)}, refusal{Code: 422, Reason: "Invalid"}},
		"a byte more":            {call{method: http.MethodPost, path: s.root, body: "{}" + strings.Repeat(" ", 3<<20-1)}, tooLong},
		"annotations of 256 KiB": {call{method: http.MethodPost, path: s.root, body: annotations(256 << 10)}, refusal{Code: 201}},
		"a byte more of them": {call{method: http.MethodPost, path: s.root, body: annotations(256<<10 + 1)},
			refusal{Code: 422, Reason: "Invalid", Message: `metadata.annotations: Too long: may not be more than 262144 bytes`}},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			a := send(t, tc.call)
			got := a.refusal()
			switch {
			case tc.want.Message == "":
				got.Message = ""
			case tc.want.Code == 422:
				_, got.Message, _ = strings.Cut(got.Message, " is invalid: ")
			}
			if a.code < 300 {
				got = refusal{Code: a.code}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("of unknown length", func(t *testing.T) {
		t.Parallel()
		if got := sendUnmeasured(t, s.root, strings.Repeat(" ", 3200000)); got != http.StatusRequestEntityTooLarge {
			t.Errorf("got %d", got)
		}
		if got := sendUnmeasured(t, s.root, asYAML(t, s.object(unique("o")))); got != http.StatusCreated {
			t.Errorf("a small one: got %d", got)
		}
	})
}

// sendUnmeasured posts a body in YAML without saying how long it is, and returns the status code.
func sendUnmeasured(t *testing.T, path, body string) int {
	t.Helper()
	client, err := rest.HTTPClientFor(shared.config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, shared.config.Host+path, io.MultiReader(strings.NewReader(body)))
	if err != nil {
		t.Fatal(err)
	}
	if request.ContentLength > 0 {
		t.Fatal("the length is known")
	}
	request.Header.Set("Content-Type", yamlBody)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// TestDefinitionBadText shows text that is no UTF-8: what can be mended is, and nothing that is stored can't be listed.
func TestDefinitionBadText(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		body := func(name, annotation string) string {
			object := s.object(name)
			object["metadata"].(map[string]any)["annotations"] = map[string]any{"a": "TEXT"}
			data, err := jsonOf(object)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Replace(data, "TEXT", annotation, 1)
		}
		for sent, stored := range map[string]string{"x\xff\xfey": "x\ufffd\ufffdy", `x\u0000y`: "x\x00y", `x\ud800y`: "x\ufffdy", `\ud83d\ude00`: "😀", "\xe2\x82": "\ufffd\ufffd"} {
			for _, mode := range []string{"", "fieldValidation=Strict"} {
				name := unique("o")
				a := mustSend(t, call{method: http.MethodPost, path: withQuery(s.root, mode), body: body(name, sent)}, http.StatusCreated)
				for what, got := range map[string]answer{"answered": a, "stored": s.get(t, name)} {
					if got := got.text("metadata.annotations.a"); got != stored {
						t.Errorf("%q %s: %s %q, want %q", sent, mode, what, got, stored)
					}
				}
			}
		}
		for _, accept := range []string{jsonBody, protobufType, yamlBody} {
			mustSend(t, call{method: http.MethodGet, path: s.mine(), accept: accept}, http.StatusOK)
		}
	})
}

// TestDefinitionLabelsAndAnnotations shows what the metadata of every object is checked for.
func TestDefinitionLabelsAndAnnotations(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		for what, tc := range map[string]struct {
			metadata map[string]any
			field    string
		}{
			"a label's name":          {map[string]any{"labels": map[string]any{"-a": "b"}}, "metadata.labels"},
			"a label's value":         {map[string]any{"labels": map[string]any{"a": "b c"}}, "metadata.labels"},
			"a label's length":        {map[string]any{"labels": map[string]any{"a": strings.Repeat("b", 64)}}, "metadata.labels"},
			"an annotation's name":    {map[string]any{"annotations": map[string]any{"a/b/c": "d"}}, "metadata.annotations"},
			"a finalizer":             {map[string]any{"finalizers": []any{"x y"}}, "metadata.finalizers"},
			"an owner without a name": {map[string]any{"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Node", "uid": "u"}}}, "metadata.ownerReferences[0].name"},
		} {
			object := s.object(unique("o"))
			maps.Copy(object["metadata"].(map[string]any), tc.metadata)
			a := send(t, call{method: http.MethodPost, path: s.root, body: object})
			if causes := a.causes(); a.code != 422 || len(causes) == 0 || causes[0] != tc.field {
				t.Errorf("%s: got %d %s", what, a.code, a.raw)
			}
		}
		owner := map[string]any{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u-1"}
		object := s.object(unique("o"))
		object["metadata"].(map[string]any)["ownerReferences"] = []any{owner, owner}
		a := mustSend(t, call{method: http.MethodPost, path: s.root, body: object}, http.StatusCreated)
		want := []string{`.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; ` +
			`please fix your requests; duplicate UID(s) observed: u-1`}
		if diff := cmp.Diff(want, a.warnings()); diff != "" {
			t.Errorf("an owner twice (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]any{owner}, a.field("metadata.ownerReferences")); diff != "" {
			t.Errorf("an owner twice (-want +got):\n%s", diff)
		}
	})
}

// TestDefinitionCollisions shows that two writers of one version can't both win.
func TestDefinitionCollisions(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		before := s.new(t)
		name := before.text("metadata.name")
		const writers = 8
		// together sends one request per writer at the same time and returns how often each code came.
		together := func(request func(i int) call) map[int]int {
			var calls []call
			for i := range writers {
				calls = append(calls, request(i))
			}
			count := map[int]int{}
			for _, a := range sendTogether(t, calls...) {
				count[a.code]++
			}
			return count
		}
		replaced := together(func(i int) call {
			object := written(t, before)
			object["metadata"].(map[string]any)["labels"].(map[string]any)["writer"] = fmt.Sprint(i)
			return call{method: http.MethodPut, path: s.path(name), body: object}
		})
		if diff := cmp.Diff(map[int]int{200: 1, 409: writers - 1}, replaced); diff != "" {
			t.Errorf("replacements (-want +got):\n%s", diff)
		}
		// Patches that name no version are tried again by the server, so that none is lost.
		patched := together(func(i int) call {
			return call{method: http.MethodPatch, contentType: mergePatch, path: s.path(name), body: fmt.Sprintf(`{"metadata":{"labels":{"p%d":"yes"}}}`, i)}
		})
		if diff := cmp.Diff(map[int]int{200: writers}, patched); diff != "" {
			t.Errorf("patches (-want +got):\n%s", diff)
		}
		labels, _ := s.get(t, name).field("metadata.labels").(map[string]any)
		for i := range writers {
			if labels[fmt.Sprintf("p%d", i)] != "yes" {
				t.Errorf("patch %d was lost: %v", i, labels)
			}
		}
	})
}
