// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"os"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pinnace-io/pinnace/pkg/envtest"
)

// kubeconfigVariable names a kubeconfig of the server to test instead of one that the tests start.
const kubeconfigVariable = "PINNACE_TEST_KUBECONFIG"

// shared is the server that all tests use. Its fields are set by TestMain and only read afterwards.
var shared struct {
	config *rest.Config
	// foreign tells that the server is not one that the tests started.
	foreign bool
	// programDir is for the built program; it goes when the tests have ended.
	programDir string
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if path := os.Getenv(kubeconfigVariable); path != "" {
		config, err := clientcmd.BuildConfigFromFlags("", path)
		if err != nil {
			fmt.Fprintln(os.Stderr, "could not read", path, err)
			return 1
		}
		config.QPS = -1
		shared.config, shared.foreign = config, true
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "pinnace-program-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "could not make a directory:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	shared.programDir = dir
	environment := &envtest.Environment{}
	config, err := environment.Start(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "could not start the server:", err)
		return 1
	}
	shared.config = config
	code := m.Run()
	if err := environment.Stop(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "could not stop the server:", err)
		return 1
	}
	return code
}

// startEnvironment starts a server for one test, which ends with it.
func startEnvironment(t *testing.T, environment *envtest.Environment) *rest.Config {
	t.Helper()
	config, err := environment.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The test's context has ended by now.
		if err := environment.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return config
}

// onlyPinnace skips a test of what kube-apiserver does not have, or answers differently for a documented reason.
func onlyPinnace(t *testing.T, reason string) {
	t.Helper()
	if shared.foreign {
		t.Skip("the server is not one of ours: " + reason)
	}
}
