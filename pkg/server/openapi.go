// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"k8s.io/apimachinery/pkg/runtime"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/pinnace-io/pinnace/pkg/apis/scheme"
	"github.com/pinnace-io/pinnace/pkg/generated/openapi"
)

const (
	openAPITitle = "Pinnace"
	// groupVersionKinds is the extension that ties a definition to the kinds it describes.
	groupVersionKinds = "x-kubernetes-group-version-kind"
)

// definitionNamer is the library's namer without the internal version. The hub type is registered under both, and
// the internal one is no business of clients.
type definitionNamer struct {
	*openapinamer.DefinitionNamer
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
		if gvk, ok := kind.(map[string]any); ok && gvk["version"] == runtime.APIVersionInternal {
			continue
		}
		served = append(served, kind)
	}
	if len(served) == 0 {
		return definition, nil
	}
	extensions[groupVersionKinds] = served
	return definition, extensions
}

// applyOpenAPI sets both OpenAPI configurations; the managedFields of every write depend on the second.
func applyOpenAPI(config *genericapiserver.Config, s *scheme.Scheme) {
	library := openapinamer.NewDefinitionNamer(s.Scheme)
	namer := definitionNamer{DefinitionNamer: library}

	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(openapi.GetOpenAPIDefinitions, library)
	config.OpenAPIConfig.GetDefinitionName = namer.GetDefinitionName
	config.OpenAPIConfig.Info.Title = openAPITitle

	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(openapi.GetOpenAPIDefinitions, library)
	config.OpenAPIV3Config.GetDefinitionName = namer.GetDefinitionName
	config.OpenAPIV3Config.Info.Title = openAPITitle
}
