// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"net"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/pinnace-io/pinnace/pkg/etcd"
)

func (o *Options) validate() []error {
	var errs []error
	if o.DataDir == "" {
		errs = append(errs, errors.New("--data-dir must not be empty"))
	}
	errs = append(errs, validateEtcd(o)...)
	errs = append(errs, o.ServerRun.Validate()...)
	errs = append(errs, validateServing(o)...)
	errs = append(errs, validateAdmission(o.Admission)...)
	errs = append(errs, naming("--audit-*", o.Audit.Validate())...)
	errs = append(errs, o.Features.Validate()...)
	errs = append(errs, naming("--tracing-config-file", o.Tracing.Validate())...)
	return append(errs, validateLogs(o.Logs)...)
}

// naming puts flag before errors of the library that name no flag.
func naming(flag string, errs []error) []error {
	for i, err := range errs {
		if !strings.HasPrefix(err.Error(), "--") {
			errs[i] = fmt.Errorf("%s: %w", flag, err)
		}
	}
	return errs
}

// validateAdmission returns what is wrong with the lists of plugins: the library writes the names of flags without dashes.
func validateAdmission(admission *genericoptions.AdmissionOptions) []error {
	errs := admission.Validate()
	for i, err := range errs {
		if text := err.Error(); strings.HasPrefix(text, "enable-admission-plugins") || strings.HasPrefix(text, "disable-admission-plugins") {
			errs[i] = fmt.Errorf("--%w", err)
		}
	}
	return naming("--enable-admission-plugins, --disable-admission-plugins", errs)
}

func validateServing(o *Options) []error {
	var errs []error
	serving := *o.SecureServing.SecureServingOptions
	if port := serving.BindPort; port < 0 || port > 65535 {
		errs = append(errs, fmt.Errorf("--secure-port %d must be between 0 and 65535, inclusive; 0 picks a free port", port))
		// The library says the same, but takes 0 for no port at all.
		serving.BindPort = DefaultPort
	}
	if (serving.ServerCert.CertKey.CertFile == "") != (serving.ServerCert.CertKey.KeyFile == "") {
		errs = append(errs, errors.New("--tls-cert-file and --tls-private-key-file must be set together"))
	}
	if _, err := cliflag.TLSVersion(serving.MinTLSVersion); err != nil {
		errs = append(errs, fmt.Errorf("--tls-min-version: %w", err))
	}
	if _, err := cliflag.TLSCipherSuites(serving.CipherSuites); err != nil {
		errs = append(errs, fmt.Errorf("--tls-cipher-suites: %w", err))
	}
	for _, name := range o.ServingNames {
		if net.ParseIP(name) == nil && len(dnsNameErrors(name)) > 0 {
			errs = append(errs, fmt.Errorf("--serving-names: %q is neither an IP address nor a DNS name: %s", name, strings.Join(dnsNameErrors(name), ", ")))
		}
	}
	return append(errs, serving.Validate()...)
}

func validateEtcd(o *Options) []error {
	var errs []error
	transport := o.Etcd.StorageConfig.Transport
	library := *o.Etcd
	if o.Embedded() {
		// The library insists on servers, which the embedded etcd does not have.
		library.StorageConfig.Transport.ServerList = []string{"embedded"}
		errs = append(errs, validateEmbedded(o)...)
	}
	if (transport.CertFile == "") != (transport.KeyFile == "") {
		errs = append(errs, errors.New("--etcd-certfile and --etcd-keyfile must be set together"))
	}
	if prefix := o.Etcd.StorageConfig.Prefix; prefix == "/" || !path.IsAbs(prefix) || path.Clean(prefix) != prefix {
		errs = append(errs, fmt.Errorf("--etcd-prefix %q must be a clean absolute path such as %s", prefix, StoragePrefix))
	}
	if o.Etcd.DeleteCollectionWorkers < 1 {
		errs = append(errs, fmt.Errorf("--delete-collection-workers %d must be at least 1", o.Etcd.DeleteCollectionWorkers))
	}
	return append(errs, library.Validate()...)
}

// validateEmbedded returns what is wrong with options that ask for the embedded etcd.
func validateEmbedded(o *Options) []error {
	var errs []error
	transport := o.Etcd.StorageConfig.Transport
	for _, file := range []struct{ flag, path string }{
		{"--etcd-cafile", transport.TrustedCAFile}, {"--etcd-certfile", transport.CertFile}, {"--etcd-keyfile", transport.KeyFile},
	} {
		if file.path != "" {
			errs = append(errs, fmt.Errorf("%s is of no use without --etcd-servers", file.flag))
		}
	}
	switch {
	case o.QuotaBytes < etcd.MinQuotaBackendBytes:
		errs = append(errs, fmt.Errorf("--etcd-quota-bytes %d is too small, must be at least %d (16 MiB)", o.QuotaBytes, int64(etcd.MinQuotaBackendBytes)))
	case o.QuotaBytes > etcd.MaxQuotaBackendBytes:
		errs = append(errs, fmt.Errorf("--etcd-quota-bytes %d is too large, must be at most %d (8 GiB)", o.QuotaBytes, int64(etcd.MaxQuotaBackendBytes)))
	}
	return errs
}

// validateLogs returns what is wrong with the logging options: the library names fields of a configuration file.
func validateLogs(logs *logsapi.LoggingConfiguration) []error {
	flags := map[string]string{
		"flushFrequency": "--log-flush-frequency", "format": "--logging-format", "verbosity": "--v", "vmodule": "--vmodule",
		"options.text.splitStream": "--log-text-split-stream", "options.text.infoBufferSize": "--log-text-info-buffer-size",
	}
	var errs []error
	for _, err := range logsapi.Validate(logs, utilfeature.DefaultFeatureGate, nil) {
		field, _, _ := strings.Cut(err.Field, "[")
		flag, known := flags[field]
		if !known {
			flag = "--log-*"
		}
		errs = append(errs, fmt.Errorf("%s: %s", flag, err.ErrorBody()))
	}
	return errs
}

// dnsNameErrors says why a certificate can't be for name; a first label "*" stands for any.
func dnsNameErrors(name string) []string {
	if strings.HasPrefix(name, "*.") {
		return validation.IsWildcardDNS1123Subdomain(name)
	}
	return validation.IsDNS1123Subdomain(name)
}
