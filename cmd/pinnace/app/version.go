// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pinnace-io/pinnace/pkg/version"
)

func newVersion() *cobra.Command {
	var output string
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of Pinnace, Kubernetes and etcd in this binary",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printVersion(cmd, version.Get(), output)
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "", "Output format: json, or nothing for text.")
	return command
}

func printVersion(cmd *cobra.Command, info version.Info, output string) error {
	switch output {
	case "":
		cmd.Printf("pinnace     %s\n", info.Pinnace)
		cmd.Printf("kubernetes  %s\n", info.Kubernetes)
		cmd.Printf("etcd        %s\n", info.Etcd)
		cmd.Printf("go          %s %s\n", info.Go, info.Platform)
		return nil
	case "json":
		encoder := json.NewEncoder(cmd.OutOrStdout())
		encoder.SetIndent("", "  ")
		return encoder.Encode(info)
	default:
		return usageError{fmt.Errorf("--output %q is not a format, use json or nothing", output)}
	}
}
