// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/rest"

	"github.com/pinnace-io/pinnace/pkg/envtest"
)

// observed is a server alone in its process, as far as we start it: metrics and profiles are the process's.
func observed(t *testing.T) *rest.Config {
	t.Helper()
	if shared.foreign {
		return shared.config
	}
	return start(t, t.TempDir()).config
}

// eventually calls check until it returns "", and fails with what it returned last when that takes longer than half a
// minute.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		problem := check()
		if problem == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(problem)
		}
	}
}

// checks are what health is made of. kube-apiserver has more of them, since it has more parts.
var checks = map[string][]string{
	"livez": {
		"ping", "log", "loopback-serving-certificate", "etcd", "poststarthook/start-apiserver-admission-initializer",
		"poststarthook/start-system-namespaces-controller", "poststarthook/generic-apiserver-start-informers", "poststarthook/max-in-flight-filter",
		"poststarthook/storage-object-count-tracker-hook", "poststarthook/storage-readiness",
	},
	"healthz": {
		"ping", "log", "loopback-serving-certificate", "etcd", "poststarthook/start-apiserver-admission-initializer",
		"poststarthook/start-system-namespaces-controller", "poststarthook/generic-apiserver-start-informers", "poststarthook/max-in-flight-filter",
		"poststarthook/storage-object-count-tracker-hook", "poststarthook/storage-readiness",
	},
	"readyz": {
		"ping", "log", "etcd", "etcd-readiness", "poststarthook/start-apiserver-admission-initializer",
		"poststarthook/start-system-namespaces-controller", "poststarthook/generic-apiserver-start-informers", "informer-sync", "poststarthook/max-in-flight-filter",
		"poststarthook/storage-object-count-tracker-hook", "poststarthook/storage-readiness", "shutdown",
	},
}

// ours are the checks that only a server of ours has.
var ours = []string{"poststarthook/max-in-flight-filter"}

func TestHealthVerbose(t *testing.T) {
	t.Parallel()
	for endpoint, names := range checks {
		t.Run(endpoint, func(t *testing.T) {
			t.Parallel()
			a := mustSend(t, call{method: http.MethodGet, path: "/" + endpoint + "?verbose", accept: "*/*"}, http.StatusOK)
			if got := a.header.Get("Content-Type"); got != "text/plain; charset=utf-8" {
				t.Errorf("content type is %s", got)
			}
			var want []string
			for _, name := range names {
				if !shared.foreign || !slices.Contains(ours, name) {
					want = append(want, "[+]"+name+" ok")
				}
			}
			want = append(want, endpoint+" check passed")
			got := strings.Split(strings.TrimSpace(string(a.raw)), "\n")
			if shared.foreign {
				// The checks of parts that we don't have are in between.
				got = slices.DeleteFunc(got, func(line string) bool { return !slices.Contains(want, line) })
				slices.Sort(got)
				slices.Sort(want)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("checks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		path string
		code int
		// want are patterns; each has to match.
		want []string
	}{
		"alive":                      {path: "/livez", code: 200, want: []string{`^ok$`}},
		"ready":                      {path: "/readyz", code: 200, want: []string{`^ok$`}},
		"healthy":                    {path: "/healthz", code: 200, want: []string{`^ok$`}},
		"one check":                  {path: "/livez/etcd", code: 200, want: []string{`^ok$`}},
		"one check in detail":        {path: "/livez/etcd?verbose", code: 200, want: []string{`^ok$`}},
		"one check of readiness":     {path: "/readyz/etcd-readiness", code: 200, want: []string{`^ok$`}},
		"a check that is a hook":     {path: "/readyz/poststarthook/storage-readiness", code: 200, want: []string{`^ok$`}},
		"liveness has no readiness":  {path: "/livez/etcd-readiness", code: 404, want: []string{`^404 page not found\n$`}},
		"a check that isn't there":   {path: "/livez/odd", code: 404, want: []string{`^404 page not found\n$`}},
		"without one check":          {path: "/readyz?exclude=etcd&verbose", code: 200, want: []string{`(?m)^\[\+\]etcd excluded: ok$`, `(?m)^\[\+\]etcd-readiness ok$`, `readyz check passed\n$`}},
		"without two checks":         {path: "/livez?exclude=etcd&exclude=ping&verbose", code: 200, want: []string{`(?m)^\[\+\]ping excluded: ok$`, `(?m)^\[\+\]etcd excluded: ok$`}},
		"without one, not in detail": {path: "/livez?exclude=etcd", code: 200, want: []string{`^ok$`}},
		"without a check that isn't there": {
			path: "/livez?exclude=odd&verbose", code: 200,
			want: []string{`(?m)^\[\+\]etcd ok$`, `warn: some health checks cannot be excluded: no matches for "odd"\nlivez check passed\n$`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := mustSend(t, call{method: http.MethodGet, path: test.path, accept: "*/*"}, test.code)
			for _, want := range test.want {
				if !regexp.MustCompile(want).Match(a.raw) {
					t.Errorf("got %q, want a match of %s", a.raw, want)
				}
			}
		})
	}
}

// gate is a way to an etcd that can be shut.
type gate struct {
	address, target string

	mu          sync.Mutex
	listener    net.Listener
	connections []net.Conn
}

// newGate opens a way to the endpoint of an etcd.
func newGate(t *testing.T, endpoint string) *gate {
	t.Helper()
	g := &gate{address: "127.0.0.1:0", target: strings.TrimPrefix(endpoint, "http://")}
	g.open(t)
	t.Cleanup(g.shut)
	return g
}

func (g *gate) open(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", g.address)
	if err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	g.listener, g.address = listener, listener.Addr().String()
	g.mu.Unlock()
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", g.target)
			if err != nil {
				_ = in.Close()
				continue
			}
			g.mu.Lock()
			g.connections = append(g.connections, in, out)
			g.mu.Unlock()
			go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
			go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
		}
	}()
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = g.listener.Close()
	for _, connection := range g.connections {
		_ = connection.Close()
	}
	g.connections = nil
}

// An etcd that goes away makes the server unhealthy, not unreachable, and it recovers by itself.
func TestHealthWithoutEtcd(t *testing.T) {
	t.Parallel()
	onlyPinnace(t, "the test starts a server over an etcd that it can cut off")
	g := newGate(t, startEtcd(t).Endpoints()[0])
	config := startEnvironment(t, &envtest.Environment{Args: []string{"--etcd-servers=http://" + g.address}})
	get := func(path string) answer {
		return send(t, call{config: config, method: http.MethodGet, path: path, accept: "*/*"})
	}

	g.shut()
	for endpoint, failing := range map[string][]string{"livez": {"etcd"}, "healthz": {"etcd"}, "readyz": {"etcd", "etcd-readiness"}} {
		eventually(t, func() string {
			a := get("/" + endpoint)
			if a.code != http.StatusInternalServerError {
				return fmt.Sprintf("/%s answers %d: %s", endpoint, a.code, a.raw)
			}
			for _, check := range failing {
				if want := "[-]" + check + " failed: reason withheld\n"; !strings.Contains(string(a.raw), want) {
					return fmt.Sprintf("/%s answers %s, want %s", endpoint, a.raw, want)
				}
			}
			if want := endpoint + " check failed\n"; !strings.HasSuffix(string(a.raw), want) {
				return fmt.Sprintf("/%s answers %s, want %s", endpoint, a.raw, want)
			}
			return ""
		})
	}
	if a := get("/livez/ping"); a.code != http.StatusOK {
		t.Errorf("/livez/ping answers %d: %s", a.code, a.raw)
	}
	if a := get("/livez?exclude=etcd"); a.code != http.StatusOK || string(a.raw) != "ok" {
		t.Errorf("without the check of etcd /livez answers %d: %s", a.code, a.raw)
	}
	if a := get("/livez/etcd"); a.code != http.StatusInternalServerError || !strings.Contains(string(a.raw), "internal server error: ") {
		t.Errorf("/livez/etcd answers %d: %s", a.code, a.raw)
	}

	g.open(t)
	eventually(t, func() string {
		if a := get("/readyz"); a.code != http.StatusOK {
			return fmt.Sprintf("/readyz answers %d with etcd back: %s", a.code, a.raw)
		}
		return ""
	})
	mustSend(t, call{config: config, method: http.MethodGet, path: "/api/v1/namespaces"})
}

// While a server waits for its clients to leave, it is alive and serves, but asks for no new ones.
func TestHealthWhileStopping(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--shutdown-delay-duration=5s")
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		a := send(t, call{config: p.config, method: http.MethodGet, path: "/readyz", accept: "*/*"})
		if a.code != http.StatusInternalServerError || !strings.Contains(string(a.raw), "[-]shutdown failed: reason withheld\n") {
			return fmt.Sprintf("/readyz answers %d: %s", a.code, a.raw)
		}
		return ""
	})
	mustSend(t, call{config: p.config, method: http.MethodGet, path: "/livez", accept: "*/*"})
	mustSend(t, call{config: p.config, method: http.MethodGet, path: "/api/v1/namespaces"})
	select {
	case err := <-p.exited:
		if err != nil {
			t.Errorf("the program ended with %v: %s", err, p.stderr)
		}
	case <-time.After(30 * time.Second):
		t.Errorf("the program did not end: %s", p.stderr)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/version", "/version/"} {
		a := mustSend(t, call{method: http.MethodGet, path: path}, http.StatusOK)
		for field, want := range map[string]string{
			"major": "1", "minor": "37", "emulationMajor": "1", "emulationMinor": "37", "minCompatibilityMajor": "1", "minCompatibilityMinor": "36",
		} {
			if got := a.text(field); got != want {
				t.Errorf("%s: %s is %s, want %s", path, field, got, want)
			}
		}
		if got := a.text("gitVersion"); !shared.foreign && !regexp.MustCompile(`^v1\.37\.2\+pinnace-[0-9A-Za-z.-]+$`).MatchString(got) {
			t.Errorf("%s: gitVersion is %s, want v1.37.2 with our own version behind it", path, got)
		}
	}
}

// metrics are the samples of /metrics by their names with labels.
func metrics(t *testing.T, config *rest.Config) map[string]float64 {
	t.Helper()
	a := mustSend(t, call{config: config, method: http.MethodGet, path: "/metrics", accept: "*/*"}, http.StatusOK)
	if got := a.header.Get("Content-Type"); !strings.HasPrefix(got, "text/plain; version=0.0.4") {
		t.Errorf("content type is %s", got)
	}
	samples := map[string]float64{}
	scanner := bufio.NewScanner(bytes.NewReader(a.raw))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		line := scanner.Text()
		end := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || end < 0 {
			continue
		}
		value, err := strconv.ParseFloat(line[end+1:], 64)
		if err != nil {
			t.Fatalf("%s is no sample: %v", line, err)
		}
		samples[line[:end]] = value
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return samples
}

// total adds the samples of a metric whose labels include all of labels.
func total(samples map[string]float64, metric string, labels ...string) (sum float64, found bool) {
	for sample, value := range samples {
		name, rest, _ := strings.Cut(sample, "{")
		if name != metric {
			continue
		}
		if !slices.ContainsFunc(labels, func(label string) bool { return !strings.Contains(rest, label) }) {
			sum, found = sum+value, true
		}
	}
	return sum, found
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	config := observed(t)
	created := []string{`code="201"`, `resource="namespaces"`, `verb="POST"`, `version="v1"`}
	before := metrics(t, config)
	mustSend(t, call{config: config, method: http.MethodPost, path: "/api/v1/namespaces", body: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": unique("metrics")},
	}}, http.StatusCreated)
	mustSend(t, call{config: config, method: http.MethodGet, path: "/api/v1/namespaces"})
	after := metrics(t, config)

	for name, test := range map[string]struct {
		metric string
		labels []string
	}{
		"requests":             {metric: "apiserver_request_total", labels: created},
		"their latency":        {metric: "apiserver_request_duration_seconds_count", labels: []string{`resource="namespaces"`, `verb="POST"`}},
		"requests to etcd":     {metric: "etcd_requests_total", labels: []string{`operation="create"`, `namespaces`}},
		"the latency of those": {metric: "etcd_request_duration_seconds_count", labels: []string{`operation="create"`, `namespaces`}},
	} {
		earlier, _ := total(before, test.metric, test.labels...)
		later, _ := total(after, test.metric, test.labels...)
		// Other tests may make namespaces of a foreign server at the same time.
		if grown := later - earlier; grown < 1 || (!shared.foreign && grown != 1) {
			t.Errorf("%s: %s of %v has grown from %g to %g, want by one", name, test.metric, test.labels, earlier, later)
		}
	}
	for _, metric := range []string{
		"apiserver_storage_size_bytes", "process_start_time_seconds", "process_resident_memory_bytes", "go_goroutines",
		"apiserver_current_inflight_requests", "apiserver_watch_cache_events_received_total", "apiserver_cache_list_total",
		"apiserver_audit_event_total", "apiserver_tls_handshake_errors_total", "authenticated_user_requests", "workqueue_depth",
		"apiserver_resource_objects", "apiserver_response_sizes_count", "apiserver_storage_objects",
	} {
		if _, found := total(after, metric); !found {
			t.Errorf("there is no %s", metric)
		}
	}
	if size, _ := total(after, "apiserver_storage_size_bytes"); size < 4096 {
		t.Errorf("the database has %g bytes, want at least a page", size)
	}
	// A request that asks for nothing that is served is counted as well.
	send(t, call{config: config, method: http.MethodGet, path: "/api/v1/namespaces/" + unique("gone")})
	if count, _ := total(metrics(t, config), "apiserver_request_total", `code="404"`, `resource="namespaces"`, `verb="GET"`); count < 1 {
		t.Error("a 404 is not counted")
	}
}

// The metrics of health are what service levels are computed from.
func TestHealthMetrics(t *testing.T) {
	t.Parallel()
	config := observed(t)
	mustSend(t, call{config: config, method: http.MethodGet, path: "/readyz", accept: "*/*"})
	a := mustSend(t, call{config: config, method: http.MethodGet, path: "/metrics/slis", accept: "*/*"}, http.StatusOK)
	for _, check := range []string{"ping", "etcd", "etcd-readiness", "poststarthook/storage-readiness"} {
		if want := fmt.Sprintf("kubernetes_healthcheck{name=%q,type=\"readyz\"} 1\n", check); !strings.Contains(string(a.raw), want) {
			t.Errorf("there is no %s", want)
		}
	}
}

func TestAudit(t *testing.T) {
	t.Parallel()
	onlyPinnace(t, "the test starts a server with flags")
	dir := t.TempDir()
	policy, log := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "audit.log")
	if err := os.WriteFile(policy, []byte(`apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: RequestResponse, verbs: [create], resources: [{group: "", resources: [namespaces]}]}
- {level: Metadata, verbs: [get], resources: [{group: "", resources: [namespaces]}]}
- {level: None}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	config := startEnvironment(t, &envtest.Environment{Args: []string{"--audit-policy-file=" + policy, "--audit-log-path=" + log}})
	body := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "audited"}}
	created := mustSend(t, call{config: config, method: http.MethodPost, path: "/api/v1/namespaces", body: body}, http.StatusCreated)
	read := mustSend(t, call{config: config, method: http.MethodGet, path: "/api/v1/namespaces/audited"}, http.StatusOK)
	listed := mustSend(t, call{config: config, method: http.MethodGet, path: "/api/v1/namespaces"}, http.StatusOK)

	// The log is written before an answer is sent.
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	events := map[string]auditv1.Event{}
	for line := range strings.Lines(string(data)) {
		var event auditv1.Event
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("%s is no event: %v", line, err)
		}
		events[string(event.AuditID)] = event
	}
	event := events[created.header.Get("Audit-Id")]
	want := auditv1.Event{
		Level: auditv1.LevelRequestResponse, Stage: auditv1.StageResponseComplete, Verb: "create", RequestURI: "/api/v1/namespaces",
		ObjectRef: &auditv1.ObjectReference{Resource: "namespaces", Name: "audited", APIVersion: "v1"},
	}
	got := auditv1.Event{Level: event.Level, Stage: event.Stage, Verb: event.Verb, RequestURI: event.RequestURI, ObjectRef: event.ObjectRef}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event of the creation (-want +got):\n%s", diff)
	}
	if event.User.Username != "kubernetes-admin" || !slices.Contains(event.User.Groups, "system:masters") || event.ResponseStatus == nil || event.ResponseStatus.Code != 201 {
		t.Errorf("event of the creation has user %v and status %v", event.User, event.ResponseStatus)
	}
	if event.RequestObject == nil || event.ResponseObject == nil || !bytes.Contains(event.ResponseObject.Raw, []byte(created.text("metadata.uid"))) {
		t.Errorf("event of the creation has no objects: %+v", event)
	}
	if event := events[read.header.Get("Audit-Id")]; event.Level != auditv1.LevelMetadata || event.Verb != "get" || event.ResponseObject != nil {
		t.Errorf("event of the reading is %+v, want metadata alone", event)
	}
	if event, ok := events[listed.header.Get("Audit-Id")]; ok {
		t.Errorf("an event was written against the policy: %+v", event)
	}
}

// collector takes what is sent in the OpenTelemetry protocol, by the names of its methods.
type collector struct {
	mu       sync.Mutex
	received map[string][]byte
}

func (c *collector) handle(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	// The fields of the request are unknown to this message, which keeps them.
	var request emptypb.Empty
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	c.mu.Lock()
	c.received[method] = append(c.received[method], request.ProtoReflect().GetUnknown()...)
	c.mu.Unlock()
	return stream.SendMsg(&emptypb.Empty{})
}

func TestTracing(t *testing.T) {
	t.Parallel()
	onlyPinnace(t, "the test starts a server with flags")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{received: map[string][]byte{}}
	receiver := grpc.NewServer(grpc.UnknownServiceHandler(c.handle))
	go func() { _ = receiver.Serve(listener) }()
	t.Cleanup(receiver.Stop)
	file := filepath.Join(t.TempDir(), "tracing.yaml")
	configuration := fmt.Sprintf("apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: %s\nsamplingRatePerMillion: 1000000\n", listener.Addr())
	if err := os.WriteFile(file, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	config := startEnvironment(t, &envtest.Environment{Args: []string{"--tracing-config-file=" + file}})
	name := unique("traced")
	mustSend(t, call{config: config, method: http.MethodPost, path: "/api/v1/namespaces", body: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}, http.StatusCreated)
	// Spans are sent in batches, one every five seconds.
	eventually(t, func() string {
		c.mu.Lock()
		defer c.mu.Unlock()
		spans := c.received["/opentelemetry.proto.collector.trace.v1.TraceService/Export"]
		for _, want := range []string{"apiserver", "/api/v1/namespaces", "Create etcd3"} {
			if !bytes.Contains(spans, []byte(want)) {
				return fmt.Sprintf("no span with %q was received in %d bytes", want, len(spans))
			}
		}
		return ""
	})
}

func TestTracingConfigurationIsValidated(t *testing.T) {
	t.Parallel()
	onlyPinnace(t, "the test starts a server with flags")
	file := filepath.Join(t.TempDir(), "tracing.yaml")
	if err := os.WriteFile(file, []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nsamplingRatePerMillion: 1000001\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ flag, want string }{
		"a rate out of range": {
			flag: "--tracing-config-file=" + file,
			want: "--tracing-config-file: failed to validate tracing configuration: ",
		},
		"a file that isn't there": {
			flag: "--tracing-config-file=/nonexistent",
			want: "--tracing-config-file: tracing-config-file /nonexistent does not exist",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			environment := &envtest.Environment{Args: []string{test.flag}}
			if _, err := environment.Start(t.Context()); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error is %v, want one that begins with %s", err, test.want)
			}
		})
	}
}

func TestProfiling(t *testing.T) {
	t.Parallel()
	onlyPinnace(t, "kube-apiserver has profiling on by default")
	profiled := startEnvironment(t, &envtest.Environment{Args: []string{"--profiling=true"}})
	for name, test := range map[string]struct {
		config *rest.Config
		path   string
		code   int
		want   string
	}{
		"off by default":              {config: shared.config, path: "/debug/pprof/", code: 404},
		"off by default: one profile": {config: shared.config, path: "/debug/pprof/goroutine?debug=1", code: 404},
		"off by default: verbosity":   {config: shared.config, path: "/debug/flags/v", code: 404},
		"on":                          {config: profiled, path: "/debug/pprof/", code: 200, want: "Types of profiles available"},
		"on: one profile":             {config: profiled, path: "/debug/pprof/goroutine?debug=1", code: 200, want: "goroutine profile: total"},
		"on for administrators alone": {config: rest.AnonymousClientConfig(profiled), path: "/debug/pprof/", code: 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := mustSend(t, call{config: test.config, method: http.MethodGet, path: test.path, accept: "*/*"}, test.code)
			if !strings.Contains(string(a.raw), test.want) {
				t.Errorf("got %s, want %s", a.raw, test.want)
			}
		})
	}
}
