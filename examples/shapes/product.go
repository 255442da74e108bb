package shapes

import "muster/kernel"

// A Product is C = A·Bᵀ in bf16 as CUTLASS's warp-specialized kernels for Hopper compute
// it: a persistent grid of clusters, x × y CTAs each, in which A is multicast along y and
// B along x. One elected thread of one warpgroup loads; the empty barrier of a stage
// counts the consumers that read what this CTA loads.
type Product struct {
	X, Y   int // of the cluster
	Blocks int // of 64 along K
	Stages int
	Turns  int // tiles of each CTA
	// Source adds a matrix to the product: a second producer warp loads it strip by strip.
	Source bool
	// Peek tests for the next stage while the product of this one is under way.
	Peek bool
	// Split has that many clusters share each tile, with a part of K each: each but the
	// last leaves sums in global memory for the next, which adds its own. 0 is 1.
	Split   int
	mistake string
}

func (p Product) has(mistake string) bool { return p.mistake == mistake }

// A writer is a Product while it is written.
type writer struct {
	Product
	*kernel.Kernel
	mapA, mapB, mapC kernel.TensorMap
	mapS             kernel.TensorMap // of the source
	a, b, c          kernel.Tile
	source           *kernel.Pipeline
	partial, ready   kernel.Ptr      // sums of a tile, and how many clusters have added theirs
	begun            kernel.Mbarrier // the products' first loads go before the source's
	rows, cols       int             // of a CTA's tile
	ring             *kernel.Pipeline
	rank, x, y       kernel.Reg // of the CTA in its cluster
}

const (
	deep  = 64 // elements of K in a stage: 128 bytes, a swizzled row
	strip = 32 // columns of C in one store

	sources = 3 // strips of the source in shared memory
)

// begin makes the parameters, the ring and its barriers, for tiles of rows × cols and a
// number of warpgroups that read each stage.
func (p Product) begin(name string, rows, cols, readers int) *writer {
	k := kernel.New(name, kernel.Block(384), kernel.Clusters(p.X, p.Y), kernel.MinCTAs(1))
	s := &writer{Product: p, Kernel: k, rows: rows, cols: cols}
	s.mapA, s.mapB, s.mapC = k.TensorMap("map_a"), k.TensorMap("map_b"), k.TensorMap("map_c")
	s.a = k.Tiles("a", p.Stages, kernel.BF16, rows, deep, 128)
	s.b = k.Tiles("b", p.Stages, kernel.BF16, cols, deep, 128)
	buffers := 2
	if p.Source {
		buffers = sources
	}
	s.c = k.Tiles("c", buffers, kernel.BF16, rows, strip, 2*strip)
	if p.Source {
		s.mapS = k.TensorMap("map_source")
		s.source = k.Pipeline("source", sources, 1, 256)
		s.begun = k.Mbarriers("begun", 1, 1)
	}
	if p.Split > 1 {
		s.partial, s.ready = k.GlobalPtr("partial", kernel.F32), k.GlobalPtr("ready", kernel.U32)
	}
	releases := (p.X + p.Y - 1) * readers
	switch p.mistake {
	case "the empty barriers count the own consumers":
		releases = readers
	case "the empty barriers count all consumers", "all consumers release to all":
		releases = p.X * p.Y * readers
	case "the empty barriers count one more":
		releases++
	}
	s.ring = k.Pipeline("ring", p.Stages, 1, releases)
	s.rank = k.ClusterRank()
	s.x, s.y = s.rank.Rem(p.X), s.rank.Div(p.X)
	return s
}

// load fills the ring with the blocks of one tile.
func (s *writer) load(ring *kernel.Producer, row, col kernel.Reg) {
	// The CTAs that need the same rows of A have the same x, each loads a part of them;
	// and those that need the same columns of B the same y.
	partA, partB := s.rows/s.Y, s.cols/s.X
	var toA, toB []kernel.CopyOption
	if s.Y > 1 {
		mask := 0
		for y := range s.Y {
			mask |= 1 << (y * s.X)
		}
		toA = append(toA, kernel.Multicast(s.Const(kernel.U32, mask).Shl(s.x).Cvt(kernel.U16)))
	}
	if s.X > 1 {
		toB = append(toB, kernel.Multicast(s.Const(kernel.U32, 1<<s.X-1).Shl(s.y.Mul(s.X)).Cvt(kernel.U16)))
	}
	fromA, fromB := s.y.Mul(partA), s.x.Mul(partB)
	start := kernel.Num(0)
	if s.Split > 1 {
		start = s.ClusteridX().Mul(s.Blocks * deep)
	}
	s.For(0, s.Blocks*deep, deep, func(d kernel.Reg) {
		d = d.Add(start)
		ring.Acquire()
		if s.has("a CTA expects what it loads") {
			ring.Expect(s.a.Size()/s.Y + s.b.Size()/s.X)
		} else {
			ring.Expect(s.a.Size() + s.b.Size())
		}
		s.mapA.Load(s.a.At(ring.Stage).Rows(fromA, partA).Ptr(), ring.Full(), kernel.Coords{d, row.Add(fromA)}, toA...)
		s.mapB.Load(s.b.At(ring.Stage).Rows(fromB, partB).Ptr(), ring.Full(), kernel.Coords{d, col.Add(fromB)}, toB...)
		ring.Advance()
	})
}

// tail keeps the producer until all that the other CTAs have to release is released, so
// that no barrier of the cluster is needed at the end.
func (s *writer) tail(ring *kernel.Producer) {
	if !s.has("a CTA exits before the other releases") {
		ring.Tail()
	}
}

// A math is a consumer's side of the ring. It gives a stage back one step late.
type math struct {
	*writer
	read, used *reader
	arrives    kernel.Pred
	to         kernel.Reg
	acc        kernel.Accumulator
	first      kernel.Num // of the CTA's rows that the warpgroup multiplies
	come, gone *reader    // of the source
}

func (s *writer) math(first kernel.Num) *math {
	m := &math{writer: s, read: reads(s.Kernel, s.ring), used: reads(s.Kernel, s.ring), first: first}
	m.arrives, m.to = spread(s.Kernel, s.X, s.Y)
	if s.has("all consumers release to all") {
		m.arrives = s.TidX().And(7).Eq(0).And(m.to.Lt(s.X * s.Y))
	}
	m.acc = s.Accumulator(kernel.F32, 64, s.cols)
	if s.Source {
		m.come, m.gone = reads(s.Kernel, s.source), reads(s.Kernel, s.source)
	}
	return m
}

func (m *math) release(r *reader) {
	m.Guard(m.arrives, func() {
		switch bar := r.empty(); m.mistake {
		case "a release has no scope":
			m.Inst("mbarrier.arrive.shared::cluster.b64", kernel.Discard{}, bar.Remote(m.to).Ptr())
		case "a release goes to the own CTA":
			bar.Remote(m.rank).Arrive()
		default:
			bar.Remote(m.to).Arrive()
		}
	})
}

// multiply adds up one tile. With one product in flight, the one before is over. between
// is called when all products are issued.
func (m *math) multiply(between func()) {
	var full kernel.Pred // what an earlier test has found
	test := func() {
		if m.Peek {
			full.Set(m.read.test())
		}
	}
	step := func(opts ...kernel.MmaOption) {
		switch {
		case m.has("the parity does not flip"):
			m.ring.Full.At(m.read.Index).WaitParity(kernel.ConsumerParity)
		case m.Peek:
			m.read.waitAfter(full)
		default:
			m.read.wait()
		}
		m.WgmmaFence()
		m.acc.Mma(m.a.At(m.read.Index).Rows(m.first, 64), m.b.At(m.read.Index).T(), opts...)
		m.WgmmaCommit()
	}
	advance := func() {
		if m.has("the test is of the stage that is in use") {
			test()
			m.read.Advance()
			return
		}
		m.read.Advance()
		if !m.has("the test is made once for all stages") {
			test()
		}
	}
	if m.Peek {
		full = m.PredVar()
	}
	test()
	step(kernel.Overwrite)
	advance()
	m.For(1, m.Blocks, 1, func(kernel.Reg) {
		step()
		if m.has("the newest stage is released") {
			m.WgmmaWait(1)
			m.release(m.read)
			advance()
		} else {
			advance()
			inFlight := 1
			if m.has("the wait leaves what is released in flight") {
				inFlight = 2
			}
			m.WgmmaWait(inFlight)
			m.release(m.used)
		}
		m.used.Advance()
	})
	between()
	if m.has("the last product is not waited for") {
		m.release(m.used)
		m.WgmmaWait(0)
	} else {
		m.WgmmaWait(0)
		m.release(m.used)
	}
	m.used.Advance()
}

// store writes the tile out, strip by strip through two buffers: all threads write into
// one, and one elected lane of the first warp issues the copy, and then waits until the
// other buffer is free. tail leaves none in flight.
func (m *math) store(warp, row, col kernel.Reg, meet func()) {
	for i := range m.cols / strip {
		c := m.c.At(i % 2)
		m.EachWarp(func() { m.acc.StoreWarp(c.Rows(warp.Mul(16), 16), 0, i*strip) })
		switch {
		case m.has("no proxy fence"):
		case m.has("only the issuing warp fences"):
			m.If(warp.Eq(0), func() { m.FenceProxyAsync(kernel.SharedCTA) })
		default:
			m.FenceProxyAsync(kernel.SharedCTA)
		}
		if !m.has("nobody waits for the strip to be written") {
			meet()
		}
		m.issue(warp, func() {
			m.mapC.Store(kernel.Coords{col.Add(i * strip), row}, c.Ptr())
			m.BulkCommit()
			switch m.mistake {
			case "a strip is overwritten while it is stored":
			case "two stores may be under way":
				m.BulkWaitRead(2)
			default:
				m.BulkWaitRead(1)
			}
		})
		if !m.has("nobody is told that a buffer is free") {
			meet()
		}
	}
}

// drain waits until the stores have read their strips.
func (m *math) drain(warp kernel.Reg) {
	m.issue(warp, func() { m.BulkWaitRead(0) })
}

// issue has one lane of the first of the warps do something.
func (m *math) issue(warp kernel.Reg, body func()) {
	m.If(warp.Eq(0), func() { m.EachWarp(func() { m.Elect(body) }) })
}

// call gives the kernel its arguments: grid clusters, and the sizes of the matrices.
func (s *writer) call(clusters, m, n int) (*Work, error) {
	depth := s.Blocks * deep * max(1, s.Split)
	x, y, z := integers(m*depth, 7), integers(n*depth, 5), make([]uint16, m*n)
	args := []any{
		s.a.Rows(0, s.rows/s.Y).MapOf(x, []int{m, depth}),
		s.b.Rows(0, s.cols/s.X).MapOf(y, []int{n, depth}),
		s.c.MapOf(z, []int{m, n}),
	}
	added := make([]uint16, m*n)
	if s.Source {
		added = integers(m*n, 11)
		args = append(args, s.c.MapOf(added, []int{m, n}))
	}
	if s.Split > 1 {
		args = append(args, kernel.Scratch(make([]float32, m*n)), kernel.Scratch(make([]uint32, m*n/s.rows/s.cols)))
	}
	call, err := s.Kernel.Call(kernel.Grid(clusters*s.X, s.Y), args...)
	if err != nil {
		return nil, err
	}
	return &Work{call, func() error { return equal(z, product(x, y, added, depth), n) }}, nil
}
