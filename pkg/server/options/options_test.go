// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/pinnace-io/pinnace/pkg/etcd"
)

// The preset is what makes the mode: each line is a decision of ours, or one of the library's that we rely on.
func TestStandalonePreset(t *testing.T) {
	o := newStandalone(t)
	got := map[string]any{
		"address":                     o.SecureServing.BindAddress.String(),
		"port":                        o.SecureServing.BindPort,
		"the port is required":        o.SecureServing.Required,
		"streams of one connection":   o.SecureServing.HTTP2MaxStreamsPerConnection,
		"HTTP/2 is off":               o.SecureServing.DisableHTTP2Serving,
		"certificates of the library": o.SecureServing.ServerCert.CertDirectory + o.SecureServing.ServerCert.PairName,
		"embedded":                    o.Embedded(),
		"media type of storage":       o.Etcd.DefaultStorageMediaType,
		"prefix":                      o.Etcd.StorageConfig.Prefix,
		"watch cache":                 o.Etcd.EnableWatchCache,
		"garbage collection":          o.Etcd.EnableGarbageCollection,
		"compaction":                  o.Etcd.StorageConfig.CompactionInterval.String(),
		"quota":                       o.QuotaBytes,
		"profiling":                   o.Features.EnableProfiling,
		"priority and fairness":       o.Features.EnablePriorityAndFairness,
		"admission plugins":           strings.Join(o.Admission.RecommendedPluginOrder, " "),
		"plugins that are off":        o.Admission.DefaultOffPlugins.Len(),
		"request timeout":             o.ServerRun.RequestTimeout.String(),
		"time for watches to end":     o.ServerRun.ShutdownWatchTerminationGracePeriod.String(),
		"verbosity":                   int(o.Logs.Verbosity),
		"format of logs":              o.Logs.Format,
		"names of the serving cert":   len(o.ServingNames),
		"gate ShardedListAndWatch":    utilfeature.DefaultFeatureGate.Enabled(features.ShardedListAndWatch),
		"gate CBORServingAndStorage":  utilfeature.DefaultFeatureGate.Enabled(features.CBORServingAndStorage),
		"gate ContextualLogging":      utilfeature.DefaultFeatureGate.Enabled(logsapi.ContextualLogging),
	}
	want := map[string]any{
		"address":                     "127.0.0.1",
		"port":                        7443,
		"the port is required":        false,
		"streams of one connection":   1000,
		"HTTP/2 is off":               false,
		"certificates of the library": "",
		"embedded":                    true,
		"media type of storage":       runtime.ContentTypeProtobuf,
		"prefix":                      "/registry",
		"watch cache":                 true,
		"garbage collection":          true,
		"compaction":                  "5m0s",
		"quota":                       int64(8 << 30),
		"profiling":                   false,
		"priority and fairness":       false,
		"admission plugins":           "NamespaceLifecycle CertificateApproval CertificateSigning CertificateSubjectRestriction",
		"plugins that are off":        0,
		"request timeout":             "1m0s",
		"time for watches to end":     "5s",
		"verbosity":                   0,
		"format of logs":              "text",
		"names of the serving cert":   0,
		"gate ShardedListAndWatch":    true,
		"gate CBORServingAndStorage":  false,
		"gate ContextualLogging":      true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("preset (-want +got):\n%s", diff)
	}
	if o.Etcd.StorageConfig.Prefix != etcd.DefaultPrefix || o.QuotaBytes > etcd.MaxQuotaBackendBytes {
		t.Error("the preset and pkg/etcd disagree")
	}
	completed, err := o.Complete()
	if err != nil {
		t.Fatal(err)
	}
	if err := completed.Validate(); err != nil {
		t.Errorf("the preset is not valid: %v", err)
	}
}

// A process can have several servers.
func TestPresetsShareNothing(t *testing.T) {
	first, second := newStandalone(t), newStandalone(t)
	first.Etcd.StorageConfig.Transport.ServerList = []string{"http://a:1"}
	first.SecureServing.BindPort = 1
	first.ServerRun.MaxRequestsInFlight = 1
	first.Features.EnableProfiling = true
	first.Audit.PolicyFile = "policy"
	first.Logs.Verbosity = 9
	first.Tracing.ConfigFile = "tracing"
	if !second.Embedded() || second.SecureServing.BindPort != DefaultPort || second.ServerRun.MaxRequestsInFlight == 1 ||
		second.Features.EnableProfiling || second.Audit.PolicyFile != "" || second.Logs.Verbosity != 0 || second.Tracing.ConfigFile != "" {
		t.Error("a change of one preset is one of the other")
	}
}

func TestDefaultDataDir(t *testing.T) {
	tests := map[string]struct {
		xdg, home string
		want      string
	}{
		"the XDG directory":                    {xdg: "/xdg", home: "/home/ann", want: "/xdg/pinnace"},
		"no XDG directory: its default":        {home: "/home/ann", want: "/home/ann/.local/share/pinnace"},
		"a relative XDG directory is no such":  {xdg: "xdg", home: "/home/ann", want: "/home/ann/.local/share/pinnace"},
		"no home: a folder of the working one": {want: "pinnace-data"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_DATA_HOME", test.xdg)
			t.Setenv("HOME", test.home)
			if got := newStandalone(t).DataDir; got != test.want {
				t.Errorf("data directory is %s, want %s", got, test.want)
			}
		})
	}
}

func TestComplete(t *testing.T) {
	t.Chdir(t.TempDir())
	working, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ dir, want string }{
		"an absolute directory":    {dir: "/var/lib/pinnace", want: "/var/lib/pinnace"},
		"a relative directory":     {dir: "data", want: filepath.Join(working, "data")},
		"a path that is not clean": {dir: "/var//lib/./pinnace/", want: "/var/lib/pinnace"},
		"no directory stays none":  {dir: "", want: ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := newStandalone(t)
			o.DataDir = test.dir
			completed, err := o.Complete()
			if err != nil {
				t.Fatal(err)
			}
			if completed.DataDir != test.want {
				t.Errorf("data directory is %s, want %s", completed.DataDir, test.want)
			}
			if o.DataDir != test.dir {
				t.Errorf("Complete changed the options: %s", o.DataDir)
			}
			if test.want == "" {
				return
			}
			if got, want := completed.KubeconfigPath(), test.want+"/admin.kubeconfig"; got != want {
				t.Errorf("kubeconfig is %s, want %s", got, want)
			}
		})
	}
}

// The working directory may be gone.
func TestCompleteWithoutAWorkingDirectory(t *testing.T) {
	dir := t.TempDir() + "/gone"
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PWD", "")
	o := newStandalone(t)
	o.DataDir = "data"
	if _, err := o.Complete(); err == nil || !strings.HasPrefix(err.Error(), `--data-dir "data" is not a path: `) {
		t.Errorf("error is %v, want one that names the flag", err)
	}
}

func TestValidate(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "tracing.yaml")
	if err := os.WriteFile(policy, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args []string
		want []string
	}{
		"nothing is set": {},
		"all is well": {
			args: []string{
				"--data-dir=/d", "--secure-port=0", "--tls-cert-file=c", "--tls-private-key-file=k", "--tls-min-version=VersionTLS13",
				"--etcd-servers=https://a:1", "--etcd-cafile=ca", "--etcd-certfile=c", "--etcd-keyfile=k", "--etcd-prefix=/a/b",
				"--tracing-config-file=" + policy, "--v=10", "--vmodule=server=4",
			},
		},
		"the largest and the smallest": {args: []string{"--secure-port=65535", "--etcd-quota-bytes=16777216", "--goaway-chance=0.02"}},

		"no data directory":                {args: []string{"--data-dir="}, want: []string{"--data-dir must not be empty"}},
		"a negative port":                  {args: []string{"--secure-port=-1"}, want: []string{"--secure-port -1 must be between 0 and 65535, inclusive; 0 picks a free port"}},
		"a port that is too large":         {args: []string{"--secure-port=65536"}, want: []string{"--secure-port 65536 must be between 0 and 65535, inclusive; 0 picks a free port"}},
		"a certificate without a key":      {args: []string{"--tls-cert-file=c"}, want: []string{"--tls-cert-file and --tls-private-key-file must be set together"}},
		"a key without a certificate":      {args: []string{"--tls-private-key-file=k"}, want: []string{"--tls-cert-file and --tls-private-key-file must be set together"}},
		"an unknown TLS version":           {args: []string{"--tls-min-version=VersionTLS99"}, want: []string{`--tls-min-version: unknown tls version "VersionTLS99"`}},
		"an unknown cipher suite":          {args: []string{"--tls-cipher-suites=TLS_ROT13"}, want: []string{"--tls-cipher-suites: Cipher suite TLS_ROT13 not supported or doesn't exist"}},
		"names of the serving certificate": {args: []string{"--serving-names=pinnace.example.com,*.example.com,192.0.2.7,2001:db8::7"}},
		"names that are none": {
			args: []string{"--serving-names=good.example.com,under_score,*.*.example.com"},
			want: []string{
				"--serving-names: \"under_score\" is neither an IP address nor a DNS name: " + strings.Join(validation.IsDNS1123Subdomain("under_score"), ", "),
				"--serving-names: \"*.*.example.com\" is neither an IP address nor a DNS name: " + strings.Join(validation.IsWildcardDNS1123Subdomain("*.*.example.com"), ", "),
			},
		},

		"files of an external etcd for the embedded one": {
			args: []string{"--etcd-keyfile=k", "--etcd-cafile=ca", "--etcd-certfile=c"},
			want: []string{
				"--etcd-cafile is of no use without --etcd-servers", "--etcd-certfile is of no use without --etcd-servers",
				"--etcd-keyfile is of no use without --etcd-servers",
			},
		},
		"half a key pair for an external etcd": {
			args: []string{"--etcd-servers=https://a:1", "--etcd-certfile=c"},
			want: []string{"--etcd-certfile and --etcd-keyfile must be set together"},
		},
		"a quota that is too small": {
			args: []string{"--etcd-quota-bytes=16777215"},
			want: []string{"--etcd-quota-bytes 16777215 is too small, must be at least 16777216 (16 MiB)"},
		},
		"a quota that is too large": {
			args: []string{"--etcd-quota-bytes=8589934593"},
			want: []string{"--etcd-quota-bytes 8589934593 is too large, must be at most 8589934592 (8 GiB)"},
		},
		"the quota does not matter to an external etcd": {args: []string{"--etcd-servers=http://a:1", "--etcd-quota-bytes=1"}},
		"no prefix":                       {args: []string{"--etcd-prefix="}, want: []string{`--etcd-prefix "" must be a clean absolute path such as /registry`}},
		"the root as a prefix":            {args: []string{"--etcd-prefix=/"}, want: []string{`--etcd-prefix "/" must be a clean absolute path such as /registry`}},
		"a relative prefix":               {args: []string{"--etcd-prefix=registry"}, want: []string{`--etcd-prefix "registry" must be a clean absolute path such as /registry`}},
		"a prefix with a slash behind it": {args: []string{"--etcd-prefix=/registry/"}, want: []string{`--etcd-prefix "/registry/" must be a clean absolute path such as /registry`}},
		"no worker":                       {args: []string{"--delete-collection-workers=0"}, want: []string{"--delete-collection-workers 0 must be at least 1"}},
		"reloading nothing": {
			args: []string{"--encryption-provider-config-automatic-reload"},
			want: []string{"--encryption-provider-config-automatic-reload must be set with --encryption-provider-config"},
		},

		"negative limits": {
			args: []string{
				"--max-requests-inflight=-1", "--max-mutating-requests-inflight=-1", "--min-request-timeout=-1", "--request-timeout=-1s",
				"--livez-grace-period=-1s", "--shutdown-delay-duration=-1s", "--storage-initialization-timeout=-1s", "--goaway-chance=0.03",
			},
			want: []string{
				"--livez-grace-period can not be a negative value", "--max-requests-inflight can not be negative value",
				"--max-mutating-requests-inflight can not be negative value", "--request-timeout can not be negative value",
				"--goaway-chance can not be less than 0 or greater than 0.02", "--min-request-timeout can not be negative value",
				"--storage-initialization-timeout can not be negative value", "--shutdown-delay-duration can not be negative value",
			},
		},
		"a plugin more and one less": {args: []string{"--enable-admission-plugins=NamespaceLifecycle", "--disable-admission-plugins=CertificateSigning,CertificateApproval"}},
		"plugins that aren't there": {
			args: []string{"--enable-admission-plugins=NodeRestriction", "--disable-admission-plugins=ServiceAccount,certificatesigning"},
			want: []string{
				`--enable-admission-plugins plugin "NodeRestriction" is unknown`, `--disable-admission-plugins plugin "ServiceAccount" is unknown`,
				`--disable-admission-plugins plugin "certificatesigning" is unknown`,
			},
		},
		"a plugin that is on and off": {
			args: []string{"--enable-admission-plugins=CertificateSigning", "--disable-admission-plugins=CertificateSigning"},
			want: []string{"--enable-admission-plugins, --disable-admission-plugins: [CertificateSigning] in enable-admission-plugins and disable-admission-plugins overlapped"},
		},
		"an audit log that is none": {
			args: []string{"--audit-policy-file=p", "--audit-log-path=-", "--audit-log-format=xml", "--audit-log-mode=now", "--audit-log-maxage=-1"},
			want: []string{
				`--audit-*: invalid audit log mode now, allowed modes are "batch,blocking,blocking-strict"`,
				`--audit-*: invalid audit log format xml, allowed formats are "legacy,json"`,
				"--audit-log-maxage -1 can't be a negative number",
			},
		},
		"a tracing file that isn't there": {
			args: []string{"--tracing-config-file=/nonexistent"},
			want: []string{"--tracing-config-file: tracing-config-file /nonexistent does not exist"},
		},
		"logs": {
			args: []string{"--logging-format=xml", "--log-flush-frequency=0s", "--vmodule=a=1", "--log-text-split-stream"},
			want: []string{
				"--log-flush-frequency: Invalid value: \"0s\": Must be greater than zero",
				`--logging-format: Invalid value: "xml": Unsupported log format`,
				"--vmodule: Forbidden: Only supported for text log format",
				"--log-text-split-stream: Forbidden: Feature LoggingAlphaOptions is disabled",
			},
		},

		"everything at once": {
			args: []string{
				"--data-dir=", "--secure-port=70000", "--etcd-cafile=x", "--max-requests-inflight=-1", "--tracing-config-file=/nonexistent",
				"--audit-log-maxsize=-1", "--audit-log-path=x", "--logging-format=xml",
			},
			want: []string{
				"--data-dir must not be empty", "--etcd-cafile is of no use without --etcd-servers", "--max-requests-inflight can not be negative value",
				"--secure-port 70000 must be between 0 and 65535, inclusive; 0 picks a free port", "--audit-log-maxsize -1 can't be a negative number",
				"--tracing-config-file: tracing-config-file /nonexistent does not exist", `--logging-format: Invalid value: "xml": Unsupported log format`,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := newStandalone(t)
			_, flags := flagSets(o)
			if err := flags.Parse(test.args); err != nil {
				t.Fatal(err)
			}
			completed, err := o.Complete()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, lines(completed.Validate())); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func TestFeatureGates(t *testing.T) {
	o := newStandalone(t)
	_, flags := flagSets(o)
	// The gates are the process's: the tests behind this one want them as they were.
	t.Cleanup(func() {
		if err := flags.Set("feature-gates", "ShardedListAndWatch=true"); err != nil {
			t.Error(err)
		}
		if _, err := newStandalone(t).Complete(); err != nil {
			t.Error(err)
		}
	})
	if err := flags.Parse([]string{"--feature-gates=ShardedListAndWatch=false"}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Complete(); err != nil {
		t.Fatal(err)
	}
	if utilfeature.DefaultFeatureGate.Enabled(features.ShardedListAndWatch) {
		t.Error("a user could not turn the gate off")
	}
	// The next preset of the process does not take it back.
	newStandalone(t)
	if utilfeature.DefaultFeatureGate.Enabled(features.ShardedListAndWatch) {
		t.Error("another preset overrode the user")
	}
}

func TestUnknownFeatureGateHidesNothing(t *testing.T) {
	o := newStandalone(t)
	// The library's registry does not forget a gate that it doesn't know.
	registry := basecompatibility.NewComponentGlobalsRegistry()
	version := basecompatibility.NewEffectiveVersionFromString("1.37", "", "")
	if err := registry.Register(basecompatibility.DefaultKubeComponent, version, featuregate.NewVersionedFeatureGate(version.BinaryVersion())); err != nil {
		t.Fatal(err)
	}
	o.ServerRun.ComponentGlobalsRegistry = registry
	_, flags := flagSets(o)
	if err := flags.Parse([]string{"--feature-gates=Teleport=true", "--data-dir=", "--secure-port=-1"}); err != nil {
		t.Fatal(err)
	}
	_, err := o.Complete()
	want := []string{
		"--feature-gates: unrecognized feature gate: Teleport", "--data-dir must not be empty",
		"--secure-port -1 must be between 0 and 65535, inclusive; 0 picks a free port",
	}
	if diff := cmp.Diff(want, lines(err)); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

// Zero is a value of its own: no compaction.
func TestCompactionCanBeTurnedOff(t *testing.T) {
	o := newStandalone(t)
	_, flags := flagSets(o)
	if err := flags.Parse([]string{"--etcd-compaction-interval=0"}); err != nil {
		t.Fatal(err)
	}
	if got := o.Etcd.StorageConfig.CompactionInterval; got != time.Duration(0) {
		t.Errorf("interval is %s", got)
	}
}
