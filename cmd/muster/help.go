package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/diag"
)

// A helpGroup is what one wants, with the commands or flags for that.
type helpGroup struct {
	title string
	names []string
}

// commandGroups order the commands in the help. What no group has comes last.
var commandGroups = []helpGroup{
	{"Check a kernel", []string{"check", "run", "mutate", "merge"}},
	{"Understand a finding", []string{"explain", "replay", "view", "reduce"}},
	{"Get a kernel in", []string{"init", "import", "capture"}},
	{"Look up, and play", []string{"barrier", "coverage", "fmt"}},
	{"For agents and editors", []string{"mcp", "lsp"}},
}

// flagGroups order the flags of every command. What no group has comes first: it is the
// command's own.
var flagGroups = []helpGroup{
	{"The launch, over the keys of a launch file", []string{"grid", "block", "cluster", "preferred-cluster", "co-resident", "cooperative", "shared", "registers", "maxrregcount", "kernel", "buffer", "variable", "arg", "expect", "accept", "assume", "launch"}},
	{"Its code", []string{"ptx", "link", "arch", "nvcc-flag"}},
	{"Exploring", []string{"schedules", "steps", "preemptions", "jobs", "shard", "state", "values"}},
	{"Limits", []string{"limit-time", "limit-memory", "limit-instrs", "limit-local"}},
	{"The answer", []string{"format", "brief", "first", "all", "baseline", "fail-on", "schedule-dir", "trace", "profile", "picture", "quiet", "help"}},
}

// helpWidth is how wide help is.
const helpWidth = 80

// teach gives a command and those below it their help.
func teach(root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n", flowed(strings.TrimSpace(cmd.Long)))
		writeUsage(cmd.OutOrStdout(), cmd)
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		writeUsage(cmd.OutOrStderr(), cmd)
		return nil
	})
}

// flowed breaks the paragraphs of a text to the width of help. Lines that are indented stay.
func flowed(text string) string {
	var out, paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			out = append(out, diag.Wrap(strings.Join(paragraph, " "), helpWidth, helpWidth)...)
			paragraph = nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == ' ' {
			end()
			out = append(out, line)
			continue
		}
		paragraph = append(paragraph, line)
	}
	end()
	return strings.Join(out, "\n")
}

func writeUsage(w io.Writer, cmd *cobra.Command) {
	fmt.Fprint(w, "Usage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(w, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s COMMAND\n", cmd.CommandPath())
		writeCommands(w, cmd)
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", strings.TrimRight(cmd.Example, "\n"))
	}
	cmd.InheritedFlags() // adds those of the parents
	for _, g := range groupedFlags(cmd.Flags()) {
		fmt.Fprintf(w, "\n%s:\n", g.title)
		g.flags.VisitAll(func(f *pflag.Flag) { writeFlag(w, f) })
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n'%s COMMAND --help' tells more about a command.\n", cmd.CommandPath())
	}
}

// flagColumn is where the texts of flags begin.
const flagColumn = 28

// writeFlag writes a flag and its text, which begins on the next line if the flag is long.
func writeFlag(w io.Writer, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	left, text := flagText(f)
	if f.Shorthand != "" {
		left = "  -" + f.Shorthand + ", " + left
	} else {
		left = "      " + left
	}
	for i, line := range diag.Wrap(text, helpWidth-flagColumn, helpWidth-flagColumn) {
		if i == 0 && utf8.RuneCountInString(left) > flagColumn-2 {
			fmt.Fprintln(w, left)
			left = ""
		}
		fmt.Fprintf(w, "%-*s%s\n", flagColumn, left, line)
		left = ""
	}
}

// flagText returns a flag with the name of its value, and what it says.
func flagText(f *pflag.Flag) (flag, text string) {
	value, text := pflag.UnquoteUsage(f)
	flag = "--" + f.Name
	if value != "" {
		flag += " " + value
	}
	switch f.DefValue {
	case "", "0", "false", "-1", "[]":
		return flag, text
	}
	return flag, text + " (default " + f.DefValue + ")"
}

// writeCommands lists the commands below one, by what they are for.
func writeCommands(w io.Writer, cmd *cobra.Command) {
	var rest []*cobra.Command
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			rest = append(rest, c)
		}
	}
	line := func(c *cobra.Command) { fmt.Fprintf(w, "  %-11s %s\n", c.Name(), c.Short) }
	for _, g := range commandGroups {
		titled := false
		for _, name := range g.names {
			i := slices.IndexFunc(rest, func(c *cobra.Command) bool { return c.Name() == name })
			if i < 0 {
				continue
			}
			if !titled {
				fmt.Fprintf(w, "\n%s:\n", g.title)
				titled = true
			}
			line(rest[i])
			rest = slices.Delete(rest, i, i+1)
		}
	}
	if len(rest) > 0 {
		fmt.Fprint(w, "\nMore:\n")
		for _, c := range rest {
			line(c)
		}
	}
}

// A flagGroup is a group of flags of one command.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// groupedFlags are the flags of a command by groups, those of no group first. A command of few
// flags has one group.
func groupedFlags(all *pflag.FlagSet) []flagGroup {
	own := flagGroup{"Flags", pflag.NewFlagSet("", pflag.ContinueOnError)}
	groups := make([]flagGroup, len(flagGroups))
	n := 0
	all.VisitAll(func(f *pflag.Flag) {
		if n++; f.Hidden {
			n--
		}
	})
	for i, g := range flagGroups {
		groups[i] = flagGroup{g.title, pflag.NewFlagSet("", pflag.ContinueOnError)}
		groups[i].flags.SortFlags = false
		for _, name := range g.names {
			if f := all.Lookup(name); f != nil {
				groups[i].flags.AddFlag(f)
			}
		}
	}
	const few = 12
	all.VisitAll(func(f *pflag.Flag) {
		if n <= few || !slices.ContainsFunc(groups, func(g flagGroup) bool { return g.flags.Lookup(f.Name) != nil }) {
			own.flags.AddFlag(f)
		}
	})
	if n <= few {
		groups = nil
	}
	return slices.DeleteFunc(append([]flagGroup{own}, groups...), func(g flagGroup) bool { return !g.flags.HasAvailableFlags() })
}
