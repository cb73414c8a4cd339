// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// makeRun is the command of README.md that starts the server. The test starts the program itself, to choose the port.
const makeRun = "make run"

// readmeDataDir is where makeRun keeps its data, relative to the folder that it runs in.
const readmeDataDir = ".pinnace"

// TestReadme does what README.md says, and gets what README.md shows.
func TestReadme(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "kubectl", "make", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("README.md isn't tested, for want of %s: %v", tool, err)
		}
	}
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := parseConsole(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) < 2 || steps[0].command != makeRun {
		t.Fatalf("README.md doesn't begin with %q and go on from there: %+v", makeRun, steps)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "artifacts", "examples"), os.DirFS(filepath.Join(root, "artifacts", "examples"))); err != nil {
		t.Fatal(err)
	}
	checkStep(t, "README.md", steps[0], makeRunOutput(t, root, dir, steps[0].output))
	outputs := runSession(t, dir, steps[1:])
	for i, step := range steps[1:] {
		checkStep(t, "README.md", step, outputs[i])
	}
	var left []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if diff := cmp.Diff([]string{readmeDataDir, "artifacts"}, left); diff != "" {
		t.Errorf("README.md doesn't tidy up its files (-want +got):\n%s", diff)
	}
}

// makeRunOutput starts the server that makeRun would start in dir, on a free port, and returns what makeRun would have
// printed by then: make's echo of its commands, then what the program prints. The server ends with the test.
func makeRunOutput(t *testing.T, root, dir, want string) string {
	t.Helper()
	dryRun := exec.CommandContext(t.Context(), "make", "--no-print-directory", "--dry-run", "-C", root, "run")
	dryRun.Env = environWithout("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "DATA_DIR", "RUN_FLAGS", "LDFLAGS")
	var problems bytes.Buffer
	dryRun.Stderr = &problems
	echo, err := dryRun.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", dryRun, err, &problems)
	}

	stdout, err := os.CreateTemp(t.TempDir(), "stdout")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdout.Close() }()
	var stderr bytes.Buffer
	command := exec.Command(program(t), "standalone", "--data-dir="+readmeDataDir, "--secure-port=0")
	command.Dir, command.Stdout, command.Stderr = dir, stdout, &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- command.Wait() }()
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-exited:
			if err != nil {
				t.Errorf("the server ended with %v: %s", err, &stderr)
			}
		case <-time.After(30 * time.Second):
			_ = command.Process.Kill()
			t.Error("the server did not end within 30 s")
		}
	})

	// The program prints all that it prints at once, when it is ready.
	lines := strings.Count(want, "\n")
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		printed, err := os.ReadFile(stdout.Name())
		if err != nil {
			t.Fatal(err)
		}
		got := string(echo) + string(printed)
		if strings.Count(got, "\n") >= lines {
			return got
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server did not print as many lines as README.md shows within 60 s (-want +got):\n%s", cmp.Diff(normalize(want), normalize(got)))
		}
	}
}

// runSession types the commands of steps into one bash, whose working directory is dir, and returns what each of them
// printed to stdout and stderr.
func runSession(t *testing.T, dir string, steps []consoleStep) []string {
	t.Helper()
	const end = "=== end of a step ==="
	var script strings.Builder
	for _, step := range steps {
		fmt.Fprintf(&script, "%s\nprintf '%s\\n'\n", step.command, end)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-c", "exec 2>&1 </dev/null\n"+script.String())
	command.Dir = dir
	// HOME, since kubectl caches discovery there by address, and ports are used again.
	command.Env = append(environWithout("KUBECONFIG", "HOME", "KUBECACHEDIR"), "HOME="+t.TempDir(), "TZ=UTC", "LC_ALL=C")
	command.WaitDelay = 10 * time.Second
	printed, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("the last command of README.md failed: %v", err)
	}
	outputs := strings.Split(string(printed), end+"\n")
	if len(outputs) != len(steps)+1 {
		t.Fatalf("got the outputs of %d of the %d commands of README.md:\n%s", len(outputs)-1, len(steps), printed)
	}
	return outputs[:len(steps)]
}

// environWithout returns the environment but for some variables.
func environWithout(names ...string) []string {
	var kept []string
next:
	for _, variable := range os.Environ() {
		for _, name := range names {
			if strings.HasPrefix(variable, name+"=") {
				continue next
			}
		}
		kept = append(kept, variable)
	}
	return kept
}

// consoleStep is a command in a console block of a document, and what the block shows of its output.
type consoleStep struct {
	// line is where the command stands, from 1.
	line            int
	command, output string
}

// parseConsole returns the commands of all console blocks of a Markdown document: lines that begin with "$ ", together
// with lines right after them that begin with "> ".
func parseConsole(text string) ([]consoleStep, error) {
	var steps []consoleStep
	inside, first, commandEnded := false, 0, false
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		command, isCommand := strings.CutPrefix(line, "$ ")
		more, continues := strings.CutPrefix(line, "> ")
		switch {
		case !inside:
			inside, first = line == "```console", len(steps)
		case line == "```":
			inside = false
		case isCommand:
			steps = append(steps, consoleStep{line: number, command: command})
			commandEnded = false
		case len(steps) == first:
			return nil, fmt.Errorf("line %d: a console block begins with no command: %q", number, line)
		case continues && !commandEnded:
			steps[len(steps)-1].command += "\n" + more
		default:
			steps[len(steps)-1].output += line + "\n"
			commandEnded = true
		}
	}
	if inside {
		return nil, fmt.Errorf("line %d: the last console block has no end", number)
	}
	return steps, nil
}

func checkStep(t *testing.T, page string, step consoleStep, got string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(normalize(step.output), "\n"), strings.Split(normalize(got), "\n")); diff != "" {
		t.Errorf("%s:%d: %s (-shown +printed):\n%s", page, step.line, step.command, diff)
	}
}

// normalize replaces what is different in each run, and drops white space at the ends of lines and of the text, which a
// document can't hold.
func normalize(text string) string {
	for _, volatile := range []struct{ pattern, replacement string }{
		{`ready after \d+\.\d\d s`, "ready after SECONDS s"},
		{`https://127\.0\.0\.1:\d+`, "https://127.0.0.1:PORT"},
		{`/\S*/\.pinnace`, "/FOLDER/.pinnace"},
		{`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"`, `"TIME"`},
		// The column AGE of a table, which is as wide as what is in it.
		{`(?m)(^.* )(AGE|(?:\d+m)?\d+s)(?: +|$)`, "${1}AGE "},
		{`(?m)[ \t]+$`, ""},
		{`\n+$`, ""},
	} {
		text = regexp.MustCompile(volatile.pattern).ReplaceAllString(text, volatile.replacement)
	}
	return text
}

func TestReadmeParsing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text    string
		want    []consoleStep
		wantErr string
	}{
		"commands with and without output": {
			text: "x\n```console\n$ a\n1\n\n2\n$ b\n```\n$ c\n```sh\n$ d\n```\n```console\n$ e\n5\n```\n",
			want: []consoleStep{{line: 3, command: "a", output: "1\n\n2\n"}, {line: 7, command: "b"}, {line: 14, command: "e", output: "5\n"}},
		},
		"a command of two lines, and output that looks like a third": {
			text: "```console\n$ a |\n> b\nc\n> d\n```\n",
			want: []consoleStep{{line: 2, command: "a |\nb", output: "c\n> d\n"}},
		},
		"output without a command": {text: "```console\n$ a\n```\n```console\nb\n```\n", wantErr: `line 5: a console block begins with no command: "b"`},
		"a block without an end":   {text: "```console\n$ a\n", wantErr: "line 2: the last console block has no end"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseConsole(test.text)
			gotErr := ""
			if err != nil {
				gotErr = err.Error()
			}
			if gotErr != test.wantErr {
				t.Errorf("error %q, want %q", gotErr, test.wantErr)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(consoleStep{})); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadmeNormalization(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		a, b string
		same bool
	}{
		"seconds, port and folder of a start": {
			"Pinnace is ready after 0.30 s, with etcd in /a/.pinnace/etcd.\n https://127.0.0.1:7443\n", "Pinnace is ready after 12.01 s, with etcd in /b/c/.pinnace/etcd.\n https://127.0.0.1:1\n", true,
		},
		"times":                       {`at: "2026-11-30T23:07:10Z"`, `at: "2027-01-02T03:04:05Z"`, true},
		"ages, and widths with them":  {"NAME   AGE   KIND\na      0s    b\n", "NAME   AGE    KIND\na      1m40s  b", true},
		"an age at the end of a line": {"NAME  AGE\na     3s\n", "NAME  AGE\na     12s\n", true},
		"white space at ends":         {"a \t\n\nb\n", "a\n\nb\n\n", true},
		"a column":                    {"NAME   AGE   KIND\na      0s    b\n", "NAME   AGE   KIND\na      0s    c\n", false},
		"a duration that isn't an age": {
			"NAME   AGE   DURATION\na      0s    24h\n", "NAME   AGE   DURATION\na      0s    12h\n", false,
		},
		"an empty line":   {"a\n\nb\n", "a\nb\n", false},
		"another address": {"https://127.0.0.1:1\n", "https://0.0.0.0:1\n", false},
		"another file":    {"/a/.pinnace/admin.kubeconfig\n", "/a/.pinnace/kubeconfig\n", false},
		"no time":         {`at: "2026-11-30T23:07:10Z"`, `at: null`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if a, b := normalize(test.a), normalize(test.b); (a == b) != test.same {
				t.Errorf("same is %t, want %t: %q, %q", a == b, test.same, a, b)
			}
		})
	}
}
