package coherence

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
)

// Executions that are not built: those in which program order, reads-from, Fence-SC and the order
// of barriers have a cycle. Each has one of two things, of which an execution that is built shows
// the trace: a read returns a write that comes after it for these reasons, or a fence.sc comes
// before another one that it follows for these reasons. Both must leave the axioms in force.

// A fence is a fence.sc.
type fence struct {
	order.Moment
	control order.Moment
	pc      int32
	// loose are the earlier fences that it could come before.
	loose []int
}

// maxLooked bounds the versions of a word, and the fences, for which is looked at what the axioms
// forbid: behind that, more is left open than is.
const maxLooked = 64

// buffers notes load buffering (8.10.4): an earlier read of the word precedes the write that is
// about to be made behind version i, by program order, reads-from and barriers, but not in
// causality order, so that the axioms let it read that write. They do not if a later version
// precedes the read, or if what comes behind the read took an earlier one (8.10.1, 8.10.6). An
// update that wrote a version does, if the write can come before that version. A compare-and-swap
// that reads another version may fail, and one that failed (!writes) write where an earlier one is
// not in the way. Where values decide which fences there are, causality order may be another one in
// the execution in which the read returns the write.
func (r *Run) buffers(ev *machine.Event, lane int, w *word, i, n int, writes bool) {
	for k := range w.reads {
		d := &w.reads[k]
		if !r.controls(ev, lane, d.control) || r.nodes[n].lane() == r.nodes[d.node].lane() || w.index(d.floor) > i || !writes && !r.nodes[d.node].writes && !r.varies {
			continue
		}
		if !r.varies && (r.order.Known(ev.CTA, ev.Warp, lane, d.Moment) != 0 || d.update && r.afterUpdate(ev, lane, w, d.node)) {
			continue
		}
		if r.fixed && !d.modify && slices.ContainsFunc(d.behind, func(v machine.Version) bool { at := w.index(v); return at >= 0 && at <= i }) {
			continue
		}
		r.buffer = append(r.buffer, buffering{d.node, n})
	}
}

// afterUpdate reports whether a lane's next write cannot come before the version that an update
// wrote.
func (r *Run) afterUpdate(ev *machine.Event, lane int, w *word, node int) bool {
	for k := range w.versions {
		v := &w.versions[k]
		if (v.node == node || r.fixed && !v.swaps && slices.Contains(v.above, node)) && r.known(v, ev.CTA, ev.Warp, lane) {
			return true
		}
	}
	return false
}

// above returns the nodes of the versions that come before the one that a lane is about to write
// in every coherence order: those that precede it in causality order, and if it is an update
// of version i, that one; and what comes before these.
func (r *Run) above(ev *machine.Event, lane int, w *word, i int, update bool) (list []int) {
	if !r.fixed || len(w.versions) > maxLooked {
		return nil
	}
	for k := range w.versions {
		if v := &w.versions[k]; v.node >= 0 && (update && k == i || r.known(v, ev.CTA, ev.Warp, lane)) {
			for _, n := range append(slices.Clip(v.above), v.node) {
				if !slices.Contains(list, n) {
					list = append(list, n)
				}
			}
		}
	}
	return list
}

// index returns the place of a version in coherence order, -1 if it is no more.
func (w *word) index(name machine.Version) int {
	return slices.IndexFunc(w.versions, func(v version) bool { return v.name == name })
}

// floor returns the last version that precedes a lane's next access in causality order.
func (r *Run) floor(ev *machine.Event, lane int, w *word) machine.Version {
	for k := len(w.versions) - 1; k > 0; k-- {
		if r.known(&w.versions[k], ev.CTA, ev.Warp, lane) {
			return w.versions[k].name
		}
	}
	return w.versions[0].name
}

// follow notes, of the reads that precede a lane's access in base causality order, that the
// access takes a version: the one that it reads, or that it writes without reading.
func (r *Run) follow(ev *machine.Event, lane int, w *word, name machine.Version) {
	for k := range w.reads {
		if d := &w.reads[k]; r.order.Known(ev.CTA, ev.Warp, lane, d.Moment) != 0 {
			d.behind = append(d.behind, name)
		}
	}
}

// fencesBefore returns, of each fence.sc, the lanes of which precede a lane's access in base
// causality order.
func (r *Run) fencesBefore(ev *machine.Event, lane int) []uint32 {
	if len(r.fences) == 0 {
		return nil
	}
	before := make([]uint32, min(len(r.fences), maxLooked))
	for n := range before {
		before[n] = r.order.Known(ev.CTA, ev.Warp, lane, r.fences[n].Moment)
	}
	return before
}

// fence takes a fence.sc that is about to be executed. It could come before an earlier one that
// it follows, but not in causality order, unless the axioms forbid that: some access behind the
// earlier fence precedes, in the order of versions, one that comes before this fence.
func (r *Run) fence(ev *machine.Event) {
	f := fence{Moment: r.order.Moment(ev, ev.Mask), control: r.control.Order.Moment(ev, ev.Mask), pc: ev.PC}
	for k := ev.Mask; k != 0; k &= k - 1 {
		lane := bits.TrailingZeros32(k) & 31
		var contrary []uint32
		for n := range r.fences {
			e := &r.fences[n]
			if slices.Contains(f.loose, n) {
				continue
			}
			may := r.control.Order.Known(ev.CTA, ev.Warp, lane, e.control) &^ r.order.Known(ev.CTA, ev.Warp, lane, e.Moment)
			if may == 0 {
				continue
			}
			if contrary == nil && n < maxLooked {
				contrary = r.contrary(ev, lane)
			}
			if n >= maxLooked || may&^contrary[n] != 0 {
				f.loose = append(f.loose, n)
			}
		}
	}
	r.fences = append(r.fences, f)
}

// contrary returns, of each fence.sc, the lanes that cannot come after a lane's next operation in
// base causality order.
func (r *Run) contrary(ev *machine.Event, lane int) []uint32 {
	out := make([]uint32, min(len(r.fences), maxLooked))
	for _, w := range r.list {
		// The last version that the lane has to see, and whether it was read or only written.
		last, read := -1, false
		for k := range w.versions {
			if v := &w.versions[k]; v.by.Lanes != 0 && r.order.Known(ev.CTA, ev.Warp, lane, v.by) != 0 {
				last, read = k, false
			}
		}
		for k := range w.reads {
			d := &w.reads[k]
			if i := w.index(d.of); i >= 0 && i >= last && r.order.Known(ev.CTA, ev.Warp, lane, d.Moment) != 0 {
				last, read = i, true
			}
		}
		mark := func(n int) {
			for i, lanes := range r.nodes[n].fences {
				out[i] |= lanes
			}
		}
		for k := range w.versions {
			if v := &w.versions[k]; v.node >= 0 && (k < last || k == last && read) {
				mark(v.node)
			}
		}
		for k := range w.reads {
			if d := &w.reads[k]; w.index(d.of) < last && w.index(d.of) >= 0 {
				mark(d.node)
			}
		}
	}
	return out
}

// chosen notes, of the fence.sc whose order is that of their steps alone, those of which the
// second could come before the first in Fence-SC order, against the order of the steps, though it
// follows it for a reason that causality order has no part in.
func (r *Run) chosen() {
	list := r.order.ChosenFences()
	for ; r.settled < len(list); r.settled++ {
		c := list[r.settled]
		if cur := &r.fences[c.Cur]; slices.Contains(cur.loose, c.Prior) {
			r.loosens(Open{PC: cur.pc, Write: -1})
		}
	}
}

func (r *Run) loosens(o Open) {
	if !isOpen(r.loose, o.PC) {
		r.loose = append(r.loose, o)
	}
}

// An Open is an instruction at which an execution may go on in a way that is not built: a fence.sc,
// or a read that could return what Write writes. Then Hops lead from the one to the other: reads of
// other words which return what is written behind the read, and need not be in order with it.
type Open struct {
	PC, Write int32 // Write is -1 for a fence
	Hops      []Hop
}

// A Hop is a read that returns a write of another lane.
type Hop struct{ Write, Read int32 }

func isOpen(list []Open, pc int32) bool {
	return slices.ContainsFunc(list, func(o Open) bool { return o.PC == pc })
}

// A buffering is a read that could read a later write, by their nodes.
type buffering struct{ read, write int }

// Loose returns the instructions at which an execution may go on in another way that is not
// built: reads that could read a later write, and fence.sc that could come before earlier ones.
//
// may, if not nil, reports of two nodes whether there is an execution in which the first, a read,
// returns the second, a write: it may say yes at any time, and no only if that is so. Instructions
// that known has are left out.
func (r *Run) Loose(known []Open, may func(read, write int) bool) []Open {
	r.chosen()
	for _, b := range r.buffer {
		pc := r.nodes[b.read].PC
		if isOpen(r.loose, pc) || isOpen(known, pc) {
			continue
		}
		if may == nil || may(b.read, b.write) {
			r.loosens(Open{pc, r.nodes[b.write].PC, r.hops(b.read, b.write)})
		}
	}
	return r.loose
}

// Leads reports whether dependences and reads-from lead from a read to a write: No-Thin-Air
// (8.10.4) forbids the one to return the other then. depends reports of two nodes of a lane whether
// the second, a write, depends on what the first reads: it may say no at any time, and yes only if
// that is so.
func (r *Run) Leads(read, write int, depends func(read, write int) bool) bool {
	return r.leads(read, write, depends, map[int]bool{})
}

// leads reports whether dependences and reads-from lead from a read to a write. An update that the
// read returns comes before it in coherence order, and reads what is before that: not what it read
// in this run. What a lane reads of its own writes is part of how its later ones depend on the
// read: with another value it may read something else there and write the same.
func (r *Run) leads(read, write int, depends func(read, write int) bool, seen map[int]bool) bool {
	seen[read] = true
	a := &r.nodes[read]
	for n := read; n < len(r.nodes); n++ {
		b := &r.nodes[n]
		if !b.writes || b.CTA != a.CTA || b.Warp != a.Warp || b.Lane != a.Lane {
			continue
		}
		if n != write && !r.leadsOn(n, write, seen) || !depends(read, n) {
			continue
		}
		if n == write {
			return true
		}
		for k := n + 1; k < len(r.nodes); k++ {
			if r.nodes[k].from == n && r.nodes[k].lane() != a.lane() && k != write && !seen[k] && r.leads(k, write, depends, seen) {
				return true
			}
		}
	}
	return false
}

// leadsOn reports whether a write is read by a node that was not looked at.
func (r *Run) leadsOn(from, to int, seen map[int]bool) bool {
	for k := from + 1; k < len(r.nodes); k++ {
		if r.nodes[k].from == from && r.nodes[k].lane() != r.nodes[from].lane() && k != to && !seen[k] {
			return true
		}
	}
	return false
}

// Nodes returns how many strong accesses of lanes the run has.
func (r *Run) Nodes() int { return len(r.nodes) }

// Node returns the access of a node.
func (r *Run) Node(node int) Access { return r.nodes[node].Access }

// Reads reports whether a node reads, Writes whether it writes.
func (r *Run) Reads(node int) bool  { return r.nodes[node].reads }
func (r *Run) Writes(node int) bool { return r.nodes[node].writes }

// Took returns the version that a node read.
func (r *Run) Took(node int) machine.Version { return r.nodes[node].of }

// From returns the node that wrote what a node read, -1 if none did.
func (r *Run) From(node int) int { return r.nodes[node].from }

// Before returns the node that wrote the version before the one that a node wrote, -1 if none did.
func (r *Run) Before(node int) int {
	n := &r.nodes[node]
	w := r.words[n.Word]
	if i := w.index(n.made); i > 0 {
		return w.versions[i-1].node
	}
	return -1
}
