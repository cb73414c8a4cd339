// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"k8s.io/klog/v2"
)

func TestDataDirHeldByAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	first := startChild(t, "start", dir)
	first.awaitReady(t)

	begin := time.Now()
	second := startChild(t, "start", dir)
	if code := second.exitCode(t); code != 1 {
		t.Errorf("exit status %d", code)
	}
	if took := time.Since(begin); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
	prefix := fmt.Sprintf("data directory %s is in use by process %d (%s) since ", dir, first.Process.Pid, os.Args[0])
	suffix := ": stop that process, or choose another data directory\n"
	if got := second.stderr.String(); !strings.HasPrefix(got, prefix) || !strings.HasSuffix(got, suffix) {
		t.Errorf("it says %q, want %q…%q", got, prefix, suffix)
	}

	// The same in this process, with what the error knows.
	_, err := Start(t.Context(), EmbeddedConfig{DataDir: dir, LockTimeout: 100 * time.Millisecond})
	var held *InUseError
	if !errors.As(err, &held) {
		t.Fatalf("error: %v", err)
	}
	if held.Dir != dir || held.PID != first.Process.Pid || held.Command != os.Args[0] || time.Since(held.Since) > time.Minute {
		t.Errorf("error: %+v", held)
	}

	// A start waits for a process that is ending.
	time.AfterFunc(300*time.Millisecond, func() { _ = first.stdin.Close() })
	start(t, inDir(dir))
	if code := first.exitCode(t); code != 0 {
		t.Errorf("the first ends with %d: %s", code, first.stderr)
	}
}

func TestDataDirOfAKilledProcess(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	c := startChild(t, "start", dir)
	c.awaitReady(t)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.exitCode(t)
	start(t, inDir(dir), func(c *EmbeddedConfig) { c.LockTimeout = time.Nanosecond })
}

func TestDataDirHeldByThisProcess(t *testing.T) {
	t.Parallel()
	e := start(t)
	_, err := Start(t.Context(), EmbeddedConfig{DataDir: e.config.DataDir, LockTimeout: time.Nanosecond})
	var held *InUseError
	if !errors.As(err, &held) || held.PID != os.Getpid() {
		t.Errorf("error: %v", err)
	}
}

func TestDataDirHeldByPlainEtcd(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	closeBackend(t, start(t, inDir(dir)))
	// A plain etcd locks its database, and knows nothing of our lock.
	db, err := bbolt.Open(dbPath(dir), fileMode, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = Start(t.Context(), EmbeddedConfig{DataDir: dir, LockTimeout: 100 * time.Millisecond})
	want := fmt.Sprintf("data directory %s is in use by process %d (%s): stop that process, or choose another data directory",
		dir, os.Getpid(), strings.Join(os.Args, " "))
	if err == nil || err.Error() != want {
		t.Errorf("error: %v, want %s", err, want)
	}
}

func TestWaitingForTheLockEndsWithTheContext(t *testing.T) {
	t.Parallel()
	e := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := Start(ctx, EmbeddedConfig{DataDir: e.config.DataDir})
	if want := fmt.Sprintf("waiting for %s: context deadline exceeded", filepath.Join(e.config.DataDir, "LOCK")); err == nil || err.Error() != want {
		t.Errorf("error: %v, want %s", err, want)
	}
}

func TestDataDirErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, dir string)
		want    string // %[1]s is the directory
	}{
		"a file": {
			func(t *testing.T, dir string) { writeFile(t, dir, "") },
			"data directory %[1]s cannot be made: not a directory",
		},
		"below a file": {
			func(t *testing.T, dir string) { writeFile(t, filepath.Dir(dir), "") },
			"data directory %[1]s cannot be made: not a directory",
		},
		"a dangling link": {
			func(t *testing.T, dir string) {
				must(t, os.MkdirAll(filepath.Dir(dir), 0o700))
				must(t, os.Symlink("nowhere", dir))
			},
			"data directory %[1]s cannot be made: file exists",
		},
		"the lock is a directory": {
			func(t *testing.T, dir string) { must(t, os.MkdirAll(filepath.Join(dir, "LOCK"), 0o700)) },
			"data directory %[1]s cannot be written: LOCK: is a directory",
		},
		"the member directory is a file": {
			func(t *testing.T, dir string) { writeFile(t, filepath.Join(dir, "member"), "") },
			"data directory %[1]s cannot be read: %[1]s/member/snap/db: not a directory",
		},
		"the database is a directory": {
			func(t *testing.T, dir string) { must(t, os.MkdirAll(dbPath(dir), 0o700)) },
			"data directory %[1]s is damaged: %[1]s/member/snap/db is a directory",
		},
		"the log is a file": {
			func(t *testing.T, dir string) { writeFile(t, walDir(dir), "") },
			"data directory %[1]s cannot be read: %[1]s/member/wal: not a directory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "a", "b")
			tt.prepare(t, dir)
			e, err := Start(t.Context(), EmbeddedConfig{DataDir: dir})
			if err == nil {
				closeBackend(t, e)
				t.Fatal("no error")
			}
			if want := fmt.Sprintf(tt.want, dir); err.Error() != want {
				t.Errorf("error:\n%v\nwant:\n%s", err, want)
			}
		})
	}
}

// TestDataDirOfAnotherUser runs etcd as a user without rights, which takes root.
func TestDataDirOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		testDataDirWithoutRights(t)
		return
	}
	const nobody = 65534
	asNobody := func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		// A copy that nobody can execute: the build's own directory may be closed to others.
		copied := filepath.Join(publicDir(t), "etcd.test")
		must(t, copyFile(copied, os.Args[0]))
		must(t, os.Chmod(copied, 0o755))
		c.Path, c.Dir = copied, "/"
	}
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, dir string)
		want    string
	}{
		"it can't be made": {
			func(*testing.T, string) {},
			"data directory %s cannot be made: permission denied\n",
		},
		"it belongs to somebody else": {
			func(t *testing.T, dir string) { must(t, os.Mkdir(dir, 0o777)) },
			"data directory %s belongs to user 0, but this process runs as user 65534: run it as that user, or change the owner\n",
		},
	} {
		dir := filepath.Join(publicDir(t), "etcd")
		tt.prepare(t, dir)
		c := startChild(t, "start", dir, asNobody)
		if code := c.exitCode(t); code != 1 {
			t.Errorf("%s: exit status %d", name, code)
		}
		if got, want := c.stderr.String(), fmt.Sprintf(tt.want, dir); got != want {
			t.Errorf("%s: it says %q, want %q", name, got, want)
		}
	}
	dir := newDir(t)
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.Chown(dir, nobody, nobody))
	_, err := Start(t.Context(), EmbeddedConfig{DataDir: dir})
	if want := fmt.Sprintf("data directory %s belongs to user 65534, but this process runs as user 0: run it as that user, or change the owner", dir); err == nil || err.Error() != want {
		t.Errorf("error: %v, want %s", err, want)
	}
}

func testDataDirWithoutRights(t *testing.T) {
	parent := t.TempDir()
	must(t, os.Chmod(parent, 0o500))
	dir := filepath.Join(parent, "etcd")
	_, err := Start(t.Context(), EmbeddedConfig{DataDir: dir})
	if want := fmt.Sprintf("data directory %s cannot be made: permission denied", dir); err == nil || err.Error() != want {
		t.Errorf("error: %v, want %s", err, want)
	}
}

// publicDir returns a temporary directory that others can look into, unlike t.TempDir's parent.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pinnace-etcd-") //nolint:usetesting // others must be able to look into its parent
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	must(t, os.Chmod(dir, 0o755))
	return dir
}

func TestDataDirIsClosedToOthers(t *testing.T) {
	t.Parallel()
	ctx, log := logged(t, 0)
	dir := newDir(t)
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.Chmod(dir, 0o775))
	e, err := Start(ctx, EmbeddedConfig{DataDir: dir})
	must(t, err)
	closeBackend(t, e)
	info, err := os.Stat(dir)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", info.Mode())
	}
	if want := `"Closed the data directory to other users" logger="etcd" dataDir="` + dir + `" oldMode="0775" mode="0700"`; !strings.Contains(log.String(), want) {
		t.Errorf("no line %s in\n%s", want, log)
	}
}

func TestInUseErrorSaysWhatItKnows(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	for want, err := range map[string]*InUseError{
		"data directory /d is in use by another process: stop that process, or choose another data directory":                             {Dir: "/d"},
		"data directory /d is in use by process 7: stop that process, or choose another data directory":                                   {Dir: "/d", PID: 7},
		"data directory /d is in use by process 7 (etcd) since 2026-01-02T02:04:05Z: stop that process, or choose another data directory": {Dir: "/d", PID: 7, Command: "etcd", Since: since},
	} {
		if got := err.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestParseLocks(t *testing.T) {
	t.Parallel()
	const locks = `1: POSIX  ADVISORY  READ 1 fe:00:42 128 128
2: OFDLCK ADVISORY  WRITE -1 fe:00:42 0 EOF
3: FLOCK  ADVISORY  WRITE 4711 fe:00:42 0 EOF
3: -> FLOCK  ADVISORY  WRITE 4712 fe:00:42 0 EOF
4: FLOCK  ADVISORY  WRITE 0 fe:00:43 0 EOF
5: FLOCK
6: FLOCK  ADVISORY  WRITE 4713 fd:01:44 0 EOF
`
	for file, want := range map[string]int{
		"fe:00:42": 4711,
		"fe:00:43": 0, // a process of another PID namespace
		"fe:00:44": 0, // another device
		"fe:00:4":  0,
	} {
		if got := parseLocks([]byte(locks), file); got != want {
			t.Errorf("%s: %d, want %d", file, got, want)
		}
	}
}

func TestFlockHolderAndCommandLineOfNothing(t *testing.T) {
	t.Parallel()
	if pid := flockHolder(filepath.Join(t.TempDir(), "missing")); pid != 0 {
		t.Errorf("flockHolder: %d", pid)
	}
	for _, pid := range []int{0, -1, 1 << 30} {
		if got := commandLine(pid); got != "" {
			t.Errorf("commandLine(%d): %q", pid, got)
		}
	}
}

func TestLockHolderOfAnOldFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock, err := lockDir(t.Context(), dir, time.Second)
	must(t, err)
	// The file names a process that is gone, and /proc/locks this one.
	must(t, os.WriteFile(filepath.Join(dir, lockName), []byte("pid: 1073741824\nsince: 2026-01-02T03:04:05Z\ncommand: gone\n"), fileMode))
	if got := lockHolder(dir, lock.file); got.PID != os.Getpid() || got.Command != strings.Join(os.Args, " ") || !got.Since.IsZero() {
		t.Errorf("holder: %+v", got)
	}
	must(t, lock.release())
	// Nothing but the file is known where nobody has a lock that /proc/locks shows.
	file, err := os.Open(filepath.Join(dir, lockName))
	must(t, err)
	defer file.Close()
	must(t, os.WriteFile(file.Name(), []byte("pid: 1073741824\nsince: 2026-01-02T03:04:05Z\ncommand: far away\n"), fileMode))
	got := lockHolder(dir, file)
	if got.PID != 1<<30 || got.Command != "far away" || got.Since.Year() != 2026 {
		t.Errorf("holder: %+v", got)
	}
}

func TestRoomOnTheDisk(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	room := func(free uint64, err error) func(string) (uint64, error) {
		return func(string) (uint64, error) { return free, err }
	}
	inspect := func(free func(string) (uint64, error)) error {
		return (&inspector{logger: klog.Background(), dir: dir, probe: time.Second, free: free}).inspect()
	}
	wantError(t, inspect(room(100<<20, nil)), "data directory %s: only 100 MiB are free on its file system, etcd needs 138 MiB", dir)
	wantError(t, inspect(room(0, errors.New("no idea"))), "data directory %s: the room on its file system can't be told: no idea", dir)
	must(t, inspect(room(1<<30, nil)))
	closeBackend(t, start(t, inDir(dir)))
	must(t, inspect(room(100<<20, nil)))
	wantError(t, inspect(room(15<<20, nil)), "data directory %s: only 15 MiB are free on its file system, etcd needs 16 MiB", dir)
	if free, err := freeBytes(dir); err != nil || free == 0 {
		t.Errorf("freeBytes: %d %v", free, err)
	}
	if _, err := freeBytes(filepath.Join(dir, "missing")); err == nil {
		t.Error("freeBytes of nothing")
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, format string, args ...any) {
	t.Helper()
	if want := fmt.Sprintf(format, args...); err == nil || err.Error() != want {
		t.Errorf("error:\n%v\nwant:\n%s", err, want)
	}
}

// writeFile writes a file and makes the directories above it.
func writeFile(t *testing.T, path, content string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(content), fileMode))
}
