package timeline

import (
	"muster/internal/machine"
	"muster/report"
)

// This file shows asynchronous operations: a slice from the step that issues one to the step
// that signals its completion, and within it a slice for each stage.

// An op is an operation in flight.
type op struct {
	of            *machine.Op
	row           *row
	begin         int64
	source, wrote int64 // when its source was read, and its destination written; 0: not yet
	from          []uint64
	flow          uint64 // the arrow from what issued it
	group         int64  // which of its warp's groups of its mechanism it is in; 0: not closed so far
	meets         []meeting
}

// groups names the groups of a warp's operations of one mechanism.
type groups struct {
	cta, warp int32
	of        machine.Group
}

// committed records which operations in flight a commit makes a group.
func (r *Recorder) committed(ev *machine.Event) {
	key := groups{ev.CTA, ev.Warp, ev.Group}
	r.closed[key]++
	for _, o := range r.ops {
		if o.group == 0 && o.of.CTA == ev.CTA && o.of.Warp == ev.Warp && o.of.Group == ev.Group && (o.of.Kind.ByWarp() || ev.Mask>>o.of.Lane&1 != 0) {
			o.group = r.closed[key]
		}
	}
}

// issued records an operation that the step issues.
func (r *Recorder) issued(o *machine.Op) {
	w := r.warp(o.CTA, o.Warp)
	r.flows++
	r.now.from = append(r.now.from, r.flows)
	at := &op{of: o, begin: r.now.n - 1, flow: r.flows, row: r.row(w, report.TrackOperation, r.names.Op(o), "asynchronous operations, from issue to signal", r.now.n-1)}
	r.ops[o.ID], r.now.op = at, at.row.track
	r.fly(o, 1)
}

// milestone records how far an operation has come.
func (r *Recorder) milestone(ev *machine.Event) {
	o := r.ops[ev.Op.ID]
	if o == nil {
		return
	}
	r.now.op = o.row.track
	switch ev.Kind {
	case machine.EvSource:
		o.source = r.now.n
	case machine.EvWritten:
		o.wrote = r.now.n
	default:
		r.ended(o, r.now.n, "")
		r.fly(o.of, -1)
	}
}

// ended shows an operation; how says so if it has not signalled.
func (r *Recorder) ended(o *op, end int64, how string) {
	delete(r.ops, o.of.ID)
	o.row.free(end)
	p := r.place(o.of.PC)
	args := []report.TraceArg{{Name: "operation", Number: o.of.ID}, {Name: "instruction", Text: p.name}, {Name: "bytes", Number: r.moved(o.of)}}
	for _, a := range []report.TraceArg{
		{Name: "reads", Text: r.names.Spans(o.of.Reads, o.of.CTA)}, {Name: "writes", Text: r.names.Spans(o.of.Writes, o.of.CTA)}, {Name: "ended", Text: how},
	} {
		if a.Text != "" {
			args = append(args, a)
		}
	}
	if o.group > 0 {
		args = append(args, report.TraceArg{Name: "group", Number: o.group})
	}
	for i, b := range o.of.Bars {
		if i == 1 {
			args = append(args, report.TraceArg{Name: "barriers", Number: int64(len(o.of.Bars))})
			break
		}
		args = append(args, report.TraceArg{Name: "barrier", Text: r.names.Mbar(b, -1)})
	}
	args = meetings(args, o.meets)
	r.out.Mark(report.TraceMark{Kind: report.TraceBegin, Track: o.row.track, Time: o.begin, Name: r.names.Op(o.of), Category: catOp,
		From: o.from, To: []uint64{o.flow}, File: p.file, Line: p.line, PTX: p.ptx, PTXLine: p.ptxLine, Args: args})
	r.stages(o, end)
	r.out.Mark(report.TraceMark{Kind: report.TraceEnd, Track: o.row.track, Time: end})
}

// stages shows the stages of an operation that last.
func (r *Recorder) stages(o *op, end int64) {
	if o.of.Kind == machine.OpCpAsync { // one for each lane: the slice has to do
		return
	}
	names := [3]string{"source not read", "source read", "written, not signalled"}
	at := o.begin
	for i, until := range [3]int64{o.source, o.wrote, end} {
		last := until == 0
		if last {
			until = end
		}
		if until > at {
			r.slice(o.row.track, at, until, report.TraceMark{Name: names[i], Category: catStage})
		}
		if at = until; last {
			return
		}
	}
}

// moved is how many bytes an operation brings: those that it writes, or else reads.
func (r *Recorder) moved(o *machine.Op) (n int64) {
	spans := o.Writes
	if len(spans) == 0 {
		spans = o.Reads
	}
	for _, s := range spans {
		n += int64(s.Len)
	}
	return n
}
