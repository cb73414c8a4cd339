// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

const (
	kubernetesModule = "k8s.io/kubernetes"
	// unpublished is the version by which k8s.io/kubernetes asks for its own parts.
	unpublished = "v0.0.0"
)

// module is one of the build's, as "go list -m -json" shows it.
type module struct {
	Path, Version, GoMod string
	Replace              *module
}

// problem is something wrong with go.mod.
type problem struct {
	text string
	// edit is the flag of "go mod edit" that mends it, "" where none can.
	edit string
}

// check compares our go.mod and the modules that follow from it with the go.mod of k8s.io/kubernetes.
func check(ours, upstream []byte, modules map[string]module) ([]problem, error) {
	ourFile, err := modfile.Parse("go.mod", ours, nil)
	if err != nil {
		return nil, err
	}
	upstreamFile, err := modfile.Parse(kubernetesModule+"/go.mod", upstream, nil)
	if err != nil {
		return nil, err
	}
	problems := checkExcludes(ourFile, upstreamFile)
	for _, require := range upstreamFile.Require {
		asked := require.Mod
		used, ok := modules[asked.Path]
		if !ok {
			continue // nothing that we import needs it
		}
		if asked.Version == unpublished {
			asked.Version = releasedWith(modules[kubernetesModule].Version)
		}
		problems = append(problems, checkVersion(asked.Path, asked.Version, require.Mod.Version == unpublished, used)...)
	}
	return problems, nil
}

// checkExcludes wants every version that isn't published to be excluded, and nothing else.
func checkExcludes(ours, upstream *modfile.File) []problem {
	excluded := map[string]bool{}
	for _, exclude := range ours.Exclude {
		excluded[exclude.Mod.Path+"@"+exclude.Mod.Version] = true
	}
	var problems []problem
	for _, require := range upstream.Require {
		version := require.Mod.Path + "@" + require.Mod.Version
		if require.Mod.Version == unpublished && !excluded[version] {
			problems = append(problems, problem{
				text: fmt.Sprintf("%s asks for %s, which isn't published and must be excluded", kubernetesModule, version),
				edit: "-exclude=" + version,
			})
		}
		delete(excluded, version)
	}
	for _, exclude := range ours.Exclude {
		version := exclude.Mod.Path + "@" + exclude.Mod.Version
		if excluded[version] {
			problems = append(problems, problem{
				text: fmt.Sprintf("%s is excluded, but %s doesn't ask for it any more", version, kubernetesModule),
				edit: "-dropexclude=" + version,
			})
		}
	}
	return problems
}

// checkVersion wants a module to be no older than upstream's, and to be upstream's where both are one release.
func checkVersion(path, asked string, released bool, used module) []problem {
	version := used.Version
	if used.Replace != nil {
		if used.Replace.Version == "" {
			return []problem{{text: fmt.Sprintf("%s is replaced by the folder %s", path, used.Replace.Path)}}
		}
		version = used.Replace.Version
	}
	older := semver.Compare(version, asked) < 0
	switch {
	case released && version != asked:
		return []problem{{
			text: fmt.Sprintf("%s is used at %s, but belongs to the release of %s at %s", path, version, kubernetesModule, asked),
			edit: fmt.Sprintf("-require=%s@%s", path, asked),
		}}
	case older && used.Replace != nil:
		return []problem{{text: fmt.Sprintf("%s is replaced by %s, but %s asks for %s", path, version, kubernetesModule, asked)}}
	case older:
		return []problem{{
			text: fmt.Sprintf("%s is used at %s, but %s asks for %s", path, version, kubernetesModule, asked),
			edit: fmt.Sprintf("-require=%s@%s", path, asked),
		}}
	}
	return nil
}

// releasedWith returns the version of the parts that k8s.io/kubernetes is published with: v0.37.2 for v1.37.2.
func releasedWith(kubernetes string) string {
	return "v0" + strings.TrimPrefix(kubernetes, "v1")
}
