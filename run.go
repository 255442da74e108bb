package muster

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"muster/internal/machine"
	"muster/internal/rules"
	"muster/launch"
	"muster/report"
)

// RunOptions say how to run.
type RunOptions struct {
	Schedule Schedule // default: earliest
	// Jobs is how many groups of clusters run at the same time, where they share nothing
	// that is written; by default one per processor. It does not change the result.
	Jobs      int
	Arguments string // as in CheckOptions
}

// A RunResult is how one run ended.
type RunResult struct {
	Schedule string
	Launch   report.Launch
	// Warps and Lanes count executed instructions: per warp, and per active lane.
	Warps, Lanes int64
	Output       []byte // what the kernel printed
	Comparisons  []Comparison
	// Report says why a run stopped early: by a fault, in a deadlock, at a limit. It is
	// nil for a run that completed.
	Report *Report

	launch *Launch
	mem    *machine.Machine
}

// A Comparison is a buffer against what the launch file expects of it.
type Comparison struct {
	Buffer string
	File   string
	launch.Comparison
}

// Run executes the launch under one schedule, without checks, and compares its buffers
// with what is expected, if the run completes. The error may be ctx's, and then comes
// with a partial result.
func (l *Launch) Run(ctx context.Context, o RunOptions) (*RunResult, error) {
	co := CheckOptions{Schedules: []Schedule{o.Schedule}, Jobs: 1, Arguments: o.Arguments, Mode: OnlySchedules}
	if len(l.findings) > 0 {
		r := l.report(co, nil, merged{})
		return &RunResult{Schedule: o.Schedule.String(), Launch: r.Launch, Report: r, launch: l}, nil
	}
	ctx = l.subject.Within(ctx, 1)
	with, rest, _ := l.withSizes(co.Schedules)
	w := l.subject.Budget(ctx)
	w.Meter.Stage("running", "", 0)
	m, gap, err := with.subject.Run(w, rest[0].of, o.Jobs)
	if err != nil {
		return nil, err
	}
	r, err := l.ended(ctx, m, gap, co)
	return r, cmp.Or(err, ctx.Err())
}

// ended makes a run's result. A run that faulted or hangs is repeated under the checks,
// for its evidence.
func (l *Launch) ended(ctx context.Context, m *machine.Machine, gap *rules.Gap, co CheckOptions) (*RunResult, error) {
	r := &RunResult{Schedule: co.Schedules[0].String(), Output: m.Output(), launch: l, mem: m}
	r.Warps, r.Lanes = m.Instrs()
	var all merged
	if gap != nil {
		all.AddGap(*gap)
	}
	rep := l.report(co, inner(co.Schedules), all)
	r.Launch = rep.Launch
	switch {
	case len(rep.Gaps) > 0:
		r.Report = rep
	case m.Stopped() != nil:
		again, err := l.Check(ctx, co)
		if again == nil {
			return nil, err
		}
		r.Report = again
	}
	if m.Stopped() == nil && gap == nil {
		return r, r.compare()
	}
	return r, nil
}

func (r *RunResult) compare() error {
	for _, x := range r.launch.file.Expect {
		data, err := r.Buffer(x.Buffer)
		if err != nil {
			return err
		}
		c, err := r.launch.layout.Compare(x, data)
		if err != nil {
			return err
		}
		r.Comparisons = append(r.Comparisons, Comparison{Buffer: x.Buffer, File: x.File, Comparison: c})
	}
	return nil
}

// OK reports whether the run completed and left the expected contents.
func (r *RunResult) OK() bool { return r.Verdict() == report.Clean }

// Verdict is findings if the run failed, or an array differs; incomplete if
// something was not modelled or a limit ran out.
func (r *RunResult) Verdict() Verdict {
	for i := range r.Comparisons {
		if !r.Comparisons[i].OK() {
			return report.Findings
		}
	}
	switch {
	case r.Report == nil:
		return report.Clean
	case r.Report.Verdict == report.Clean:
		// It stopped, and the checks found no fault.
		return report.Incomplete
	}
	return r.Report.Verdict
}

// Buffer returns a buffer's contents after the run.
func (r *RunResult) Buffer(name string) ([]byte, error) {
	b := r.launch.layout.Buffer(name)
	if b == nil {
		return nil, fmt.Errorf("no buffer is called %q", name)
	}
	data := make([]byte, b.Size)
	switch {
	case r.mem == nil:
		copy(data, b.Data)
	case b.Size > 0 && !r.mem.ReadGlobal(b.Base, data):
		return nil, fmt.Errorf("buffer %q cannot be read back", name)
	}
	return data, nil
}

// WriteArray writes a buffer's contents after the run as .npy.
func (r *RunResult) WriteArray(w io.Writer, name string) error {
	data, err := r.Buffer(name)
	if err != nil {
		return err
	}
	return r.launch.layout.Buffer(name).WriteArray(w, data)
}
