// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	etcderrors "go.etcd.io/etcd/server/v3/etcdserver/errors"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
)

// klog verbosities of etcd's levels. Warnings and errors always come out.
const (
	verbosityInfo  = 4
	verbosityDebug = 6
)

// boltLogger is the name under which the database logs its errors, each on its way up. etcd logs what they come to.
const boltLogger = "bbolt"

// writeDepth is the number of frames between etcd's call of the logger and Write below, so that klog names etcd's line.
const writeDepth = 3

// newZapLogger returns the logger that etcd gets: everything goes to logger, and a line of level panic or fatal ends in
// hook.
func newZapLogger(logger klog.Logger, hook zapcore.CheckWriteHook) *zap.Logger {
	core := &klogCore{logger: logger.WithCallDepth(writeDepth)}
	return zap.New(core, zap.WithFatalHook(hook), zap.WithPanicHook(hook))
}

// klogCore is a zap core that writes structured klog lines.
type klogCore struct {
	logger klog.Logger
	fields []zapcore.Field // of With
}

var _ zapcore.Core = (*klogCore)(nil)

// Enabled implements zapcore.LevelEnabler.
func (c *klogCore) Enabled(level zapcore.Level) bool {
	return level > zapcore.InfoLevel || c.logger.V(verbosity(level)).Enabled()
}

// With implements zapcore.Core.
func (c *klogCore) With(fields []zapcore.Field) zapcore.Core {
	return &klogCore{logger: c.logger, fields: append(c.fields[:len(c.fields):len(c.fields)], fields...)}
}

// Check implements zapcore.Core.
func (c *klogCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

// Write implements zapcore.Core. Lines of level panic and fatal are left to the hook, which knows what they mean.
func (c *klogCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	pairs, err := keysAndValues(append(c.fields[:len(c.fields):len(c.fields)], fields...))
	switch {
	case entry.Level > zapcore.ErrorLevel:
	case entry.Level == zapcore.ErrorLevel:
		if firstStart(entry.Message, err) || entry.LoggerName == boltLogger {
			c.logger.V(verbosityInfo).Info(entry.Message, append(pairs, "err", err)...)
			return nil
		}
		c.logger.Error(err, entry.Message, pairs...)
	default:
		if err != nil {
			pairs = append(pairs, "err", err)
		}
		level := verbosity(entry.Level)
		if quiet(entry.Message, err) {
			level = verbosityInfo
		}
		c.logger.V(level).Info(entry.Message, pairs...)
	}
	return nil
}

// Sync implements zapcore.Core; klog flushes on its own.
func (c *klogCore) Sync() error { return nil }

func verbosity(level zapcore.Level) int {
	switch {
	case level <= zapcore.DebugLevel:
		return verbosityDebug
	case level == zapcore.InfoLevel:
		return verbosityInfo
	default:
		return 0
	}
}

// quiet tells of a warning that is no news for an etcd that has one member, no listener and no peers.
func quiet(message string, err error) bool {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, etcderrors.ErrCanceled):
		return true // etcd was told to stop
	case errors.Is(err, etcderrors.ErrTooManyRequests):
		return true // etcd tries to publish itself, without a pause, while it reads its log
	case strings.HasSuffix(message, "since there are still pending configuration changes to apply"):
		return true // raft, in the same situation
	}
	switch message {
	case "Running http and grpc server on single port. This is not recommended for production.", // there is no port
		"simple token is not cryptographically signed", // authentication is off
		// See firstStart.
		"Failed to detect schema version",
		"Failed to detect storage schema version. Please wait till wal snapshot before upgrading cluster.",
		"ignored file in WAL directory", // the copy of a torn log, see judgeDamage
		// A client closed.
		"failed to receive watch request from gRPC stream",
		"failed to send watch response to gRPC stream",
		"failed to send watch control response to gRPC stream",
		// An end that was asked for.
		"server has stopped; skipping GoAttach",
		"stopped publish because server is stopping":
		return true
	}
	return false
}

// firstStart tells of the one error of every first start: the version of the schema is asked for before the first commit.
// etcd asks again some seconds later.
func firstStart(message string, err error) bool {
	return message == "failed to update storage version" && err != nil && strings.Contains(err.Error(), "missing term information")
}

// keysAndValues turns zap fields into klog's pairs; an error under zap's usual key is returned by itself.
func keysAndValues(fields []zapcore.Field) ([]any, error) {
	var err error
	pairs := make([]any, 0, 2*len(fields))
	for _, field := range fields {
		if fieldErr, ok := field.Interface.(error); ok && field.Type == zapcore.ErrorType && field.Key == "error" {
			err = fieldErr
			continue
		}
		encoder := zapcore.NewMapObjectEncoder()
		field.AddTo(encoder)
		if value, ok := encoder.Fields[field.Key]; ok {
			pairs = append(pairs, field.Key, value)
		}
	}
	return pairs, err
}

// fatalHook is what a panic or fatal line of etcd's logger ends in. etcd writes such a line when it cannot go on, and
// relies on the call not returning.
//
// Until running is called it hands the line to failed and ends the goroutine that wrote it; afterwards it ends the
// process.
type fatalHook struct {
	logger klog.Logger
	dir    string
	exit   func(code int)

	// failed gets the first line of a start. It has room for it, so that nobody needs to listen.
	failed chan error

	mu      sync.Mutex
	started bool // guarded by mu
}

var _ zapcore.CheckWriteHook = (*fatalHook)(nil)

func newFatalHook(logger klog.Logger, dir string, exit func(int)) *fatalHook {
	return &fatalHook{logger: logger, dir: dir, exit: exit, failed: make(chan error, 1)}
}

// running marks the end of the start. It returns the error of a line that came before.
func (h *fatalHook) running() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case err := <-h.failed:
		return err
	default:
		h.started = true
		return nil
	}
}

// OnWrite implements zapcore.CheckWriteHook. It does not return.
func (h *fatalHook) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	err := fatalError(entry.Message, fields)
	h.mu.Lock()
	started := h.started
	if !started {
		select {
		case h.failed <- err:
		default: // what follows from the first line
		}
	}
	h.mu.Unlock()
	if started {
		h.logger.Error(err, "etcd cannot go on and ends this process: restart it once the cause is gone, nothing that was acknowledged is lost",
			"dataDir", h.dir)
		h.exit(1)
	}
	// Reached during a start, or when a test's exit returns: the caller counts on not being resumed.
	runtime.Goexit()
}

// fatalError makes an error of a log line: its message, then its error or else its fields.
func fatalError(message string, fields []zapcore.Field) error {
	pairs, err := keysAndValues(fields)
	if err != nil {
		return fmt.Errorf("%s: %w", message, err)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		message = fmt.Sprintf("%s %v=%v", message, pairs[i], pairs[i+1])
	}
	return errors.New(message)
}
