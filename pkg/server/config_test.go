// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pinnace-io/pinnace/pkg/server/options"
)

func TestNewConfigUndoesAFailure(t *testing.T) {
	inUse := taken(t)
	tests := map[string]struct {
		change func(*options.Options)
		// want is a pattern of the error.
		want string
	}{
		"the port is in use": {
			change: func(o *options.Options) { o.SecureServing.BindPort = inUse },
			want:   fmt.Sprintf(`^127\.0\.0\.1:%d is in use by another process: choose another --secure-port, or 0 for a free one$`, inUse),
		},
		"an address of another machine": {
			change: func(o *options.Options) { o.SecureServing.BindAddress = net.IPv4(192, 0, 2, 1) },
			want:   `^could not listen, see --bind-address and --secure-port: listen tcp 192\.0\.2\.1:\d+: bind: cannot assign requested address$`,
		},
		"a serving certificate that isn't there": {
			change: func(o *options.Options) {
				o.SecureServing.ServerCert.CertKey.CertFile, o.SecureServing.ServerCert.CertKey.KeyFile = "/nonexistent/tls.crt", "/nonexistent/tls.key"
			},
			want: `/nonexistent/tls\.crt: no such file or directory`,
		},
		"an audit policy that isn't there": {
			change: func(o *options.Options) { o.Audit.PolicyFile, o.Audit.LogOptions.Path = "/nonexistent/policy", "-" },
			want:   `^loading audit policy file: .*/nonexistent/policy`,
		},
		"an audit policy without rules": {
			change: func(o *options.Options) {
				o.Audit.PolicyFile, o.Audit.LogOptions.Path = file(t, "apiVersion: audit.k8s.io/v1\nkind: Policy\n"), "-"
			},
			want: `^loading audit policy file: .*loaded illegal policy with 0 rules`,
		},
		"a tracing configuration of another kind": {
			change: func(o *options.Options) { o.Tracing.ConfigFile = file(t, "apiVersion: v1\nkind: Pod\n") },
			want:   `^--tracing-config-file: failed to read tracing config: .*no kind "Pod" is registered`,
		},
		"a tracing rate out of range": {
			change: func(o *options.Options) {
				o.Tracing.ConfigFile = file(t, "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nsamplingRatePerMillion: -1\n")
			},
			want: `^--tracing-config-file: failed to validate tracing configuration: .*samplingRatePerMillion: Invalid value: -1`,
		},
		"an encryption configuration that is none": {
			change: func(o *options.Options) {
				o.Etcd.EncryptionProviderConfigFilepath = file(t, "apiVersion: v1\nkind: Pod\n")
			},
			want: `no kind "Pod" is registered`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			dir, port := filepath.Join(t.TempDir(), "data"), free(t)
			c, err := NewConfig(t.Context(), completed(t, dir, func(o *options.Options) {
				o.SecureServing.BindPort = port
				test.change(o)
			}))
			if err == nil || !regexp.MustCompile(test.want).MatchString(err.Error()) {
				t.Errorf("error is %v, want a match of %s", err, test.want)
			}
			if c != nil {
				t.Error("a configuration comes with the error")
			}
			checkReleased(t, dir, port)
		})
	}
}

func TestNewConfigOnAFile(t *testing.T) {
	checkLeaks(t)
	path := file(t, "")
	_, err := NewConfig(t.Context(), completed(t, path, nil))
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("error is %v, want one that %s is not a directory", err, path)
	}
}

// Certificates that were damaged are nobody's to replace.
func TestNewConfigWithDamagedCertificates(t *testing.T) {
	checkLeaks(t)
	dir := t.TempDir()
	pki := filepath.Join(dir, pkiDir)
	if err := os.MkdirAll(pki, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ca.crt", "ca.key"} {
		if err := os.WriteFile(filepath.Join(pki, name), []byte("damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := NewConfig(t.Context(), completed(t, dir, nil))
	if err == nil || !strings.Contains(err.Error(), pki) {
		t.Errorf("error is %v, want one that names a file in %s", err, pki)
	}
	if err := os.RemoveAll(pki); err != nil {
		t.Fatal(err)
	}
	checkReleased(t, dir, free(t))
}

// A start that is given up releases etcd all the same.
func TestNewConfigGivesUp(t *testing.T) {
	checkLeaks(t)
	dir, port := t.TempDir(), free(t)
	given := errors.New("given up")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(given)
	_, err := NewConfig(ctx, completed(t, dir, func(o *options.Options) { o.SecureServing.BindPort = port }))
	if !errors.Is(err, given) && !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want the context's", err)
	}
	checkReleased(t, dir, port)
}

func TestNewConfigAwaitsAnExternalEtcd(t *testing.T) {
	checkLeaks(t)
	port := free(t)
	began := time.Now()
	_, err := NewConfig(t.Context(), completed(t, t.TempDir(), func(o *options.Options) {
		o.Etcd.StorageConfig.Transport.ServerList = []string{fmt.Sprintf("http://127.0.0.1:%d", port)}
		o.ServerRun.StorageInitializationTimeout = time.Second
	}))
	want := fmt.Sprintf("etcd at http://127.0.0.1:%d is not ready: no answer within 1s (--storage-initialization-timeout): ", port)
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error is %v, want one that begins with %s", err, want)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("it gave up after %s", took)
	}
}

func TestNewConfigRefusesABadEndpoint(t *testing.T) {
	checkLeaks(t)
	_, err := NewConfig(t.Context(), completed(t, t.TempDir(), func(o *options.Options) {
		o.Etcd.StorageConfig.Transport.ServerList = []string{"ftp://127.0.0.1:1"}
	}))
	if want := `external etcd: Endpoints: "ftp://127.0.0.1:1": scheme "ftp" is none of http, https, unix, unixs`; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestConfigIsClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newConfig(t, completed(t, dir, nil))
	port := portOf(t, c.listener)
	// A second server finds the directory taken, whatever its port.
	_, err := NewConfig(t.Context(), completed(t, dir, nil))
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("error is %v, want one that names %s", err, dir)
	}
	for range 2 {
		if err := c.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	checkReleased(t, dir, port)
}

func TestConfigDescribesWhatIsServed(t *testing.T) {
	t.Parallel()
	c := newConfig(t, completed(t, t.TempDir(), nil))
	defer func() { _ = c.Close(t.Context()) }()
	if len(c.Groups) == 0 || len(c.Groups) != len(c.Served) {
		t.Fatalf("there are %d groups with %d names", len(c.Groups), len(c.Served))
	}
	for i, group := range c.Groups {
		served := c.Served[i]
		if served.Name != group.Name || served.As != group.GroupVersion() {
			t.Errorf("group %q is served as %s", group.Name, served.As)
		}
		if !c.Generic.MergedResourceConfig.ResourceEnabled(served.As.WithResource(group.Resources[0].Plural)) {
			t.Errorf("%s is not enabled", served.As)
		}
	}
}

func TestPublicAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(192, 0, 2, 7), net.ParseIP("2001:db8::7")} {
		if got := publicAddress(address); !got.Equal(address) {
			t.Errorf("%s is published as %s", address, got)
		}
	}
	for _, all := range []net.IP{net.IPv4zero, net.IPv6unspecified} {
		if got := publicAddress(all); got == nil || got.IsUnspecified() {
			t.Errorf("%s is published as %s, which is no address to connect to", all, got)
		}
	}
}
