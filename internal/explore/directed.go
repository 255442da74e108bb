package explore

import (
	"math/bits"

	"muster/internal/machine"
)

// Directed runs. Where a run shows two unordered steps, a directed one brings about
// the other order: one side is held back for as long as anything else can move. Every
// choice is recorded, so that the run can be written down and repeated.

// A Hold names what may not move: some lanes of a warp or of several, an asynchronous
// operation, or clusters that have not started.
type Hold struct {
	CTA, Warp int32
	Warps     int32  // the number of further warps after Warp
	Lanes     uint32 // none: no split is held
	Op        int64  // 0: no operation is held
	Starts    bool
}

// A Director makes one run, step by step. Splits run for as long as they can,
// then the next cluster starts, and milestones come last.
type Director struct {
	Run []machine.Choice // what was taken so far
	// Last, unless nil, selects instructions that come after everything else, even
	// milestones.
	Last func(pc int32) bool
	// Before, unless nil, is told of each choice before it is taken.
	Before func(machine.Choice)

	m      *machine.Machine
	at     machine.Choice // the split that ran last
	ran    int            // how many steps it took in a row
	buf    []machine.Choice
	splits []machine.Lanes
}

// Direct returns the director of a machine that has taken no step.
func Direct(m *machine.Machine) *Director { return &Director{m: m} }

// Take takes the given choices, as an earlier run had them.
func (d *Director) Take(choices ...machine.Choice) {
	for _, c := range choices {
		if d.Before != nil {
			d.Before(c)
		}
		d.Run = append(d.Run, c)
		d.m.Step(c)
	}
}

// Part has some lanes of a split perform its next instruction, one by one and without the
// others, where they can.
func (d *Director) Part(cta, warp int32, lanes uint32) {
	for k := lanes; k != 0; k &= k - 1 {
		if c := (machine.Choice{Kind: machine.Alone, CTA: cta, Warp: warp, Lane: int8(bits.TrailingZeros32(k))}); d.m.Offers(c) {
			d.Take(c)
		}
	}
}

// Step takes a choice that is not held. It reports false where there is none:
// the run is over, or what is held is all that can move.
func (d *Director) Step(h Hold) bool {
	c, ok := d.next(h)
	if !ok {
		return false
	}
	if c.Kind == machine.Run {
		if c.CTA != d.at.CTA || c.Warp != d.at.Warp || c.Lane != d.at.Lane {
			d.ran = 0
		}
		d.at, d.ran = c, d.ran+1
	}
	d.Take(c)
	return true
}

func (d *Director) next(h Hold) (machine.Choice, bool) {
	if d.m.Stopped() != nil || d.m.Done() {
		return machine.Choice{}, false
	}
	if c, ok := d.split(h, d.Last); ok {
		return c, true
	}
	if c, ok := d.m.StartChoice(); ok && !h.Starts {
		return c, true
	}
	if c, ok := d.m.MilestoneChoice(); ok && c.Op != h.Op {
		return c, true
	}
	if d.Last != nil {
		if c, ok := d.split(h, nil); ok {
			return c, true
		}
	}
	d.buf = d.m.Enabled(d.buf[:0])
	for _, c := range d.buf {
		if !d.held(c, h) {
			return c, true
		}
	}
	return machine.Choice{}, false
}

// split finds the split to run: the one that ran last, for a while, or the next.
func (d *Director) split(h Hold, last func(int32) bool) (machine.Choice, bool) {
	if d.ran > 0 && d.ran < quantum {
		if c, ok := d.m.Holder(d.at); ok && d.free(c, h, last) {
			return c, true
		}
	}
	c, ok := d.m.Next(d.at)
	for first := c; ok && !d.free(c, h, last); {
		if c, ok = d.m.Next(c); c == first {
			return c, false
		}
	}
	return c, ok
}

func (d *Director) held(c machine.Choice, h Hold) bool {
	switch c.Kind {
	case machine.Milestone, machine.Refuse:
		return c.Op == h.Op
	case machine.Start:
		return h.Starts
	}
	return !d.free(c, h, nil)
}

// free reports whether a split is not held, and not at an instruction of last.
func (d *Director) free(c machine.Choice, h Hold, last func(int32) bool) bool {
	here := h.Lanes != 0 && c.CTA == h.CTA && c.Warp >= h.Warp && c.Warp <= h.Warp+h.Warps
	if !here && last == nil {
		return true
	}
	d.splits = d.m.Splits(c.CTA, c.Warp, d.splits[:0])
	for _, s := range d.splits {
		if s.Mask>>uint(c.Lane)&1 != 0 {
			return !(here && s.Mask&h.Lanes != 0) && !(last != nil && last(s.PC))
		}
	}
	return true
}

// Log is Run, and returns the choices. It gives up, returning false, at more than
// most of them.
func Log(m *machine.Machine, s Schedule, most int, stop func() bool) ([]machine.Choice, bool) {
	m.StopWhen(stop)
	var run []machine.Choice
	r := runner{m: m, log: func(c machine.Choice) { run = append(run, c) }}
	r.obey(s)
	over := func() bool { return len(run) > most }
	s.ready(m)
	for _, c := range s.Prefix {
		r.take(c)
	}
	if !r.follow(s.Policy, over) || len(run) > most {
		return nil, false
	}
	return run, true
}
