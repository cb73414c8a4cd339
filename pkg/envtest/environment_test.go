// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

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
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pinnace-io/pinnace/pkg/server/options"
)

// temporary sends temporary directories of the test to one of its own and returns it. It can't be used in parallel.
func temporary(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	return dir
}

// checkEmpty checks that nothing is left in a directory.
func checkEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		t.Errorf("%s is left in the temporary directory", entry.Name())
	}
}

// checkLeaks checks at the end of the test that no goroutine has outlived it. It can't be used in parallel.
func checkLeaks(t *testing.T) {
	t.Helper()
	options := []goleak.Option{
		goleak.IgnoreCurrent(),
		// The library's cache of health answers is the process's.
		goleak.IgnoreAnyFunction("k8s.io/apimachinery/pkg/util/wait.Forever"),
		// A count of objects that a watch cache was asked for as it began sleeps for three seconds.
		goleak.IgnoreTopFunction("k8s.io/apiserver/pkg/storage/cacher.(*watchCache).waitUntilFreshLocked.func2"),
		// The library makes the queue of a certificate file before it watches the file; only a server that has run ends it.
		goleak.IgnoreTopFunction("k8s.io/client-go/util/workqueue.(*Typed[...]).updateUnfinishedWorkLoop"),
		goleak.IgnoreTopFunction("k8s.io/client-go/util/workqueue.(*delayingType[...]).waitingLoop"),
	}
	t.Cleanup(func() {
		var err error
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
			if err = goleak.Find(options...); err == nil {
				return
			}
		}
		t.Error(err)
	})
}

// namespaces returns the names that a client lists.
func namespaces(t *testing.T, config *rest.Config) []string {
	t.Helper()
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	list, err := clients.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, item := range list.Items {
		names = append(names, item.Name)
	}
	return names
}

// checkGone checks that nobody listens where the server did.
func checkGone(t *testing.T, config *rest.Config) {
	t.Helper()
	address := strings.TrimPrefix(config.Host, "https://")
	if connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address); err == nil {
		_ = connection.Close()
		t.Errorf("somebody still listens at %s", address)
	}
}

func TestZeroValue(t *testing.T) {
	checkLeaks(t)
	dir := temporary(t)
	var e Environment
	config, err := e.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if config != e.Config {
		t.Error("Start returns another configuration than Config")
	}
	want := []string{"default", "kube-node-lease", "kube-public", "kube-system"}
	if diff := cmp.Diff(want, namespaces(t, config)); diff != "" {
		t.Errorf("namespaces of a new server (-want +got):\n%s", diff)
	}
	if filepath.Dir(e.DataDir) != dir || filepath.Dir(e.KubeconfigPath) != e.DataDir {
		t.Errorf("data is in %s and the kubeconfig is %s, want both below %s", e.DataDir, e.KubeconfigPath, dir)
	}
	fromFile, err := clientcmd.BuildConfigFromFlags("", e.KubeconfigPath)
	if err != nil {
		t.Fatal(err)
	}
	if fromFile.Host != config.Host {
		t.Errorf("the kubeconfig is for %s, want %s", fromFile.Host, config.Host)
	}
	for n := range 2 {
		if err := e.Stop(t.Context()); err != nil {
			t.Errorf("Stop %d: %v", n+1, err)
		}
	}
	checkGone(t, config)
	checkEmpty(t, dir)
	if _, err := e.Start(t.Context()); err == nil || err.Error() != "the environment was started before" {
		t.Errorf("a second start: %v", err)
	}
	checkEmpty(t, dir)
}

func TestStopWithoutStart(t *testing.T) {
	t.Parallel()
	var e Environment
	if err := e.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// The context of Start may be that of one step of a test.
func TestServerOutlivesTheContextOfStart(t *testing.T) {
	t.Parallel()
	e := &Environment{}
	ctx, cancel := context.WithCancel(t.Context())
	config, err := e.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	cancel()
	namespaces(t, config)
}

func TestDataDirIsKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	for n := range 2 {
		e := &Environment{DataDir: dir}
		config, err := e.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		clients, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			object := `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kept"}}`
			if err := clients.CoreV1().RESTClient().Post().Resource("namespaces").Body([]byte(object)).Do(t.Context()).Error(); err != nil {
				t.Error(err)
			}
		}
		if names := namespaces(t, config); !slices.Contains(names, "kept") {
			t.Errorf("start %d has namespaces %v, kept isn't among them", n+1, names)
		}
		if err := e.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "admin.kubeconfig")); err != nil {
		t.Errorf("the data directory was not kept: %v", err)
	}
}

func TestArgsAndOptions(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	e := &Environment{
		Args: []string{"--secure-port=" + port, "--profiling"},
		Options: func(o *options.Options) {
			if fmt.Sprint(o.SecureServing.BindPort) != port || !o.Features.EnableProfiling {
				t.Errorf("the arguments were not parsed before: port %d, profiling %t", o.SecureServing.BindPort, o.Features.EnableProfiling)
			}
			o.Features.EnableProfiling = false
		},
	}
	config, err := e.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if config.Host != "https://"+address {
		t.Errorf("the server is at %s, want https://%s", config.Host, address)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Get(config.Host + "/debug/pprof/")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != 404 {
		t.Errorf("the options were not applied: /debug/pprof/ answers %s", response.Status)
	}
}

func TestFailedStartLeavesNothing(t *testing.T) {
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		environment Environment
		want        string
	}{
		"an unknown flag": {
			environment: Environment{Args: []string{"--odd"}},
			want:        `could not parse the arguments ["--odd"]: unknown flag: --odd`,
		},
		"a bad value": {
			environment: Environment{Args: []string{"--secure-port=x"}},
			want:        `could not parse the arguments ["--secure-port=x"]: invalid argument "x" for "--secure-port" flag: strconv.ParseInt: parsing "x": invalid syntax`,
		},
		"no flag at all": {
			environment: Environment{Args: []string{"--profiling", "odd"}},
			want:        `could not parse the arguments ["--profiling" "odd"]: "odd" is no flag`,
		},
		"the data directory as a flag": {
			environment: Environment{Args: []string{"--data-dir=/x"}},
			want:        `could not parse the arguments ["--data-dir=/x"]: set DataDir instead of --data-dir`,
		},
		"options that are not valid": {
			environment: Environment{Args: []string{"--max-requests-inflight=-1"}},
			want:        "--max-requests-inflight can not be negative value",
		},
		"options that were made invalid": {
			environment: Environment{Options: func(o *options.Options) { o.SecureServing.BindPort, o.QuotaBytes = -1, 1 }},
			want: "--etcd-quota-bytes 1 is too small, must be at least 16777216 (16 MiB)\n" +
				"--secure-port -1 must be between 0 and 65535, inclusive; 0 picks a free port",
		},
		"a port in use": {
			environment: Environment{Args: []string{"--secure-port=" + port}},
			want:        "127.0.0.1:" + port + " is in use by another process: choose another --secure-port, or 0 for a free one",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			dir := temporary(t)
			e := test.environment
			config, err := e.Start(t.Context())
			if err == nil || err.Error() != test.want {
				t.Errorf("error is %v, want %s", err, test.want)
			}
			if config != nil || e.Config != nil {
				t.Error("a configuration comes with the error")
			}
			checkEmpty(t, dir)
			if err := e.Stop(t.Context()); err != nil {
				t.Errorf("Stop after a failed start: %v", err)
			}
			if _, err := e.Start(t.Context()); err == nil || err.Error() != "the environment was started before" {
				t.Errorf("a second start: %v", err)
			}
			checkEmpty(t, dir)
		})
	}
}

// Whatever a start is at when its time is over, it is undone.
func TestStartTimeout(t *testing.T) {
	checkLeaks(t)
	dir := temporary(t)
	for timeout := time.Millisecond; timeout < 200*time.Millisecond; timeout *= 2 {
		e := &Environment{StartTimeout: timeout}
		_, err := e.Start(t.Context())
		switch {
		case err == nil:
			// This machine is quick.
			if err := e.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		case !errors.Is(err, context.DeadlineExceeded):
			t.Errorf("within %s: error is %v, want one of the deadline", timeout, err)
		}
		checkEmpty(t, dir)
	}
}

// A user's directory survives what its server does not.
func TestFailedStartKeepsTheDataDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := &Environment{DataDir: dir, StartTimeout: time.Millisecond}
	if _, err := e.Start(t.Context()); err == nil {
		t.Fatal("it has started within a millisecond")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}

func TestNoTemporaryDirectory(t *testing.T) {
	t.Setenv("TMPDIR", "/nonexistent")
	var e Environment
	if _, err := e.Start(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "could not make a data directory: ") {
		t.Errorf("error is %v", err)
	}
}

// While the server still uses its directory, the directory stays, and another Stop finishes the work.
func TestStopThatIsCutShort(t *testing.T) {
	dir := temporary(t)
	for name, test := range map[string]struct {
		change func(*Environment)
		ctx    func(context.Context) (context.Context, context.CancelFunc)
		want   string
	}{
		"by its context": {
			ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				return ctx, cancel
			},
			want: "the server did not stop: context canceled",
		},
		"by its timeout": {
			change: func(e *Environment) { e.StopTimeout = time.Millisecond },
			ctx:    context.WithCancel,
			want:   "the server did not stop within 1ms",
		},
	} {
		t.Run(name, func(t *testing.T) {
			// The server takes its time to stop.
			e := &Environment{Args: []string{"--shutdown-delay-duration=500ms"}}
			if test.change != nil {
				test.change(e)
			}
			config, err := e.Start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := test.ctx(t.Context())
			defer cancel()
			if err := e.Stop(ctx); err == nil || err.Error() != test.want {
				t.Errorf("error is %v, want %s", err, test.want)
			}
			if _, err := os.Stat(e.DataDir); err != nil {
				t.Errorf("the directory was removed under the server: %v", err)
			}
			e.StopTimeout = 0
			if err := e.Stop(t.Context()); err != nil {
				t.Errorf("another Stop: %v", err)
			}
			checkGone(t, config)
			checkEmpty(t, dir)
		})
	}
}

func TestTwoEnvironmentsAtOnce(t *testing.T) {
	t.Parallel()
	first, second := &Environment{}, &Environment{}
	for _, e := range []*Environment{first, second} {
		if _, err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := e.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		}()
	}
	clients, err := kubernetes.NewForConfig(first.Config)
	if err != nil {
		t.Fatal(err)
	}
	object := `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"first"}}`
	if err := clients.CoreV1().RESTClient().Post().Resource("namespaces").Body([]byte(object)).Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
	if names := namespaces(t, second.Config); slices.Contains(names, "first") {
		t.Errorf("the second server has the first's namespaces: %v", names)
	}
}
