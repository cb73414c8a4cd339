// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package architecture

import (
	"fmt"
	"slices"
	"strings"
)

const (
	modulePath = "github.com/pinnace-io/pinnace"
	kubernetes = "k8s.io/kubernetes"
)

// room is a folder with all below it, and its place in the house.
type room struct {
	path  string
	layer int
}

// rooms are all folders that may hold Go code. An import goes from a room to one of a lower layer, or stays in the room.
func rooms() []room {
	return []room{
		{"pkg/version", 0},
		{"pkg/apis", 0}, {"pkg/generated", 0},
		{"pkg/pki", 1}, {"pkg/etcd", 1},
		{"pkg/registry", 2}, {"pkg/admission", 2}, {"pkg/authn", 2}, {"pkg/authz", 2},
		{"pkg/controllers", 3},
		{"pkg/server", 4},
		{"pkg/envtest", 5}, {"pkg/integration", 5},
		{"cmd", 6},
		{"hack", 7},
		{"internal", 7},
	}
}

// exceptions are imports within a layer that are meant, with their reasons.
func exceptions() map[[2]string]string {
	signers := "who may use a signer is for authz to say, and the plugins ask"
	command := "the command plays what the tests play"
	return map[[2]string]string{
		{"pkg/admission/certificateapproval", "pkg/authz"}: signers,
		{"pkg/admission/certificatesigning", "pkg/authz"}:  signers,
		{"hack/parity", "internal/parity"}:                 command,
		{"hack/parity", "internal/parity/fuzz"}:            command,
		{"hack/parity", "internal/parity/servers"}:         command,
		{"hack/parity", "internal/kube"}:                   command,
	}
}

// adapters are the packages that may import k8s.io/kubernetes: its rules for pod templates and its RBAC authorizer are
// the two things that nobody should write again.
func adapters() []string {
	return []string{"pkg/apis/podtemplate", "pkg/authz/rbac"}
}

// checkImport returns what is wrong with an import of non-test code, "" for nothing. Both paths are whole import paths.
func checkImport(from, to string) string {
	source, ours := strings.CutPrefix(from, modulePath+"/")
	if !ours {
		return ""
	}
	if to == kubernetes || strings.HasPrefix(to, kubernetes+"/") {
		if slices.Contains(adapters(), source) {
			return ""
		}
		return fmt.Sprintf("%s imports %s, which only %s may: that module is no library, and each use of it is a part of kube-apiserver linked in", source, to, strings.Join(adapters(), " and "))
	}
	target, ours := strings.CutPrefix(to, modulePath+"/")
	if !ours {
		return ""
	}
	fromRoom, toRoom := roomOf(source), roomOf(target)
	switch {
	case fromRoom == nil:
		return fmt.Sprintf("%s has no place in the house; give it one in rooms()", source)
	case toRoom == nil:
		return fmt.Sprintf("%s has no place in the house; give it one in rooms()", target)
	case fromRoom.path == toRoom.path, exceptions()[[2]string{source, target}] != "":
		return ""
	case toRoom.path == "internal":
		return fmt.Sprintf("%s imports %s, which is for tests", source, target)
	case fromRoom.layer == toRoom.layer:
		return fmt.Sprintf("%s imports %s, but %s and %s don't know of each other: what they share belongs below them", source, target, fromRoom.path, toRoom.path)
	case fromRoom.layer < toRoom.layer:
		return fmt.Sprintf("%s imports %s, but %s (layer %d) is below %s (layer %d): imports point down", source, target, fromRoom.path, fromRoom.layer, toRoom.path, toRoom.layer)
	}
	return ""
}

func roomOf(path string) *room {
	for _, r := range rooms() {
		if path == r.path || strings.HasPrefix(path, r.path+"/") {
			return &r
		}
	}
	return nil
}

// checkName returns what is wrong with the name of a package: one that says nothing collects everything.
func checkName(path string) string {
	for _, element := range strings.Split(strings.TrimPrefix(path, modulePath), "/") {
		switch element {
		case "util", "utils", "common", "helper", "helpers", "misc", "shared", "base", "testutil", "testutils":
			return fmt.Sprintf("%s: %q says nothing of what is inside; name the noun, or put the code where it's used", path, element)
		}
	}
	return ""
}
