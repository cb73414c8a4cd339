// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

// parsed are the values of the flags of the tests below.
type parsed struct {
	Name   string
	Number int
	Names  []string
	On     bool
	Level  int
}

// toySets are two sections of flags.
func toySets(values *parsed) cliflag.NamedFlagSets {
	var sets cliflag.NamedFlagSets
	first := sets.FlagSet("first")
	first.StringVar(&values.Name, "name", "", "a name")
	first.IntVar(&values.Number, "number", 0, "a number")
	first.StringSliceVar(&values.Names, "names", nil, "names")
	second := sets.FlagSet("second")
	second.BoolVar(&values.On, "on", false, "on or off")
	second.IntVarP(&values.Level, "level", "v", 0, "a level")
	return sets
}

func TestParse(t *testing.T) {
	t.Parallel()
	const badNumber = `invalid argument "x" for "--number" flag: strconv.ParseInt: parsing "x": invalid syntax`
	tests := map[string]struct {
		args []string
		want parsed
		help bool
		// mistakes are the lines of the error.
		mistakes []string
	}{
		"nothing": {},
		"flags of both sections": {
			args: []string{"--name=a", "--number", "7", "--names=a,b", "--names=c", "--on", "-v", "4"},
			want: parsed{Name: "a", Number: 7, Names: []string{"a", "b", "c"}, On: true, Level: 4},
		},
		"help":                               {args: []string{"--help"}, help: true},
		"help by its letter":                 {args: []string{"-h"}, help: true},
		"help beside mistakes":               {args: []string{"--odd", "-h", "--number=x"}, help: true, mistakes: []string{"unknown flag --odd", badNumber}},
		"help as the value of a flag":        {args: []string{"--name", "--help"}, want: parsed{Name: "--help"}},
		"help behind the end of the flags":   {args: []string{"--", "--help"}, mistakes: []string{`no arguments are taken, got ["--help"]`}},
		"an argument":                        {args: []string{"now"}, mistakes: []string{`no arguments are taken, got ["now"]`}},
		"arguments between flags":            {args: []string{"now", "--on", "then"}, want: parsed{On: true}, mistakes: []string{`no arguments are taken, got ["now" "then"]`}},
		"an argument and a bad value":        {args: []string{"now", "--number=x"}, mistakes: []string{badNumber, `no arguments are taken, got ["now"]`}},
		"an unknown flag":                    {args: []string{"--odd"}, mistakes: []string{"unknown flag --odd"}},
		"an unknown flag with a value":       {args: []string{"--odd=1", "--name=a"}, want: parsed{Name: "a"}, mistakes: []string{"unknown flag --odd"}},
		"an unknown flag with a value apart": {args: []string{"--odd", "1", "--name=a"}, want: parsed{Name: "a"}, mistakes: []string{"unknown flag --odd"}},
		"an unknown flag twice":              {args: []string{"--odd", "--odd=2"}, mistakes: []string{"unknown flag --odd"}},
		"several unknown flags":              {args: []string{"--odd", "--on", "--even"}, want: parsed{On: true}, mistakes: []string{"unknown flag --odd", "unknown flag --even"}},
		"an unknown letter":                  {args: []string{"-x", "--name=a"}, want: parsed{Name: "a"}, mistakes: []string{"unknown flag -x"}},
		"an unknown letter twice":            {args: []string{"-x", "-x"}, mistakes: []string{"unknown flag -x", "unknown flag -x"}},
		"an unknown letter with a value":     {args: []string{"-x=1", "1"}, mistakes: []string{"unknown flag -x=1"}},
		"an unknown letter behind a known one": {
			args: []string{"-hx"}, help: true, mistakes: []string{"unknown flag -x"},
		},
		"an unknown letter that is none of ASCII": {args: []string{"-é"}, mistakes: []string{"unknown flag -é"}},
		"a letter of a flag that has no letter":   {args: []string{"-name=a"}, mistakes: []string{"unknown flag -name=a"}},
		"a flag without a name":                   {args: []string{"--=1", "---on", "--name=a"}, want: parsed{Name: "a"}, mistakes: []string{"bad flag syntax: --=1", "bad flag syntax: ---on"}},
		"a bad value":                             {args: []string{"--number=x", "--name=a"}, want: parsed{Name: "a"}, mistakes: []string{badNumber}},
		"several bad values": {
			args:     []string{"--number=x", "--on=perhaps"},
			mistakes: []string{badNumber, `invalid argument "perhaps" for "--on" flag: strconv.ParseBool: parsing "perhaps": invalid syntax`},
		},
		"a flag without its value":   {args: []string{"--on", "--name"}, want: parsed{On: true}, mistakes: []string{"flag needs an argument: --name"}},
		"a letter without its value": {args: []string{"-v"}, mistakes: []string{"flag needs an argument: 'v' in -v"}},
		"everything at once": {
			args:     []string{"-x", "--=1", "--odd", "1", "--number=x", "--even=2", "--name"},
			mistakes: []string{"unknown flag -x", "bad flag syntax: --=1", "unknown flag --odd", "unknown flag --even", "flag needs an argument: --name", badNumber},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := strings.Join(test.args, " ")
			var got parsed
			help, err := parse(toySets(&got), test.args)
			if help != test.help {
				t.Errorf("help is %t, want %t", help, test.help)
			}
			var mistakes []string
			if err != nil {
				mistakes = strings.Split(err.Error(), "\n")
			}
			if diff := cmp.Diff(test.mistakes, mistakes); diff != "" {
				t.Errorf("mistakes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			if after := strings.Join(test.args, " "); after != before {
				t.Errorf("the arguments were changed: %s", after)
			}
		})
	}
}

// Whatever is on the command line, parsing comes to an end and leaves nothing unsaid.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "--on", "-x -x", "--=", "--- --odd 1", "-é", "-vx --name", "--number=x now", "-h=", "- --", "-x -xx -vxx"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > 200 {
			t.Skip("nobody types that")
		}
		args := strings.Split(line, " ")
		_, err := parse(toySets(&parsed{}), args)
		// The library finds the first mistake, if there is one.
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.BoolP("help", "h", false, "")
		sets := toySets(&parsed{})
		for _, name := range sets.Order {
			flags.AddFlagSet(sets.FlagSets[name])
		}
		library := flags.Parse(args)
		if wrong := library != nil || flags.NArg() > 0; wrong != (err != nil) {
			t.Errorf("error is %v; the library says %v, and has arguments %q", err, library, flags.Args())
		}
	})
}
