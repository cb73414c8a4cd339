// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"

	"github.com/pinnace-io/pinnace/pkg/etcd"
	"github.com/pinnace-io/pinnace/pkg/registry"
)

// Server is a built server that does not serve yet. It has taken over what its Config opened.
type Server struct {
	// Generic is the library's server; hooks and checks may be added until Run.
	Generic *genericapiserver.GenericAPIServer

	loopback *rest.Config
	backend  etcd.Backend
	identity *identity
	listener net.Listener
}

// New builds the server: strategies and storage of every group, then their endpoints. When it fails, what the
// configuration opened is released.
func New(ctx context.Context, c CompletedConfig) (_ *Server, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close(ctx))
		}
	}()
	generic, err := c.generic.New("pinnace", delegate(c))
	if err != nil {
		return nil, fmt.Errorf("could not build the generic API server: %w", err)
	}
	apis, err := c.apis()
	if err != nil {
		generic.Destroy()
		return nil, err
	}
	generic.RegisterDestroyFunc(func() { destroy(apis) })
	if err := (installer{server: generic, config: c.Generic, scheme: c.Scheme}).install(apis); err != nil {
		generic.Destroy()
		return nil, err
	}
	if err := generic.AddPostStartHook("storage-readiness", generic.StorageReadinessHook.Hook); err != nil {
		generic.Destroy()
		return nil, err
	}
	return &Server{
		Generic:  generic,
		loopback: c.Generic.LoopbackClientConfig,
		backend:  c.backend,
		identity: c.identity,
		listener: c.listener,
	}, nil
}

// apis builds the storage of every group. Storage that was built before a failure is destroyed.
func (c CompletedConfig) apis() (_ []api, err error) {
	var apis []api
	defer func() {
		if err != nil {
			destroy(apis)
		}
	}()
	for i, group := range c.Groups {
		served := c.Served[i]
		storage, err := group.Storage(registry.Deps{
			Scheme:       c.Scheme.Scheme,
			GroupVersion: served.As,
			Clock:        c.Clock,
			Authorizer:   c.Generic.Authorization.Authorizer,
			RESTOptions:  c.Generic.RESTOptionsGetter,
		})
		if err != nil {
			return apis, fmt.Errorf("could not build the storage of %s: %w", served.As, err)
		}
		apis = append(apis, api{Served: served, storage: storage})
	}
	return apis, nil
}

func destroy(apis []api) {
	for _, a := range apis {
		for _, endpoint := range a.storage {
			endpoint.Destroy()
		}
	}
}

// URL is where clients reach the server. An unspecified bind address is shown as the loopback one.
func (s *Server) URL() string {
	address := s.listener.Addr().String()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "https://" + address
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.To4() == nil {
			host = "::1"
		}
	}
	return "https://" + net.JoinHostPort(host, port)
}

// StorageName tells people which etcd holds the data.
func (s *Server) StorageName() string { return s.backend.String() }

// WriteKubeconfig writes a kubeconfig of an administrator to path, readable by its owner alone, and returns path. While
// the server runs, the file is written anew when the certificate in it has been renewed.
func (s *Server) WriteKubeconfig(path string) (string, error) {
	if err := s.identity.writeKubeconfig(path, s.URL()); err != nil {
		return "", fmt.Errorf("could not write the admin kubeconfig: %w", err)
	}
	return path, nil
}

// Close releases a server that is not going to Run. It waits for etcd even when ctx has ended, but not for long.
func (s *Server) Close(ctx context.Context) error {
	s.Generic.Destroy()
	return release(ctx, s.listener, s.backend)
}

// release closes the port and etcd; either may be nil or closed already. Why something failed often is that ctx has
// ended, and etcd must have left its directory all the same before the next server comes; closeTimeout bounds that.
func release(ctx context.Context, listener net.Listener, backend etcd.Backend) error {
	var errs []error
	if listener != nil {
		if err := listener.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	if backend != nil {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		errs = append(errs, backend.Close(closing))
	}
	return errors.Join(errs...)
}

// minRequestTimeout is the shortest time that a watch without a timeout of its own is given.
func minRequestTimeout(c *genericapiserver.Config) time.Duration {
	return time.Duration(c.MinRequestTimeout) * time.Second
}
