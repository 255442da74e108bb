package shapes

import "muster/kernel"

// An Attention is FlashAttention-3's forward pass with integers in place of exponentials:
// what is subtracted, scaled and summed there is a maximum and a doubling here, which are
// exact. Each CTA takes tile after tile of 128 queries; two warpgroups have 64 of
// them each, and take turns at the tensor cores by named barriers, so that one computes
// its weights while the other multiplies. The products of one block's keys and of the last
// block's values are in flight together. O goes out through V's shared memory.
type Attention struct {
	CTAs, Turns int // of the grid; tiles that each takes
	Blocks      int // of 64 keys
	// Cluster is the CTAs that share keys and values: each loads a part for all. 0 is 1.
	Cluster int
	// Dynamic draws tiles from a counter in global memory, in place of a fixed order.
	Dynamic bool
	// Transpose has the producer's warpgroup transpose V in shared memory, as it has to
	// be done for types of 8 bits: V passes through two pipelines.
	Transpose bool
	mistake   string
}

const (
	queries = 128 // of a tile
	keys    = 64  // of a block
	head    = 64  // elements of a query, a key and a value
)

// attention is an Attention while it is written.
type attention struct {
	Attention
	*kernel.Kernel
	mapQ, mapK, mapV, mapO kernel.TensorMap
	q, k, v, raw, o        kernel.Tile
	ringK, ringV, ringRaw  *kernel.Pipeline
	fullQ, freeO           kernel.Mbarrier
	emptyQ                 kernel.NamedBarrier // the consumers and the producer's first warp
	tickets, number        kernel.Ptr
	numberFree, numberSet  kernel.NamedBarrier
	schedule               int // the first of two named barriers, one for each consumer's turn
	epilogue               int // named barrier
}

func (p Attention) has(mistake string) bool { return p.mistake == mistake }

// Forward writes the kernel and its launch.
func (p Attention) Forward() (*Work, error) {
	s := &attention{Attention: p}
	options := []kernel.Option{kernel.Block(384), kernel.MinCTAs(1)}
	if p.Cluster > 1 {
		options = append(options, kernel.Clusters(p.Cluster))
	} else {
		s.Cluster = 1
	}
	s.Kernel = kernel.New("attention", options...)
	s.mapQ, s.mapK, s.mapV, s.mapO = s.TensorMap("map_q"), s.TensorMap("map_k"), s.TensorMap("map_v"), s.TensorMap("map_o")
	const stages = 2
	s.q = s.Tile("q", kernel.BF16, queries, head, 128)
	s.k = s.Tiles("k", stages, kernel.BF16, keys, head, 128)
	s.v = s.Tiles("v", stages, kernel.BF16, keys, head, 128)
	s.o = s.v.Ptr().Tile(queries, head, 128) // both stages of V
	s.ringK = s.Pipeline("ring_k", stages, 1, 2*s.Cluster)
	if p.Transpose {
		s.raw = s.Tiles("raw", stages, kernel.BF16, keys, head, 128)
		s.ringRaw = s.Pipeline("ring_raw", stages, 1, s.Cluster)
		s.ringV = s.Pipeline("ring_v", stages, 128, 256)
	} else {
		s.ringV = s.Pipeline("ring_v", stages, 1, 2*s.Cluster)
	}
	s.fullQ, s.freeO = s.Mbarrier("full_q", 1), s.Mbarrier("free_o", s.Cluster)
	s.emptyQ = s.NamedBarrier(256 + 32)
	s.schedule = s.NamedBarrier(256).ID()
	s.NamedBarrier(256)
	s.epilogue = s.NamedBarrier(256).ID()
	if p.Dynamic {
		s.tickets = s.GlobalPtr("tickets", kernel.U32)
		s.number = s.Shared("number", kernel.U32)
		s.numberFree, s.numberSet = s.NamedBarrier(256+32), s.NamedBarrier(256+32)
	}
	s.InitMbarriers()

	s.Warpgroup(0, s.produce)
	s.Threads(128, 256, s.consume)

	m, n := p.CTAs*p.Turns*queries, p.Blocks*keys
	q, k, v, o := integers(m*head, 3), integers(n*head, 3), integers(n*head, 5), make([]uint16, m*head)
	v0 := s.v
	if p.Transpose {
		v0 = s.raw
	}
	args := []any{s.q.MapOf(q, []int{m, head}), s.k.Rows(0, keys/s.Cluster).MapOf(k, []int{n, head}),
		v0.Rows(0, keys/s.Cluster).MapOf(v, []int{n, head}), s.o.MapOf(o, []int{m, head})}
	if p.Dynamic {
		args = append(args, kernel.Scratch(make([]uint32, 1)))
	}
	call, err := s.Call(kernel.Grid(p.CTAs), args...)
	if err != nil {
		return nil, err
	}
	return &Work{call, func() error { return equal(o, p.reference(q, k, v), head) }}, nil
}

// tiles executes body for every tile of the CTA, with its first row and with the parities
// of its turn.
func (s *attention) tiles(produces bool, body func(row, parity kernel.Reg)) {
	parity, ctas := s.Const(kernel.U32, 0), s.Attention.CTAs
	if !s.Dynamic {
		s.For(s.CtaidX(), ctas*s.Turns, ctas, func(i kernel.Reg) {
			body(i.Mul(queries), parity)
			parity.Set(parity.Xor(1))
		})
		return
	}
	// As FlashAttention-3's dynamic scheduler: the producer draws the next tile while it
	// loads this one, and tells the consumers by shared memory and two named barriers.
	i, next := s.CtaidX().Copy(), s.Const(kernel.U32, 0)
	if !produces {
		s.numberFree.Arrive()
	}
	s.Loop(func() {
		s.BreakIf(i.Ge(ctas * s.Turns))
		if produces {
			s.If(s.LaneID().Eq(0), func() { next.Set(s.tickets.Atom(kernel.Add, 1).Add(ctas)) })
		}
		body(i.Mul(queries), parity)
		parity.Set(parity.Xor(1))
		if produces {
			i.Set(s.ShflIdx(next, 0))
			if !s.has("a number is overwritten while it is read") {
				s.numberFree.Sync()
			}
			s.If(s.LaneID().Eq(0), func() { s.number.Store(i) })
			s.numberSet.Arrive()
		} else {
			s.numberSet.Sync()
			i.Set(s.number.Load())
			s.numberFree.Arrive()
		}
	})
}

// produce loads Q once a tile, and K and V block by block, from the last to the first. K
// is one block ahead of V, since the consumers need it so.
func (s *attention) produce() {
	s.SetMaxNRegDec(24)
	if !s.Transpose {
		s.SingleWarp(0, s.load)
		return
	}
	s.load()
}

// load is executed by the producer's first warp, or by all four if they transpose.
func (s *attention) load() {
	k, v, give := s.ringK.Producer(), s.ringV.Producer(), s.giver()
	raw, read := v, (*reader)(nil)
	tile := s.v
	if s.Transpose {
		raw, read, tile = s.ringRaw.Producer(), reads(s.Kernel, s.ringRaw), s.raw
	}
	// first has the first warp do something, and leader one lane of it.
	first := func(body func()) {
		if s.Transpose {
			s.SingleWarp(0, body)
		} else {
			body()
		}
	}
	leader := func(body func()) { first(func() { s.Elect(body) }) }
	loadK := func(block kernel.Num) {
		leader(func() {
			k.Acquire()
			k.Expect(s.k.Size())
			s.share(s.mapK, s.k.At(k.Stage), k.Full(), block)
		})
		k.Advance()
	}
	loadV := func(block kernel.Num) {
		leader(func() {
			raw.Acquire()
			raw.Expect(s.v.Size())
			s.share(s.mapV, tile.At(raw.Stage), raw.Full(), block)
		})
		raw.Advance()
	}
	s.tiles(true, func(row, parity kernel.Reg) {
		last := (s.Blocks - 1) * keys
		if s.Transpose {
			loadV(last)
		}
		loadK(last)
		first(func() {
			if !s.has("Q is loaded while it is used") {
				s.emptyQ.Sync()
			}
			s.Elect(func() {
				s.fullQ.ArriveExpect(s.q.Size())
				s.mapQ.Load(s.q.Ptr(), s.fullQ, kernel.Coords{0, row})
			})
		})
		if !s.has("V is loaded while O is stored") {
			s.freeO.WaitParity(parity.Xor(kernel.ProducerParity))
		}
		s.For(1, s.Blocks, 1, func(i kernel.Reg) {
			block := s.Const(kernel.U32, s.Blocks-1).Sub(i).Mul(keys)
			if s.Transpose {
				loadV(block)
				loadK(block)
				s.transpose(read, v, give)
			} else {
				loadK(block)
				loadV(block.Add(keys))
			}
		})
		if s.Transpose {
			s.transpose(read, v, give)
		} else {
			loadV(0)
		}
	})
	if s.Cluster > 1 && !s.has("a CTA exits before the other has stored") {
		s.freeO.WaitParity((s.Turns - 1) & 1)
	}
	leader(func() {
		k.Tail()
		raw.Tail()
	})
}

// share loads this CTA's part of a block for all CTAs of the cluster.
func (s *attention) share(m kernel.TensorMap, to kernel.Tile, full kernel.Mbarrier, block kernel.Num) {
	if s.Cluster == 1 {
		m.Load(to.Ptr(), full, kernel.Coords{0, block})
		return
	}
	part := keys / s.Cluster
	first := s.ClusterRank().Mul(part)
	m.Load(to.Rows(first, part).Ptr(), full, kernel.Coords{0, first.Add(block)}, kernel.Multicast(1<<s.Cluster-1))
}

// giver gives what gives a stage back that a copy filled: once for the warpgroup, at
// each CTA that loaded a part.
func (s *attention) giver() func(*reader) {
	arrives, to := s.TidX().And(127).Eq(0), kernel.Reg{}
	if s.Cluster > 1 {
		arrives, to = spread(s.Kernel, s.Cluster, 1)
	}
	return func(r *reader) {
		s.Guard(arrives, func() {
			if s.Cluster > 1 {
				r.empty().Remote(to).Arrive()
			} else {
				r.empty().Arrive()
			}
		})
	}
}

// transpose moves a block of V from one pipeline to the next, four warps together: each
// has 16 of the values' elements. The lane that gives the stage back speaks for
// all of them, and must wait until all have read.
func (s *attention) transpose(from *reader, to *kernel.Producer, give func(*reader)) {
	from.wait()
	to.Acquire()
	warp, lane := s.TidX().Shr(5), s.LaneID()
	low, next, third := lane.And(7), lane.Shr(3).And(1).Mul(8), lane.Shr(4).Mul(8)
	col := warp.Mul(16)
	for i := 0; i < keys; i += 16 {
		key := low.Add(next).Add(i)
		m := s.raw.At(from.Index).Addr(key, col.Add(third)).LoadMatrix(4, kernel.Trans)
		s.v.At(to.Stage).Addr(col.Add(third).Add(low), next.Add(i)).StoreMatrix(m)
	}
	switch {
	case s.has("no fence after the transpose"):
		to.Commit()
	case s.has("the fence comes after the arrival"):
		to.Commit()
		s.FenceProxyAsync(kernel.SharedCTA)
	default:
		s.FenceProxyAsync(kernel.SharedCTA)
		to.Commit()
	}
	if !s.has("the transpose has no barrier") {
		s.Sync()
	}
	give(from)
	from.Advance()
	to.Advance()
}

// consume is the two warpgroups that multiply.
func (s *attention) consume() {
	s.SetMaxNRegInc(240)
	warp := s.ShflIdx(s.ThreadIndex().Shr(5), 0)
	group := warp.Shr(2)
	k, v := reads(s.Kernel, s.ringK), reads(s.Kernel, s.ringV)
	scores := s.Accumulator(kernel.F32, 64, keys)
	out := s.Accumulator(kernel.F32, 64, head)
	weights := s.Vars(kernel.BF16x2, len(scores.Regs())/2)
	give := s.giver()

	releaseK := func() { give(k); k.Advance() }
	releaseV := func() {
		if s.Transpose {
			v.empty().Arrive()
		} else {
			give(v)
		}
		v.Advance()
	}
	turn := func(op string, group kernel.Reg) {
		count := 256
		if s.has("a turn counts one warpgroup") {
			count = 128
		}
		s.Inst(op, group.Add(s.schedule), count)
	}
	sync := func() { turn("bar.sync", group) }
	pass := func() {
		if s.has("a turn is passed to oneself") {
			turn("bar.arrive", group)
		} else {
			turn("bar.arrive", group.Xor(1))
		}
	}
	multiplyQK := func() {
		s.WgmmaFence()
		scores.Mma(s.q.Rows(group.Mul(64), 64), s.k.At(k.Index).T(), kernel.Overwrite)
		s.WgmmaCommit()
	}
	multiplyPV := func() {
		b := s.v.At(v.Index)
		if s.Transpose {
			b = b.T()
		}
		if !s.has("no fence before the products of V") {
			s.WgmmaFence()
		}
		out.Mma(s.Fragment(kernel.BF16, 64, keys, weights), b)
		s.WgmmaCommit()
	}
	convert := func() {
		for i, r := range scores.Fragment(kernel.BF16).Regs() {
			weights[i].Set(r)
		}
	}

	s.emptyQ.Arrive()
	if !s.has("nobody has the first turn") {
		s.If(group.Eq(0), func() { turn("bar.arrive", group) })
	}
	s.tiles(false, func(row, parity kernel.Reg) {
		if !s.has("nobody waits for Q") {
			s.fullQ.WaitParity(parity)
		}
		k.wait()
		multiplyQK()
		s.WgmmaWait(0)
		releaseK()
		if s.has("Q is given back before its last product") {
			s.emptyQ.Arrive()
		}
		soft := s.soft(scores)
		convert()
		out.Zero()
		s.For(1, s.Blocks, 1, func(kernel.Reg) {
			// The first waits for both; the second knows by its turn.
			leader := 0
			if s.has("the second waits for K and not the first") {
				leader = 1
			}
			s.If(group.Eq(leader), k.wait)
			sync()
			multiplyQK()
			if !s.has("nobody waits for V") {
				s.If(group.Eq(0), v.wait)
			}
			multiplyPV()
			pass()
			switch {
			case s.has("K is given back while it is multiplied"):
				s.WgmmaWait(2)
				releaseK()
				s.WgmmaWait(1)
			default:
				s.WgmmaWait(1)
				releaseK()
			}
			scale := soft.next()
			switch {
			case s.has("V is given back while it is multiplied"):
				releaseV()
				s.WgmmaWait(0)
				convert()
			case s.has("the weights are overwritten in flight"):
				convert()
				s.WgmmaWait(0)
				releaseV()
			default:
				s.WgmmaWait(0)
				releaseV()
				convert()
			}
			scale(out)
		})
		if !s.has("Q is given back before its last product") {
			s.emptyQ.Arrive()
		}
		v.wait()
		multiplyPV()
		s.WgmmaWait(0)
		releaseV()
		s.store(out, warp, row)
	})
}

// store writes O where V was, which both warpgroups have to be done with, and has one
// lane of the last warp store it. That warp arrives at the barrier, too, before it waits
// there: the barrier counts a warp more than there are.
func (s *attention) store(out kernel.Accumulator, warp, row kernel.Reg) {
	if !s.has("O is written while V is read") {
		s.Inst("bar.sync", s.epilogue, 256)
	}
	out.Store(s.o.Rows(warp.Shr(2).Mul(64), 64))
	if !s.has("no fence before the store") {
		s.FenceProxyAsync(kernel.SharedCTA)
	}
	count := 256 + 32
	if s.has("the last warp is not counted twice") {
		count = 256
	}
	s.Inst("bar.arrive", s.epilogue, count)
	s.If(warp.Eq(7), func() {
		s.Inst("bar.sync", s.epilogue, count)
		s.EachWarp(func() {
			s.Elect(func() {
				s.mapO.Store(kernel.Coords{0, row}, s.o.Ptr())
				s.BulkCommit()
				if !s.has("O is given back while it is stored") {
					s.BulkWaitRead(0)
				}
				if s.Cluster == 1 {
					s.freeO.Arrive()
				} else {
					s.freeO.ArriveMulticast(1<<s.Cluster - 1)
				}
			})
		})
	})
}

// A soft stands for the softmax: of each row the greatest score so far, which rises
// from block to block, and with it what the sums before are scaled by.
type soft struct {
	*attention
	scores kernel.Accumulator
	most   kernel.Vec // of the thread's two rows
}

// soft computes the first block's weights, in the scores' registers.
func (s *attention) soft(scores kernel.Accumulator) *soft {
	f := &soft{s, scores, s.Vars(kernel.F32, 2)}
	for i, r := range f.rows() {
		f.most[i].Set(r)
	}
	f.weigh()
	return f
}

// next computes the next block's weights, and gives what scales the sums before.
func (f *soft) next() (scale func(kernel.Accumulator)) {
	var by kernel.Vec
	for i, r := range f.rows() {
		by = append(by, r.Gt(f.most[i]).Select(f.Const(kernel.F32, 2), f.Const(kernel.F32, 1)))
		f.most[i].Set(f.most[i].Max(r))
	}
	f.weigh()
	return func(out kernel.Accumulator) {
		for i, r := range out.Regs() {
			r.Set(r.Mul(by[i/2%2]))
		}
	}
}

// rows gives the greatest score of each of the thread's rows: four lanes have a row.
func (f *soft) rows() kernel.Vec {
	regs := f.scores.Regs()
	most := kernel.Vec{regs[0], regs[2]}
	for i, r := range regs {
		most[i/2%2] = most[i/2%2].Max(r)
	}
	for i := range most {
		most[i] = most[i].Max(f.ShflBfly(most[i], 1))
		most[i] = most[i].Max(f.ShflBfly(most[i], 2))
	}
	return most
}

func (f *soft) weigh() {
	for _, r := range f.scores.Regs() {
		r.Set(r.Max(0))
	}
}

// reference computes the same in Go.
func (p Attention) reference(q, k, v []uint16) []uint16 {
	qs, ks, vs := values(q), values(k), values(v)
	o := make([]uint16, len(q))
	for i := range len(q) / head {
		row := qs[i*head : (i+1)*head]
		sum, most := make([]float32, head), float32(0)
		for b := p.Blocks - 1; b >= 0; b-- {
			scores := make([]float32, keys)
			for j := range scores {
				scores[j] = dot(row, ks[(b*keys+j)*head:])
			}
			high := scores[0]
			for _, x := range scores {
				high = max(high, x)
			}
			if b == p.Blocks-1 {
				most = high
			} else if high > most {
				most = high
				for c := range sum {
					sum[c] *= 2
				}
			}
			for j, x := range scores {
				for c := range sum {
					sum[c] += max(x, 0) * vs[(b*keys+j)*head+c]
				}
			}
		}
		for c, x := range sum {
			o[i*head+c] = kernel.BF16Bits(x)
		}
	}
	return o
}
