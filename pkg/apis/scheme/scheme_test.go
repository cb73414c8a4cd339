// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package scheme_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
	"github.com/pinnace-io/pinnace/pkg/apis/certificates"
	"github.com/pinnace-io/pinnace/pkg/apis/core"
	"github.com/pinnace-io/pinnace/pkg/apis/resource"
	"github.com/pinnace-io/pinnace/pkg/apis/scheme"
)

// groups are the declared groups.
func groups() []resource.Group {
	return []resource.Group{apps.Group(), certificates.Group(), core.Group()}
}

// newScheme returns a scheme that must be possible.
func newScheme(t *testing.T, served []scheme.Served, options scheme.Options) *scheme.Scheme {
	t.Helper()
	s, err := scheme.New(served, options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// as serves group under another name.
func as(group resource.Group, name string) scheme.Served {
	return scheme.Served{Group: group, As: schema.GroupVersion{Group: name, Version: group.Version}}
}

// types are the known types of a scheme, "package.Type" by "group/version, Kind=kind".
func types(s *scheme.Scheme) map[string]string {
	out := map[string]string{}
	for gvk, t := range s.AllKnownTypes() {
		out[gvk.String()] = t.String()
	}
	return out
}

// library are the types that every served version of a group needs, whatever the group holds.
func library(gv schema.GroupVersion) map[string]string {
	out := map[string]string{}
	for kind, goType := range map[string]string{
		"CreateOptions": "v1.CreateOptions", "DeleteOptions": "v1.DeleteOptions", "GetOptions": "v1.GetOptions",
		"ListOptions": "v1.ListOptions", "PatchOptions": "v1.PatchOptions", "UpdateOptions": "v1.UpdateOptions",
		"WatchEvent": "v1.WatchEvent",
	} {
		out[gv.WithKind(kind).String()] = goType
	}
	// The decoder of watch events has the internal version of every group.
	out[schema.GroupVersionKind{Group: gv.Group, Version: runtime.APIVersionInternal, Kind: "WatchEvent"}.String()] = "v1.InternalEvent"
	return out
}

// unversioned are the types that are the same in all versions of all groups.
func unversioned() map[string]string {
	return map[string]string{
		"/v1, Kind=Status": "v1.Status", "/v1, Kind=APIVersions": "v1.APIVersions", "/v1, Kind=APIGroup": "v1.APIGroup",
		"/v1, Kind=APIGroupList": "v1.APIGroupList", "/v1, Kind=APIResourceList": "v1.APIResourceList",
	}
}

// hubbed are Go types that are both the v1 and the internal version of a group.
func hubbed(group string, goTypes map[string]string) map[string]string {
	out := map[string]string{}
	for _, version := range []string{"v1", runtime.APIVersionInternal} {
		for kind, goType := range goTypes {
			out[schema.GroupVersionKind{Group: group, Version: version, Kind: kind}.String()] = goType
		}
	}
	return out
}

func merged(parts ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, part := range parts {
		for key, value := range part {
			out[key] = value
		}
	}
	return out
}

func TestKnownTypes(t *testing.T) {
	t.Parallel()
	daemonSets := map[string]string{
		"DaemonSet": "v1.DaemonSet", "DaemonSetList": "v1.DaemonSetList",
		"ControllerRevision": "v1.ControllerRevision", "ControllerRevisionList": "v1.ControllerRevisionList",
	}
	requests := map[string]string{
		"CertificateSigningRequest":     "v1.CertificateSigningRequest",
		"CertificateSigningRequestList": "v1.CertificateSigningRequestList",
	}
	namespaces := map[string]string{"Namespace": "v1.Namespace", "NamespaceList": "v1.NamespaceList"}
	tests := map[string]struct {
		served []scheme.Served
		want   map[string]string
	}{
		"native names": {
			served: scheme.Native(groups()),
			want: merged(
				unversioned(),
				library(schema.GroupVersion{Group: "apps", Version: "v1"}), hubbed("apps", daemonSets),
				library(schema.GroupVersion{Group: "certificates.k8s.io", Version: "v1"}), hubbed("certificates.k8s.io", requests),
				library(schema.GroupVersion{Version: "v1"}), hubbed("", namespaces),
				map[string]string{
					"apps/v1beta2, Kind=DaemonSet":                                "v1.DaemonSet",
					"apps/v1beta1, Kind=ControllerRevision":                       "v1.ControllerRevision",
					"apps/v1beta2, Kind=ControllerRevision":                       "v1.ControllerRevision",
					"certificates.k8s.io/v1beta1, Kind=CertificateSigningRequest": "v1.CertificateSigningRequest",
				},
			),
		},
		"a group under another name is known by that name alone": {
			served: []scheme.Served{as(certificates.Group(), "certificates.pinnace.dev")},
			want: merged(
				unversioned(), library(schema.GroupVersion{Version: "v1"}),
				library(schema.GroupVersion{Group: "certificates.pinnace.dev", Version: "v1"}),
				hubbed("certificates.pinnace.dev", requests),
				map[string]string{"certificates.pinnace.dev/v1beta1, Kind=CertificateSigningRequest": "v1.CertificateSigningRequest"},
			),
		},
		"no group: what every server needs": {
			want: merged(unversioned(), library(schema.GroupVersion{Version: "v1"})),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, types(newScheme(t, test.served, scheme.Options{}))); diff != "" {
				t.Errorf("known types (-want +got):\n%s", diff)
			}
		})
	}
}

// The names say little about the packages that the types are of; the hub is the very type of k8s.io/api.
func TestHubIsTheTypeOfTheAPI(t *testing.T) {
	t.Parallel()
	s := newScheme(t, scheme.Native(groups()), scheme.Options{})
	for kind, want := range map[schema.GroupKind]runtime.Object{
		{Group: "apps", Kind: "DaemonSet"}:                                &appsv1.DaemonSet{},
		{Group: "apps", Kind: "ControllerRevision"}:                       &appsv1.ControllerRevision{},
		{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: &certificatesv1.CertificateSigningRequest{},
		{Group: "", Kind: "Namespace"}:                                    &corev1.Namespace{},
	} {
		for _, version := range []string{"v1", runtime.APIVersionInternal} {
			got, err := s.New(kind.WithVersion(version))
			if err != nil {
				t.Fatal(err)
			}
			if reflect.TypeOf(got) != reflect.TypeOf(want) {
				t.Errorf("%s in version %s is a %T, want %T", kind, version, got, want)
			}
		}
	}
}

func TestNewFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	installing := func(err error) resource.Group {
		return resource.Group{Name: "toys.example.com", Version: "v1", Install: func(*runtime.Scheme, schema.GroupVersion) error { return err }}
	}
	tests := map[string]struct {
		served []scheme.Served
		want   string
		wraps  error
	}{
		"one group twice": {
			served: []scheme.Served{as(core.Group(), ""), as(apps.Group(), "apps"), as(apps.Group(), "apps")},
			want:   `group "apps" is served twice`,
		},
		"two groups under one name": {
			served: []scheme.Served{as(apps.Group(), "pinnace.dev"), as(certificates.Group(), "pinnace.dev")},
			want:   `group "pinnace.dev" is served twice`,
		},
		"a group whose installation fails": {
			served: append(scheme.Native(groups()), as(installing(broken), "toys.pinnace.dev")),
			want:   `could not install group "toys.pinnace.dev": broken`,
			wraps:  broken,
		},
		"a version that clients can't ask for": {
			served: []scheme.Served{{Group: installing(nil), As: schema.GroupVersion{Group: "toys.pinnace.dev", Version: runtime.APIVersionInternal}}},
			want:   `could not set the version of group "toys.pinnace.dev": internal versions cannot be prioritized: toys.pinnace.dev/__internal`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := scheme.New(test.served, scheme.Options{})
			if err == nil || err.Error() != test.want || !errors.Is(err, test.wraps) && test.wraps != nil {
				t.Errorf("error is %v, want %s", err, test.want)
			}
			if got != nil {
				t.Error("a scheme comes with the error")
			}
		})
	}
}

func TestNative(t *testing.T) {
	t.Parallel()
	var got []string
	for _, served := range scheme.Native(groups()) {
		if served.As != served.GroupVersion() {
			t.Errorf("%s is served as %s", served.GroupVersion(), served.As)
		}
		got = append(got, served.As.String())
	}
	if diff := cmp.Diff([]string{"apps/v1", "certificates.k8s.io/v1", "v1"}, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

func TestTwoSchemesShareNothing(t *testing.T) {
	t.Parallel()
	native := newScheme(t, scheme.Native(groups()), scheme.Options{})
	before := types(native)
	renamed := newScheme(t, []scheme.Served{as(apps.Group(), "apps.pinnace.dev")}, scheme.Options{})
	if diff := cmp.Diff(before, types(native)); diff != "" {
		t.Errorf("another scheme changed the known types (-before +after):\n%s", diff)
	}
	for name, test := range map[string]struct {
		scheme            *scheme.Scheme
		known, unknown    string
		prioritized, none schema.GroupVersion
	}{
		"native": {
			scheme: native, known: "apps/v1", unknown: "apps.pinnace.dev/v1",
			prioritized: schema.GroupVersion{Group: "apps", Version: "v1"}, none: schema.GroupVersion{Group: "apps.pinnace.dev", Version: "v1"},
		},
		"renamed": {
			scheme: renamed, known: "apps.pinnace.dev/v1", unknown: "apps/v1",
			prioritized: schema.GroupVersion{Group: "apps.pinnace.dev", Version: "v1"}, none: schema.GroupVersion{Group: "apps", Version: "v1"},
		},
	} {
		decoder := test.scheme.Codecs.UniversalDeserializer()
		if _, gvk, err := decoder.Decode([]byte(`{"apiVersion":"`+test.known+`","kind":"DaemonSet"}`), nil, nil); err != nil {
			t.Errorf("%s: %s is not decoded: %v", name, test.known, err)
		} else if got := gvk.GroupVersion().String(); got != test.known {
			t.Errorf("%s: decoded %s, want %s", name, got, test.known)
		}
		if _, _, err := decoder.Decode([]byte(`{"apiVersion":"`+test.unknown+`","kind":"DaemonSet"}`), nil, nil); !runtime.IsNotRegisteredError(err) {
			t.Errorf("%s: decoding %s gives %v, want an error that it is not registered", name, test.unknown, err)
		}
		if !test.scheme.IsVersionRegistered(test.prioritized) || test.scheme.IsVersionRegistered(test.none) {
			t.Errorf("%s: registered versions are %v", name, test.scheme.PrioritizedVersionsAllGroups())
		}
		if got := test.scheme.PrioritizedVersionsForGroup(test.prioritized.Group); len(got) == 0 || got[0] != test.prioritized {
			t.Errorf("%s: versions of %s are %v, want %s first", name, test.prioritized.Group, got, test.prioritized)
		}
	}
}

// The kinds of a renamed group carry its name when they are written, since clients find the API by it.
func TestRenamedGroupIsWrittenUnderItsName(t *testing.T) {
	t.Parallel()
	gv := schema.GroupVersion{Group: "certificates.pinnace.dev", Version: "v1"}
	s := newScheme(t, []scheme.Served{as(certificates.Group(), gv.Group)}, scheme.Options{})
	data, err := runtime.Encode(s.Codecs.LegacyCodec(gv), &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"kind":"CertificateSigningRequest","apiVersion":"certificates.pinnace.dev/v1","metadata":{"name":"x"},"spec":{"request":null,"signerName":""},"status":{}}` + "\n"; string(data) != want {
		t.Errorf("got %s, want %s", data, want)
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options scheme.Options
		want    []string
	}{
		"by default": {want: []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}},
		"with CBOR":  {options: scheme.Options{CBOR: true}, want: []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScheme(t, scheme.Native(groups()), test.options)
			for _, negotiated := range []runtime.NegotiatedSerializer{s.Codecs, s.Requests} {
				var got []string
				for _, info := range negotiated.SupportedMediaTypes() {
					got = append(got, info.MediaType)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("media types of %T (-want +got):\n%s", negotiated, diff)
				}
			}
		})
	}
}

func TestParameterCodec(t *testing.T) {
	t.Parallel()
	s := newScheme(t, scheme.Native(groups()), scheme.Options{})
	for _, gv := range []schema.GroupVersion{{Version: "v1"}, {Group: "apps", Version: "v1"}} {
		var got metav1.ListOptions
		if err := s.ParameterCodec.DecodeParameters(map[string][]string{"limit": {"7"}, "labelSelector": {"a=b"}}, gv, &got); err != nil {
			t.Fatal(err)
		}
		if got.Limit != 7 || got.LabelSelector != "a=b" {
			t.Errorf("decoded %+v", got)
		}
	}
}
