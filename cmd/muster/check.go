package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"muster"
	"muster/internal/report"
)

// background is a context that ends with an interrupt.
func background() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt)
}

func checkCommand(c *console) *cobra.Command {
	var in input
	var format formatFlag
	var o muster.CheckOptions
	var random int
	var any anyFlag
	var all bool
	failOn, schedules := "error", ""
	cmd := &cobra.Command{
		Use:   "check LAUNCH|FILE.ptx",
		Short: "Find races, deadlocks and broken barrier protocol",
		Long: `Check runs the launch under a handful of schedules, watches every access and
every synchronization, and reports what is not ordered by the rules of the PTX
memory model, what can hang, and what faults.

The schedules: earliest and latest (asynchronous operations as early, and as
late, as the rules allow), round-robin (one visible operation of each warp in
turn), and random ones, seeded 1, 2, 3 …; --schedules N runs the first N.

A finding names both accesses, the edge that is missing, and what would give
it. Its replay line is a command that shows it again. 'muster explain KIND'
tells what a kind of finding means. Findings alike (one source line, unrolled)
are shown once; --all shows each.

Where nothing that mma and wgmma compute can reach a branch, an address or a
synchronization operand, their arithmetic is left out until something is found;
--values keeps it.

The last line is the verdict. It speaks of the schedules that ran, and of no
others.
` + launchHelp,
		Example: `  muster check examples/ring/ring.yaml
  muster check examples/ring/broken_count.yaml --schedules 20 --format json
  muster check k.ptx --grid 1 --block 128 --buffer 'in=f32[1024]:iota' --arg in`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if random < 1 {
				return fmt.Errorf("--schedules %d: at least one", random)
			}
			if failOn != "error" && failOn != "warning" {
				return fmt.Errorf("--fail-on %s: there are error and warning", failOn)
			}
			l, words, err := in.load(cmd, args)
			if err != nil {
				return err
			}
			o.Arguments, o.FailOnWarning = words, failOn == "warning"
			o.Prove = true
			o.Schedules = muster.Handful(max(0, random-3))[:random]
			ctx, cancel := background()
			defer cancel()
			r, err := any.check(ctx, l, o)
			if err != nil {
				return err
			}
			if err := c.write(r, format, all); err != nil {
				return err
			}
			if err := c.writeSchedules(ctx, schedules, l, r); err != nil {
				return err
			}
			return status(r.Verdict)
		},
	}
	f := cmd.Flags()
	in.register(f)
	format.register(f)
	any.register(f)
	f.StringVar(&schedules, "schedule-dir", "", "a `folder` for a file a finding: its schedule, shrunk, for replay")
	f.IntVar(&o.Jobs, "jobs", 0, "schedules, or parts of them, to run at a time; default: one a processor")
	f.IntVar(&random, "schedules", 3+muster.DefaultRandom, "how many schedules to run, `N`")
	f.BoolVar(&o.Values, "values", false, "compute what matrix instructions compute even where it decides nothing")
	f.BoolVar(&all, "all", false, "write every finding in full, those alike too")
	f.StringVar(&failOn, "fail-on", failOn, "the least `severity` that makes the verdict findings: error or warning")
	return cmd
}

func (c *console) write(r *muster.Report, format formatFlag, all bool) error {
	if format == "json" {
		return r.WriteJSON(c.out)
	}
	return r.WriteText(c.out, report.TextOptions{Color: c.color(), All: all})
}

// status is the verdict as an exit status.
func status(v muster.Verdict) error {
	if code := v.ExitCode(); code != exitClean {
		return exit(code)
	}
	return nil
}
