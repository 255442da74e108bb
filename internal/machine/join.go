package machine

// Join adds to m what another part of the same launch has done: what it wrote to global
// memory since both were forked from base, and how much it executed. Both have run to
// their ends, and neither wrote what the other read or wrote.
func (m *Machine) Join(o, base *Machine) {
	for i := range m.global.regions {
		r, from, was := &m.global.regions[i], &o.global.regions[i], &base.global.regions[i]
		for n, p := range from.pages {
			if p == was.pages[n] {
				continue
			}
			old := was.pages[n]
			if old == nil {
				old = &page{full: was.born}
			}
			r.write(uint64(n)*pageBytes, m.owner).join(p, old)
		}
	}
	m.instrs += o.instrs
	m.lanes += o.lanes
	m.ended += o.ended
	for i := range m.at {
		m.at[i].ended += o.at[i].ended
	}
	m.goal += o.goal
}

// join takes what differs between q and was.
func (p *page) join(q, was *page) {
	for i := range p.words {
		if diff := q.words[i] ^ was.words[i]; diff != 0 {
			p.words[i] ^= diff
		}
	}
	p.full = p.full || q.full
	for i := range p.init {
		p.init[i] |= q.init[i]
	}
}
