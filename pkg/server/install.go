// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"sort"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	genericapi "k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/endpoints/discovery"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	openapibuilder3 "k8s.io/kube-openapi/pkg/builder3"
	openapiutil "k8s.io/kube-openapi/pkg/util"

	"github.com/pinnace-io/pinnace/pkg/apis/scheme"
)

// api is a group that is ready to be installed: its endpoints are built.
type api struct {
	scheme.Served
	storage map[string]rest.Storage
}

// root is the URL prefix of the group: the core group has one of its own.
func (a api) root() string {
	if a.As.Group == "" {
		return genericapiserver.DefaultLegacyAPIPrefix
	}
	return genericapiserver.APIGroupPrefix
}

// installer installs groups into a generic server. It does what GenericAPIServer.InstallAPIGroups does
// (k8s.io/apiserver/pkg/server/genericapiserver.go), which takes all conversion from a *runtime.Scheme; requests
// here go through the normalizing codecs and convertors of scheme.Scheme instead.
type installer struct {
	server *genericapiserver.GenericAPIServer
	config *genericapiserver.Config
	scheme *scheme.Scheme
}

// install makes every api reachable, listed in discovery, tracked in managedFields, and waited for by readyz.
func (i installer) install(apis []api) error {
	converter, err := i.typeConverter(apis)
	if err != nil {
		return err
	}
	for _, a := range apis {
		if err := i.installGroup(a, converter); err != nil {
			return fmt.Errorf("could not install %s: %w", a.As, err)
		}
	}
	return nil
}

// typeConverter returns what tells managedFields the structure of every served kind, made from the OpenAPI schemas.
func (i installer) typeConverter(apis []api) (managedfields.TypeConverter, error) {
	var names []string
	for _, a := range apis {
		for _, resource := range a.Resources {
			names = append(names, openapiutil.GetCanonicalTypeName(resource.New()))
		}
	}
	models, err := openapibuilder3.BuildOpenAPIDefinitionsForResources(i.config.OpenAPIV3Config, names...)
	if err != nil {
		return nil, fmt.Errorf("could not build the OpenAPI models: %w", err)
	}
	converter, err := managedfields.NewTypeConverter(models, false)
	if err != nil {
		return nil, fmt.Errorf("could not build the type converter of managedFields: %w", err)
	}
	return converter, nil
}

func (i installer) installGroup(a api, converter managedfields.TypeConverter) error {
	resources, _, err := i.groupVersion(a, converter).InstallREST(i.server.Handler.GoRestfulContainer)
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(a.storage) {
		if storage, ok := a.storage[name].(rest.StorageWithReadiness); ok {
			gvr := metav1.GroupVersionResource{Group: a.As.Group, Version: a.As.Version, Resource: name}
			i.server.StorageReadinessHook.RegisterStorage(gvr, storage)
		}
	}
	version := apidiscoveryv2.APIVersionDiscovery{
		Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
		Version:   a.As.Version,
		Resources: resources,
	}
	if a.As.Group == "" {
		i.discoverCore(version)
	} else {
		i.discoverGroup(a.As, version)
	}
	return nil
}

func (i installer) groupVersion(a api, converter managedfields.TypeConverter) *genericapi.APIGroupVersion {
	served := make(map[string][]string, len(a.storage))
	for name := range a.storage {
		served[name] = []string{a.As.String()}
	}
	return &genericapi.APIGroupVersion{
		Root:                        a.root(),
		GroupVersion:                a.As,
		Storage:                     a.storage,
		AllServedVersionsByResource: served,
		// DeleteOptions, Status and their like are v1, whatever the version of the group.
		OptionsExternalVersion: &schema.GroupVersion{Version: "v1"},

		Serializer:            i.scheme.Requests,
		ParameterCodec:        i.scheme.ParameterCodec,
		Typer:                 i.scheme,
		Creater:               i.scheme,
		Defaulter:             i.scheme,
		ConvertabilityChecker: i.scheme,
		Convertor:             i.scheme.Convertor,
		UnsafeConvertor:       i.scheme.UnsafeConvertor,
		Namer:                 runtime.Namer(meta.NewAccessor()),
		TypeConverter:         converter,

		EquivalentResourceRegistry: i.server.EquivalentResourceRegistry,
		Authorizer:                 i.server.Authorizer,
		Admit:                      i.config.AdmissionControl,
		MinRequestTimeout:          minRequestTimeout(i.config),
		MaxRequestBodyBytes:        i.config.MaxRequestBodyBytes,
	}
}

// discoverCore lists the core group, at /api.
func (i installer) discoverCore(version apidiscoveryv2.APIVersionDiscovery) {
	manager := i.server.AggregatedLegacyDiscoveryGroupManager
	manager.AddGroupVersion("", version)
	root := discovery.NewLegacyRootAPIHandler(i.config.DiscoveryAddresses, i.server.Serializer, genericapiserver.DefaultLegacyAPIPrefix)
	handler := aggregated.WrapAggregatedDiscoveryToHandler(root, manager, manager)
	i.server.Handler.GoRestfulContainer.Add(handler.GenerateWebService(genericapiserver.DefaultLegacyAPIPrefix, metav1.APIVersions{}))
}

// discoverGroup lists a named group, at /apis and at /apis/<group>.
func (i installer) discoverGroup(gv schema.GroupVersion, version apidiscoveryv2.APIVersionDiscovery) {
	i.server.AggregatedDiscoveryGroupManager.AddGroupVersion(gv.Group, version)
	preferred := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
	group := metav1.APIGroup{
		Name:             gv.Group,
		Versions:         []metav1.GroupVersionForDiscovery{preferred},
		PreferredVersion: preferred,
	}
	i.server.DiscoveryGroupManager.AddGroup(group)
	i.server.Handler.GoRestfulContainer.Add(discovery.NewAPIGroupHandler(i.server.Serializer, group).WebService())
}

// sortedKeys makes what is done for each endpoint happen in the same order at every start.
func sortedKeys(storage map[string]rest.Storage) []string {
	keys := make([]string, 0, len(storage))
	for key := range storage {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
