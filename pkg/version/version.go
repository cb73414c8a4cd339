// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package version tells which Pinnace, which Kubernetes and which etcd are in this binary, from what the Go linker
// wrote into it.
package version

import (
	"runtime"
	"runtime/debug"
	"strings"

	apimachineryversion "k8s.io/apimachinery/pkg/version"
	basecompatibility "k8s.io/component-base/compatibility"
)

const (
	module           = "github.com/pinnace-io/pinnace"
	kubernetesModule = "k8s.io/kubernetes"
	etcdModule       = "go.etcd.io/etcd/server/v3"

	// Into a test the linker writes no list of modules. A server in there is of the versions of our go.mod, which a
	// test of this package holds these against.
	kubernetesVersion = "v1.37.2"
	etcdVersion       = "v3.7.3"
)

// Info are the versions in a binary.
type Info struct {
	// Pinnace is the version of this module, "devel" when it was not built from a released one.
	Pinnace string `json:"pinnace"`
	// Commit is the commit that it was built from, "" when the build did not record it or was one of another module.
	Commit string `json:"commit,omitempty"`
	// Kubernetes is the version of kube-apiserver whose answers are given, such as "v1.37.2".
	Kubernetes string `json:"kubernetes"`
	// Etcd is the version of the embedded etcd, such as "v3.7.3".
	Etcd string `json:"etcd"`
	// Go is the compiler, Platform the operating system and the architecture.
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Get returns the versions in this binary.
func Get() Info {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	return from(build)
}

func from(build *debug.BuildInfo) Info {
	info := Info{
		Kubernetes: kubernetesVersion,
		Etcd:       etcdVersion,
		Go:         runtime.Version(),
		Platform:   runtime.GOOS + "/" + runtime.GOARCH,
	}
	for _, dep := range append([]*debug.Module{&build.Main}, build.Deps...) {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		switch dep.Path {
		case module:
			info.Pinnace = strings.Trim(dep.Version, "()")
		case kubernetesModule:
			info.Kubernetes = dep.Version
		case etcdModule:
			info.Etcd = dep.Version
		}
	}
	if info.Pinnace == "" {
		info.Pinnace = "devel"
	}
	if build.Main.Path != module {
		return info
	}
	for _, setting := range build.Settings {
		if setting.Key == "vcs.revision" {
			info.Commit = setting.Value
		}
	}
	return info
}

// effective is an effective version whose description to clients is the Kubernetes version in this binary.
type effective struct {
	basecompatibility.EffectiveVersion
	info Info
}

// Effective returns version with what /version answers filled in: the Kubernetes version with Pinnace's own as build
// metadata (semver.org, 10), so that kubectl measures skew against the former and people see the latter.
func Effective(version basecompatibility.EffectiveVersion) basecompatibility.EffectiveVersion {
	return effective{EffectiveVersion: version, info: Get()}
}

// Info returns what /version answers.
func (e effective) Info() *apimachineryversion.Info {
	out := *e.EffectiveVersion.Info()
	out.GitVersion = e.info.Kubernetes + "+pinnace-" + strings.ReplaceAll(e.info.Pinnace, "+", ".")
	out.GitCommit = e.info.Commit
	out.GitTreeState = ""
	out.BuildDate = ""
	return &out
}
