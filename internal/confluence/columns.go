package confluence

import "muster/internal/machine"

// Columns of tensor memory. Which an alloc gets, and whether it waits, depends on the allocs
// and deallocs that came before it, and whether it is allowed on relinquish_alloc_permit. If
// those of a CTA come one after the other in every schedule, each finds the same columns
// allocated in all of them.

// columns is the last alloc or dealloc of the CTAs that share columns; the first of them has
// it.
type columns struct {
	last stamp
	any  bool
}

// changesColumns checks that an alloc, a dealloc or a relinquish comes after the last one. What
// a pair of CTAs allocates comes after what both asked for; a dealloc and a relinquish need not
// wait for each other (ISA 9.7.18.5).
func (p *Prover) changesColumns(m *machine.Machine, ev *machine.Event) {
	p.sync(ev.CTA, ev.Warp, ev.Mask) // .sync.aligned: lanes wait for each other
	w, gs := p.step(ev.CTA, ev.Warp, ev.Mask)
	own := stamp{warp: w.number, mask: ev.Mask, step: w.step, pc: ev.PC}
	if ev.Kind == machine.EvTensorAsk {
		w.asked = own
		gs[0].clk.set(own.warp, own.mask, own.step)
		return
	}
	if ev.Kind == machine.EvTensorAlloc && ev.With != nil {
		asked := p.cta(ev.With.CTA).warps[ev.With.Warp].asked
		gs[0].clk.set(asked.warp, asked.mask, asked.step)
	}
	at := w.sees(gs[0], ev.Mask)
	at.own = ^uint32(0)
	t := p.cta(ev.CTA)
	if ev.Kind == machine.EvTensorRelinquish {
		p.checkColumns(ev, w.number, at, &t.alloc, "it need not come after this alloc, which is not allowed behind it")
		return
	}
	c := &p.cta(m.Multiprocessor(ev.CTA)).columns
	p.checkColumns(ev, w.number, at, c, "it need not come after this alloc or dealloc, and other columns may be free then")
	*c = columns{last: own, any: true}
	if ev.Kind == machine.EvTensorAlloc {
		t.alloc = *c
	}
}

// checkColumns checks that what a view belongs to comes after an alloc or dealloc.
func (p *Prover) checkColumns(ev *machine.Event, warp int32, at view, c *columns, text string) {
	if c.any && at.after(c.last.warp, c.last.mask, c.last.step) != c.last.mask {
		p.fail(Failure{Condition: C10, CTA: ev.CTA, PC: ev.PC, With: c.last.pc, Warp: warp, Lanes: ev.Mask, Text: text})
	}
}
