package shapes

import "muster/kernel"

// gather adds up the parts of a tile, as CUTLASS's stream-K scheduler does. One thread
// waits until the clusters before have counted, the consumers meet, load their sums and
// add their own. All but the last cluster store these, meet, and one thread counts after
// a fence.
func (m *math) gather(warp, row, col kernel.Reg, meet func()) {
	tile := row.Div(m.rows).Mul(m.Y).Add(m.y)
	thread, part := m.ThreadIndex(), m.ClusteridX()
	at := func(j int) kernel.Ptr {
		return m.partial.At(tile.Mul(m.rows * m.cols).Add(thread).Add(256 * j))
	}
	regs := m.acc.Regs()
	m.If(part.Gt(0), func() {
		m.If(thread.Eq(0), func() {
			order := kernel.Acquire
			if m.has("the count is read without an acquire") {
				order = kernel.Relaxed
			}
			m.Loop(func() { m.BreakIf(m.ready.At(tile).Load(order, kernel.GPU).Eq(part)) })
		})
		if !m.has("one thread alone waits for the count") {
			meet()
		}
		for j, r := range regs {
			r.Set(r.Add(at(j).Load()))
		}
	})
	m.IfElse(part.Lt(m.Split-1), func() {
		for j, r := range regs {
			at(j).Store(r)
		}
		if !m.has("a count may come before the sums") {
			meet()
		}
		m.If(thread.Eq(0), func() {
			if !m.has("a count has no fence") {
				m.FenceAcqRel(kernel.GPU)
			}
			m.ready.At(tile).Red(kernel.Add, 1, kernel.Relaxed, kernel.GPU)
		})
	}, func() { m.store(warp, row, col, meet) })
}
