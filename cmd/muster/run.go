package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"muster"
	"muster/internal/answer"
	"muster/internal/files"
	"muster/report"
)

func runCommand(c *console) *cobra.Command {
	var in input
	var format formatFlag
	var schedule string
	var jobs int
	var outs []string
	var trace traceFlag
	var profile profileFlag
	var picture pictureFlag
	cmd := &cobra.Command{
		Use:   "run LAUNCH|FILE.ptx|FILE.cu",
		Short: "Execute a launch and compare what it leaves behind",
		Long: `Run executes the launch under one schedule, prints what the kernel prints, and
compares each buffer that the launch file expects something of. It checks no
synchronization; that is 'muster check'.

Exit status 1 if an array differs, or if the kernel faults or hangs.
` + launchHelp,
		Example: `  muster run examples/ring/ring.yaml
  muster run examples/ring/ring.yaml --profile
  muster run examples/ring/ring.yaml --schedule random:3 --out out=got.npy`,
		Args: atMost(1, aLaunch),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := muster.ParseSchedule(schedule)
			if err != nil {
				return err
			}
			in.outputs = []string{string(trace), string(picture)}
			w, err := c.begin(&in)
			if err != nil {
				return err
			}
			defer w.close()
			all := stages{c: c, format: format, clean: "all %d launches ran to their end", single: cmp.Or(trace.flag(), profile.flag(), picture.flag())}
			err = all.each(w, &in, cmd, args, func(ctx context.Context, l *muster.Launch, words string, last bool) (*muster.RunResult, error) {
				if err := checkOuts(l, outs); err != nil {
					return nil, err
				}
				r, err := l.Run(ctx, muster.RunOptions{Schedule: s, Jobs: jobs, Arguments: words})
				if r == nil || err != nil && w.Err() == nil { // as of an array that cannot be read
					return nil, err
				}
				if last {
					w.answered()
				}
				if r.Report == nil && last { // else the buffers are not the results
					if err := writeOuts(r, outs); err != nil {
						return nil, err
					}
				}
				shown, id := first(r.Report, s)
				form := runForm(r)
				unprofiled := profile.make(w, l, shown)
				form.Profile = profile.of
				if all.add(r.Verdict(), form); all.together() {
					return r, nil
				}
				if err := c.result(r, form, format); err != nil {
					return r, err
				}
				return r, cmp.Or(c.unshown(profile.write(c, format, unprofiled), r), c.unshown(picture.run(w, c, l, shown, id), r), trace.write(w, c, l, s, id))
			})
			return w.exit(all.end(err))
		},
	}
	f := cmd.Flags()
	in.register(f)
	format.register(f)
	trace.register(f, "the run")
	profile.register(f)
	picture.register(f, "the run, its copies and the slots of its rings over time")
	f.StringVar(&schedule, "schedule", "earliest", "the `schedule`: earliest, latest, round-robin, random:SEED")
	jobsFlag(f, &jobs, "groups of clusters that share nothing written to run at a time; default: one a processor")
	f.StringArrayVar(&outs, "out", nil, "write a buffer when the run has come to its end, `name=file.npy`")
	return cmd
}

// unshown says that a run could not be shown, where that does not hide what it came to.
func (c *console) unshown(err error, r *muster.RunResult) error {
	var untold *muster.Untold
	if errors.As(err, &untold) && r.Verdict() != report.Clean {
		fmt.Fprintln(beside{c}, "muster:", options.Replace(err.Error()))
		return nil
	}
	return err
}

// checkOuts checks --out before the kernel runs.
func checkOuts(l *muster.Launch, outs []string) error {
	for _, o := range outs {
		name, file, ok := strings.Cut(o, "=")
		if !ok || file == "" {
			return fmt.Errorf("--out %s: want name=file.npy", o)
		}
		if !l.HasBuffer(name) {
			return fmt.Errorf("--out %s: no buffer is called %q", o, name)
		}
	}
	return nil
}

func writeOuts(r *muster.RunResult, outs []string) error {
	for _, o := range outs {
		name, file, _ := strings.Cut(o, "=")
		if err := files.Write(file, func(w io.Writer) error { return r.WriteArray(w, name) }); err != nil {
			return fmt.Errorf("--out %s: %w", o, err)
		}
	}
	return nil
}

func (c *console) result(r *muster.RunResult, form answer.Run, format formatFlag) error {
	if format == "json" {
		e := json.NewEncoder(c.out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(form)
	}
	if inFlags(r.Report) != nil {
		keepSchedules(r.Report)
	}
	if err := answer.WriteRun(c.out, r, c.look(report.TextOptions{AllIs: "--all"})); err != nil {
		return err
	}
	if len(r.Comparisons) > 0 && r.OK() {
		_, err := fmt.Fprintln(c.out, "as expected in this one schedule; 'muster check' says whether in all")
		return err
	}
	return nil
}

// runForm returns the JSON form of a run, with flags for the library's options.
func runForm(r *muster.RunResult) answer.Run {
	inFlags(r.Report)
	return answer.FormOf(r)
}
