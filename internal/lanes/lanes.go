// Package lanes finds where the order in which lanes of one warp reach an mbarrier
// matters.
//
// The lanes of a warp that reach an instruction together execute it in one step, in
// the order of their numbers, and go on together. Their threads need not (ISA 3.2).
// Package outcome says what that means for words of memory, and exploration separates
// lanes for it. Exploration does not vary the order in which lanes of one warp arrive
// at an mbarrier and test it, nor has it lanes of one step find different answers; this
// package says where that matters.
package lanes

import (
	"maps"
	"slices"

	"muster/internal/machine"
	"muster/internal/rules"
	"muster/ptx"
)

// Orders watch one run for operations of one warp's lanes on one mbarrier whose order
// matters and is fixed only by their common step.
type Orders struct {
	prog    *machine.Program
	decides func(pc int32) bool
	counts  bool // the program uses pending counts
	mbars   bool // it uses them, or tests of mbarriers
	warps   map[[2]int32]*warp
	pcs     map[int32]bool // where such operations are
	split   map[int32]bool // tests by several lanes in one step, whose answers could differ
	// The order of an arrival and a test matters once the arrival's phase completes:
	// until then the test has the same result.
	complete map[machine.BarRef]int64 // phases up to this one, plus 1
	open     []openTest
}

// An openTest is an arrival at a phase, and a test by another lane.
type openTest struct {
	at    machine.BarRef
	phase int64
	pcs   [2]int32
}

// isMbarrier reports whether an instruction is an operation on an mbarrier.
func isMbarrier(in *ptx.Inst) bool {
	return in != nil && in.Form != nil && in.Form.Class == ptx.ClassMbarrier
}

// NewOrders returns the observer of a run of a program; decides reports the
// instructions whose values matter.
func NewOrders(prog *machine.Program, decides func(pc int32) bool) *Orders {
	o := &Orders{prog: prog, decides: decides}
	for _, d := range prog.Dependences() {
		for _, from := range d.Roots {
			o.counts = o.counts || prog.Counts(from)
			o.mbars = o.mbars || isMbarrier(prog.Inst(from))
		}
	}
	return o
}

// Deciders returns a function that reports the instructions on lines that produce a
// value which depends on the schedule and matters.
func Deciders(p *machine.Program) func(pc int32) bool {
	type line struct{ unit, line int32 }
	of := func(pc int32) line { pos := p.Pos(pc); return line{pos.Unit, pos.Line} }
	lines := map[line]bool{}
	for _, d := range p.Dependences() {
		for _, from := range d.Roots {
			lines[of(from)] = true
		}
	}
	at := make([]bool, p.Len())
	for pc := range at {
		at[pc] = lines[of(int32(pc))]
	}
	return func(pc int32) bool { return at[pc] }
}

type warp struct {
	now uint32
	// knows[i][j]: the time up to which lane j's operations precede lane i's. Only
	// barriers count, so that lanes that synchronize by a flag are taken to be
	// unordered.
	knows    [32][32]uint32
	uses     map[machine.BarRef][]use
	arrivals map[machine.BarRef]*[32]arrival // the last ones
}

type arrival struct {
	phase int64
	time  uint32
}

// A use is a lane's operation on an mbarrier.
type use struct {
	pc      int32
	lane    int
	arrives bool
	time    uint32
	phase   int64 // that an arrival is charged to
}

// Observe makes Orders a machine.Observer.
func (o *Orders) Observe(_ *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvWarpSync, machine.EvBarPass, machine.EvClusterWait:
		if w := o.warps[[2]int32{ev.CTA, ev.Warp}]; w != nil {
			w.meet(ev.Mask)
		}
	case machine.EvMbar:
		if o.mbars {
			o.arrive(ev)
			o.completes(&ev.Mbar)
		}
	case machine.EvMbarWait:
		if o.mbars {
			o.test(ev)
		}
	}
}

// arrive takes a lane's operation on an mbarrier. Its result, and that of a test,
// show whether another came before.
func (o *Orders) arrive(ev *machine.Event) {
	w := o.of(ev)
	w.now++
	bar := ev.Mbar.Bar
	at := bar
	o.note(w, at, use{ev.PC, int(ev.Lane), true, w.now, ev.Mbar.Phase})
	if w.arrivals[at] == nil {
		w.arrivals[at] = &[32]arrival{}
	}
	w.arrivals[at][ev.Lane] = arrival{ev.Mbar.Phase, w.now}
}

// test takes a test of an mbarrier. One that only waits for the phase comes after the
// phase's arrivals.
func (o *Orders) test(ev *machine.Event) {
	w := o.of(ev)
	w.now++
	bar := ev.Mbar.Bar
	at := bar
	decides := o.decides(ev.PC)
	if decides && !ev.Mbar.OK && ev.Mask&(ev.Mask-1) != 0 && !o.prog.Awaits(ev.PC) {
		// The phase may be complete for the lanes that test a moment later.
		if o.split == nil {
			o.split = map[int32]bool{}
		}
		o.split[ev.PC] = true
	}
	for lane := range 32 {
		switch {
		case ev.Mask>>lane&1 == 0:
		case decides:
			o.note(w, at, use{ev.PC, lane, false, w.now, 0})
		case ev.Mbar.OK && w.arrivals[at] != nil:
			for j, a := range w.arrivals[at] {
				if a.phase <= ev.Mbar.Phase {
					w.knows[lane][j] = max(w.knows[lane][j], a.time)
				}
			}
		}
	}
}

// of returns the state of an event's warp.
func (o *Orders) of(ev *machine.Event) *warp {
	at := [2]int32{ev.CTA, ev.Warp}
	w := o.warps[at]
	if w == nil {
		if o.warps == nil {
			o.warps = map[[2]int32]*warp{}
		}
		w = &warp{uses: map[machine.BarRef][]use{}, arrivals: map[machine.BarRef]*[32]arrival{}}
		o.warps[at] = w
	}
	return w
}

// meet synchronizes lanes: each knows what any of them has done or knows.
func (w *warp) meet(mask uint32) {
	var all [32]uint32
	for i := range 32 {
		if mask>>i&1 != 0 {
			for j := range 32 {
				all[j] = max(all[j], w.knows[i][j])
			}
			all[i] = w.now
		}
	}
	for i := range 32 {
		if mask>>i&1 != 0 {
			w.knows[i] = all
		}
	}
}

// note compares a lane's operation with those on the same mbarrier before it, and
// keeps it.
func (o *Orders) note(w *warp, at machine.BarRef, a use) {
	list := w.uses[at]
	for i := range list {
		b := &list[i]
		switch {
		case !o.matters(w, b, &a):
		case a.arrives != b.arrives:
			pair := openTest{at, max(a.phase, b.phase), [2]int32{b.pc, a.pc}}
			if pair.phase < o.complete[at] {
				o.found(pair.pcs)
			} else if !slices.Contains(o.open, pair) {
				o.open = append(o.open, pair)
			}
		default:
			o.found([2]int32{b.pc, a.pc})
		}
	}
	i := slices.IndexFunc(list, func(b use) bool { return b.pc == a.pc && b.lane == a.lane })
	if i >= 0 {
		list[i].time, list[i].phase = a.time, a.phase
		return
	}
	w.uses[at] = append(list, a)
}

func (o *Orders) found(pcs [2]int32) {
	if o.pcs == nil {
		o.pcs = map[int32]bool{}
	}
	o.pcs[pcs[0]], o.pcs[pcs[1]] = true, true
}

// completes takes the completion of a phase.
func (o *Orders) completes(mb *machine.Mbar) {
	if !mb.Completed {
		return
	}
	at := mb.Bar
	if o.complete == nil {
		o.complete = map[machine.BarRef]int64{}
	}
	o.complete[at] = max(o.complete[at], mb.Phase+1)
	o.open = slices.DeleteFunc(o.open, func(t openTest) bool {
		over := t.at == at && t.phase <= mb.Phase
		if over {
			o.found(t.pcs)
		}
		return over
	})
}

// matters reports whether the order of two operations shows, and nothing fixes it.
func (o *Orders) matters(w *warp, a, b *use) bool {
	if a.lane == b.lane || !a.arrives && !b.arrives || w.knows[b.lane][a.lane] >= a.time {
		return false
	}
	return o.decides(a.pc) || o.decides(b.pc) || o.counts
}

// Gaps says what was not looked at.
func (o *Orders) Gaps() []rules.Gap {
	var gaps []rules.Gap
	for _, pc := range slices.Sorted(maps.Keys(o.pcs)) {
		gaps = append(gaps, rules.Gap{What: "lanes of one warp come to one mbarrier here, in an order that was not varied", PC: pc})
	}
	for _, pc := range slices.Sorted(maps.Keys(o.split)) {
		gaps = append(gaps, rules.Gap{What: "lanes of one warp test one mbarrier here in one step; that some find the phase complete and others do not was not looked at", PC: pc})
	}
	return gaps
}
