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
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	cliflag "k8s.io/component-base/cli/flag"

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
	// DataDir holds etcd and the certificates. Empty means a new temporary directory, which Stop removes; one that is
	// set is kept.
	DataDir string
	// Args are flags of "pinnace standalone" on top of those that the environment sets.
	Args []string
	// Options, when set, is called with the options after the flags were parsed.
	Options func(*options.Options)
	// StartTimeout and StopTimeout bound Start and Stop; zero means the defaults.
	StartTimeout, StopTimeout time.Duration

	// Config is a client configuration of an administrator, set by Start.
	Config *rest.Config
	// KubeconfigPath is a file with the same, set by Start.
	KubeconfigPath string

	temporary bool
	cancel    context.CancelFunc
	done      chan error
}

// Start starts the server and returns when it is ready. When it fails, nothing is left running and a temporary
// directory is removed. An Environment is started once.
func (e *Environment) Start(ctx context.Context) (_ *rest.Config, err error) {
	if e.done != nil {
		return nil, errors.New("the environment was started before")
	}
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
	e.run(ctx, s)
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

// run serves in the background; the server outlives the context of Start, which often is that of one step of a test.
func (e *Environment) run(ctx context.Context, s *server.Server) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e.cancel, e.done = cancel, make(chan error, 1)
	go func() { e.done <- s.Run(running) }()
}

// Stop stops the server, waits until everything is released, and removes a temporary data directory. It may be called
// on an Environment that did not start.
func (e *Environment) Stop(ctx context.Context) error {
	var errs []error
	if e.cancel != nil {
		e.cancel()
		e.cancel = nil
		timeout := orDefault(e.StopTimeout, DefaultStopTimeout)
		select {
		case err := <-e.done:
			errs = append(errs, err)
		case <-ctx.Done():
			errs = append(errs, fmt.Errorf("the server did not stop: %w", ctx.Err()))
		case <-time.After(timeout):
			errs = append(errs, fmt.Errorf("the server did not stop within %s", timeout))
		}
	}
	if e.temporary {
		e.temporary = false
		errs = append(errs, os.RemoveAll(e.DataDir))
	}
	return errors.Join(errs...)
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
	if err := flags.Parse(e.Args); err != nil {
		return options.CompletedOptions{}, fmt.Errorf("could not parse the arguments %s: %w", strings.Join(e.Args, " "), err)
	}
	o.DataDir = filepath.Clean(e.DataDir)
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

func orDefault(value, fallback time.Duration) time.Duration {
	if value == 0 {
		return fallback
	}
	return value
}
