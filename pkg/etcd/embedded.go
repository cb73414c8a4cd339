// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/version"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/etcd3/metrics"
	"k8s.io/apiserver/pkg/storage/feature"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Sizes and times of EmbeddedConfig.
const (
	// DefaultQuotaBackendBytes is etcd's own default.
	DefaultQuotaBackendBytes = 2 << 30
	// MaxQuotaBackendBytes is the most that etcd recommends: recovery and defragmentation take time with the size.
	MaxQuotaBackendBytes = 8 << 30
	// MinQuotaBackendBytes leaves room for etcd's own pages and some objects.
	MinQuotaBackendBytes = 16 << 20

	// DefaultDefragmentBytes is the free room in the database file from which a start gives it back to the disk.
	DefaultDefragmentBytes = 64 << 20

	// DefaultLockTimeout leaves a process that is just ending the time to close etcd.
	DefaultLockTimeout = 5 * time.Second
	// DefaultStartTimeout covers the reading of a database of the largest size.
	DefaultStartTimeout = 2 * time.Minute
)

// EmbeddedConfig says how etcd runs in this process. It is not changed after Start.
type EmbeddedConfig struct {
	// DataDir is the directory that holds the data. It is made with mode 0700, and tightened to it if it is ours.
	// Required. It belongs to one process at a time, and must be on a local disk.
	DataDir string

	// Prefix is the key prefix of all objects. Default DefaultPrefix.
	Prefix string

	// QuotaBackendBytes is the size of the database file, in bytes, at which writes are refused with
	// "etcdserver: mvcc: database space exceeded". Default DefaultQuotaBackendBytes; from MinQuotaBackendBytes to
	// MaxQuotaBackendBytes.
	QuotaBackendBytes int64

	// CompactionInterval is how often old revisions are dropped: those older than one interval, after the second.
	// Default DefaultCompactionInterval; negative is never, for tests. It holds for all storages: the interval in
	// storagebackend.Config is not looked at.
	CompactionInterval time.Duration

	// DefragmentBytes is the free room inside the database file, in bytes, from which Start gives it back to the file
	// system. It takes some seconds a gigabyte. Default DefaultDefragmentBytes; negative is never. While etcd runs, it
	// is never defragmented but by Embedded.Defragment.
	DefragmentBytes int64

	// LockTimeout is how long Start waits for another process to leave the data directory. Default DefaultLockTimeout.
	LockTimeout time.Duration

	// StartTimeout is how long etcd may take to become ready. Default DefaultStartTimeout.
	StartTimeout time.Duration

	// Exit ends the process with a status when etcd cannot go on. It must not return. Default: klog is flushed, then
	// os.Exit.
	Exit func(code int)
}

func (c EmbeddedConfig) withDefaults() EmbeddedConfig {
	if c.Prefix == "" {
		c.Prefix = DefaultPrefix
	}
	if c.QuotaBackendBytes == 0 {
		c.QuotaBackendBytes = DefaultQuotaBackendBytes
	}
	if c.DefragmentBytes == 0 {
		c.DefragmentBytes = DefaultDefragmentBytes
	}
	if c.LockTimeout == 0 {
		c.LockTimeout = DefaultLockTimeout
	}
	if c.StartTimeout == 0 {
		c.StartTimeout = DefaultStartTimeout
	}
	if c.Exit == nil {
		c.Exit = func(code int) { klog.FlushAndExit(klog.ExitFlushTimeout, code) }
	}
	return c
}

// validate returns all that is wrong with a configuration that has its defaults.
func (c EmbeddedConfig) validate() error {
	var errs []error
	if c.DataDir == "" {
		errs = append(errs, errors.New("DataDir: required"))
	}
	if c.QuotaBackendBytes < MinQuotaBackendBytes || c.QuotaBackendBytes > MaxQuotaBackendBytes {
		errs = append(errs, fmt.Errorf("QuotaBackendBytes: %d is not between %d and %d", c.QuotaBackendBytes, int64(MinQuotaBackendBytes), int64(MaxQuotaBackendBytes)))
	}
	if err := validatePrefix(c.Prefix); err != nil {
		errs = append(errs, err)
	}
	if c.LockTimeout < 0 {
		errs = append(errs, fmt.Errorf("LockTimeout: %s is negative", c.LockTimeout))
	}
	if c.StartTimeout < 0 {
		errs = append(errs, fmt.Errorf("StartTimeout: %s is negative", c.StartTimeout))
	}
	return errors.Join(errs...)
}

// validatePrefix refuses a key prefix that would not be taken as it is written.
func validatePrefix(prefix string) error {
	if prefix == "/" || !strings.HasPrefix(prefix, "/") || path.Clean(prefix) != prefix {
		return fmt.Errorf("Prefix: %q is not a clean absolute path such as %q", prefix, DefaultPrefix) //nolint:staticcheck // the field's name
	}
	return nil
}

// What a cluster of one, in one process, needs less of than etcd's defaults.
const (
	// memberName and peerHost go into the cluster's identity, and into `etcdctl member list`. Nothing listens there.
	memberName = "pinnace"
	peerHost   = "127.0.0.1:2380"

	// A lone member elects itself when its election timer runs out, which is the most of the time that a start takes.
	// There is no peer that a short one could disturb.
	tickMilliseconds     = 20
	electionMilliseconds = 100

	// snapshotCount is after how many entries the log may be cut: a quarter of etcd's, for a restart reads the rest into
	// memory, and serves nothing while more than 5000 are to be applied. catchUpEntries stay in memory for members that
	// lag; there are none. A log segment on disk is 64 MB.
	snapshotCount  = 2500
	catchUpEntries = 100
	maxWALFiles    = 2

	// slowWarning is when etcd warns of a slow request. Its own 100 ms are for clusters that share a disk with nobody.
	slowWarning = time.Second
)

// embedConfig returns etcd's configuration. It listens nowhere, and syncs every write to the disk.
func (c EmbeddedConfig) embedConfig(logger *zap.Logger) *embed.Config {
	cfg := embed.NewConfig()
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger)
	cfg.Name = memberName
	cfg.Dir = c.DataDir
	cfg.ListenPeerUrls, cfg.ListenClientUrls, cfg.AdvertiseClientUrls = nil, nil, nil
	cfg.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: peerHost}}
	cfg.InitialCluster = cfg.InitialClusterFromName(memberName)
	cfg.EnableGRPCGateway = false

	cfg.TickMs, cfg.ElectionMs = tickMilliseconds, electionMilliseconds
	cfg.SnapshotCount, cfg.SnapshotCatchUpEntries = snapshotCount, catchUpEntries
	cfg.MaxWalFiles = maxWALFiles
	cfg.WarningApplyDuration, cfg.WarningUnaryRequestDuration = slowWarning, slowWarning
	cfg.DowngradeCheckTime = 0 // there is nobody to downgrade with
	cfg.QuotaBackendBytes = c.QuotaBackendBytes
	if c.DefragmentBytes > 0 {
		cfg.BootstrapDefragThresholdMegabytes = uint((c.DefragmentBytes + 1<<20 - 1) >> 20)
	}
	return cfg
}

// Embedded is etcd in this process. Make one with Start.
type Embedded struct {
	config EmbeddedConfig
	logger klog.Logger
	lock   *dirLock
	hook   *fatalHook
	etcd   *embed.Etcd
	gate   *gate
	// client is the backend's own, for checks and maintenance.
	client    *clientv3.Client
	compactor stoppable

	ready chan struct{} // closed before Start returns
	// errc gets the error of an etcd that stopped by itself; its one writer is watchServer. Closed by shutdown, after
	// that has returned.
	errc chan error

	closeOnce sync.Once
	closing   chan struct{} // closed when Close is first called
	closed    chan struct{} // closed by shutdown, when all has ended
	closeErr  error         // written by shutdown before closed is closed
	watching  sync.WaitGroup
}

// stoppable is the compactor, whose type etcd3 does not export.
type stoppable interface {
	etcd3.Compactor
	Stop()
}

// Start starts etcd in this process and returns when it is ready. The package comment has the steps. It logs to ctx's
// logger; ctx ends the start, not etcd. The caller calls Close.
func Start(ctx context.Context, config EmbeddedConfig) (*Embedded, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("embedded etcd: %w", err)
	}
	dir, err := filepath.Abs(config.DataDir)
	if err != nil {
		return nil, fmt.Errorf("embedded etcd: DataDir: %w", err)
	}
	config.DataDir = dir
	logger := klog.FromContext(ctx).WithName("etcd")
	if err := prepareDir(logger, dir); err != nil {
		return nil, err
	}
	lock, err := lockDir(ctx, dir, config.LockTimeout)
	if err != nil {
		return nil, err
	}
	inspector := &inspector{logger: logger, dir: dir, probe: config.LockTimeout, free: freeBytes}
	if err := inspector.inspect(); err != nil {
		return nil, errors.Join(err, lock.release())
	}
	e := &Embedded{
		config:  config,
		logger:  logger,
		lock:    lock,
		hook:    newFatalHook(logger, dir, config.Exit),
		gate:    newGate(),
		ready:   make(chan struct{}),
		errc:    make(chan error, 1),
		closing: make(chan struct{}),
		closed:  make(chan struct{}),
	}
	if err := e.start(ctx); err != nil {
		return nil, fmt.Errorf("etcd in %s cannot start: %w", dir, err)
	}
	return e, nil
}

// start launches etcd in the locked directory, and releases the lock if that fails, unless etcd still holds its files.
func (e *Embedded) start(ctx context.Context) error {
	begin := time.Now()
	if err := e.launch(); err != nil {
		return err
	}
	err := e.awaitReady(ctx)
	if err == nil {
		err = e.serve(ctx)
	}
	if fatal := e.hook.running(); fatal != nil {
		return fatal // etcd can't be closed any more: it waits for what has ended
	}
	if err != nil {
		e.closeOnce.Do(func() { close(e.closing) })
		e.shutdown()
		return errors.Join(err, e.closeErr)
	}
	e.watching.Go(e.watchServer)
	close(e.ready)
	e.logger.V(verbosityStart).Info("etcd is ready", "dataDir", e.config.DataDir, "version", version.Version, "took", time.Since(begin).Round(time.Millisecond))
	return nil
}

// verbosityStart is that of the line which tells of a start: the server has one of its own for users.
const verbosityStart = 2

// launch runs embed.StartEtcd, which may end the goroutine that it runs in (see fatalHook).
func (e *Embedded) launch() error {
	cfg := e.config.embedConfig(newZapLogger(e.logger, e.hook))
	started := make(chan error, 1)
	go func() {
		var err error
		e.etcd, err = embed.StartEtcd(cfg)
		started <- err
	}()
	select {
	case err := <-started:
		if err != nil {
			return errors.Join(err, e.lock.release())
		}
		return nil
	case err := <-e.hook.failed:
		return err
	}
}

// awaitReady waits until etcd serves.
func (e *Embedded) awaitReady(ctx context.Context) error {
	timeout := time.NewTimer(e.config.StartTimeout)
	defer timeout.Stop()
	select {
	case <-e.etcd.Server.ReadyNotify():
		return nil
	case <-e.etcd.Server.StopNotify():
		return errors.New("it stopped while it started")
	case err := <-e.hook.failed:
		e.hook.failed <- err // for running
		return err
	case <-timeout.C:
		return fmt.Errorf("it was not ready within %s", e.config.StartTimeout)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// serve makes a ready etcd usable.
func (e *Embedded) serve(ctx context.Context) error {
	client, err := e.gate.newClient(e.etcd.Server)
	if err != nil {
		return err
	}
	e.client = client.Client
	if err := e.checkAlarms(ctx); err != nil {
		return err
	}
	e.announceProgress()
	// The library starts compaction once for the endpoints of a client, and ours has none.
	e.compactor = etcd3.NewCompactor(client.Client, interval(e.config.CompactionInterval), clock.RealClock{}, nil)
	return nil
}

// progressProbe shows the library's feature check an etcd that has no endpoints.
type progressProbe struct {
	endpoint string
}

// Endpoints returns a name for the server in this process.
func (p progressProbe) Endpoints() []string { return []string{p.endpoint} }

// Status returns what the check looks at. It does not call etcd: the check runs on its own, and may outlive it.
func (p progressProbe) Status(context.Context, string) (*clientv3.StatusResponse, error) {
	return &clientv3.StatusResponse{Version: version.Version}, nil
}

// announceProgressTimeout is ample: the check is one function call.
const announceProgressTimeout = 2 * time.Second

// announceProgress makes the storage layer learn that this etcd answers RequestWatchProgress. Otherwise it would turn off
// consistent lists from the watch cache and streamed lists, silently: it asks every endpoint, and there is none.
func (e *Embedded) announceProgress() {
	// A check is made once a name, even if it does not come to an end: each start has one of its own.
	probe := progressProbe{endpoint: fmt.Sprintf("in-process:%s:%d", e.config.DataDir, time.Now().UnixNano())}
	feature.DefaultFeatureSupportChecker.CheckClient(e.client.Ctx(), probe, storage.RequestWatchProgress)
	for deadline := time.Now().Add(announceProgressTimeout); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if feature.DefaultFeatureSupportChecker.Supports(storage.RequestWatchProgress) {
			return
		}
	}
	e.logger.Info("Consistent lists are read from etcd, not from the watch cache: another etcd that this process uses is too old for progress requests")
}

// watchServer reports an etcd that stops by itself.
func (e *Embedded) watchServer() {
	select {
	case <-e.closing:
	case <-e.etcd.Server.StopNotify():
		select {
		case <-e.closing:
		default:
			e.errc <- fmt.Errorf("%s has stopped by itself", e)
		}
	}
}

// Close implements Backend.
func (e *Embedded) Close(ctx context.Context) error {
	e.closeOnce.Do(func() {
		close(e.closing)
		go e.shutdown()
	})
	select {
	case <-e.closed:
		return e.closeErr
	case <-ctx.Done():
		return fmt.Errorf("closing %s: %w", e, context.Cause(ctx))
	}
}

// shutdown ends everything in the reverse order of its start. Parts that a failed start did not come to are nil.
func (e *Embedded) shutdown() {
	defer close(e.closed)
	if e.compactor != nil {
		e.compactor.Stop() // before its client goes
	}
	e.gate.close()
	e.etcd.Close()
	e.watching.Wait()
	close(e.errc)
	if err := e.lock.release(); err != nil {
		e.closeErr = fmt.Errorf("closing %s: %w", e, err)
	}
}

// Ready implements Backend.
func (e *Embedded) Ready() <-chan struct{} { return e.ready }

// Pending implements Backend: Start returns a backend that is ready.
func (e *Embedded) Pending() error { return nil }

// Err implements Backend.
func (e *Embedded) Err() <-chan error { return e.errc }

// Version implements Backend.
func (e *Embedded) Version() string { return version.Version }

// String implements Backend.
func (e *Embedded) String() string { return "etcd in " + e.config.DataDir }

// HealthChecks implements Backend.
func (e *Embedded) HealthChecks() []healthz.HealthChecker {
	return []healthz.HealthChecker{namedCheck("etcd", e.check)}
}

// ReadyChecks implements Backend.
func (e *Embedded) ReadyChecks() []healthz.HealthChecker {
	return []healthz.HealthChecker{namedCheck("etcd-readiness", e.check)}
}

// check makes a linearizable read, of the key that the library's check reads.
func (e *Embedded) check(ctx context.Context) error {
	return checkRead(ctx, e.client, e.config.Prefix)
}

// checkRead reads the key that the library's health check reads; it need not exist.
func checkRead(ctx context.Context, client *clientv3.Client, prefix string) error {
	if _, err := client.Get(ctx, path.Join(prefix, "health")); err != nil {
		return fmt.Errorf("error getting data from etcd: %w", err)
	}
	return nil
}

// Monitors implements Backend.
func (e *Embedded) Monitors() []metrics.Monitor {
	return []metrics.Monitor{monitor{size: func(ctx context.Context) (int64, error) {
		status, err := e.Status(ctx)
		return status.DatabaseBytes, err
	}}}
}
