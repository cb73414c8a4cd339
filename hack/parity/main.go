// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Command parity plays the parity corpus on kube-apiserver and on Pinnace, and compares the answers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/pinnace-io/pinnace/internal/kube"
	"github.com/pinnace-io/pinnace/internal/parity"
	"github.com/pinnace-io/pinnace/internal/parity/fuzz"
	"github.com/pinnace-io/pinnace/internal/parity/servers"
)

const (
	testdata = "internal/parity/testdata"
	// version is that of hack/kube/go.mod.
	version = "v1.37.2"
)

type flags struct {
	only                    string
	check, record, recorded bool
	workers                 int
	diffs                   string
	fuzz                    time.Duration
	seed                    uint64
}

func main() {
	var f flags
	flag.StringVar(&f.only, "only", "", "play scenarios that match this pattern, such as 'csr/create/*', alone, and print their differences")
	flag.BoolVar(&f.check, "check", false, "read the corpus and report mistakes, without a server")
	flag.BoolVar(&f.record, "record", false, "play on kube-apiserver alone and write its answers to "+testdata+"/recorded")
	flag.BoolVar(&f.recorded, "recorded", false, "take the answers of kube-apiserver from the recordings")
	flag.IntVar(&f.workers, "workers", 6, "how many scenarios are played at once")
	flag.StringVar(&f.diffs, "diffs", "bin/parity", "the directory for differences")
	flag.DurationVar(&f.fuzz, "fuzz", 0, "instead of the corpus, send random pod templates for so long")
	flag.Uint64Var(&f.seed, "seed", 0, "where --fuzz begins; 0 takes a seed from the clock, which is printed")
	flag.Parse()
	// The servers in this process are told wrong things all the time.
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // the program begins here
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "parity:", err)
		os.Exit(1) //nolint:gocritic // there is nothing left to stop
	}
}

func run(ctx context.Context, f flags) (err error) {
	since := time.Now()
	corpus, err := parity.Load(os.DirFS(testdata))
	if err != nil && f.only == "" {
		return err
	}
	if err != nil {
		fmt.Println("mistakes in the corpus, perhaps elsewhere:", err)
	}
	scenarios, exchanges := selected(corpus, f.only)
	fmt.Printf("%d scenarios, %d exchanges\n", len(scenarios), exchanges)
	if f.check {
		return nil
	}
	r := &parity.Run{Corpus: corpus, Scenarios: scenarios, Workers: f.workers, Recordings: filepath.Join(testdata, "recorded"), Progress: progress}
	if err := start(ctx, f, r); err != nil {
		return err
	}
	defer func() {
		for _, s := range []parity.Servers{r.Theirs, r.Ours} {
			if s != nil {
				err = errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
			}
		}
	}()
	if f.fuzz > 0 {
		return findDifferences(ctx, f, r)
	}
	results, err := r.Play(ctx)
	if err != nil {
		return err
	}
	if f.record {
		return record(r.Recordings, results)
	}
	return report(f, corpus, results, since)
}

func selected(corpus *parity.Corpus, only string) ([]*parity.Scenario, int) {
	var out []*parity.Scenario
	exchanges := 0
	for _, s := range corpus.Scenarios {
		if only != "" {
			if ok, err := path.Match(only, s.Name); (err != nil || !ok) && only != s.Name {
				continue
			}
		}
		out = append(out, s)
		exchanges += corpus.Count(s)
	}
	return out, exchanges
}

// start says which servers to use; they start when they are needed.
func start(ctx context.Context, f flags, r *parity.Run) error {
	assets, err := kube.Assets()
	if err != nil {
		return err
	}
	log := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	if !f.recorded {
		r.Theirs = &servers.Kube{Assets: assets, Log: log}
	}
	if f.record {
		return nil
	}
	program := filepath.Join("bin", "pinnace")
	log("building %s", program)
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/pinnace")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building pinnace: %w", err)
	}
	r.Ours = &servers.Pinnace{Program: program, Kubectl: filepath.Join(assets, "kubectl"), Etcd: servers.RealEtcd(assets), Log: log}
	return nil
}

// findDifferences runs the fuzzer on both servers.
func findDifferences(ctx context.Context, f flags, r *parity.Run) error {
	const namespace = "default"
	c := fuzz.Config{Namespace: namespace, Seed: f.seed, Duration: f.fuzz, Log: func(format string, args ...any) { fmt.Printf(format+"\n", args...) }}
	for servers, config := range map[parity.Servers]**rest.Config{r.Theirs: &c.Theirs, r.Ours: &c.Ours} {
		target, err := servers.Target(ctx, parity.DefaultProfile, false)
		if err != nil {
			return err
		}
		if *config, err = target.User("admin", "system:masters"); err != nil {
			return err
		}
	}
	findings, err := fuzz.Run(ctx, c)
	if err != nil {
		return err
	}
	for _, finding := range findings {
		fmt.Printf("\n%s\nkube-apiserver: %s\npinnace:        %s\n", finding.Object, finding.Theirs, finding.Ours)
	}
	if len(findings) > 0 {
		return fmt.Errorf("%d differences were found", len(findings))
	}
	return nil
}

func progress(done, all int, r parity.Result) {
	switch {
	case r.Err != nil:
		fmt.Printf("[%d/%d] %s could not be played: %v\n", done, all, r.Scenario.Name, r.Err)
	case done%20 == 0 || done == all:
		fmt.Printf("[%d/%d] %s\n", done, all, r.Scenario.Name)
	}
}

func record(dir string, results []parity.Result) error {
	var errs []error
	for _, r := range results {
		if r.Err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.Scenario.Name, r.Err))
			continue
		}
		errs = append(errs, parity.Record(dir, version, r.Scenario, r.Theirs))
	}
	return errors.Join(errs...)
}

func report(f flags, corpus *parity.Corpus, results []parity.Result, since time.Time) error {
	if f.only != "" {
		for _, r := range results {
			if r.Err != nil || len(r.Differences) > 0 {
				fmt.Println(r.Text())
			}
		}
	}
	corpus.WriteTable(os.Stdout, results)
	files, err := parity.WriteDifferences(f.diffs, results)
	if err != nil {
		return err
	}
	fmt.Printf("%d scenarios with differences, written to %s; %s\n", files, f.diffs, parity.Elapsed(since))
	if f.only == "" {
		for _, id := range corpus.Unused(results) {
			err = errors.Join(err, fmt.Errorf("explained.yaml: %q explains nothing; remove it", id))
		}
	}
	if n := parity.Unexplained(results); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d differences are not explained", n))
	}
	return err
}
