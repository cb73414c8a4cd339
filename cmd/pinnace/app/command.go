// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package app holds the commands of the pinnace program.
package app

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes: 1 for what went wrong while running, 2 for what the command line gets wrong.
const (
	exitFailure = 1
	exitUsage   = 2
)

// usageError is an error of the command line: the remedy is in the help text, not in the world.
type usageError struct {
	err error
}

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// Execute runs the command that args name until it is done or ctx ends, and returns the exit code of the process.
// An error is one line on stderr for each thing that is wrong.
func Execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		_, _ = fmt.Fprintf(stderr, "error: %s\n", line)
	}
	if isUsage(err) {
		_, _ = fmt.Fprintf(stderr, "see: %s --help\n", command.CommandPath())
		return exitUsage
	}
	return exitFailure
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "pinnace",
		Short: "An API server for CertificateSigningRequests and DaemonSets",
		Long: "Pinnace serves certificates.k8s.io/v1 CertificateSigningRequest and apps/v1 DaemonSet exactly as\n" +
			"kube-apiserver does, from one process, with etcd inside.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newStandalone(), newVersion())
	return root
}

// noArgs refuses arguments as an error of the command line.
func noArgs(cmd *cobra.Command, args []string) error {
	if err := cobra.NoArgs(cmd, args); err != nil {
		return usageError{err}
	}
	return nil
}
