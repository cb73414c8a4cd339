// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

const protobufType = "application/vnd.kubernetes.protobuf"

// as is the Accept header that asks for another representation.
func as(kind, version string) string {
	return "application/json;as=" + kind + ";g=meta.k8s.io;v=" + version
}

// decodeProtobuf is an object in protobuf as it looks in JSON.
func decodeProtobuf(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
	if err != nil {
		t.Fatalf("could not decode: %v", err)
	}
	return inJSON(t, object)
}

func inJSON(t *testing.T, object runtime.Object) map[string]any {
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

// inProtobuf is an object of JSON in protobuf.
func inProtobuf(t *testing.T, object map[string]any) []byte {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	typed, gvk, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), protobufType)
	if !ok {
		t.Fatal("client-go knows no protobuf")
	}
	out, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, gvk.GroupVersion()), typed)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDefinitionFormatsOut shows every operation's answer in YAML and protobuf, which hold the same as in JSON.
func TestDefinitionFormatsOut(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, allOperations(s.reads(), s.writes(), s.deletes()), func(t *testing.T, o operation) {
			c, _, _ := o.prepare(t, s)
			if o.method != http.MethodGet {
				c.path = withQuery(c.path, "dryRun=All")
			}
			plain := mustSend(t, c, o.code())
			c.accept = yamlBody
			got := mustSend(t, c, o.code())
			if got.header.Get("Content-Type") != yamlBody {
				t.Fatalf("got Content-Type %s", got.header.Get("Content-Type"))
			}
			if diff := cmp.Diff(steady(plain.object), steady(got.decoded(t).object)); diff != "" {
				t.Errorf("YAML (-JSON +YAML):\n%s", diff)
			}
			c.accept = protobufType
			got = mustSend(t, c, o.code())
			if got.header.Get("Content-Type") != protobufType || !bytes.HasPrefix(got.raw, []byte("k8s\x00")) {
				t.Fatalf("got Content-Type %s: %.20q", got.header.Get("Content-Type"), got.raw)
			}
			if diff := cmp.Diff(steady(plain.object), steady(decodeProtobuf(t, got.raw))); diff != "" {
				t.Errorf("protobuf (-JSON +protobuf):\n%s", diff)
			}
		})
	})
}

// steady takes out what differs between two dry runs of one write, and between a list in JSON and one that client-go
// has decoded.
func steady(object map[string]any) map[string]any {
	out := maps.Clone(object)
	if items, ok := out["items"].([]any); ok {
		// kube-apiserver leaves kind and version of items out in every format.
		out["items"] = len(items)
		out["metadata"] = nil
		return out
	}
	metadata, ok := out["metadata"].(map[string]any)
	if !ok {
		return out
	}
	metadata = maps.Clone(metadata)
	for _, key := range []string{"uid", "creationTimestamp", "managedFields", "resourceVersion"} {
		delete(metadata, key)
	}
	out["metadata"] = metadata
	return out
}

// TestDefinitionFormatsIn shows objects in every format with every way to write its name.
func TestDefinitionFormatsIn(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		for contentType, encode := range map[string]func(map[string]any) any{
			"application/json":                  func(o map[string]any) any { return o },
			"application/json; charset=utf-8":   func(o map[string]any) any { return o },
			"application/json;charset=us-ascii": func(o map[string]any) any { return o },
			"application/json;frob=1":           func(o map[string]any) any { return o },
			"Application/JSON":                  func(o map[string]any) any { return o },
			"application/yaml":                  func(o map[string]any) any { return asYAML(t, o) },
			"application/yaml; charset=utf-8":   func(o map[string]any) any { return asYAML(t, o) },
			"application/yaml;a=b":              func(o map[string]any) any { return o },
			protobufType:                        func(o map[string]any) any { return inProtobuf(t, o) },
			protobufType + ";stream=watch":      func(o map[string]any) any { return inProtobuf(t, o) },
			"":                                  func(o map[string]any) any { return o },
		} {
			t.Run(orElse(contentType, "none"), func(t *testing.T) {
				t.Parallel()
				header := http.Header{"Content-Type": {contentType}}
				if contentType == "" {
					header = http.Header{"Content-Type": nil}
				}
				name := unique("o")
				created := mustSend(t, call{method: http.MethodPost, path: s.root, body: encode(s.object(name)), header: header}, http.StatusCreated)
				if created.text("metadata.name") != name {
					t.Errorf("created %s", created.raw)
				}
				for _, subresource := range append([]string{""}, s.subresources...) {
					object := s.get(t, name).object
					object["metadata"].(map[string]any)["labels"].(map[string]any)["at"] = subresource
					path := strings.TrimSuffix(s.path(name, subresource), "/")
					replaced := mustSend(t, call{method: http.MethodPut, path: path, body: encode(object), header: header}, http.StatusOK)
					if got := replaced.text("metadata.labels.at"); got != subresource {
						t.Errorf("replaced at %q: %s", subresource, replaced.raw)
					}
				}
				options := any(map[string]any{"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": []string{"All"}})
				switch {
				case strings.HasPrefix(contentType, protobufType):
					options = protobufDeleteOptions(t)
				case strings.HasPrefix(contentType, "application/yaml"):
					options = "dryRun: [All]\n"
				}
				mustSend(t, call{method: http.MethodDelete, path: s.path(name), body: options, header: header}, http.StatusOK)
				if !s.exists(t, name) {
					t.Error("the dry run deleted the object")
				}
			})
		}
	})
}

func asYAML(t *testing.T, object map[string]any) string {
	t.Helper()
	data, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// protobufDeleteOptions are DeleteOptions for a dry run.
func protobufDeleteOptions(t *testing.T) []byte {
	t.Helper()
	options := metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
	raw, err := options.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, Raw: raw}
	data, err := unknown.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("k8s\x00"), data...)
}

// TestDefinitionProtobufRoundTrip shows that what was read in protobuf can be put back, and is then no change.
func TestDefinitionProtobufRoundTrip(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		created := s.new(t)
		name := created.text("metadata.name")
		for _, subresource := range append([]string{""}, s.subresources...) {
			path := strings.TrimSuffix(s.path(name, subresource), "/")
			read := mustSend(t, call{method: http.MethodGet, path: path, accept: protobufType}, http.StatusOK)
			envelope := unknownOf(t, read.raw)
			if envelope.APIVersion != s.apiVersion || envelope.Kind != s.kind || envelope.ContentType != "" || envelope.ContentEncoding != "" {
				t.Errorf("envelope %+v", envelope.TypeMeta)
			}
			again := mustSend(t, call{method: http.MethodPut, path: path, contentType: protobufType, body: read.raw}, http.StatusOK)
			if diff := cmp.Diff(created.object, again.object); diff != "" {
				t.Errorf("%q (-before +after):\n%s", subresource, diff)
			}
		}
		list := mustSend(t, call{method: http.MethodGet, path: s.mine(), accept: protobufType}, http.StatusOK)
		if got := unknownOf(t, list.raw); got.Kind != s.kind+"List" || got.APIVersion != s.apiVersion {
			t.Errorf("a list in an envelope of %+v", got.TypeMeta)
		}
		missing := send(t, call{method: http.MethodGet, path: s.path("missing"), accept: protobufType})
		if missing.code != http.StatusNotFound || missing.header.Get("Content-Type") != protobufType {
			t.Fatalf("got %d %s", missing.code, missing.header.Get("Content-Type"))
		}
		if got := (answer{code: 404, object: decodeProtobuf(t, missing.raw)}).refusal(); got != (refusal{404, "NotFound", s.qualified() + ` "missing" not found`}) {
			t.Errorf("got %+v", got)
		}
	})
}

const (
	unknownFormat  = "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf"
	unknownPatch   = "415: Unsupported Media Type"
	acceptedTypes  = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"
	acceptedRoutes = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf"
)

// TestDefinitionUnsupportedMediaType shows the formats that no body may have.
func TestDefinitionUnsupportedMediaType(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, s.writes(), func(t *testing.T, o operation) {
			c, name, before := o.prepare(t, s)
			want := unknownFormat
			types := []string{"text/plain", "application/cbor", "application/", "application/json/x", "a b", "garbage;;=", "*/*", "text/yaml", "application/x-yaml",
				"application/x-www-form-urlencoded", mergePatch, applyPatch}
			if o.method == http.MethodPatch {
				want = unknownPatch
				types = []string{"text/plain", "application/json", "application/yaml", "application/cbor", "application/apply-patch+cbor", "application/apply-patch+json",
					"application/Merge-Patch+json", " application/merge-patch+jsonx", protobufType}
			}
			for _, contentType := range types {
				c.contentType = contentType
				if diff := cmp.Diff(refusal{415, "UnsupportedMediaType", want}, send(t, c).refusal()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", contentType, diff)
				}
			}
			if o.method == http.MethodPatch {
				c.header = http.Header{"Content-Type": nil}
				if diff := cmp.Diff(refusal{415, "UnsupportedMediaType", want}, send(t, c).refusal()); diff != "" {
					t.Errorf("none (-want +got):\n%s", diff)
				}
			}
			if o.creates {
				if s.exists(t, name) {
					t.Error("the object was created")
				}
			} else if diff := cmp.Diff(before.object, s.get(t, name).object); diff != "" {
				t.Errorf("the object changed (-before +after):\n%s", diff)
			}
		})
	})
}

// TestDefinitionPatchMediaTypeParameters shows that a patch type may have parameters.
func TestDefinitionPatchMediaTypeParameters(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		for name, o := range patches() {
			c, _, _ := o.prepare(t, s)
			c.contentType += "; charset=utf-8"
			if got := mustSend(t, c, http.StatusOK).text("metadata.labels.written"); got != "yes" {
				t.Errorf("%s: got %q", name, got)
			}
		}
	})
}

// TestDefinitionNotAcceptable shows the representations that no operation has.
func TestDefinitionNotAcceptable(t *testing.T) {
	t.Parallel()
	const m = ";g=meta.k8s.io;v=v1"
	cases := map[string]string{
		"text/html":                                   acceptedRoutes,
		"application/cbor":                            acceptedRoutes,
		"application/*":                               acceptedRoutes,
		"*/json":                                      acceptedRoutes,
		"text/plain, image/png":                       acceptedRoutes,
		"application/json;as=Frob" + m:                acceptedTypes,
		"application/json;as=Status;g=;v=v1":          acceptedTypes,
		"application/json;as=Table;v=v1":              acceptedTypes,
		"application/json;as=Table;g=meta.k8s.io":     acceptedTypes,
		"application/json;as=Table;g=meta.k8s.io;v=2": acceptedTypes,
		"application/json;as=table" + m:               acceptedTypes,
		protobufType + ";as=Table" + m:                acceptedTypes,
		"application/json;stream=frob":                acceptedTypes,
	}
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, allOperations(s.reads(), s.writes(), s.deletes()), func(t *testing.T, o operation) {
			c, name, before := o.prepare(t, s)
			for accept, message := range cases {
				want := message
				if o.collection && o.method == http.MethodGet && message == acceptedRoutes {
					// A list may be a watch.
					want += ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
				}
				c.accept = accept
				a := send(t, c)
				if diff := cmp.Diff(refusal{406, "NotAcceptable", want}, a.refusal()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", accept, diff)
				}
				if got := a.header.Get("Content-Type"); got != "application/json" {
					t.Errorf("%s: the refusal has Content-Type %q", accept, got)
				}
			}
			if !o.creates {
				if diff := cmp.Diff(before.object, s.get(t, name).object); diff != "" {
					t.Errorf("the object changed (-before +after):\n%s", diff)
				}
			}
		})
	})
}

// TestDefinitionAcceptable shows how one of several representations is chosen.
func TestDefinitionAcceptable(t *testing.T) {
	t.Parallel()
	const m = ";g=meta.k8s.io;v=v1"
	cases := map[string]struct{ contentType, kind string }{
		"*/*":                                            {"application/json", ""},
		"application/json":                               {"application/json", ""},
		"application/json;charset=utf-8":                 {"application/json", ""},
		"application/json;q=0":                           {"application/json", ""},
		"application/json;sv=v1":                         {"application/json", ""},
		"application/json;frob=1":                        {"application/json", ""},
		"text/html, */*;q=0.1":                           {"application/json", ""},
		"text/html, application/yaml":                    {"application/yaml", ""},
		"application/yaml, application/json":             {"application/yaml", ""},
		"application/yaml;q=0.5, application/json;q=0.9": {"application/json", ""},
		"application/json;as=Table;g=meta.k8s.io;v=v9, application/json":                                         {"application/json", ""},
		"application/json;as=Table" + m + ", application/json":                                                   {"application/json", "Table"},
		"application/json;as=Table;g=meta.k8s.io;v=v9, application/json;as=Table" + m:                            {"application/json", "Table"},
		"application/json;as=Frob" + m + ", application/json;as=Table;g=meta.k8s.io;v=v1beta1, application/json": {"application/json", "Table"},
		"application/yaml;as=PartialObjectMetadata" + m:                                                          {"application/yaml", "PartialObjectMetadata"},
		protobufType + ";as=PartialObjectMetadata" + m + ", application/json":                                    {protobufType, "PartialObjectMetadata"},
		protobufType + ";as=Table" + m + ", application/json;as=Table" + m:                                       {"application/json", "Table"},
	}
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.new(t).text("metadata.name")
		for accept, want := range cases {
			a := mustSend(t, call{method: http.MethodGet, path: s.path(name), accept: accept}, http.StatusOK).decoded(t)
			if a.header.Get("Content-Type") == protobufType {
				envelope := unknownOf(t, a.raw)
				a.object = map[string]any{"kind": envelope.Kind}
			}
			if got := a.header.Get("Content-Type"); got != want.contentType || a.text("kind") != orElse(want.kind, s.kind) {
				t.Errorf("%s: got a %s in %s, want %+v", accept, a.text("kind"), got, want)
			}
		}
		// No Accept header at all is one for anything.
		a := mustSend(t, call{method: http.MethodGet, path: s.path(name), header: http.Header{"Accept": nil}}, http.StatusOK)
		if a.text("kind") != s.kind {
			t.Errorf("no header: %s", a.raw)
		}
	})
}

// TestDefinitionPartialObjectMetadata shows objects and lists with nothing but their metadata.
func TestDefinitionPartialObjectMetadata(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		created := s.new(t)
		name := created.text("metadata.name")
		want := func(version string) map[string]any {
			metadata := maps.Clone(created.object["metadata"].(map[string]any))
			// Only the whole object shows what kube-apiserver's conversion to v1 makes of an internal field.
			delete(metadata, "annotations")
			return map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/" + version, "metadata": metadata}
		}
		for _, version := range []string{"v1", "v1beta1"} {
			paths := []string{s.path(name)}
			for _, subresource := range s.subresources {
				paths = append(paths, s.path(name, subresource))
			}
			for _, path := range paths {
				a := mustSend(t, call{method: http.MethodGet, path: path, accept: as("PartialObjectMetadata", version)}, http.StatusOK)
				if diff := cmp.Diff(want(version), a.object); diff != "" {
					t.Errorf("%s of %s (-want +got):\n%s", version, path, diff)
				}
			}
			patched := mustSend(t, call{method: http.MethodPatch, contentType: mergePatch, path: s.path(name), body: `{}`, accept: as("PartialObjectMetadata", version)}, http.StatusOK)
			if diff := cmp.Diff(want(version), patched.object); diff != "" {
				t.Errorf("%s of a patch (-want +got):\n%s", version, diff)
			}
			list := mustSend(t, call{method: http.MethodGet, path: s.mine(), accept: as("PartialObjectMetadataList", version)}, http.StatusOK)
			wantList := map[string]any{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/" + version,
				"metadata": map[string]any{"resourceVersion": list.text("metadata.resourceVersion")}, "items": []any{want(version)}}
			if diff := cmp.Diff(wantList, list.object); diff != "" {
				t.Errorf("%s of a list (-want +got):\n%s", version, diff)
			}
			empty := mustSend(t, call{method: http.MethodGet, path: withQuery(s.root, "fieldSelector=metadata.name%3Dmissing"), accept: as("PartialObjectMetadataList", version)}, http.StatusOK)
			wantList["items"], wantList["metadata"] = nil, map[string]any{"resourceVersion": empty.text("metadata.resourceVersion")}
			if diff := cmp.Diff(wantList, empty.object); diff != "" {
				t.Errorf("%s of an empty list (-want +got):\n%s", version, diff)
			}
		}
		inProtobuf := mustSend(t, call{method: http.MethodGet, path: s.path(name), accept: protobufType + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}, http.StatusOK)
		var partial metav1.PartialObjectMetadata
		if err := partial.Unmarshal(unknownOf(t, inProtobuf.raw).Raw); err != nil || partial.Name != name || string(partial.UID) != created.text("metadata.uid") {
			t.Errorf("protobuf: %v, %+v", err, partial)
		}
		listInProtobuf := mustSend(t, call{method: http.MethodGet, path: s.mine(), accept: protobufType + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}, http.StatusOK)
		var partials metav1.PartialObjectMetadataList
		if err := partials.Unmarshal(unknownOf(t, listInProtobuf.raw).Raw); err != nil || len(partials.Items) != 1 || partials.Items[0].Name != name {
			t.Errorf("list in protobuf: %v, %+v", err, partials)
		}
	})
}

// goType is how messages name a Go type of the server. kube-apiserver keeps its objects in internal types.
func (s subject) goType(suffix string) string {
	if !shared.foreign {
		return "*v1." + s.kind + suffix
	}
	return "*" + strings.TrimSuffix(s.group, ".k8s.io") + "." + s.kind + suffix
}

// TestDefinitionPartialObjectMetadataMismatch shows that a list is asked for as a list and an object as an object.
func TestDefinitionPartialObjectMetadataMismatch(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.new(t).text("metadata.name")
		for _, version := range []string{"v1", "v1beta1"} {
			list := send(t, call{method: http.MethodGet, path: s.mine(), accept: as("PartialObjectMetadata", version)})
			want := refusal{406, "NotAcceptable", "you requested PartialObjectMetadata, but the requested object is a list (" + s.goType("List") + ")"}
			if diff := cmp.Diff(want, list.refusal()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			object := send(t, call{method: http.MethodGet, path: s.path(name), accept: as("PartialObjectMetadataList", version)})
			want = refusal{406, "NotAcceptable", "you requested PartialObjectMetadataList, but the requested object is not a list (" + s.goType("") + ")"}
			if diff := cmp.Diff(want, object.refusal()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	})
}

// TestDefinitionTable shows tables in both versions, with the three ways to include the objects.
func TestDefinitionTable(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		names := s.several(t, 2)
		object := s.get(t, names[0]).object
		metadata := maps.Clone(object["metadata"].(map[string]any))
		delete(metadata, "annotations")
		paths := map[string]int{s.mine(): 2, s.mine("resourceVersion=0"): 2, s.path(names[0]): 1, withQuery(s.path(names[0], "status")): 1,
			withQuery(s.root, "fieldSelector=metadata.name%3Dmissing"): 0}
		for path, rows := range paths {
			for _, version := range []string{"v1", "v1beta1"} {
				partial := map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/" + version, "metadata": metadata}
				for query, want := range map[string]any{
					"":                       partial,
					"includeObject=":         partial,
					"includeObject=Metadata": partial,
					"includeObject=Object":   object,
					"includeObject=None":     nil,
					"includeObject=None&includeObject=Object": nil,
				} {
					if strings.Contains(path, "resourceVersion=0") {
						soon(t, func() error {
							return diffError(2, len(mustSend(t, call{method: http.MethodGet, path: path}, http.StatusOK).names()))
						})
					}
					a := mustSend(t, call{method: http.MethodGet, path: withQuery(path, query), accept: as("Table", version)}, http.StatusOK)
					s.checkTable(t, a, version, rows)
					if rows > 0 {
						if diff := cmp.Diff(want, a.field("rows.0.object")); diff != "" {
							t.Errorf("%s %q (-want +got):\n%s", path, query, diff)
						}
					}
				}
				bogus := send(t, call{method: http.MethodGet, path: withQuery(path, "includeObject=Bogus"), accept: as("Table", version)})
				want := refusal{400, "BadRequest", `Unable to convert to Table as requested: includeObject: Invalid value: "Bogus": must be 'Metadata', 'Object', 'None', or empty`}
				if diff := cmp.Diff(want, bogus.refusal()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
			// The parameter is one of tables only.
			mustSend(t, call{method: http.MethodGet, path: withQuery(path, "includeObject=Bogus")}, http.StatusOK)
		}
	})
}

// checkTable checks what every table has.
func (s subject) checkTable(t *testing.T, a answer, version string, rows int) {
	t.Helper()
	if a.text("kind") != "Table" || a.text("apiVersion") != "meta.k8s.io/"+version || a.text("metadata.resourceVersion") == "" {
		t.Errorf("got a %s of %s: %v", a.text("kind"), a.text("apiVersion"), a.field("metadata"))
	}
	columns, _ := a.field("columnDefinitions").([]any)
	if len(columns) == 0 || a.text("columnDefinitions.0.name") != "Name" || a.text("columnDefinitions.0.format") != "name" {
		t.Errorf("columns: %v", columns)
	}
	got, isList := a.field("rows").([]any)
	if len(got) != rows || !isList {
		t.Errorf("rows = %v, want %d", a.field("rows"), rows)
	}
	for i := range got {
		if cells, _ := a.field(fmt.Sprintf("rows.%d.cells", i)).([]any); len(cells) != len(columns) {
			t.Errorf("row %d has %d cells for %d columns", i, len(cells), len(columns))
		}
	}
}

// TestDefinitionTableElsewhere shows tables as the answers of writes and deletions, and where there are none.
func TestDefinitionTableElsewhere(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, allOperations(s.writes(), s.deletes()), func(t *testing.T, o operation) {
			c, name, _ := o.prepare(t, s)
			c.path, c.accept = withQuery(c.path, "dryRun=All"), as("Table", "v1")
			if o.subresource == "approval" {
				// It is the one endpoint without tables.
				if diff := cmp.Diff(refusal{406, "NotAcceptable", acceptedTypes}, send(t, c).refusal()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				c.accept += ", application/json"
			}
			a := mustSend(t, c, o.code())
			switch {
			case o.method == http.MethodDelete && !o.collection:
				if a.text("kind") != "Status" {
					t.Errorf("a Status is no table: %s", a.raw)
				}
			case o.subresource == "approval":
				if a.text("kind") != s.kind {
					t.Errorf("approval has no table: %s", a.raw)
				}
			default:
				if a.text("kind") != "Table" || a.text("rows.0.cells.0") != name || len(a.field("rows").([]any)) != 1 {
					t.Errorf("got %s", a.raw)
				}
			}
		})
		for _, version := range []string{"v1", "v1beta1"} {
			for accept := range map[string]bool{as("Table", version): true, as("PartialObjectMetadata", version): true} {
				missing := send(t, call{method: http.MethodGet, path: s.path("missing"), accept: accept})
				if got := missing.refusal(); got != (refusal{404, "NotFound", s.qualified() + ` "missing" not found`}) {
					t.Errorf("%s of what is missing: %+v", accept, got)
				}
			}
		}
	})
}

// TestDefinitionGzip shows when an answer is compressed: when gzip is wanted and there are more than 128 KiB of it.
func TestDefinitionGzip(t *testing.T) {
	t.Parallel()
	s := daemonSetSubject(t)
	object := s.object(unique("o"))
	annotations := map[string]any{}
	for i := range 20 {
		annotations[fmt.Sprintf("example.com/a%02d", i)] = strings.Repeat("x", 10000)
	}
	object["metadata"].(map[string]any)["annotations"] = annotations
	large := mustSend(t, call{method: http.MethodPost, path: s.root, body: object}, http.StatusCreated).text("metadata.name")
	small := s.new(t).text("metadata.name")
	for path, compressed := range map[string]bool{
		s.path(large):               true,
		s.mine():                    true,
		s.mine("resourceVersion=0"): true,
		s.path(large, "status"):     true,
		s.path(small):               false,
		s.path("missing"):           false,
		s.mine("fieldSelector=metadata.name%3Dxx"): false,
		"/openapi/v2": true,
		"/apis":       false,
		"/version":    false,
	} {
		plain := send(t, call{method: http.MethodGet, path: path})
		if compressed && len(plain.raw) < 128<<10 && strings.HasPrefix(path, "/apis") && !strings.Contains(path, "resourceVersion=0") {
			t.Fatalf("%s has only %d bytes", path, len(plain.raw))
		}
		for _, encoding := range []string{"gzip", "br, gzip", "gzip;q=0", "deflate", ""} {
			a := send(t, call{method: http.MethodGet, path: path, header: http.Header{"Accept-Encoding": {encoding}}})
			want := ""
			if compressed && (encoding == "gzip" || encoding == "br, gzip") {
				want = "gzip"
			}
			if got := a.header.Get("Content-Encoding"); got != want {
				t.Errorf("%s, %q: Content-Encoding = %q, want %q", path, encoding, got, want)
				continue
			}
			if want == "" {
				continue
			}
			if !slices.Contains(a.header.Values("Vary"), "Accept-Encoding") {
				t.Errorf("%s, %q: Vary = %q", path, encoding, a.header.Values("Vary"))
			}
			reader, err := gzip.NewReader(bytes.NewReader(a.raw))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(reader)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(path, "?") && !bytes.Equal(body, plain.raw) {
				t.Errorf("%s: the compressed body differs", path)
			}
		}
	}
}

// TestDefinitionBodies shows bodies that are no object of the kind, and those that are one without saying so.
func TestDefinitionBodies(t *testing.T) {
	t.Parallel()
	const header = `struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.new(t).text("metadata.name")
		bad := func(message string) refusal { return refusal{400, "BadRequest", message} }
		unrecognized := "the object provided is unrecognized (must be of type " + s.kind + "): "
		noHeader := unrecognized + "couldn't get version/kind; json parse error: "
		noProtobuf := unrecognized + "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] "
		kinds := `","kind":"` + s.kind + `"}`
		cases := map[string]struct {
			contentType, body string
			want              refusal
		}{
			"nothing":                 {jsonBody, ``, bad(noHeader + `unexpected end of JSON input (<empty>)`)},
			"space":                   {jsonBody, ` `, bad(noHeader + `unexpected end of JSON input (20)`)},
			"a word":                  {jsonBody, `x`, bad(noHeader + `invalid character 'x' looking for beginning of value (78)`)},
			"an array":                {jsonBody, `[]`, bad(noHeader + `json: cannot unmarshal array into Go value of type ` + header + ` (5b5d)`)},
			"a string":                {jsonBody, `""`, bad(noHeader + `json: cannot unmarshal string into Go value of type ` + header + ` (2222)`)},
			"half an object":          {jsonBody, `{"kind":`, bad(noHeader + `unexpected end of JSON input ({"kind":)`)},
			"a kind that is a number": {jsonBody, `{"kind":5}`, bad(noHeader + `json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5})`)},
			"a version with two /":    {jsonBody, `{"apiVersion":"a/b/c` + kinds, bad(unrecognized + `unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)`)},
			"two objects":             {jsonBody, `{} {}`, bad(noHeader + `invalid character '{' after top-level value ({} {})`)},
			"a byte-order mark":       {jsonBody, "\ufeff{}", bad(noHeader + `invalid character 'ï' looking for beginning of value (efbbbf7b7d)`)},
			"an array in YAML":        {yamlBody, `[]`, bad(noHeader + `json: cannot unmarshal array into Go value of type ` + header + ` (5b5d)`)},
			"a word in YAML":          {yamlBody, `x`, bad(noHeader + `json: cannot unmarshal string into Go value of type ` + header + ` (78)`)},
			"no YAML":                 {yamlBody, "a: b: c", bad(unrecognized + `yaml: mapping values are not allowed in this context (613a20623a2063)`)},
			"nothing in protobuf":     {protobufType, ``, bad(unrecognized + `empty data (<empty>)`)},
			"JSON in protobuf":        {protobufType, `{}`, bad(noProtobuf + `({})`)},
			"only the prefix":         {protobufType, "k8s\x00", bad(unrecognized + `empty body (6b387300)`)},
		}
		for sentence, tc := range cases {
			for what, c := range map[string]call{
				"create":         {method: http.MethodPost, path: withQuery(s.root, "dryRun=All")},
				"replace":        {method: http.MethodPut, path: withQuery(s.path(name), "dryRun=All")},
				"status replace": {method: http.MethodPut, path: withQuery(s.path(name, "status"), "dryRun=All")},
			} {
				c.body, c.contentType = tc.body, tc.contentType
				if diff := cmp.Diff(tc.want, send(t, c).refusal()); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", what, sentence, diff)
				}
			}
		}
		s.checkNamelessBodies(t, name)
	})
}

// checkNamelessBodies sends objects that do not say what they are: the path says it.
func (s subject) checkNamelessBodies(t *testing.T, name string) {
	t.Helper()
	for _, drop := range [][]string{{"kind"}, {"apiVersion"}, {"kind", "apiVersion"}} {
		for _, contentType := range []string{jsonBody, yamlBody} {
			object := s.object(unique("o"))
			for _, key := range drop {
				delete(object, key)
			}
			a := mustSend(t, call{method: http.MethodPost, path: withQuery(s.root, "dryRun=All"), contentType: contentType, body: object}, http.StatusCreated)
			if a.text("kind") != s.kind || a.text("apiVersion") != s.apiVersion {
				t.Errorf("without %v: got a %s of %s", drop, a.text("kind"), a.text("apiVersion"))
			}
			object["metadata"].(map[string]any)["name"] = name
			mustSend(t, call{method: http.MethodPut, path: withQuery(s.path(name), "dryRun=All"), contentType: contentType, body: object}, http.StatusOK)
		}
	}
	// An empty object, or in YAML nothing at all, is an object without a name.
	for contentType, bodies := range map[string][]string{jsonBody: {"{}", "null"}, yamlBody: {"{}", "null", "", " ", "# nothing\n", "---\n"}} {
		for _, body := range bodies {
			a := send(t, call{method: http.MethodPost, path: s.root, contentType: contentType, body: body})
			if a.code != http.StatusUnprocessableEntity || !slices.Contains(a.causes(), "metadata.name") {
				t.Errorf("%s %q: got %d %s", contentType, body, a.code, a.raw)
			}
		}
	}
}

// TestDefinitionBodyOfAnotherKind shows bodies of a kind or version that does not belong to the path.
func TestDefinitionBodyOfAnotherKind(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.new(t).text("metadata.name")
		// kube-apiserver has these kinds in these versions, too, but not at this path.
		older := s.group + map[string]string{"DaemonSet": "/v1beta2", "CertificateSigningRequest": "/v1beta1"}[s.kind]
		cases := map[string]struct {
			apiVersion, kind, message string
		}{
			"an older version": {older, s.kind, `the API version in the data (` + older + `) does not match the expected API version (` + s.apiVersion + `)`},
			"a version that never was": {s.group + "/v9", s.kind,
				s.kind + ` in version "v9" cannot be handled as a ` + s.kind + `: no kind "` + s.kind + `" is registered for version "` + s.group + `/v9" in scheme `},
			"a kind that never was": {s.apiVersion, "Frob", `Frob in version "v1" cannot be handled as a ` + s.kind + `: no kind "Frob" is registered for version "` + s.apiVersion + `" in scheme `},
			"a group that never was": {"example.com/v1", s.kind,
				s.kind + ` in version "v1" cannot be handled as a ` + s.kind + `: no kind "` + s.kind + `" is registered for version "example.com/v1" in scheme `},
			"a kind of the core group": {"v1", "Namespace", `Namespace in version "v1" cannot be handled as a ` + s.kind + `: converting (v1.Namespace) to (` + s.goType("")[1:] + `): unknown conversion`},
			"its list":                 {s.apiVersion, s.kind + "List", s.kind + `List in version "v1" cannot be handled as a ` + s.kind + `: converting (v1.` + s.kind + `List) to (` + s.goType("")[1:] + `): unknown conversion`},
		}
		for sentence, tc := range cases {
			for what, c := range map[string]call{
				"create":  {method: http.MethodPost, path: withQuery(s.root, "dryRun=All")},
				"replace": {method: http.MethodPut, path: withQuery(s.path(name), "dryRun=All")},
			} {
				object := s.object(name)
				if strings.HasSuffix(tc.kind, "List") {
					object = map[string]any{"items": []any{}}
				}
				object["apiVersion"], object["kind"] = tc.apiVersion, tc.kind
				c.body = object
				got := send(t, c).refusal()
				// The name of the server's scheme is its own.
				if before, _, ok := strings.Cut(got.Message, ` in scheme "`); ok {
					got.Message = before + " in scheme "
				}
				if diff := cmp.Diff(refusal{400, "BadRequest", tc.message}, got); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", what, sentence, diff)
				}
			}
		}
	})
}
