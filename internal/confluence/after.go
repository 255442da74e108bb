package confluence

// Steps returns how many steps of a warp have been seen. An event takes one or more
// steps of its warp.
func (p *Prover) Steps(cta, warp int32) uint32 { return p.cta(cta).warps[warp].step }

// After calls f for every warp of the grid, by its number, with the last step of it
// that some of the lanes in mask come after. A warp may be named more than once.
func (p *Prover) After(cta, warp int32, mask uint32, f func(warp int, step uint32)) {
	w := &p.cta(cta).warps[warp]
	for _, g := range w.groups {
		if g.mask&mask == 0 {
			continue
		}
		if g.step > 0 {
			f(int(w.number), g.step)
		}
		for i := range g.clk.warps.of {
			if n := g.clk.warps.of[i].high; n > 0 {
				f(g.clk.warps.first+i, n)
			}
		}
	}
}
