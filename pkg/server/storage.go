// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage/etcd3/metrics"
)

// applyStorage says how and where each resource is stored: in the served version, under kube-apiserver's keys, by the
// backend.
func (c *Config) applyStorage(config *genericapiserver.Config) error {
	encoding := serverstorage.NewDefaultResourceEncodingConfig(c.Scheme.Scheme)
	enabled := serverstorage.NewResourceConfig()
	for _, group := range c.Served {
		enabled.EnableVersions(group.As)
		hub := schema.GroupVersion{Group: group.As.Group, Version: runtime.APIVersionInternal}
		for _, resource := range group.Resources {
			encoding.SetResourceEncoding(schema.GroupResource{Group: group.As.Group, Resource: resource.Plural}, group.As, hub)
		}
	}
	config.MergedResourceConfig = enabled

	etcdOptions := *c.options.Etcd
	etcdOptions.SkipHealthEndpoints = true
	etcdOptions.StorageConfig.StorageObjectCountTracker = config.StorageObjectCountTracker
	factory := serverstorage.NewDefaultStorageFactory(
		etcdOptions.StorageConfig, etcdOptions.DefaultStorageMediaType, c.Scheme.Storage, encoding, enabled, nil)
	if err := etcdOptions.ApplyWithStorageFactoryTo(factory, config); err != nil {
		return err
	}
	config.RESTOptionsGetter = decorated{RESTOptionsGetter: config.RESTOptionsGetter, decorator: c.backend.Decorator()}
	config.AddHealthChecks(c.backend.HealthChecks()...)
	config.AddReadyzChecks(c.backend.ReadyChecks()...)
	// The library's own monitors would dial an etcd that the embedded one does not listen as.
	monitors := c.backend.Monitors()
	metrics.SetStorageMonitorGetter(func() ([]metrics.Monitor, error) { return monitors, nil })
	return nil
}

// decorated are the library's REST options with the backend's storage.
type decorated struct {
	generic.RESTOptionsGetter
	decorator generic.StorageDecorator
}

// GetRESTOptions returns the options of one resource.
func (d decorated) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := d.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return generic.RESTOptions{}, err
	}
	options.Decorator = d.decorator
	return options, nil
}
