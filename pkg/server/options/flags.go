// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"
)

// AddFlags adds a flag for everything that a user can set, in sections for the help text. Flags of the library keep
// their names and texts; those that have no effect here are left out.
func (o *Options) AddFlags(sets *cliflag.NamedFlagSets) {
	storage := sets.FlagSet("Storage")
	storage.StringVar(&o.DataDir, "data-dir", o.DataDir,
		"Directory for the embedded etcd, the server's own certificates and the admin kubeconfig; made when it does not exist.")
	storage.Int64Var(&o.QuotaBytes, "etcd-quota-bytes", o.QuotaBytes,
		"Size in bytes that the embedded etcd may grow to before it refuses writes.")
	storage.StringSliceVar(&o.Etcd.StorageConfig.Transport.ServerList, "etcd-servers", nil,
		"Addresses (scheme://host:port), comma separated, of an external etcd to use instead of the embedded one.")
	pick(storage, o.Etcd.AddFlags,
		"etcd-prefix", "etcd-cafile", "etcd-certfile", "etcd-keyfile", "etcd-compaction-interval",
		"encryption-provider-config", "encryption-provider-config-automatic-reload", "delete-collection-workers")

	apis := sets.FlagSet("APIs")
	apis.BoolVar(&o.AllowPrivileged, "allow-privileged", o.AllowPrivileged,
		"If true, allow privileged containers in pod templates.")
	pick(apis, o.ServerRun.AddUniversalFlags, "feature-gates")

	serving := sets.FlagSet("Serving")
	pick(serving, o.SecureServing.AddFlags,
		"tls-cert-file", "tls-private-key-file", "tls-min-version", "tls-cipher-suites", "http2-max-streams-per-connection")
	serving.Lookup("tls-cert-file").Usage = "File with the certificate to serve with (a chain if need be) instead of the one that the server makes for itself."
	serving.IPVar(&o.SecureServing.BindAddress, "bind-address", o.SecureServing.BindAddress,
		"IP address to listen on. 0.0.0.0 or :: is every address of the machine.")
	serving.IntVar(&o.SecureServing.BindPort, "secure-port", o.SecureServing.BindPort,
		"Port to serve HTTPS on. 0 picks a free one and prints it.")
	serving.StringSliceVar(&o.ServingNames, "serving-names", o.ServingNames,
		"Further DNS names and IP addresses, comma separated, for the serving certificate that the server makes.")
	pick(serving, o.ServerRun.AddUniversalFlags,
		"cors-allowed-origins", "external-hostname", "goaway-chance", "livez-grace-period", "max-mutating-requests-inflight",
		"max-requests-inflight", "min-request-timeout", "request-timeout", "shutdown-delay-duration",
		"shutdown-send-retry-after", "shutdown-watch-termination-grace-period", "storage-initialization-timeout",
		"strict-transport-security-directives")

	pick(sets.FlagSet("Admission"), o.Admission.AddFlags, "enable-admission-plugins", "disable-admission-plugins")
	o.Audit.AddFlags(sets.FlagSet("Audit"))
	observability := sets.FlagSet("Observability")
	pick(observability, o.Features.AddFlags, "profiling", "contention-profiling", "debug-socket-path")
	o.Tracing.AddFlags(observability)
	logsapi.AddFlags(o.Logs, sets.FlagSet("Logs"))
}

// pick adds the named flags of a library's options to flags; a name that the library does not know is skipped, and
// the test of this package pins the whole list.
func pick(flags *pflag.FlagSet, addAll func(*pflag.FlagSet), names ...string) {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	addAll(all)
	for _, name := range names {
		if flag := all.Lookup(name); flag != nil {
			flags.AddFlag(flag)
		}
	}
}
