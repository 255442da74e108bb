//go:build !js

package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/files"
	"muster/internal/mutate"
	"muster/internal/yaml"
	"muster/launch"
	"muster/ptx"
)

// launchExtensions are those of files that name a launch, ptxExtensions of those with a kernel.
var (
	launchExtensions = []string{"yaml", "yml", "json", "ptx", "cu"}
	ptxExtensions    = []string{"ptx", "cu"}
)

// completes gives the commands below root what a shell completes their arguments and flags by.
func completes(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		switch {
		case cmd.ValidArgsFunction != nil || cmd.HasSubCommands():
		case strings.Contains(cmd.Use, "LAUNCH"):
			cmd.ValidArgsFunction = filesOf(launchExtensions)
		case strings.Contains(cmd.Use, ".ptx"):
			cmd.ValidArgsFunction = filesOf(ptxExtensions)
		case len(strings.Fields(cmd.Use)) == 1:
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if by := flagCompletion(f); by != nil {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, by)
			}
		})
	}
}

// filesOf completes one name of a file with some extensions.
func filesOf(extensions []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

// oneOf completes one of some words.
func oneOf(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// flagCompletion returns what completes the values of a flag; nil for numbers and names that
// only the user knows, and for flags whose value is any file.
func flagCompletion(f *pflag.Flag) cobra.CompletionFunc {
	if one, ok := f.Value.(*oneFormat); ok {
		return oneOf(one.of...)
	}
	switch f.Name {
	case "engine":
		return oneOf("both", "axioms", "machine")
	case "fail-on":
		return oneOf("error", "warning")
	case "schedule":
		return oneOf("earliest", "latest", "round-robin", "random:1")
	case "assume":
		return oneOf(launch.VectorAtomic)
	case "cooperative":
		return oneOf("true")
	case "arch":
		return oneOf("sm_90a", "sm_100a", "sm_103a")
	case "shard":
		return oneOf("auto")
	case "only":
		return oneOf(mutate.Kinds()...)
	case "contents":
		return oneOf(contentNames...)
	case "class":
		return classes
	case "ptx", "link":
		return filesOf([]string{"ptx"})
	case "baseline":
		return filesOf([]string{"json", "sarif"})
	case "launch":
		return launches
	case "kernel":
		return kernels
	case "schedule-dir", "dir":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	case "format", "trace", "picture", "state", "from", "output", "out", "expect":
		return nil
	}
	if t := f.Value.Type(); t == "bool" {
		return nil
	}
	return cobra.NoFileCompletions
}

// launches completes the name of a launch of the launch file that stands on the line.
func launches(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	f, err := yaml.ReadFile(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for i := range f.Launches {
		if name := f.Launches[i].Name; name != "" {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// kernels completes the name of a kernel of the PTX that stands on the line.
func kernels(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, name := range args {
		if filepath.Ext(name) != ".ptx" {
			continue
		}
		text, err := files.Read(name, maxSource)
		if err != nil {
			continue
		}
		m, err := ptx.Parse(name, text)
		if err != nil {
			continue
		}
		for _, item := range m.Items {
			if f, ok := item.(*ptx.Func); ok && f.Entry {
				names = append(names, f.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
}

// classes completes a class of instructions.
func classes(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, f := range ptx.Forms() {
		names = append(names, f.Class)
	}
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
}
