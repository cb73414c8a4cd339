// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package openapi_test

import (
	"encoding/json"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	utilopenapi "k8s.io/apiserver/pkg/util/openapi"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kube-openapi/pkg/builder"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/pinnace-io/pinnace/pkg/generated/openapi"
)

// modelNamed is a type with a definition.
type modelNamed interface{ OpenAPIModelName() string }

func served() []string {
	types := []modelNamed{
		certificatesv1.CertificateSigningRequest{}, certificatesv1.CertificateSigningRequestList{},
		appsv1.DaemonSet{}, appsv1.DaemonSetList{}, appsv1.ControllerRevision{}, appsv1.ControllerRevisionList{},
		corev1.Namespace{}, corev1.NamespaceList{},
		metav1.APIGroup{}, metav1.APIGroupList{}, metav1.APIResourceList{}, metav1.APIVersions{},
		metav1.DeleteOptions{}, metav1.Patch{}, metav1.Status{}, metav1.WatchEvent{}, version.Info{},
	}
	var names []string
	for _, t := range types {
		names = append(names, t.OpenAPIModelName())
	}
	return names
}

// upstreamDir is the folder of k8s.io/kubernetes, whose generated and published definitions are compared with ours.
func upstreamDir(t *testing.T) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	if err != nil {
		t.Fatalf("could not find k8s.io/kubernetes: %v", err)
	}
	return strings.TrimSpace(string(dir))
}

// withoutEnums are our definitions as kube-apiserver has them when OpenAPIEnums is off, which it is for what upstream
// publishes in its repository. TestDefinitionsAreGeneratedAsUpstream compares enums.
func withoutEnums(t *testing.T) common.GetOpenAPIDefinitions {
	t.Helper()
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.OpenAPIEnums, false)
	return utilopenapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(openapi.GetOpenAPIDefinitions)
}

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// plain returns definitions as JSON has them, without the kinds that they're tied to: those follow from the scheme.
func plain(t *testing.T, definitions any) map[string]map[string]any {
	t.Helper()
	text, err := json.Marshal(definitions)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]any{}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	for _, definition := range out {
		delete(definition, "x-kubernetes-group-version-kind")
	}
	return out
}

// compare wants each of our definitions to be one of upstream's. Those that ours refer to are among them, or building
// them would have failed.
func compare(t *testing.T, ours, upstream map[string]map[string]any) {
	t.Helper()
	for _, name := range served() {
		if ours[name] == nil {
			t.Errorf("there is no definition of %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if upstream[name] == nil {
			t.Errorf("kube-apiserver doesn't publish %s", name)
			continue
		}
		if diff := cmp.Diff(upstream[name], ours[name]); diff != "" {
			t.Errorf("%s differs from upstream's (-upstream +ours):\n%s", name, diff)
		}
	}
}

func TestDefinitionsV3EqualPublishedOnes(t *testing.T) {
	ours, err := builder3.BuildOpenAPIDefinitionsForResources(&common.OpenAPIV3Config{
		Info:           &spec.Info{},
		GetDefinitions: withoutEnums(t),
	}, served()...)
	if err != nil {
		t.Fatal(err)
	}

	upstream := map[string]map[string]any{}
	for _, name := range []string{"api", "api__v1", "apis", "apis__apps", "apis__apps__v1", "apis__certificates.k8s.io__v1", "version"} {
		var published struct {
			Components struct{ Schemas any }
		}
		readJSON(t, filepath.Join(upstreamDir(t), "api", "openapi-spec", "v3", name+"_openapi.json"), &published)
		maps.Copy(upstream, plain(t, published.Components.Schemas))
	}
	compare(t, plain(t, ours), upstream)
}

func TestDefinitionsV2EqualPublishedOnes(t *testing.T) {
	ours, err := builder.BuildOpenAPIDefinitionsForResources(&common.Config{
		Info:           &spec.Info{},
		GetDefinitions: withoutEnums(t),
	}, served()...)
	if err != nil {
		t.Fatal(err)
	}

	var published struct{ Definitions any }
	readJSON(t, filepath.Join(upstreamDir(t), "api", "openapi-spec", "swagger.json"), &published)
	compare(t, plain(t, handler.PruneDefaults(ours.Definitions)), plain(t, published.Definitions))
}

// schemaFunctions returns the functions that define the types, by name, as text that's independent of how the file
// names its imports.
func schemaFunctions(t *testing.T, name string) map[string]string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{}
	for _, spec := range file.Imports {
		paths[spec.Name.Name] = spec.Path.Value
	}
	functions := map[string]string{}
	for _, decl := range file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(function.Name.Name, "schema_") {
			continue
		}
		ast.Inspect(function, func(node ast.Node) bool {
			if selector, ok := node.(*ast.SelectorExpr); ok {
				if pkg, ok := selector.X.(*ast.Ident); ok && paths[pkg.Name] != "" {
					pkg.Name = paths[pkg.Name]
				}
			}
			return true
		})
		var text strings.Builder
		if err := format.Node(&text, set, function); err != nil {
			t.Fatal(err)
		}
		functions[function.Name.Name] = text.String()
	}
	return functions
}

func TestDefinitionsAreGeneratedAsUpstream(t *testing.T) {
	t.Parallel()
	ours := schemaFunctions(t, "zz_generated.openapi.go")
	upstream := schemaFunctions(t, filepath.Join(upstreamDir(t), "pkg", "generated", "openapi", "zz_generated.openapi.go"))
	if want := len(openapi.GetOpenAPIDefinitions(func(string) spec.Ref { return spec.Ref{} })); len(ours) != want {
		t.Errorf("%d functions for %d definitions", len(ours), want)
	}
	for name, text := range ours {
		if diff := cmp.Diff(upstream[name], text); diff != "" {
			t.Errorf("%s differs from upstream's (-upstream +ours):\n%s", name, diff)
		}
	}
}

func TestNothingIsDefinedThatIsNotServed(t *testing.T) {
	t.Parallel()
	definitions := openapi.GetOpenAPIDefinitions(func(name string) spec.Ref { return spec.MustCreateRef("#/" + name) })
	reached := map[string]bool{}
	for queue := served(); len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		if reached[name] {
			continue
		}
		reached[name] = true
		definition, ok := definitions[name]
		if !ok {
			t.Errorf("there is no definition of %s", name)
		}
		queue = append(queue, definition.Dependencies...)
	}
	for name := range definitions {
		if !reached[name] {
			t.Errorf("%s is defined, but nothing that's served refers to it", name)
		}
	}
}
