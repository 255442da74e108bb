package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"muster"
	"muster/report"
)

func checkCommand(c *console) *cobra.Command {
	k := &checking{c: c, failOn: "error"}
	cmd := &cobra.Command{
		Use:   "check LAUNCH|FILE.ptx|FILE.cu ...",
		Short: "Find races, deadlocks and broken barrier protocol",
		Long: `Check first tries to decide every schedule of the launch by one run, in which
every access and every synchronization is watched. Where that does not do, it
runs a handful of schedules (asynchronous operations as early, and as late, as
the rules allow; one visible operation of each warp in turn; random ones), then
directed ones that make come true what the first run says could go wrong, and
then explores: one schedule of each kind, until none is left or --schedules or
--steps are spent. Past that, some are sampled.

A finding names both accesses, the edge that is missing, and what would give
it. Its replay line is a command that shows it again. 'muster explain KIND'
tells what a kind of finding means. Findings of one cause (the same lines,
unrolled or inlined) are shown once; --all shows each. Of several causes an
index comes first, mistakes before what they may have led to; --brief shows the
index alone, --first N so many causes in full. A schedule too long for a replay
line lies in a file in the user's cache that the line names.

Where nothing that mma and wgmma compute can reach a branch, an address or a
synchronization operand, their arithmetic is left out until something is found;
--values keeps it.

An exploration can be spread over machines (--shard i/n --state FILE, then
'muster merge') and be stopped and resumed (--state FILE); what it comes to
does not depend on that, nor on --jobs.

The last line is the verdict, for a file of several launches that of the whole.
Clean speaks of every schedule of the launch; where not all could be covered it
is incomplete, with the numbers: 'needs' names the flag whose limit ended it, and
the least number that may decide, where one is known, or says that none does;
'decided' says of how many pairs of instructions the conflicting accesses are in
order, and which come first of those that are open.

What takes longer says on standard error what it is at, how much of its budget is
used, and how long it may still take, where that can be said: on a terminal in a
line that is rewritten, else in a line every 30 seconds. --quiet leaves it out.

Of several launch files each is checked, and the last line is the verdict of all. Flags and
limits hold for all; the exit status is that of the worst: 2, then 1, then 3.
` + launchHelp,
		Example: `  muster check examples/ring/ring.yaml
  muster check examples/ring/broken_count.yaml --schedules 20 --format json
  muster check kernels/*.yaml --format sarif
  muster check k.ptx --grid 1 --block 128 --buffer 'in=f32[1024]:iota' --arg in`,
		RunE: k.run,
	}
	f := cmd.Flags()
	k.in.register(f)
	k.format.registerReport(f)
	k.known.register(f)
	k.reports.register(f)
	k.trace.register(f, "the first finding's run, or without one that of schedule earliest,")
	k.any.register(f)
	f.StringVar(&k.schedules, "schedule-dir", "", "a `folder` for a file a finding: its schedule, shrunk, for replay")
	jobsFlag(f, &k.o.Jobs, "schedules, or parts of them, to run at a time; default: one a processor")
	k.e.register(f)
	costFlag(f, &k.o)
	f.BoolVar(&k.o.Values, "values", false, "compute what matrix instructions compute even where it decides nothing")
	f.BoolVar(&k.how.All, "all", false, "write every finding in full, those of one cause too")
	f.BoolVar(&k.how.Brief, "brief", false, "write one line for each cause")
	f.IntVar(&k.how.First, "first", 0, "how many causes to write in full; default: all")
	f.StringVar(&k.failOn, "fail-on", k.failOn, "the least `severity` that makes the verdict findings: error or warning")
	return cmd
}

// A checking holds the flags of one check.
type checking struct {
	c         *console
	in        input
	format    formatFlag
	o         muster.CheckOptions
	e         exploreFlags
	any       anyFlag
	how       report.TextOptions
	known     baselineFlag
	trace     traceFlag
	reports   reportFlag
	failOn    string
	schedules string
	// unwritten is why a file besides the answer is not there: that hides no answer.
	unwritten error
}

func (k *checking) run(cmd *cobra.Command, args []string) error {
	switch {
	case k.failOn != "error" && k.failOn != "warning":
		return fmt.Errorf("--fail-on %s: there are error and warning", k.failOn)
	case k.how.First < 0:
		return fmt.Errorf("--first %d: want at least 1", k.how.First)
	case k.how.Brief && (k.how.All || k.how.First > 0):
		return errors.New("--brief writes no finding in full: it does not go with --all or --first")
	}
	if err := checkFolder("--schedule-dir", k.schedules); err != nil {
		return err
	}
	if err := k.alone(args); err != nil {
		return err
	}
	for _, r := range k.reports {
		k.in.outputs = append(k.in.outputs, r.file)
	}
	k.in.outputs = append(k.in.outputs, string(k.trace))
	if err := spared(nil, args, k.in.outputs); err != nil {
		return err
	}
	w, err := k.c.begin(&k.in)
	if err != nil {
		return err
	}
	defer w.close()
	k.o.FailOnWarning, k.o.SoFar = k.failOn == "warning", w.tell
	if err := k.e.options(&k.o); err != nil {
		return err
	}
	if err := k.known.read(&k.o); err != nil {
		return err
	}
	if len(args) > 1 {
		return w.exit(k.files(w, cmd, args))
	}
	all := k.stages(false)
	err = all.end(k.file(w, cmd, args, all, true))
	err = k.reports.write(k.c, err, func(c *console, format formatFlag) error { return all.emit(c, format, k.how) })
	if answered := exit(0); k.unwritten != nil && (err == nil || errors.As(err, &answered)) {
		err = k.unwritten
	}
	return w.exit(err)
}

func (k *checking) stages(part bool) *stages {
	return &stages{c: k.c, format: k.format, clean: "all schedules of all %d launches", alone: k.e.alone(), single: k.trace.flag(), part: part, keep: len(k.reports) > 0}
}

// file checks one launch file; last says that no other follows.
func (k *checking) file(w *work, cmd *cobra.Command, args []string, all *stages, last bool) error {
	return all.each(w, &k.in, cmd, args, func(ctx context.Context, l *muster.Launch, words string, end bool) (*muster.RunResult, error) {
		k.o.Arguments = words
		r, err := k.any.check(ctx, l, k.o)
		if r == nil {
			return nil, k.e.named(err)
		}
		if last && end {
			w.answered()
		}
		if all.add(r.Verdict, r); all.together() || k.format.exports() {
			inFlags(r)
			keepSchedules(r)
		} else if err := k.c.write(r, k.format, k.how); err != nil {
			return nil, err
		}
		k.unwritten = cmp.Or(k.unwritten, k.c.writeSchedules(ctx, k.schedules, l, r), k.trace.checked(ctx, k.c, l, r))
		return nil, nil
	})
}

func (c *console) write(r *muster.Report, format formatFlag, how report.TextOptions) error {
	inFlags(r)
	keepSchedules(r)
	switch {
	case format == "json":
		return r.WriteJSON(c.out)
	case format.exports():
		return c.export(format, &report.Export{Reports: []*report.Report{r}, Summary: r.Summary, Verdict: r.Verdict}, false)
	}
	how.AllIs = "--all"
	return r.WriteText(c.out, c.look(how))
}

// status converts a verdict to an exit status.
func status(v muster.Verdict) error {
	if code := v.ExitCode(); code != exitClean {
		return exit(code)
	}
	return nil
}
