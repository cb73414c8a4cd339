// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// binaries skips a test where there are none.
func binaries(t *testing.T) {
	t.Helper()
	if _, err := Assets(); err != nil {
		t.Skip(err)
	}
}

// emptyTemporary sends temporary directories to one of the test, and checks in the end that nothing is left in it.
func emptyTemporary(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Error(err)
		}
		for _, entry := range entries {
			t.Errorf("%s is left in the temporary directory", entry.Name())
		}
	})
}

func TestAssets(t *testing.T) {
	complete, incomplete := t.TempDir(), t.TempDir()
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		if err := os.WriteFile(filepath.Join(complete, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(assetsVariable, complete)
	if dir, err := Assets(); err != nil || dir != complete {
		t.Errorf("the directory of %s is not taken: %q, %v", assetsVariable, dir, err)
	}
	t.Setenv(assetsVariable, incomplete)
	if _, err := Assets(); err == nil || !strings.Contains(err.Error(), `run "make kube-binaries"`) {
		t.Errorf("the error for an incomplete directory is %v", err)
	}
}

func TestCluster(t *testing.T) {
	binaries(t)
	emptyTemporary(t)
	cluster := &Cluster{}
	if err := cluster.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	processes := cluster.processes
	for _, user := range []struct {
		name   string
		groups []string
		may    bool
	}{{"admin", []string{"system:masters"}, true}, {"nobody", nil, false}} {
		config, err := cluster.User(user.name, user.groups...)
		if err != nil {
			t.Fatal(err)
		}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		if user.may && err != nil || !user.may && !apierrors.IsForbidden(err) {
			t.Errorf("%s lists namespaces: %v", user.name, err)
		}
	}
	stored, err := cluster.Etcd().Get(t.Context(), "/registry/namespaces/default")
	if err != nil || stored.Count != 1 {
		t.Errorf("etcd at %s does not have the server's data: %v", cluster.EtcdEndpoint(), err)
	}
	for range 2 {
		if err := cluster.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
	for _, p := range processes {
		select {
		case <-p.done:
		default:
			t.Errorf("%s runs after Stop", p.name)
		}
	}
}

func TestEtcdOnly(t *testing.T) {
	binaries(t)
	cluster := &Cluster{EtcdOnly: true, Dir: t.TempDir()}
	if err := cluster.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(cluster.processes) != 1 {
		t.Errorf("there are %d processes", len(cluster.processes))
	}
	if err := cluster.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(cluster.Dir, "etcd.log")); err != nil {
		t.Errorf("a directory of the caller's is not kept: %v", err)
	}
}

func TestFailedStart(t *testing.T) {
	binaries(t)
	emptyTemporary(t)
	cluster := &Cluster{Args: []string{"--no-such-flag"}}
	err := cluster.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver has ended: ") || !strings.Contains(err.Error(), "no-such-flag") {
		t.Errorf("the error is %v", err)
	}
	if len(cluster.processes) != 0 {
		t.Errorf("%d processes are left", len(cluster.processes))
	}
}
