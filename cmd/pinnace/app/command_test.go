// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pinnace-io/pinnace/pkg/server/options"
	"github.com/pinnace-io/pinnace/pkg/version"
)

// output is what a command writes while a test reads it.
type output struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write appends.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Write(p)
}

// String is all that was written.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.String()
}

func TestExecute(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() }) // the cases run when this function has returned
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args []string
		code int
		// stdout and stderr are patterns; nothing is to be written where there is none.
		stdout, stderr string
		// process runs the command in a process of its own: it sets up logging, which a process does once.
		process bool
	}{
		"no command: help": {stdout: `(?s)^Pinnace serves .*\n\nUsage:\n  pinnace.*\n  standalone +Serve alone.*\n  version +Print the versions`},
		"help":             {args: []string{"--help"}, stdout: `(?s)^Pinnace serves .*\n  standalone +Serve alone`},
		"help of a command": {
			args: []string{"standalone", "--help"},
			stdout: `(?s)^Serve alone: .*\n\nUsage:\n  pinnace standalone \[flags\]\n\nStorage flags:\n.*--data-dir string .*\nServing flags:\n.*--secure-port int .*` +
				`\(default 7443\).*\nAudit flags:\n.*\nObservability flags:\n.*--profiling .*\nLogs flags:\n.*-v, --v Level `,
		},
		"help by the help command": {args: []string{"help", "standalone"}, stdout: `(?s)^Serve alone: .*\nStorage flags:\n.*\nLogs flags:\n`},
		"help beside a mistake":    {args: []string{"standalone", "--odd", "-h"}, stdout: `^Serve alone: `},
		"help of another command":  {args: []string{"version", "--help"}, stdout: `(?s)^Print the versions .*-o, --output string`},
		"version": {
			args:   []string{"version"},
			stdout: `^pinnace     \S+\nkubernetes  \S+\netcd        \S+\ngo          go1\.\S+ \S+/\S+\n$`,
		},

		"an unknown command":           {args: []string{"swim"}, code: 2, stderr: `^error: unknown command "swim" for "pinnace"\nsee: pinnace --help\n$`},
		"an unknown flag":              {args: []string{"--odd"}, code: 2, stderr: `^error: unknown flag: --odd\nsee: pinnace --help\n$`},
		"an unknown flag of a command": {args: []string{"version", "--odd"}, code: 2, stderr: `^error: unknown flag: --odd\nsee: pinnace version --help\n$`},
		"an unknown format":            {args: []string{"version", "-o", "yaml"}, code: 2, stderr: `^error: --output "yaml" is not a format, use json or nothing\nsee: pinnace version --help\n$`},
		"an argument of a command without any": {
			args: []string{"version", "now"}, code: 2, stderr: `^error: unknown command "now" for "pinnace version"\nsee: pinnace version --help\n$`,
		},
		"every mistake of the standalone command": {
			args: []string{"standalone", "--odd", "--secure-port=x", "--data-dir=", "--etcd-keyfile=k", "--logging-format=xml"}, code: 2,
			stderr: `^error: unknown flag --odd\n` +
				`error: invalid argument "x" for "--secure-port" flag: .*\n` +
				`error: --data-dir must not be empty\n` +
				`error: --etcd-keyfile is of no use without --etcd-servers\n` +
				`error: --etcd-certfile and --etcd-keyfile must be set together\n` +
				`error: --logging-format: Invalid value: "xml": Unsupported log format\n` +
				`see: pinnace standalone --help\n$`,
		},
		"a port in use": {
			args: []string{"standalone", "--data-dir=" + t.TempDir(), "--secure-port=" + port}, code: 1,
			stderr:  `^error: 127\.0\.0\.1:` + port + ` is in use by another process: choose another --secure-port, or 0 for a free one\n$`,
			process: true,
		},
		"a data directory that is a file": {
			args: []string{"standalone", "--data-dir=" + file, "--secure-port=0"}, code: 1,
			stderr:  `^error: .*` + regexp.QuoteMeta(file) + `.*not a directory\n$`,
			process: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr output
			execute := Execute
			if test.process {
				execute = func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
					return startChild(ctx, t, modeExecute, args, stdout, stderr).wait(t)
				}
			}
			if code := execute(t.Context(), test.args, &stdout, &stderr); code != test.code {
				t.Errorf("exit code is %d, want %d", code, test.code)
			}
			checkOutput(t, "stdout", stdout.String(), test.stdout)
			checkOutput(t, "stderr", stderr.String(), test.stderr)
		})
	}
}

func checkOutput(t *testing.T, stream, got, pattern string) {
	t.Helper()
	if pattern == "" {
		pattern = "^$"
	}
	if !regexp.MustCompile(pattern).MatchString(got) {
		t.Errorf("%s is %q, want a match of %q", stream, got, pattern)
	}
}

func TestVersionJSON(t *testing.T) {
	t.Parallel()
	var stdout, stderr output
	if code := Execute(t.Context(), []string{"version", "--output=json"}, &stdout, &stderr); code != 0 {
		t.Errorf("exit code is %d: %s", code, &stderr)
	}
	var got version.Info
	if err := json.Unmarshal([]byte(stdout.String()), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(version.Get(), got); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}

func TestPrintVersion(t *testing.T) {
	t.Parallel()
	info := version.Info{Pinnace: "v0.3.1", Commit: "0123abc", Kubernetes: "v1.37.2", Etcd: "v3.7.3", Go: "go1.26.0", Platform: "linux/arm64"}
	for name, test := range map[string]struct{ output, want string }{
		"text": {want: "pinnace     v0.3.1\nkubernetes  v1.37.2\netcd        v3.7.3\ngo          go1.26.0 linux/arm64\n"},
		"JSON": {
			output: "json",
			want: "{\n  \"pinnace\": \"v0.3.1\",\n  \"commit\": \"0123abc\",\n  \"kubernetes\": \"v1.37.2\",\n  \"etcd\": \"v3.7.3\",\n" +
				"  \"go\": \"go1.26.0\",\n  \"platform\": \"linux/arm64\"\n}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			cmd := &cobra.Command{}
			cmd.SetOut(&out)
			if err := printVersion(cmd, info, test.output); err != nil {
				t.Fatal(err)
			}
			if out.String() != test.want {
				t.Errorf("got %s, want %s", out.String(), test.want)
			}
		})
	}
}

func TestUsageError(t *testing.T) {
	t.Parallel()
	cause := errors.New("odd")
	if err := fmt.Errorf("wrapped: %w", usageError{cause}); !isUsage(err) || !errors.Is(err, cause) {
		t.Errorf("%v is not known for an error of the command line, or has lost its cause", err)
	}
	if isUsage(cause) {
		t.Error("any error is one of the command line")
	}
}

// awaitKubeconfig waits until stdout names the kubeconfig of a ready server, and returns a client for it.
func awaitKubeconfig(t *testing.T, stdout, stderr *output) *rest.Config {
	t.Helper()
	named := regexp.MustCompile(`export KUBECONFIG=(.*)\n`)
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if match := named.FindStringSubmatch(stdout.String()); match != nil {
			config, err := clientcmd.BuildConfigFromFlags("", match[1])
			if err != nil {
				t.Fatal(err)
			}
			return config
		}
	}
	t.Fatalf("the command did not become ready: %s", stderr)
	return nil
}

// newOptions are the options of a server on a free port.
func newOptions(t *testing.T, dir string) options.CompletedOptions {
	t.Helper()
	o, err := options.NewStandalone()
	if err != nil {
		t.Fatal(err)
	}
	o.DataDir, o.SecureServing.BindPort = dir, 0
	completed, err := o.Complete()
	if err != nil {
		t.Fatal(err)
	}
	return completed
}

func TestRunStandalone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := newOptions(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout output
	done := make(chan error, 1)
	go func() { done <- runStandalone(ctx, o, &stdout) }()
	config := awaitKubeconfig(t, &stdout, &output{})
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	defer utilnet.CloseIdleConnectionsFor(client.Transport)
	response, err := client.Get(config.Host + "/api/v1/namespaces")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the administrator gets %s", response.Status)
	}
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("the command ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the command did not end")
	}
	kubeconfig := filepath.Join(dir, "admin.kubeconfig")
	checkOutput(t, "stdout", stdout.String(), `^Pinnace is ready after \d+\.\d\d s, with etcd in `+regexp.QuoteMeta(dir)+`/etcd\.

  address     `+regexp.QuoteMeta(config.Host)+`
  kubeconfig  `+regexp.QuoteMeta(kubeconfig)+`

Try it, in another terminal:

  export KUBECONFIG=`+regexp.QuoteMeta(kubeconfig)+`
  kubectl api-resources
  kubectl create namespace demo
  kubectl get csr,daemonsets --all-namespaces
$`)
}

func TestRunStandaloneThatIsGivenUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout output
	if err := runStandalone(ctx, newOptions(t, t.TempDir()), &stdout); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want the context's", err)
	}
	checkOutput(t, "stdout", stdout.String(), "")
}

// A kubeconfig that can't be written ends the command, and releases what it has opened.
func TestRunStandaloneWithoutAKubeconfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "admin.kubeconfig")
	if err := os.MkdirAll(filepath.Join(path, "in-the-way"), 0o700); err != nil {
		t.Fatal(err)
	}
	o := newOptions(t, dir)
	var stdout output
	for range 2 { // the second finds the directory free
		if err := runStandalone(t.Context(), o, &stdout); err == nil || !strings.HasPrefix(err.Error(), "could not write the admin kubeconfig: ") {
			t.Errorf("error is %v, want one that the kubeconfig could not be written", err)
		}
	}
	checkOutput(t, "stdout", stdout.String(), "")
}

// The whole command, in a process of its own: what is logged by default is what went wrong, with a verbosity it is
// everything.
func TestStandalone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args   []string
		stderr string
	}{
		"quiet by default": {stderr: `^$`},
		"with a verbosity": {args: []string{"-v", "1"}, stderr: `(?m)^I\d{4} .*Serving securely on 127\.0\.0\.1:`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"standalone", "--data-dir=" + t.TempDir(), "--secure-port=0"}, test.args...)
			var stdout, stderr output
			child := startChild(t.Context(), t, modeExecute, args, &stdout, &stderr)
			awaitKubeconfig(t, &stdout, &stderr)
			if err := child.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if code := child.wait(t); code != 0 {
				t.Errorf("exit code is %d", code)
			}
			checkOutput(t, "stderr", stderr.String(), test.stderr)
		})
	}
}

func TestQuietWriter(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		entry, want string
	}{
		"an informational entry":              {entry: "I1130 22:00:00.000000       1 file.go:1] \"It works\"\n"},
		"an informational entry of two lines": {entry: "I1130 22:00:00.000000       1 file.go:1] one\nW two\n"},
		"a warning":                           {entry: "W1130 22:00:00.000000       1 file.go:1] odd\n", want: "W1130 22:00:00.000000       1 file.go:1] odd\n"},
		"an error":                            {entry: "E1130 22:00:00.000000       1 file.go:1] bad\n", want: "E1130 22:00:00.000000       1 file.go:1] bad\n"},
		"the end of the process":              {entry: "F1130 22:00:00.000000       1 file.go:1] end\n", want: "F1130 22:00:00.000000       1 file.go:1] end\n"},
		"nothing":                             {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			n, err := quietWriter{out: &out}.Write([]byte(test.entry))
			if err != nil || n != len(test.entry) {
				t.Errorf("wrote %d bytes of %d: %v", n, len(test.entry), err)
			}
			if out.String() != test.want {
				t.Errorf("got %q, want %q", out.String(), test.want)
			}
		})
	}
}

func TestApplyLogs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		verbosity, want string
	}{
		"quiet by default": {verbosity: "0", want: `^W.* some warning\nE.* "some error" err="cause"\n$`},
		"all of it":        {verbosity: "2", want: `^I.* "some news"\nI.* "some detail"\nW.* some warning\nE.* "some error" err="cause"\n$`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr output
			if code := startChild(t.Context(), t, modeLogs, []string{test.verbosity}, &stdout, &stderr).wait(t); code != 0 {
				t.Errorf("exit code is %d", code)
			}
			checkOutput(t, "stdout", stdout.String(), "")
			checkOutput(t, "stderr", stderr.String(), test.want)
		})
	}
}
