// Goldens runs the kernels of internal/ops and of examples/kernels on an H200 and
// writes what they left, one line per kernel, as testdata/h200.txt keeps it:
//
//	cd gpu && CGO_ENABLED=0 go build -o ../.gpu/goldens ./cmd/goldens
//	.gpu/goldens -out DIR                           # where the GPU is
//	cp DIR/h200.txt internal/ops/testdata/h200.txt  # back in the repository
//
// Kernels run in worker processes, so that one that hangs or faults does not end
// others, -times times each, and must leave the same bits each time. Each runs on the
// machine too, and is assembled by ptxas where that is installed. DIR/log.txt has the
// output of each. With -mistakes it runs the examples with each of their mistakes
// instead, and reports what the GPU does. Exit status: 0 all are accepted, end, and
// agree; 1 one does not; 2 bad flags or no GPU.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"muster"
	"muster/examples/kernels"
	"muster/gpu"
	"muster/internal/ops"
	"muster/kernel"
)

// cases returns all cases.
func cases() []ops.Case {
	list := slices.Clone(ops.All())
	for _, e := range kernels.All() {
		list = append(list, ops.Case{Name: "examples/kernels/" + e.Name, Make: func() (*kernel.Call, error) {
			w, err := e.Make("")
			if err != nil {
				return nil, err
			}
			return w.Call, nil
		}})
	}
	return list
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
	only := f.String("run", "", "only the cases whose names this `regexp` finds; what they leave goes to part.txt")
	f.IntVar(&o.times, "times", 2, "`runs` of each case, to the same bits")
	f.IntVar(&o.jobs, "jobs", 8, "`cases` at a time")
	f.DurationVar(&o.timeout, "timeout", 10*time.Second, "`time` that one run may take")
	instead := f.Bool("mistakes", false, "run the examples with their mistakes instead, and say what the GPU does")
	err := f.Parse(args)
	if err == nil {
		o.only, err = regexp.Compile(*only)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
	case o.out == "" && !*instead || f.NArg() > 0 || o.times < 1 || o.jobs < 1:
		err = errors.New("want -out FOLDER or -mistakes, no other arguments, and positive -times and -jobs")
	}
	if err != nil {
		fmt.Fprintln(stderr, "goldens:", err)
		return 2
	}
	bad := 0
	if *instead {
		err = mistakes(&o, stdout)
	} else {
		bad, err = run(cases(), &o, *only != "", stdout)
	}
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "goldens:", err)
		return 2
	case bad > 0:
		return 1
	}
	return 0
}

// run runs cases and writes the files. It returns how many are not right.
func run(cases []ops.Case, o *options, partial bool, stdout io.Writer) (bad int, err error) {
	card, err := device()
	if err != nil {
		return 0, err
	}
	var chosen []ops.Case
	for _, c := range cases {
		if o.only.MatchString(c.Name) {
			chosen = append(chosen, c)
		}
	}
	slices.SortFunc(chosen, func(a, b ops.Case) int { return strings.Compare(a.Name, b.Name) })
	log, err := os.Create(filepath.Join(o.out, "log.txt"))
	if err != nil {
		return 0, err
	}
	defer log.Close()
	name := "h200.txt"
	if partial {
		name = "part.txt"
	}
	kept, err := os.Create(filepath.Join(o.out, name))
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(kept, "# What an H200 left in the buffers of every case: its name, the hash of its PTX,\n# and of each buffer. To make it again, see gpu/cmd/goldens. Made on %s.\n", card)
	fmt.Fprintf(log, "%s\n%s\n", card, version(o.ptxas))
	counts := map[string]int{}
	for t := range all(chosen, o) {
		counts[t.verdict]++
		fmt.Fprintf(log, "\n== %s: %s\n%s", t.name, t.verdict, t.log.String())
		if t.golden != nil {
			fmt.Fprintln(kept, t.golden)
		}
		if t.verdict != equal {
			bad++
			fmt.Fprintf(stdout, "%s: %s\n%s", t.name, t.verdict, brief(t.log.String()))
		}
	}
	fmt.Fprintf(stdout, "%d cases", len(chosen))
	for _, v := range verdicts {
		if counts[v] > 0 {
			fmt.Fprintf(stdout, ", %d %s", counts[v], v)
		}
	}
	fmt.Fprintf(stdout, ", on %s\n", card)
	return bad, kept.Close()
}

// device names the GPU.
func device() (string, error) {
	d, err := gpu.Open()
	if err != nil {
		return "", err
	}
	return d.String(), d.Close()
}

// brief returns the end of a log: the error comes last.
func brief(text string) string {
	const most = 2000
	if len(text) > most {
		_, text, _ = strings.Cut(text[len(text)-most:], "\n")
		text = "  …\n" + text
	}
	return text
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

// all runs cases in parallel, and yields their results in order, each as soon as
// it is known.
func all(cases []ops.Case, o *options) iter.Seq[*trial] {
	list := make([]*trial, len(cases))
	next := make(chan *trial, len(cases))
	for i, c := range cases {
		list[i] = &trial{name: c.Name, made: c.Make, done: make(chan bool)}
		next <- list[i]
	}
	close(next)
	for range min(o.jobs, len(cases)) {
		go func() {
			var a gpu.Apart
			defer a.Close()
			for t := range next {
				t.run(&a, o)
				close(t.done)
			}
		}()
	}
	return func(yield func(*trial) bool) {
		for _, t := range list {
			if <-t.done; !yield(t) {
				return
			}
		}
	}
}

// The outcomes of a case. For the first three the GPU's bits are kept: if the machine
// differs, the machine is wrong, and the repository's tests report it.
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

// A trial is the result of one case.
type trial struct {
	name    string
	made    func() (*kernel.Call, error)
	done    chan bool // closed when all fields below are set
	verdict string
	golden  *ops.Golden // what the GPU left, if it is worth keeping
	log     strings.Builder
}

func (t *trial) say(format string, args ...any) {
	fmt.Fprintln(&t.log, "  "+strings.ReplaceAll(strings.TrimSpace(fmt.Sprintf(format, args...)), "\n", "\n  "))
}

func (t *trial) run(a *gpu.Apart, o *options) {
	defer func() {
		if p := recover(); p != nil {
			t.verdict, t.golden = unmade, nil
			t.say("panic: %v\n%s", p, debug.Stack())
		}
	}()
	call, err := t.made()
	if err != nil {
		t.verdict = unmade
		t.say("%v", err)
		return
	}
	accepted := t.assemble(call, o)
	left, err := t.launch(a, call, o)
	if err != nil {
		t.say("%v", err)
	} else {
		t.verdict = t.compare(call, left)
	}
	if !accepted {
		t.verdict = rejected
	}
	if err != nil || !accepted {
		return
	}
	t.golden = &left[0].golden
}

// assemble runs ptxas on the PTX.
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
		return true // the log's first lines say that ptxas is missing
	}
	t.say("%s", out)
	if err != nil {
		t.log.Reset()
		t.say("%s\n%s\nptxas: %v", call.Module, out, err)
	}
	return err == nil
}

// A leaving is what one run left.
type leaving struct {
	result *gpu.Result
	golden ops.Golden
}

// launch runs the case on the GPU.
func (t *trial) launch(a *gpu.Apart, call *kernel.Call, o *options) (list []leaving, err error) {
	t.verdict = failed
	for range o.times {
		// Not RunCallApart: it would overwrite the call's slices.
		f, err := call.Launch()
		if err != nil {
			return nil, err
		}
		r, err := a.Run(context.Background(), f, gpu.Options{Module: call.Module, Timeout: o.timeout})
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
	l, err := muster.LoadCall(call, muster.Limits{Time: time.Minute})
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
