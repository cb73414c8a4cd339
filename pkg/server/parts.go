// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	genericapifilters "k8s.io/apiserver/pkg/endpoints/filters"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/notfoundhandler"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/pinnace-io/pinnace/pkg/authn"
	"github.com/pinnace-io/pinnace/pkg/authz"
	"github.com/pinnace-io/pinnace/pkg/controllers/systemnamespaces"
	"github.com/pinnace-io/pinnace/pkg/etcd"
	"github.com/pinnace-io/pinnace/pkg/server/options"
	"github.com/pinnace-io/pinnace/pkg/version"
)

// etcdDir is the embedded etcd's part of the data directory.
const etcdDir = "etcd"

// openBackend starts the embedded etcd, or connects to the external one, and returns when it answers.
func openBackend(ctx context.Context, o options.CompletedOptions) (etcd.Backend, error) {
	config := o.Etcd.StorageConfig
	// To the library zero means no compaction; to the backends it means their default.
	compaction := config.CompactionInterval
	if compaction == 0 {
		compaction = -1
	}
	if o.Embedded() {
		embedded, err := etcd.Start(ctx, etcd.EmbeddedConfig{
			DataDir:            filepath.Join(o.DataDir, etcdDir),
			Prefix:             config.Prefix,
			QuotaBackendBytes:  o.QuotaBytes,
			CompactionInterval: compaction,
		})
		if err != nil {
			return nil, err
		}
		return embedded, nil
	}
	external, err := etcd.Connect(ctx, etcd.ExternalConfig{
		Endpoints:          config.Transport.ServerList,
		CertFile:           config.Transport.CertFile,
		KeyFile:            config.Transport.KeyFile,
		CAFile:             config.Transport.TrustedCAFile,
		Prefix:             config.Prefix,
		CompactionInterval: compaction,
	})
	if err != nil {
		return nil, err
	}
	if err := awaitExternal(ctx, external, o.ServerRun.StorageInitializationTimeout); err != nil {
		return nil, errors.Join(err, release(ctx, nil, external))
	}
	return external, nil
}

// awaitPeriod is how often a wait for an external etcd is logged.
const awaitPeriod = 10 * time.Second

// awaitExternal waits until the cluster answers, and says meanwhile what it waits for: no storage can be built before.
func awaitExternal(ctx context.Context, external *etcd.External, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %s (--storage-initialization-timeout)", timeout))
	defer cancel()
	waited := time.NewTicker(awaitPeriod)
	defer waited.Stop()
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-waited.C:
				klog.FromContext(ctx).Error(external.Pending(), "Still waiting for etcd", "etcd", external.String())
			}
		}
	}()
	return etcd.WaitReady(ctx, external)
}

// listen takes the port, so that no other process can; port 0 takes a free one.
func listen(ctx context.Context, serving *genericoptions.SecureServingOptions) (net.Listener, error) {
	address := net.JoinHostPort(serving.BindAddress.String(), strconv.Itoa(serving.BindPort))
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another process: choose another --secure-port, or 0 for a free one", address)
	case err != nil:
		return nil, fmt.Errorf("could not listen, see --bind-address and --secure-port: %w", err)
	}
	return listener, nil
}

// genericConfig applies the options to the library's configuration.
func (c *Config) genericConfig() (*genericapiserver.Config, error) {
	o := c.options
	config := genericapiserver.NewConfig(c.Scheme.Codecs)
	if err := o.ServerRun.ApplyTo(config); err != nil {
		return nil, err
	}
	config.EffectiveVersion = version.Effective(config.EffectiveVersion)

	serving := *o.SecureServing.SecureServingOptions
	serving.Listener = c.listener
	if serving.ServerCert.CertKey.CertFile == "" {
		serving.ServerCert.CertKey = genericoptions.CertKey{CertFile: c.identity.bundle.ServingCertFile, KeyFile: c.identity.bundle.ServingKeyFile}
	}
	if err := serving.WithLoopback().ApplyToConfig(config); err != nil {
		return nil, err
	}
	config.PublicAddress = publicAddress(serving.BindAddress)
	config.LoopbackClientConfig.ContentType = runtime.ContentTypeProtobuf
	config.LoopbackClientConfig.DisableCompression = true

	applyOpenAPI(config, c.Scheme, c.Served)
	if err := c.applyIdentity(config); err != nil {
		return nil, err
	}
	if err := c.applyAdmission(config); err != nil {
		return nil, err
	}
	if err := o.Features.ApplyTo(config, nil, nil); err != nil {
		return nil, err
	}
	if err := o.Tracing.ApplyTo(nil, config); err != nil {
		return nil, fmt.Errorf("--tracing-config-file: %w", err)
	}
	if err := o.Audit.ApplyTo(config); err != nil {
		return nil, err
	}
	config.BuildHandlerChainFunc = func(apis http.Handler, config *genericapiserver.Config) http.Handler {
		apis = withShardSelector(withMetadataView(apis, c.Scheme.Requests), c.Scheme.Requests)
		return genericapiserver.DefaultBuildHandlerChain(apis, config)
	}
	return config, c.applyStorage(config)
}

// publicAddress is the address that discovery tells clients: the one that the server listens on or, when that is all of
// them, the host's own.
func publicAddress(bind net.IP) net.IP {
	if !bind.IsUnspecified() {
		return bind
	}
	address, err := utilnet.ResolveBindAddress(bind)
	if err != nil {
		// A host without a network is reached by its own programs alone.
		return net.IPv4(127, 0, 0, 1)
	}
	return address
}

// applyIdentity sets who requests come from and what they may do: the holders of a certificate of our own CA that are
// in system:masters may do everything, anyone may see health and version.
func (c *Config) applyIdentity(config *genericapiserver.Config) error {
	clientCA, err := dynamiccertificates.NewDynamicCAContentFromFile("client-ca", c.identity.bundle.CAFile)
	if err != nil {
		return err
	}
	if err := config.Authentication.ApplyClientCert(clientCA, config.SecureServing); err != nil {
		return err
	}
	if config.Authentication.Authenticator, err = authn.NewStandalone(clientCA); err != nil {
		return err
	}
	config.Authorization.Authorizer, err = authz.NewStandalone()
	return err
}

// informerResync is how often informers go over what they hold.
const informerResync = 10 * time.Minute

// applyAdmission builds the admission plugins. They look at the server's own namespaces, through the loopback connection.
func (c *Config) applyAdmission(config *genericapiserver.Config) error {
	// A client that is idle when HTTP/2 takes leave of it doesn't close its connection, and a stop would wait for that for a second.
	loopback := rest.CopyConfig(config.LoopbackClientConfig)
	loopback.NextProtos = []string{"http/1.1"}
	client, err := kubernetes.NewForConfig(loopback)
	if err != nil {
		return err
	}
	untyped, err := dynamic.NewForConfig(loopback)
	if err != nil {
		return err
	}
	c.Informers = informers.NewSharedInformerFactory(client, informerResync)
	err = c.options.Admission.ApplyTo(config, c.Informers, client, untyped, utilfeature.DefaultFeatureGate, config.EffectiveVersion)
	if err != nil {
		return fmt.Errorf("could not build the admission plugins: %w", err)
	}
	return config.AddPostStartHook("start-system-namespaces-controller", func(hook genericapiserver.PostStartHookContext) error {
		if err := systemnamespaces.Run(hook, client.CoreV1().Namespaces()); err != nil && hook.Err() == nil {
			// The next round may do better, and what is served is served without them.
			klog.FromContext(hook).Error(err, "Could not make the system namespaces")
		}
		return nil
	})
}

// delegate answers what no route answers, as kube-apiserver does.
func delegate(c CompletedConfig) genericapiserver.DelegationTarget {
	return genericapiserver.NewEmptyDelegateWithCustomHandler(
		notfoundhandler.New(c.Generic.Serializer, genericapifilters.NoMuxAndDiscoveryIncompleteKey))
}
