// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// fill writes values of half a mebibyte, over and over under the same few keys, until etcd refuses them.
func fill(t *testing.T, e *Embedded) {
	t.Helper()
	value := strings.Repeat("v", 512<<10)
	for n := range 1000 {
		_, err := e.client.Put(t.Context(), fmt.Sprintf("/fill/%d", n%4), value)
		if err == nil {
			continue
		}
		if err.Error() != "etcdserver: mvcc: database space exceeded" {
			t.Fatal(err)
		}
		return
	}
	t.Fatal("etcd is not full")
}

func quota(bytes int64) func(*EmbeddedConfig) {
	return func(c *EmbeddedConfig) { c.QuotaBackendBytes = bytes }
}

func alarms(t *testing.T, e *Embedded) []string {
	t.Helper()
	status, err := e.Status(t.Context())
	must(t, err)
	return status.Alarms
}

// activate sets an alarm.
func activate(t *testing.T, e *Embedded, alarm pb.AlarmType) {
	t.Helper()
	_, err := e.etcd.Server.Alarm(t.Context(), &pb.AlarmRequest{
		Action: pb.AlarmRequest_ACTIVATE, Alarm: alarm, MemberID: uint64(e.etcd.Server.MemberID()),
	})
	must(t, err)
}

// store20MiB writes values of half a mebibyte under some keys, in turn, and then sets the alarm.
func store20MiB(t *testing.T, e *Embedded, keys int) {
	t.Helper()
	value := strings.Repeat("v", 512<<10)
	for n := range 40 {
		_, err := e.client.Put(t.Context(), fmt.Sprintf("/fill/%d", n%keys), value)
		must(t, err)
	}
	activate(t, e, pb.AlarmType_NOSPACE)
}

func TestFullDatabase(t *testing.T) {
	t.Parallel()
	const (
		clearedLine = `"etcd's database had been full (alarm NOSPACE). It is below its quota now, and the alarm is cleared: writes are accepted again"`
		fullLine    = `"etcd's database is full (alarm NOSPACE): only reads and deletes are accepted. Delete objects and restart, or raise the quota"`
	)
	for name, tt := range map[string]struct {
		before, after int64 // the quota
		fill          func(t *testing.T, e *Embedded)
		cleared       bool
		line          string
	}{
		"the quota is raised":             {MinQuotaBackendBytes, 256 << 20, fill, true, clearedLine},
		"its old revisions take the room": {64 << 20, MinQuotaBackendBytes, func(t *testing.T, e *Embedded) { store20MiB(t, e, 4) }, true, clearedLine},
		"its objects take the room":       {64 << 20, MinQuotaBackendBytes, func(t *testing.T, e *Embedded) { store20MiB(t, e, 40) }, false, fullLine},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			e := start(t, inDir(dir), quota(tt.before))
			tt.fill(t, e)
			if diff := cmp.Diff([]string{"NOSPACE"}, alarms(t, e)); diff != "" {
				t.Fatal(diff)
			}
			if _, err := e.client.Put(t.Context(), "/key", "value"); err == nil || err.Error() != "etcdserver: mvcc: database space exceeded" {
				t.Errorf("a write: %v", err)
			}
			if _, err := e.client.Get(t.Context(), "/fill/0"); err != nil {
				t.Errorf("a read: %v", err)
			}
			if _, err := e.client.Delete(t.Context(), "/nothing"); err != nil {
				t.Errorf("a delete: %v", err)
			}
			closeBackend(t, e)

			ctx, log := logged(t, 0)
			again, err := Start(ctx, EmbeddedConfig{DataDir: dir, QuotaBackendBytes: tt.after})
			must(t, err)
			t.Cleanup(func() { closeBackend(t, again) })
			if !strings.Contains(log.String(), tt.line) {
				t.Errorf("it says\n%swant\n%s", log, tt.line)
			}
			_, err = again.client.Put(t.Context(), "/key", "value")
			switch {
			case tt.cleared && (err != nil || len(alarms(t, again)) != 0):
				t.Errorf("a write: %v, alarms %v", err, alarms(t, again))
			case !tt.cleared && (err == nil || len(alarms(t, again)) != 1):
				t.Errorf("a write: %v, alarms %v", err, alarms(t, again))
			}
		})
	}
}

func TestCorruptAlarm(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	e := start(t, inDir(dir))
	activate(t, e, pb.AlarmType_CORRUPT)
	closeBackend(t, e)
	_, err := Start(t.Context(), EmbeddedConfig{DataDir: dir})
	wantError(t, err, "etcd in %s cannot start: its CORRUPT alarm is set, and it answers nothing: restore the directory from a snapshot", dir)
}

func TestDefragment(t *testing.T) {
	t.Parallel()
	e := start(t, quota(MinQuotaBackendBytes))
	fill(t, e)
	full, err := e.Status(t.Context())
	must(t, err)
	_, err = e.client.Compact(t.Context(), full.Revision, clientv3.WithCompactPhysical())
	must(t, err)
	must(t, e.Defragment(t.Context()))
	got, err := e.Status(t.Context())
	must(t, err)
	if got.DatabaseBytes >= full.DatabaseBytes/2 || got.InUseBytes > got.DatabaseBytes || got.QuotaBytes != MinQuotaBackendBytes || got.Revision != full.Revision {
		t.Errorf("status %+v, before %+v", got, full)
	}
	if len(got.Alarms) != 0 {
		t.Errorf("alarms: %v", got.Alarms)
	}
	if _, err := e.client.Put(t.Context(), "/key", "value"); err != nil {
		t.Errorf("a write: %v", err)
	}
	closeBackend(t, e)
	wantError(t, e.Defragment(t.Context()), "%s: etcdserver: server stopped", e)
}

func TestDefragmentAtStart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		threshold int64
		shrinks   bool
	}{"enough is free": {1 << 20, true}, "not enough is free": {DefaultDefragmentBytes, false}, "never": {-1, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			e := start(t, inDir(dir))
			value := strings.Repeat("v", 512<<10)
			for range 10 {
				_, err := e.client.Put(t.Context(), "/key", value)
				must(t, err)
			}
			before, err := e.Status(t.Context())
			must(t, err)
			_, err = e.client.Compact(t.Context(), before.Revision, clientv3.WithCompactPhysical())
			must(t, err)
			closeBackend(t, e)
			closed, err := os.Stat(dbPath(dir))
			must(t, err)
			start(t, inDir(dir), func(c *EmbeddedConfig) { c.DefragmentBytes = tt.threshold })
			got, err := os.Stat(dbPath(dir))
			must(t, err)
			if shrunk := got.Size() < closed.Size()/2; shrunk != tt.shrinks {
				t.Errorf("%d bytes, before %d", got.Size(), closed.Size())
			}
		})
	}
}

func TestSnapshotAndRestore(t *testing.T) {
	t.Parallel()
	e := start(t)
	for n := range 100 {
		_, err := e.client.Put(t.Context(), fmt.Sprintf("/key/%02d", n), strings.Repeat("v", 1000))
		must(t, err)
	}
	file := filepath.Join(t.TempDir(), "snapshot")
	snapshot := &bytes.Buffer{}
	must(t, e.Snapshot(t.Context(), snapshot))
	must(t, os.WriteFile(file, snapshot.Bytes(), fileMode))
	before, err := e.Status(t.Context())
	must(t, err)

	dir := newDir(t)
	must(t, Restore(t.Context(), dir, file))
	restored := start(t, inDir(dir))
	got, err := restored.client.Get(t.Context(), "/key/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || got.Count != 100 || got.Header.Revision != before.Revision {
		t.Errorf("restored: %v %v, want 100 keys of revision %d", got, err, before.Revision)
	}
	if _, err := restored.client.Put(t.Context(), "/key/new", "value"); err != nil {
		t.Error(err)
	}

	var held *InUseError
	if err := Restore(shortly(t), dir, file); err == nil || errors.As(err, &held) {
		t.Errorf("restoring what runs: %v", err) // ends with the context, before the lock's timeout
	}
	closeBackend(t, restored)
	wantError(t, Restore(t.Context(), dir, file), "data directory %s holds data already: move %s/member away first", dir, dir)

	broken := newDir(t)
	must(t, os.WriteFile(file, snapshot.Bytes()[:snapshot.Len()-100], fileMode))
	if err := Restore(t.Context(), broken, file); err == nil || !strings.HasPrefix(err.Error(), "restoring "+broken+" from snapshot "+file+": ") {
		t.Errorf("restoring half a snapshot: %v", err)
	}
	if entries, err := os.ReadDir(broken); err != nil || len(entries) != 1 || entries[0].Name() != lockName {
		t.Errorf("left in the directory: %v %v", entries, err)
	}
	damaged := bytes.Clone(snapshot.Bytes())
	damaged[len(damaged)/2] ^= 1
	must(t, os.WriteFile(file, damaged, fileMode))
	if err := Restore(t.Context(), broken, file); err == nil || !strings.Contains(err.Error(), "sha256") {
		t.Errorf("restoring a damaged snapshot: %v", err)
	}
	wantError(t, Restore(t.Context(), broken, file+".missing"), "restoring %s from snapshot %s.missing: open %s.missing: no such file or directory", broken, file, file)
	wantError(t, Restore(t.Context(), file, file), "data directory %s cannot be made: not a directory", file)
}

// shortly returns a context that ends soon.
func shortly(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100e6)
	t.Cleanup(cancel)
	return ctx
}

type failingWriter struct{ after int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.after -= len(p); w.after < 0 {
		return 0, errors.New("the disk is full")
	}
	return len(p), nil
}

func TestSnapshotErrors(t *testing.T) {
	t.Parallel()
	e := start(t)
	status, err := e.Status(t.Context())
	must(t, err)
	wantError(t, e.Snapshot(t.Context(), &failingWriter{}), "%s: snapshot: meta 0 copy: the disk is full", e)
	if err := e.Snapshot(t.Context(), &failingWriter{after: int(status.DatabaseBytes)}); err == nil {
		t.Error("the checksum was written to a full disk")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("never mind"))
	wantError(t, e.Snapshot(ctx, &bytes.Buffer{}), "%s: snapshot: meta 0 copy: never mind", e)
	closeBackend(t, e)
	wantError(t, e.Snapshot(t.Context(), &bytes.Buffer{}), "%s: etcdserver: server stopped", e)
}
