// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// The tests in this file run the program as a user does: as a process of its own, with signals.

// program builds the pinnace program once for all tests and returns its path.
func program(t *testing.T) string {
	t.Helper()
	onlyPinnace(t, "the test starts the program")
	path, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// buildProgram is called many times and builds once. The go command's cache makes later runs cheap.
var buildProgram = sync.OnceValues(func() (string, error) {
	path := filepath.Join(shared.programDir, "pinnace")
	out, err := exec.Command("go", "build", "-o", path, "github.com/pinnace-io/pinnace/cmd/pinnace").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("could not build the program: %w: %s", err, out)
	}
	return path, nil
})

// process is a running "pinnace standalone".
type process struct {
	command *exec.Cmd
	dataDir string
	// config is an administrator's client, set once the process has said that it is ready.
	config *rest.Config
	stderr *bytes.Buffer
	exited chan error
}

// start runs "pinnace standalone" with args and waits until it says that it is ready.
func start(t *testing.T, dataDir string, args ...string) *process {
	t.Helper()
	return startProgram(t, program(t), dataDir, args...)
}

// startProgram is start for another build of the program.
func startProgram(t *testing.T, program, dataDir string, args ...string) *process {
	t.Helper()
	p := &process{dataDir: dataDir, stderr: &bytes.Buffer{}, exited: make(chan error, 1)}
	p.command = exec.Command(program, append([]string{"standalone", "--data-dir=" + dataDir, "--secure-port=0"}, args...)...)
	p.command.Stderr = p.stderr
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.command.Process.Kill() })
	ready := make(chan string, 1)
	go func() {
		scanner := bufio.NewScanner(stdout)
		for scanner.Scan() {
			if kubeconfig, ok := strings.CutPrefix(strings.TrimSpace(scanner.Text()), "export KUBECONFIG="); ok {
				ready <- kubeconfig
			}
		}
		p.exited <- p.command.Wait()
	}()
	select {
	case kubeconfig := <-ready:
		if p.config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
			t.Fatal(err)
		}
		p.config.QPS = -1
	case err := <-p.exited:
		t.Fatalf("the program ended before it was ready: %v: %s", err, p.stderr)
	case <-time.After(60 * time.Second):
		t.Fatalf("the program was not ready within 60 s: %s", p.stderr)
	}
	return p
}

// stop sends a signal and returns how the process ended.
func (p *process) stop(t *testing.T, signal os.Signal) error {
	t.Helper()
	if err := p.command.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-p.exited:
		return err
	case <-time.After(30 * time.Second):
		t.Fatalf("the program did not end within 30 s of %s: %s", signal, p.stderr)
		return nil
	}
}

// fails runs the program, which has to end by itself within the time that a second process on a data directory has,
// and returns its exit code and what it wrote to stderr.
func fails(t *testing.T, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, program(t), args...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	err := command.Run()
	if ctx.Err() != nil {
		t.Fatalf("%v did not end within 15 s: %s", args, &stderr)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("%v: got %v, want a failure: %s", args, err, &stderr)
	}
	return exit.ExitCode(), stderr.String()
}

func (p *process) create(t *testing.T, name string) error {
	t.Helper()
	client, err := rest.HTTPClientFor(p.config)
	if err != nil {
		return err
	}
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name)
	response, err := client.Post(p.config.Host+"/api/v1/namespaces", jsonBody, strings.NewReader(body))
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusCreated {
		return fmt.Errorf("got %s", response.Status)
	}
	return nil
}

func TestProcessLife(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := start(t, dir)
	for path, want := range map[string]os.FileMode{dir: 0o700, dir + "/admin.kubeconfig": 0o600, dir + "/pki/ca.key": 0o600, dir + "/etcd": 0o700} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("mode of %s is %o, want %o", path, got, want)
		}
	}
	if err := p.create(t, "kept"); err != nil {
		t.Fatal(err)
	}
	ca := p.config.CAData
	if err := p.stop(t, syscall.SIGTERM); err != nil {
		t.Errorf("the program ended with %v after SIGTERM: %s", err, p.stderr)
	}
	if p.stderr.Len() > 0 {
		t.Errorf("the program is not quiet: %s", p.stderr)
	}

	p = start(t, dir)
	mustSend(t, call{config: p.config, method: http.MethodGet, path: "/api/v1/namespaces/kept"})
	if !bytes.Equal(ca, p.config.CAData) {
		t.Error("the second start made another CA")
	}
	if err := p.stop(t, os.Interrupt); err != nil {
		t.Errorf("the program ended with %v after SIGINT: %s", err, p.stderr)
	}
}

func TestProcessStopEndsWatches(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	watch := open(t, call{config: p.config, method: http.MethodGet, path: "/api/v1/namespaces?watch=true"})
	defer func() { _ = watch.Body.Close() }()
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, watch.Body)
		close(ended)
	}()
	if err := p.stop(t, syscall.SIGTERM); err != nil {
		t.Errorf("the program ended with %v: %s", err, p.stderr)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the watch did not end with the program")
	}
	if p.stderr.Len() > 0 {
		t.Errorf("the stop was not quiet: %s", p.stderr)
	}
}

func TestProcessKilledKeepsWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	acknowledged := make(chan int, 1)
	go func() {
		count := 0
		for p.create(t, fmt.Sprintf("n%d", count)) == nil {
			count++
		}
		acknowledged <- count
	}()
	time.Sleep(300 * time.Millisecond)
	_ = p.stop(t, syscall.SIGKILL)
	count := <-acknowledged
	if count == 0 {
		t.Fatal("nothing was written before the kill")
	}
	p = start(t, dir)
	list := mustSend(t, call{config: p.config, method: http.MethodGet, path: "/api/v1/namespaces"})
	names := map[string]bool{}
	for i := range list.field("items").([]any) {
		names[list.text(fmt.Sprintf("items.%d.metadata.name", i))] = true
	}
	for i := range count {
		if !names[fmt.Sprintf("n%d", i)] {
			t.Errorf("n%d of %d was acknowledged and is gone", i, count)
		}
	}
}

func TestProcessSecondOnOneDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	code, stderr := fails(t, "standalone", "--data-dir="+dir, "--secure-port=0")
	if code != 1 {
		t.Errorf("exit code is %d, want 1", code)
	}
	for _, want := range []string{dir, fmt.Sprint(p.command.Process.Pid)} {
		if !strings.Contains(stderr, want) {
			t.Errorf("the error does not name %s: %s", want, stderr)
		}
	}
	if lines := strings.Count(stderr, "\n"); lines != 1 {
		t.Errorf("got %d lines, want 1: %s", lines, stderr)
	}
	mustSend(t, call{config: p.config, method: http.MethodGet, path: "/readyz"})
}

func TestProcessRefusals(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	// The cases run when this function has returned.
	t.Cleanup(func() { _ = listener.Close() })
	_, port, err := net.SplitHostPort(listener.Addr().String())
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
		// want are patterns, one for each line but the last one of a usage error.
		want []string
	}{
		"the port is in use": {
			args: []string{"standalone", "--data-dir=" + t.TempDir(), "--secure-port=" + port}, code: 1,
			want: []string{`^error: 127\.0\.0\.1:` + port + ` is in use by another process: choose another --secure-port, or 0 for a free one$`},
		},
		"the data directory is below a file": {
			args: []string{"standalone", "--data-dir=" + file + "/data", "--secure-port=0"}, code: 1,
			want: []string{`^error: .*` + regexp.QuoteMeta(file) + `.*not a directory`},
		},
		"the data directory cannot be written": {
			args: []string{"standalone", "--data-dir=/proc/self/data", "--secure-port=0"}, code: 1,
			want: []string{`^error: .*/proc/self/data.*no such file or directory`},
		},
		"every bad flag is reported": {
			args: []string{"standalone", "--data-dir=", "--secure-port=70000", "--etcd-cafile=x", "--nonsense", "--max-requests-inflight=-1"}, code: 2,
			want: []string{
				`^error: unknown flag --nonsense$`, `^error: --data-dir must not be empty$`, `^error: --etcd-cafile is of no use without --etcd-servers$`,
				`^error: --max-requests-inflight can not be negative value$`, `^error: --secure-port 70000 must be between 0 and 65535, inclusive; 0 picks a free port$`,
				`^see: pinnace standalone --help$`,
			},
		},
		"a value of the wrong type": {
			args: []string{"standalone", "--secure-port=x", "--etcd-quota-bytes=1", "--data-dir=/x"}, code: 2,
			want: []string{
				`^error: invalid argument "x" for "--secure-port" flag: .*$`, `^error: --etcd-quota-bytes 1 is too small, must be at least 16777216 \(16 MiB\)$`,
				`^see: pinnace standalone --help$`,
			},
		},
		"arguments": {
			args: []string{"standalone", "now"}, code: 2,
			want: []string{`^error: no arguments are taken, got \["now"\]$`, `^see: pinnace standalone --help$`},
		},
		"an unknown command": {
			args: []string{"swim"}, code: 2,
			want: []string{`^error: unknown command "swim" for "pinnace"$`, `^see: pinnace --help$`},
		},
		"an external etcd that is not there": {
			args: []string{"standalone", "--data-dir=" + t.TempDir(), "--secure-port=0", "--etcd-servers=http://127.0.0.1:1", "--storage-initialization-timeout=2s"}, code: 1,
			want: []string{`^error: etcd at http://127\.0\.0\.1:1 is not ready: no answer within 2s \(--storage-initialization-timeout\): .*connection refused`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stderr := fails(t, test.args...)
			if code != test.code {
				t.Errorf("exit code is %d, want %d", code, test.code)
			}
			lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
			if len(lines) != len(test.want) {
				t.Fatalf("got %d lines, want %d:\n%s", len(lines), len(test.want), stderr)
			}
			for i, pattern := range test.want {
				if matched, err := regexp.MatchString(pattern, lines[i]); err != nil || !matched {
					t.Errorf("line %d is %q, want a match of %s", i, lines[i], pattern)
				}
			}
		})
	}
}

func TestProcessAllowsPrivileged(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--allow-privileged")
	mustSend(t, call{config: p.config, method: http.MethodPost, path: "/apis/apps/v1/namespaces/default/daemonsets", body: map[string]any{
		"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": map[string]any{"name": "agent"},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "x"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "x"}},
				"spec": map[string]any{"containers": []any{map[string]any{
					"name": "c", "image": "img:1", "securityContext": map[string]any{"privileged": true},
				}}},
			},
		},
	}})
}

func TestProcessVersion(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(program(t), "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`^pinnace +\S+\nkubernetes +v1\.37\.2\netcd +v3\.7\.3\ngo +go1\.\S+ \S+/\S+\n$`)
	if !want.Match(out) {
		t.Errorf("got %s", out)
	}
}
