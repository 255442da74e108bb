package timeline

import (
	"cmp"
	"fmt"
	"slices"

	"muster/internal/machine"
	"muster/report"
)

// This file shows mbarriers: a slice for each phase, and counters of what it waits for.

// A barrier names an mbarrier's word.
type barrier struct {
	mem  machine.MemID
	addr uint64
}

// phases is what is open of an mbarrier.
type phases struct {
	track, pending, tx uint64
	name               string
	live               bool
	phase, begin       int64
	arrivals, bytes    int64
}

// mbar records an operation on an mbarrier: a lane's, or that of an asynchronous operation.
func (r *Recorder) mbar(ev *machine.Event) {
	e := &ev.Mbar
	at := barrier{e.Bar.Mem, e.Bar.Addr}
	b := r.bars[at]
	if b == nil {
		b = r.newBarrier(e.Bar)
		r.bars[at] = b
		c := r.cta(at.mem.CTA())
		c.bars = append(c.bars, at)
	}
	switch e.Op {
	case machine.MbarInit:
		r.closePhase(b, r.now.n, "initialized again")
		b.live, b.phase, b.begin = true, 0, r.now.n
		r.touch(at)
		return
	case machine.MbarInval:
		r.closePhase(b, r.now.n, "invalidated")
		return
	case machine.MbarArrive, machine.MbarArriveDrop, machine.MbarArriveExpectTx, machine.MbarArriveDropExpectTx, machine.MbarAsyncArrive:
		b.arrivals += int64(max(e.Count, 1))
	case machine.MbarCompleteTx:
		b.bytes += int64(e.Bytes)
	}
	r.touch(at)
	if e.Completed {
		r.completed(at, b, ev)
	}
}

func (r *Recorder) newBarrier(ref machine.BarRef) *phases {
	owner := r.cta(ref.Mem.CTA())
	b := &phases{name: r.names.Mbar(ref, -1)}
	b.track = r.track(report.TraceTrack{Parent: owner.track, Name: "mbarrier " + r.names.Mbar(ref, ref.Mem.CTA()), Text: "a slice a phase", Rank: firstBarrier + int(ref.Addr), Kind: report.TrackMbarrier})
	b.pending = r.track(report.TraceTrack{Parent: b.track, Name: "pending arrivals", Counter: true, Unit: "arrivals", Rank: 1, Kind: report.TrackCounter})
	b.tx = r.track(report.TraceTrack{Parent: b.track, Name: "tx-count", Counter: true, Unit: "bytes", Rank: 2, Kind: report.TrackCounter})
	r.words[barrier{ref.Mem, ref.Addr}] = b.track
	return b
}

func (r *Recorder) touch(at barrier) {
	if !slices.Contains(r.now.touched, at) {
		r.now.touched = append(r.now.touched, at)
	}
}

// completed ends a phase, with an arrow to each wait that it wakes.
func (r *Recorder) completed(at barrier, b *phases, ev *machine.Event) {
	by, from := r.place(ev.PC).name, &r.now.from
	if ev.Op != nil {
		by = r.names.Op(ev.Op)
		if o := r.ops[ev.Op.ID]; o != nil {
			by, from = fmt.Sprintf("%s %d", by, ev.Op.ID), &o.from
		}
	}
	by += " of " + r.names.Agent(ev.CTA, ev.Warp)
	for _, i := range r.near(at.mem.CTA()) {
		warps := r.ctas[i].warps
		for _, k := range sorted(warps) {
			for _, x := range warps[k].waits {
				if x.flow == 0 && slices.Contains(x.tests, test{at, ev.Mbar.Phase}) {
					r.flows++
					x.flow, x.by, x.at = r.flows, by, r.now.n
					*from = append(*from, x.flow)
				}
			}
		}
	}
	r.closePhase(b, r.now.n, by)
	b.live, b.phase, b.begin = true, ev.Mbar.Phase+1, r.now.n
}

// near lists the CTAs whose threads may wait at a barrier of one: those of its cluster.
func (r *Recorder) near(cta int32) []int32 {
	if r.ctas[cta] == nil {
		return nil
	}
	list := r.m.ClusterOf(cta)
	return slices.DeleteFunc(list, func(i int32) bool { return r.ctas[i] == nil })
}

// closePhase shows the open phase of a barrier; how says what ended it.
func (r *Recorder) closePhase(b *phases, end int64, how string) {
	if b.live {
		r.slice(b.track, b.begin, end, report.TraceMark{Name: fmt.Sprintf("phase %d", b.phase), Category: catPhase, Args: []report.TraceArg{
			{Name: "barrier", Text: b.name}, {Name: "phase", Number: b.phase}, {Name: "arrivals", Number: b.arrivals},
			{Name: "bytes", Number: b.bytes}, {Name: "ended_by", Text: how},
		}})
	}
	b.live, b.arrivals, b.bytes = false, 0, 0
}

// counts shows the counters of the barriers that the step touched.
func (r *Recorder) counts() {
	for _, at := range r.now.touched {
		now, ok := r.m.BarrierAt(at.mem, at.addr)
		if b := r.bars[at]; ok && b != nil {
			r.out.Mark(report.TraceMark{Kind: report.TraceValue, Track: b.pending, Time: r.now.n, Value: int64(now.Word.Pending())})
			r.out.Mark(report.TraceMark{Kind: report.TraceValue, Track: b.tx, Time: r.now.n, Value: int64(now.Word.Tx())})
		}
	}
}

// gone ends the phases of a CTA's barriers.
func (r *Recorder) gone(cta int32) {
	c := r.cta(cta)
	for _, at := range c.bars {
		r.closePhase(r.bars[at], r.now.n, "the end of its CTA")
		delete(r.bars, at)
	}
	c.bars = nil
}

func (r *Recorder) barriers() []barrier {
	list := make([]barrier, 0, len(r.bars))
	for at := range r.bars {
		list = append(list, at)
	}
	slices.SortFunc(list, func(a, b barrier) int { return cmp.Or(cmp.Compare(a.mem, b.mem), cmp.Compare(a.addr, b.addr)) })
	return list
}
