// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	openapibuilder3 "k8s.io/kube-openapi/pkg/builder3"
	openapiutil "k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/pinnace-io/pinnace/pkg/apis/scheme"
	"github.com/pinnace-io/pinnace/pkg/generated/openapi"
	"github.com/pinnace-io/pinnace/pkg/registry"
)

// describe is the OpenAPI configuration of a server, and the library's own namer for the same scheme.
func describe(t *testing.T, served []scheme.Served) (*genericapiserver.Config, *openapinamer.DefinitionNamer) {
	t.Helper()
	s, err := scheme.New(served, scheme.Options{})
	if err != nil {
		t.Fatal(err)
	}
	config := genericapiserver.NewConfig(s.Codecs)
	applyOpenAPI(config, s, served)
	return config, openapinamer.NewDefinitionNamer(s.Scheme)
}

// native is everything that is served, under its own names.
func native() []scheme.Served { return scheme.Native(declarations(registry.Groups())) }

// kindsOf are the kinds in the extension of a definition.
func kindsOf(t *testing.T, extensions spec.Extensions) []string {
	t.Helper()
	if extensions == nil {
		return nil
	}
	data, err := json.Marshal(extensions[groupVersionKinds])
	if err != nil {
		t.Fatal(err)
	}
	var kinds []schema.GroupVersionKind
	if err := json.Unmarshal(data, &kinds); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, kind := range kinds {
		out = append(out, kind.String())
	}
	return out
}

// definitionNames are the names of all definitions that were generated.
func definitionNames() []string {
	var names []string
	for name := range openapi.GetOpenAPIDefinitions(func(path string) spec.Ref { return spec.Ref{} }) {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func TestDefinitionNamer(t *testing.T) {
	t.Parallel()
	config, library := describe(t, native())
	tests := map[string]struct {
		definition string
		want       []string
	}{
		"a served kind has its served version alone": {
			definition: "io.k8s.api.apps.v1.DaemonSet", want: []string{"apps/v1, Kind=DaemonSet"},
		},
		"a list as well": {
			definition: "io.k8s.api.apps.v1.DaemonSetList", want: []string{"apps/v1, Kind=DaemonSetList"},
		},
		"a kind with versions that are only decoded": {
			definition: "io.k8s.api.certificates.v1.CertificateSigningRequest", want: []string{"certificates.k8s.io/v1, Kind=CertificateSigningRequest"},
		},
		"a kind of the core group": {
			definition: "io.k8s.api.core.v1.Namespace", want: []string{"/v1, Kind=Namespace"},
		},
		"a kind that all groups share keeps all of them": {
			definition: "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
			want:       []string{"/v1, Kind=DeleteOptions", "apps/v1, Kind=DeleteOptions", "certificates.k8s.io/v1, Kind=DeleteOptions"},
		},
		"a kind that is the library's own": {
			definition: "io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList", want: []string{"/v1, Kind=APIResourceList"},
		},
		"a part of a kind has none": {definition: "io.k8s.api.apps.v1.DaemonSetSpec"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			definition, extensions := config.OpenAPIV3Config.GetDefinitionName(test.definition)
			if definition != test.definition {
				t.Errorf("name is %s, want %s", definition, test.definition)
			}
			got := kindsOf(t, extensions)
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
			// What is filtered is what the library would have shown.
			_, all := library.GetDefinitionName(test.definition)
			for _, kind := range got {
				if !slices.Contains(kindsOf(t, all), kind) {
					t.Errorf("%s is not the library's", kind)
				}
			}
		})
	}
}

func TestDefinitionNamerOfARenamedGroup(t *testing.T) {
	t.Parallel()
	served := native()
	for i := range served {
		if served[i].As.Group == "apps" {
			served[i].As.Group = "apps.pinnace.dev"
		}
	}
	config, _ := describe(t, served)
	_, extensions := config.OpenAPIV3Config.GetDefinitionName("io.k8s.api.apps.v1.DaemonSet")
	if diff := cmp.Diff([]string{"apps.pinnace.dev/v1, Kind=DaemonSet"}, kindsOf(t, extensions)); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

// An extension that is not as the library writes it is left as it is.
func TestDefinitionNamerLeavesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	n := definitionNamer{served: map[string]string{"apps": "v1"}}
	for name, test := range map[string]struct {
		kind any
		want bool
	}{
		"no object":                         {kind: "apps/v1", want: true},
		"a group that is not served":        {kind: map[string]any{"group": "meta.k8s.io", "version": "v1beta1", "kind": "Table"}, want: true},
		"the internal version of any":       {kind: map[string]any{"group": "meta.k8s.io", "version": "__internal", "kind": "Table"}},
		"the served version":                {kind: map[string]any{"group": "apps", "version": "v1", "kind": "DaemonSet"}, want: true},
		"another version of a served group": {kind: map[string]any{"group": "apps", "version": "v1beta2", "kind": "DaemonSet"}},
	} {
		if got := n.isServed(test.kind); got != test.want {
			t.Errorf("%s: shown is %t, want %t", name, got, test.want)
		}
	}
}

// No definition anywhere names a version that clients can't use.
func TestNoDefinitionNamesAnInternalVersion(t *testing.T) {
	t.Parallel()
	config, _ := describe(t, native())
	hidden := regexp.MustCompile(`__internal|v\d+(alpha|beta)\d+`)
	named := 0
	for _, goName := range definitionNames() {
		name, extensions := config.OpenAPIV3Config.GetDefinitionName(goName)
		for _, kind := range kindsOf(t, extensions) {
			named++
			if hidden.MatchString(kind) {
				t.Errorf("%s is tied to %s", name, kind)
			}
		}
	}
	if named == 0 {
		t.Error("no definition names a kind")
	}
}

// From the kinds of every resource the definitions of all their parts can be reached, and nothing else is built.
func TestDefinitionsAreComplete(t *testing.T) {
	t.Parallel()
	config, _ := describe(t, native())
	var names, kinds []string
	for _, group := range native() {
		for _, r := range group.Resources {
			names = append(names, openapiutil.GetCanonicalTypeName(r.New()), openapiutil.GetCanonicalTypeName(r.NewList()))
			kinds = append(kinds, group.As.WithKind(r.Kind).String(), group.As.WithKind(r.Kind+"List").String())
		}
	}
	definitions, err := openapibuilder3.BuildOpenAPIDefinitionsForResources(config.OpenAPIV3Config, names...)
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]string{}
	reference := regexp.MustCompile(`"\$ref":"#/components/schemas/([^"]+)"`)
	reached := map[string]bool{}
	for name, definition := range definitions {
		for _, kind := range kindsOf(t, definition.Extensions) {
			described[kind] = name
		}
		data, err := json.Marshal(definition)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range reference.FindAllStringSubmatch(string(data), -1) {
			reached[match[1]] = true
			if _, ok := definitions[match[1]]; !ok {
				t.Errorf("%s refers to %s, which isn't there", name, match[1])
			}
		}
	}
	for _, kind := range kinds {
		if described[kind] == "" {
			t.Errorf("%s is not described", kind)
		}
	}
	for name := range definitions {
		if !reached[name] && !slices.ContainsFunc(kinds, func(kind string) bool { return described[kind] == name }) {
			t.Errorf("%s is described, but nothing refers to it", name)
		}
	}
}

func TestOpenAPIInfo(t *testing.T) {
	t.Parallel()
	config, _ := describe(t, native())
	if config.OpenAPIConfig.Info.Title != "Pinnace" || config.OpenAPIV3Config.Info.Title != "Pinnace" {
		t.Errorf("titles are %q and %q", config.OpenAPIConfig.Info.Title, config.OpenAPIV3Config.Info.Title)
	}
	for _, names := range []func(string) (string, spec.Extensions){config.OpenAPIConfig.GetDefinitionName, config.OpenAPIV3Config.GetDefinitionName} {
		_, extensions := names("io.k8s.api.apps.v1.DaemonSet")
		if got := strings.Join(kindsOf(t, extensions), " "); got != "apps/v1, Kind=DaemonSet" {
			t.Errorf("a configuration does not filter: %s", got)
		}
	}
}
