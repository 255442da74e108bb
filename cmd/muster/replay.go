package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"muster"
	"muster/report"
)

// A replaying holds the flags of one replay.
type replaying struct {
	in       input
	format   formatFlag
	schedule string
	id       string
	tell     muster.TellOptions
	shrink   bool
}

func replayCommand(c *console) *cobra.Command {
	var r replaying
	cmd := &cobra.Command{
		Use:   "replay LAUNCH|FILE.ptx --schedule SCHEDULE|@FILE --finding ID",
		Short: "Show a finding again, in the schedule that showed it, step by step",
		Long: `Replay runs the launch under one schedule and prints the evidence of one
finding, byte for byte as check printed it, and then the story of the run: the
steps that touch the finding's barriers and bytes or that order its warps, with
the ledger of each barrier after a step that touched it. Other steps are folded
into stretches. Each finding of check ends in its replay line. Without --finding
it prints all that this schedule shows.

The run of a story is made twice, choice by choice; that both are the same is
checked.

  --until N          stop after step N and say where every split stands
  --print barriers   show the barriers too, at the end or after step N; also
                     ops (asynchronous operations in flight), columns (of
                     tensor memory, and who allocated them) and
                     memory:NAME[i:j] (elements of a buffer or a variable;
                     NAME@1 of CTA 1)
  --steps            tell every step
  --shrink           look for the smallest schedule that shows the finding, and
                     tell that

A schedule is a policy (earliest, latest, round-robin, random:SEED), or explicit
choices and then a policy: s0,r0.0.0*3,m1/latest starts the cluster of CTA 0,
lets warp 0 of it (the split whose lowest lane is 0) take three steps, advances
operation 1 by a milestone, and goes on as latest does. @FILE reads one that
check --schedule-dir or reduce wrote; it names the launch and the finding, too.

Exit status 1 if the finding is there again, 3 if this schedule does not show
it: then the kernel or the launch is another one.
` + launchHelp,
		Example: `  muster replay examples/ring/broken_count.yaml --schedule latest
  muster replay ring.yaml --schedule random:2 --finding race-shared@ring.ptx:118,131
  muster replay --schedule @race.schedule --until 20 --print barriers`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(c, cmd, args) },
	}
	f := cmd.Flags()
	r.in.register(f)
	r.format.register(f)
	f.StringVar(&r.schedule, "schedule", "earliest", "the `schedule`, or @FILE")
	f.StringVar(&r.id, "finding", "", "the finding, `kind@file.ptx:lines`, as its replay line has it")
	f.IntVar(&r.tell.Until, "until", 0, "stop after step `N`")
	f.BoolVar(&r.tell.All, "steps", false, "tell every step")
	f.BoolVar(&r.shrink, "shrink", false, "tell the smallest schedule that shows the finding")
	f.StringArrayVar(&r.tell.Print, "print", nil, "show `what` of the state: barriers, ops, columns, memory:NAME[i:j]")
	return cmd
}

func (r *replaying) run(c *console, cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("until") && r.tell.Until < 1 {
		return fmt.Errorf("--until %d: steps are numbered from 1", r.tell.Until)
	}
	file, err := readSchedule(r.schedule)
	if err != nil {
		return err
	}
	if r.id == "" {
		r.id = file.finding
	}
	if r.shrink && r.id == "" {
		return errors.New("--shrink needs a --finding")
	}
	s, err := muster.ParseSchedule(file.schedule)
	if err != nil {
		return err
	}
	if args, err = file.takeLaunch(&r.in, args); err != nil {
		return err
	}
	w, err := c.begin(&r.in)
	if err != nil {
		return err
	}
	defer w.close()
	l, words, err := r.in.load(w, cmd, args)
	if err != nil {
		return err
	}
	if r.shrink {
		got, err := l.Shrink(w, s, r.id, muster.ShrinkOptions{})
		switch {
		case err == nil:
			s = got.Schedule
		case !asItIs(err):
			return err
		} // else the check below reports whether it is there
	}
	rep, err := l.Check(w, muster.CheckOptions{Schedules: []muster.Schedule{s}, Jobs: 1, Arguments: words, Mode: muster.OnlySchedules})
	if rep == nil {
		return err
	}
	if r.id == "" {
		return w.exit(r.everything(w, c, l, s, rep))
	}
	return w.exit(r.one(w, c, l, s, rep))
}

// everything prints the report, and the story if requested.
func (r *replaying) everything(w *work, c *console, l *muster.Launch, s muster.Schedule, rep *muster.Report) error {
	var told *muster.Story
	if r.tell.All || r.tell.Until > 0 || len(r.tell.Print) > 0 {
		var err error
		if told, err = c.tell(w, l, s, r.tell); err != nil {
			return err
		}
	}
	w.answered()
	if r.format == "json" {
		if err := c.writeReplay(rep, told); err != nil {
			return err
		}
		return status(rep.Verdict)
	}
	if told != nil {
		if err := told.WriteText(c.out); err != nil {
			return err
		}
		fmt.Fprintln(c.out)
	}
	if r.tell.Until == 0 {
		if err := c.write(rep, r.format, report.TextOptions{All: true}); err != nil {
			return err
		}
	}
	return status(rep.Verdict)
}

// one prints only the finding with the given ID, and its story.
func (r *replaying) one(w *work, c *console, l *muster.Launch, s muster.Schedule, rep *muster.Report) error {
	all := rep.Findings
	rep.Findings = nil
	for _, f := range all {
		if f.Is(r.id) {
			rep.Findings = append(rep.Findings, f)
		}
	}
	schedule := "the launch, without a run,"
	if len(rep.Schedules) > 0 {
		schedule = "schedule " + rep.Schedules[0]
	}
	if len(rep.Findings) == 0 {
		fmt.Fprintf(c.out, "%s does not show %s: the kernel, the launch or muster is another than when it was found\n", schedule, r.id)
		for _, g := range rep.Gaps {
			fmt.Fprintf(c.out, "the run is incomplete: %s\n", g.What)
		}
		return exit(exitIncomplete)
	}
	rep.Rename(r.id)
	var told *muster.Story
	if len(rep.Schedules) > 0 {
		r.tell.Finding = r.id
		var err error
		if told, err = c.tell(w, l, s, r.tell); err != nil {
			return c.notShown(err)
		}
	}
	w.answered()
	if r.format == "json" {
		if err := c.writeReplay(rep, told); err != nil {
			return err
		}
		return exit(exitFindings)
	}
	if r.tell.Until == 0 {
		for i := range rep.Findings {
			if err := rep.Findings[i].WriteEvidence(c.out, report.TextOptions{Color: c.color()}); err != nil {
				return err
			}
		}
		fmt.Fprintln(c.out)
	}
	again := ""
	if told != nil {
		if err := told.WriteText(c.out); err != nil {
			return err
		}
		again = ", twice the same"
		fmt.Fprintln(c.out)
	}
	fmt.Fprintf(c.out, "reproduced in %s%s\n", briefSchedule(strings.TrimSuffix(schedule, ",")), again)
	return exit(exitFindings)
}

// tell tells a run; if that is impossible, it says why on standard error.
func (c *console) tell(ctx context.Context, l *muster.Launch, s muster.Schedule, o muster.TellOptions) (*muster.Story, error) {
	told, err := l.Tell(ctx, s, o)
	var untold *muster.Untold
	if errors.As(err, &untold) && ctx.Err() == nil {
		fmt.Fprintln(beside{c}, "muster:", options.Replace(untold.Error()))
		return nil, nil
	}
	return told, err
}

// notShown reports that a schedule does not show a finding: a result, not an error.
func (c *console) notShown(err error) error {
	var not *muster.NotShown
	if !errors.As(err, &not) {
		return err
	}
	fmt.Fprintln(c.out, options.Replace(not.Error()))
	return exit(exitIncomplete)
}

// writeReplay writes the report as JSON, with the story in it.
func (c *console) writeReplay(rep *muster.Report, told *muster.Story) error {
	inFlags(rep)
	if told == nil {
		return rep.WriteJSON(c.out)
	}
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		*muster.Report
		Story *muster.Story `json:"story"`
	}{rep.Filled(), told})
}

// briefSchedule replaces a long schedule by "this schedule".
func briefSchedule(text string) string {
	if len(text) > 60 {
		return "this schedule"
	}
	return text
}
