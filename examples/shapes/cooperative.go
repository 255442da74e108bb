package shapes

import "muster/kernel"

// Cooperative is CUTLASS's cooperative kernel: two consumer warpgroups share a tile of
// 128 × 128, and both read each stage. The epilogue is theirs together.
func (p Product) Cooperative() (*Work, error) {
	const rows, cols = 128, 128
	clusters := max(1, p.Split)
	s := p.begin("cooperative", rows, cols, 2)
	bars := []kernel.Mbarrier{s.ring.Full, s.ring.Empty}
	if p.Source {
		bars = append(bars, s.source.Full, s.source.Empty, s.begun)
	}
	initialize(s.Kernel, !p.has("the barriers are made without a fence"), bars...)
	tiles := func(body func(row, col kernel.Reg)) {
		s.For(0, p.Turns, 1, func(i kernel.Reg) {
			body(i.Mad(p.X, s.x).Mul(rows), s.y.Mul(cols))
		})
	}
	s.Warpgroup(0, func() {
		s.SetMaxNRegDec(40)
		s.SingleWarp(0, func() {
			ring := s.ring.Producer()
			s.Elect(func() {
				first := s.Const(kernel.U32, 1)
				tiles(func(row, col kernel.Reg) {
					s.load(ring, row, col)
					if p.Source {
						s.If(first.Eq(1), func() { s.begun.At(0).Arrive() })
						first.Set(0)
					}
				})
				s.tail(ring)
			})
		})
		if p.Source {
			s.SingleWarp(2, func() { s.sources(tiles) })
		}
	})
	s.Threads(128, 256, func() {
		if p.has("the warpgroups ask for too many registers") {
			s.SetMaxNRegInc(240)
		} else {
			s.SetMaxNRegInc(232)
		}
		warp := s.ShflIdx(s.ThreadIndex().Shr(5), 0)
		meet := s.NamedBarrier(256).Sync
		m := s.math(warp.Shr(2).Mul(64))
		tiles(func(row, col kernel.Reg) {
			m.multiply(func() {})
			switch {
			case p.Source:
				m.add(warp, row, col, meet)
			case p.Split > 1:
				m.gather(warp, row, col, meet)
			default:
				m.store(warp, row, col, meet)
			}
		})
		if !p.has("a CTA exits while its tile is stored") {
			m.drain(warp)
		}
	})
	return s.call(clusters, p.Turns*p.X*rows, p.Y*cols)
}
