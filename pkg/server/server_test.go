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
	"slices"
	"strings"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pinnace-io/pinnace/pkg/apis/resource"
	"github.com/pinnace-io/pinnace/pkg/apis/scheme"
	"github.com/pinnace-io/pinnace/pkg/registry"
)

// toys is a group whose storage is what build returns.
func toys(build func() (map[string]rest.Storage, error), resources ...resource.Resource) registry.Group {
	return registry.Group{
		Group:   resource.Group{Name: "toys.example.com", Version: "v1", Resources: resources},
		Storage: func(registry.Deps) (map[string]rest.Storage, error) { return build() },
	}
}

// serve adds a group to what c serves.
func serve(c *Config, group registry.Group) {
	c.Groups = append(c.Groups, group)
	c.Served = append(c.Served, scheme.Served{Group: group.Group, As: group.GroupVersion()})
}

func TestNewUndoesAFailure(t *testing.T) {
	broken := errors.New("broken")
	none := func() (map[string]rest.Storage, error) { return nil, nil }
	tests := map[string]struct {
		change func(*testing.T, *Config)
		want   string
	}{
		"a group whose storage can't be built": {
			change: func(_ *testing.T, c *Config) {
				serve(c, toys(func() (map[string]rest.Storage, error) { return nil, broken }))
			},
			want: "could not build the storage of toys.example.com/v1: broken",
		},
		"a resource without an OpenAPI definition": {
			change: func(_ *testing.T, c *Config) {
				serve(c, toys(none, resource.Resource{Plural: "toys", New: func() runtime.Object { return &apidiscoveryv2.APIGroupDiscovery{} }}))
			},
			want: "could not build the OpenAPI models: cannot find model definition for ",
		},
		"an endpoint that is none": {
			change: func(_ *testing.T, c *Config) {
				serve(c, toys(func() (map[string]rest.Storage, error) { return map[string]rest.Storage{"a/b/c": &empty{}}, nil }))
			},
			want: "could not install toys.example.com/v1: ",
		},
		"a hook of the same name": {
			change: func(t *testing.T, c *Config) {
				if err := c.Generic.AddPostStartHook("storage-readiness", func(genericapiserver.PostStartHookContext) error { return nil }); err != nil {
					t.Fatal(err)
				}
			},
			want: `unable to add "storage-readiness" because it was already registered by: `,
		},
		"a library that refuses": {
			change: func(_ *testing.T, c *Config) { c.Generic.LoopbackClientConfig = nil },
			want:   "could not build the generic API server: ",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			dir := t.TempDir()
			c := newConfig(t, completed(t, dir, nil))
			port := portOf(t, c.listener)
			j := &journal{}
			c.backend = &watched{Backend: c.backend, journal: j, address: c.listener.Addr().String()}
			c.Generic.RESTOptionsGetter = decorated{RESTOptionsGetter: c.Generic.RESTOptionsGetter, decorator: c.backend.Decorator()}
			test.change(t, c)
			s, err := New(t.Context(), c.Complete())
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error is %v, want one that begins with %s", err, test.want)
			}
			if s != nil {
				t.Error("a server comes with the error")
			}
			if events := j.all(); len(events) == 0 || events[len(events)-1] != "close etcd" || slices.Contains(events, "still listening") {
				t.Errorf("what was released is %q, want storages, the listener, and then etcd", events)
			}
			checkReleased(t, dir, port)
		})
	}
}

// empty is an endpoint that does nothing.
type empty struct{}

// New is part of rest.Storage.
func (*empty) New() runtime.Object { return &metav1.Status{} }

// Destroy is part of rest.Storage.
func (*empty) Destroy() {}

// A failure of the last group must not leave the storages of those before it running.
func TestNewDestroysWhatItHasBuilt(t *testing.T) {
	t.Parallel()
	c := newConfig(t, completed(t, t.TempDir(), nil))
	j := &journal{}
	c.backend = &watched{Backend: c.backend, journal: j, address: c.listener.Addr().String()}
	c.Generic.RESTOptionsGetter = decorated{RESTOptionsGetter: c.Generic.RESTOptionsGetter, decorator: c.backend.Decorator()}
	serve(c, toys(func() (map[string]rest.Storage, error) { return nil, errors.New("broken") }))
	if _, err := New(t.Context(), c.Complete()); err == nil {
		t.Fatal("the server was built")
	}
	for _, want := range []string{"destroy daemonsets.apps", "destroy namespaces", "destroy certificatesigningrequests.certificates.k8s.io"} {
		if !slices.Contains(j.all(), want) {
			t.Errorf("%s did not happen: %q", want, j.all())
		}
	}
}

// A start that was given up still waits for etcd to leave its directory.
func TestNewReleasesWhenItsContextHasEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newConfig(t, completed(t, dir, nil))
	port := portOf(t, c.listener)
	serve(c, toys(func() (map[string]rest.Storage, error) { return nil, errors.New("broken") }))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(ctx, c.Complete()); err == nil || strings.Contains(err.Error(), "context canceled") {
		t.Errorf("error is %v, want that of the group alone", err)
	}
	checkReleased(t, dir, port)
}

func TestServerIsClosedWithoutRun(t *testing.T) {
	checkLeaks(t)
	dir := t.TempDir()
	c := newConfig(t, completed(t, dir, nil))
	port := portOf(t, c.listener)
	s, err := New(t.Context(), c.Complete())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	checkReleased(t, dir, port)
}

// listener is a listener at an address, that does not listen.
type listener struct {
	net.Listener
	address net.Addr
}

// Addr is the address.
func (l listener) Addr() net.Addr { return l.address }

func TestURL(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		address net.Addr
		want    string
	}{
		"loopback":                           {address: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7443}, want: "https://127.0.0.1:7443"},
		"an address of the machine":          {address: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 443}, want: "https://192.0.2.7:443"},
		"IPv6":                               {address: &net.TCPAddr{IP: net.ParseIP("2001:db8::7"), Port: 7443}, want: "https://[2001:db8::7]:7443"},
		"every IPv4 address":                 {address: &net.TCPAddr{IP: net.IPv4zero, Port: 7443}, want: "https://127.0.0.1:7443"},
		"every address":                      {address: &net.TCPAddr{IP: net.IPv6unspecified, Port: 7443}, want: "https://[::1]:7443"},
		"what is no address and port at all": {address: &net.UnixAddr{Net: "unix", Name: "/run/pinnace"}, want: "https:///run/pinnace"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &Server{listener: listener{address: test.address}}
			if got := s.URL(); got != test.want {
				t.Errorf("URL is %s, want %s", got, test.want)
			}
		})
	}
}

func TestWriteKubeconfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := New(t.Context(), newConfig(t, completed(t, dir, nil)).Complete())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(t.Context()) }()

	path := filepath.Join(dir, "admin.kubeconfig")
	got, err := s.WriteKubeconfig(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != path {
		t.Errorf("path is %s, want %s", got, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("mode is %o, want 600", mode)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != s.URL() {
		t.Errorf("server is %s, want %s", config.Host, s.URL())
	}

	path = filepath.Join(file(t, ""), "admin.kubeconfig")
	if _, err := s.WriteKubeconfig(path); err == nil || !strings.HasPrefix(err.Error(), "could not write the admin kubeconfig: ") {
		t.Errorf("error is %v, want one that the kubeconfig could not be written", err)
	}
}

func TestStorageName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newConfig(t, completed(t, dir, nil))
	defer func() { _ = c.Close(t.Context()) }()
	s := &Server{backend: c.backend}
	if got, want := s.StorageName(), fmt.Sprintf("etcd in %s/etcd", dir); got != want {
		t.Errorf("name is %s, want %s", got, want)
	}
}

// A resource whose options the library doesn't know is an error, not a resource without the backend's storage.
func TestRESTOptionsOfTheBackend(t *testing.T) {
	t.Parallel()
	c := newConfig(t, completed(t, t.TempDir(), nil))
	defer func() { _ = c.Close(t.Context()) }()
	options, err := c.Generic.RESTOptionsGetter.GetRESTOptions(schema.GroupResource{Group: "apps", Resource: "daemonsets"}, c.Groups[0].Resources[0].New())
	if err != nil {
		t.Fatal(err)
	}
	if options.Decorator == nil || options.ResourcePrefix != "daemonsets" || options.StorageConfig.Prefix != "/registry" {
		t.Errorf("options are %+v", options)
	}
	if _, err := c.Generic.RESTOptionsGetter.GetRESTOptions(schema.GroupResource{Group: "unknown", Resource: "toys"}, &metav1.Status{}); err == nil {
		t.Error("an unknown resource has options")
	}
}
