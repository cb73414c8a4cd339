// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pinnace-io/pinnace/pkg/server/options"
)

// completed are the options of a standalone server on a free port, changed by change.
func completed(t *testing.T, dir string, change func(*options.Options)) options.CompletedOptions {
	t.Helper()
	o, err := options.NewStandalone()
	if err != nil {
		t.Fatal(err)
	}
	o.DataDir = dir
	o.SecureServing.BindPort = 0
	// A test does not wait for watches that have no reader any more.
	o.ServerRun.ShutdownWatchTerminationGracePeriod = 0
	if change != nil {
		change(o)
	}
	c, err := o.Complete()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return c
}

// newConfig is a configuration that must be possible. Whoever doesn't hand it to New closes it.
func newConfig(t *testing.T, o options.CompletedOptions) *Config {
	t.Helper()
	c, err := NewConfig(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// checkReleased checks that the data directory and the port are free, by taking both.
func checkReleased(t *testing.T, dir string, port int) {
	t.Helper()
	c, err := NewConfig(t.Context(), completed(t, dir, func(o *options.Options) { o.SecureServing.BindPort = port }))
	if err != nil {
		t.Fatalf("the data directory or the port is still taken: %v", err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// checkLeaks checks at the end of the test that no goroutine has outlived it. Tests that use it don't run in parallel.
func checkLeaks(t *testing.T) {
	t.Helper()
	options := []goleak.Option{
		goleak.IgnoreCurrent(),
		// The library's cache of health answers is the process's.
		goleak.IgnoreAnyFunction("k8s.io/apimachinery/pkg/util/wait.Forever"),
		// The library makes the queue of a certificate file before it watches the file; only a server that has run ends it.
		goleak.IgnoreTopFunction("k8s.io/client-go/util/workqueue.(*Typed[...]).updateUnfinishedWorkLoop"),
		goleak.IgnoreTopFunction("k8s.io/client-go/util/workqueue.(*delayingType[...]).waitingLoop"),
		// A count of objects that a watch cache was asked for as it began sleeps for three seconds.
		goleak.IgnoreTopFunction("k8s.io/apiserver/pkg/storage/cacher.(*watchCache).waitUntilFreshLocked.func2"),
	}
	t.Cleanup(func() {
		var err error
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
			if err = goleak.Find(options...); err == nil {
				return
			}
		}
		t.Error(err)
	})
}

// portOf is the port of a listener.
func portOf(t *testing.T, listener net.Listener) int {
	t.Helper()
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("%s is no TCP address", listener.Addr())
	}
	return address.Port
}

// taken is a port that another process holds, as far as the server can tell.
func taken(t *testing.T) int {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return portOf(t, listener)
}

// free is a port that is free just now.
func free(t *testing.T) int {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return portOf(t, listener)
}

// file writes a file of the test and returns its path.
func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
