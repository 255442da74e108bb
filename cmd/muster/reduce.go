package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"muster"
	"muster/internal/answer"
	"muster/internal/files"
	"muster/report"
)

func reduceCommand(c *console) *cobra.Command {
	var in input
	var schedule, id, dir string
	var budget int
	cmd := &cobra.Command{
		Use:   "reduce LAUNCH|FILE.ptx --finding KIND|ID",
		Short: "Find the smallest launch and schedule that show a finding",
		Long: `Reduce makes a launch smaller while a finding stays: the same kind, between the
same instructions. It tries smaller grids, blocks where the kernel leaves them
open, and integer arguments (trip counts, sizes); buffers keep their sizes. Then
it looks for the smallest schedule: the fewest switches from one warp or
operation to another, then the fewest steps.

It writes a launch file and a schedule file to --dir, named after the finding,
that replay takes. What the launch file expects of its buffers is left out. The
same input gives the same files.

Exit status 0 if the files were written, 3 if the finding is not there.
` + launchHelp,
		Example: `  muster reduce examples/ring/broken_parity.yaml --finding never-completes
  muster reduce k.yaml --schedule @race.schedule --dir small`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if budget < 1 {
				return fmt.Errorf("--budget %d: at least one run", budget)
			}
			o := muster.ReduceOptions{Runs: budget}
			if schedule != "" {
				sf, err := readSchedule(schedule)
				if err != nil {
					return err
				}
				s, err := muster.ParseSchedule(sf.schedule)
				if err != nil {
					return err
				}
				o.Schedule = &s
				if id == "" {
					id = sf.finding
				}
				if args, err = sf.takeLaunch(&in, args); err != nil {
					return err
				}
			}
			if id == "" {
				return errors.New("--finding says which finding must stay: its kind, or its ID")
			}
			return c.reduce(&in, args, id, dir, o)
		},
	}
	f := cmd.Flags()
	in.register(f)
	f.StringVar(&schedule, "schedule", "", "a `schedule` that shows it, or @FILE; default: look as check does")
	f.StringVar(&id, "finding", "", "the finding, `kind` or kind@file.ptx:lines")
	f.StringVar(&dir, "dir", ".", "the `folder` to write to")
	f.IntVar(&budget, "budget", muster.DefaultReduceRuns, "`runs` to find a smaller launch")
	return cmd
}

func (c *console) reduce(in *input, args []string, id, dir string, o muster.ReduceOptions) error {
	w, err := c.begin(in)
	if err != nil {
		return err
	}
	defer w.close()
	file, err := in.file(args)
	if err != nil {
		return err
	}
	r, err := muster.Reduce(w, file, in.limits, id, o)
	var absent *muster.Absent
	switch {
	case errors.As(err, &absent):
		fmt.Fprintln(c.out, absent)
		return exit(exitIncomplete)
	case r == nil || err != nil && w.Err() == nil && !answer.AsItIs(err):
		return err
	}
	w.answered()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	name := filepath.Join(dir, fileName(r.ID))
	if in.compiled != nil { // the compiler's PTX lies in a cache
		src, err := files.Read(r.File.Launches[0].PTX, maxSource)
		if err != nil {
			return err
		}
		if err := files.WriteBytes(name+".ptx", src); err != nil {
			return err
		}
		r.File.Launches[0].PTX = name + ".ptx"
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "# the smallest launch found that shows %s\n", r.ID)
	if err := r.File.Write(&text, dir); err != nil {
		return err
	}
	if err := files.WriteBytes(name+".yaml", text.Bytes()); err != nil {
		return err
	}
	sf := scheduleFile{launch: []string{report.Quote(name + ".yaml")}, finding: r.ID, schedule: r.Schedule.String()}
	if err := sf.write(name+".schedule", ""); err != nil {
		return err
	}
	if err := answer.WriteReduced(c.out, r); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "\nmuster replay --schedule %s\n", report.Quote("@"+name+".schedule"))
	return w.exit(nil)
}
