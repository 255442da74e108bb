package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"muster"
	"muster/internal/diag"
	"muster/internal/files"
	"muster/internal/perfetto"
	"muster/report"
)

// A traceFlag is the file that --trace writes a run to; empty for none.
type traceFlag string

func (t *traceFlag) register(fs *pflag.FlagSet, what string) {
	fs.StringVar((*string)(t), "trace", "", "write "+what+" as a trace for ui.perfetto.dev (`file`; docs/trace.md)")
}

// flag is what the flag is called where it is given; else empty.
func (t traceFlag) flag() string {
	if t == "" {
		return ""
	}
	return "--trace"
}

// write writes the trace of a run under a schedule. If a finding is named, its places are
// marked. A file that cannot be written whole is not left.
func (t traceFlag) write(ctx context.Context, c *console, l *muster.Launch, s muster.Schedule, id string) error {
	if t == "" {
		return nil
	}
	var got muster.Traced
	var untraced error
	err := files.Write(string(t), func(w io.Writer) error {
		to := perfetto.NewWriter(w)
		got, untraced = l.Trace(ctx, s, muster.TraceOptions{Finding: id}, to)
		if to.Err() != nil {
			untraced = nil
		}
		return cmp.Or(to.Err(), untraced)
	})
	var untold *muster.Untold
	switch {
	case errors.As(untraced, &untold):
		return &untracedError{string(t), untold}
	case untraced != nil:
		return untraced
	case err != nil:
		return err
	}
	schedule, shows := "schedule "+got.Schedule, ""
	if len(schedule) > 60 {
		schedule = "this schedule"
	}
	if got.Marked {
		shows = ", which shows " + id + ","
	}
	fmt.Fprintf(beside{c}, "muster: %s of %s%s in %s\n", diag.Plural(got.Steps, "step"), schedule, shows, t)
	if got.Cut != "" {
		fmt.Fprintf(beside{c}, "muster: the trace ends before the run: %s\n", options.Replace(got.Cut))
	}
	return nil
}

// An untracedError says why there is no trace of a run.
type untracedError struct {
	file string
	why  *muster.Untold
}

func (e *untracedError) Error() string { return fmt.Sprintf("no trace %s: %s", e.file, e.why.Reason) }
func (e *untracedError) Unwrap() error { return e.why }

// first returns the schedule of the first finding of a report that has one, and the
// finding's ID; or the given schedule.
func first(r *muster.Report, s muster.Schedule) (muster.Schedule, string) {
	if r == nil {
		return s, ""
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if by, err := muster.ParseSchedule(f.Schedule); err == nil && f.Schedule != "" {
			return by, f.ID
		}
	}
	return s, ""
}

// checked writes the trace of what a check found: of its first finding's schedule, or else of
// schedule earliest. That none can be made does not hide what was found.
func (t traceFlag) checked(ctx context.Context, c *console, l *muster.Launch, r *muster.Report) error {
	s, id := first(r, muster.Schedule{})
	err := t.write(ctx, c, l, s, id)
	var untold *muster.Untold
	if errors.As(err, &untold) && r.Verdict != report.Clean {
		fmt.Fprintln(beside{c}, "muster:", options.Replace(err.Error()))
		return nil
	}
	return err
}
