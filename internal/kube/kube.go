// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package kube starts a real etcd and a real kube-apiserver, for tests and for the comparison with them.
package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/client-go/rest"

	"github.com/pinnace-io/pinnace/pkg/pki"
)

const (
	assetsVariable = "KUBEBUILDER_ASSETS"
	startTimeout   = 2 * time.Minute
	stopTimeout    = 20 * time.Second
	userLife       = 24 * time.Hour
)

// Assets returns the directory of the binaries: the one that KUBEBUILDER_ASSETS names, else bin/kube of the module.
func Assets() (string, error) {
	dir := os.Getenv(assetsVariable)
	if dir == "" {
		root, err := moduleRoot()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, "bin", "kube")
	}
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("there is no %s in %s: run \"make kube-binaries\", or set %s: %w", name, dir, assetsVariable, err)
		}
	}
	return dir, nil
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "hack", "kube", "go.mod")); err == nil {
			return dir, nil
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		return "", errors.New("not inside the module")
	}
}

// Cluster is an etcd and a kube-apiserver over it. Fields are set before Start.
type Cluster struct {
	// Assets is the directory of the binaries; that of Assets() when empty.
	Assets string
	// Dir holds data, certificates and logs. Empty means a temporary one, which Stop removes.
	Dir string
	// Args are further flags of kube-apiserver.
	Args []string
	// EtcdOnly leaves kube-apiserver out.
	EtcdOnly bool

	temporary bool
	bundle    *pki.Bundle
	host      string
	endpoint  string
	client    *clientv3.Client
	processes []*process
}

// process is a running program. done is closed when it has ended.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan struct{}
}

// Start starts the programs and returns when they are ready. When it fails, nothing is left running.
func (c *Cluster) Start(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
		}
	}()
	if c.Assets == "" {
		if c.Assets, err = Assets(); err != nil {
			return err
		}
	}
	if c.Dir == "" {
		if c.Dir, err = os.MkdirTemp("", "kube-"); err != nil {
			return err
		}
		c.temporary = true
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready within %s", startTimeout))
	defer cancel()
	if c.bundle, err = pki.Ensure(pki.Config{Dir: filepath.Join(c.Dir, "pki")}); err != nil {
		return err
	}
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	if c.EtcdOnly {
		return nil
	}
	return c.startServer(ctx)
}

func (c *Cluster) startEtcd(ctx context.Context) error {
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	c.endpoint = "http://127.0.0.1:" + ports[0]
	peer := "http://127.0.0.1:" + ports[1]
	p, err := c.run("etcd", "--data-dir="+filepath.Join(c.Dir, "etcd"), "--listen-client-urls="+c.endpoint, "--advertise-client-urls="+c.endpoint,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer, "--log-level=warn")
	if err != nil {
		return err
	}
	if c.client, err = clientv3.New(clientv3.Config{Endpoints: []string{c.endpoint}, Logger: zap.NewNop(), DialTimeout: startTimeout}); err != nil {
		return err
	}
	return p.await(ctx, func(ctx context.Context) error {
		_, err := c.client.Get(ctx, "ready")
		return err
	})
}

func (c *Cluster) startServer(ctx context.Context) error {
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	c.host = "https://127.0.0.1:" + ports[0]
	p, err := c.run("kube-apiserver", append([]string{
		"--etcd-servers=" + c.endpoint, "--bind-address=127.0.0.1", "--secure-port=" + ports[0],
		"--cert-dir=" + filepath.Join(c.Dir, "kube-apiserver"),
		"--tls-cert-file=" + c.bundle.ServingCertFile, "--tls-private-key-file=" + c.bundle.ServingKeyFile,
		"--client-ca-file=" + c.bundle.CAFile, "--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + c.bundle.CAKeyFile,
		"--service-account-signing-key-file=" + c.bundle.CAKeyFile, "--service-cluster-ip-range=10.0.0.0/24",
		"--disable-admission-plugins=ServiceAccount",
	}, c.Args...)...)
	if err != nil {
		return err
	}
	config, err := c.User("admin", "system:masters")
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	return p.await(ctx, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.host+"/readyz", nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("/readyz answers %s", response.Status)
		}
		return nil
	})
}

// run starts a program that dies with this process.
func (c *Cluster) run(name string, args ...string) (*process, error) {
	p := &process{name: name, cmd: exec.Command(filepath.Join(c.Assets, name), args...), log: filepath.Join(c.Dir, name+".log"), done: make(chan struct{})} //nolint:gosec,noctx // Stop ends it
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = dieWithParent()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	c.processes = append(c.processes, p)
	go func() {
		defer close(p.done)
		// How it ended is in its log, and seen by whoever waits for it.
		_ = p.cmd.Wait()
	}()
	return p, nil
}

// await asks until there is no error.
func (p *process) await(ctx context.Context, ask func(context.Context) error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := ask(attempt)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s has ended: %s", p.name, p.tail())
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w, the last answer: %w; %s", p.name, context.Cause(ctx), err, p.tail())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// tail is the end of the log.
func (p *process) tail() string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-10):], []byte("\n")))
}

// User returns a client configuration with a certificate for a user in groups.
func (c *Cluster) User(name string, groups ...string) (*rest.Config, error) {
	client, err := c.bundle.CA.IssueClient(name, groups, userLife)
	if err != nil {
		return nil, err
	}
	return &rest.Config{Host: c.host, QPS: -1, TLSClientConfig: rest.TLSClientConfig{
		CAData: c.bundle.CA.CertPEM, CertData: client.CertPEM, KeyData: client.KeyPEM}}, nil
}

// Etcd is a client of etcd, which Stop closes.
func (c *Cluster) Etcd() *clientv3.Client { return c.client }

// EtcdEndpoint is the URL of etcd.
func (c *Cluster) EtcdEndpoint() string { return c.endpoint }

// Kubectl is the path of the program.
func (c *Cluster) Kubectl() string { return filepath.Join(c.Assets, "kubectl") }

// Stop ends the programs, the last one first, and removes a temporary directory.
func (c *Cluster) Stop(ctx context.Context) error {
	var errs []error
	if c.client != nil {
		errs = append(errs, c.client.Close())
		c.client = nil
	}
	for i := len(c.processes) - 1; i >= 0; i-- {
		errs = append(errs, c.processes[i].stop(ctx))
	}
	c.processes = nil
	if c.temporary {
		c.temporary = false
		errs = append(errs, os.RemoveAll(c.Dir))
	}
	return errors.Join(errs...)
}

func (p *process) stop(ctx context.Context) error {
	// One that has ended can't be told to.
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	case <-time.After(stopTimeout):
	}
	if err := p.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("%s can't be stopped: %w", p.name, err)
	}
	<-p.done
	return nil
}

// freePorts finds ports that nobody uses at the moment.
func freePorts(n int) ([]string, error) {
	var out []string
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
		if err != nil {
			return nil, err
		}
		defer func() { _ = listener.Close() }()
		address, ok := listener.Addr().(*net.TCPAddr)
		if !ok {
			return nil, fmt.Errorf("%s is no TCP address", listener.Addr())
		}
		out = append(out, strconv.Itoa(address.Port))
	}
	return out, nil
}
