// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

// newStandalone returns a preset that must be possible.
func newStandalone(t *testing.T) *Options {
	t.Helper()
	o, err := NewStandalone()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// flagSets are the sections of o's flags, and the flags of all of them.
func flagSets(o *Options) (cliflag.NamedFlagSets, *pflag.FlagSet) {
	var sets cliflag.NamedFlagSets
	o.AddFlags(&sets)
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range sets.Order {
		all.AddFlagSet(sets.FlagSets[name])
	}
	return sets, all
}

// pinned are the flags of the standalone mode with their defaults, by section. Another version of the library that
// adds, drops or changes one of those that we let through asks us here whether we want it.
func pinned() map[string][]string {
	return map[string][]string{
		"Storage": {
			"data-dir=/xdg/pinnace", "delete-collection-workers=1", "encryption-provider-config=",
			"encryption-provider-config-automatic-reload=false", "etcd-cafile=", "etcd-certfile=",
			"etcd-compaction-interval=5m0s", "etcd-keyfile=", "etcd-prefix=/registry", "etcd-quota-bytes=8589934592",
			"etcd-servers=[]",
		},
		"APIs":      {"allow-privileged=false", "feature-gates="},
		"Admission": {"disable-admission-plugins=[]", "enable-admission-plugins=[]"},
		"Serving": {
			"bind-address=127.0.0.1", "cors-allowed-origins=[]", "external-hostname=",
			"goaway-chance=0", "http2-max-streams-per-connection=1000", "livez-grace-period=0s",
			"max-mutating-requests-inflight=200", "max-requests-inflight=400", "min-request-timeout=1800",
			"request-timeout=1m0s", "secure-port=7443", "serving-names=[]", "shutdown-delay-duration=0s",
			"shutdown-send-retry-after=false", "shutdown-watch-termination-grace-period=5s",
			"storage-initialization-timeout=1m0s", "strict-transport-security-directives=[]", "tls-cert-file=",
			"tls-cipher-suites=[]", "tls-min-version=", "tls-private-key-file=",
		},
		"Audit": {
			"audit-log-batch-buffer-size=10000", "audit-log-batch-max-size=1", "audit-log-batch-max-wait=0s",
			"audit-log-batch-throttle-burst=0", "audit-log-batch-throttle-enable=false", "audit-log-batch-throttle-qps=0",
			"audit-log-compress=false", "audit-log-format=json", "audit-log-maxage=366", "audit-log-maxbackup=100",
			"audit-log-maxsize=100", "audit-log-mode=blocking", "audit-log-path=", "audit-log-truncate-enabled=false",
			"audit-log-truncate-max-batch-size=10485760", "audit-log-truncate-max-event-size=102400",
			"audit-log-version=audit.k8s.io/v1", "audit-policy-file=",
			"audit-webhook-batch-buffer-size=10000", "audit-webhook-batch-initial-backoff=10s",
			"audit-webhook-batch-max-size=400", "audit-webhook-batch-max-wait=30s", "audit-webhook-batch-throttle-burst=15",
			"audit-webhook-batch-throttle-enable=true", "audit-webhook-batch-throttle-qps=10", "audit-webhook-config-file=",
			"audit-webhook-initial-backoff=10s", "audit-webhook-mode=batch", "audit-webhook-truncate-enabled=false",
			"audit-webhook-truncate-max-batch-size=10485760", "audit-webhook-truncate-max-event-size=102400",
			"audit-webhook-version=audit.k8s.io/v1",
		},
		"Observability": {
			"contention-profiling=false", "debug-socket-path=", "profiling=false", "tracing-config-file=",
		},
		"Logs": {
			"log-flush-frequency=5s", "log-text-info-buffer-size=0", "log-text-split-stream=false", "logging-format=text",
			"v=0", "vmodule=",
		},
	}
}

func TestFlags(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", "/xdg")
	sets, all := flagSets(newStandalone(t))
	got := map[string][]string{}
	for name, set := range sets.FlagSets {
		set.VisitAll(func(flag *pflag.Flag) {
			value := flag.DefValue
			if flag.Name == "feature-gates" {
				value = "" // the library shows what the process has set so far
			}
			got[name] = append(got[name], flag.Name+"="+value)
		})
	}
	if diff := cmp.Diff(pinned(), got); diff != "" {
		t.Errorf("flags and their defaults (-pinned +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Storage", "APIs", "Serving", "Admission", "Audit", "Observability", "Logs"}, sets.Order); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
	all.VisitAll(func(flag *pflag.Flag) {
		if flag.Usage == "" {
			t.Errorf("--%s has no usage", flag.Name)
		}
	})
}

// leftOut are flags of the library that the standalone mode does not have, each with the reason.
func leftOut() map[string]string {
	const (
		backend  = "the backend of pkg/etcd decides it"
		emulated = "one version is served: no other can be emulated"
	)
	return map[string]string{
		"default-watch-cache-size":      "deprecated, without effect",
		"enable-garbage-collector":      "it is on where a resource's deletion needs it, as in kube-apiserver",
		"etcd-count-metric-poll-period": backend,
		"etcd-db-metric-poll-interval":  backend,
		"etcd-healthcheck-timeout":      backend,
		"etcd-readycheck-timeout":       backend,
		"etcd-servers-overrides":        backend,
		"lease-reuse-duration-seconds":  "nothing that is served expires",
		"storage-backend":               backend,
		"storage-media-type":            "what is stored can be read by kube-apiserver: protobuf",
		"watch-cache":                   backend,
		"watch-cache-sizes":             backend,

		"cert-dir":               "the server's own certificates are in the data directory",
		"disable-http2-serving":  "without it an aggregator can't share a connection",
		"permit-address-sharing": "the port is held against other processes",
		"permit-port-sharing":    "the port is held against other processes",
		"tls-curve-preferences":  "Go's choice is good",
		"tls-sni-cert-key":       "one certificate is served",

		"advertise-address":                           "nobody but clients looks for the server",
		"emulated-version":                            emulated,
		"emulation-forward-compatible":                emulated,
		"min-compatibility-version":                   emulated,
		"runtime-config-emulation-forward-compatible": emulated,

		"enable-priority-and-fairness": "it needs FlowSchemas, which are not served",
	}
}

// Every flag of the library is let through or left out for a reason; a new one asks for a decision.
func TestEveryLibraryFlagIsDecided(t *testing.T) {
	o := newStandalone(t)
	_, ours := flagSets(o)
	undecided := leftOut()
	for _, add := range []func(*pflag.FlagSet){
		o.Etcd.AddFlags, o.SecureServing.AddFlags, o.ServerRun.AddUniversalFlags, o.Audit.AddFlags, o.Features.AddFlags, o.Tracing.AddFlags,
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		add(flags)
		flags.VisitAll(func(flag *pflag.Flag) {
			_, isLeftOut := undecided[flag.Name]
			delete(undecided, flag.Name)
			if isLet := ours.Lookup(flag.Name) != nil; isLet == isLeftOut {
				t.Errorf("--%s of the library: let through is %t, left out is %t", flag.Name, isLet, isLeftOut)
			}
		})
	}
	for name := range undecided {
		t.Errorf("--%s is left out, but the library has no such flag", name)
	}
}

// Each flag sets the field that it is about.
func TestFlagsSetOptions(t *testing.T) {
	o := newStandalone(t)
	_, flags := flagSets(o)
	args := []string{
		"--data-dir=/d", "--etcd-quota-bytes=33554432", "--etcd-servers=http://a:1,http://b:2", "--etcd-servers=http://c:3",
		"--etcd-prefix=/p", "--etcd-cafile=ca", "--etcd-certfile=cert", "--etcd-keyfile=key", "--etcd-compaction-interval=1m",
		"--bind-address=::", "--secure-port=1234", "--serving-names=a.example,10.0.0.1", "--tls-cert-file=c", "--tls-private-key-file=k",
		"--http2-max-streams-per-connection=7", "--profiling", "--audit-policy-file=policy", "--tracing-config-file=tracing",
		"--request-timeout=3s", "--v=4",
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	transport := o.Etcd.StorageConfig.Transport
	got := map[string]any{
		"data-dir": o.DataDir, "quota": o.QuotaBytes, "servers": strings.Join(transport.ServerList, " "), "prefix": o.Etcd.StorageConfig.Prefix,
		"ca": transport.TrustedCAFile, "cert": transport.CertFile, "key": transport.KeyFile, "compaction": o.Etcd.StorageConfig.CompactionInterval.String(),
		"address": o.SecureServing.BindAddress.String(), "port": o.SecureServing.BindPort, "names": strings.Join(o.ServingNames, " "),
		"tls cert": o.SecureServing.ServerCert.CertKey.CertFile, "tls key": o.SecureServing.ServerCert.CertKey.KeyFile,
		"streams": o.SecureServing.HTTP2MaxStreamsPerConnection, "profiling": o.Features.EnableProfiling, "policy": o.Audit.PolicyFile,
		"tracing": o.Tracing.ConfigFile, "timeout": o.ServerRun.RequestTimeout.String(), "v": int(o.Logs.Verbosity),
	}
	want := map[string]any{
		"data-dir": "/d", "quota": int64(32 << 20), "servers": "http://a:1 http://b:2 http://c:3", "prefix": "/p",
		"ca": "ca", "cert": "cert", "key": "key", "compaction": "1m0s",
		"address": "::", "port": 1234, "names": "a.example 10.0.0.1",
		"tls cert": "c", "tls key": "k",
		"streams": 7, "profiling": true, "policy": "policy",
		"tracing": "tracing", "timeout": "3s", "v": 4,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	if o.Embedded() {
		t.Error("the embedded etcd is used beside --etcd-servers")
	}
}

// A flag that the library drops must not end the program; TestFlags tells us of it.
func TestPickSkipsWhatIsNotThere(t *testing.T) {
	t.Parallel()
	var value string
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	pick(flags, func(all *pflag.FlagSet) {
		all.StringVar(&value, "there", "", "")
		all.StringVar(&value, "unwanted", "", "")
	}, "gone", "there")
	var got []string
	flags.VisitAll(func(flag *pflag.Flag) { got = append(got, flag.Name) })
	if !slices.Equal(got, []string{"there"}) {
		t.Errorf("picked %v, want there", got)
	}
}
