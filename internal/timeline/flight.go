package timeline

import (
	"muster/internal/machine"
	"muster/report"
)

// This file shows how many bytes a CTA's copies have in flight.

// A flight counts the bytes of a CTA's copies from issue to signal.
type flight struct {
	track uint64
	bytes int64
	shown int64
}

// copies are the operations that move bytes from memory to memory. Operands of the tensor cores
// are read in place, and tensor memory is no wire.
var copies = map[machine.OpKind]bool{machine.OpCpAsync: true, machine.OpBulkCopy: true, machine.OpBulkReduce: true,
	machine.OpBulkPrefetch: true, machine.OpStAsync: true, machine.OpRedAsync: true}

// fly adds bytes to those in flight of what issued an operation.
func (r *Recorder) fly(o *machine.Op, sign int64) {
	if !copies[o.Kind] {
		return
	}
	c := r.cta(o.CTA)
	if c.flight == nil {
		c.flight = &flight{track: r.track(report.TraceTrack{Parent: c.track, Name: "bytes in flight", Text: "of the CTA's copies, from issue to signal",
			Counter: true, Unit: "bytes", Rank: firstBarrier - 1, Kind: report.TrackCounter})}
	}
	c.flight.bytes += sign * r.moved(o)
	r.now.flown = c.flight
}

// flown shows the bytes in flight after a step that changed them.
func (r *Recorder) flown() {
	if f := r.now.flown; f != nil && f.bytes != f.shown {
		f.shown = f.bytes
		r.out.Mark(report.TraceMark{Kind: report.TraceValue, Track: f.track, Time: r.now.n, Value: f.bytes})
	}
}
