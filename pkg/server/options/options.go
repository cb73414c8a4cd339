// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package options holds what a user can set, as plain data: flags, the preset of each mode, completion and
// validation. It builds nothing and opens nothing; server.NewConfig consumes what it completes. It is the only
// package that knows the modes: a mode is a preset of options, chosen here and forgotten here.
package options

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/features"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/pinnace-io/pinnace/pkg/admission"
)

const (
	// DefaultPort is the port of a standalone server.
	DefaultPort = 7443
	// StoragePrefix is the etcd prefix that kube-apiserver uses; the two can read each other's data.
	StoragePrefix = "/registry"
	// DefaultQuota is the size in bytes that the embedded etcd may grow to before it refuses writes: the largest
	// that etcd recommends.
	DefaultQuota = 8 << 30
)

// Options are the settings of one server. The zero value is of no use; start from a preset and change fields until
// Complete is called.
type Options struct {
	// DataDir is the directory of the embedded etcd, of the server's certificates and of the admin kubeconfig.
	// It is made when it does not exist.
	DataDir string
	// QuotaBytes is the size that the embedded etcd may grow to.
	QuotaBytes int64
	// ServingNames are further DNS names and IP addresses for the serving certificate that the server makes.
	ServingNames []string

	// AllowPrivileged lets pod templates have privileged containers. It holds for the process: the first server decides.
	AllowPrivileged bool

	// ServerRun, SecureServing, Etcd, Admission, Audit, Features, Tracing and Logs are the library's own options. Etcd without
	// servers means the embedded etcd.
	ServerRun     *genericoptions.ServerRunOptions
	SecureServing *genericoptions.SecureServingOptionsWithLoopback
	Etcd          *genericoptions.EtcdOptions
	Admission     *genericoptions.AdmissionOptions
	Audit         *genericoptions.AuditOptions
	Features      *genericoptions.FeatureOptions
	Tracing       *genericoptions.TracingOptions
	Logs          *logsapi.LoggingConfiguration
}

// NewStandalone returns the preset of the standalone mode: loopback only, certificates of its own, etcd inside,
// storage as kube-apiserver stores, quiet.
func NewStandalone() (*Options, error) {
	if err := prepareGates(); err != nil {
		return nil, err
	}
	o := &Options{
		DataDir:       defaultDataDir(),
		QuotaBytes:    DefaultQuota,
		ServerRun:     genericoptions.NewServerRunOptions(),
		SecureServing: genericoptions.NewSecureServingOptions().WithLoopback(),
		Etcd:          genericoptions.NewEtcdOptions(storagebackend.NewDefaultConfig(StoragePrefix, nil)),
		Admission:     newAdmission(),
		Audit:         genericoptions.NewAuditOptions(),
		Features:      genericoptions.NewFeatureOptions(),
		Tracing:       genericoptions.NewTracingOptions(),
		Logs:          logs.NewOptions(),
	}
	o.SecureServing.BindAddress = net.IPv4(127, 0, 0, 1)
	o.SecureServing.BindPort = DefaultPort
	// An aggregator sends all its requests through one connection.
	o.SecureServing.HTTP2MaxStreamsPerConnection = 1000
	o.SecureServing.ServerCert.CertDirectory = ""
	o.SecureServing.ServerCert.PairName = ""
	o.Etcd.DefaultStorageMediaType = runtime.ContentTypeProtobuf
	o.Etcd.StorageConfig.CompactionInterval = 5 * time.Minute
	o.Features.EnableProfiling = false
	// Priority and fairness needs FlowSchemas, which are not served; the in-flight limits of ServerRun hold instead.
	o.Features.EnablePriorityAndFairness = false
	o.ServerRun.ShutdownWatchTerminationGracePeriod = 5 * time.Second
	return o, nil
}

// newAdmission returns the library's options with our plugins instead of its own.
func newAdmission() *genericoptions.AdmissionOptions {
	o := genericoptions.NewAdmissionOptions()
	o.Plugins = admission.Plugins()
	o.RecommendedPluginOrder = admission.Order()
	return o
}

// prepareGates adds the feature gates of logging to the library's and turns ShardedListAndWatch on by default. The
// gates are the library's, so they are the process's: a second call finds the work done. A user's --feature-gates
// overrides either.
func prepareGates() error {
	gates := utilfeature.DefaultMutableFeatureGate
	if _, known := gates.GetAll()[logsapi.ContextualLogging]; !known {
		if err := logsapi.AddFeatureGates(gates); err != nil {
			return fmt.Errorf("could not add the feature gates of logging: %w", err)
		}
	}
	if gates.Enabled(features.ShardedListAndWatch) || gates.ExplicitlySet(features.ShardedListAndWatch) {
		return nil
	}
	if err := gates.OverrideDefault(features.ShardedListAndWatch, true); err != nil {
		return fmt.Errorf("could not turn on the feature gate %s: %w", features.ShardedListAndWatch, err)
	}
	return nil
}

// defaultDataDir follows the XDG base directory specification; without a home it is a folder below the working one.
func defaultDataDir() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pinnace")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "share", "pinnace")
	}
	return "pinnace-data"
}

// CompletedOptions are options that nothing is missing from. Only Complete makes them.
type CompletedOptions struct {
	*completedOptions
}

type completedOptions struct {
	Options
}

// Complete applies the feature gates, and fills in what follows from other settings. When a gate can't be set, the
// error holds what Validate would find as well, so that a command line is mended once.
func (o *Options) Complete() (CompletedOptions, error) {
	if err := o.ServerRun.ComponentGlobalsRegistry.Set(); err != nil {
		// The gates report the same error whenever they are asked.
		others := slices.DeleteFunc(o.validate(), func(other error) bool { return other.Error() == err.Error() })
		return CompletedOptions{}, errors.Join(fmt.Errorf("--feature-gates: %w", err), errors.Join(others...))
	}
	completed := *o
	if o.DataDir != "" {
		dir, err := filepath.Abs(o.DataDir)
		if err != nil {
			return CompletedOptions{}, fmt.Errorf("--data-dir %q is not a path: %w", o.DataDir, err)
		}
		completed.DataDir = dir
	}
	return CompletedOptions{&completedOptions{Options: completed}}, nil
}

// Embedded tells whether the server runs its own etcd.
func (o *Options) Embedded() bool {
	return len(o.Etcd.StorageConfig.Transport.ServerList) == 0
}

// KubeconfigPath is where the admin kubeconfig is written.
func (c CompletedOptions) KubeconfigPath() string {
	return filepath.Join(c.DataDir, "admin.kubeconfig")
}

// Validate returns everything that is wrong, each error naming its flag.
func (c CompletedOptions) Validate() error { return errors.Join(c.validate()...) }
