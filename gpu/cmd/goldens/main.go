// Goldens runs the small kernels of internal/ops on an H200 and writes what it
// left, a line a kernel, as testdata/h200.txt keeps it:
//
//	cd gpu && CGO_ENABLED=0 go build -o ../.gpu/goldens ./cmd/goldens
//	.gpu/goldens -out DIR                           # where the GPU is
//	cp DIR/h200.txt internal/ops/testdata/h200.txt  # back in the repository
//
// Kernels run in processes beside this one, so that one that hangs or faults
// takes no other along, and as often as -times says, always to the same bits. Each
// runs on the machine too, and is assembled by ptxas where that is installed.
// DIR/log.txt has all that each said. Exit status: 0 all are accepted, end, and
// agree; 1 one does not; 2 bad flags or no GPU.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"muster"
	"muster/gpu"
	"muster/internal/ops"
	"muster/kernel"
)

// A set is cases with the file that keeps what the GPU left of them.
type set struct {
	file  string // in the repository
	cases func() []ops.Case
}

var sets = []set{
	{"internal/ops/testdata/h200.txt", ops.All},
}

func main() {
	gpu.Worker()
	os.Exit(doMain(os.Args[1:], os.Stdout, os.Stderr))
}

type options struct {
	out, ptxas string
	only       *regexp.Regexp
	times      int
	jobs       int
	timeout    time.Duration
}

func doMain(args []string, stdout, stderr io.Writer) int {
	var o options
	f := flag.NewFlagSet("goldens", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.out, "out", "", "`folder` to write to")
	f.StringVar(&o.ptxas, "ptxas", "ptxas", "the assembler; empty to leave it out")
	only := f.String("run", "", "only the cases whose names this `regexp` finds; no file is written to keep")
	f.IntVar(&o.times, "times", 2, "`runs` of each case, to the same bits")
	f.IntVar(&o.jobs, "jobs", 8, "`cases` at a time")
	f.DurationVar(&o.timeout, "timeout", 10*time.Second, "`time` that one run may take")
	err := f.Parse(args)
	if err == nil {
		o.only, err = regexp.Compile(*only)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
	case o.out == "" || f.NArg() > 0 || o.times < 1 || o.jobs < 1:
		err = errors.New("want -out FOLDER, no other arguments, and positive -times and -jobs")
	}
	if err != nil {
		fmt.Fprintln(stderr, "goldens:", err)
		return 2
	}
	status := 0
	for _, s := range sets {
		n, err := s.run(&o, *only != "", stdout)
		if err != nil {
			fmt.Fprintln(stderr, "goldens:", err)
			return 2
		}
		if n > 0 {
			status = 1
		}
	}
	return status
}

// run runs a set and writes its files. It returns how many cases are not right.
func (s *set) run(o *options, partial bool, stdout io.Writer) (bad int, err error) {
	d, err := gpu.Open()
	if err != nil {
		return 0, err
	}
	device := d.String()
	if err := d.Close(); err != nil {
		return 0, err
	}
	var chosen []ops.Case
	for _, c := range s.cases() {
		if o.only.MatchString(c.Name) {
			chosen = append(chosen, c)
		}
	}
	slices.SortFunc(chosen, func(a, b ops.Case) int { return strings.Compare(a.Name, b.Name) })
	base := strings.TrimSuffix(filepath.Base(s.file), ".txt")
	logTo, err := os.Create(filepath.Join(o.out, "log.txt"))
	if err != nil {
		return 0, err
	}
	defer logTo.Close()
	var lines strings.Builder
	fmt.Fprintf(&lines, "# What an H200 left in the buffers of every case: its name, the hash of its PTX,\n# and of each buffer. To make it again, see gpu/cmd/goldens. Made on %s.\n", device)
	fmt.Fprintf(logTo, "%s\n%s\n", device, version(o.ptxas))
	counts := map[string]int{}
	for _, t := range all(chosen, o) {
		counts[t.verdict]++
		fmt.Fprintf(logTo, "\n== %s: %s\n%s", t.name, t.verdict, t.log.String())
		if t.golden != nil {
			fmt.Fprintln(&lines, t.golden)
		}
		if t.verdict != equal {
			bad++
			fmt.Fprintf(stdout, "%s: %s\n%s", t.name, t.verdict, t.log.String())
		}
	}
	fmt.Fprintf(stdout, "%s: %d cases", s.file, len(chosen))
	for _, v := range verdicts {
		if counts[v] > 0 {
			fmt.Fprintf(stdout, ", %d %s", counts[v], v)
		}
	}
	fmt.Fprintf(stdout, ", on %s\n", device)
	if partial {
		base += "-part"
	}
	return bad, os.WriteFile(filepath.Join(o.out, base+".txt"), []byte(lines.String()), 0o666)
}

func version(ptxas string) string {
	if ptxas == "" {
		return "no ptxas"
	}
	out, err := exec.Command(ptxas, "--version").CombinedOutput()
	if err != nil {
		return "no ptxas: " + err.Error()
	}
	return strings.TrimSpace(string(out))
}

// all runs cases side by side, and gives what came of them in their order.
func all(cases []ops.Case, o *options) []*trial {
	list := make([]*trial, len(cases))
	next := make(chan int, len(cases))
	for i := range cases {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for range min(o.jobs, len(cases)) {
		wg.Go(func() {
			var a gpu.Apart
			defer a.Close()
			for i := range next {
				list[i] = &trial{name: cases[i].Name, apart: &a}
				list[i].run(cases[i], o)
			}
		})
	}
	wg.Wait()
	return list
}

// What can come of a case. Of the first three the GPU's bits are kept: the
// machine is wrong where it differs, and the tests of the repository say so.
const (
	equal    = "equal"
	differs  = "different on the machine"
	machine  = "not run on the machine"
	rejected = "rejected by ptxas"
	failed   = "failed on the GPU"
	unstable = "not the same in every run"
	unmade   = "not built"
)

var verdicts = []string{equal, differs, machine, rejected, failed, unstable, unmade}

// A trial is what came of one case.
type trial struct {
	name    string
	apart   *gpu.Apart
	verdict string
	golden  *ops.Golden // what the GPU left, if it is fit to be kept
	log     strings.Builder
}

func (t *trial) say(format string, args ...any) {
	fmt.Fprintln(&t.log, "  "+strings.ReplaceAll(strings.TrimSpace(fmt.Sprintf(format, args...)), "\n", "\n  "))
}

func (t *trial) run(c ops.Case, o *options) {
	call, err := c.Make()
	if err != nil {
		t.verdict = unmade
		t.say("%v", err)
		return
	}
	accepted := t.assemble(call, o)
	left, err := t.launch(call, o)
	if err != nil {
		t.say("%v", err)
		return
	}
	t.verdict = t.compare(call, left)
	if !accepted {
		t.verdict = rejected
		return
	}
	t.golden = &left[0].golden
}

// assemble has ptxas judge the PTX.
func (t *trial) assemble(call *kernel.Call, o *options) (accepted bool) {
	if o.ptxas == "" {
		return true
	}
	dir, err := os.MkdirTemp("", "goldens")
	if err != nil {
		t.say("%v", err)
		return false
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, call.Kernel.Name()+".ptx")
	if err := os.WriteFile(name, []byte(call.Module.String()), 0o666); err != nil {
		t.say("%v", err)
		return false
	}
	out, err := exec.Command(o.ptxas, "-arch=sm_90a", "-v", "-o", filepath.Join(dir, "out.cubin"), name).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return true // the log's first lines say that there is none
	}
	t.say("%s", out)
	if err != nil {
		t.say("ptxas: %v\n%s", err, call.Module)
	}
	return err == nil
}

// A leaving is what one run left.
type leaving struct {
	result *gpu.Result
	golden ops.Golden
}

// launch runs the case on the GPU.
func (t *trial) launch(call *kernel.Call, o *options) (list []leaving, err error) {
	t.verdict = failed
	for range o.times {
		// Not RunCallApart: the call's slices stay as they are.
		f, err := call.Launch()
		if err != nil {
			return nil, err
		}
		r, err := t.apart.Run(context.Background(), f, gpu.Options{Module: call.Module, Timeout: o.timeout})
		if err != nil {
			return nil, err
		}
		g, err := ops.Record(t.name, call, func(name string) ([]byte, error) { return r.Buffer(name).Data, nil })
		if err != nil {
			return nil, err
		}
		t.say("ran in %v, %d registers, %d bytes of shared and %d of local memory", r.Time, r.Registers, r.Shared, r.Local)
		list = append(list, leaving{r, g})
		if g.String() != list[0].golden.String() {
			t.verdict = unstable
			return nil, fmt.Errorf("first %s\nthen  %s", list[0].golden, g)
		}
	}
	return list, nil
}

// compare runs the case on the machine.
func (t *trial) compare(call *kernel.Call, left []leaving) string {
	l, err := muster.LoadCall(call, muster.Limits{})
	if err != nil {
		t.say("%v", err)
		return machine
	}
	m, err := l.Run(context.Background(), muster.RunOptions{})
	switch {
	case err != nil:
		t.say("%v", err)
		return machine
	case m.Report != nil:
		t.say("%s", m.Report.Summary)
		for _, f := range m.Report.Findings {
			t.say("%s: %s", f.Kind, f.Headline)
		}
		return machine
	}
	f, err := call.Launch()
	if err != nil {
		t.say("%v", err)
		return machine
	}
	all, err := left[0].result.Compare(f, m.Buffer)
	if err != nil {
		t.say("%v", err)
		return machine
	}
	verdict := equal
	for _, d := range all {
		if d.Count > 0 && slices.Contains(call.Results(), d.Buffer) {
			verdict = differs
		}
		t.say("%v", d)
	}
	return verdict
}
