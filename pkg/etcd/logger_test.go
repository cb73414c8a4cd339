// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	etcderrors "go.etcd.io/etcd/server/v3/etcdserver/errors"
	"go.uber.org/zap"
	"k8s.io/klog/v2"
)

func TestZapLinesBecomeKlogLines(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		verbosity int
		log       func(*zap.Logger)
		want      string // without the header
	}{
		"an error with its error": {0, func(l *zap.Logger) { l.Error("failed", zap.Error(errors.New("why")), zap.Int("n", 1)) }, `E "failed" err="why" n=1`},
		"an error without one":    {0, func(l *zap.Logger) { l.Error("failed") }, `E "failed"`},
		"a warning":               {0, func(l *zap.Logger) { l.Warn("slow", zap.String("took", "1s"), zap.Error(errors.New("why"))) }, `I "slow" took="1s" err="why"`},
		"an info line":            {3, func(l *zap.Logger) { l.Info("hello") }, ``},
		"an info line at 4":       {4, func(l *zap.Logger) { l.Info("hello", zap.Bools("b", []bool{true})) }, `I "hello" b=[true]`},
		"a debug line":            {5, func(l *zap.Logger) { l.Debug("hello") }, ``},
		"a debug line at 6":       {6, func(l *zap.Logger) { l.Debug("hello") }, `I "hello"`},
		"fields of With":          {0, func(l *zap.Logger) { l.With(zap.String("a", "b")).With(zap.String("c", "d")).Warn("x", zap.Skip()) }, `I "x" a="b" c="d"`},
		"a warning that is no news": {0, func(l *zap.Logger) {
			l.Warn("Running http and grpc server on single port. This is not recommended for production.")
		}, ``},
		"a warning of what was cancelled":      {0, func(l *zap.Logger) { l.Warn("failed", zap.Error(fmt.Errorf("x: %w", context.Canceled))) }, ``},
		"a warning of what etcd has cancelled": {0, func(l *zap.Logger) { l.Warn("failed", zap.Error(etcderrors.ErrCanceled)) }, ``},
		"the error of every first start": {0, func(l *zap.Logger) {
			l.Error("failed to update storage version", zap.Error(errors.New("cannot detect storage schema version: missing term information")))
		}, ``},
		"another error of that kind": {0, func(l *zap.Logger) { l.Error("failed to update storage version", zap.Error(errors.New("x"))) }, `E "failed to update storage version" err="x"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, buffer := logged(t, tt.verbosity)
			logger := newZapLogger(klog.FromContext(ctx), newFatalHook(klog.Background(), "", nil))
			tt.log(logger)
			if err := logger.Sync(); err != nil {
				t.Error(err)
			}
			got := strings.TrimSuffix(buffer.String(), "\n")
			if header, line, ok := strings.Cut(got, "] "); ok {
				if !strings.Contains(header, "logger_test.go:") {
					t.Errorf("the line is said to come from %s", header)
				}
				got = header[:1] + " " + line
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFatalLineInAStart: the goroutine ends, and the start gets the error; what follows from it is not another one.
func TestFatalLineInAStart(t *testing.T) {
	t.Parallel()
	hook := newFatalHook(klog.Background(), "/dir", func(int) { t.Error("the process was ended") })
	logger := newZapLogger(klog.Background(), hook)
	for _, log := range []func(){
		func() { logger.Fatal("failed to open", zap.Error(errors.New("why"))) },
		func() { logger.Panic("failed again", zap.String("file", "x")) },
	} {
		resumed := make(chan bool, 1)
		go func() {
			defer func() {
				if recover() != nil {
					t.Error("it panics")
				}
				close(resumed)
			}()
			log()
			resumed <- true
		}()
		if <-resumed {
			t.Error("the caller was resumed")
		}
	}
	wantError(t, hook.running(), "failed to open: why")
	if err := hook.running(); err != nil {
		t.Errorf("a second error: %v", err)
	}
}

func TestFatalLineAfterAStart(t *testing.T) {
	t.Parallel()
	ctx, buffer := logged(t, 0)
	var code int
	hook := newFatalHook(klog.FromContext(ctx), "/dir", func(c int) { code = c })
	logger := newZapLogger(klog.FromContext(ctx), hook)
	must(t, hook.running())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		logger.Fatal("failed to save", zap.String("file", "x"), zap.Int("n", 2))
		t.Error("the caller was resumed")
	}()
	<-ended
	if code != 1 {
		t.Errorf("status %d", code)
	}
	want := `"etcd cannot go on and ends this process: restart it once the cause is gone, nothing that was acknowledged is lost" err="failed to save file=x n=2" dataDir="/dir"`
	if !strings.Contains(buffer.String(), want) {
		t.Errorf("it says\n%swant\n%s", buffer, want)
	}
}

// TestDiskThatFailsWhileWriting: a log or a database that can't be written ends the process, with a sentence of ours.
func TestDiskThatFailsWhileWriting(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	c := startChild(t, "limited write", dir, fileLimit(64<<10))
	if code := c.exitCode(t); code != 1 {
		t.Errorf("exit status %d", code)
	}
	said := c.stderr.String()
	// Which file is the first to fail is a matter of timing: the log (its segment was made in wal.tmp, and etcd still
	// calls it by that name), or the database.
	want := regexp.MustCompile(`"etcd cannot go on and ends this process: restart it once the cause is gone, nothing that was acknowledged is lost" ` +
		`err="(failed to save Raft hard state and entries: write ` + walDir(dir) + `\S*/0000000000000000-0000000000000000.wal|failed to commit tx: write ` + dbPath(dir) + `): file too large" ` +
		`logger="etcd" dataDir="` + dir + `"`)
	if len(want.FindAllString(said, -1)) != 1 {
		t.Errorf("it says\n%swant once\n%s", said, want)
	}
	if strings.Contains(said, "panic") || strings.Contains(said, "goroutine") {
		t.Errorf("it panics:\n%s", said)
	}
	start(t, inDir(dir))
}

// TestDiskThatFailsInAStart: etcd's own end becomes the error of Start.
func TestDiskThatFailsInAStart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		limit int
		want  string
	}{
		"the log can't be made":      {1 << 20, "etcd in %s cannot start: failed to create WAL: file too large\n"},
		"the database can't be made": {4 << 10, "etcd in %[1]s cannot start: failed to open database: write %[1]s/member/snap/db: file too large\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			c := startChild(t, "limited start", dir, fileLimit(tt.limit))
			if code := c.exitCode(t); code != 1 {
				t.Errorf("exit status %d", code)
			}
			// etcd warns of its own of some causes; the last line is the error.
			if got, want := c.stderr.String(), fmt.Sprintf(tt.want, dir); !strings.HasSuffix(got, want) || strings.Count(got, "\n") > 2 {
				t.Errorf("it says\n%swant\n%s", got, want)
			}
			start(t, inDir(dir))
		})
	}
}
