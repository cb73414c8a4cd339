// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilopenapi "k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/pinnace-io/pinnace/pkg/apis/scheme"
	"github.com/pinnace-io/pinnace/pkg/generated/openapi"
)

const (
	openAPITitle = "Pinnace"
	// groupVersionKinds is the extension that ties a definition to the kinds it describes.
	groupVersionKinds = "x-kubernetes-group-version-kind"
	// unauthorized describes the answer that every operation can have. The library adds it only where the documents
	// declare security schemes.
	unauthorized = "Unauthorized"
)

// definitionNamer is the library's namer without versions that are not served. A hub type is registered under the
// internal version too, and under old versions that are only decoded; neither is a business of clients.
type definitionNamer struct {
	*openapinamer.DefinitionNamer
	// served are the versions of the groups.
	served map[string]string
}

// GetDefinitionName returns the name and the extensions of a definition.
func (n definitionNamer) GetDefinitionName(name string) (string, spec.Extensions) {
	definition, extensions := n.DefinitionNamer.GetDefinitionName(name)
	kinds, ok := extensions[groupVersionKinds].([]any)
	if !ok {
		return definition, extensions
	}
	served := make([]any, 0, len(kinds))
	for _, kind := range kinds {
		if n.isServed(kind) {
			served = append(served, kind)
		}
	}
	if len(served) == 0 {
		return definition, nil
	}
	extensions[groupVersionKinds] = served
	return definition, extensions
}

// isServed tells whether one element of the extension names a version that clients can use. Kinds of groups that are
// not served, as of meta.k8s.io, are the library's own affair.
func (n definitionNamer) isServed(kind any) bool {
	gvk, ok := kind.(map[string]any)
	if !ok {
		return true
	}
	group, _ := gvk["group"].(string)
	version, served := n.served[group]
	return gvk["version"] != runtime.APIVersionInternal && (!served || gvk["version"] == version)
}

// applyOpenAPI sets both OpenAPI configurations; the managedFields of every write depend on the second.
func applyOpenAPI(config *genericapiserver.Config, s *scheme.Scheme, groups []scheme.Served) {
	library := openapinamer.NewDefinitionNamer(s.Scheme)
	namer := definitionNamer{DefinitionNamer: library, served: map[string]string{}}
	for _, group := range groups {
		namer.served[group.As.Group] = group.As.Version
	}
	// Without what disabled feature gates leave out, such as enums.
	definitions := utilopenapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(openapi.GetOpenAPIDefinitions)

	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, library)
	config.OpenAPIConfig.GetDefinitionName = namer.GetDefinitionName
	config.OpenAPIConfig.Info.Title = openAPITitle
	config.OpenAPIConfig.CommonResponses = map[int]spec.Response{
		http.StatusUnauthorized: {ResponseProps: spec.ResponseProps{Description: unauthorized}},
	}

	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, library)
	config.OpenAPIV3Config.GetDefinitionName = namer.GetDefinitionName
	config.OpenAPIV3Config.Info.Title = openAPITitle
	config.OpenAPIV3Config.CommonResponses = map[int]*spec3.Response{
		http.StatusUnauthorized: {ResponseProps: spec3.ResponseProps{Description: unauthorized}},
	}
}
