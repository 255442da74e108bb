package kernels

import (
	"fmt"

	"muster/kernel"
)

// A GEMM is the product C = A·Bᵀ of matrices in row-major order: A is M × K, B
// is N × K, C is M × N, all of one type of 16 bits, with sums in f32.
//
// A cluster of CTAs takes tile after tile of C. Each CTA has a producer, one
// thread that copies tiles of A and B into a ring of stages, and two consumers,
// warpgroups that each multiply half of the CTA's rows. The CTAs of a cluster lie
// below each other: they need the same tile of B, so each loads a part of it and
// multicasts that to all. While the consumers write a tile of C out, the
// producer already fills the ring for the next one.
type GEMM struct {
	M, N, K int
	Type    kernel.Type // F16 or BF16

	// The rest may be zero, and is chosen then.
	CTAs    int // of the grid, a multiple of Cluster, and no more than run at one time
	TileN   int // columns of C that a CTA takes at a time: a multiple of 64 up to 256
	Stages  int // of the ring
	Buffers int // strips of C that a warp has in shared memory
	Cluster int // CTAs that share tiles of B
	Rows    int // clusters' tiles that lie below each other before the next column begins

	mistake string // one to make, of persistent
}

const (
	processors = 132 // of an H100 or H200

	tileM     = 128 // rows of C that a CTA takes at a time: 64 for each consumer
	tileK     = 64  // columns of A and B in a stage: 128 bytes, a swizzled row
	strip     = 64  // columns of C in one store: 128 bytes
	consumers = 2   // warpgroups
)

// set chooses a number that is not said.
func set(x *int, to int) {
	if *x == 0 {
		*x = to
	}
}

// complete chooses what is not said, and says what cannot be.
func (g GEMM) complete() (GEMM, error) {
	set(&g.TileN, 256)
	set(&g.Stages, 4)
	set(&g.Buffers, 2)
	set(&g.Cluster, 2)
	set(&g.Rows, 8)
	if g.Type == "" {
		g.Type = kernel.F16
	}
	bad := func(what string, args ...any) (GEMM, error) {
		return g, fmt.Errorf("gemm of %d × %d × %d: "+what, append([]any{g.M, g.N, g.K}, args...)...)
	}
	switch {
	case g.M < 1 || g.N < 1 || g.K < 1 || g.N%8 != 0 || g.K%8 != 0:
		return bad("the sizes are positive, and rows, of K and N elements, a multiple of 16 bytes")
	case g.Type != kernel.F16 && g.Type != kernel.BF16:
		return bad("elements of %s; they are F16 or BF16", g.Type)
	case g.TileN < strip || g.TileN > 256 || g.TileN%strip != 0:
		return bad("tiles of %d columns; they have 64, 128, 192 or 256", g.TileN)
	case g.Cluster != 1 && g.Cluster != 2 && g.Cluster != 4:
		return bad("clusters of %d; they have 1, 2 or 4 CTAs", g.Cluster)
	case g.Stages < 1 || g.Buffers < 1 || g.Rows < 1 || g.CTAs < 0 || g.CTAs%g.Cluster != 0:
		return bad("%d stages, %d buffers, %d rows, %d CTAs: they are positive, and CTAs a multiple of the cluster", g.Stages, g.Buffers, g.Rows, g.CTAs)
	}
	for g.TileN/strip%g.Buffers != 0 { // strips take the buffers in turn
		g.Buffers--
	}
	// Fewer CTAs that take as many turns share more of L2, and draw less power.
	tiles := ceil(g.M, tileM*g.Cluster) * ceil(g.N, g.TileN)
	turns := ceil(tiles, processors/g.Cluster)
	set(&g.CTAs, ceil(tiles, turns)*g.Cluster)
	return g, nil
}

// Kernel writes the kernel. Its parameters are the tensor maps of A, B and C.
func (g GEMM) Kernel() (*kernel.Kernel, error) {
	g, err := g.complete()
	if err != nil {
		return nil, err
	}
	k, _ := g.write()
	return k, k.Err()
}

// Call gives the kernel with its arguments, for a run on the machine or a GPU.
func (g GEMM) Call(a, b, c []uint16) (*kernel.Call, error) {
	g, err := g.complete()
	if err != nil {
		return nil, err
	}
	if len(a) != g.M*g.K || len(b) != g.N*g.K || len(c) != g.M*g.N {
		return nil, fmt.Errorf("gemm of %d × %d × %d: slices of %d, %d and %d elements", g.M, g.N, g.K, len(a), len(b), len(c))
	}
	k, s := g.write()
	return k.Call(kernel.Grid(g.CTAs),
		s.a.MapOf(a, []int{g.M, g.K}),
		s.b.Rows(0, g.TileN/g.Cluster).MapOf(b, []int{g.N, g.K}),
		s.c.MapOf(c, []int{g.M, g.N}))
}

// gemm is a kernel while it is written.
type gemm struct {
	GEMM
	*kernel.Kernel
	mapA, mapB, mapC kernel.TensorMap
	a, b, c          kernel.Tile
	ring             *kernel.Pipeline
	rank             kernel.Reg // of the CTA in its cluster
}

func (g GEMM) write() (*kernel.Kernel, *gemm) {
	k := kernel.New("gemm", kernel.Block(128*(1+consumers)), kernel.Clusters(g.Cluster), kernel.MinCTAs(1))
	s := &gemm{GEMM: g, Kernel: k}
	s.mapA, s.mapB, s.mapC = k.TensorMap("map_a"), k.TensorMap("map_b"), k.TensorMap("map_c")
	s.a = k.Tiles("a", g.Stages, g.Type, tileM, tileK, 128)
	s.b = k.Tiles("b", g.Stages, g.Type, g.TileN, tileK, 128)
	s.c = k.Tiles("c", consumers*4*g.Buffers, g.Type, 16, strip, 128)
	// A stage is full when its bytes are there, and empty when each consumer
	// warp of the cluster has used it.
	s.ring = k.Pipeline("ring", g.Stages, 1, consumers*4*g.Cluster)
	s.rank = k.ClusterRank()
	k.InitMbarriers()
	k.Warpgroup(0, s.produce)
	k.Threads(128, 128*consumers, s.consume)
	// No CTA goes before the others have signalled what they have to.
	if g.mistake != "a CTA exits early" {
		k.ClusterSync()
	}
	return k, s
}

// tiles executes body for every tile of C that is this CTA's, with its first row
// and column. Clusters take tiles in turn. The tiles go down Rows of them and
// then on to the next column, so that the clusters that run at one time share
// what they read in L2.
func (s *gemm) tiles(body func(row, col kernel.Reg)) {
	down := ceil(s.M, tileM*s.Cluster)
	across := ceil(s.N, s.TileN)
	rows := min(s.Rows, down)
	for down%rows != 0 {
		rows--
	}
	s.For(s.ClusteridX(), down*across, s.GEMM.CTAs/s.Cluster, func(i kernel.Reg) {
		band, in := i.Div(rows*across), i.Rem(rows*across)
		row := band.Mad(rows, in.Rem(rows)).Mad(s.Cluster, s.rank)
		body(row.Mul(tileM), in.Div(rows).Mul(s.TileN))
	})
}

func ceil(a, b int) int { return (a + b - 1) / b }

// produce is the warpgroup that loads: one thread of it. It gives its registers
// to the consumers.
func (s *gemm) produce() {
	s.SetMaxNRegDec(40)
	part := s.TileN / s.Cluster
	all := 1<<s.Cluster - 1
	s.SingleThread(func() {
		ring := s.ring.Producer()
		s.tiles(func(row, col kernel.Reg) {
			mine := col.Add(s.rank.Mul(part))
			s.For(0, s.K, tileK, func(k kernel.Reg) {
				ring.Acquire()
				ring.Expect(s.a.Size() + s.b.Size())
				s.mapA.Load(s.a.At(ring.Stage).Ptr(), ring.Full(), kernel.Coords{k, row})
				to := s.b.At(ring.Stage).Rows(s.rank.Mul(part), part).Ptr()
				if s.Cluster > 1 {
					s.mapB.Load(to, ring.Full(), kernel.Coords{k, mine}, kernel.Multicast(all))
				} else {
					s.mapB.Load(to, ring.Full(), kernel.Coords{k, mine})
				}
				ring.Advance()
			})
		})
	})
}

// consume is the two warpgroups that multiply. Each adds up 64 rows.
func (s *gemm) consume() {
	s.SetMaxNRegInc(232)
	// The same in all lanes of a warp, which lets it go in uniform registers.
	warp := s.ShflIdx(s.ThreadIndex().Shr(5), 0)
	wg := warp.Shr(2)
	ring, used := s.ring.Consumer(), s.ring.Consumer()
	acc := s.Accumulator(kernel.F32, 64, s.TileN)

	multiply := func(opts ...kernel.MmaOption) {
		ring.Wait()
		s.WgmmaFence()
		acc.Mma(s.a.At(ring.Stage).Rows(wg.Mul(64), 64), s.b.At(ring.Stage).T(), opts...)
		s.WgmmaCommit()
		ring.Advance()
	}
	// A stage is given back one step late, so that the tensor cores never wait
	// for the next product to be issued. One lane of each warp tells each CTA of
	// the cluster. A release of the whole cluster scope would wait for all of the
	// thread's memory, and cost a third of the speed; all there is to release is
	// what the products read of shared memory.
	release := func(inFlight int) {
		if s.mistake == "a stage is given back while it is multiplied" {
			inFlight++
		}
		s.WgmmaWait(inFlight)
		s.Guard(s.LaneID().Lt(s.Cluster), func() {
			if s.mistake != "a relaxed release without its fence" {
				s.FenceReleaseSync()
			}
			used.ReleaseTo(s.LaneID(), kernel.Relaxed)
		})
		used.Advance()
	}
	s.tiles(func(row, col kernel.Reg) {
		multiply(kernel.Overwrite)
		s.For(1, ceil(s.K, tileK), 1, func(kernel.Reg) {
			multiply()
			release(1)
		})
		release(0)
		s.store(acc, warp, row.Add(warp.Mul(16)), col)
	})
	s.EachWarp(func() { s.SingleThread(func() { s.BulkWaitRead(0) }) })
}

// store has each warp write its 16 rows of C: strip by strip into shared memory,
// and from there by a copy that goes on while the next strip, and then the next
// tile, is under way.
func (s *gemm) store(acc kernel.Accumulator, warp, row, col kernel.Reg) {
	s.EachWarp(func() {
		for i := range s.TileN / strip {
			c := s.c.At(warp.Mad(s.Buffers, i%s.Buffers))
			if s.mistake != "a strip is overwritten while it is stored" {
				s.SingleThread(func() { s.BulkWaitRead(s.Buffers - 1) })
			}
			s.Sync()
			acc.StoreWarp(c, 0, i*strip)
			if s.mistake != "no proxy fence" {
				s.FenceProxyAsync(kernel.SharedCTA)
			}
			s.Sync()
			s.SingleThread(func() {
				s.mapC.Store(kernel.Coords{col.Add(i * strip), row}, c.Ptr())
				s.BulkCommit()
			})
		}
	})
}

// Persistent is a small GEMM: one cluster that takes two tiles.
func Persistent(mistake string) (*Work, error) {
	g := GEMM{M: 256, N: 128, K: 256, TileN: 64, Stages: 2, CTAs: 2, mistake: mistake}
	a, b, c := integers(g.M*g.K, 7), integers(g.N*g.K, 5), make([]uint16, g.M*g.N)
	call, err := g.Call(a, b, c)
	return work(func() error {
		sums := make([]float32, len(c))
		for i, bits := range c {
			sums[i] = kernel.F16Value(bits)
		}
		return product(a, b, sums, g.N, g.K)
	}, call, err)
}
