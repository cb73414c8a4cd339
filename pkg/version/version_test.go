// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	basecompatibility "k8s.io/component-base/compatibility"
)

func TestFrom(t *testing.T) {
	t.Parallel()
	platform := runtime.GOOS + "/" + runtime.GOARCH
	commit := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123abc"}, {Key: "vcs.modified", Value: "false"}}
	tests := map[string]struct {
		build debug.BuildInfo
		want  Info
	}{
		"a released module": {
			build: debug.BuildInfo{
				Main: debug.Module{Path: "github.com/pinnace-io/pinnace", Version: "v0.3.1"},
				Deps: []*debug.Module{
					{Path: "go.etcd.io/etcd/api/v3", Version: "v3.7.1"},
					{Path: "go.etcd.io/etcd/server/v3", Version: "v3.7.9"},
					{Path: "k8s.io/apiserver", Version: "v0.37.2"},
					{Path: "k8s.io/kubernetes", Version: "v1.37.9"},
				},
				Settings: commit,
			},
			want: Info{Pinnace: "v0.3.1", Commit: "0123abc", Kubernetes: "v1.37.9", Etcd: "v3.7.9", Go: runtime.Version(), Platform: platform},
		},
		"a working copy": {
			build: debug.BuildInfo{Main: debug.Module{Path: "github.com/pinnace-io/pinnace", Version: "(devel)"}, Settings: commit},
			want:  Info{Pinnace: "devel", Commit: "0123abc", Kubernetes: "v1.37.2", Etcd: "v3.7.3", Go: runtime.Version(), Platform: platform},
		},
		"a test, or a binary without build information": {
			want: Info{Pinnace: "devel", Kubernetes: "v1.37.2", Etcd: "v3.7.3", Go: runtime.Version(), Platform: platform},
		},
		"a program of somebody else's, with Pinnace inside": {
			build: debug.BuildInfo{
				Main:     debug.Module{Path: "example.com/operator", Version: "v9.9.9"},
				Deps:     []*debug.Module{{Path: "github.com/pinnace-io/pinnace", Version: "v0.3.1"}, {Path: "k8s.io/kubernetes", Version: "v1.37.9"}},
				Settings: commit,
			},
			want: Info{Pinnace: "v0.3.1", Kubernetes: "v1.37.9", Etcd: "v3.7.3", Go: runtime.Version(), Platform: platform},
		},
		"a replaced module is what is in the binary": {
			build: debug.BuildInfo{
				Main: debug.Module{Path: "github.com/pinnace-io/pinnace", Version: "v0.3.1"},
				Deps: []*debug.Module{{Path: "k8s.io/kubernetes", Version: "v1.37.2", Replace: &debug.Module{Path: "k8s.io/kubernetes", Version: "v1.37.3-rc.0"}}},
			},
			want: Info{Pinnace: "v0.3.1", Kubernetes: "v1.37.3-rc.0", Etcd: "v3.7.3", Go: runtime.Version(), Platform: platform},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, from(&test.build)); diff != "" {
				t.Errorf("versions (-want +got):\n%s", diff)
			}
		})
	}
}

// The names in JSON are what scripts read.
func TestInfoJSON(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		info Info
		want string
	}{
		"everything is known": {
			info: Info{Pinnace: "v0.3.1", Commit: "0123abc", Kubernetes: "v1.37.2", Etcd: "v3.7.3", Go: "go1.26.0", Platform: "linux/arm64"},
			want: `{"pinnace":"v0.3.1","commit":"0123abc","kubernetes":"v1.37.2","etcd":"v3.7.3","go":"go1.26.0","platform":"linux/arm64"}`,
		},
		"no commit": {
			info: Info{Pinnace: "devel", Kubernetes: "v1.37.2", Etcd: "v3.7.3", Go: "go1.26.0", Platform: "linux/arm64"},
			want: `{"pinnace":"devel","kubernetes":"v1.37.2","etcd":"v3.7.3","go":"go1.26.0","platform":"linux/arm64"}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(test.info)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	// This is a test, so the linker has written no list.
	want := Info{Pinnace: "devel", Kubernetes: "v1.37.2", Etcd: "v3.7.3", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if diff := cmp.Diff(want, Get(), cmpopts.IgnoreFields(Info{}, "Commit")); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}

// What a test says of itself is what a program would.
func TestVersionsAreThoseOfTheModule(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, version := range map[string]string{kubernetesModule: kubernetesVersion, etcdModule: etcdVersion} {
		if !regexp.MustCompile(`(?m)^\s*(require )?` + regexp.QuoteMeta(name+" "+version) + `$`).Match(file) {
			t.Errorf("go.mod does not require %s %s: change the constant of this package", name, version)
		}
	}
}

func TestEffective(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		info   Info
		want   string
		commit string
	}{
		"a released version": {
			info: Info{Pinnace: "v0.3.1", Kubernetes: "v1.37.2", Commit: "0123abc"}, want: "v1.37.2+pinnace-v0.3.1", commit: "0123abc",
		},
		"a working copy": {
			info: Info{Pinnace: "devel", Kubernetes: "v1.37.2"}, want: "v1.37.2+pinnace-devel",
		},
		"a version with build metadata of its own: there is one plus sign": {
			info: Info{Pinnace: "v0.0.0-20260102030405-0123456789ab+dirty", Kubernetes: "v1.37.2"},
			want: "v1.37.2+pinnace-v0.0.0-20260102030405-0123456789ab.dirty",
		},
	}
	semver := regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			library := basecompatibility.NewEffectiveVersionFromString("1.37", "1.34", "1.34")
			before := *library.Info()
			got := effective{EffectiveVersion: library, info: test.info}
			want := apimachineryversion.Info{
				Major: "1", Minor: "37", EmulationMajor: "1", EmulationMinor: "37", MinCompatibilityMajor: "1", MinCompatibilityMinor: "36",
				GitVersion: test.want, GitCommit: test.commit,
				GoVersion: before.GoVersion, Compiler: before.Compiler, Platform: before.Platform,
			}
			if diff := cmp.Diff(want, *got.Info()); diff != "" {
				t.Errorf("/version (-want +got):\n%s", diff)
			}
			if !semver.MatchString(got.Info().GitVersion) {
				t.Errorf("%s is not a semantic version", got.Info().GitVersion)
			}
			if parsed, err := utilversion.ParseSemantic(got.Info().GitVersion); err != nil || parsed.String() != test.want[1:] {
				t.Errorf("client-go reads %s as %v: %v", got.Info().GitVersion, parsed, err)
			}
			if diff := cmp.Diff(before, *library.Info()); diff != "" {
				t.Errorf("the library's own description was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// Only the description changes: what features and storage versions depend on is the library's.
func TestEffectiveKeepsTheVersion(t *testing.T) {
	t.Parallel()
	library := basecompatibility.NewEffectiveVersionFromString("1.37", "1.34", "1.34")
	got := Effective(library)
	if !got.EqualTo(library) || got.String() != library.String() {
		t.Errorf("got %s, want %s", got, library)
	}
	if info := got.Info(); !strings.Contains(info.GitVersion, "+pinnace-") {
		t.Errorf("GitVersion is %s, want one with +pinnace-", info.GitVersion)
	}
}
