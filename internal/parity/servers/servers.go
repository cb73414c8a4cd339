// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package servers starts the servers that the parity corpus is played on.
package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pinnace-io/pinnace/internal/kube"
	"github.com/pinnace-io/pinnace/internal/parity"
	"github.com/pinnace-io/pinnace/pkg/envtest"
	"github.com/pinnace-io/pinnace/pkg/pki"
)

// fleet keeps one server for each key.
type fleet struct {
	mu      sync.Mutex
	targets map[string]*started
	stops   []func(context.Context) error
}

type started struct {
	once   sync.Once
	target *parity.Target
	err    error
}

// get returns the server of a key, and starts it when there is none.
func (f *fleet) get(key string, start func() (*parity.Target, error)) (*parity.Target, error) {
	f.mu.Lock()
	if f.targets == nil {
		f.targets = map[string]*started{}
	}
	s := f.targets[key]
	if s == nil {
		s = &started{}
		f.targets[key] = s
	}
	f.mu.Unlock()
	s.once.Do(func() { s.target, s.err = start() })
	return s.target, s.err
}

func (f *fleet) onStop(stop func(context.Context) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stops = append(f.stops, stop)
}

// Stop ends all servers, the last one first.
func (f *fleet) Stop(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for i := len(f.stops) - 1; i >= 0; i-- {
		errs = append(errs, f.stops[i](ctx))
	}
	f.stops = nil
	return errors.Join(errs...)
}

// Kube starts kube-apiservers, one a profile.
type Kube struct {
	fleet

	// Assets is the directory of the binaries, that of kube.Assets when empty.
	Assets string
	// Log tells what is being waited for.
	Log func(format string, args ...any)
}

// Target implements parity.Servers.
func (k *Kube) Target(ctx context.Context, profile string, _ bool) (*parity.Target, error) {
	return k.get(profile, func() (*parity.Target, error) {
		gates, _ := parity.FeatureGates(profile)
		since := time.Now()
		k.Log("starting kube-apiserver with --feature-gates=%s", gates)
		cluster := &kube.Cluster{Assets: k.Assets, Args: []string{"--feature-gates=" + gates}}
		if err := cluster.Start(context.WithoutCancel(ctx)); err != nil {
			return nil, err
		}
		k.onStop(cluster.Stop)
		k.Log("kube-apiserver is ready after %s", parity.Elapsed(since))
		return &parity.Target{Name: "kube-apiserver", User: cluster.User, Etcd: cluster.Etcd(), Kubectl: cluster.Kubectl()}, nil
	})
}

// Pinnace starts servers of ours: in this process, but for profiles with feature gates of their own, which are a matter
// of the whole process.
type Pinnace struct {
	fleet

	// Program is a built pinnace, for the profiles that need another process.
	Program string
	// Kubectl is the program for scripts, "" where there is none.
	Kubectl string
	// Etcd starts an etcd for a server whose data has to be reached, and returns a client and how to stop it.
	Etcd func(ctx context.Context) (client *clientv3.Client, stop func(context.Context) error, err error)
	// Log tells what is being waited for.
	Log func(format string, args ...any)
}

// Target implements parity.Servers.
func (p *Pinnace) Target(ctx context.Context, profile string, etcd bool) (*parity.Target, error) {
	return p.get(fmt.Sprintf("%s %t", profile, etcd), func() (*parity.Target, error) {
		ctx := context.WithoutCancel(ctx)
		target := &parity.Target{Name: "pinnace", Kubectl: p.Kubectl}
		var args []string
		if etcd {
			client, stop, err := p.Etcd(ctx)
			if err != nil {
				return nil, err
			}
			p.onStop(stop)
			target.Etcd = client
			args = append(args, "--etcd-servers="+client.Endpoints()[0])
		}
		if _, gates := parity.FeatureGates(profile); gates != "" {
			user, err := p.process(ctx, append(args, "--feature-gates="+gates))
			target.User = user
			return target, err
		}
		environment := &envtest.Environment{Args: args}
		if _, err := environment.Start(ctx); err != nil {
			return nil, err
		}
		p.onStop(environment.Stop)
		target.User = environment.AddUser
		return target, nil
	})
}

const (
	processStartTimeout = time.Minute
	userLife            = 24 * time.Hour
)

// process starts the program and returns how to get users.
func (p *Pinnace) process(ctx context.Context, args []string) (func(string, ...string) (*rest.Config, error), error) {
	dir, err := os.MkdirTemp("", "parity-pinnace-")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(dir, "admin.kubeconfig")
	cmd := exec.Command(p.Program, append([]string{"standalone", "--data-dir=" + dir, "--bind-address=127.0.0.1", "--secure-port=" + port}, args...)...) //nolint:gosec,noctx // stopped below
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the output tells
	}()
	p.onStop(func(context.Context) error {
		// One that has ended can't be told to.
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
		return os.RemoveAll(dir)
	})
	ctx, cancel := context.WithTimeout(ctx, processStartTimeout)
	defer cancel()
	if err := awaitFile(ctx, kubeconfig, ended); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", p.Program, strings.Join(args, " "), err, output.String())
	}
	admin, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	ca, err := pki.LoadCA(filepath.Join(dir, "pki"))
	if err != nil {
		return nil, err
	}
	return func(name string, groups ...string) (*rest.Config, error) {
		client, err := ca.IssueClient(name, groups, userLife)
		if err != nil {
			return nil, err
		}
		config := rest.AnonymousClientConfig(admin)
		config.CertData, config.KeyData = client.CertPEM, client.KeyPEM
		return config, nil
	}, nil
}

// awaitFile waits for a file that the program writes when it is ready.
func awaitFile(ctx context.Context, path string, ended <-chan struct{}) error {
	for {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return nil
		}
		select {
		case <-ended:
			return errors.New("it has ended")
		case <-ctx.Done():
			return errors.New("it was not ready in time")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, errors.Join(err, listener.Close())
}

// RealEtcd starts the etcd of the binaries.
func RealEtcd(assets string) func(context.Context) (*clientv3.Client, func(context.Context) error, error) {
	return func(ctx context.Context) (*clientv3.Client, func(context.Context) error, error) {
		cluster := &kube.Cluster{Assets: assets, EtcdOnly: true}
		if err := cluster.Start(ctx); err != nil {
			return nil, nil, err
		}
		return cluster.Etcd(), cluster.Stop, nil
	}
}
