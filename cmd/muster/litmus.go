package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"muster"
	"muster/internal/files"
	"muster/internal/litmus"
	"muster/launch"
)

// maxLoops bounds --loops.
const maxLoops = 64

// A litmusRun is a call of 'muster litmus'.
type litmusRun struct {
	c        *console
	in       input
	format   formatFlag
	o        litmus.Options
	engine   string
	schedule string
	kernel   string
	all      bool
	brief    bool
}

func litmusCommand(c *console) *cobra.Command {
	k := &litmusRun{c: c, o: litmus.Options{Limits: litmus.DefaultLimits}}
	cmd := &cobra.Command{
		Use:   "litmus FILE…",
		Short: "Say whether the memory model allows an outcome of a litmus test",
		Long: `Litmus reads litmus tests in the formats of herd (PTX) and Dat3M, and says
whether the PTX memory model allows the outcome that they ask for: 'allowed' or
'forbidden' of exists and ~exists, 'holds' or 'fails' of forall. Below stand all
outcomes, those of the condition with a star and a run of each.

Two engines that share nothing answer. One enumerates the executions that the
axioms of chapter 8 of the ISA allow. The other runs the test as a kernel on the
machine, in every execution: a strong read may return an older value, and so may a
weak one behind a data race. Load buffering (8.10.4) is the axioms' alone, and the
answer says so.

  PTX MP
  { x=0; flag=0; }
   P0@cta 0,gpu 0         | P1@cta 1,gpu 0            ;
   st.weak x, 1           | ld.acquire.gpu r0, flag   ;
   st.release.gpu flag, 1 | ld.weak r1, x             ;
  ~exists (P1:r0 = 1 /\ P1:r1 = 0)

A file has threads with their places (or a tree of scopes), ld, st, atom, red and
fences with their semantics and scopes, arithmetic, branches, barriers, aliases and
the proxies of textures, surfaces and constants, a filter, and one condition.
docs/memory.md tells what volatile, relaxed, acquire and fences give, with a test
for each; docs/litmus has these and others. '-' reads standard input.

Exit status: 0 answered, 1 an outcome of a ~exists is allowed or a forall fails,
2 bad input, 3 incomplete: what the test needs is said in one line.`,
		Example: `  muster litmus docs/litmus/mp.litmus
  muster litmus docs/litmus/*.litmus --format json
  muster litmus docs/litmus/mp.litmus --write mp && muster check mp/mp.yaml`,
		Args: atLeast(1, "a litmus test, or - for standard input"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"litmus"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(_ *cobra.Command, args []string) error { return k.run(args) },
	}
	f := cmd.Flags()
	k.format.register(f)
	f.IntVar(&k.o.Loops, "loops", litmus.DefaultLoops, "how often a thread may jump backward: `N`")
	f.StringVar(&k.engine, "engine", "both", "who answers: `both`, axioms or machine")
	f.IntVar(&k.o.Limits.Schedules, "schedules", k.o.Limits.Schedules, "runs of the machine a test, at most")
	f.Int64Var(&k.o.Limits.Steps, "steps", k.o.Limits.Steps, "steps of all runs together, at most")
	f.StringVar(&k.schedule, "schedule", "", "run one test in one `schedule`, as of an answer, and tell its steps")
	f.StringVar(&k.kernel, "write", "", "write one test as a kernel and its launch file into a `folder`, for check, view and run")
	f.BoolVar(&k.all, "all", false, "tell a run, and an execution, of every outcome")
	f.BoolVar(&k.brief, "brief", false, "one line a test")
	k.in.limits = muster.Limits{Instrs: muster.DefaultInstrs}
	k.in.memory, k.in.local = launch.DefaultMemoryLimit, muster.DefaultLocal
	f.Var(&k.in.memory, "limit-memory", "`bytes` that the process takes; as 512M, 8G")
	f.DurationVar(&k.in.limits.Time, "limit-time", muster.DefaultTime, "time for the whole command")
	f.BoolVar(&k.in.quiet, "quiet", false, "show nothing of the progress on standard error")
	return cmd
}

func (k *litmusRun) check(args []string) error {
	switch k.engine {
	case "both":
	case "axioms":
		k.o.WithoutMachine = true
	case "machine":
		k.o.WithoutAxioms = true
	default:
		return fmt.Errorf("--engine %s: want both, axioms or machine", brief(k.engine))
	}
	switch {
	case k.o.Loops < 0 || k.o.Loops > maxLoops:
		return fmt.Errorf("--loops %d: want 0 to %d", k.o.Loops, maxLoops)
	case k.o.Limits.Schedules <= 0:
		return fmt.Errorf("--schedules %d: a limit must be positive", k.o.Limits.Schedules)
	case k.o.Limits.Steps <= 0:
		return fmt.Errorf("--steps %d: a limit must be positive", k.o.Limits.Steps)
	case len(args) > 1 && (k.schedule != "" || k.kernel != ""):
		return errors.New("--schedule and --write take one test")
	}
	return nil
}

func (k *litmusRun) run(args []string) error {
	if err := k.check(args); err != nil {
		return err
	}
	w, err := k.c.begin(&k.in)
	if err != nil {
		return err
	}
	defer w.close()
	k.o.Over = func() string { return options.Replace(muster.Over(w, k.in.limits)) }
	if k.schedule != "" || k.kernel != "" {
		return w.exit(k.one(args[0]))
	}
	var sum litmusSum
	for i, name := range args {
		if over := muster.Over(w, k.in.limits); over != "" {
			fmt.Fprintf(k.c.err, "muster: incomplete: %s; %d of %d tests were not looked at\n", options.Replace(over), len(args)-i, len(args))
			sum.incomplete += len(args) - i
			break
		}
		if err := k.test(name, &sum); err != nil {
			return w.exit(err)
		}
	}
	w.answered()
	return w.exit(k.end(&sum, len(args)))
}

// one replays a schedule of a test, or writes its kernel.
func (k *litmusRun) one(name string) error {
	t, err := k.read(name)
	if err != nil {
		return k.unanswered(err)
	}
	if k.kernel != "" {
		if err := k.write(t); err != nil || k.schedule == "" {
			return k.unanswered(err)
		}
	}
	text, err := t.Replay(k.o.Loops, k.schedule, func() bool { return k.o.Over() != "" })
	if err != nil {
		return k.unanswered(err)
	}
	_, err = io.WriteString(k.c.out, text)
	return err
}

// unanswered gives a test that is right, but needs what there is not, its status.
func (k *litmusRun) unanswered(err error) error {
	var need *litmus.Need
	if errors.As(err, &need) {
		fmt.Fprintln(k.c.err, "muster: incomplete: "+oneLine(need.Error()))
		return exit(exitIncomplete)
	}
	return err
}

func (k *litmusRun) read(name string) (*litmus.Test, error) {
	var src []byte
	var err error
	if name == "-" {
		src, err = files.ReadFrom("standard input", k.c.in, litmus.MaxSize)
	} else {
		src, err = files.Read(name, litmus.MaxSize)
	}
	if err != nil {
		return nil, err
	}
	return litmus.Read(name, src)
}

// write writes a test's kernel and launch file.
func (k *litmusRun) write(t *litmus.Test) error {
	kernel, err := t.Kernel(k.o.Loops)
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(filepath.Base(t.File), filepath.Ext(t.File))
	if t.File == "-" {
		base = "litmus"
	}
	if err := os.MkdirAll(k.kernel, 0o777); err != nil {
		return err
	}
	if err := files.WriteBytes(filepath.Join(k.kernel, base+".ptx"), []byte(kernel.PTX)); err != nil {
		return err
	}
	return files.WriteBytes(filepath.Join(k.kernel, base+".yaml"), []byte(kernel.Launch(t, base+".ptx")))
}

// A litmusSum counts the answers of a call.
type litmusSum struct {
	allowed, forbidden, holds, fails int
	incomplete, bad, wrong, not      int
	list                             []*litmus.Answer
}

// test answers one test. What is wrong with its file is said, and the next test follows.
func (k *litmusRun) test(name string, sum *litmusSum) error {
	t, err := k.read(name)
	var a *litmus.Answer
	if err == nil {
		a, err = t.Answer(k.o)
	}
	var need *litmus.Need
	switch {
	case errors.As(err, &need):
		sum.incomplete++
		a = &litmus.Answer{File: name, Verdict: litmus.Unknown, Outcomes: []litmus.Row{}, Observed: []string{}, Needs: []string{need.Error()}}
		sum.list = append(sum.list, a)
		if k.format != "json" {
			fmt.Fprintf(k.c.out, "%s: incomplete\n", oneLine(need.Error()))
		}
		return nil
	case err != nil:
		sum.bad++
		sum.list = append(sum.list, &litmus.Answer{File: name, Verdict: litmus.Unread, Outcomes: []litmus.Row{}, Observed: []string{}, Error: err.Error()})
		printError(k.c.err, err)
		return nil
	}
	sum.add(t, a)
	if a.Wrong {
		fmt.Fprintf(k.c.err, "muster: BUG: %s: the axioms and the machine contradict each other; this is a mistake in muster %s, please report it with the test\n", oneLine(name), build())
	}
	if k.format == "json" {
		return nil
	}
	text := a.Text(k.all)
	if k.brief {
		text, _, _ = strings.Cut(text, "\n")
		text += a.Within() + "\n"
	}
	if _, err := io.WriteString(k.c.out, text); err != nil {
		return err
	}
	for _, n := range a.Needs {
		fmt.Fprintf(k.c.out, "  incomplete: %s\n", n)
	}
	return nil
}

func (s *litmusSum) add(t *litmus.Test, a *litmus.Answer) {
	s.list = append(s.list, a)
	if a.Wrong {
		s.wrong++
	}
	switch a.Verdict {
	case litmus.Allowed:
		s.allowed++
	case litmus.Forbidden:
		s.forbidden++
	case litmus.Holds:
		s.holds++
	case litmus.Fails:
		s.fails++
	default:
		s.incomplete++
		return
	}
	if !a.OK && t.Quant != litmus.Exists {
		s.not++
	}
}

// end writes the sum, and returns the exit status.
func (k *litmusRun) end(s *litmusSum, n int) error {
	if k.format == "json" {
		e := json.NewEncoder(k.c.out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(map[string]any{"tests": append([]*litmus.Answer{}, s.list...)}); err != nil {
			return err
		}
	} else if n > 1 {
		var list []string
		for _, c := range []struct {
			n    int
			what string
		}{{s.allowed, "allowed"}, {s.forbidden, "forbidden"}, {s.holds, "hold"}, {s.fails, "fail"}, {s.incomplete, "incomplete"}, {s.bad, "not read"}} {
			if c.n > 0 {
				list = append(list, fmt.Sprintf("%d %s", c.n, c.what))
			}
		}
		fmt.Fprintf(k.c.out, "%d tests: %s\n", n, strings.Join(list, ", "))
	}
	switch {
	case s.bad > 0:
		return exit(exitBadInput)
	case s.wrong > 0:
		return exit(exitFailed)
	case s.not > 0:
		return exit(exitFindings)
	case s.incomplete > 0:
		return exit(exitIncomplete)
	}
	return nil
}
