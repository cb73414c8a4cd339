// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/pinnace-io/pinnace/pkg/server"
	"github.com/pinnace-io/pinnace/pkg/server/options"
)

// readyTimeout is how long a server may take until it is ready before its start has failed.
const readyTimeout = time.Minute

func newStandalone() *cobra.Command {
	command := &cobra.Command{
		Use:   "standalone",
		Short: "Serve alone, with etcd inside and certificates of its own",
		Long: "Serve alone: etcd runs inside (or outside, with --etcd-servers), the server makes its own certificate\n" +
			"authority, and <data-dir>/admin.kubeconfig is the way in. Only holders of a certificate of that authority\n" +
			"in the group system:masters may do anything; everyone may see health and version.",
		// Flags are parsed by parse, which finds every mistake where the library stops at the first.
		DisableFlagParsing: true,
	}
	command.RunE = func(cmd *cobra.Command, args []string) error {
		o, err := options.NewStandalone()
		if err != nil {
			return err
		}
		flags := sections(o)
		help, err := parse(flags, args)
		if help {
			printHelp(cmd, flags)
			return nil
		}
		completed, completeErr := o.Complete()
		if completeErr == nil {
			completeErr = completed.Validate()
		}
		if err := errors.Join(err, completeErr); err != nil {
			return usageError{err}
		}
		if err := applyLogs(o.Logs, cmd.ErrOrStderr()); err != nil {
			return err
		}
		return runStandalone(cmd.Context(), completed, cmd.OutOrStdout())
	}
	// cobra knows nothing of the flags, and would help without them.
	command.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		o, err := options.NewStandalone()
		if err != nil {
			cmd.PrintErrln(err)
			return
		}
		printHelp(cmd, sections(o))
	})
	return command
}

// sections are the flags of o in the sections of the help text.
func sections(o *options.Options) cliflag.NamedFlagSets {
	var sets cliflag.NamedFlagSets
	o.AddFlags(&sets)
	return sets
}

// runStandalone serves until ctx ends and tells, on out, how to use what it serves as soon as it is ready.
func runStandalone(ctx context.Context, o options.CompletedOptions, out io.Writer) error {
	started := time.Now()
	utilfeature.DefaultMutableFeatureGate.AddMetrics()
	// The server is its own client; warnings that it would send itself help nobody.
	rest.SetDefaultWarningHandler(rest.NoWarnings{})

	config, err := server.NewConfig(ctx, o)
	if err != nil {
		return err
	}
	s, err := server.New(ctx, config.Complete())
	if err != nil {
		return err
	}
	kubeconfig, err := s.WriteKubeconfig(o.KubeconfigPath())
	if err != nil {
		return errors.Join(err, s.Close(ctx))
	}

	ctx, stop := context.WithCancelCause(ctx)
	var waiting sync.WaitGroup
	defer waiting.Wait() // out is the caller's again when this function returns
	defer stop(nil)
	waiting.Go(func() {
		ready, cancel := context.WithTimeout(ctx, readyTimeout)
		defer cancel()
		err := s.WaitReady(ready)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			stop(err)
		default:
			printReady(out, s, kubeconfig, time.Since(started))
		}
	})
	return s.Run(ctx)
}

func printReady(out io.Writer, s *server.Server, kubeconfig string, took time.Duration) {
	_, _ = fmt.Fprintf(out, `Pinnace is ready after %.2f s, with %s.

  address     %s
  kubeconfig  %s

Try it, in another terminal:

  export KUBECONFIG=%s
  kubectl api-resources
  kubectl create namespace demo
  kubectl get csr,daemonsets --all-namespaces
`, took.Seconds(), s.StorageName(), s.URL(), kubeconfig, kubeconfig)
}
