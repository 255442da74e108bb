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
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(c.out, version(debug.ReadBuildInfo()))
			return err
		},
	}
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
