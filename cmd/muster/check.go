package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"muster"
	"muster/report"
)

func checkCommand(c *console) *cobra.Command {
	var in input
	var format formatFlag
	var o muster.CheckOptions
	var e exploreFlags
	var any anyFlag
	var how report.TextOptions
	failOn, schedules := "error", ""
	cmd := &cobra.Command{
		Use:   "check LAUNCH|FILE.ptx|FILE.cu",
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
` + launchHelp,
		Example: `  muster check examples/ring/ring.yaml
  muster check examples/ring/broken_count.yaml --schedules 20 --format json
  muster check k.ptx --grid 1 --block 128 --buffer 'in=f32[1024]:iota' --arg in`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case failOn != "error" && failOn != "warning":
				return fmt.Errorf("--fail-on %s: there are error and warning", failOn)
			case how.First < 0:
				return fmt.Errorf("--first %d: want at least 1", how.First)
			case how.Brief && (how.All || how.First > 0):
				return errors.New("--brief writes no finding in full: it does not go with --all or --first")
			}
			w, err := c.begin(&in)
			if err != nil {
				return err
			}
			defer w.close()
			o.FailOnWarning, o.SoFar = failOn == "warning", w.tell
			if err := e.options(&o); err != nil {
				return err
			}
			all := stages{c: c, format: format, clean: "all schedules of all %d launches", alone: e.alone()}
			err = all.each(w, &in, cmd, args, func(ctx context.Context, l *muster.Launch, words string, last bool) (*muster.RunResult, error) {
				o.Arguments = words
				r, err := any.check(ctx, l, o)
				if r == nil {
					return nil, e.named(err)
				}
				if last {
					w.answered()
				}
				if all.add(r.Verdict, r); all.together() {
					inFlags(r)
					keepSchedules(r)
				} else if err := c.write(r, format, how); err != nil {
					return nil, err
				}
				return nil, c.writeSchedules(ctx, schedules, l, r)
			})
			return w.exit(all.end(err))
		},
	}
	f := cmd.Flags()
	in.register(f)
	format.register(f)
	any.register(f)
	f.StringVar(&schedules, "schedule-dir", "", "a `folder` for a file a finding: its schedule, shrunk, for replay")
	f.IntVar(&o.Jobs, "jobs", 0, "schedules, or parts of them, to run at a time; default: one a processor")
	e.register(f)
	costFlag(f, &o)
	f.BoolVar(&o.Values, "values", false, "compute what matrix instructions compute even where it decides nothing")
	f.BoolVar(&how.All, "all", false, "write every finding in full, those of one cause too")
	f.BoolVar(&how.Brief, "brief", false, "write one line for each cause")
	f.IntVar(&how.First, "first", 0, "how many causes to write in full; default: all")
	f.StringVar(&failOn, "fail-on", failOn, "the least `severity` that makes the verdict findings: error or warning")
	return cmd
}

func (c *console) write(r *muster.Report, format formatFlag, how report.TextOptions) error {
	inFlags(r)
	keepSchedules(r)
	if format == "json" {
		return r.WriteJSON(c.out)
	}
	how.Color, how.AllIs = c.color(), "--all"
	return r.WriteText(c.out, how)
}

// status converts a verdict to an exit status.
func status(v muster.Verdict) error {
	if code := v.ExitCode(); code != exitClean {
		return exit(code)
	}
	return nil
}
