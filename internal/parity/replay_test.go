// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package parity_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"k8s.io/klog/v2"

	"github.com/pinnace-io/pinnace/internal/kube"
	"github.com/pinnace-io/pinnace/internal/parity"
	"github.com/pinnace-io/pinnace/internal/parity/servers"
)

const (
	recordings = "testdata/recorded"
	// workers is how many scenarios are played at once: most of them wait most of the time.
	workers = 12
)

func load(t *testing.T) *parity.Corpus {
	t.Helper()
	corpus, err := parity.Load(os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	return corpus
}

// TestReplay plays the whole corpus on Pinnace and compares with what kube-apiserver answered when it was recorded.
// Scenarios of kubectl need a kubectl: the variable KUBECTL names one, or it is in the directory of kube.Assets.
func TestReplay(t *testing.T) {
	if _, err := os.Stat(recordings); err != nil {
		t.Skip("nothing is recorded: make parity-record, which takes minutes")
	}
	klog.SetLogger(logr.Discard())
	corpus := load(t)
	kubectl := os.Getenv("KUBECTL")
	if assets, err := kube.Assets(); kubectl == "" && err == nil {
		kubectl = filepath.Join(assets, "kubectl")
	}
	scenarios := corpus.Scenarios
	if kubectl == "" {
		scenarios = slices.DeleteFunc(slices.Clone(scenarios), (*parity.Scenario).NeedsKubectl)
		t.Logf("there is no kubectl, see make kube-binaries: %d scenarios are left out", len(corpus.Scenarios)-len(scenarios))
	}
	program := filepath.Join(t.TempDir(), "pinnace")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/pinnace").CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, output)
	}
	ours := &servers.Pinnace{Program: program, Kubectl: kubectl, Etcd: startEtcd, Log: t.Logf}
	defer func() {
		if err := ours.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	run := &parity.Run{Corpus: corpus, Scenarios: scenarios, Recordings: recordings, Ours: ours, Workers: workers}
	results, err := run.Play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exchanges := 0
	for _, r := range results {
		exchanges += len(r.Ours)
		if parity.Unexplained([]parity.Result{r}) > 0 {
			t.Error(r.Text())
		}
	}
	slices.SortFunc(results, func(a, b parity.Result) int { return int(b.Took - a.Took) })
	for _, r := range results[:min(5, len(results))] {
		t.Logf("%s took %s", r.Scenario.Name, r.Took)
	}
	t.Logf("%d exchanges of %d scenarios", exchanges, len(scenarios))
}

// startEtcd starts an etcd of this process that listens on the loopback interface.
func startEtcd(ctx context.Context) (*clientv3.Client, func(context.Context) error, error) {
	dir, err := os.MkdirTemp("", "parity-etcd-")
	if err != nil {
		return nil, nil, err
	}
	config := embed.NewConfig()
	config.Dir = dir
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config.ListenClientUrls, config.AdvertiseClientUrls = anyPort, anyPort
	config.ListenPeerUrls, config.AdvertisePeerUrls = anyPort, anyPort
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, nil, err
	}
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(30 * time.Second):
		return nil, nil, fmt.Errorf("etcd was not ready within 30 s")
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + server.Clients[0].Addr().String()}, Logger: zap.NewNop()})
	if err != nil {
		return nil, nil, err
	}
	return client, func(context.Context) error {
		defer server.Close()
		return client.Close()
	}, nil
}

func TestCorpusIsLargeAndReachesEveryRow(t *testing.T) {
	t.Parallel()
	corpus := load(t)
	exchanges := 0
	reached := map[string]int{}
	for _, s := range corpus.Scenarios {
		n := corpus.Count(s)
		exchanges += n
		for _, row := range s.Rows {
			reached[row] += n
		}
	}
	if exchanges < 1500 {
		t.Errorf("there are %d exchanges", exchanges)
	}
	for _, section := range corpus.Sections {
		for _, row := range section.Rows {
			if reached[row.ID] == 0 {
				t.Errorf("no scenario is about %s (%s)", row.ID, row.Title)
			}
		}
	}
}

// Recordings without a scenario would never be played.
func TestEveryRecordingHasAScenario(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(recordings); err != nil {
		t.Skip("nothing is recorded")
	}
	var want, got []string
	for _, s := range load(t).Scenarios {
		want = append(want, filepath.Join(recordings, filepath.FromSlash(s.Name)+".txt"))
	}
	err := filepath.WalkDir(recordings, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			got = append(got, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("recordings (-of scenarios +there); make parity-record writes them:\n%s", diff)
	}
}

func TestDocumentListsEveryExplanation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/parity.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, e := range load(t).Explained {
		want = append(want, e.ID)
		for _, sentence := range []string{e.Reason, e.Better} {
			if !strings.Contains(string(text), sentence) {
				t.Errorf("docs/parity.md does not have this of %s: %s", e.ID, sentence)
			}
		}
	}
	for _, match := range regexp.MustCompile("(?m)^### `([a-z0-9-]+)`").FindAllStringSubmatch(string(text), -1) {
		got = append(got, match[1])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("explanations (-in explained.yaml +in docs/parity.md):\n%s", diff)
	}
}
