// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package generate_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/generate"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/hub"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/problem"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/source"
)

const testTypes = module + "/" + here + "/testdata/api/v1"

// known are the packages of types that tests declare something about; loadOnce loads all of them once for all tests. It
// takes seconds, and with the race detector ten times as long.
var (
	known    = []string{testTypes, "k8s.io/api/apps/v1", "k8s.io/api/certificates/v1", "k8s.io/api/core/v1"}
	loadOnce = sync.OnceValues(func() (*hub.Types, error) { return hub.Load(known) })
)

// loading is held while types are loaded, which must not be done twice at once.
var loading sync.Mutex

// loadTestTypes is hub.Load, but faster for what is known.
func loadTestTypes(paths []string) (*hub.Types, error) {
	loading.Lock()
	defer loading.Unlock()
	for _, path := range paths {
		if !slices.Contains(known, path) {
			return hub.Load(paths)
		}
	}
	return loadOnce()
}

const (
	docFile      = "pkg/apis/toys/doc.go"
	resourceFile = "pkg/apis/toys/resources.go"
	strategyFile = "pkg/registry/toys/widget/strategy.go"
)

// declare writes resources.go with one declaration of Widget; its first marker is in line 9.
func declare(markers ...string) string {
	return `package toys

import (
	toysv1 "` + testTypes + `"
)

// Widget is declared for a test.
//
// ` + strings.Join(markers, "\n// ") + `
type Widget = toysv1.Widget
`
}

// doc writes doc.go; its first marker is in line 3.
func doc(markers ...string) string {
	return "// Package toys is for tests.\n//\n// " + strings.Join(markers, "\n// ") + "\npackage toys\n"
}

// strategies writes strategy.go with declarations from line 6 on.
func strategies(declarations ...string) string {
	return `package widget

import "k8s.io/utils/clock"
import "k8s.io/apiserver/pkg/authorization/authorizer"

` + strings.Join(declarations, "\n") + "\n"
}

const (
	resourceMarker = "+pinnace:resource=widgets"
	scopeMarker    = "+pinnace:scope=Cluster"
	strategyType   = "type Strategy struct{}"
	newStrategy    = "func NewStrategy() Strategy { return Strategy{} }"
)

// sources are right; test cases replace what they are about.
func sources() map[string]string {
	return map[string]string{
		docFile:      doc("+pinnace:group=toys.example.com", "+pinnace:version=v1"),
		resourceFile: declare(resourceMarker, scopeMarker),
		strategyFile: strategies(strategyType, newStrategy),
	}
}

func run(t *testing.T, files map[string]string, dirs ...string) (*generate.Output, error) {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return generate.Run(generate.Input{
		Tree: source.NewTree(tree, module), Dirs: dirs, Renderer: renderer(), Types: loadTestTypes,
	})
}

// checkProblems runs every case on the sources with the files of the case in place of theirs; an empty text removes a file.
func checkProblems(t *testing.T, cases map[string]problemCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := sources()
			maps.Copy(files, c.files)
			maps.DeleteFunc(files, func(_, text string) bool { return text == "" })
			dirs := c.dirs
			if dirs == nil {
				dirs = []string{"pkg/apis/toys"}
			}
			output, err := run(t, files, dirs...)
			if err == nil {
				t.Fatalf("no error but files: %v", len(output.Files))
			}
			var problems problem.List
			if !errors.As(err, &problems) {
				t.Errorf("the error is %T, not a list of problems", err)
			}
			if diff := cmp.Diff(c.want, strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

type problemCase struct {
	files map[string]string
	dirs  []string
	want  []string
}

func TestSourcesAreRight(t *testing.T) {
	t.Parallel()
	output, err := run(t, sources(), "pkg/apis/toys")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"pkg/apis/toys/zz_generated.install.go",
		"pkg/registry/toys/rest/zz_generated.rest.go",
		"pkg/registry/toys/widget/storage/zz_generated.storage.go",
		"pkg/registry/zz_generated.groups.go",
	}
	if diff := cmp.Diff(want, sortedKeys(output.Files)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestPackageProblems(t *testing.T) {
	t.Parallel()
	checkProblems(t, map[string]problemCase{
		"an unknown marker is suggested the nearest": {
			files: map[string]string{docFile: doc("+pinnace:gruop=toys.example.com", "+pinnace:version=v1", "+pinnace:colour=red")},
			want: []string{
				`pkg/apis/toys/doc.go:3: +pinnace:group: is missing; a package of declarations has +pinnace:group=NAME in the comment above the package clause`,
				`pkg/apis/toys/doc.go:3: +pinnace:gruop=toys.example.com: unknown marker; did you mean +pinnace:group?`,
				`pkg/apis/toys/doc.go:5: +pinnace:colour=red: unknown marker; registry-gen --help lists the markers`,
			},
		},
		"a marker of a type stands above the package clause": {
			files: map[string]string{docFile: doc("+pinnace:group=toys.example.com", "+pinnace:version=v1", "+pinnace:scope=Cluster")},
			want: []string{
				`pkg/apis/toys/doc.go:5: +pinnace:scope=Cluster: belongs in the comment above a type alias, not in the comment above the package clause`,
			},
		},
		"the version is missing": {
			files: map[string]string{docFile: doc("+pinnace:group=toys.example.com")},
			want: []string{
				`pkg/apis/toys/doc.go:3: +pinnace:version: is missing; a package of declarations has +pinnace:version=VERSION in the comment above the package clause`,
			},
		},
		"the version is none, and a marker is given twice": {
			files: map[string]string{docFile: doc("+pinnace:group=toys.example.com", "+pinnace:version=1", "+pinnace:group=")},
			want: []string{
				`pkg/apis/toys/doc.go:4: +pinnace:version=1: "1" is not a version; versions look like v1, v1beta1, v2alpha3`,
				`pkg/apis/toys/doc.go:5: +pinnace:group=: is given twice; the first is in line 3`,
			},
		},
		"a marker has a value that takes none": {
			files: map[string]string{docFile: doc("+pinnace:group=toys.example.com", "+pinnace:version=v1", "+pinnace:defaults=true")},
			want: []string{
				`pkg/apis/toys/doc.go:5: +pinnace:defaults=true: takes no value; it is written +pinnace:defaults`,
			},
		},
		"nothing would write the defaults": {
			files: map[string]string{docFile: doc("+pinnace:group=toys.example.com", "+pinnace:version=v1", "+pinnace:defaults")},
			want: []string{
				`pkg/apis/toys/doc.go:5: +pinnace:defaults: nothing writes RegisterDefaults; add +k8s:defaulter-gen=TypeMeta and +k8s:defaulter-gen-input=PACKAGE OF THE TYPES for defaulter-gen`,
			},
		},
		"there is no function for validations": {
			files: map[string]string{docFile: doc("+pinnace:group=toys.example.com", "+pinnace:version=v1", "+pinnace:validations")},
			want: []string{
				`pkg/apis/toys/doc.go:5: +pinnace:validations: package github.com/pinnace-io/pinnace/pkg/apis/toys has no RegisterValidations; it is func RegisterValidations(*runtime.Scheme) error`,
			},
		},
		"the function for validations has other types": {
			files: map[string]string{
				docFile:                        doc("+pinnace:group=toys.example.com", "+pinnace:version=v1", "+pinnace:validations"),
				"pkg/apis/toys/declarative.go": "package toys\n\nfunc RegisterValidations(string) error { return nil }\n",
			},
			want: []string{
				`pkg/apis/toys/declarative.go:3: +pinnace:validations: RegisterValidations has other types than func RegisterValidations(*runtime.Scheme) error`,
			},
		},
		"the function for validations takes nothing": {
			files: map[string]string{
				docFile:                        doc("+pinnace:group=toys.example.com", "+pinnace:version=v1", "+pinnace:validations"),
				"pkg/apis/toys/declarative.go": "package toys\n\nfunc RegisterValidations() error { return nil }\n",
			},
			want: []string{
				`pkg/apis/toys/declarative.go:3: +pinnace:validations: RegisterValidations takes or returns too much or too little; it is func RegisterValidations(*runtime.Scheme) error`,
			},
		},
		"the package declares no resource": {
			files: map[string]string{resourceFile: "package toys\n"},
			want: []string{
				`pkg/apis/toys/doc.go:3: +pinnace:group=toys.example.com: the package declares no resource; a declaration is a type alias with +pinnace:resource`,
			},
		},
		"two packages declare one group": {
			files: map[string]string{
				"pkg/apis/dolls/doc.go":                 strings.ReplaceAll(doc("+pinnace:group=toys.example.com", "+pinnace:version=v1"), "toys\n", "dolls\n"),
				"pkg/apis/dolls/resources.go":           strings.Replace(declare(resourceMarker, scopeMarker), "package toys", "package dolls", 1),
				"pkg/registry/dolls/widget/strategy.go": strategies(strategyType, newStrategy),
			},
			dirs: []string{"pkg/apis/toys", "pkg/apis/dolls"},
			want: []string{
				`pkg/apis/toys/doc.go:3: +pinnace:group=toys.example.com: the group is declared in pkg/apis/dolls already; a group has one package of declarations`,
			},
		},
		"the package is not where declarations live": {
			files: map[string]string{
				"pkg/things/toys/doc.go":               doc("+pinnace:group=toys.example.com", "+pinnace:version=v1"),
				"pkg/things/toys/resources.go":         declare(resourceMarker, scopeMarker),
				"pkg/registry/toys/widget/strategy.go": strategies(strategyType, newStrategy),
			},
			dirs: []string{"pkg/things/toys"},
			want: []string{
				`pkg/things/toys/doc.go:3: +pinnace:group=toys.example.com: the package is in pkg/things/toys; declarations live in <base>/apis/<group>, and what is generated from them in <base>/registry`,
			},
		},
		"the package has a name that generated code needs": {
			files: map[string]string{
				docFile:      strings.Replace(doc("+pinnace:group=toys.example.com", "+pinnace:version=v1"), "package toys", "package rest", 1),
				resourceFile: strings.Replace(declare(resourceMarker, scopeMarker), "package toys", "package rest", 1),
			},
			want: []string{
				`pkg/apis/toys/doc.go:3: +pinnace:group=toys.example.com: the package is named rest, which generated code needs for something else`,
			},
		},
	})
}

func TestDeclarationProblems(t *testing.T) {
	t.Parallel()
	checkProblems(t, map[string]problemCase{
		"an unknown marker is suggested the nearest": {
			files: map[string]string{resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:shortname=wd", "+pinnace:selectableFields=spec.color", "+pinnace:wheels=4")},
			want: []string{
				`pkg/apis/toys/resources.go:11: +pinnace:shortname=wd: unknown marker; did you mean +pinnace:shortName?`,
				`pkg/apis/toys/resources.go:12: +pinnace:selectableFields=spec.color: unknown marker; did you mean +pinnace:selectableField?`,
				`pkg/apis/toys/resources.go:13: +pinnace:wheels=4: unknown marker; registry-gen --help lists the markers`,
			},
		},
		"markers do not start like markers": {
			files: map[string]string{resourceFile: declare(resourceMarker, scopeMarker, "+pinace:shortName=wd", "+pinnace.columns", "pinnace:columns", "+k8s:other=1", "Pinnace is a boat.", "+pinnace")},
			want: []string{
				`pkg/apis/toys/resources.go:11: +pinace:shortName=wd: is no marker; markers start with +pinnace:`,
				`pkg/apis/toys/resources.go:12: +pinnace.columns: is no marker; markers start with +pinnace:`,
				`pkg/apis/toys/resources.go:13: pinnace:columns: is no marker; markers start with +pinnace:`,
				`pkg/apis/toys/resources.go:16: +pinnace: is no marker; markers start with +pinnace:`,
			},
		},
		"a marker of the package stands above a type": {
			files: map[string]string{resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:validations")},
			want: []string{
				`pkg/apis/toys/resources.go:11: +pinnace:validations: belongs in the comment above the package clause, not in the comment above a type alias`,
			},
		},
		"the plural and the scope are missing": {
			files: map[string]string{resourceFile: declare("+pinnace:shortName=wd")},
			want: []string{
				`pkg/apis/toys/resources.go:10: +pinnace:resource: is missing; every declaration has +pinnace:resource=PLURAL`,
				`pkg/apis/toys/resources.go:10: +pinnace:scope: is missing; every declaration has +pinnace:scope=Cluster|Namespaced`,
			},
		},
		"values are missing, too many, or unknown": {
			files: map[string]string{resourceFile: declare(resourceMarker, "+pinnace:scope=namespaced", "+pinnace:shortName", "+pinnace:category=", "+pinnace:columns=yes", "+pinnace:garbageCollection=Delete", "+pinnace:hook=Deleted")},
			want: []string{
				`pkg/apis/toys/resources.go:10: +pinnace:scope=namespaced: unknown scope "namespaced"; did you mean Namespaced? it is one of Cluster, Namespaced`,
				`pkg/apis/toys/resources.go:11: +pinnace:shortName: needs a value; it is written +pinnace:shortName=NAME`,
				`pkg/apis/toys/resources.go:12: +pinnace:category=: needs a value; it is written +pinnace:category=NAME`,
				`pkg/apis/toys/resources.go:13: +pinnace:columns=yes: takes no value; it is written +pinnace:columns`,
				`pkg/apis/toys/resources.go:14: +pinnace:garbageCollection=Delete: unknown policy "Delete"; it is one of DeleteDependents, OrphanDependents, Unsupported`,
				`pkg/apis/toys/resources.go:15: +pinnace:hook=Deleted: unknown hook "Deleted"; did you mean Delete? it is one of Delete, ReturnDeletedObject, ShouldDeleteDuringUpdate`,
			},
		},
		"names are not names": {
			files: map[string]string{resourceFile: declare("+pinnace:resource=Widgets", scopeMarker, "+pinnace:shortName=1w", "+pinnace:category=all,mine", "+pinnace:subresource=/status")},
			want: []string{
				`pkg/apis/toys/resources.go:9: +pinnace:resource=Widgets: "Widgets" is not a name; names are lower-case letters and digits and start with a letter`,
				`pkg/apis/toys/resources.go:11: +pinnace:shortName=1w: "1w" is not a name; names are lower-case letters and digits and start with a letter`,
				`pkg/apis/toys/resources.go:12: +pinnace:category=all,mine: "all,mine" is not a name; names are lower-case letters and digits and start with a letter`,
				`pkg/apis/toys/resources.go:13: +pinnace:subresource=/status: "/status" is not a name; names are lower-case letters and digits and start with a letter`,
			},
		},
		"things are given twice": {
			files: map[string]string{resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:category=all", "+pinnace:category=all", "+pinnace:resetFields=status,status", "+pinnace:scope=Cluster",
				"+pinnace:hook=ReturnDeletedObject", "+pinnace:hook=ReturnDeletedObject", "+pinnace:selectableField=spec.color", "+pinnace:selectableField=spec.color")},
			want: []string{
				`pkg/apis/toys/resources.go:12: +pinnace:category=all: "all" is given twice`,
				`pkg/apis/toys/resources.go:13: +pinnace:resetFields=status,status: "status" is given twice`,
				`pkg/apis/toys/resources.go:14: +pinnace:scope=Cluster: is given twice; the first is in line 10`,
				`pkg/apis/toys/resources.go:16: +pinnace:hook=ReturnDeletedObject: is given twice; the first is in line 15`,
				`pkg/apis/toys/resources.go:18: +pinnace:selectableField=spec.color: "spec.color" is given twice`,
			},
		},
		"verbs are unknown or given twice": {
			files: map[string]string{resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:verbs=get,list,lists,get,replace")},
			want: []string{
				`pkg/apis/toys/resources.go:11: +pinnace:verbs=get,list,lists,get,replace: "get" is given twice`,
				`pkg/apis/toys/resources.go:11: +pinnace:verbs=get,list,lists,get,replace: unknown verb "lists"; did you mean list? it is one of create, delete, deletecollection, get, list, patch, update, watch`,
				`pkg/apis/toys/resources.go:11: +pinnace:verbs=get,list,lists,get,replace: unknown verb "replace"; it is one of create, delete, deletecollection, get, list, patch, update, watch`,
			},
		},
		"patch stands alone": {
			files: map[string]string{resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:verbs=get,patch")},
			want:  []string{`pkg/apis/toys/resources.go:11: +pinnace:verbs=get,patch: patch needs get and update`},
		},
		"patch would come unasked": {
			files: map[string]string{resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:verbs=get,update")},
			want:  []string{`pkg/apis/toys/resources.go:11: +pinnace:verbs=get,update: get and update bring patch with them; add patch, or leave one of the two out`},
		},
		"watch without list": {
			files: map[string]string{resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:verbs=get,watch")},
			want:  []string{`pkg/apis/toys/resources.go:11: +pinnace:verbs=get,watch: watch needs list`},
		},
		"hooks would be passed by or never called": {
			files: map[string]string{
				resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:verbs=deletecollection,get,list", "+pinnace:hook=Delete", "+pinnace:hook=ReturnDeletedObject", "+pinnace:hook=ShouldDeleteDuringUpdate"),
				strategyFile: strategies(strategyType, newStrategy, "func Delete(a, b, c int) (x, y, z int)", "func ShouldDeleteDuringUpdate(a, b, c, d int) bool"),
			},
			want: []string{
				`pkg/apis/toys/resources.go:12: +pinnace:hook=Delete: is never called; +pinnace:verbs does not have delete`,
				`pkg/apis/toys/resources.go:12: +pinnace:hook=Delete: the deletion of a collection would pass the hook by; leave deletecollection out of +pinnace:verbs`,
				`pkg/apis/toys/resources.go:13: +pinnace:hook=ReturnDeletedObject: is never called; +pinnace:verbs does not have delete`,
				`pkg/apis/toys/resources.go:14: +pinnace:hook=ShouldDeleteDuringUpdate: is never called; +pinnace:verbs does not have update`,
			},
		},
		"options of subresources are wrong": {
			files: map[string]string{
				resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:subresource=status,reset=spec,get=no", "+pinnace:subresource=status", "+pinnace:subresource=columns", "+pinnace:subresource=widget", "+pinnace:subresource=paint,get=false,get=true"),
				strategyFile: strategies(strategyType, newStrategy, "func NewStatusStrategy() StatusStrategy", "func NewPaintStrategy() PaintStrategy"),
			},
			want: []string{
				`pkg/apis/toys/resources.go:11: +pinnace:subresource=status,reset=spec,get=no: unknown option "reset"; it is one of resetFields, get, table`,
				`pkg/apis/toys/resources.go:11: +pinnace:subresource=status,reset=spec,get=no: unknown value of get "no"; it is one of true, false`,
				`pkg/apis/toys/resources.go:12: +pinnace:subresource=status: "status" is given twice`,
				`pkg/apis/toys/resources.go:13: +pinnace:subresource=columns: generated code needs the name "columns" for something else`,
				`pkg/apis/toys/resources.go:14: +pinnace:subresource=widget: generated code needs the name "widget" for something else`,
				`pkg/apis/toys/resources.go:15: +pinnace:subresource=paint,get=false,get=true: "get" is given twice`,
			},
		},
		"two resources share names": {
			files: map[string]string{
				resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:shortName=wd", "+pinnace:shortName=box") + `
// Box is a second one.
//
// +pinnace:resource=widgets
// +pinnace:scope=Cluster
// +pinnace:shortName=wd
type Box = toysv1.Box
`,
				"pkg/registry/toys/box/strategy.go": strategies(strategyType, newStrategy),
			},
			want: []string{
				`pkg/apis/toys/resources.go:12: +pinnace:shortName=box: "box" is a name of Box already (pkg/apis/toys/resources.go:17); names are unique within a group`,
				`pkg/apis/toys/resources.go:17: +pinnace:resource=widgets: "widgets" is a name of Widget already (pkg/apis/toys/resources.go:9); names are unique within a group`,
				`pkg/apis/toys/resources.go:19: +pinnace:shortName=wd: "wd" is a name of Widget already (pkg/apis/toys/resources.go:9); names are unique within a group`,
			},
		},
		"a declaration is no alias, has another name, or is none of a package": {
			files: map[string]string{
				resourceFile: strings.Replace(declare(resourceMarker, scopeMarker), "type Widget = toysv1.Widget", "type Widget toysv1.Widget", 1),
				"pkg/apis/toys/others.go": `package toys

import . "strings"

// +pinnace:resource=things
// +pinnace:scope=Cluster
type Thing = Other

type Other = Builder
`,
			},
			want: []string{
				`pkg/apis/toys/doc.go:3: +pinnace:group=toys.example.com: the package declares no resource; a declaration is a type alias with +pinnace:resource`,
				`pkg/apis/toys/others.go:7: +pinnace:resource=things: Thing is not an alias of a type of another package; a declaration is "type Kind = package.Kind"`,
				`pkg/apis/toys/resources.go:11: +pinnace:resource=widgets: Widget is not an alias of a type of another package; a declaration is "type Kind = package.Kind"`,
			},
		},
		"the alias has another name than its type": {
			files: map[string]string{resourceFile: strings.Replace(declare(resourceMarker, scopeMarker), "type Widget =", "type Toy =", 1)},
			want: []string{
				`pkg/apis/toys/resources.go:11: +pinnace:resource=widgets: the alias Toy has another name than its type Widget, which is the kind that clients write`,
			},
		},
		"markers are attached to nothing": {
			files: map[string]string{resourceFile: declare(resourceMarker, scopeMarker) + `
// +pinnace:columns

// No markers here.
func f() {
	/*
	   +pinnace:scope=Cluster */
}
`},
			want: []string{
				`pkg/apis/toys/resources.go:13: +pinnace:columns: is attached to nothing; markers stand in the comment above the package clause or in the comment above a type alias, with no blank line between`,
				`pkg/apis/toys/resources.go:18: +pinnace:scope=Cluster: is attached to nothing; markers stand in the comment above the package clause or in the comment above a type alias, with no blank line between`,
			},
		},
		"the package is none of declarations": {
			files: map[string]string{"pkg/apis/others/others.go": strings.Replace(declare(resourceMarker, scopeMarker), "package toys", "package others", 1)},
			dirs:  []string{"pkg/apis/others", "pkg/apis/toys", "pkg/apis/nothing"},
			want: []string{
				`pkg/apis/others/others.go:9: +pinnace:resource=widgets: the package is none of declarations: +pinnace:group is missing in the comment above the package clause`,
			},
		},
	})
}

func TestTypeProblems(t *testing.T) {
	t.Parallel()
	declareKind := func(kind string) map[string]string {
		return map[string]string{resourceFile: strings.Replace(declare(resourceMarker, scopeMarker), "type Widget = toysv1.Widget", "type "+kind+" = toysv1."+kind, 1),
			"pkg/registry/toys/" + strings.ToLower(kind) + "/strategy.go": strategies(strategyType, newStrategy)}
	}
	checkProblems(t, map[string]problemCase{
		"there is no such type": {
			files: declareKind("Wodget"),
			want:  []string{`pkg/apis/toys/resources.go:9: +pinnace:resource=widgets: there is no type Wodget in ` + testTypes},
		},
		"the type is no struct": {
			files: declareKind("Size"),
			want:  []string{`pkg/apis/toys/resources.go:9: +pinnace:resource=widgets: there is no type Size in ` + testTypes},
		},
		"the type is no object": {
			files: declareKind("Part"),
			want:  []string{`pkg/apis/toys/resources.go:9: +pinnace:resource=widgets: ` + testTypes + `.Part is not an API object: it has no TypeMeta, no ObjectMeta or no DeepCopyObject`},
		},
		"there is no list type": {
			files: declareKind("Lonely"),
			want:  []string{`pkg/apis/toys/resources.go:9: +pinnace:resource=widgets: there is no list type LonelyList with a ListMeta in ` + testTypes},
		},
		"fields do not exist": {
			files: map[string]string{
				resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:resetFields=spec,stats", "+pinnace:selectableField=spec.colour", "+pinnace:selectableField=status.phase.name",
					"+pinnace:subresource=status,resetFields=spec.tags.first;spec.wheels"),
				strategyFile: strategies(strategyType, newStrategy, "func NewStatusStrategy() StatusStrategy"),
			},
			want: []string{
				`pkg/apis/toys/resources.go:11: +pinnace:resetFields=spec,stats: Widget has no field stats; did you mean status?`,
				`pkg/apis/toys/resources.go:12: +pinnace:selectableField=spec.colour: Widget has no field spec.colour; did you mean spec.color?`,
				`pkg/apis/toys/resources.go:13: +pinnace:selectableField=status.phase.name: status.phase has no fields with names of their own, so there is no status.phase.name`,
				`pkg/apis/toys/resources.go:14: +pinnace:subresource=status,resetFields=spec.tags.first;spec.wheels: Widget has no field spec.wheels`,
				`pkg/apis/toys/resources.go:14: +pinnace:subresource=status,resetFields=spec.tags.first;spec.wheels: spec.tags has no fields with names of their own, so there is no spec.tags.first`,
			},
		},
		"paths are not paths": {
			files: map[string]string{resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:resetFields=spec;status", "+pinnace:selectableField=spec..color", "+pinnace:selectableField==metadata.name")},
			want: []string{
				`pkg/apis/toys/resources.go:11: +pinnace:resetFields=spec;status: "spec;status" is not a path; paths are JSON names joined by dots, such as status.conditions`,
				`pkg/apis/toys/resources.go:12: +pinnace:selectableField=spec..color: "spec..color" is not a path; paths are JSON names joined by dots, such as status.conditions`,
				`pkg/apis/toys/resources.go:13: +pinnace:selectableField==metadata.name: the label before = is empty`,
			},
		},
		"fields can't be selected": {
			files: map[string]string{resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:selectableField=spec.count", "+pinnace:selectableField=spec.tags", "+pinnace:selectableField=spec.label",
				"+pinnace:selectableField=spec.parent.name", "+pinnace:selectableField=spec", "+pinnace:selectableField=metadata.name")},
			want: []string{
				`pkg/apis/toys/resources.go:11: +pinnace:selectableField=spec.count: spec.count is not a string but int32; only strings can be selected`,
				`pkg/apis/toys/resources.go:12: +pinnace:selectableField=spec.tags: spec.tags is not a string but []string; only strings can be selected`,
				`pkg/apis/toys/resources.go:13: +pinnace:selectableField=spec.label: spec.label is a pointer; only fields that every object has can be selected`,
				`pkg/apis/toys/resources.go:14: +pinnace:selectableField=spec.parent.name: spec.parent is a pointer; only fields that every object has can be selected`,
				`pkg/apis/toys/resources.go:15: +pinnace:selectableField=spec: spec is not a string but WidgetSpec; only strings can be selected`,
				`pkg/apis/toys/resources.go:16: +pinnace:selectableField=metadata.name: metadata.name needs no marker; it always is selectable where objects have it`,
			},
		},
	})
}

func TestDecisionProblems(t *testing.T) {
	t.Parallel()
	checkProblems(t, map[string]problemCase{
		"there are no strategies": {
			files: map[string]string{strategyFile: ""},
			want: []string{
				`pkg/apis/toys/resources.go:9: +pinnace:resource=widgets: there is no Go package in pkg/registry/toys/widget; write Strategy and NewStrategy there (with --install-only, registry-gen does not ask for it)`,
			},
		},
		"the strategies are not Go": {
			files: map[string]string{strategyFile: "package widget\n\nfunc {\n"},
			want: []string{
				`pkg/apis/toys/resources.go:9: +pinnace:resource=widgets: could not read pkg/registry/toys/widget: pkg/registry/toys/widget/strategy.go:3:6: expected 'IDENT', found '{'`,
			},
		},
		"constructors and hooks are missing": {
			files: map[string]string{
				resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:columns", "+pinnace:subresource=status", "+pinnace:verbs=delete,get,patch,update", "+pinnace:hook=Delete", "+pinnace:hook=ShouldDeleteDuringUpdate", "+pinnace:normalize=NormalizeWidget", "+pinnace:new=NewWidget", "+pinnace:metadataView=View"),
				strategyFile: strategies(strategyType, "func (Strategy) NewStrategy() Strategy { return Strategy{} }"),
			},
			want: []string{
				`pkg/apis/toys/resources.go:9: +pinnace:resource=widgets: package github.com/pinnace-io/pinnace/pkg/registry/toys/widget has no constructor NewStrategy; it is func NewStrategy(clock.PassiveClock, authorizer.Authorizer) Strategy`,
				`pkg/apis/toys/resources.go:11: +pinnace:columns: package github.com/pinnace-io/pinnace/pkg/registry/toys/widget has no constructor NewColumns; it is func NewColumns(clock.PassiveClock) Columns`,
				`pkg/apis/toys/resources.go:12: +pinnace:subresource=status: package github.com/pinnace-io/pinnace/pkg/registry/toys/widget has no constructor NewStatusStrategy; it is func NewStatusStrategy(clock.PassiveClock, authorizer.Authorizer, Strategy) StatusStrategy`,
				`pkg/apis/toys/resources.go:14: +pinnace:hook=Delete: package github.com/pinnace-io/pinnace/pkg/registry/toys/widget has no Delete; it is func Delete(context.Context, *registry.Store, strategy.DeleteRequest) (runtime.Object, bool, error)`,
				`pkg/apis/toys/resources.go:15: +pinnace:hook=ShouldDeleteDuringUpdate: package github.com/pinnace-io/pinnace/pkg/registry/toys/widget has no ShouldDeleteDuringUpdate; it is func ShouldDeleteDuringUpdate(ctx context.Context, key string, obj, existing *Widget) bool`,
				`pkg/apis/toys/resources.go:16: +pinnace:normalize=NormalizeWidget: package github.com/pinnace-io/pinnace/pkg/apis/toys has no NormalizeWidget; it is func NormalizeWidget(*Widget) error`,
				`pkg/apis/toys/resources.go:17: +pinnace:new=NewWidget: package github.com/pinnace-io/pinnace/pkg/apis/toys has no NewWidget; it is func NewWidget() *Widget`,
				`pkg/apis/toys/resources.go:18: +pinnace:metadataView=View: package github.com/pinnace-io/pinnace/pkg/apis/toys has no View; it is func View(*Widget) *Widget`,
			},
		},
		"constructors ask for what they can't have": {
			files: map[string]string{
				resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:columns", "+pinnace:subresource=status"),
				strategyFile: strategies(
					strategyType,
					"func NewStrategy(now clock.Clock, all ...*http.Client) Strategy { return Strategy{} }",
					"type Columns struct{}",
					"func NewColumns(a, b clock.PassiveClock, c authorizer.Authorizer) Columns { return Columns{} }",
					"type StatusStrategy struct{}",
					"func NewStatusStrategy(main Strategy, now clock.PassiveClock, who map[string][]func()) (StatusStrategy, error) { return StatusStrategy{}, nil }",
				),
			},
			want: []string{
				`pkg/registry/toys/widget/strategy.go:7: +pinnace:resource=widgets: NewStrategy asks for ...*http.Client; it can ask for clock.PassiveClock, authorizer.Authorizer`,
				`pkg/registry/toys/widget/strategy.go:7: +pinnace:resource=widgets: NewStrategy asks for clock.Clock; it can ask for clock.PassiveClock, authorizer.Authorizer`,
				`pkg/registry/toys/widget/strategy.go:9: +pinnace:columns: NewColumns asks for authorizer.Authorizer; it can ask for clock.PassiveClock`,
				`pkg/registry/toys/widget/strategy.go:9: +pinnace:columns: NewColumns asks for clock.PassiveClock twice`,
				`pkg/registry/toys/widget/strategy.go:11: +pinnace:subresource=status: NewStatusStrategy asks for map[string][]func; it can ask for clock.PassiveClock, authorizer.Authorizer, Strategy`,
				`pkg/registry/toys/widget/strategy.go:11: +pinnace:subresource=status: NewStatusStrategy returns something else than one StatusStrategy`,
			},
		},
		"what is written would never be called": {
			files: map[string]string{
				"pkg/apis/toys/functions.go": "package toys\n\nfunc NormalizeWidget() {}\n\nfunc RegisterValidations() {}\n",
				strategyFile: strategies(strategyType, newStrategy,
					"func NewColumns() Columns { return Columns{} }",
					"func NewStatusStrategy() StatusStrategy { return StatusStrategy{} }",
					"func ShouldDeleteDuringUpdate() bool { return true }",
					"func Delete(a, b int, c string) {}",
				),
				"pkg/registry/toys/widget/delete.go": "package widget\n\nimport \"example.com/strategy\"\n\nfunc Deleted(a, b int, c strategy.DeleteRequest) {}\n",
			},
			want: []string{
				`pkg/apis/toys/functions.go:3: +pinnace:normalize=NormalizeWidget: is missing, so that NormalizeWidget is never called; add it to the declaration of Widget (pkg/apis/toys/resources.go:9)`,
				`pkg/apis/toys/functions.go:5: +pinnace:validations: is missing, so that RegisterValidations is never called; add it to the comment above the package clause (pkg/apis/toys/doc.go:3)`,
				`pkg/registry/toys/widget/strategy.go:8: +pinnace:columns: is missing, so that NewColumns is never called; add it to the declaration of Widget (pkg/apis/toys/resources.go:9)`,
				`pkg/registry/toys/widget/strategy.go:9: +pinnace:subresource=status: is missing, so that NewStatusStrategy is never called; add it to the declaration of Widget (pkg/apis/toys/resources.go:9)`,
				`pkg/registry/toys/widget/strategy.go:10: +pinnace:hook=ShouldDeleteDuringUpdate: is missing, so that ShouldDeleteDuringUpdate is never called; add it to the declaration of Widget (pkg/apis/toys/resources.go:9)`,
			},
		},
		"decoded versions are served, twice the same, or no versions": {
			files: map[string]string{
				resourceFile: declare(resourceMarker, scopeMarker, "+pinnace:decodedVersion=v1", "+pinnace:decodedVersion=v1beta1", "+pinnace:decodedVersion=v1beta1", "+pinnace:decodedVersion=V2"),
			},
			want: []string{
				`pkg/apis/toys/resources.go:11: +pinnace:decodedVersion=v1: v1 is the served version, which is decoded anyway`,
				`pkg/apis/toys/resources.go:13: +pinnace:decodedVersion=v1beta1: "v1beta1" is given twice`,
				`pkg/apis/toys/resources.go:14: +pinnace:decodedVersion=V2: "V2" is not a name; names are lower-case letters and digits and start with a letter`,
			},
		},
		"a deletion is written but no hook": {
			files: map[string]string{
				"pkg/registry/toys/widget/delete.go": "package widget\n\nimport \"example.com/strategy\"\n\nfunc Delete(a, b int, c strategy.DeleteRequest) {}\n",
			},
			want: []string{
				`pkg/registry/toys/widget/delete.go:5: +pinnace:hook=Delete: is missing, so that Delete is never called; add it to the declaration of Widget (pkg/apis/toys/resources.go:9)`,
			},
		},
		"functions take too much": {
			files: map[string]string{
				resourceFile:                 declare(resourceMarker, scopeMarker, "+pinnace:normalize=NormalizeWidget", "+pinnace:verbs=delete", "+pinnace:hook=Delete"),
				"pkg/apis/toys/normalize.go": "package toys\n\nfunc NormalizeWidget(a, b int) error { return nil }\n",
				strategyFile:                 strategies(strategyType, newStrategy, "func Delete() {}"),
			},
			want: []string{
				`pkg/apis/toys/normalize.go:3: +pinnace:normalize=NormalizeWidget: NormalizeWidget takes or returns too much or too little; it is func NormalizeWidget(*Widget) error`,
				`pkg/registry/toys/widget/strategy.go:8: +pinnace:hook=Delete: Delete takes or returns too much or too little; it is func Delete(context.Context, *registry.Store, strategy.DeleteRequest) (runtime.Object, bool, error)`,
			},
		},
		"the package of the strategies has a name that generated code needs": {
			files: map[string]string{strategyFile: strings.Replace(strategies(strategyType, newStrategy), "package widget", "package table", 1)},
			want: []string{
				`pkg/apis/toys/resources.go:9: +pinnace:resource=widgets: the package of the strategies is named table, which generated code needs for something else`,
			},
		},
	})
}

// A package of types that does not exist spoils neither the other packages nor their messages.
func TestMissingTypePackage(t *testing.T) {
	t.Parallel()
	files := sources()
	files[resourceFile] = declare(resourceMarker, scopeMarker, "+pinnace:selectableField=spec.colour")
	files["pkg/apis/toys/others.go"] = `package toys

import nov1 "` + testTypes + `/no/v1"

// +pinnace:resource=things
// +pinnace:scope=Cluster
type Thing = nov1.Thing
`
	files["pkg/registry/toys/thing/strategy.go"] = strategies(strategyType, newStrategy)
	_, err := run(t, files, "pkg/apis/toys")
	var problems problem.List
	if !errors.As(err, &problems) || len(problems) != 2 {
		t.Fatalf("not two problems: %v", err)
	}
	if got, want := problems[0].Error(), "pkg/apis/toys/others.go:5: +pinnace:resource=things: could not load "+testTypes+"/no/v1: "; !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
		t.Errorf("got %q, want one line that starts with %q", got, want)
	}
	want := "pkg/apis/toys/resources.go:11: +pinnace:selectableField=spec.colour: Widget has no field spec.colour; did you mean spec.color?"
	if diff := cmp.Diff(want, problems[1].Error()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
