// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/source"
)

func TestIsVersion(t *testing.T) {
	t.Parallel()
	for element, want := range map[string]bool{
		"v1": true, "v10": true, "v1alpha1": true, "v2beta3": true,
		"": false, "v": false, "v0": false, "1": false, "v1alpha": false, "v1gamma1": false, "v1beta1x": false, "value": false,
	} {
		if got := source.IsVersion(element); got != want {
			t.Errorf("%q: got %t, want %t", element, got, want)
		}
	}
}

const text = `package p

import (
	"context"
	"example.com/lib/v2"
	named "example.com/other"
	"k8s.io/api/apps/v1"
)

func (p T) F() {}

func F(ctx context.Context, a, b *lib.Thing, c named.Thing, d v1.DaemonSet, e []other.Thing, f ...T) (T, error)
`

func TestFunc(t *testing.T) {
	t.Parallel()
	tree := source.NewTree(fstest.MapFS{
		"a/p/p.go":                  {Data: []byte(text)},
		"a/p/p_test.go":             {Data: []byte("package p_test\n\nfunc G() {}\n")},
		"a/p/zz_generated.other.go": {Data: []byte("this is not Go, and not read")},
		"a/p/notes.txt":             {Data: []byte("no Go")},
	}, "example.com/m")
	pkg, err := tree.Package("a/p")
	if err != nil {
		t.Fatal(err)
	}
	if pkg.Path != "example.com/m/a/p" || pkg.Name != "p" || pkg.Dir != "a/p" {
		t.Errorf("path %q, name %q, dir %q", pkg.Path, pkg.Name, pkg.Dir)
	}
	f, ok := pkg.Func("F")
	if !ok {
		t.Fatal("F is not found")
	}
	if got := f.Pos.String(); got != "a/p/p.go:12:6" {
		t.Errorf("F is at %s", got)
	}
	types := func(params []source.Param) (types []string) {
		for _, p := range params {
			types = append(types, p.Source+" is "+p.Type)
		}
		return types
	}
	want := []string{
		"context.Context is context.Context",
		"*lib.Thing is *example.com/lib/v2.Thing",
		"*lib.Thing is *example.com/lib/v2.Thing",
		"named.Thing is example.com/other.Thing",
		"v1.DaemonSet is k8s.io/api/apps/v1.DaemonSet",
		"[]other.Thing is ",
		"...T is ",
	}
	if diff := cmp.Diff(want, types(f.Params)); diff != "" {
		t.Errorf("parameters, -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"T is T", "error is error"}, types(f.Results)); diff != "" {
		t.Errorf("results, -want +got\n%s", diff)
	}
	if _, ok := pkg.Func("G"); ok {
		t.Error("a function of a test is found")
	}
}

func TestNoPackage(t *testing.T) {
	t.Parallel()
	tree := source.NewTree(fstest.MapFS{"a/notes.txt": {}, "b/b_test.go": {Data: []byte("package b\n")}}, "example.com/m")
	for _, dir := range []string{"a", "b", "c"} {
		if _, err := tree.Package(dir); !errors.Is(err, source.ErrNoPackage) {
			t.Errorf("%s: got %v, want %v", dir, err, source.ErrNoPackage)
		}
	}
}
