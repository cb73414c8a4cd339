// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/storage/etcd3/metrics"
	"k8s.io/apiserver/pkg/storage/storagebackend"
)

// DefaultPrefix is the key prefix under which every object is stored, kube-apiserver's own: a snapshot of a cluster can
// be read by Pinnace and the other way round.
const DefaultPrefix = "/registry"

// DefaultCompactionInterval is how often revisions older than one interval are dropped, as in kube-apiserver.
const DefaultCompactionInterval = storagebackend.DefaultCompactInterval

// checkTimeout bounds one health or readiness check, kube-apiserver's default for both.
const checkTimeout = storagebackend.DefaultHealthcheckTimeout

// Backend is what the server knows of etcd. [Embedded] and [External] implement it.
type Backend interface {
	// Decorator returns the function that builds the storage of one resource: a watch cache over etcd3. It sets the
	// transport, the key prefix and the compaction of the configuration that it is handed; the server sets the rest
	// (codec, transformer, lease manager). The storage's owner calls the destroy function that comes with it.
	Decorator() generic.StorageDecorator

	// HealthChecks returns the check named "etcd", for healthz, livez and readyz, as kube-apiserver has it.
	HealthChecks() []healthz.HealthChecker

	// ReadyChecks returns the check named "etcd-readiness", for readyz alone. Until Ready is closed it fails with what
	// the backend waits for.
	ReadyChecks() []healthz.HealthChecker

	// Monitors returns what reports the size of the database to the metric apiserver_storage_size_bytes. The server
	// hands it to metrics.SetStorageMonitorGetter; the monitors belong to the backend and end with it.
	Monitors() []metrics.Monitor

	// Ready returns a channel that is closed once etcd has answered a linearizable read. It is never reopened.
	Ready() <-chan struct{}

	// Pending returns nil once Ready is closed, else what the backend waits for.
	Pending() error

	// Err returns a channel that gets at most one error, when etcd has stopped by itself, and is closed by Close.
	// An unreachable cluster is no such error: the client reconnects, and the checks fail meanwhile.
	Err() <-chan error

	// Version returns etcd's version, such as "3.7.3"; "" while it is not known.
	Version() string

	// String names the backend in logs and errors, such as "etcd in /var/lib/pinnace/etcd".
	String() string

	// Close ends the backend and waits until it has ended, or for ctx: then it returns the context's error while the
	// end goes on. It may be called often and from several goroutines. Destroy the storages first.
	Close(ctx context.Context) error
}

var (
	_ Backend = (*Embedded)(nil)
	_ Backend = (*External)(nil)
)

// WaitReady returns nil once the backend is ready. When ctx ends first, or etcd stops, the error says what the backend
// was waiting for.
func WaitReady(ctx context.Context, backend Backend) error {
	select {
	case <-backend.Ready():
		return nil
	default:
	}
	select {
	case <-backend.Ready():
		return nil
	case err, open := <-backend.Err():
		if !open {
			err = fmt.Errorf("%s: closed", backend)
		}
		return err
	case <-ctx.Done():
		return fmt.Errorf("%s is not ready: %w: %w", backend, context.Cause(ctx), backend.Pending())
	}
}

// namedCheck makes a health check of a function that takes a context, bounded by checkTimeout.
func namedCheck(name string, check func(context.Context) error) healthz.HealthChecker {
	return healthz.NamedGroupedCheck(name, name, func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
		defer cancel()
		return check(ctx)
	})
}

// monitor reports the database size of one etcd. Its owner is the backend, so Close does nothing.
type monitor struct {
	size func(context.Context) (int64, error)
}

var _ metrics.Monitor = monitor{}

// Monitor implements metrics.Monitor.
func (m monitor) Monitor(ctx context.Context) (metrics.StorageMetrics, error) {
	size, err := m.size(ctx)
	return metrics.StorageMetrics{Size: size}, err
}

// Close implements metrics.Monitor.
func (monitor) Close() error { return nil }

// interval returns the compaction interval that a configuration asks for: zero is the default, a negative one is none.
func interval(configured time.Duration) time.Duration {
	switch {
	case configured == 0:
		return DefaultCompactionInterval
	case configured < 0:
		return 0
	default:
		return configured
	}
}
