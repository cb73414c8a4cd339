// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package envtest runs a Pinnace server inside a Go test: the production options, configuration and server, on a free
// port of the loopback interface, over a real embedded etcd.
//
//	env := &envtest.Environment{}
//	config, err := env.Start(ctx)
//	…
//	defer env.Stop(ctx)
package envtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/pinnace-io/pinnace/pkg/pki"
	"github.com/pinnace-io/pinnace/pkg/server"
	"github.com/pinnace-io/pinnace/pkg/server/options"
)

const (
	// DefaultStartTimeout bounds Start: from the call until the server is ready.
	DefaultStartTimeout = 30 * time.Second
	// DefaultStopTimeout bounds Stop.
	DefaultStopTimeout = 30 * time.Second
)

// Environment is one standalone server. The zero value works. Fields before Config may be changed until Start.
type Environment struct {
	// DataDir holds etcd and the certificates. Empty means a new temporary directory, which Start puts here and Stop
	// removes; one that is set is kept.
	DataDir string
	// Args are flags of "pinnace standalone" on top of those that the environment sets; --data-dir is not among them.
	// Feature gates are the process's: they hold for every later server as well.
	Args []string
	// Options, when set, is called with the options after the flags were parsed.
	Options func(*options.Options)
	// StartTimeout and StopTimeout bound Start and Stop; zero means the defaults.
	StartTimeout, StopTimeout time.Duration

	// Config is a client configuration of an administrator, set by Start.
	Config *rest.Config
	// KubeconfigPath is a file with the same, set by Start.
	KubeconfigPath string

	started   bool
	temporary bool // DataDir is ours to remove
	cancel    context.CancelFunc
	done      chan struct{} // closed when the server has ended
	runErr    error         // how it ended; written before done is closed
}

// Start starts the server and returns when it is ready. When it fails, nothing is left running and a temporary
// directory is removed. An Environment is started once. The server outlives ctx; it runs until Stop.
func (e *Environment) Start(ctx context.Context) (_ *rest.Config, err error) {
	if e.started {
		return nil, errors.New("the environment was started before")
	}
	e.started = true
	if e.DataDir == "" {
		if e.DataDir, err = os.MkdirTemp("", "pinnace-envtest-"); err != nil {
			return nil, fmt.Errorf("could not make a data directory: %w", err)
		}
		e.temporary = true
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Stop(context.WithoutCancel(ctx)))
		}
	}()
	completed, err := e.options()
	if err != nil {
		return nil, err
	}
	starting, cancel := context.WithTimeout(ctx, orDefault(e.StartTimeout, DefaultStartTimeout))
	defer cancel()
	config, err := server.NewConfig(starting, completed)
	if err != nil {
		return nil, err
	}
	s, err := server.New(starting, config.Complete())
	if err != nil {
		return nil, err
	}
	// A server that ends by itself will not become ready.
	e.run(ctx, s, cancel)
	if err := s.WaitReady(starting); err != nil {
		return nil, err
	}
	if e.KubeconfigPath, err = s.WriteKubeconfig(completed.KubeconfigPath()); err != nil {
		return nil, err
	}
	if e.Config, err = clientcmd.BuildConfigFromFlags("", e.KubeconfigPath); err != nil {
		return nil, fmt.Errorf("could not read the admin kubeconfig: %w", err)
	}
	// A test is its own only client.
	e.Config.QPS, e.Config.Burst = -1, 0
	return e.Config, nil
}

// run serves in the background until Stop: the context of Start often is that of one step of a test. ended is called
// when the server has ended, for whatever reason.
func (e *Environment) run(ctx context.Context, s *server.Server, ended func()) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e.cancel, e.done = cancel, make(chan struct{})
	go func() {
		defer ended()
		defer close(e.done)
		e.runErr = s.Run(running)
	}()
}

// Stop stops the server, waits until everything is released, and removes a temporary data directory. The error tells
// how the server ended, or that it has not: then the directory is kept, and another Stop waits for it again. Stop may be
// called on an Environment that did not start or was stopped before.
func (e *Environment) Stop(ctx context.Context) error {
	var errs []error
	if e.cancel != nil {
		e.closeIdleConnections()
		e.cancel()
		if err := e.awaitEnd(ctx); err != nil {
			return err
		}
		e.cancel = nil
		errs = append(errs, e.runErr)
	}
	if e.temporary {
		e.temporary = false
		errs = append(errs, os.RemoveAll(e.DataDir))
	}
	return errors.Join(errs...)
}

// closeIdleConnections closes what clients of Config have left open. HTTP/2 would give each a second to take leave, and
// client-go shares one transport among all clients of a configuration.
func (e *Environment) closeIdleConnections() {
	if e.Config == nil {
		return
	}
	if transport, err := rest.TransportFor(e.Config); err == nil {
		utilnet.CloseIdleConnectionsFor(transport)
	}
}

// awaitEnd waits until the server has ended.
func (e *Environment) awaitEnd(ctx context.Context) error {
	timeout := orDefault(e.StopTimeout, DefaultStopTimeout)
	select {
	case <-e.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the server did not stop: %w", context.Cause(ctx))
	case <-time.After(timeout):
		return fmt.Errorf("the server did not stop within %s", timeout)
	}
}

// options are the standalone preset with the flags of Args.
func (e *Environment) options() (options.CompletedOptions, error) {
	o, err := options.NewStandalone()
	if err != nil {
		return options.CompletedOptions{}, err
	}
	var sets cliflag.NamedFlagSets
	o.AddFlags(&sets)
	flags := pflag.NewFlagSet("envtest", pflag.ContinueOnError)
	for _, set := range sets.FlagSets {
		flags.AddFlagSet(set)
	}
	if err := e.parse(flags); err != nil {
		return options.CompletedOptions{}, fmt.Errorf("could not parse the arguments %q: %w", e.Args, err)
	}
	o.DataDir = e.DataDir
	if !flags.Changed("secure-port") {
		o.SecureServing.BindPort = 0
	}
	if e.Options != nil {
		e.Options(o)
	}
	completed, err := o.Complete()
	if err != nil {
		return options.CompletedOptions{}, err
	}
	return completed, completed.Validate()
}

// parse sets the flags of Args.
func (e *Environment) parse(flags *pflag.FlagSet) error {
	if err := flags.Parse(e.Args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	if flags.Changed("data-dir") {
		return errors.New("set DataDir instead of --data-dir")
	}
	return nil
}

func orDefault(value, fallback time.Duration) time.Duration {
	if value == 0 {
		return fallback
	}
	return value
}

// userLife is how long the certificate of a user of AddUser is valid.
const userLife = 24 * time.Hour

// AddUser returns a client configuration of another user, after Start: a certificate for the name and the groups, valid for
// a day. What the user may do is for the server's authorizer to say; the group system:masters may do everything.
func (e *Environment) AddUser(name string, groups ...string) (*rest.Config, error) {
	if e.Config == nil {
		return nil, errors.New("the environment has not started")
	}
	ca, err := pki.LoadCA(filepath.Join(e.DataDir, "pki"))
	if err != nil {
		return nil, fmt.Errorf("could not read the CA: %w", err)
	}
	client, err := ca.IssueClient(name, groups, userLife)
	if err != nil {
		return nil, err
	}
	config := rest.AnonymousClientConfig(e.Config)
	config.QPS, config.Burst = e.Config.QPS, e.Config.Burst
	config.CertData, config.KeyData = client.CertPEM, client.KeyPEM
	return config, nil
}
