//go:build !js

package main

import (
	"time"

	"github.com/spf13/cobra"

	"muster/launch"
)

const (
	// apart is the time between two lines of progress where nobody sees them being rewritten.
	apart = 30 * time.Second
	// defaultMemory is the limit on the memory of the process, unless --limit-memory says another.
	defaultMemory = launch.DefaultMemoryLimit
)

// system adds the commands that need a system below and around them: programs to run, a GPU,
// files of others, an editor, an agent, a shell. In a browser they are left out (system_js.go).
func system(c *console, root *cobra.Command) {
	root.AddCommand(captureCommand(c), importCommand(c), lspCommand(c), mcpCommand(c), docsCommand(root))
	completes(root)
}
