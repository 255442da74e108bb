package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"muster"
	"muster/internal/answer"
	"muster/internal/diag"
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
	trace    traceFlag
	picture  pictureFlag
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
  muster replay r.yaml --schedule random:2 --finding race-shared@ring.ptx:118,131
  muster replay --schedule @race.schedule --until 20 --print barriers`,
		Args: atMost(1, aLaunch),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(c, cmd, args) },
	}
	f := cmd.Flags()
	r.in.register(f)
	r.format.register(f)
	r.trace.register(f, "the run")
	r.picture.register(f, "the finding, its places among the steps that lead there,")
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
	if err := checkFindingID(r.id); err != nil {
		return err
	}
	if r.picture != "" && r.id == "" {
		return errors.New("--picture draws one finding: name it by --finding")
	}
	if r.picture != "" && r.tell.Until > 0 {
		return errors.New("--picture draws the whole story; --until ends it early")
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
	r.in.outputs = []string{string(r.trace), string(r.picture)}
	w, err := c.begin(&r.in)
	if err != nil {
		return err
	}
	defer w.close()
	l, words, err := r.in.load(w, cmd, args)
	if err != nil {
		return err
	}
	show := answer.Replay{Schedule: s, Finding: r.id, Shrink: r.shrink, Tell: r.tell, Arguments: words}
	got, err := show.Show(w, l)
	if got == nil {
		return err
	}
	if err := c.notShown(err); err != nil {
		return w.exit(err)
	}
	if got.Untold != nil {
		fmt.Fprintln(beside{c}, "muster:", options.Replace(got.Untold.Error()))
	}
	untraced := cmp.Or(r.traced(w, c, l, got.Report), r.picture.finding(c, got))
	w.answered()
	err = r.write(c, got)
	if answered := exit(0); untraced != nil && (err == nil || errors.As(err, &answered)) {
		err = untraced // that does not hide what was shown
	}
	return w.exit(err)
}

// traced writes the trace of the run that was shown; without --finding, it marks the first
// finding.
func (r *replaying) traced(w *work, c *console, l *muster.Launch, rep *muster.Report) error {
	if r.trace == "" {
		return nil
	}
	var s muster.Schedule
	if len(rep.Schedules) > 0 {
		var err error
		if s, err = muster.ParseSchedule(rep.Schedules[0]); err != nil {
			return err
		}
	}
	id := r.id
	if id == "" {
		_, id = first(rep, s)
	}
	return r.trace.write(w, c, l, s, id)
}

// write writes what the schedule shows.
func (r *replaying) write(c *console, got *answer.Shown) error {
	rep := inFlags(got.Report)
	if got.Absent() {
		if err := notOne(r.id, got.All); err != nil {
			return err
		}
	}
	var err error
	if r.format == "json" && !got.Absent() {
		err = c.writeReplay(rep, got.Story)
	} else {
		if r.id == "" {
			keepSchedules(rep)
		}
		err = got.WriteText(c.out, c.look(report.TextOptions{AllIs: "--all"}))
	}
	switch {
	case err != nil:
		return err
	case got.Absent():
		return exit(exitIncomplete)
	case r.id != "":
		return exit(exitFindings)
	}
	return status(rep.Verdict)
}

// notOne is the error about a kind in the place of a finding's ID, where there are findings of
// that kind.
func notOne(id string, all []muster.Finding) error {
	var list []string
	for _, f := range all {
		if f.Kind == id {
			list = append(list, f.ID)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("--finding %s: a kind; name one finding by its ID: %s", id, diag.Several(list))
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
