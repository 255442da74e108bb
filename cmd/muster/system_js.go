package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"muster"
)

// In a browser (GOOS=js) the command has one thread, a file system in memory, and nothing
// else: no processes, no network, no GPU. This file says what is left out there, and why; what
// has code of its own for a system stands in files that are not built for js. Each command that
// is left out says so in one line, and no help lists it.
var leftOut = []struct{ name, needs string }{
	{"capture", "it runs a program on a machine with a GPU"},
	{"import", "it reads the programs, logs and caches of a machine"},
	{"lsp", "an editor starts it"},
	{"mcp", "it starts a process for each call of an agent"},
	{"docs", "it writes the documents of an installed command"},
}

// system adds what stands for the commands that need a system.
func system(c *console, root *cobra.Command) {
	root.CompletionOptions.DisableDefaultCmd = true
	for _, out := range leftOut {
		line := fmt.Sprintf("%s is not in a browser: %s; install muster for it", out.name, out.needs)
		root.AddCommand(&cobra.Command{
			Use: out.name, Hidden: true, DisableFlagParsing: true, Long: line,
			RunE: func(*cobra.Command, []string) error { return errors.New(line) },
		})
	}
}

const (
	// apart is the time between two lines of progress: a page shows the last one.
	apart = time.Second
	// defaultMemory leaves room below what WebAssembly's addresses reach, which is 4 GiB.
	defaultMemory = 2 << 30
)

var errNoServer = errors.New("a browser has no server for the page: write it with --html FILE")

// served refuses to serve a page.
func (v *viewing) served() error {
	if v.html == "" {
		return errNoServer
	}
	return nil
}

func (v *viewing) serve(*work, *console, *muster.View) error { return errNoServer }

// compile says what compiles a .cu file.
func (in *input) compile(source string) (string, error) {
	return "", fmt.Errorf("%s: a browser has no nvcc: %s", source, byHand(source, cmp.Or(in.nvcc.arch, defaultArch)))
}
