package main

import (
	"cmp"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand(c *console) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the revision that this binary was built from",
		Long: `Version prints one line: the module and its version, the revision of the
repository that the binary was built from (unknown with -buildvcs=false, or outside
of a repository), and the Go version. 'muster --version' prints the same.`,
		Example: "  muster version",
		Args:    atMost(0, ""),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(c.out, version(debug.ReadBuildInfo()))
			return err
		},
	}
}

// versions gives the root --version, in place of its help. The library's own flag prints by a
// template, and with templates the linker keeps every method of every type: a tenth of the
// binary.
func versions(root *cobra.Command) {
	asked := root.Flags().BoolP("version", "v", false, "version for muster")
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd == root && *asked {
			fmt.Fprintln(cmd.OutOrStdout(), version(debug.ReadBuildInfo()))
			return
		}
		help(cmd, args)
	})
}

// version is one line: the module and its version, the revision, and the Go version. What
// the build does not record is "unknown", as the revision with -buildvcs=false.
func version(b *debug.BuildInfo, ok bool) string {
	if !ok {
		b = &debug.BuildInfo{}
	}
	revision := "unknown"
	for _, s := range b.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			revision += ", with changes"
		}
	}
	return fmt.Sprintf("%s %s, revision %s, %s", cmp.Or(b.Main.Path, "muster"), cmp.Or(b.Main.Version, "unknown"), revision, cmp.Or(b.GoVersion, "an unknown Go"))
}
