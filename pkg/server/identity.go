// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/pinnace-io/pinnace/pkg/pki"
	"github.com/pinnace-io/pinnace/pkg/server/options"
)

const (
	// pkiDir is the certificates' part of the data directory.
	pkiDir = "pki"
	// renewPeriod is how often a running server looks whether a certificate has to be renewed. They are renewed
	// months before their end, so a failure has many more tries.
	renewPeriod = 12 * time.Hour
)

// identity are the certificates of a server, and the kubeconfig that one of them is in.
type identity struct {
	config pki.Config
	// servingFile is a certificate of the user's that is shown instead of our own, "" for none.
	servingFile string

	mu     sync.Mutex
	bundle *pki.Bundle
	// kubeconfig and url are those of the last writeKubeconfig, "" before.
	kubeconfig, url string
}

// newIdentity makes the certificates in the data directory, or finds them there.
func newIdentity(o options.CompletedOptions) (*identity, error) {
	i := &identity{
		config:      pki.Config{Dir: filepath.Join(o.DataDir, pkiDir), IPs: []net.IP{o.SecureServing.BindAddress}},
		servingFile: o.SecureServing.ServerCert.CertKey.CertFile,
	}
	for _, name := range o.ServingNames {
		if ip := net.ParseIP(name); ip != nil {
			i.config.IPs = append(i.config.IPs, ip)
		} else {
			i.config.Names = append(i.config.Names, name)
		}
	}
	var err error
	i.bundle, err = pki.Ensure(i.config)
	return i, err
}

// writeKubeconfig writes the administrator's kubeconfig for a server to path.
func (i *identity) writeKubeconfig(path, url string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.write(path, url); err != nil {
		return err
	}
	i.kubeconfig, i.url = path, url
	return nil
}

// write is writeKubeconfig for callers that hold mu.
func (i *identity) write(path, url string) error {
	var trusted [][]byte
	if i.servingFile != "" {
		// Our CA has not signed it, so clients are told of it.
		certificate, err := os.ReadFile(i.servingFile)
		if err != nil {
			return fmt.Errorf("--tls-cert-file: %w", err)
		}
		trusted = append(trusted, certificate)
	}
	return i.bundle.WriteKubeconfig(path, url, trusted...)
}

// keep renews certificates until ctx ends. The library notices by itself that the serving files have changed.
func (i *identity) keep(ctx context.Context) {
	ticker := time.NewTicker(renewPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := i.renew(ctx); err != nil {
				klog.FromContext(ctx).Error(err, "Could not renew the server's certificates")
			}
		}
	}
}

// renew renews the certificates that are near their end, and writes the kubeconfig anew if that one is among them.
func (i *identity) renew(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	bundle, err := pki.Ensure(i.config)
	if err != nil {
		return err
	}
	old := i.bundle
	i.bundle = bundle
	logger := klog.FromContext(ctx)
	if !bytes.Equal(old.Serving.CertPEM, bundle.Serving.CertPEM) {
		logger.Info("Renewed the serving certificate", "file", bundle.ServingCertFile, "notAfter", bundle.Serving.Certificate.NotAfter)
	}
	if bytes.Equal(old.Admin.CertPEM, bundle.Admin.CertPEM) || i.kubeconfig == "" {
		return nil
	}
	logger.Info("Renewed the administrator's certificate", "kubeconfig", i.kubeconfig, "notAfter", bundle.Admin.Certificate.NotAfter)
	return i.write(i.kubeconfig, i.url)
}
