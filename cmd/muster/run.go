package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"muster"
	"muster/internal/diag"
	"muster/internal/files"
	"muster/report"
)

func runCommand(c *console) *cobra.Command {
	var in input
	var format formatFlag
	var schedule string
	var jobs int
	var outs []string
	cmd := &cobra.Command{
		Use:   "run LAUNCH|FILE.ptx|FILE.cu",
		Short: "Execute a launch and compare what it leaves behind",
		Long: `Run executes the launch under one schedule, prints what the kernel prints, and
compares each buffer that the launch file expects something of. It checks no
synchronization; that is 'muster check'.

Exit status 1 if an array differs, or if the kernel faults or hangs.
` + launchHelp,
		Example: `  muster run examples/ring/ring.yaml
  muster run examples/ring/ring.yaml --schedule random:3 --out out=got.npy`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := muster.ParseSchedule(schedule)
			if err != nil {
				return err
			}
			w, err := c.begin(&in)
			if err != nil {
				return err
			}
			defer w.close()
			all := stages{c: c, format: format, clean: "all %d launches ran to their end"}
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
				if all.add(r.Verdict(), runForm(r)); all.together() {
					return r, nil
				}
				return r, c.result(r, format)
			})
			return w.exit(all.end(err))
		},
	}
	f := cmd.Flags()
	in.register(f)
	format.register(f)
	f.StringVar(&schedule, "schedule", "earliest", "the `schedule`: earliest, latest, round-robin, random:SEED")
	f.IntVar(&jobs, "jobs", 0, "groups of clusters that share nothing written to run at a time; default: one a processor")
	f.StringArrayVar(&outs, "out", nil, "write a buffer when the run has come to its end, `name=file.npy`")
	return cmd
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

func (c *console) result(r *muster.RunResult, format formatFlag) error {
	if format == "json" {
		e := json.NewEncoder(c.out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(runForm(r))
	}
	if len(r.Output) > 0 {
		c.out.Write(r.Output)
		if r.Output[len(r.Output)-1] != '\n' {
			fmt.Fprintln(c.out)
		}
	}
	if r.Report != nil {
		if err := c.write(r.Report, format, report.TextOptions{}); err != nil {
			return err
		}
	}
	for _, x := range r.Comparisons {
		fmt.Fprintf(c.out, "%s: %s (%s)\n", x.Buffer, x.Comparison, filepath.Base(x.File))
	}
	if r.Report == nil {
		l := &r.Launch
		fmt.Fprintf(c.out, "%s ran to its end in schedule %s: %s, %s; %d warp instructions, %d of lanes\n",
			l.Kernel, r.Schedule, diag.Plural(l.CTAs, "CTA"), diag.Plural(l.Threads, "thread"), r.Warps, r.Lanes)
	}
	return nil
}

// The JSON form of a run; versioned with the report's.
type runJSON struct {
	Version     int              `json:"version"`
	Verdict     muster.Verdict   `json:"verdict"`
	Schedule    string           `json:"schedule"`
	Launch      any              `json:"launch"`
	Warps       int64            `json:"warp_instructions"`
	Lanes       int64            `json:"lane_instructions"`
	Output      string           `json:"output"`
	Comparisons []comparisonJSON `json:"comparisons"`
	Report      *muster.Report   `json:"report"` // null if the run came to its end
}

type comparisonJSON struct {
	Buffer   string  `json:"buffer"`
	File     string  `json:"file"`
	OK       bool    `json:"ok"`
	Elements int64   `json:"elements"`
	Differ   int64   `json:"differ"`
	Index    []int64 `json:"first_index"` // null if all agree
	Got      string  `json:"got,omitempty"`
	Want     string  `json:"want,omitempty"`
	MaxAbs   string  `json:"max_abs"` // a string, because it may be infinite
	MaxRel   string  `json:"max_rel"`
	MaxULP   uint64  `json:"max_ulp"`
}

// runForm returns the JSON form of a run.
func runForm(r *muster.RunResult) runJSON {
	j := runJSON{
		Version: 1, Verdict: r.Verdict(), Schedule: r.Schedule, Launch: r.Launch, Warps: r.Warps, Lanes: r.Lanes,
		Output: string(r.Output), Comparisons: []comparisonJSON{}, Report: inFlags(r.Report),
	}
	for _, x := range r.Comparisons {
		j.Comparisons = append(j.Comparisons, comparisonJSON{
			Buffer: x.Buffer, File: x.File, OK: x.OK(), Elements: x.Elements, Differ: x.Count, Index: x.Index,
			Got: x.Got, Want: x.Want, MaxAbs: fmt.Sprint(x.MaxAbs), MaxRel: fmt.Sprint(x.MaxRel), MaxULP: x.MaxULP,
		})
	}
	return j
}
