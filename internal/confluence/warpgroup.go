package confluence

import (
	"math/bits"

	"muster/internal/machine"
)

// A warpgroup's four warps issue the k-th wgmma together: none goes on before the fourth
// has issued it, and a wait for it ends after that.

// A warpgroup keeps what its wgmmas come after that some warp has not waited for.
type warpgroup struct {
	from   uint32  // the number of the first of issued
	issued []clock // what each comes after
	parts  []uint8 // the warps that have issued each
	waited [machine.WarpgroupSize]uint32
}

// warpgroup returns the warpgroup of a warp.
func (c *ctaState) warpgroup(warp int32) *warpgroup {
	if c.groups == nil {
		c.groups = make([]warpgroup, (len(c.warps)+machine.WarpgroupSize-1)/machine.WarpgroupSize)
	}
	return &c.groups[warp/machine.WarpgroupSize]
}

// multiplies enters a warp's part of a wgmma.
func (p *Prover) multiplies(ev *machine.Event) {
	c := p.cta(ev.CTA)
	g, w := c.warpgroup(ev.Warp), &c.warps[ev.Warp]
	i := ev.Op.Seq - 1 - g.from
	if ev.Op.Seq <= g.from {
		return // warps that do not keep in step: divergent-barrier
	}
	for uint32(len(g.issued)) <= i {
		g.issued, g.parts = append(g.issued, clock{}), append(g.parts, 0)
	}
	for k := range w.groups {
		if w.groups[k].mask&ev.Mask != 0 {
			g.issued[i].join(&w.groups[k].clk)
		}
	}
	first := ev.Warp - ev.Warp%machine.WarpgroupSize
	four := c.warps[first:min(int(first)+machine.WarpgroupSize, len(c.warps))]
	if g.parts[i] |= 1 << uint(ev.Warp-first); g.parts[i] == 1<<uint(len(four))-1 {
		g.issued[i].freeze()
		for k := range four {
			four[k].learn(^uint32(0), &g.issued[i])
		}
	}
}

// multiplied orders a wait after all parts of the wgmmas that it waits for.
func (p *Prover) multiplied(ev *machine.Event) {
	c := p.cta(ev.CTA)
	g, w := c.warpgroup(ev.Warp), &c.warps[ev.Warp]
	done := ev.Done[bits.TrailingZeros32(ev.Mask)]
	if done <= g.from || done-g.from > uint32(len(g.issued)) {
		return
	}
	k := ev.Warp % machine.WarpgroupSize
	g.waited[k] = max(g.waited[k], done)
	g.issued[done-g.from-1].freeze()
	w.learn(ev.Mask, &g.issued[done-g.from-1])
	least := done
	for k := range g.waited {
		if first := ev.Warp - ev.Warp%machine.WarpgroupSize; int(first)+k < len(c.warps) {
			least = min(least, g.waited[k])
		}
	}
	if least > g.from {
		g.issued = append(g.issued[:0], g.issued[least-g.from:]...)
		g.parts = append(g.parts[:0], g.parts[least-g.from:]...)
		g.from = least
	}
}
