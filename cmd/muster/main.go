// Muster checks the synchronization of GPU kernels without a GPU: it runs
// real PTX with exact barriers, bulk copies, proxies and clusters, and says
// which two accesses are not ordered, what hangs, and what would mend it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"muster"
)

func main() {
	os.Exit(doMain(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Exit statuses.
const (
	exitClean      = 0
	exitFindings   = 1
	exitBadInput   = 2
	exitIncomplete = 3
)

// An exit is a status that is no error: what there was to say has been said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// doMain is the command, testable: it returns the exit status.
func doMain(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return (&console{in: stdin, out: stdout, err: stderr}).main(args)
}

func (c *console) main(args []string) int {
	root := newRoot(c)
	root.SetArgs(args)
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	err := root.Execute()
	var status exit
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &status):
		return int(status)
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	printError(c.err, err)
	return exitBadInput
}

// A console is where a command reads and writes.
type console struct {
	in       io.Reader
	out, err io.Writer
	follow   func(muster.Progress) // in place of a line on a terminal
}

// terminal reports whether what is said besides the output is seen by somebody.
func (c *console) terminal() bool {
	f, ok := c.err.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// color reports whether output goes to a terminal that wants colours.
func (c *console) color() bool {
	f, ok := c.out.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

func newRoot(c *console) *cobra.Command {
	root := &cobra.Command{
		Use:   "muster",
		Short: "Does your kernel pass muster? Checks the synchronization of PTX kernels, without a GPU.",
		Long: `Muster runs real PTX kernels on the CPU with exact mbarrier, bulk copy, proxy
and cluster behaviour, and checks that what they share is ordered by the rules
of the PTX memory model.

A launch file says what to run: the PTX, the grid, the buffers and arguments.

  ptx: ring.ptx
  grid: 1
  block: 160
  buffers:
    in:  {type: f32, shape: [16384], fill: iota}
    out: {type: f32, shape: [128], fill: nan}
  args: [in, {ptr: out}, {s32: 64}]
  expect:
    out: {file: out.npy}

  muster check ring.yaml     find races, deadlocks and broken barrier protocol
  muster run ring.yaml       execute it and compare 'out' with out.npy
  muster explain proxy-raw   what a finding means, with a wrong and a right kernel

Every key of a launch file is also a flag, so that a bare .ptx will do:

  nvcc -ptx -lineinfo -arch=sm_90a k.cu
  muster check k.ptx --grid 1 --block 128 --buffer 'in=f32[1024]:iota' --arg in --arg s32:64

Exit status: 0 clean, 1 findings (or a wrong result), 2 bad input, 3 incomplete:
something was not modelled, or a limit ran out.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(checkCommand(c), mergeCommand(c), runCommand(c), replayCommand(c), reduceCommand(c), mutateCommand(c), explainCommand(c), coverageCommand(c), fmtCommand(c), barrierCommand(c))
	root.CompletionOptions.HiddenDefaultCmd = false
	return root
}
