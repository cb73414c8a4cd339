// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"
)

const (
	// lockName is the file in the data directory that Start locks. It is never removed: removing it would let two
	// processes lock two files of one name.
	lockName = "LOCK"

	dirMode  = 0o700
	fileMode = 0o600

	lockRetryInterval = 50 * time.Millisecond
)

// InUseError says that another process holds a data directory.
type InUseError struct {
	// Dir is the data directory.
	Dir string
	// PID is the process that holds it; 0 when it is not known, as when it runs in another PID namespace.
	PID int
	// Command is that process's command line; "" when it is not known.
	Command string
	// Since is when it took the directory; zero when it is not known (a plain etcd does not say).
	Since time.Time
}

// Error implements error.
func (e *InUseError) Error() string {
	holder := "another process"
	if e.PID != 0 {
		holder = fmt.Sprintf("process %d", e.PID)
	}
	if e.Command != "" {
		holder += " (" + e.Command + ")"
	}
	if !e.Since.IsZero() {
		holder += " since " + e.Since.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("data directory %s is in use by %s: stop that process, or choose another data directory", e.Dir, holder)
}

// prepareDir makes the data directory if there is none, and sees to it that only its owner, this process's user, can
// reach into it.
func prepareDir(logger klog.Logger, dir string) error {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return fmt.Errorf("data directory %s cannot be made: %w", dir, cause(err))
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("data directory %s cannot be read: %w", dir, cause(err))
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("data directory %s belongs to user %d, but this process runs as user %d: run it as that user, or change the owner",
			dir, stat.Uid, os.Geteuid())
	}
	if mode := info.Mode().Perm(); mode&^dirMode != 0 {
		if err := os.Chmod(dir, dirMode); err != nil {
			return fmt.Errorf("data directory %s is open to other users (mode %04o) and cannot be closed to them: %w", dir, mode, cause(err))
		}
		logger.Info("Closed the data directory to other users", "dataDir", dir, "oldMode", fmt.Sprintf("%04o", mode), "mode", fmt.Sprintf("%04o", dirMode))
	}
	return nil
}

// cause strips the operation and path that the sentence around it has already.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// dirLock is a data directory that this process holds.
type dirLock struct {
	file *os.File
}

// lockDir takes the lock of a data directory, trying for at most timeout. The error is an *InUseError when another
// process keeps it.
func lockDir(ctx context.Context, dir string, timeout time.Duration) (*dirLock, error) {
	path := filepath.Join(dir, lockName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, fmt.Errorf("data directory %s cannot be written: %s: %w", dir, lockName, cause(err))
	}
	deadline := time.Now().Add(timeout)
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("%s cannot be locked: %w", path, err), file.Close())
		}
		if time.Now().After(deadline) {
			held := lockHolder(dir, file)
			return nil, errors.Join(held, file.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("waiting for %s: %w", path, context.Cause(ctx)), file.Close())
		case <-time.After(lockRetryInterval):
		}
	}
	lock := &dirLock{file: file}
	if err := lock.sign(time.Now()); err != nil {
		return nil, errors.Join(fmt.Errorf("data directory %s cannot be written: %s: %w", dir, lockName, cause(err)), lock.release())
	}
	return lock, nil
}

// sign writes who holds the lock into its file, for the error of the next who wants it.
func (l *dirLock) sign(now time.Time) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt(fmt.Appendf(nil, "pid: %d\nsince: %s\ncommand: %s\n",
		os.Getpid(), now.UTC().Format(time.RFC3339), strings.Join(os.Args, " ")), 0)
	return err
}

// release gives the lock back. The file stays, empty.
func (l *dirLock) release() error {
	return errors.Join(l.file.Truncate(0), l.file.Close())
}

// lockHolder reads who holds a lock out of its file and out of /proc; the latter knows better.
func lockHolder(dir string, file *os.File) *InUseError {
	held := &InUseError{Dir: dir}
	if content, err := os.ReadFile(file.Name()); err == nil {
		for line := range strings.Lines(string(content)) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch key {
			case "pid":
				held.PID, _ = strconv.Atoi(value)
			case "since":
				held.Since, _ = time.Parse(time.RFC3339, value)
			case "command":
				held.Command = value
			}
		}
	}
	if pid := flockHolder(file.Name()); pid != 0 && pid != held.PID {
		*held = InUseError{Dir: dir, PID: pid} // the file was written by a holder before this one
	}
	if command := commandLine(held.PID); command != "" {
		held.Command = command
	}
	return held
}

// flockHolder returns the process that holds an flock on a file, by /proc/locks; 0 when that can't be told.
func flockHolder(path string) int {
	var stat syscall.Stat_t
	if err := syscall.Stat(path, &stat); err != nil {
		return 0
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0
	}
	device := uint64(stat.Dev) //nolint:unconvert // the type differs by platform
	return parseLocks(locks, fmt.Sprintf("%02x:%02x:%d", unix.Major(device), unix.Minor(device), stat.Ino))
}

// parseLocks finds the process that holds the flock on a file in the text of /proc/locks (proc(5)), whose lines read
// "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF": the process, then device and inode of the file.
func parseLocks(locks []byte, file string) int {
	scanner := bufio.NewScanner(bytes.NewReader(locks))
	for scanner.Scan() {
		fields := strings.Fields(scanner.Text())
		if len(fields) < 6 || fields[1] != "FLOCK" {
			continue // a blocked waiter ("1: -> FLOCK …") among others
		}
		if fields[5] != file {
			continue
		}
		if pid, err := strconv.Atoi(fields[4]); err == nil && pid > 0 {
			return pid
		}
	}
	return 0
}

// commandLine returns the command line of a process, "" when it can't be told.
func commandLine(pid int) string {
	if pid <= 0 {
		return ""
	}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return strings.Join(strings.Split(strings.TrimRight(string(raw), "\x00"), "\x00"), " ")
}

// freeBytes returns the room that is left for this user on the file system of a directory.
func freeBytes(dir string) (uint64, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return 0, err
	}
	return stat.Bavail * uint64(stat.Bsize), nil
}
