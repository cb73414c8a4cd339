// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package scheme turns the declared API groups into a runtime.Scheme and its codecs. Both are return values: a
// process can hold several servers, and a server can serve a group under a name that is not its native one.
package scheme

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"

	"github.com/pinnace-io/pinnace/pkg/apis/resource"
)

// Scheme is all that depends on which groups are served, and under which names. It never changes after New.
type Scheme struct {
	*runtime.Scheme
	// Codecs convert between bytes and objects for whatever is neither a request nor stored.
	Codecs serializer.CodecFactory
	// Storage are Codecs for storage: what they decode does not say its kind, as it is with objects of the hub.
	Storage runtime.StorageSerializer
	// Requests are Codecs for requests: what they decode is normalized.
	Requests runtime.NegotiatedSerializer
	// Convertor and UnsafeConvertor convert between the versions of an object; what they bring into the hub is
	// normalized. The unsafe one may return memory of its argument.
	Convertor, UnsafeConvertor runtime.ObjectConvertor
	// ParameterCodec reads query parameters.
	ParameterCodec runtime.ParameterCodec
}

// Options say what a Scheme is built for.
type Options struct {
	// CBOR adds the CBOR media types, as the gate CBORServingAndStorage of kube-apiserver does.
	CBOR bool
}

// Served is a group with the name that it is served under.
type Served struct {
	resource.Group
	// As is the served group and version, Group.GroupVersion() for the native name.
	As schema.GroupVersion
}

// Native serves every group under its own name.
func Native(groups []resource.Group) []Served {
	served := make([]Served, 0, len(groups))
	for _, group := range groups {
		served = append(served, Served{Group: group, As: group.GroupVersion()})
	}
	return served
}

// New returns the scheme of the served groups. It fails when two groups are served under one name or when the
// installation of one fails.
func New(served []Served, options Options) (*Scheme, error) {
	scheme := runtime.NewScheme()
	// The types that requests of every server use, whatever it serves.
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})

	names := map[string]bool{}
	hooks := normalizers{}
	for _, group := range served {
		if names[group.As.Group] {
			return nil, fmt.Errorf("group %q is served twice", group.As.Group)
		}
		names[group.As.Group] = true
		if err := group.Install(scheme, group.As); err != nil {
			return nil, fmt.Errorf("could not install group %q: %w", group.As.Group, err)
		}
		if err := scheme.SetVersionPriority(group.As); err != nil {
			return nil, fmt.Errorf("could not set the version of group %q: %w", group.As.Group, err)
		}
		for _, r := range group.Resources {
			if r.Normalize != nil {
				hooks[reflect.TypeOf(r.New())] = r.Normalize
			}
		}
	}

	factoryOptions := []serializer.CodecFactoryOptionsMutator{
		serializer.WithStreamingCollectionEncodingToJSON(),
		serializer.WithStreamingCollectionEncodingToProtobuf(),
	}
	if options.CBOR {
		factoryOptions = append(factoryOptions, serializer.WithSerializer(cbor.NewSerializerInfo))
	}
	codecs := serializer.NewCodecFactory(scheme, factoryOptions...)
	return &Scheme{
		Scheme:          scheme,
		Codecs:          codecs,
		Storage:         storageCodecs{CodecFactory: codecs},
		Requests:        requestCodecs{CodecFactory: codecs, normalizers: hooks},
		Convertor:       convertor{ObjectConvertor: scheme, normalizers: hooks},
		UnsafeConvertor: convertor{ObjectConvertor: runtime.UnsafeObjectConvertor(scheme), normalizers: hooks},
		ParameterCodec:  runtime.NewParameterCodec(scheme),
	}, nil
}
