package flow

// built reports whether an execution can be built one event after the other, each read after the
// write that it reads: program order, reads-from, Fence-SC order and the order of barriers have
// no cycle. The others have load buffering, or a fence.sc that comes before another one against
// reads-from.
func (g *graph) built() bool {
	n := len(g.ev)
	r := g.sc
	for a := range n {
		x := &g.ev[a]
		for b := range n {
			y := &g.ev[b]
			if x.thread == y.thread && x.serial < y.serial || x.thread != y.thread && x.kind == arrive && y.kind == pass && g.meet(x, y) {
				r.add(a, b)
			}
		}
		for _, w := range x.src {
			if x.kind == access && x.read && w >= 0 {
				r.add(w, a)
			}
		}
	}
	return r.close(n)
}

// Built is Allowed for executions that can be built one event after the other; loose reports
// that there are others. Dependence is by what values do (thinair.go).
func (p *Program) Built(most int) (out *Outcomes, loose bool, err error) {
	q := *p
	q.reasons = true
	out = &Outcomes{Final: map[string]bool{}}
	err = q.each(most, out, func(g *graph) bool {
		if !g.built() {
			loose = loose || !g.thin()
			return true
		}
		if _, _, race := g.races(); race {
			out.Race = true
		}
		out.add(g)
		return true
	})
	return out, loose, err
}
