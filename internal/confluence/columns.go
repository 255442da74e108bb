package confluence

import "muster/internal/machine"

// Columns of tensor memory. Which an alloc gets, and whether it waits, depends on the allocs
// and deallocs that came before it. If those of a CTA come one after the other in every
// schedule, each finds the same columns allocated in all of them.

// columns is the last alloc or dealloc of a CTA, or of those that share its columns.
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
	share := m.SharesColumns(ev.CTA)
	for _, i := range share {
		if asked := p.cta(i).asked; asked.mask != 0 && i != ev.CTA {
			gs[0].clk.set(asked.warp, asked.mask, asked.step)
		}
	}
	for _, i := range share {
		c := &p.cta(i).columns
		if c.any && i == ev.CTA || c.any && !p.pairs(ev.CTA, i) {
			at := w.sees(gs[0], ev.Mask)
			at.own = ^uint32(0)
			if at.after(c.last.warp, c.last.mask, c.last.step) != c.last.mask {
				p.fail(Failure{Condition: C10, CTA: ev.CTA, PC: ev.PC, With: c.last.pc, Warp: w.number, Lanes: ev.Mask,
					Text: "it need not come after this alloc or dealloc, and other columns may be free then"})
			}
		}
	}
	p.cta(ev.CTA).columns = columns{last: own, any: true}
}

// pairs reports whether two CTAs are of one cluster: then they share no columns, and what
// they have in common is what both take part in.
func (p *Prover) pairs(a, b int32) bool { return p.cfg.ClusterOf(a) == p.cfg.ClusterOf(b) }
