// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package scheme_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/pinnace-io/pinnace/pkg/apis/scheme"
)

var (
	appsV1  = schema.GroupVersion{Group: "apps", Version: "v1"}
	appsHub = schema.GroupVersion{Group: "apps", Version: runtime.APIVersionInternal}
)

// half is a DaemonSet that normalization changes: its annotation is not canonical and one value of rollingUpdate is absent.
func half() *appsv1.DaemonSet {
	one := intstr.FromInt32(1)
	return &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Name: "x", Annotations: map[string]string{appsv1.DeprecatedTemplateGeneration: "+07"}},
		Spec: appsv1.DaemonSetSpec{UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
			Type: appsv1.OnDeleteDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &one},
		}},
	}
}

// visible is what normalization decides about a DaemonSet.
func visible(obj runtime.Object) string {
	ds, ok := obj.(*appsv1.DaemonSet)
	if !ok {
		return "no DaemonSet"
	}
	out := "generation " + ds.Annotations[appsv1.DeprecatedTemplateGeneration]
	if rolling := ds.Spec.UpdateStrategy.RollingUpdate; rolling == nil || rolling.MaxSurge == nil {
		return out + ", no surge"
	}
	return out + ", surge " + ds.Spec.UpdateStrategy.RollingUpdate.MaxSurge.String()
}

const (
	normalized = "generation 7, surge 0"
	untouched  = "generation +07, no surge"
)

// encodings are the media types of requests.
func encodings() []string {
	return []string{runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf, runtime.ContentTypeCBOR}
}

// serializer returns the serializer of a media type.
func serializer(t *testing.T, negotiated runtime.NegotiatedSerializer, mediaType string) runtime.SerializerInfo {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(negotiated.SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatalf("%s is not supported", mediaType)
	}
	return info
}

// encoded is obj as it is, without conversion.
func encoded(t *testing.T, s *scheme.Scheme, mediaType string, obj runtime.Object) []byte {
	t.Helper()
	data, err := runtime.Encode(serializer(t, s.Codecs, mediaType).Serializer, obj)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestRequestsAreNormalized(t *testing.T) {
	t.Parallel()
	s := newScheme(t, scheme.Native(groups()), scheme.Options{CBOR: true})
	for _, mediaType := range encodings() {
		for name, test := range map[string]struct {
			negotiated runtime.NegotiatedSerializer
			want       string
		}{
			"a request":      {negotiated: s.Requests, want: normalized},
			"what is stored": {negotiated: s.Codecs, want: untouched},
		} {
			t.Run(name+" in "+mediaType, func(t *testing.T) {
				t.Parallel()
				data := encoded(t, s, mediaType, half())
				decoder := test.negotiated.DecoderToVersion(serializer(t, test.negotiated, mediaType).Serializer, appsHub)
				got, gvk, err := decoder.Decode(data, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				if visible(got) != test.want {
					t.Errorf("got %s, want %s", visible(got), test.want)
				}
				if want := appsV1.WithKind("DaemonSet"); *gvk != want {
					t.Errorf("type of the data is %s, want %s", gvk, want)
				}

				into := &appsv1.DaemonSet{}
				got, _, err = decoder.Decode(data, nil, into)
				if err != nil {
					t.Fatal(err)
				}
				if got != runtime.Object(into) || visible(into) != test.want {
					t.Errorf("decoded into an object: got %s, want %s", visible(into), test.want)
				}
			})
		}
	}
}

func TestStrictErrorComesWithANormalizedObject(t *testing.T) {
	t.Parallel()
	s := newScheme(t, scheme.Native(groups()), scheme.Options{CBOR: true})
	for mediaType, body := range map[string]string{
		runtime.ContentTypeJSON: `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"annotations":{"deprecated.daemonset.template.generation":"+07"}},` +
			`"spec":{"odd":1,"updateStrategy":{"type":"OnDelete","rollingUpdate":{}}}}`,
		runtime.ContentTypeYAML: "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {annotations: {deprecated.daemonset.template.generation: '+07'}}\n" +
			"spec: {odd: 1, updateStrategy: {type: OnDelete, rollingUpdate: {}}}\n",
	} {
		t.Run(mediaType, func(t *testing.T) {
			t.Parallel()
			decoder := s.Requests.DecoderToVersion(serializer(t, s.Requests, mediaType).StrictSerializer, appsHub)
			got, _, err := decoder.Decode([]byte(body), nil, nil)
			if !runtime.IsStrictDecodingError(err) || !strings.Contains(err.Error(), `unknown field "spec.odd"`) {
				t.Errorf("error is %v, want a strict one that names the field", err)
			}
			if visible(got) != normalized {
				t.Errorf("got %s, want %s", visible(got), normalized)
			}
		})
	}
}

// What can't be normalized is what kube-apiserver can't convert: the caller gets the error and no object.
func TestNormalizationErrorReachesTheCaller(t *testing.T) {
	t.Parallel()
	const (
		body = `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"annotations":{"deprecated.daemonset.template.generation":"seven"}},"spec":{"odd":1}}`
		want = `strconv.ParseInt: parsing "seven": invalid syntax`
	)
	s := newScheme(t, scheme.Native(groups()), scheme.Options{})
	info := serializer(t, s.Requests, runtime.ContentTypeJSON)
	unparsable := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{appsv1.DeprecatedTemplateGeneration: "seven"}}}
	tests := map[string]func() (runtime.Object, error){
		"decoding": func() (runtime.Object, error) {
			obj, _, err := s.Requests.DecoderToVersion(info.Serializer, appsHub).Decode([]byte(body), nil, nil)
			return obj, err
		},
		"strict decoding": func() (runtime.Object, error) {
			obj, _, err := s.Requests.DecoderToVersion(info.StrictSerializer, appsHub).Decode([]byte(body), nil, nil)
			return obj, err
		},
		"converting":          func() (runtime.Object, error) { return s.Convertor.ConvertToVersion(unparsable, appsHub) },
		"converting unsafely": func() (runtime.Object, error) { return s.UnsafeConvertor.ConvertToVersion(unparsable, appsHub) },
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := test()
			if err == nil || err.Error() != want {
				t.Errorf("error is %v, want %s", err, want)
			}
			if got != nil {
				t.Errorf("an object comes with the error: %v", got)
			}
		})
	}
}

func TestDecodingErrorIsTheLibrarys(t *testing.T) {
	t.Parallel()
	s := newScheme(t, scheme.Native(groups()), scheme.Options{})
	for name, body := range map[string]string{
		"not JSON":        `{`,
		"an unknown kind": `{"apiVersion":"apps/v1","kind":"Deployment"}`,
		"no kind":         `{"apiVersion":"apps/v1"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			decode := func(negotiated runtime.NegotiatedSerializer) (runtime.Object, *schema.GroupVersionKind, string) {
				obj, gvk, err := negotiated.DecoderToVersion(serializer(t, negotiated, runtime.ContentTypeJSON).Serializer, appsHub).Decode([]byte(body), nil, nil)
				if err == nil {
					t.Fatal("it is decoded")
				}
				return obj, gvk, err.Error()
			}
			_, wantKind, want := decode(s.Codecs)
			_, gotKind, got := decode(s.Requests)
			if got != want {
				t.Errorf("error is %s, want %s", got, want)
			}
			if diff := cmp.Diff(wantKind, gotKind); diff != "" {
				t.Errorf("type of the data (-want +got):\n%s", diff)
			}
		})
	}
}

// Objects without a normalizer go through both guards unchanged.
func TestOtherObjectsAreLeftAlone(t *testing.T) {
	t.Parallel()
	s := newScheme(t, scheme.Native(groups()), scheme.Options{})
	want := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
	hub := schema.GroupVersion{Version: runtime.APIVersionInternal}
	got, err := s.Convertor.ConvertToVersion(want.DeepCopy(), hub)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(runtime.Object(want), got); diff != "" {
		t.Errorf("converted (-want +got):\n%s", diff)
	}
	decoder := s.Requests.DecoderToVersion(serializer(t, s.Requests, runtime.ContentTypeJSON).Serializer, hub)
	got, _, err = decoder.Decode([]byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"x"}}`), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.(*corev1.Namespace).Name != "x" {
		t.Errorf("decoded %v", got)
	}
}

func TestConvertorsNormalizeOnlyIntoTheHub(t *testing.T) {
	t.Parallel()
	s := newScheme(t, scheme.Native(groups()), scheme.Options{})
	for name, convertor := range map[string]runtime.ObjectConvertor{"safe": s.Convertor, "unsafe": s.UnsafeConvertor} {
		for target, test := range map[string]struct {
			gv   runtime.GroupVersioner
			want string
		}{
			"the hub":                 {gv: appsHub, want: normalized},
			"the served version":      {gv: appsV1, want: untouched},
			"one of several versions": {gv: schema.GroupVersions{appsV1}, want: untouched},
			"a version by its group":  {gv: runtime.NewMultiGroupVersioner(appsV1, schema.GroupKind{Group: "apps"}), want: untouched},
		} {
			t.Run(name+" to "+target, func(t *testing.T) {
				t.Parallel()
				in := half()
				got, err := convertor.ConvertToVersion(in, test.gv)
				if err != nil {
					t.Fatal(err)
				}
				if visible(got) != test.want {
					t.Errorf("got %s, want %s", visible(got), test.want)
				}
				// A safe convertor must leave its argument alone; an unsafe one may return it.
				if name == "safe" && visible(in) != untouched {
					t.Errorf("the argument was changed: %s", visible(in))
				}
			})
		}
	}
}

func TestConversionErrorIsTheLibrarys(t *testing.T) {
	t.Parallel()
	s := newScheme(t, scheme.Native(groups()), scheme.Options{})
	target := schema.GroupVersion{Group: "apps", Version: "v9"}
	_, want := s.Scheme.ConvertToVersion(half(), target)
	got, err := s.Convertor.ConvertToVersion(half(), target)
	if err == nil || want == nil || err.Error() != want.Error() {
		t.Errorf("error is %v, want %v", err, want)
	}
	if got != nil {
		t.Errorf("an object comes with the error: %v", got)
	}
}

func TestStoredObjectsDoNotSayTheirKind(t *testing.T) {
	t.Parallel()
	s, err := scheme.New(scheme.Native(groups()), scheme.Options{})
	if err != nil {
		t.Fatal(err)
	}
	media := s.Storage.SupportedMediaTypes()[0].Serializer
	decoder := s.Storage.DecoderToVersion(media, appsHub)
	for name, into := range map[string]runtime.Object{"into a new object": nil, "into one of its type": &appsv1.DaemonSet{}} {
		obj, _, err := decoder.Decode([]byte(`{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"x"}}`), nil, into)
		if err != nil {
			t.Fatal(err)
		}
		if kind := obj.GetObjectKind().GroupVersionKind(); !kind.Empty() {
			t.Errorf("%s: it says that it is %s", name, kind)
		}
	}
	if _, _, err := decoder.Decode([]byte("x"), nil, nil); err == nil {
		t.Error("what is no object was decoded")
	}
}
