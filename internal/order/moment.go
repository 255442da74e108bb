package order

import "muster/internal/machine"

// This file answers happens-before queries for code that follows a run beside a
// Tracker.

// A Moment is a point in the time of some lanes of a warp.
type Moment struct {
	CTA, Warp int32
	Lanes     uint32
	time      uint32
}

// Moment returns the point at which lanes of a warp execute ev, the next event.
func (t *Tracker) Moment(ev *machine.Event, lanes uint32) Moment {
	c := t.at(ev.CTA)
	w := &c.warps[ev.Warp]
	w.beginVector(ev)
	w.mark(lanes)
	return Moment{CTA: ev.CTA, Warp: ev.Warp, Lanes: lanes, time: w.time}
}

// Known returns the lanes of a Moment that precede a lane's next access in base
// causality order (ISA 8.9.5) of the generic proxy.
func (t *Tracker) Known(cta, warp int32, lane int, of Moment) uint32 {
	c := t.at(cta)
	known := t.knownLanes(&c.warps[warp].group(lane).know.gen, of.CTA, of.Warp, of.time)
	if cta == of.CTA && warp == of.Warp {
		known |= 1 << lane // program order
	}
	return known & of.Lanes
}
