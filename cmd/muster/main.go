// Muster checks the synchronization of GPU kernels without a GPU: it runs
// real PTX with exact barriers, bulk copies, proxies and clusters, and says
// which two accesses are not ordered, what hangs, and what would mend it.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"muster"
	"muster/internal/files"
	"muster/internal/parallel"
)

func main() {
	// Without this, a fatal error of the Go runtime exits with 2, as bad input does.
	abortOnCrash()
	c := &console{in: os.Stdin, out: os.Stdout, err: os.Stderr, alone: true, columns: columnsOf(os.Stderr)}
	os.Exit(c.main(os.Args[1:]))
}

// Exit statuses.
const (
	exitClean      = 0
	exitFindings   = 1
	exitBadInput   = 2
	exitIncomplete = 3
	exitFailed     = 4 // the output could not be written, or a bug in muster
)

// An exit is an exit status without a message: everything is printed already.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// doMain runs the command, for tests, and returns the exit status.
func doMain(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return (&console{in: stdin, out: stdout, err: stderr}).main(args)
}

func (c *console) main(args []string) (code int) {
	if c.alone {
		c.localize(os.Getenv)
	}
	out := &output{w: c.out, c: c}
	c.out = out
	defer func() {
		if v := recover(); v != nil {
			code = c.bug(v)
		}
	}()
	err := c.execute(args)
	if status := exit(0); err != nil && !errors.As(err, &status) {
		if out.n == 0 {
			err = cmp.Or(c.failed(formatIn(args), err), err)
		}
		if !c.reported {
			err = c.report(args, err)
		}
	}
	if e := out.close(c.alone); e != nil {
		err = &files.WriteError{Name: "the output", Err: e}
	}
	return c.exitCode(err)
}

func (c *console) execute(args []string) error {
	root := newRoot(c)
	root.SetArgs(args)
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	helps(root)
	if len(args) > 0 && (args[0] == "" || args[0] == "--") {
		return unknownCommand(root, args)
	}
	if _, _, err := root.Find(args); err != nil && !(len(args) > 0 && strings.HasPrefix(args[0], "__")) {
		return unknownCommand(root, args)
	}
	return root.Execute()
}

// exitCode prints an error and returns its exit status.
func (c *console) exitCode(err error) int {
	var status exit
	var unwritten *files.WriteError
	var untold *muster.Untold
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(c.err, "muster: interrupted")
		return exitIncomplete
	}
	printError(c.err, err)
	switch {
	case errors.As(err, &unwritten) && !unwritten.Misnamed():
		return exitFailed
	case errors.As(err, &untold): // a limit ran out
		return exitIncomplete
	}
	return exitBadInput
}

// bug reports a failure of muster itself.
func (c *console) bug(v any) int {
	stack := debug.Stack()
	if p, ok := v.(*parallel.Panic); ok {
		v, stack = p.Value, p.Stack
	}
	text := strings.TrimPrefix(fmt.Sprint(v), "BUG: ")
	fmt.Fprintf(c.err, "muster: BUG: %s\nThis is a mistake in muster %s, not in the kernel. Please report it with this text, the command line and its files.\n\n%s", text, build(), stack)
	return exitFailed
}

// build returns the version or revision that this binary was built from, if known.
func build() string {
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
		return b.Main.Version
	}
	return ""
}

// A console holds a command's input and output.
type console struct {
	in       io.Reader
	out, err io.Writer
	follow   func(muster.Progress) // takes the progress, in place of the display
	clock    clock                 // of the display; by default the real one
	columns  func() int            // of the terminal that standard error is; nil: it is none
	display  *display              // of the command that works
	reported bool                  // the files of --report are written
	// alone: the process runs only this command, which may end it and limit its memory.
	alone bool
}

// An output records whether everything was written.
type output struct {
	w   io.Writer
	c   *console
	n   int64
	err error
}

func (o *output) Write(data []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.c.display.write(o.w, data)
	o.n, o.err = o.n+int64(n), err
	return n, err
}

// close returns the error that kept the output from being written.
func (o *output) close(alone bool) error {
	if f, ok := o.w.(*os.File); ok && alone && o.n > 0 && o.err == nil {
		o.err = f.Close() // a disk over the network may say so only now
	}
	return files.Cause(o.err)
}

// itself returns what is written to in the end.
func itself(w io.Writer) io.Writer {
	switch of := w.(type) {
	case *output:
		return itself(of.w)
	case *ascii:
		return itself(of.w)
	}
	return w
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
  muster explain proxy-raw   what a finding means, with two kernels

Every key of a launch file is also a flag, so that a bare .ptx will do, or a .cu
where nvcc is found:

  muster check k.cu --grid 1 --block 128 --buffer 'in=f32[64]:iota' --arg in

Exit status: 0 clean, 1 findings (or a wrong result), 2 bad input, 3 incomplete:
something was not modelled, a limit ran out, or an interrupt (or SIGTERM) came; 4
muster failed: its output could not be written, or a BUG. A second interrupt, and
what crashes the process, end it by a signal.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(checkCommand(c), mergeCommand(c), runCommand(c), replayCommand(c), viewCommand(c), reduceCommand(c), mutateCommand(c), explainCommand(c), coverageCommand(c), fmtCommand(c), initCommand(c), barrierCommand(c), litmusCommand(c), versionCommand(c))
	root.CompletionOptions.HiddenDefaultCmd = false
	system(c, root)
	teach(root)
	versions(root)
	return root
}
