// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/term"
)

// parse sets the flags that args hold and returns every mistake, not only the first one. help tells that the user
// asked for the help text.
func parse(sets cliflag.NamedFlagSets, args []string) (help bool, err error) {
	if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
		return true, nil
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	for _, name := range sets.Order {
		flags.AddFlagSet(sets.FlagSets[name])
	}
	var errs []error
	unknown := map[string]bool{}
	for {
		var values []error
		err := flags.ParseAll(args, func(flag *pflag.Flag, value string) error {
			if unknown[flag.Name] {
				return nil
			}
			// Set reports a bad value with the name of the flag; parsing goes on behind it.
			if err := flags.Set(flag.Name, value); err != nil {
				values = append(values, err)
			}
			return nil
		})
		var missing *pflag.NotExistError
		if errors.As(err, &missing) {
			// A flag that isn't there is reported, made known, and the line is read again.
			name := missing.GetSpecifiedName()
			errs = append(errs, fmt.Errorf("unknown flag --%s", name))
			unknown[name] = true
			flags.Bool(name, false, "")
			continue
		}
		if err != nil {
			errs = append(errs, err)
		}
		errs = append(errs, values...)
		break
	}
	// Behind an unknown flag a word may be its value, so it is no mistake of its own.
	if len(unknown) == 0 && flags.NArg() > 0 {
		errs = append(errs, fmt.Errorf("no arguments are taken, got %q", flags.Args()))
	}
	return false, errors.Join(errs...)
}

// printHelp prints the command's description and its flags in their sections.
func printHelp(cmd *cobra.Command, sets cliflag.NamedFlagSets) {
	cmd.Printf("%s\n\nUsage:\n  %s [flags]\n", cmd.Long, cmd.CommandPath())
	columns, _, err := term.TerminalSize(cmd.OutOrStdout())
	if err != nil {
		columns = 0
	}
	cliflag.PrintSections(cmd.OutOrStdout(), sets, columns)
}

func isUsage(err error) bool {
	var usage usageError
	return errors.As(err, &usage)
}
