// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apiserver/pkg/server/healthz"
)

func TestEmbeddedLife(t *testing.T) {
	checkLeaks(t)
	ctx, log := logged(t, 0)
	dir := newDir(t)
	e, err := Start(ctx, EmbeddedConfig{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeBackend(t, e) })

	if err := WaitReady(ctx, e); err != nil {
		t.Errorf("WaitReady: %v", err)
	}
	if err := e.Pending(); err != nil {
		t.Errorf("Pending: %v", err)
	}
	if got, want := e.String(), "etcd in "+dir; got != want {
		t.Errorf("String: %q, want %q", got, want)
	}
	if got := e.Version(); !strings.HasPrefix(got, "3.") {
		t.Errorf("Version: %q", got)
	}
	for name, checks := range map[string][]healthz.HealthChecker{"etcd": e.HealthChecks(), "etcd-readiness": e.ReadyChecks()} {
		if len(checks) != 1 || checks[0].Name() != name {
			t.Fatalf("checks of %s: %v", name, checks)
		}
		if err := checks[0].Check(httptest.NewRequestWithContext(ctx, "GET", "/", nil)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data directory: %v %v, want mode 0700", info, err)
	}
	if len(e.etcd.Clients)+len(e.etcd.Peers) != 0 {
		t.Errorf("etcd listens: %v %v", e.etcd.Clients, e.etcd.Peers)
	}
	if e.etcd.Server.Cfg.UnsafeNoFsync {
		t.Error("etcd does not sync")
	}
	if _, err := e.client.Put(ctx, "/key", "value"); err != nil {
		t.Fatal(err)
	}

	closeBackend(t, e)
	closeBackend(t, e)
	if _, err := e.client.Get(ctx, "/key"); err == nil || err.Error() != "etcdserver: server stopped" {
		t.Errorf("a read after Close: %v", err)
	}
	if err := e.HealthChecks()[0].Check(httptest.NewRequestWithContext(ctx, "GET", "/", nil)); err == nil {
		t.Error("healthy after Close")
	}
	if err, open := <-e.Err(); open {
		t.Errorf("Err after Close: %v", err)
	}
	again, err := Start(ctx, EmbeddedConfig{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeBackend(t, again) })
	if got, err := again.client.Get(ctx, "/key"); err != nil || len(got.Kvs) != 1 || string(got.Kvs[0].Value) != "value" {
		t.Errorf("after a restart: %v %v", got, err)
	}
	closeBackend(t, again)
	if log := log.String(); log != "" {
		t.Errorf("not quiet:\n%s", log)
	}
}

func TestEmbeddedLogsItsStart(t *testing.T) {
	t.Parallel()
	ctx, log := logged(t, 4)
	e, err := Start(ctx, EmbeddedConfig{DataDir: newDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	closeBackend(t, e)
	for _, want := range []string{`"etcd is ready" logger="etcd" dataDir="` + e.config.DataDir + `"`, ` took="`, `etcd.go:`, `"closed etcd server"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in\n%s", want, log)
		}
	}
}

func TestEmbeddedCloseEndsWatchesAndClients(t *testing.T) {
	checkLeaks(t)
	e := start(t)
	client, err := e.gate.newClient(e.etcd.Server)
	if err != nil {
		t.Fatal(err)
	}
	events := client.Watch(clientv3.WithRequireLeader(t.Context()), "/", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	if created := <-events; !created.Created {
		t.Fatalf("first answer of the watch: %+v", created)
	}
	closeBackend(t, e)
	deadline := time.After(10 * time.Second)
	for open := true; open; {
		select {
		case _, open = <-events:
		case <-deadline:
			t.Fatal("the watch is still open")
		}
	}
	e.gate.closeClient(client.Client) // as a storage does that is destroyed too late
	if _, err := e.gate.newClient(e.etcd.Server); err == nil {
		t.Error("a client after Close")
	}
	if _, err := e.Status(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "server stopped") {
		t.Errorf("Status after Close: %v", err)
	}
}

func TestEmbeddedCloseWhileCallsAreInFlight(t *testing.T) {
	checkLeaks(t)
	e := start(t)
	ended := make(chan error, 16)
	for n := range cap(ended) {
		go func() {
			for {
				var err error
				switch n % 4 {
				case 0:
					_, err = e.client.Put(t.Context(), "/key", "value")
				case 1:
					_, err = e.client.Get(t.Context(), "/", clientv3.WithPrefix())
				case 2:
					_, err = e.client.Txn(t.Context()).Then(clientv3.OpPut("/a", "b"), clientv3.OpGet("/b")).Commit()
				case 3:
					_, err = e.client.Delete(t.Context(), "/a")
				}
				if err != nil {
					ended <- err
					return
				}
			}
		}()
	}
	time.Sleep(200 * time.Millisecond)
	closeBackend(t, e)
	for range cap(ended) {
		if err := <-ended; err.Error() != "etcdserver: server stopped" {
			t.Errorf("a call ended with %v", err)
		}
	}
}

func TestEmbeddedCloseWaitsNoLongerThanItsContext(t *testing.T) {
	t.Parallel()
	e := start(t)
	if err := e.gate.enter(); err != nil { // a call that does not end
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := e.Close(ctx)
	if want := "closing " + e.String() + ": context deadline exceeded"; err == nil || err.Error() != want {
		t.Errorf("Close: %v, want %s", err, want)
	}
	e.gate.leave()
	closeBackend(t, e)
}

func TestEmbeddedReportsAnEtcdThatStops(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.etcd.Server.HardStop()
	err := <-e.Err()
	if want := e.String() + " has stopped by itself"; err == nil || err.Error() != want {
		t.Errorf("Err: %v, want %s", err, want)
	}
	closeBackend(t, e)
}

func TestEmbeddedConfigErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config EmbeddedConfig
		want   string
	}{
		"everything at once": {
			EmbeddedConfig{QuotaBackendBytes: 1, Prefix: "registry", LockTimeout: -1, StartTimeout: -1},
			"embedded etcd: DataDir: required\n" +
				"QuotaBackendBytes: 1 is not between 16777216 and 8589934592\n" +
				"Prefix: \"registry\" is not a clean absolute path such as \"/registry\"\n" +
				"LockTimeout: -1ns is negative\n" +
				"StartTimeout: -1ns is negative",
		},
		"a quota that is too large": {
			EmbeddedConfig{DataDir: "x", QuotaBackendBytes: 9 << 30},
			"embedded etcd: QuotaBackendBytes: 9663676416 is not between 16777216 and 8589934592",
		},
		"the root as prefix":     {EmbeddedConfig{DataDir: "x", Prefix: "/"}, "embedded etcd: Prefix: \"/\" is not a clean absolute path such as \"/registry\""},
		"a prefix with a slash":  {EmbeddedConfig{DataDir: "x", Prefix: "/a/"}, "embedded etcd: Prefix: \"/a/\" is not a clean absolute path such as \"/registry\""},
		"a prefix with dot dots": {EmbeddedConfig{DataDir: "x", Prefix: "/a/../b"}, "embedded etcd: Prefix: \"/a/../b\" is not a clean absolute path such as \"/registry\""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := Start(t.Context(), tt.config)
			if err == nil {
				closeBackend(t, e)
				t.Fatal("no error")
			}
			if err.Error() != tt.want {
				t.Errorf("error:\n%v\nwant:\n%s", err, tt.want)
			}
			if _, err := os.Stat("x"); err == nil {
				t.Error("the directory was made")
			}
		})
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	checkLeaks(t)
	dir := newDir(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("never mind"))
	_, err := Start(ctx, EmbeddedConfig{DataDir: dir})
	if want := "etcd in " + dir + " cannot start: never mind"; err == nil || err.Error() != want {
		t.Fatalf("error: %v, want %s", err, want)
	}
	start(t, inDir(dir)) // all is released
}

func TestStartGivesUp(t *testing.T) {
	checkLeaks(t)
	dir := newDir(t)
	_, err := Start(t.Context(), EmbeddedConfig{DataDir: dir, StartTimeout: time.Nanosecond})
	if want := "etcd in " + dir + " cannot start: it was not ready within 1ns"; err == nil || err.Error() != want {
		t.Fatalf("error: %v, want %s", err, want)
	}
	start(t, inDir(dir))
}

func TestStartInARelativeDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	e := start(t, inDir("data"))
	if want, _ := filepath.Abs("data"); e.config.DataDir != want {
		t.Errorf("DataDir: %s, want %s", e.config.DataDir, want)
	}
}

func TestMonitors(t *testing.T) {
	t.Parallel()
	e := start(t)
	monitors := e.Monitors()
	if len(monitors) != 1 {
		t.Fatalf("%d monitors", len(monitors))
	}
	got, err := monitors[0].Monitor(t.Context())
	if err != nil || got.Size < 16<<10 {
		t.Errorf("size: %+v %v", got, err)
	}
	if err := monitors[0].Close(); err != nil {
		t.Error(err)
	}
}
