// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/term"
)

// parse sets the flags that args hold and returns every mistake, not only the first one. help tells that the user
// asked for the help text.
func parse(sets cliflag.NamedFlagSets, args []string) (help bool, err error) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.BoolVarP(&help, "help", "h", false, "")
	for _, name := range sets.Order {
		flags.AddFlagSet(sets.FlagSets[name])
	}
	var errs []error
	unknown := map[string]bool{}
	for {
		values, err := setAll(flags, unknown, args)
		if err == nil {
			// Behind a flag that can't be read a word may be its value, so it is no mistake of its own.
			if len(errs) == 0 && flags.NArg() > 0 {
				values = append(values, fmt.Errorf("no arguments are taken, got %q", flags.Args()))
			}
			errs = append(errs, values...)
			break
		}
		// pflag stops at what it can't read: that is reported and left out, and the line is read again.
		var missing *pflag.NotExistError
		var syntax *pflag.InvalidSyntaxError
		switch {
		case errors.As(err, &syntax):
			errs = append(errs, err)
			args = without(args, func(arg string) bool { return arg == syntax.GetSpecifiedFlag() })
			continue
		case errors.As(err, &missing) && missing.GetSpecifiedShortnames() != "":
			group := missing.GetSpecifiedShortnames()
			errs = append(errs, fmt.Errorf("unknown flag -%s", group))
			args = without(args, func(arg string) bool { return isShorthands(arg) && strings.HasSuffix(arg, group) })
			continue
		case errors.As(err, &missing):
			name := missing.GetSpecifiedName()
			errs = append(errs, fmt.Errorf("unknown flag --%s", name))
			unknown[name] = true
			flags.Bool(name, false, "")
			continue
		}
		// What is left is a last flag without its value.
		errs = append(append(errs, err), values...)
		break
	}
	return help, errors.Join(errs...)
}

// setAll sets the flags of args but the unknown ones. It returns the errors of their values, and the one of the first
// argument that can't be read.
func setAll(flags *pflag.FlagSet, unknown map[string]bool, args []string) (values []error, err error) {
	err = flags.ParseAll(args, func(flag *pflag.Flag, value string) error {
		if unknown[flag.Name] {
			return nil
		}
		// Set reports a bad value with the name of the flag; parsing goes on behind it.
		if err := flags.Set(flag.Name, value); err != nil {
			values = append(values, err)
		}
		return nil
	})
	return values, err
}

// without returns args without the first one that is unwanted.
func without(args []string, unwanted func(string) bool) []string {
	i := slices.IndexFunc(args, unwanted)
	if i < 0 {
		return nil // cannot be: the parser has just read it
	}
	return slices.Delete(slices.Clone(args), i, i+1)
}

// isShorthands tells whether arg is a group of one-letter flags.
func isShorthands(arg string) bool {
	return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--")
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
