// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// kube-apiserver converts every object of a request from its v1 type to an internal type and back. Here one Go type
// is both, so nothing is converted; what the round trip would change in an object that clients can see is done by
// the normalizer of its type. There are two ways into the hub, and each has its guard below: bytes are decoded
// (requestCodecs), or a patched or applied object of v1 is converted (convertor).

// normalizers are the normalizers by the pointer type of the hub.
type normalizers map[reflect.Type]func(runtime.Object) error

func (n normalizers) normalize(obj runtime.Object) error {
	if normalize, ok := n[reflect.TypeOf(obj)]; ok {
		return normalize(obj)
	}
	return nil
}

// requestCodecs are codecs whose decoders normalize.
type requestCodecs struct {
	serializer.CodecFactory
	normalizers normalizers
}

// DecoderToVersion returns a decoder into gv that normalizes what it has decoded.
func (c requestCodecs) DecoderToVersion(decoder runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	return normalizingDecoder{Decoder: c.CodecFactory.DecoderToVersion(decoder, gv), normalizers: c.normalizers}
}

type normalizingDecoder struct {
	runtime.Decoder
	normalizers normalizers
}

// Decode decodes and normalizes. A strict decoding error comes with a usable object (the caller decides whether it
// is an error at all), so such an object is normalized as well.
func (d normalizingDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	obj, gvk, err := d.Decoder.Decode(data, defaults, into)
	if obj == nil || (err != nil && !runtime.IsStrictDecodingError(err)) {
		return obj, gvk, err
	}
	if gvk != nil && gvk.Version == runtime.APIVersionInternal {
		// The fields of kube-apiserver's internal types have no JSON names: it finds nothing in a body that claims to be one.
		reflect.ValueOf(obj).Elem().SetZero()
	}
	if normalizeErr := d.normalizers.normalize(obj); normalizeErr != nil {
		return nil, gvk, normalizeErr
	}
	return obj, gvk, err
}

// convertor normalizes what it converts to the internal version.
type convertor struct {
	runtime.ObjectConvertor
	normalizers normalizers
}

// ConvertToVersion converts in to gv and normalizes the result when gv is the internal version.
func (c convertor) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	out, err := c.ObjectConvertor.ConvertToVersion(in, gv)
	if err != nil {
		return nil, err
	}
	if target, ok := gv.(schema.GroupVersion); ok && target.Version == runtime.APIVersionInternal {
		if err := c.normalizers.normalize(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// storageCodecs are codecs whose decoders leave no kind in an object. Conversion to the internal version would remove it,
// but an object that is decoded into one of its own type isn't converted: items of a list would show a kind.
type storageCodecs struct{ serializer.CodecFactory }

// DecoderToVersion returns a decoder into gv that leaves no kind.
func (c storageCodecs) DecoderToVersion(decoder runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	return kindlessDecoder{c.CodecFactory.DecoderToVersion(decoder, gv)}
}

type kindlessDecoder struct{ runtime.Decoder }

// Decode decodes and removes the kind.
func (d kindlessDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	obj, gvk, err := d.Decoder.Decode(data, defaults, into)
	if err == nil {
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return obj, gvk, err
}
