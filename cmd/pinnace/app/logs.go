// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"io"

	"google.golang.org/grpc/grpclog"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	logsapi "k8s.io/component-base/logs/api/v1"
)

// applyLogs sends the logs of this process to stderr. At verbosity 0 the text format leaves out informational lines:
// the library logs a dozen at each start, and what a user wants to know then is printed by the command itself.
func applyLogs(config *logsapi.LoggingConfiguration, stderr io.Writer) error {
	stream := stderr
	if config.Verbosity == 0 && config.Format == logsapi.DefaultLogFormat {
		stream = quietWriter{out: stderr}
		// gRPC warns of every attempt to reach an etcd that is away; the server's own wait says it once.
		grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, stderr))
	}
	return logsapi.ValidateAndApplyWithOptions(config, &logsapi.LoggingOptions{ErrorStream: stream, InfoStream: stream}, utilfeature.DefaultFeatureGate)
}

// quietWriter drops entries of severity Info. klog writes an entry in one piece, and its first byte is the severity.
type quietWriter struct {
	out io.Writer
}

func (w quietWriter) Write(entry []byte) (int, error) {
	if len(entry) > 0 && entry[0] == 'I' {
		return len(entry), nil
	}
	return w.out.Write(entry)
}
