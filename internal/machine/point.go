package machine

import "muster/ptx"

// Standing returns the instruction before which the split of a Run choice stands,
// and whether the choice performs it.
func (m *Machine) Standing(c Choice) (pc int32, performs bool) {
	s := m.ctas[c.CTA].warps[c.Warp].find(c.Lane)
	if s == nil {
		return -1, false
	}
	return s.pc, s.state == atPoint
}

// LanesOf lists the lanes of the split of a Run choice.
func (m *Machine) LanesOf(c Choice) (list []int) {
	if s := m.ctas[c.CTA].warps[c.Warp].find(c.Lane); s != nil {
		for l := range lanesOf(s.mask) {
			list = append(list, l)
		}
	}
	return list
}

// Counts reports whether an instruction takes a pending count out of a token.
func (p *Program) Counts(pc int32) bool {
	in := p.code[pc].src
	return in != nil && in.Effect().Has(ptx.CountsPending)
}
