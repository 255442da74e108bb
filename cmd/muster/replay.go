package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"muster"
	"muster/internal/report"
)

func replayCommand(c *console) *cobra.Command {
	var in input
	var format formatFlag
	var schedule, id string
	cmd := &cobra.Command{
		Use:   "replay LAUNCH|FILE.ptx --schedule SCHEDULE --finding ID",
		Short: "Show a finding again, in the schedule that showed it",
		Long: `Replay runs the launch under one schedule and prints the evidence of one
finding, byte for byte as check printed it. Each finding of check ends in its
replay line. Without --finding it prints all that this schedule shows.

Exit status 1 if the finding is there again, 3 if this schedule does not show
it: then the kernel or the launch is another one.
` + launchHelp,
		Example: `  muster replay examples/ring/broken_count.yaml --schedule latest
  muster replay ring.yaml --schedule random:2 --finding race-shared@ring.ptx:118,131`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := muster.ParseSchedule(schedule)
			if err != nil {
				return err
			}
			l, words, err := in.load(cmd, args)
			if err != nil {
				return err
			}
			ctx, cancel := background()
			defer cancel()
			r, err := l.Check(ctx, muster.CheckOptions{Schedules: []muster.Schedule{s}, Jobs: 1, Arguments: words})
			if err != nil {
				return err
			}
			if id == "" {
				if err := c.write(r, format, true); err != nil {
					return err
				}
				return status(r.Verdict)
			}
			return c.evidence(r, id, format)
		},
	}
	f := cmd.Flags()
	in.register(f)
	format.register(f)
	f.StringVar(&schedule, "schedule", "earliest", "the `schedule`: earliest, latest, round-robin, random:SEED")
	f.StringVar(&id, "finding", "", "the finding, `kind@file.ptx:lines`, as its replay line has it")
	return cmd
}

// evidence prints the finding of that name alone.
func (c *console) evidence(r *muster.Report, id string, format formatFlag) error {
	all := r.Findings
	r.Findings = nil
	for _, f := range all {
		if f.Is(id) {
			r.Findings = append(r.Findings, f)
		}
	}
	schedule := "the launch, without a run,"
	if len(r.Schedules) > 0 {
		schedule = "schedule " + r.Schedules[0]
	}
	if len(r.Findings) == 0 {
		fmt.Fprintf(c.out, "%s does not show %s: the kernel, the launch or muster is another than when it was found\n", schedule, id)
		for _, g := range r.Gaps {
			fmt.Fprintf(c.out, "the run is incomplete: %s\n", g.What)
		}
		return exit(exitIncomplete)
	}
	r.Rename(id)
	if format == "json" {
		if err := r.WriteJSON(c.out); err != nil {
			return err
		}
		return exit(exitFindings)
	}
	for i := range r.Findings {
		if err := r.Findings[i].WriteEvidence(c.out, report.TextOptions{Color: c.color()}); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.out, "\nreproduced in %s\n", strings.TrimSuffix(schedule, ","))
	return exit(exitFindings)
}
