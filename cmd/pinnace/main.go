// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Command pinnace serves CertificateSigningRequests and DaemonSets as kube-apiserver does.
package main

import (
	"os"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/logs"

	"github.com/pinnace-io/pinnace/cmd/pinnace/app"
)

func main() {
	os.Exit(run())
}

// run exists so that deferred calls happen before the process ends.
func run() int {
	defer logs.FlushLogs()
	ctx := genericapiserver.SetupSignalContext()
	return app.Execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
}
