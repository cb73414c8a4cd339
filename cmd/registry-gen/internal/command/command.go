// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package command is the command line of registry-gen: it finds the packages, and writes files or verifies them.
package command

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/generate"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/hub"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/render"
	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/source"
)

const (
	defaultHeaderFile = "hack/boilerplate/boilerplate.go.txt"
	// support is where generated code finds the hand-written packages that all resources share.
	support = "github.com/pinnace-io/pinnace/pkg"
	// mend is the command that regenerates everything.
	mend = "make update"
)

//go:embed boilerplate.go.txt
var defaultHeader string

// What these errors are about has been written out already.
var (
	errUsage = errors.New("usage")
	errStale = errors.New("generated files are stale")
)

// Main runs the command for the module of the working directory and returns its exit code: 0 for success, 1 for
// problems and stale files, 2 for a wrong command line.
func Main(args []string, stdout, stderr io.Writer) int {
	return command{stdout: stdout, stderr: stderr, types: hub.Load}.main(args)
}

// command is the outside world.
type command struct {
	stdout, stderr io.Writer
	types          func(paths []string) (*hub.Types, error)
}

func (c command) main(args []string) int {
	switch err := c.run(args); {
	case err == nil:
		return 0
	case errors.Is(err, errUsage):
		return 2
	case errors.Is(err, errStale):
		return 1
	default:
		fmt.Fprintln(c.stderr, err)
		return 1
	}
}

func (c command) run(args []string) error {
	o := options{}
	patterns, err := o.parse(args, c.stdout, c.stderr)
	if err != nil || o.help {
		return err
	}
	module, dirs, err := findPackages(patterns)
	if err != nil {
		return err
	}
	header, err := o.header(module.Dir)
	if err != nil {
		return err
	}
	output, err := generate.Run(generate.Input{
		Tree:        source.NewTree(os.DirFS(module.Dir), module.Path),
		Dirs:        dirs,
		Renderer:    render.Renderer{Header: header, Module: module.Path, Support: support},
		Types:       c.types,
		InstallOnly: o.installOnly,
	})
	if err != nil {
		return err
	}
	root := module.Dir
	if o.outputRoot != "" {
		root = filepath.Clean(o.outputRoot)
	}
	changes, err := compare(root, output)
	if err != nil {
		return err
	}
	if o.verify {
		return verify(changes, c.stdout)
	}
	return write(root, changes, c.stdout)
}

type options struct {
	help, verify, installOnly bool
	outputRoot, headerFile    string
}

func (o *options) parse(args []string, stdout, stderr io.Writer) ([]string, error) {
	flags := flag.NewFlagSet("registry-gen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprintln(stderr, "registry-gen --help tells more") }
	flags.BoolVar(&o.help, "help", false, "print this text")
	flags.BoolVar(&o.verify, "verify", false, "write nothing; list the files that are stale, and exit with 1 if there are any")
	flags.BoolVar(&o.installOnly, "install-only", false, "generate install code only, for which no strategies are needed")
	flags.StringVar(&o.outputRoot, "output-root", "", "write below this `directory` instead of the module's root")
	flags.StringVar(&o.headerFile, "go-header-file", "", "`file` with the comment at the top of generated files (default "+defaultHeaderFile+" of the module, or the header of this program where there is none)")
	if err := flags.Parse(args); err != nil {
		return nil, errUsage
	}
	if o.help {
		help(stdout, flags)
		return nil, nil
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(stderr, "registry-gen needs packages, such as ./pkg/apis/...")
		flags.Usage()
		return nil, errUsage
	}
	return flags.Args(), nil
}

func (o *options) header(moduleDir string) (string, error) {
	file := o.headerFile
	if file == "" {
		file = filepath.Join(moduleDir, defaultHeaderFile)
	}
	text, err := os.ReadFile(file)
	switch {
	case o.headerFile == "" && errors.Is(err, fs.ErrNotExist):
		return strings.TrimSpace(defaultHeader), nil
	case err != nil:
		return "", fmt.Errorf("could not read the header of generated files: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// module is the module that packages are in.
type module struct {
	Path, Dir string
}

// findPackages asks the go command for the directories of packages, relative to the root of their module.
func findPackages(patterns []string) (module, []string, error) {
	list := exec.Command("go", append([]string{"list", "-e", "-find", "-json=ImportPath,Dir,Module,Error", "--"}, patterns...)...)
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return module{}, nil, fmt.Errorf("could not list packages: %w: %s", err, strings.TrimSpace(stderr.String()))
	}

	var found module
	var dirs []string
	var errs []error
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg struct {
			ImportPath, Dir string
			Module          *module
			Error           *struct{ Err string }
		}
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return module{}, nil, fmt.Errorf("could not read the list of packages: %w", err)
		}
		switch {
		case pkg.Module == nil || pkg.Dir == "":
			errs = append(errs, fmt.Errorf("%s is not a package of this module: %s", pkg.ImportPath, reason(pkg.Error)))
			continue
		case found.Path != "" && found != *pkg.Module:
			errs = append(errs, fmt.Errorf("%s is in module %s, others are in %s; registry-gen works on one module", pkg.ImportPath, pkg.Module.Path, found.Path))
			continue
		}
		found = *pkg.Module
		dir, err := filepath.Rel(found.Dir, pkg.Dir)
		if err != nil {
			return module{}, nil, err
		}
		dirs = append(dirs, filepath.ToSlash(dir))
	}
	if len(errs) == 0 && len(dirs) == 0 {
		errs = append(errs, fmt.Errorf("%s match no packages", strings.Join(patterns, " ")))
	}
	return found, dirs, errors.Join(errs...)
}

func reason(e *struct{ Err string }) string {
	if e == nil {
		return "it belongs to no module"
	}
	return strings.Join(strings.Fields(e.Err), " ")
}

// change is a file that is not what it should be.
type change struct {
	// file is the path below the root.
	file string
	// is and should are the contents, nil for a file that does not exist or should not.
	is, should []byte
}

// compare returns what is to be changed below root, in the order of paths.
func compare(root string, output *generate.Output) ([]change, error) {
	var changes []change
	for file, should := range output.Files {
		is, err := os.ReadFile(filepath.Join(root, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || !bytes.Equal(is, should) {
			changes = append(changes, change{file: file, is: is, should: should})
		}
	}
	for _, file := range output.Orphans {
		is, err := os.ReadFile(filepath.Join(root, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue // below another root than the module's
		}
		if err != nil {
			return nil, err
		}
		changes = append(changes, change{file: file, is: is})
	}
	slices.SortFunc(changes, func(a, b change) int { return strings.Compare(a.file, b.file) })
	return changes, nil
}

// write makes the changes and names the files.
func write(root string, changes []change, stdout io.Writer) error {
	for _, c := range changes {
		target := filepath.Join(root, c.file)
		if c.should == nil {
			if err := os.Remove(target); err != nil {
				return err
			}
			removeEmpty(root, filepath.Dir(target))
			fmt.Fprintf(stdout, "removed %s\n", c.file)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, c.should, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "wrote %s\n", c.file)
	}
	return nil
}

// removeEmpty removes a directory below root and those above it as far as they are empty, which only os.Remove knows.
func removeEmpty(root, dir string) {
	for dir != root && os.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
}

// verify lists the changes that would be made.
func verify(changes []change, stdout io.Writer) error {
	if len(changes) == 0 {
		return nil
	}
	for _, c := range changes {
		switch {
		case c.should == nil:
			fmt.Fprintf(stdout, "%s: no declaration asks for it any more\n", c.file)
		case c.is == nil:
			fmt.Fprintf(stdout, "%s: is missing\n", c.file)
		default:
			fmt.Fprintf(stdout, "%s: differs\n%s", c.file, difference(string(c.is), string(c.should)))
		}
	}
	fmt.Fprintf(stdout, "%v; run: %s\n", errStale, mend)
	return errStale
}
