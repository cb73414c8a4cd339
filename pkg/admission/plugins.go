// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package admission lists the admission plugins of the server. Each has a folder and makes one decision.
package admission

import (
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"

	"github.com/pinnace-io/pinnace/pkg/admission/certificateapproval"
	"github.com/pinnace-io/pinnace/pkg/admission/certificatesigning"
	"github.com/pinnace-io/pinnace/pkg/admission/certificatesubjectrestriction"
)

// Plugins returns the registry of all plugins. The webhook and policy plugins of the library aren't in it: their
// configuration is an API that isn't served, and they would wait for it for ever.
func Plugins() *admission.Plugins {
	plugins := admission.NewPlugins()
	lifecycle.Register(plugins)
	certificateapproval.Register(plugins)
	certificatesigning.Register(plugins)
	certificatesubjectrestriction.Register(plugins)
	return plugins
}

// Order returns the names of all plugins in the order in which they are asked, which is kube-apiserver's
// (pkg/kubeapiserver/options/plugins.go of k8s.io/kubernetes). All are on by default.
func Order() []string {
	return []string{
		lifecycle.PluginName,
		certificateapproval.PluginName,
		certificatesigning.PluginName,
		certificatesubjectrestriction.PluginName,
	}
}
