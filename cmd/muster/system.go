//go:build !js

package main

import "github.com/spf13/cobra"

// system adds the commands that need a system below and around them: programs to run, a GPU,
// files of others, an editor, an agent, a shell. In a browser they are left out (system_js.go).
func system(c *console, root *cobra.Command) {
	root.AddCommand(captureCommand(c), importCommand(c), lspCommand(c), mcpCommand(c), docsCommand(root))
	completes(root)
}
