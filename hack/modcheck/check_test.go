// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const upstreamMod = `module k8s.io/kubernetes

require (
	example.com/a v1.2.3
	example.com/b v0.0.0-20260101000000-abcdefabcdef
	k8s.io/api v0.0.0
	k8s.io/kubectl v0.0.0
)
`

func TestCheck(t *testing.T) {
	t.Parallel()
	const excludes = "exclude (\n\tk8s.io/api v0.0.0\n\tk8s.io/kubectl v0.0.0\n)\n"
	kubernetes := module{Path: "k8s.io/kubernetes", Version: "v1.37.2"}
	tests := map[string]struct {
		mod     string
		modules []module
		want    []problem
	}{
		"all as it should be": {
			mod: excludes,
			modules: []module{
				{Path: "example.com/a", Version: "v1.2.3"}, {Path: "k8s.io/api", Version: "v0.37.2"},
				{Path: "example.com/b", Version: "v0.0.0-20260101000000-abcdefabcdef"},
			},
		},
		"newer than upstream's": {
			mod: excludes, modules: []module{{Path: "example.com/a", Version: "v1.10.0"}, {Path: "example.com/b", Version: "v0.0.0-20260201000000-abcdefabcdef"}},
		},
		"replaced by the same": {
			mod: excludes, modules: []module{{Path: "example.com/a", Version: "v1.2.0", Replace: &module{Path: "example.com/fork", Version: "v1.2.3"}}},
		},
		"older than upstream's": {
			mod: excludes, modules: []module{{Path: "example.com/a", Version: "v1.2.2"}, {Path: "example.com/b", Version: "v0.0.0-20251231000000-abcdefabcdef"}},
			want: []problem{
				{"example.com/a is used at v1.2.2, but k8s.io/kubernetes asks for v1.2.3", "-require=example.com/a@v1.2.3"},
				{"example.com/b is used at v0.0.0-20251231000000-abcdefabcdef, but k8s.io/kubernetes asks for v0.0.0-20260101000000-abcdefabcdef", "-require=example.com/b@v0.0.0-20260101000000-abcdefabcdef"},
			},
		},
		"replaced by something older": {
			mod: excludes, modules: []module{{Path: "example.com/a", Version: "v1.2.3", Replace: &module{Path: "example.com/fork", Version: "v1.0.0"}}},
			want: []problem{{text: "example.com/a is replaced by v1.0.0, but k8s.io/kubernetes asks for v1.2.3"}},
		},
		"replaced by a folder": {
			mod: excludes, modules: []module{{Path: "example.com/a", Version: "v1.2.3", Replace: &module{Path: "../a"}}},
			want: []problem{{text: "example.com/a is replaced by the folder ../a"}},
		},
		"a part of another release, newer or older": {
			mod: excludes, modules: []module{{Path: "k8s.io/api", Version: "v0.38.0"}, {Path: "k8s.io/kubectl", Version: "v0.37.1"}},
			want: []problem{
				{"k8s.io/api is used at v0.38.0, but belongs to the release of k8s.io/kubernetes at v0.37.2", "-require=k8s.io/api@v0.37.2"},
				{"k8s.io/kubectl is used at v0.37.1, but belongs to the release of k8s.io/kubernetes at v0.37.2", "-require=k8s.io/kubectl@v0.37.2"},
			},
		},
		"an exclude is missing": {
			mod:  "exclude k8s.io/api v0.0.0\n",
			want: []problem{{"k8s.io/kubernetes asks for k8s.io/kubectl@v0.0.0, which isn't published and must be excluded", "-exclude=k8s.io/kubectl@v0.0.0"}},
		},
		"an exclude too many": {
			mod:  excludes + "exclude k8s.io/gone v0.0.0\n",
			want: []problem{{"k8s.io/gone@v0.0.0 is excluded, but k8s.io/kubernetes doesn't ask for it any more", "-dropexclude=k8s.io/gone@v0.0.0"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			modules := map[string]module{kubernetes.Path: kubernetes}
			for _, m := range tc.modules {
				modules[m.Path] = m
			}
			got, err := check([]byte("module example.com/ours\n"+tc.mod), []byte(upstreamMod), modules)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(problem{})); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckOfBrokenFiles(t *testing.T) {
	t.Parallel()
	good, bad := []byte("module example.com/ours\n"), []byte("modul\n")
	if _, err := check(bad, good, nil); err == nil {
		t.Error("no error for a broken go.mod of ours")
	}
	if _, err := check(good, bad, nil); err == nil {
		t.Error("no error for a broken go.mod of upstream's")
	}
}
