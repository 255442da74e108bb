package shapes

import "muster/kernel"

// An order lets two warpgroups take turns at two things, products and epilogues, as
// CUTLASS's OrderedSequenceBarrier does: a barrier for each thing and warpgroup, at which
// all threads of the other arrive when they are done with it.
type order struct {
	k     *kernel.Kernel
	turns kernel.Mbarrier // [thing*2 + warpgroup]
	group kernel.Reg      // 0 or 1
	at    *kernel.Stage   // the thing
}

func (s *writer) order(turns kernel.Mbarrier, group kernel.Reg) *order {
	o := &order{s.Kernel, turns, group, s.Kernel.Stages(2, kernel.ConsumerParity)}
	// The first warpgroup begins with both.
	if s.has("both warpgroups begin") {
		o.at.Parity.Set(1)
	} else {
		o.at.Parity.Set(group.Xor(1))
	}
	return o
}

func (o *order) wait() { o.turns.At(o.at.Index.Mad(2, o.group)).WaitParity(o.at.Parity) }

// pass gives the turn to the other, and goes on to the next thing.
func (o *order) pass() {
	o.turns.At(o.at.Index.Mad(2, o.group.Xor(1))).Arrive()
	o.at.Advance()
}

// Pingpong is CUTLASS's pingpong kernel: each of two consumer warpgroups has tiles of 64 ×
// 128 of its own, so that one multiplies while the other stores. One producer loads for
// both in turn; a stage is read by one. The buffers of the epilogue, and the named barrier
// in it, are the same for both.
func (p Product) Pingpong() (*Work, error) {
	const rows, cols, clusters = 64, 128, 1
	s := p.begin("pingpong", rows, cols, 1)
	passes := 128
	if p.has("a turn counts one thread") {
		passes = 1
	}
	turns := s.Mbarriers("turns", 4, passes)
	initialize(s.Kernel, true, s.ring.Full, s.ring.Empty, turns)
	tiles := func(group, step kernel.Num, body func(row, col kernel.Reg)) {
		first := s.ClusteridX()
		if g, ok := group.(kernel.Reg); ok {
			first = g.Mad(clusters, first)
		}
		s.For(first, p.Turns*clusters, step, func(i kernel.Reg) {
			body(i.Mad(p.X, s.x).Mul(rows), s.y.Mul(cols))
		})
	}
	s.Warpgroup(0, func() {
		s.SetMaxNRegDec(40)
		s.SingleWarp(0, func() {
			ring := s.ring.Producer()
			s.Elect(func() {
				tiles(0, clusters, func(row, col kernel.Reg) { s.load(ring, row, col) })
				s.tail(ring)
			})
		})
	})
	s.Threads(128, 256, func() {
		s.SetMaxNRegInc(232)
		warp := s.ShflIdx(s.ThreadIndex().Shr(5), 0)
		group, warp := warp.Shr(2), warp.And(3)
		epilogue := s.NamedBarrier(128).ID()
		meet := func() {
			if p.has("the epilogue's barrier counts both") {
				s.Inst("bar.sync", epilogue, 256)
			} else {
				s.Inst("bar.sync", epilogue, 128)
			}
		}
		m := s.math(0)
		skip := func() {
			for range p.Blocks {
				m.read.Advance()
				m.used.Advance()
			}
		}
		if !p.has("the second begins with the first's stages") {
			s.If(group.Eq(1), skip)
		}
		o := s.order(turns, group)
		tiles(group, 2*clusters, func(row, col kernel.Reg) {
			o.wait()
			m.multiply(o.pass)
			skip() // those of the other
			if !p.has("an epilogue does not wait for its turn") {
				o.wait()
			}
			m.store(warp, row, col, meet)
			if !p.has("the turn is passed before the stores have read") {
				m.drain(warp)
			}
			o.pass()
		})
		m.drain(warp)
	})
	return s.call(clusters, p.Turns*clusters*p.X*rows, p.Y*cols)
}
