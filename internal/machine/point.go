package machine

import "muster/ptx"

// Points are a program's strong accesses that are not asynchronous: the schedule
// decides their order on one word of memory, unless synchronization does.

// Points returns the program counters of the points.
func (p *Program) Points() map[int32]bool {
	all := map[int32]bool{}
	for i := range p.uses {
		u := &p.uses[i]
		if u.does(ptx.Reads|ptx.Writes) && u.in.Sem().Strong() && u.in.Form.Async == "none" {
			all[u.pc] = true
		}
	}
	return all
}

// Standing returns the program counter of a Run choice's split, -1 if there is
// none, and whether the choice performs the instruction there.
func (m *Machine) Standing(c Choice) (pc int32, performs bool) {
	s := m.ctas[c.CTA].warps[c.Warp].find(c.Lane)
	if s == nil {
		return -1, false
	}
	return s.pc, s.state == atPoint
}

// Reduces reports whether an instruction is a reduction, which returns nothing.
func (p *Program) Reduces(pc int32) bool {
	in := p.code[pc].src
	return in != nil && in.Effect().Has(ptx.Updates) && !in.Effect().Has(ptx.Reads)
}

// Counts reports whether an instruction takes a pending count out of a token.
func (p *Program) Counts(pc int32) bool {
	in := p.code[pc].src
	return in != nil && in.Effect().Has(ptx.CountsPending)
}
