package shapes

import "muster/kernel"

// sources is the second producer warp: it loads the source strip by strip, once the
// first has begun with the products' operands.
func (s *writer) sources(tiles func(func(row, col kernel.Reg))) {
	ring := s.source.Producer()
	s.begun.At(0).WaitParity(kernel.ConsumerParity)
	s.Elect(func() {
		tiles(func(row, col kernel.Reg) {
			for i := range s.cols / strip {
				ring.Acquire()
				ring.Expect(s.c.Size())
				s.mapS.Load(s.c.At(ring.Stage).Ptr(), ring.Full(), kernel.Coords{col.Add(i * strip), row})
				ring.Advance()
			}
		})
		ring.Tail()
	})
}

// add adds the source to the tile and writes the sums where the source was, from where
// they are stored. A strip is given back when its store has read it, one strip late.
func (m *math) add(warp, row, col kernel.Reg, meet func()) {
	give := func() {
		m.gone.empty().Arrive()
		m.gone.Advance()
	}
	for i := range m.cols / strip {
		if !m.has("the source is not waited for") {
			m.come.wait()
		}
		c := m.c.At(m.come.Index)
		per := strip / 2 // registers of a strip
		for j := i * per; j < (i+1)*per; j += 2 {
			r, at := m.acc.Place(j)
			pair := c.Addr(r.Add(m.first), at.Sub(i*strip)).Cast(kernel.BF16x2).Load().Unpack(kernel.BF16, 2)
			for h := range 2 {
				m.acc.At(j + h).Set(m.acc.At(j + h).Add(pair[h].Cvt(kernel.F32)))
			}
		}
		// Another thread writes where this one has read.
		if !m.has("a strip is written while it is read") {
			meet()
		}
		m.EachWarp(func() { m.acc.StoreWarp(c.Rows(warp.Mul(16), 16), 0, i*strip) })
		if !m.has("no proxy fence") {
			m.FenceProxyAsync(kernel.SharedCTA)
		}
		meet()
		m.issue(warp, func() {
			m.mapC.Store(kernel.Coords{col.Add(i * strip), row}, c.Ptr())
			m.BulkCommit()
			m.BulkWaitRead(1)
		})
		meet()
		if i > 0 || m.has("a strip is given back before it is stored") {
			give()
		}
		m.come.Advance()
	}
	m.drain(warp)
	meet()
	if !m.has("a strip is given back before it is stored") {
		give()
	}
}
