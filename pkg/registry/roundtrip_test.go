// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	appsfuzzer "k8s.io/kubernetes/pkg/apis/apps/fuzzer"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	certificatesfuzzer "k8s.io/kubernetes/pkg/apis/certificates/fuzzer"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	corefuzzer "k8s.io/kubernetes/pkg/apis/core/fuzzer"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"sigs.k8s.io/randfill"

	"github.com/pinnace-io/pinnace/pkg/apis/resource"
	"github.com/pinnace-io/pinnace/pkg/apis/scheme"
	"github.com/pinnace-io/pinnace/pkg/registry"
)

// The tests of this file walk every resource with random objects. The seeds are fixed, so that a failure can be seen
// again; its message names the seed.

// seeds is how many random objects each test makes of each resource.
const seeds = 150

// row is a resource with what its objects need to be encoded.
type row struct {
	resource.Resource
	gv  schema.GroupVersion
	hub schema.GroupVersion
}

// everyResource runs body for each resource of the table.
func everyResource(t *testing.T, body func(*testing.T, row)) {
	t.Helper()
	for _, group := range registry.Groups() {
		for _, r := range group.Resources {
			gv := group.GroupVersion()
			t.Run(r.Plural, func(t *testing.T) {
				t.Parallel()
				body(t, row{Resource: r, gv: gv, hub: schema.GroupVersion{Group: gv.Group, Version: runtime.APIVersionInternal}})
			})
		}
	}
}

// newScheme is the scheme of everything that is served.
func newScheme(t *testing.T) *scheme.Scheme {
	t.Helper()
	var groups []resource.Group
	for _, group := range registry.Groups() {
		groups = append(groups, group.Group)
	}
	s, err := scheme.New(scheme.Native(groups), scheme.Options{CBOR: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fuzzerOf makes random values of kube-apiserver's internal types, as its own round-trip tests do.
func fuzzerOf(seed int64) *randfill.Filler {
	funcs := fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, corefuzzer.Funcs, appsfuzzer.Funcs, certificatesfuzzer.Funcs)
	return fuzzer.FuzzerFor(funcs, rand.NewSource(seed), legacyscheme.Codecs)
}

// random is a random object as kube-apiserver would answer it: a value of its internal type, converted.
func (r row) random(t *testing.T, seed int64) runtime.Object {
	t.Helper()
	internal, err := legacyscheme.Scheme.New(r.hub.WithKind(r.Kind))
	if err != nil {
		t.Fatalf("%s is not known to kube-apiserver, or its package is not imported here: %v", r.Kind, err)
	}
	fuzzerOf(seed).Fill(internal)
	obj, err := legacyscheme.Scheme.ConvertToVersion(internal, r.gv)
	if err != nil {
		t.Fatal(err)
	}
	legacyscheme.Scheme.Default(obj)
	if r.Normalize != nil {
		if err := r.Normalize(obj); err != nil {
			t.Fatal(err)
		}
	}
	// A hub object does not name its type.
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return obj
}

// info is the serializer of a media type.
func info(t *testing.T, negotiated runtime.NegotiatedSerializer, mediaType string) runtime.SerializerInfo {
	t.Helper()
	found, ok := runtime.SerializerInfoForMediaType(negotiated.SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatalf("%s is not supported", mediaType)
	}
	return found
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	s := newScheme(t)
	mediaTypes := []string{runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf, runtime.ContentTypeCBOR}
	everyResource(t, func(t *testing.T, r row) {
		for seed := range int64(seeds) {
			want := r.random(t, seed)
			before := want.DeepCopyObject()
			for _, mediaType := range mediaTypes {
				data, err := runtime.Encode(s.Codecs.EncoderForVersion(info(t, s.Codecs, mediaType).Serializer, r.gv), want)
				if err != nil {
					t.Fatalf("seed %d: could not encode %s: %v", seed, mediaType, err)
				}
				for who, negotiated := range map[string]runtime.NegotiatedSerializer{"storage": s.Codecs, "request": s.Requests} {
					got, gvk, err := negotiated.DecoderToVersion(info(t, negotiated, mediaType).StrictSerializer, r.hub).Decode(data, nil, nil)
					if err != nil {
						t.Fatalf("seed %d: could not decode %s of a %s: %v", seed, mediaType, who, err)
					}
					if *gvk != r.gv.WithKind(r.Kind) {
						t.Errorf("seed %d: type in %s is %s", seed, mediaType, gvk)
					}
					if !apiequality.Semantic.DeepEqual(want, got) {
						t.Fatalf("seed %d: %s of a %s (-want +got):\n%s", seed, mediaType, who, cmp.Diff(want, got))
					}
				}
			}
			if !apiequality.Semantic.DeepEqual(before, want) {
				t.Fatalf("seed %d: encoding changed the object (-before +after):\n%s", seed, cmp.Diff(before, want))
			}
		}
	})
}

func TestRoundTripOfLists(t *testing.T) {
	t.Parallel()
	s := newScheme(t)
	everyResource(t, func(t *testing.T, r row) {
		list := r.NewList()
		var items []runtime.Object
		for seed := range int64(3) {
			items = append(items, r.random(t, seed))
		}
		if err := meta.SetList(list, items); err != nil {
			t.Fatal(err)
		}
		for _, mediaType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf, runtime.ContentTypeCBOR} {
			data, err := runtime.Encode(s.Codecs.EncoderForVersion(info(t, s.Codecs, mediaType).Serializer, r.gv), list)
			if err != nil {
				t.Fatal(err)
			}
			got, gvk, err := s.Codecs.DecoderToVersion(info(t, s.Codecs, mediaType).StrictSerializer, r.hub).Decode(data, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := r.gv.WithKind(r.Kind + "List"); *gvk != want {
				t.Errorf("type is %s, want %s", gvk, want)
			}
			if !apiequality.Semantic.DeepEqual(list, got) {
				t.Errorf("%s (-want +got):\n%s", mediaType, cmp.Diff(list, got))
			}
		}
	})
}

// storageCodec is what a resource is stored with in a codec factory's world: protobuf of its v1 type.
func storageCodec(t *testing.T, r row, codecs serializer.CodecFactory) runtime.Codec {
	t.Helper()
	codec, _, err := serverstorage.NewStorageCodec(serverstorage.StorageCodecConfig{
		StorageMediaType:  runtime.ContentTypeProtobuf,
		StorageSerializer: codecs,
		StorageVersion:    r.gv,
		MemoryVersion:     r.hub,
		Config:            storagebackend.Config{},
	})
	if err != nil {
		t.Fatal(err)
	}
	return codec
}

// kube-apiserver reads what is stored here, and what it stores is read here.
func TestStoredBytes(t *testing.T) {
	t.Parallel()
	s := newScheme(t)
	everyResource(t, func(t *testing.T, r row) {
		ours, theirs := storageCodec(t, r, s.Codecs), storageCodec(t, r, legacyscheme.Codecs)
		for seed := range int64(seeds) {
			want := r.random(t, seed)
			stored, err := runtime.Encode(ours, want)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(stored, []byte("k8s\x00")) {
				t.Fatalf("seed %d: stored bytes have no protobuf envelope: %q", seed, stored[:min(len(stored), 40)])
			}
			internal, err := runtime.Decode(theirs, stored)
			if err != nil {
				t.Fatalf("seed %d: kube-apiserver could not read what is stored: %v", seed, err)
			}
			again, err := runtime.Encode(theirs, internal)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(stored, again) {
				t.Fatalf("seed %d: kube-apiserver would store other bytes (-ours +theirs):\n%s", seed, cmp.Diff(stored, again))
			}
			got, err := runtime.Decode(ours, again)
			if err != nil {
				t.Fatal(err)
			}
			if !apiequality.Semantic.DeepEqual(want, got) {
				t.Fatalf("seed %d: read from storage (-want +got):\n%s", seed, cmp.Diff(want, got))
			}
		}
	})
}

// What clients send is incomplete: defaulted and normalized, it is what kube-apiserver makes of the same bytes.
func TestDecodedLikeKubeAPIServer(t *testing.T) {
	t.Parallel()
	s := newScheme(t)
	everyResource(t, func(t *testing.T, r row) {
		refused := 0
		for seed := range int64(seeds) {
			body := sent(t, r, seed)
			ours, oursErr := answered(t, r, s.Requests, body)
			theirs, theirsErr := answered(t, r, legacyscheme.Codecs, body)
			if fmt.Sprint(oursErr) != fmt.Sprint(theirsErr) {
				t.Fatalf("seed %d: error is %v, want %v, for %s", seed, oursErr, theirsErr, body)
			}
			if theirsErr != nil {
				refused++
				continue
			}
			if diff := cmp.Diff(theirs, ours); diff != "" {
				t.Fatalf("seed %d: %s (-kube-apiserver +ours):\n%s", seed, body, diff)
			}
		}
		// A test of refusals alone would show nothing.
		if refused > seeds/2 {
			t.Errorf("%d of %d objects were refused", refused, seeds)
		}
	})
}

// answered decodes body as the body of a request and returns the JSON and the protobuf that a client gets back.
func answered(t *testing.T, r row, negotiated runtime.NegotiatedSerializer, body []byte) (map[string]any, error) {
	t.Helper()
	obj, _, err := negotiated.DecoderToVersion(info(t, negotiated, runtime.ContentTypeJSON).Serializer, r.hub).Decode(body, nil, nil)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, mediaType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		data, err := runtime.Encode(negotiated.EncoderForVersion(info(t, negotiated, mediaType).Serializer, r.gv), obj)
		if err != nil {
			t.Fatal(err)
		}
		out[mediaType] = data
		if mediaType == runtime.ContentTypeJSON {
			var decoded map[string]any
			if err := json.Unmarshal(data, &decoded); err != nil {
				t.Fatal(err)
			}
			out[mediaType] = decoded
		}
	}
	return out, nil
}

// sent is a random object in JSON without some of its fields, as a client might send it.
func sent(t *testing.T, r row, seed int64) []byte {
	t.Helper()
	data, err := runtime.Encode(legacyscheme.Codecs.LegacyCodec(r.gv), r.random(t, seed))
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(data, &body); err != nil {
		t.Fatal(err)
	}
	source := rand.New(rand.NewSource(seed))
	thin(source, body)
	metadata, ok := body["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
	}
	annotations := map[string]any{}
	for _, value := range []string{"0", "7", "-3", "+07", "9223372036854775807", "seven"} {
		if source.Intn(6) == 0 {
			annotations[appsv1.DeprecatedTemplateGeneration] = value
		}
	}
	metadata["annotations"] = annotations
	body["metadata"], body["apiVersion"], body["kind"] = metadata, r.gv.String(), r.Kind
	out, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// thin removes some fields at every depth, and makes some empty or null.
func thin(source *rand.Rand, value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			switch _, isObject := value[key].(map[string]any); {
			case source.Intn(8) == 0:
				delete(value, key)
			case source.Intn(20) == 0:
				value[key] = nil
			case isObject && source.Intn(20) == 0:
				value[key] = map[string]any{}
			default:
				thin(source, value[key])
			}
		}
	case []any:
		for _, item := range value {
			thin(source, item)
		}
	}
}
