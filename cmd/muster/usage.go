package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/diag"
)

// flagError says in this project's words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var lacks *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	text := err.Error()
	switch {
	case errors.As(err, &unknown):
		text = unknownFlag(cmd, unknown)
	case errors.As(err, &lacks):
		what, usage := pflag.UnquoteUsage(lacks.GetFlag())
		text = fmt.Sprintf("flag needs a value: --%s %s, %s", lacks.GetFlag().Name, what, usage)
	case errors.As(err, &invalid):
		text = fmt.Sprintf("--%s %s: %s", invalid.GetFlag().Name, brief(invalid.GetValue()), wantedValue(invalid))
	case errors.As(err, &syntax):
		text = fmt.Sprintf("%s: a flag has a name, as --grid", syntax.GetSpecifiedFlag())
	}
	return fmt.Errorf("%s; see %s --help", text, cmd.CommandPath())
}

// wantedValue says what a flag takes, after a value that it does not.
func wantedValue(e *pflag.InvalidValueError) string {
	flag := e.GetFlag()
	var number *strconv.NumError
	tooLarge := errors.As(e, &number) && errors.Is(number.Err, strconv.ErrRange)
	switch typ := flag.Value.Type(); {
	case typ == "duration":
		return "want a time with its unit, as 90s, 10m or 1h30m"
	case typ == "bool":
		return "want true or false, or --" + flag.Name + " alone"
	case strings.HasPrefix(typ, "int") && tooLarge:
		return "the number is too large"
	case strings.HasPrefix(typ, "int") && number != nil:
		return "want a whole number, in digits"
	case typ == "stringSlice": // read as CSV
		return "want names with commas between them, and quotes only around a whole name"
	}
	return e.Unwrap().Error()
}

// flagAliases are what other tools call a flag.
var flagAliases = map[string]string{
	"griddim": "grid", "grid-dim": "grid", "blocks": "grid", "ctas": "grid", "num-ctas": "grid", "grid-size": "grid",
	"blockdim": "block", "block-dim": "block", "threads": "block", "block-size": "block", "num-threads": "block", "num-warps": "block",
	"clusterdim": "cluster", "cluster-dim": "cluster", "cluster-size": "cluster",
	"smem": "shared", "shared-mem": "shared", "shared-memory": "shared", "dynamic-shared": "shared", "dsmem": "shared",
	"param": "arg", "params": "arg", "argument": "arg", "arguments": "arg",
	"buf": "buffer", "array": "buffer", "tensor": "buffer", "input": "buffer", "in": "buffer",
	"entry": "kernel", "function": "kernel", "name": "kernel", "kernel-name": "kernel",
	"timeout": "limit-time", "time": "limit-time", "time-limit": "limit-time", "memory": "limit-memory", "max-memory": "limit-memory",
	"seed": "schedule", "threads-per-block": "block", "sm": "arch", "gpu": "arch", "target": "arch",
	"json": "format", "sarif": "format", "parallel": "jobs", "workers": "jobs", "suppress": "accept", "ignore": "accept",
	"out": "output", "o": "output",
}

// unknownFlag names a flag that is none, and the one that was likely meant.
func unknownFlag(cmd *cobra.Command, e *pflag.NotExistError) string {
	name, given := e.GetSpecifiedName(), "--"+e.GetSpecifiedName()
	if short := e.GetSpecifiedShortnames(); short != "" {
		given = "-" + short
		name, _, _ = strings.Cut(short, "=")
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	near := ""
	switch alias := flagAliases[strings.ToLower(name)]; {
	case slices.Contains(known, name): // with one dash
		near = name
	case slices.Contains(known, alias):
		near = alias
	case len(name) > 1:
		near = diag.Nearest(name, known)
	}
	if near != "" {
		near = "--" + near
		return fmt.Sprintf("unknown flag: %s%s", brief(given), diag.Meant(near))
	}
	var others []string
	for _, c := range cmd.Root().Commands() {
		if c != cmd && len(name) > 1 && c.Flags().Lookup(name) != nil {
			others = append(others, "muster "+c.Name())
		}
	}
	if len(others) > 0 {
		return fmt.Sprintf("unknown flag: %s; it is one of %s", brief(given), strings.Join(others, ", "))
	}
	return "unknown flag: " + brief(given)
}

// aLaunch is what commands take that run or check.
const aLaunch = "one launch file, or a .ptx or .cu"

// atMost is for commands that take a number of names, or fewer.
func atMost(n int, what string) cobra.PositionalArgs { return between(0, n, what) }

// exactly is for commands that take a number of names.
func exactly(n int, what string) cobra.PositionalArgs { return between(n, n, what) }

// atLeast is for commands that take a number of names, or more.
func atLeast(n int, what string) cobra.PositionalArgs { return between(n, -1, what) }

// between checks how many names a command gets; most is -1 for any number.
func between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s needs %s; see %s --help", cmd.CommandPath(), what, cmd.CommandPath())
		case most < 0 || len(args) <= most:
			return nil
		case most == 0:
			return fmt.Errorf("%s takes no names, and %q is one; see %s --help", cmd.CommandPath(), brief(args[0]), cmd.CommandPath())
		}
		var list []string
		for _, a := range args[:min(len(args), 8)] {
			list = append(list, brief(a))
		}
		return fmt.Errorf("%s takes %s, not %d: %s; see %s --help", cmd.CommandPath(), what, len(args), strings.Join(list, ", "), cmd.CommandPath())
	}
}

// commandAliases are what other tools call a command.
var commandAliases = map[string]string{
	"analyze": "check", "analyse": "check", "verify": "check", "lint": "check", "test": "check", "race": "check", "racecheck": "check", "synccheck": "check", "memcheck": "check", "prove": "check",
	"execute": "run", "exec": "run", "simulate": "run", "launch": "run",
	"doc": "explain", "describe": "explain", "why": "explain", "kinds": "explain", "list": "explain",
	"format": "fmt", "print": "fmt", "parse": "fmt", "record": "capture", "trace": "capture", "profile": "capture",
	"extract": "import", "unpack": "import", "cuobjdump": "import", "shrink": "reduce", "minimize": "reduce", "minimise": "reduce",
	"new": "init", "generate": "init", "create": "init", "mutants": "mutate", "mutation": "mutate", "mbarrier": "barrier", "herd": "litmus", "herd7": "litmus", "dartagnan": "litmus", "join": "merge", "repeat": "replay", "rerun": "replay",
}

// unknownCommand says which command was likely meant.
func unknownCommand(root *cobra.Command, args []string) error {
	name := ""
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			name = a
			break
		}
	}
	if slices.Contains([]string{".yaml", ".yml", ".json", ".ptx", ".cu"}, filepath.Ext(name)) {
		return fmt.Errorf("%q is no command; 'muster check %s' checks it", brief(name), brief(name))
	}
	var known []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			known = append(known, c.Name())
		}
	}
	near := commandAliases[strings.ToLower(name)]
	if near == "" {
		near = diag.Nearest(name, known)
	}
	return fmt.Errorf("unknown command %q%s; see muster --help", brief(name), diag.Meant(near))
}

// helps makes the commands that the library adds say what they do not know: they would
// print their usage and call that a success.
func helps(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Run = nil
			c.RunE = func(_ *cobra.Command, args []string) error {
				of, _, err := root.Find(args)
				if err != nil {
					return unknownCommand(root, args)
				}
				of.InitDefaultHelpFlag()
				return of.Help()
			}
		case "completion":
			c.Args = cobra.ArbitraryArgs
			c.RunE = func(c *cobra.Command, args []string) error {
				if len(args) == 0 {
					return c.Help()
				}
				var known []string
				for _, shell := range c.Commands() {
					known = append(known, shell.Name())
				}
				return fmt.Errorf("no completion is known for %q; there are %s", brief(args[0]), strings.Join(known, ", "))
			}
		}
	}
}
