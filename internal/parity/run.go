// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Servers starts servers as they are needed. Stop ends all.
type Servers interface {
	// Target returns the server of a profile, one whose data can be reached when etcd is set.
	Target(ctx context.Context, profile string, etcd bool) (*Target, error)
	Stop(ctx context.Context) error
}

// Result is the outcome of a scenario.
type Result struct {
	Scenario *Scenario
	// Theirs and Ours are normalized, and as many unless Err says otherwise.
	Theirs, Ours []Exchange
	Differences  map[int][]Difference // by exchange, of those that differ
	// Took is how long it took to play.
	Took time.Duration
	Err  error
}

// Run is what to play and how.
type Run struct {
	Corpus    *Corpus
	Scenarios []*Scenario
	// Theirs is kube-apiserver; nil takes the answers from the recordings in Recordings.
	Theirs     Servers
	Recordings string
	// Ours is Pinnace; nil plays theirs alone.
	Ours Servers
	// Workers is how many scenarios run at once.
	Workers int
	// Progress is told about each scenario that has ended.
	Progress func(done, all int, r Result)
}

// Play plays the scenarios: first, several at once, those that don't mind others, then the rest one by one.
func (r *Run) Play(ctx context.Context) ([]Result, error) {
	results := make([]Result, len(r.Scenarios))
	queue := make(chan int)
	var wait sync.WaitGroup
	var mu sync.Mutex
	done := 0
	play := func(i int) {
		since := time.Now()
		results[i] = r.scenario(ctx, r.Scenarios[i])
		results[i].Took = time.Since(since)
		mu.Lock()
		defer mu.Unlock()
		if done++; r.Progress != nil {
			r.Progress(done, len(results), results[i])
		}
	}
	for range r.Workers {
		wait.Go(func() {
			for i := range queue {
				play(i)
			}
		})
	}
	for i, s := range r.Scenarios {
		if !s.Alone {
			queue <- i
		}
	}
	close(queue)
	wait.Wait()
	for i, s := range r.Scenarios {
		if s.Alone {
			play(i)
		}
	}
	return results, ctx.Err()
}

// scenario plays one scenario on both sides at once.
func (r *Run) scenario(ctx context.Context, s *Scenario) Result {
	out := Result{Scenario: s, Differences: map[int][]Difference{}}
	var theirsErr, oursErr error
	var wait sync.WaitGroup
	wait.Go(func() {
		if r.Theirs == nil {
			out.Theirs, theirsErr = Recorded(r.Recordings, s)
			return
		}
		out.Theirs, theirsErr = r.on(ctx, r.Theirs, s)
	})
	if r.Ours != nil {
		wait.Go(func() { out.Ours, oursErr = r.on(ctx, r.Ours, s) })
	}
	wait.Wait()
	if out.Err = errors.Join(theirsErr, oursErr); out.Err != nil || r.Ours == nil {
		return out
	}
	if len(out.Theirs) != len(out.Ours) {
		out.Err = fmt.Errorf("%d exchanges on one side, %d on the other; if the scenario was changed: make parity-record", len(out.Theirs), len(out.Ours))
		return out
	}
	for i := range out.Ours {
		if out.Theirs[i].Name != out.Ours[i].Name {
			out.Err = fmt.Errorf("exchange %d is %q on one side and %q on the other; if the scenario was changed: make parity-record",
				i+1, out.Theirs[i].Name, out.Ours[i].Name)
			return out
		}
		if differences := r.Corpus.Compare(s, out.Theirs[i], out.Ours[i]); len(differences) > 0 {
			out.Differences[i] = differences
		}
	}
	return out
}

func (r *Run) on(ctx context.Context, servers Servers, s *Scenario) ([]Exchange, error) {
	target, err := servers.Target(ctx, s.Profile, s.NeedsEtcd())
	if err != nil {
		return nil, err
	}
	if s.Alone {
		if err := target.Clear(ctx); err != nil {
			return nil, err
		}
	}
	exchanges, err := r.Corpus.Play(ctx, s, target)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", target.Name, err)
	}
	s.Normalize(exchanges)
	return exchanges, nil
}

// explained tells whether all of the differences are.
func explained(differences []Difference) bool {
	return !slices.ContainsFunc(differences, func(d Difference) bool { return d.Explanation == "" })
}

// Unexplained counts the exchanges with a difference that nothing explains, and the scenarios that could not be played.
func Unexplained(results []Result) int {
	n := 0
	for _, r := range results {
		if r.Err != nil {
			n++
		}
		for _, differences := range r.Differences {
			if !explained(differences) {
				n++
			}
		}
	}
	return n
}

// Unused returns the explanations that no result needed.
func (c *Corpus) Unused(results []Result) []string {
	used := map[string]bool{}
	for _, r := range results {
		for _, differences := range r.Differences {
			for _, d := range differences {
				used[d.Explanation] = true
			}
		}
	}
	var out []string
	for _, e := range c.Explained {
		if !used[e.ID] {
			out = append(out, e.ID)
		}
	}
	return out
}

type count struct{ cases, same, different, explained, failed int }

func (c *count) add(r Result) {
	if r.Err != nil {
		c.failed++
		return
	}
	c.cases += len(r.Ours)
	c.same += len(r.Ours) - len(r.Differences)
	for _, differences := range r.Differences {
		if explained(differences) {
			c.explained++
		} else {
			c.different++
		}
	}
}

// WriteTable writes the report: a line for each row of the served surface. An exchange counts for every row that its
// scenario names, and once in the total.
func (c *Corpus) WriteTable(out io.Writer, results []Result) {
	counts := map[string]*count{}
	var total count
	for _, r := range results {
		total.add(r)
		for _, row := range r.Scenario.Rows {
			if counts[row] == nil {
				counts[row] = &count{}
			}
			counts[row].add(r)
		}
	}
	line := func(title string, n count) {
		failed := ""
		if n.failed > 0 {
			failed = fmt.Sprintf("  %d scenarios failed", n.failed)
		}
		fmt.Fprintf(out, "  %-62s %6d %6d %10d %10d%s\n", title, n.cases, n.same, n.different, n.explained, failed)
	}
	fmt.Fprintf(out, "  %-62s %6s %6s %10s %10s\n", "", "cases", "same", "different", "explained")
	for _, section := range c.Sections {
		fmt.Fprintln(out, section.Name)
		for _, row := range section.Rows {
			if n := counts[row.ID]; n != nil {
				line(row.Title, *n)
			} else {
				line(row.Title, count{})
			}
		}
	}
	line("All, each once", total)
}

// WriteDifferences writes a file for each scenario that has one, and returns how many.
func WriteDifferences(dir string, results []Result) (int, error) {
	if err := os.RemoveAll(dir); err != nil {
		return 0, err
	}
	n := 0
	for _, r := range results {
		if r.Err == nil && len(r.Differences) == 0 {
			continue
		}
		n++
		path := recordPath(dir, r.Scenario)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a report
			return n, err
		}
		if err := os.WriteFile(path, []byte(r.Text()), 0o644); err != nil { //nolint:gosec // the same
			return n, err
		}
	}
	return n, nil
}

// Text shows the differences of a result so that they can be read.
func (r *Result) Text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s\n", r.Scenario.Name, r.Scenario.Shows)
	if r.Err != nil {
		fmt.Fprintf(&out, "could not be played: %v\n", r.Err)
	}
	for i, e := range r.Ours {
		differences := r.Differences[i]
		if len(differences) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n%s%s\n> %s\n", exchangeMark, e.Name, oneLine(e.Request))
		for _, d := range differences {
			where := d.Path
			if d.Explanation != "" {
				where += "  (explained: " + d.Explanation + ")"
			}
			fmt.Fprintf(&out, "%s\n%s%s", where, prefixed("  kube-apiserver  ", d.Theirs), prefixed("  pinnace         ", d.Ours))
		}
	}
	return out.String()
}

func prefixed(prefix, text string) string {
	var out strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i == 30 {
			out.WriteString(prefix + "…\n")
			break
		}
		out.WriteString(prefix + clip(line, 1000) + "\n")
	}
	return out.String()
}

// Elapsed is a duration as the report shows it.
func Elapsed(since time.Time) time.Duration { return time.Since(since).Round(100 * time.Millisecond) }
