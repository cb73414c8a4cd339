// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	oteltrace "go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3/metrics"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

const (
	// probeInterval is how often an etcd that is not ready is asked again; probeLogInterval how often that is logged.
	probeInterval    = 500 * time.Millisecond
	probeLogInterval = 10 * time.Second
)

// ExternalConfig says how an etcd cluster is reached. It is not changed after Connect.
type ExternalConfig struct {
	// Endpoints are the members' client URLs (http, https, unix, unixs, or host:port, which is http). Required.
	Endpoints []string

	// CertFile and KeyFile are the PEM files of the client certificate; both or none.
	CertFile, KeyFile string
	// CAFile is the PEM file of the CAs that sign the members' certificates. Default: the system's, for https.
	CAFile string

	// Prefix is the key prefix of all objects. Default DefaultPrefix.
	Prefix string

	// CompactionInterval is how often old revisions are dropped: those older than one interval. Replicas of the API
	// server share the work. Default DefaultCompactionInterval; negative is never, as where something else compacts.
	CompactionInterval time.Duration

	// TracerProvider gets the client's spans. Default: none are made.
	TracerProvider oteltrace.TracerProvider
}

func (c ExternalConfig) withDefaults() ExternalConfig {
	if c.Prefix == "" {
		c.Prefix = DefaultPrefix
	}
	if c.TracerProvider == nil {
		c.TracerProvider = noop.NewTracerProvider()
	}
	return c
}

// validate returns all that is wrong with a configuration that has its defaults.
func (c ExternalConfig) validate() error {
	var errs []error
	if len(c.Endpoints) == 0 {
		errs = append(errs, errors.New("Endpoints: required"))
	}
	for _, endpoint := range c.Endpoints {
		if err := validateEndpoint(endpoint); err != nil {
			errs = append(errs, fmt.Errorf("Endpoints: %q: %w", endpoint, err))
		}
	}
	if (c.CertFile == "") != (c.KeyFile == "") {
		errs = append(errs, errors.New("CertFile and KeyFile: both or none"))
	}
	for _, file := range []struct{ field, path string }{{"CertFile", c.CertFile}, {"KeyFile", c.KeyFile}, {"CAFile", c.CAFile}} {
		if file.path == "" {
			continue
		}
		if _, err := os.ReadFile(file.path); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", file.field, err))
		}
	}
	if err := validatePrefix(c.Prefix); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// validateEndpoint refuses what the client would dial in vain.
func validateEndpoint(endpoint string) error {
	host := endpoint
	if strings.Contains(endpoint, "://") {
		parsed, err := url.Parse(endpoint)
		if err != nil {
			return errors.Unwrap(err) // without the endpoint, which the caller names
		}
		switch parsed.Scheme {
		case "unix", "unixs":
			return nil
		case "http", "https":
		default:
			return fmt.Errorf("scheme %q is none of http, https, unix, unixs", parsed.Scheme)
		}
		if strings.Trim(parsed.Path, "/") != "" {
			return errors.New("a path is not allowed")
		}
		host = parsed.Host
	}
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		return errors.New("not host:port")
	}
	if name == "" {
		return errors.New("the host is missing")
	}
	return nil
}

// tlsConfig returns the client's TLS configuration, nil where no file is given, as upstream's client has it.
func (c ExternalConfig) tlsConfig() (*tls.Config, error) {
	if c.CertFile == "" && c.KeyFile == "" && c.CAFile == "" {
		return nil, nil //nolint:nilnil // the client's zero value
	}
	return transport.TLSInfo{CertFile: c.CertFile, KeyFile: c.KeyFile, TrustedCAFile: c.CAFile}.ClientConfig()
}

// External is an etcd cluster that is reached over the network. Make one with Connect.
type External struct {
	config    ExternalConfig
	transport storagebackend.TransportConfig
	logger    klog.Logger
	// client is the backend's own, for the checks. Every storage has one of its own, as upstream.
	client *clientv3.Client

	ready chan struct{} // closed by awaitCluster
	errc  chan error    // nothing is ever sent; closed by shutdown

	mu      sync.Mutex
	pending error  // guarded by mu; nil once ready is closed
	version string // guarded by mu

	cancel    context.CancelFunc // ends awaitCluster
	waiting   sync.WaitGroup
	closeOnce sync.Once
	closed    chan struct{} // closed by shutdown
}

// Connect returns a backend over an etcd cluster. It returns without waiting for the cluster, whose first answer closes
// Ready; WaitReady waits for it. Errors are those of the configuration and its files. It logs to ctx's logger; the
// connection outlives ctx. The caller calls Close.
func Connect(ctx context.Context, config ExternalConfig) (*External, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("external etcd: %w", err)
	}
	tlsConfig, err := config.tlsConfig()
	if err != nil {
		return nil, fmt.Errorf("external etcd: %w", err)
	}
	logger := klog.FromContext(ctx).WithName("etcd")
	// gRPC's own backoff grows to two minutes; the checks would tell of a cluster that is back that much later.
	reconnect := backoff.DefaultConfig
	reconnect.BaseDelay, reconnect.MaxDelay = probeInterval, 4*probeInterval
	client, err := clientv3.New(clientv3.Config{
		Endpoints: config.Endpoints,
		TLS:       tlsConfig,
		// The client logs every failed attempt as a warning; the checks report the failures themselves.
		Logger:          zap.NewNop(),
		MaxUnaryRetries: 1,
		DialOptions: []grpc.DialOption{
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: checkTimeout}),
			grpc.WithChainUnaryInterceptor(failFast),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("external etcd: %w", err)
	}
	x := &External{
		config: config,
		transport: storagebackend.TransportConfig{
			ServerList:     config.Endpoints,
			CertFile:       config.CertFile,
			KeyFile:        config.KeyFile,
			TrustedCAFile:  config.CAFile,
			TracerProvider: config.TracerProvider,
		},
		logger:  logger,
		client:  client,
		ready:   make(chan struct{}),
		errc:    make(chan error),
		pending: errors.New("not asked yet"),
		closed:  make(chan struct{}),
	}
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	x.cancel = cancel
	x.waiting.Go(func() { x.awaitCluster(background) })
	return x, nil
}

// failFast makes a call fail when the connection has failed, with the cause. The etcd client asks gRPC to wait for a
// better one; all that is left then is that time was over.
func failFast(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return invoke(ctx, method, request, reply, conn, append(opts, grpc.WaitForReady(false))...)
}

// awaitCluster asks the cluster until it answers, and closes ready.
func (x *External) awaitCluster(ctx context.Context) {
	var logged time.Time
	for {
		err := x.ask(ctx)
		if ctx.Err() != nil {
			return
		}
		x.mu.Lock()
		x.pending = err
		x.mu.Unlock()
		if err == nil {
			close(x.ready)
			x.logger.V(verbosityStart).Info("etcd is ready", "endpoints", x.config.Endpoints, "version", x.Version())
			return
		}
		if time.Since(logged) >= probeLogInterval {
			logged = time.Now()
			x.logger.Info("Waiting for etcd", "endpoints", x.config.Endpoints, "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(probeInterval):
		}
	}
}

// ask makes a linearizable read. If that fails, its error says why of each member.
func (x *External) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if x.Version() == "" {
		if _, err := x.askMembers(ctx); err != nil {
			return err
		}
	}
	err := checkRead(ctx, x.client, x.config.Prefix)
	if err == nil {
		return nil
	}
	diagnosis, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	if _, membersErr := x.askMembers(diagnosis); membersErr != nil {
		return membersErr
	}
	return fmt.Errorf("etcd at %s answers, but has no quorum or no leader: %w", strings.Join(x.config.Endpoints, ", "), err)
}

// askMembers asks the members for their status, all at once, and returns the first answer. If none comes, the error has
// those of all, each with its endpoint.
func (x *External) askMembers(ctx context.Context) (*clientv3.StatusResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the calls that nobody waits for any more: one to a member that is away lasts as long as ctx
	answers := make(chan *clientv3.StatusResponse, len(x.config.Endpoints))
	errs := make([]error, len(x.config.Endpoints))
	var asked sync.WaitGroup
	for n, endpoint := range x.config.Endpoints {
		asked.Go(func() {
			status, err := x.client.Status(ctx, endpoint)
			if err != nil {
				errs[n] = fmt.Errorf("etcd at %s: %w", endpoint, err)
				return
			}
			answers <- status
			cancel()
		})
	}
	asked.Wait()
	select {
	case status := <-answers:
		x.mu.Lock()
		x.version = status.Version
		x.mu.Unlock()
		return status, nil
	default:
		return nil, errors.Join(errs...)
	}
}

// Decorator implements Backend: the library's own, over this transport.
func (x *External) Decorator() generic.StorageDecorator {
	decorate := genericregistry.StorageWithCacher()
	return func(
		config *storagebackend.ConfigForResource,
		resourcePrefix string,
		keyFunc func(runtime.Object) (string, error),
		newFunc, newListFunc func() runtime.Object,
		getAttrs storage.AttrFunc,
		indexerFuncs storage.IndexerFuncs,
		indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		ours := *config
		ours.Type = storagebackend.StorageTypeETCD3
		ours.Transport = x.transport
		ours.Prefix = x.config.Prefix
		ours.CompactionInterval = interval(x.config.CompactionInterval)
		s, destroy, err := decorate(&ours, resourcePrefix, keyFunc, newFunc, newListFunc, getAttrs, indexerFuncs, indexers)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: storage of %s: %w", x, config.GroupResource, err)
		}
		return s, destroy, nil
	}
}

// Close implements Backend.
func (x *External) Close(ctx context.Context) error {
	x.closeOnce.Do(func() { go x.shutdown() })
	select {
	case <-x.closed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("closing %s: %w", x, context.Cause(ctx))
	}
}

func (x *External) shutdown() {
	defer close(x.closed)
	x.cancel()
	x.waiting.Wait()
	_ = x.client.Close() // what is open of the connection is of no further use
	close(x.errc)
}

// Ready implements Backend.
func (x *External) Ready() <-chan struct{} { return x.ready }

// Pending implements Backend.
func (x *External) Pending() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.pending
}

// Err implements Backend: a cluster that can't be reached may come back.
func (x *External) Err() <-chan error { return x.errc }

// Version implements Backend: the version of the member that answered last.
func (x *External) Version() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.version
}

// String implements Backend.
func (x *External) String() string { return "etcd at " + strings.Join(x.config.Endpoints, ", ") }

// HealthChecks implements Backend.
func (x *External) HealthChecks() []healthz.HealthChecker {
	return []healthz.HealthChecker{namedCheck("etcd", x.ask)}
}

// ReadyChecks implements Backend.
func (x *External) ReadyChecks() []healthz.HealthChecker {
	return []healthz.HealthChecker{namedCheck("etcd-readiness", func(ctx context.Context) error {
		if err := x.Pending(); err != nil {
			return fmt.Errorf("waiting for %s: %w", x, err)
		}
		return x.ask(ctx)
	})}
}

// Monitors implements Backend: one a cluster, which takes the first member's answer.
func (x *External) Monitors() []metrics.Monitor {
	return []metrics.Monitor{monitor{size: func(ctx context.Context) (int64, error) {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		status, err := x.askMembers(ctx)
		if err != nil {
			return 0, err
		}
		return status.DbSize, nil
	}}}
}
