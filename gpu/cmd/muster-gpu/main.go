// Muster-gpu runs launch files on a real GPU and compares its results with
// those of Muster's machine, array by array.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"muster"
	"muster/gpu"
	"muster/internal/files"
	"muster/internal/yaml"
	"muster/launch"
)

func main() {
	gpu.Worker()
	os.Exit(doMain(os.Args[1:], os.Stdout, os.Stderr))
}

// Exit statuses, those of muster.
const (
	exitEqual      = 0
	exitDiffers    = 1 // or the kernel faults or hangs, or the driver refuses it
	exitBadInput   = 2 // or there is no GPU
	exitIncomplete = 3 // the machine does not model something
)

const usage = `usage:
  muster-gpu run LAUNCH|FILE.ptx [flags]    run on the GPU and on the machine, and compare
  muster-gpu time LAUNCH|FILE.ptx [flags]   time one launch from Go
  muster-gpu info                                name the GPU

Exit status: 0 equal; 1 an array differs, the kernel faults or hangs, or the
driver refuses the launch; 2 bad input or no GPU; 3 the machine does not model
something (the GPU's arrays are then compared with those that the launch file
expects).
`

// doMain is the command, testable: it returns the exit status.
func doMain(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c := &command{ctx: ctx, out: stdout, flags: flag.NewFlagSet("muster-gpu", flag.ContinueOnError)}
	c.flags.SetOutput(stderr)
	verbs := map[string]func([]string) (int, error){"run": c.run, "time": c.time, "info": c.info}
	if len(args) == 0 || verbs[args[0]] == nil {
		fmt.Fprint(stderr, usage)
		return exitBadInput
	}
	status, err := verbs[args[0]](args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitEqual
	case err != nil:
		fmt.Fprintln(stderr, "muster-gpu: "+err.Error())
		return exitBadInput
	}
	return status
}

type command struct {
	ctx   context.Context
	out   io.Writer
	flags *flag.FlagSet
}

func (c *command) info([]string) (int, error) {
	d, err := gpu.Open()
	if err != nil {
		return 0, err
	}
	defer d.Close()
	fmt.Fprintln(c.out, d)
	return exitEqual, nil
}

// A list is a flag that may be given several times.
type list struct{ to *[]string }

func (l list) String() string     { return "" }
func (l list) Set(s string) error { *l.to = append(*l.to, s); return nil }

// launchFlags registers the keys of a launch file.
func (c *command) launchFlags() *launch.Flags {
	l, f := &launch.Flags{}, c.flags
	f.StringVar(&l.PTX, "ptx", "", "PTX `file` to run, in place of the launch file's")
	f.Var(list{&l.Link}, "link", "a PTX `file` that is linked with the launch's; added")
	f.StringVar(&l.Kernel, "kernel", "", "`name` of the kernel")
	f.StringVar(&l.Grid, "grid", "", "CTAs, `XxYxZ`")
	f.StringVar(&l.Block, "block", "", "threads a CTA, `XxYxZ`")
	f.StringVar(&l.Cluster, "cluster", "", "CTAs a cluster, `XxYxZ`")
	f.StringVar(&l.Shared, "shared", "", "dynamic shared memory in `bytes`")
	f.StringVar(&l.Registers, "registers", "", "registers a thread at entry; the GPU goes by the PTX")
	f.StringVar(&l.MaxRegCount, "maxrregcount", "", "the compiler's -maxrregcount; the GPU goes by the PTX")
	f.StringVar(&l.Cooperative, "cooperative", "", "`true` for a cooperative launch")
	f.Var(list{&l.Buffers}, "buffer", "a buffer, `name=type[shape]:fill`")
	f.Var(list{&l.Variables}, "variable", "contents of a module `variable`, name=type[shape]:fill")
	f.Var(list{&l.Args}, "arg", "an `argument` of the kernel; all of them, in order")
	f.Var(list{&l.Expect}, "expect", "what a buffer must hold, `name=file.npy`")
	f.Var(list{&l.Accept}, "accept", "taken as muster takes it; nothing here reports findings")
	return l
}

// file parses the command line, which may have flags after the file too, and
// reads the launch.
func (c *command) file(args []string, fl *launch.Flags) (*launch.File, error) {
	var names []string
	for {
		if err := c.flags.Parse(args); err != nil {
			return nil, err
		}
		if args = c.flags.Args(); len(args) == 0 {
			break
		}
		names, args = append(names, args[0]), args[1:]
	}
	switch {
	case len(names) != 1:
		return nil, fmt.Errorf("name one launch file or .ptx, not %d", len(names))
	case strings.HasSuffix(names[0], ".ptx"):
		fl.PTX = names[0]
		return launch.FromFlags(*fl)
	}
	f, err := yaml.ReadFile(names[0])
	if err != nil {
		return nil, err
	}
	return f, fl.Apply(f)
}

func (c *command) run(args []string) (int, error) {
	fl := c.launchFlags()
	timeout := c.flags.Duration("timeout", gpu.DefaultTimeout, "`time` that the kernel may take on the GPU; then it is ended with its process")
	times := c.flags.Int("times", 1, "`launches` on the GPU, each from fresh buffers")
	alone := c.flags.Bool("gpu-only", false, "leave the machine out, and compare with what the launch file expects alone")
	var outs []string
	c.flags.Var(list{&outs}, "out", "write a buffer of the GPU, `name=file.npy`")
	f, err := c.file(args, fl)
	if err != nil {
		return 0, err
	}
	for _, o := range outs {
		if name, file, ok := strings.Cut(o, "="); !ok || file == "" || f.Buffer(name) == nil {
			return 0, fmt.Errorf("--out %s: want name=file.npy with the name of a buffer", o)
		}
	}
	s := session{command: c, file: f, outs: outs}
	if !*alone {
		if err := s.runMachine(); err != nil {
			return 0, err
		}
	}
	for range *times {
		if err := s.runGPU(gpu.Options{Timeout: *timeout}); err != nil {
			return 0, err
		}
	}
	return s.status, nil
}

// A session is one launch on the GPU and on the machine.
type session struct {
	*command
	file    *launch.File
	outs    []string
	machine *muster.RunResult // nil if it did not complete
	status  int
}

func (s *session) fail(status int) {
	if s.status != exitDiffers {
		s.status = status
	}
}

func (s *session) runMachine() error {
	l, err := muster.LoadFile(s.file, muster.Limits{})
	if err != nil {
		return err
	}
	r, err := l.Run(s.ctx, muster.RunOptions{})
	if err != nil {
		return err
	}
	switch {
	case r.Report == nil:
		s.machine = r
		return nil
	case r.Report.Verdict == "findings":
		s.fail(exitDiffers)
		for i := range r.Report.Findings {
			fmt.Fprintf(s.out, "machine: %s: %s\n", r.Report.Findings[i].Kind, r.Report.Findings[i].Headline)
		}
	default:
		s.fail(exitIncomplete)
		fmt.Fprintf(s.out, "machine: %s: %s\n", r.Report.Verdict, r.Report.Summary)
	}
	return nil
}

// runGPU launches once. A fault and a hang are results, not errors.
func (s *session) runGPU(o gpu.Options) error {
	r, err := gpu.RunApart(s.ctx, s.file, o)
	var fault *gpu.Error
	var late *gpu.TimeoutError
	switch {
	case errors.As(err, &fault):
		s.fail(exitDiffers)
		what := "refused"
		if fault.Fault() {
			what = "fault"
		}
		fmt.Fprintf(s.out, "GPU: %s: %v\n", what, err)
		return nil
	case errors.As(err, &late):
		s.fail(exitDiffers)
		fmt.Fprintf(s.out, "GPU: hang: %v\n", err)
		return nil
	case err != nil:
		return err
	}
	s.out.Write(r.Output)
	fmt.Fprintf(s.out, "GPU: %s ran in %v, %d registers, on %s\n", r.Kernel, r.Time.Round(100*time.Nanosecond), r.Registers, r.Device)
	if err := s.write(r); err != nil {
		return err
	}
	if err := s.expected(r); err != nil {
		return err
	}
	return s.compare(r)
}

// compare compares the GPU's arrays with the machine's.
func (s *session) compare(r *gpu.Result) error {
	if s.machine == nil {
		return nil
	}
	if string(r.Output) != string(s.machine.Output) {
		s.fail(exitDiffers)
		fmt.Fprintf(s.out, "printed: the machine prints %q\n", s.machine.Output)
	}
	diffs, err := r.Compare(s.file, s.machine.Buffer)
	for _, d := range diffs {
		if !d.OK() {
			s.fail(exitDiffers)
		}
		fmt.Fprintln(s.out, d)
	}
	return err
}

// expected compares the GPU's arrays with those that the launch file expects.
func (s *session) expected(r *gpu.Result) error {
	plan, err := s.file.Layout(1 << 62)
	if err != nil {
		return err
	}
	for _, x := range s.file.Expect {
		c, err := plan.Compare(x, r.Buffer(x.Buffer).Data)
		if err != nil {
			return err
		}
		if !c.OK() {
			s.fail(exitDiffers)
		}
		fmt.Fprintf(s.out, "%s: %s, against %s\n", x.Buffer, c, x.File)
	}
	return nil
}

func (s *session) write(r *gpu.Result) error {
	for _, o := range s.outs {
		name, file, _ := strings.Cut(o, "=")
		a := r.Buffer(name)
		b := launch.PlacedBuffer{Type: a.Type, Shape: a.Shape}
		if err := files.Write(file, func(w io.Writer) error { return b.WriteArray(w, a.Data) }); err != nil {
			return err
		}
	}
	return nil
}

func (c *command) time(args []string) (int, error) {
	fl := c.launchFlags()
	rounds := c.flags.Int("rounds", 200, "`rounds`")
	launches := c.flags.Int("launches", 200, "`launches` a round, fewer than the driver's queue holds")
	loop := c.flags.String("loop", "", "`library` made from testdata/loop.c, for the driver's own time")
	f, err := c.file(args, fl)
	if err != nil {
		return 0, err
	}
	if *rounds < 1 || *launches < 1 {
		return 0, errors.New("--rounds and --launches must be positive")
	}
	d, err := gpu.Open()
	if err != nil {
		return 0, err
	}
	defer d.Close()
	p, err := d.Prepare(f, gpu.Options{})
	if err != nil {
		return 0, err
	}
	defer p.Close()
	o, err := p.Overhead(c.ctx, *rounds, *launches, *loop)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(c.out, "%s: %s\n", d, o)
	return exitEqual, nil
}
