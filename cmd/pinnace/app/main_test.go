// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"

	"github.com/pinnace-io/pinnace/pkg/server/options"
)

// A process sets up logging once, and goroutines of a server may log until the process ends. Tests of that run this test
// binary again, with a mode in this variable.
const childMode = "PINNACE_APP_TEST_CHILD"

const (
	// modeExecute executes the command line of the child.
	modeExecute = "execute"
	// modeLogs sets up logging with the verbosity that is the child's argument, and logs something of each kind.
	modeLogs = "logs"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childMode) {
	case modeExecute:
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		code := Execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	case modeLogs:
		if err := logEverything(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		os.Exit(m.Run())
	}
}

// logEverything logs an entry of each kind.
func logEverything(verbosity string) error {
	level, err := strconv.ParseUint(verbosity, 10, 31)
	if err != nil {
		return err
	}
	o, err := options.NewStandalone()
	if err != nil {
		return err
	}
	o.Logs.Verbosity = logsapi.VerbosityLevel(level)
	if err := applyLogs(o.Logs, os.Stderr); err != nil {
		return err
	}
	logger := klog.FromContext(context.Background())
	logger.Info("some news")
	logger.V(2).Info("some detail")
	klog.Warning("some warning")
	logger.Error(errors.New("cause"), "some error")
	klog.Flush()
	return nil
}

// child is a process of this test binary.
type child struct {
	*exec.Cmd
}

// startChild starts a child, which ends with ctx at the latest.
func startChild(ctx context.Context, t *testing.T, mode string, args []string, stdout, stderr io.Writer) child {
	t.Helper()
	c := child{Cmd: exec.CommandContext(ctx, os.Args[0], args...)}
	c.Env = append(os.Environ(), childMode+"="+mode)
	c.Stdout, c.Stderr = stdout, stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// wait waits for the end of the child and returns its exit code.
func (c child) wait(t *testing.T) int {
	t.Helper()
	var exit *exec.ExitError
	if err := c.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode()
}
