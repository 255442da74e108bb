package confluence

import "muster/internal/machine"

// Columns of tensor memory. Which an alloc gets, and whether it waits, depends on the allocs
// and deallocs that came before it. If those of a CTA come one after the other in every
// schedule, each finds the same columns allocated in all of them.

// columns is the last alloc or dealloc of the CTAs that share columns; the first of them has
// it.
type columns struct {
	last stamp
	any  bool
}

// changesColumns checks that an alloc or dealloc comes after the last one. One of a pair of
// CTAs comes after what both asked for.
func (p *Prover) changesColumns(m *machine.Machine, ev *machine.Event) {
	p.sync(ev.CTA, ev.Warp, ev.Mask) // .sync.aligned: lanes wait for each other
	w, gs := p.step(ev.CTA, ev.Warp, ev.Mask)
	own := stamp{warp: w.number, mask: ev.Mask, step: w.step, pc: ev.PC}
	if ev.Kind == machine.EvTensorAsk {
		p.cta(ev.CTA).asked = own
		gs[0].clk.set(own.warp, own.mask, own.step)
		return
	}
	for _, i := range m.SharesColumns(ev.CTA) {
		if asked := p.cta(i).asked; asked.mask != 0 && i != ev.CTA {
			gs[0].clk.set(asked.warp, asked.mask, asked.step)
		}
	}
	c := &p.cta(m.Multiprocessor(ev.CTA)).columns
	at := w.sees(gs[0], ev.Mask)
	at.own = ^uint32(0)
	if c.any && at.after(c.last.warp, c.last.mask, c.last.step) != c.last.mask {
		p.fail(Failure{Condition: C10, CTA: ev.CTA, PC: ev.PC, With: c.last.pc, Warp: w.number, Lanes: ev.Mask,
			Text: "it need not come after this alloc or dealloc, and other columns may be free then"})
	}
	*c = columns{last: own, any: true}
}
