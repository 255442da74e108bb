package rules

import (
	"fmt"

	"muster/internal/machine"
)

// Between two setmaxnreg the four warps of a warpgroup must synchronize (ISA
// 9.7.19.5), if the instructions have an effect: one that asks for the warp's present
// count changes nothing. Each warp carries how many setmaxnreg of each warp of its CTA
// happen before its next step: a vector clock, which named barriers, mbarriers and the
// cluster's barrier propagate.

// A counts is the number of setmaxnreg of each warp of a CTA that happen before a point;
// nil: none.
type counts []int32

// and returns the maximum of both, by warp.
func (c counts) and(o counts) counts {
	switch {
	case o == nil:
		return c
	case c == nil:
		c = make(counts, len(o))
	}
	for i, n := range o {
		c[i] = max(c[i], n)
	}
	return c
}

// A handing has the counts that a barrier propagates: of the participants of the open
// generation or phase, and of all before.
type handing struct {
	number     int64
	open, last counts
}

// give adds the counts of a participant of a generation.
func (h *handing) give(number int64, c counts) {
	if number != h.number {
		h.last = h.last.and(h.open)
		h.number = number
	}
	h.open = h.open.and(c)
}

// take returns the counts that a thread gets by passing a generation.
func (h *handing) take(number int64) counts {
	if number == h.number {
		return counts(nil).and(h.last).and(h.open)
	}
	return counts(nil).and(h.last)
}

// setsRegisters propagates the counts at synchronization events.
func (j *Judge) setsRegisters(ev *machine.Event) {
	if !j.watch.registers {
		return
	}
	switch ev.Kind {
	case machine.EvBarArrive:
		j.cta(ev.CTA).named[ev.Bar].registers.give(int64(ev.Gen), j.warp(ev.CTA, ev.Warp).counts)
	case machine.EvBarPass:
		x := j.warp(ev.CTA, ev.Warp)
		x.counts = x.counts.and(j.cta(ev.CTA).named[ev.Bar].registers.take(int64(ev.Gen)))
	case machine.EvClusterArrive:
		j.cta(ev.CTA).cluster.give(int64(ev.Gen), j.warp(ev.CTA, ev.Warp).counts)
	case machine.EvClusterWait:
		x := j.warp(ev.CTA, ev.Warp)
		x.counts = x.counts.and(j.cta(ev.CTA).cluster.take(int64(ev.Gen)))
	case machine.EvMbar:
		if l := j.ledgerOf(ev.Mbar.Bar); l != nil && ev.Op == nil && ev.Mbar.Bar.Mem == machine.SharedOf(ev.CTA) {
			l.registers.give(ev.Mbar.Phase, j.warp(ev.CTA, ev.Warp).counts)
		}
	case machine.EvMbarWait:
		if l := j.ledgerOf(ev.Mbar.Bar); l != nil && ev.Mbar.OK && ev.Mbar.Bar.Mem == machine.SharedOf(ev.CTA) {
			x := j.warp(ev.CTA, ev.Warp)
			x.counts = x.counts.and(l.registers.take(ev.Mbar.Phase))
		}
	case machine.EvRegisters:
		j.meetBefore(ev)
	}
}

// meetBefore checks, at a warp's setmaxnreg, that its warpgroup has synchronized
// since its last one.
func (j *Judge) meetBefore(ev *machine.Event) {
	if ev.Gen == uint64(ev.Count) {
		return // Triton asks again for the count that its workers have
	}
	c, x := j.cta(ev.CTA), j.warp(ev.CTA, ev.Warp)
	if x.counts == nil {
		x.counts = make(counts, len(c.warps))
	}
	before := x.counts[ev.Warp]
	x.counts[ev.Warp]++
	if before == 0 || ev.Gen == 0 {
		return // the first, or one that need not have an effect
	}
	first := ev.Warp &^ 3
	for v := first; v < min(first+4, int32(len(c.warps))); v++ {
		if v == ev.Warp || x.counts[v] >= before {
			continue
		}
		s := eventSite("asks", ev)
		j.note(registerBudget, 0, ev.PC, func() Finding {
			return Finding{
				Headline: fmt.Sprintf("%s: warps %d and %d of CTA %d, of one warpgroup, have not met since their last setmaxnreg", j.at(ev.PC), min(v, ev.Warp), max(v, ev.Warp), ev.CTA),
				Sites:    []Site{s},
				Missing:  "between two setmaxnreg all warps of the warpgroup must synchronize explicitly",
				Fix:      "put a barrier of the warpgroup's 128 threads (bar.sync n, 128) between the two",
			}
		})
		return
	}
}
