// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// Some tests need etcd in another process: to kill it, to take its disk away, to run it as another user. They run this
// test binary again with these variables.
const (
	childMode  = "PINNACE_ETCD_TEST_CHILD"
	childDir   = "PINNACE_ETCD_TEST_DIR"
	childLimit = "PINNACE_ETCD_TEST_FILE_LIMIT"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		syscall.Exit(runChild(mode)) // without the hooks of os.Exit: those of a test with coverage write to standard error
	}
	os.Exit(m.Run())
}

// runChild is the child process. It starts etcd, prints "ready", and does what its mode says until its standard input
// ends.
func runChild(mode string) int {
	signal.Ignore(syscall.SIGXFSZ) // a write beyond the file size limit is to fail, not to kill
	if mode == "limited start" {
		limitFileSize()
	}
	ctx := klog.NewContext(context.Background(), klog.Background())
	e, err := Start(ctx, EmbeddedConfig{DataDir: os.Getenv(childDir), LockTimeout: time.Second})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("ready")
	switch mode {
	case "write":
		write(ctx, e)
	case "limited write":
		limitFileSize()
		write(ctx, e)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := e.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("closed")
	return 0
}

func limitFileSize() {
	limit, err := strconv.ParseUint(os.Getenv(childLimit), 10, 64)
	if err == nil {
		err = unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: unix.RLIM_INFINITY})
	}
	if err != nil {
		panic(err)
	}
}

// write stores numbered keys from several goroutines for ever, and prints the number of each when it is acknowledged.
func write(ctx context.Context, e *Embedded) {
	var mu sync.Mutex
	next := time.Now().UnixNano() // greater than in every earlier process
	value := strings.Repeat("v", 1000)
	for range 8 {
		go func() {
			for {
				mu.Lock()
				next++
				number := next
				mu.Unlock()
				if _, err := e.client.Put(ctx, fmt.Sprintf("/test/%d", number), value); err != nil {
					fmt.Fprintln(os.Stderr, "put:", err)
					return
				}
				mu.Lock()
				fmt.Println("stored", number)
				mu.Unlock()
			}
		}()
	}
}

// child is a child process and what it says.
type child struct {
	*exec.Cmd
	stdin  io.Closer
	lines  *bufio.Scanner
	stderr *bytes.Buffer
}

// startChild runs the test binary in a mode on a data directory; the process ends with the test at the latest.
func startChild(t *testing.T, mode, dir string, change ...func(*exec.Cmd)) *child {
	t.Helper()
	c := &child{Cmd: exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0]), stderr: &bytes.Buffer{}} //nolint:gosec // this binary
	c.Env = append(os.Environ(), childMode+"="+mode, childDir+"="+dir)
	c.Stderr = c.stderr
	for _, f := range change {
		f(c.Cmd)
	}
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.stdin = stdin
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(stdout)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill() // it has ended, as a rule
		_ = c.Wait()
	})
	return c
}

// fileLimit sets the limit of modes "limited start" and "limited write".
func fileLimit(bytes int) func(*exec.Cmd) {
	return func(c *exec.Cmd) { c.Env = append(c.Env, fmt.Sprintf("%s=%d", childLimit, bytes)) }
}

// awaitReady waits for the child's line.
func (c *child) awaitReady(t *testing.T) {
	t.Helper()
	if !c.lines.Scan() || c.lines.Text() != "ready" {
		t.Fatalf("the child says %q and %q", c.lines.Text(), c.stderr)
	}
}

// childTimeout is when a child that should have ended is killed.
const childTimeout = 2 * time.Minute

// exitCode waits for the child's end, reading all it says.
func (c *child) exitCode(t *testing.T) int {
	t.Helper()
	timeout := time.AfterFunc(childTimeout, func() { _ = c.Process.Kill() })
	defer timeout.Stop()
	for c.lines.Scan() {
		continue
	}
	var exit *exec.ExitError
	if err := c.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode()
}

// syncBuffer is a buffer that a logger and a test share.
type syncBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// logged returns a context whose logger writes to the buffer.
func logged(t *testing.T, verbosity int) (context.Context, *syncBuffer) {
	t.Helper()
	buffer := &syncBuffer{}
	return klog.NewContext(t.Context(), textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(buffer), textlogger.Verbosity(verbosity)))), buffer
}

// newDir returns a data directory that does not exist yet.
func newDir(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "etcd")
}

// start starts etcd and closes it with the test.
func start(t testing.TB, change ...func(*EmbeddedConfig)) *Embedded {
	t.Helper()
	config := EmbeddedConfig{DataDir: newDir(t)}
	for _, f := range change {
		f(&config)
	}
	e, err := Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeBackend(t, e) })
	return e
}

func inDir(dir string) func(*EmbeddedConfig) { return func(c *EmbeddedConfig) { c.DataDir = dir } }

// closeBackend closes a backend, which may be closed already.
func closeBackend(t testing.TB, b Backend) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
	defer cancel()
	if err := b.Close(ctx); err != nil {
		t.Error(err)
	}
}

// checkLeaks fails the test if goroutines that were started after this call are there 10 seconds after its end.
func checkLeaks(t *testing.T) {
	t.Helper()
	before := goroutines()
	t.Cleanup(func() {
		var leaked []string
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			leaked = leaked[:0]
			for id, stack := range goroutines() {
				if _, ok := before[id]; !ok {
					leaked = append(leaked, stack)
				}
			}
			if len(leaked) == 0 {
				return
			}
		}
		t.Errorf("%d goroutines are left:\n%s", len(leaked), strings.Join(leaked, "\n\n"))
	})
}

// goroutines returns the stacks of all goroutines but this one, by their heading up to the state.
func goroutines() map[string]string {
	buffer := make([]byte, 8<<20)
	stacks := map[string]string{}
	for n, stack := range strings.Split(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
		id, _, _ := strings.Cut(stack, " [")
		if n > 0 && !strings.Contains(stack, "testing.(*T).Run(") {
			stacks[id] = stack
		}
	}
	return stacks
}
