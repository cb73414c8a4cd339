// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package server is the composition root: it is the one place that knows all parts, builds each of them once, in
// order, and runs them. The way through it is
//
//	options.NewStandalone → Complete → Validate → NewConfig → Config.Complete → New → Run
//
// and the types of each step can only be had from the step before.
package server

import (
	"context"
	"errors"
	"net"

	"k8s.io/apiserver/pkg/features"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/utils/clock"

	"github.com/pinnace-io/pinnace/pkg/apis/podtemplate"
	"github.com/pinnace-io/pinnace/pkg/apis/resource"
	"github.com/pinnace-io/pinnace/pkg/apis/scheme"
	"github.com/pinnace-io/pinnace/pkg/etcd"
	"github.com/pinnace-io/pinnace/pkg/registry"
	"github.com/pinnace-io/pinnace/pkg/server/options"
)

// Config is all that a server is built from. Fields may be changed until Complete. It holds what NewConfig opened;
// New takes that over, Close releases it when New is never called.
type Config struct {
	// Generic is the configuration of the library's server.
	Generic *genericapiserver.Config
	// Scheme knows the types of Served, which are Groups with the names that they are served under, in that order.
	Scheme *scheme.Scheme
	Groups []registry.Group
	Served []scheme.Served
	// Informers watch the server's own objects; the server starts them.
	Informers informers.SharedInformerFactory
	// Clock tells strategies the time; the real one by default.
	Clock clock.PassiveClock

	options  options.CompletedOptions
	backend  etcd.Backend
	identity *identity
	listener net.Listener
}

// NewConfig opens what a server stands on and configures the rest, in this order: etcd first, since its lock is what
// keeps two processes out of one data directory, then the certificates in that directory, then the listener. A step
// that fails undoes those before it.
func NewConfig(ctx context.Context, o options.CompletedOptions) (_ *Config, err error) {
	c := &Config{options: o, Groups: registry.Groups(), Clock: clock.RealClock{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close(ctx))
		}
	}()

	podtemplate.AllowPrivileged(o.AllowPrivileged)
	c.Served = scheme.Native(declarations(c.Groups))
	c.Scheme, err = scheme.New(c.Served, scheme.Options{CBOR: utilfeature.DefaultFeatureGate.Enabled(features.CBORServingAndStorage)})
	if err != nil {
		return nil, err
	}
	if c.backend, err = openBackend(ctx, o); err != nil {
		return nil, err
	}
	if c.identity, err = newIdentity(o); err != nil {
		return nil, err
	}
	if c.listener, err = listen(ctx, o.SecureServing.SecureServingOptions); err != nil {
		return nil, err
	}
	if c.Generic, err = c.genericConfig(); err != nil {
		return nil, err
	}
	return c, nil
}

// Close releases what NewConfig opened. After New it is the server's to release. It waits for etcd even when ctx has
// ended, but not for long.
func (c *Config) Close(ctx context.Context) error { return release(ctx, c.listener, c.backend) }

type completedConfig struct {
	*Config
	generic genericapiserver.CompletedConfig
}

// CompletedConfig is a configuration that New can build from. Only Complete makes one.
type CompletedConfig struct {
	*completedConfig
}

// Complete fills in what follows from other fields.
func (c *Config) Complete() CompletedConfig {
	return CompletedConfig{&completedConfig{Config: c, generic: c.Generic.Complete(c.Informers)}}
}

func declarations(groups []registry.Group) []resource.Group {
	out := make([]resource.Group, 0, len(groups))
	for _, group := range groups {
		out = append(out, group.Group)
	}
	return out
}
