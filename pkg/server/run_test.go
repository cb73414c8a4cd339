// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/pinnace-io/pinnace/pkg/etcd"
)

// journal is the order in which things happened.
type journal struct {
	mu     sync.Mutex
	events []string
}

func (j *journal) note(event string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, event)
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.events)
}

// watched is a backend whose storages and whose end are noted, and that can fail.
type watched struct {
	etcd.Backend
	journal *journal
	// address is the server's; Close notes whether it still listens.
	address string
	// stopped, when set, is the backend's Err.
	stopped chan error
	// closeErr is what Close returns beside the backend's own error.
	closeErr error
}

// Decorator notes when a storage is destroyed.
func (w *watched) Decorator() generic.StorageDecorator {
	decorate := w.Backend.Decorator()
	return func(
		config *storagebackend.ConfigForResource, resourcePrefix string, keyFunc func(runtime.Object) (string, error),
		newFunc, newListFunc func() runtime.Object, getAttrs storage.AttrFunc, indexerFuncs storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		s, destroy, err := decorate(config, resourcePrefix, keyFunc, newFunc, newListFunc, getAttrs, indexerFuncs, indexers)
		return s, func() {
			w.journal.note("destroy " + config.GroupResource.String())
			destroy()
		}, err
	}
}

// Err is the backend's, unless the test has one of its own.
func (w *watched) Err() <-chan error {
	if w.stopped != nil {
		return w.stopped
	}
	return w.Backend.Err()
}

// Close notes what is still there when etcd closes.
func (w *watched) Close(ctx context.Context) error {
	if connection, err := net.Dial("tcp", w.address); err == nil {
		_ = connection.Close()
		w.journal.note("still listening")
	}
	if ctx.Err() != nil {
		w.journal.note("no time to close")
	}
	w.journal.note("close etcd")
	return errors.Join(w.closeErr, w.Backend.Close(ctx))
}

// newServer is a server over a watched backend, which change may change.
func newServer(t *testing.T, change func(*watched)) (*Server, *journal) {
	t.Helper()
	return newServerOf(t, newConfig(t, completed(t, t.TempDir(), nil)), change)
}

func newServerOf(t *testing.T, c *Config, change func(*watched)) (*Server, *journal) {
	t.Helper()
	j := &journal{}
	backend := &watched{Backend: c.backend, journal: j, address: c.listener.Addr().String()}
	if change != nil {
		change(backend)
	}
	c.backend = backend
	c.Generic.RESTOptionsGetter = decorated{RESTOptionsGetter: c.Generic.RESTOptionsGetter, decorator: backend.Decorator()}
	s, err := New(t.Context(), c.Complete())
	if err != nil {
		t.Fatal(err)
	}
	return s, j
}

// run runs s in the background until stop is called, and returns what Run returned.
func run(t *testing.T, s *Server) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	wait := sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(30 * time.Second):
			return errors.New("Run did not return")
		}
	})
	t.Cleanup(func() { _ = wait() })
	return wait
}

// ready waits until s is ready.
func ready(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := s.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestRunStopsInOrder(t *testing.T) {
	checkLeaks(t)
	s, j := newServer(t, nil)
	stop := run(t, s)
	ready(t, s)
	if events := j.all(); len(events) > 0 {
		t.Errorf("a ready server has given up %q", events)
	}
	if err := stop(); err != nil {
		t.Errorf("Run: %v", err)
	}
	events := j.all()
	if len(events) == 0 || events[len(events)-1] != "close etcd" {
		t.Fatalf("etcd did not close last: %q", events)
	}
	destroyed := events[:len(events)-1]
	for _, resource := range []string{
		"daemonsets.apps", "controllerrevisions.apps", "certificatesigningrequests.certificates.k8s.io", "namespaces",
	} {
		if !slices.Contains(destroyed, "destroy "+resource) {
			t.Errorf("the storage of %s was not destroyed before: %q", resource, events)
		}
	}
	for _, wrong := range []string{"still listening", "no time to close", "close etcd"} {
		if slices.Contains(destroyed, wrong) {
			t.Errorf("%s when etcd closed: %q", wrong, events)
		}
	}
}

func TestRunEndsWithEtcd(t *testing.T) {
	t.Parallel()
	stopped := make(chan error, 1)
	s, j := newServer(t, func(w *watched) { w.stopped = stopped })
	done := make(chan error, 1)
	go func() { done <- s.Run(t.Context()) }()
	ready(t, s)
	lost := errors.New("the disk is gone")
	stopped <- lost
	select {
	case err := <-done:
		if !errors.Is(err, lost) || !strings.HasPrefix(err.Error(), "etcd stopped: the disk is gone") {
			t.Errorf("error is %v, want etcd's", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the server goes on without etcd")
	}
	if events := j.all(); events[len(events)-1] != "close etcd" {
		t.Errorf("etcd was not closed: %q", events)
	}
}

func TestRunReportsAnEtcdThatDoesNotClose(t *testing.T) {
	t.Parallel()
	stuck := errors.New("stuck")
	s, _ := newServer(t, func(w *watched) { w.closeErr = stuck })
	stop := run(t, s)
	ready(t, s)
	if err := stop(); !errors.Is(err, stuck) {
		t.Errorf("error is %v, want the one of etcd", err)
	}
}

func TestRunReportsWhyItsContextEnded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end  func(context.Context) (context.Context, context.CancelFunc)
		want error
	}{
		"a cause of the caller's": {
			end: func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancelCause(ctx)
				return ctx, func() { cancel(errUnwanted) }
			},
			want: errUnwanted,
		},
		"a deadline": {
			end: func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithDeadline(ctx, time.Now())
				return ctx, cancel
			},
			want: context.DeadlineExceeded,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, j := newServer(t, nil)
			ctx, end := test.end(t.Context())
			end()
			if err := s.Run(ctx); !errors.Is(err, test.want) {
				t.Errorf("error is %v, want %v", err, test.want)
			}
			if events := j.all(); events[len(events)-1] != "close etcd" {
				t.Errorf("etcd was not closed last: %q", events)
			}
		})
	}
}

// errUnwanted is a reason to stop that is no orderly one.
var errUnwanted = errors.New("unwanted")

func TestWaitReadyNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	s, _ := newServer(t, nil)
	var high atomic.Bool
	tide := healthz.NamedCheck("tide", func(*http.Request) error {
		if high.Load() {
			return nil
		}
		return errors.New("too low")
	})
	if err := s.Generic.AddReadyzChecks(tide); err != nil {
		t.Fatal(err)
	}
	run(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	err := s.WaitReady(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v, want one of the deadline", err)
	}
	for _, want := range []string{"not ready: ", "500 Internal Server Error", "[-]tide failed", "[+]etcd ok"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one with %q", err, want)
		}
	}
	high.Store(true)
	ready(t, s)
}

// A check that hangs until the end must not hide what was answered before.
func TestWaitReadyRemembersTheLastAnswer(t *testing.T) {
	t.Parallel()
	s, _ := newServer(t, nil)
	var asked atomic.Int32
	if err := s.Generic.AddReadyzChecks(healthz.NamedCheck("tide", func(r *http.Request) error {
		if asked.Add(1) > 3 {
			<-r.Context().Done()
		}
		return errors.New("too low")
	})); err != nil {
		t.Fatal(err)
	}
	run(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := s.WaitReady(ctx); err == nil || !strings.Contains(err.Error(), "[-]tide failed") {
		t.Errorf("error is %v, want one that names the check", err)
	}
}

// counting is a listener that counts the connections which are open.
type counting struct {
	net.Listener
	accepted, open atomic.Int32
}

// Accept counts.
func (c *counting) Accept() (net.Conn, error) {
	connection, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c.accepted.Add(1)
	c.open.Add(1)
	return &counted{Conn: connection, closed: sync.OnceFunc(func() { c.open.Add(-1) })}, nil
}

type counted struct {
	net.Conn
	closed func()
}

// Close counts.
func (c *counted) Close() error {
	c.closed()
	return c.Conn.Close()
}

// The server's own clients don't hold up a stop. What they could cost is the second that HTTP/2 gives its peer to take leave.
func TestStopIsQuick(t *testing.T) {
	t.Parallel()
	var shortest time.Duration
	for range 3 { // the machine may be busy
		s, _ := newServer(t, nil)
		stop := run(t, s)
		ready(t, s)
		begin := time.Now()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); shortest == 0 || took < shortest {
			shortest = took
		}
	}
	if shortest >= time.Second {
		t.Errorf("a stop takes %s", shortest)
	}
}

// A connection that is left over holds up the stop: HTTP/2 gives it a second to take leave.
func TestWaitReadyLeavesNoConnection(t *testing.T) {
	t.Parallel()
	c := newConfig(t, completed(t, t.TempDir(), nil))
	listener := &counting{Listener: c.listener}
	c.Generic.SecureServing.Listener = listener
	s, _ := newServerOf(t, c, nil)
	run(t, s)
	ready(t, s)
	// Two are the server's own: an informer watches, and namespaces have been made.
	for deadline := time.Now().Add(10 * time.Second); listener.open.Load() > 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections of %d are left", listener.open.Load(), listener.accepted.Load())
		}
	}
	if listener.accepted.Load() == 0 {
		t.Error("there was no connection")
	}
}

func TestWaitReadyWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	s, _ := newServer(t, nil)
	defer func() { _ = s.Close(t.Context()) }()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := s.WaitReady(ctx)
	if want := "not ready: context deadline exceeded: no answer yet"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestWaitReadyWithoutAClient(t *testing.T) {
	t.Parallel()
	s := &Server{loopback: &rest.Config{Host: "https://server", TLSClientConfig: rest.TLSClientConfig{CAFile: "/nonexistent"}}}
	if err := s.WaitReady(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "could not build the loopback client: ") {
		t.Errorf("error is %v", err)
	}
	s = &Server{loopback: &rest.Config{Host: "https://server:port:port"}}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.WaitReady(ctx); err == nil || !strings.Contains(err.Error(), "https://server:port:port/readyz") {
		t.Errorf("error is %v, want one that names the URL", err)
	}
}
