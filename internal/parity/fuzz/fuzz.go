// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

const (
	workers       = 4
	progressEvery = 5 * time.Second
	// shrinkTries bounds the requests that one difference may cost.
	shrinkTries = 1500
	// sameAtMost is how many cases of what looks like the same difference are made small.
	sameAtMost = 2
	// repeats is how often an object is sent again before its answers count as different: where an object breaks rules
	// for several keys of a map, a server tells them in any order.
	repeats = 8
)

// Config is what to compare and for how long.
type Config struct {
	Ours, Theirs *rest.Config
	// Namespace exists on both servers.
	Namespace string
	// Seed decides all cases. Zero takes one from the clock.
	Seed     uint64
	Duration time.Duration
	Log      func(string, ...any)
}

// Finding is an object that the servers answer differently.
type Finding struct {
	Object       []byte // YAML
	Ours, Theirs string // status, warnings and body
}

// run is one run of the fuzzer.
type run struct {
	Config
	ours, theirs *server

	mu                        sync.Mutex
	next                      uint64
	cases, refused, differing int
	seen                      map[string]int
	findings                  []Finding
}

// Run sends random DaemonSets until the time is over, and returns what was answered differently: small objects, each kind
// of difference about once. A case depends on seed and number alone. The error is of a server that doesn't answer.
func Run(ctx context.Context, c Config) ([]Finding, error) {
	if c.Seed == 0 {
		c.Seed = uint64(time.Now().UnixNano()) //nolint:gosec // any number will do
	}
	if c.Log == nil {
		c.Log = func(string, ...any) {}
	}
	r := &run{Config: c, seen: map[string]int{}}
	var err error
	if r.ours, err = newServer(c.Ours, c.Namespace); err != nil {
		return nil, err
	}
	if r.theirs, err = newServer(c.Theirs, c.Namespace); err != nil {
		return nil, err
	}
	c.Log("seed %d", c.Seed)
	// What is being made small when the time is over is finished, hence two contexts.
	timed, cancel := context.WithTimeout(ctx, c.Duration)
	defer cancel()
	err = r.work(ctx, timed)
	r.report()
	return r.findings, err
}

func (r *run) work(ctx, timed context.Context) error {
	errs := make([]error, workers)
	var wait sync.WaitGroup
	for i := range workers {
		wait.Go(func() {
			for timed.Err() == nil && errs[i] == nil {
				errs[i] = r.one(ctx, r.number())
			}
		})
	}
	done := make(chan struct{})
	go func() {
		wait.Wait()
		close(done)
	}()
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.report()
		case <-done:
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return errors.Join(errs...)
		}
	}
}

func (r *run) number() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	return r.next
}

func (r *run) report() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Log("%d cases, %d%% refused, %d answered differently, %d findings", r.cases, percent(r.refused, r.cases), r.differing, len(r.findings))
}

func percent(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return part * 100 / whole
}

// one plays a case.
func (r *run) one(ctx context.Context, n uint64) error {
	object := Generate(r.Seed, n)
	ours, theirs, different, err := r.compare(ctx, object)
	if err != nil {
		return err
	}
	if !r.count(ours, theirs, different) {
		return nil
	}
	small := shrink(object, shrinkTries, func(candidate map[string]any) bool {
		_, _, different, err := r.compare(ctx, candidate)
		return err == nil && different
	})
	if ours, theirs, _, err = r.compare(ctx, small); err != nil {
		return err
	}
	text, err := yaml.Marshal(small)
	if err != nil {
		return fmt.Errorf("case %d: %w", n, err)
	}
	r.add(n, Finding{Object: text, Ours: ours.text(), Theirs: theirs.text()})
	return nil
}

// count notes the answers and says whether they show a difference that is worth a closer look.
func (r *run) count(ours, theirs answer, different bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cases++
	if theirs.code >= 400 {
		r.refused++
	}
	if !different {
		return false
	}
	r.differing++
	kind := kindOfDifference(ours.text(), theirs.text())
	r.seen[kind]++
	return r.seen[kind] <= sameAtMost
}

func (r *run) add(n uint64, f Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := "small: " + kindOfDifference(f.Ours, f.Theirs)
	if r.seen[key]++; r.seen[key] > 1 {
		return
	}
	r.findings = append(r.findings, f)
	r.Log("case %d of seed %d is answered differently:\n%s", n, r.Seed, f.Object)
}

// compare sends an object until an answer of the one server was one of the other's too, or often enough.
func (r *run) compare(ctx context.Context, object map[string]any) (ours, theirs answer, different bool, err error) {
	fromOurs, fromTheirs := map[answer]bool{}, map[answer]bool{}
	for range 1 + repeats {
		if ours, theirs, err = r.ask(ctx, object); err != nil {
			return ours, theirs, false, err
		}
		fromOurs[ours], fromTheirs[theirs] = true, true
		if fromOurs[theirs] || fromTheirs[ours] {
			return ours, theirs, false, nil
		}
	}
	return ours, theirs, true, nil
}

// ask sends an object to both servers at once.
func (r *run) ask(ctx context.Context, object map[string]any) (ours, theirs answer, err error) {
	var oursErr, theirsErr error
	var wait sync.WaitGroup
	wait.Go(func() { ours, oursErr = r.ours.create(ctx, object) })
	wait.Go(func() { theirs, theirsErr = r.theirs.create(ctx, object) })
	wait.Wait()
	return ours, theirs, errors.Join(oursErr, theirsErr)
}

// kindOfDifference is the first pair of lines that differ, without what differs from case to case.
func kindOfDifference(ours, theirs string) string {
	digits := regexp.MustCompile(`[0-9]+`)
	quoted := regexp.MustCompile(`\\"[^"]*\\"`)
	a, b := strings.Split(ours, "\n"), strings.Split(theirs, "\n")
	for i := range max(len(a), len(b)) {
		var left, right string
		if i < len(a) {
			left = a[i]
		}
		if i < len(b) {
			right = b[i]
		}
		if left != right {
			return quoted.ReplaceAllString(digits.ReplaceAllString(left+" / "+right, "0"), "…")
		}
	}
	return ""
}
