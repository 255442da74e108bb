package kernels

import (
	"fmt"
	"math/bits"

	"muster/kernel"
)

// A TensorGEMM is the product C = A·Bᵀ on Blackwell, of matrices in row-major order: A is
// M × K, B is N × K, C is M × N, all of one type of 16 bits, with sums in f32.
//
// A CTA of six warps takes tile after tile of C. One thread of warp 4 copies tiles of A and
// B into a ring of stages; one thread of warp 5 multiplies them, into accumulators in tensor
// memory; warps 0 to 3 write a tile of C out, each the 32 rows that it reaches, while the
// next tile is multiplied into another accumulator. Two rings lie between the roles:
//
//	ring   a stage is full when its bytes are there, empty when a commit says that the
//	       products have read it
//	sums   an accumulator is full when a commit says that its products are complete, empty
//	       when the threads of four warps have loaded it
//
// With Pair, two CTAs take 256 rows at a time. Each loads its rows of A and half of B, and the
// first one's thread multiplies for both: the bytes of both count at its barrier, its commits
// arrive in both, and both give accumulators back to it.
type TensorGEMM struct {
	M, N, K int
	Type    kernel.Type // F16 or BF16
	Pair    bool

	// The rest may be zero, and is chosen then.
	CTAs   int // of the grid, even for pairs
	TileN  int // columns of C that a CTA or a pair takes at a time: a multiple of 64 up to 256
	Stages int // of the ring
	Sums   int // accumulators

	mistake string // one to make, of tensorGEMM
}

const tensorProcessors = 148 // of a B200

func (g TensorGEMM) complete() (TensorGEMM, error) {
	set(&g.TileN, 256)
	set(&g.Stages, 3)
	set(&g.Sums, 2)
	if g.Type == "" {
		g.Type = kernel.F16
	}
	bad := func(what string, args ...any) (TensorGEMM, error) {
		return g, fmt.Errorf("gemm of %d × %d × %d: "+what, append([]any{g.M, g.N, g.K}, args...)...)
	}
	switch {
	case g.M < 1 || g.N < 1 || g.K < 1 || g.N%8 != 0 || g.K%8 != 0:
		return bad("the sizes are positive, and rows, of K and N elements, a multiple of 16 bytes")
	case g.Type != kernel.F16 && g.Type != kernel.BF16:
		return bad("elements of %s; they are F16 or BF16", g.Type)
	case g.TileN < strip || g.TileN > 256 || g.TileN%strip != 0:
		return bad("tiles of %d columns; they have 64, 128, 192 or 256", g.TileN)
	case g.CTAs%g.ctas() != 0:
		return bad("%d CTAs; they come in pairs", g.CTAs)
	case g.Stages < 1 || g.CTAs < 0 || g.Sums < 1 || g.Sums*g.TileN > 512:
		return bad("%d stages, %d CTAs, %d accumulators of %d columns: they are positive, and tensor memory has 512 columns", g.Stages, g.CTAs, g.Sums, g.TileN)
	}
	tiles := ceil(g.M, g.rows()) * ceil(g.N, g.TileN)
	set(&g.CTAs, ceil(tiles, ceil(tiles, tensorProcessors/g.ctas()))*g.ctas())
	return g, nil
}

// ctas are the CTAs that multiply together, and rows the rows of C that they take.
func (g TensorGEMM) ctas() int {
	if g.Pair {
		return 2
	}
	return 1
}

func (g TensorGEMM) rows() int { return tileM * g.ctas() }

// Kernel writes the kernel. Its parameters are the tensor maps of A, B and C.
func (g TensorGEMM) Kernel() (*kernel.Kernel, error) {
	g, err := g.complete()
	if err != nil {
		return nil, err
	}
	k := g.write().Kernel
	return k, k.Err()
}

// Call gives the kernel with its arguments, for a run on the machine or a GPU.
func (g TensorGEMM) Call(a, b, c []uint16) (*kernel.Call, error) {
	g, err := g.complete()
	if err != nil {
		return nil, err
	}
	if len(a) != g.M*g.K || len(b) != g.N*g.K || len(c) != g.M*g.N {
		return nil, fmt.Errorf("gemm of %d × %d × %d: slices of %d, %d and %d elements", g.M, g.N, g.K, len(a), len(b), len(c))
	}
	s := g.write()
	return s.Kernel.Call(kernel.Grid(g.CTAs),
		s.a.MapOf(a, []int{g.M, g.K}), s.b.MapOf(b, []int{g.N, g.K}), s.c.MapOf(c, []int{g.M, g.N}))
}

// tensorGEMM is a kernel while it is written.
type tensorGEMM struct {
	TensorGEMM
	*kernel.Kernel
	mapA, mapB, mapC kernel.TensorMap
	a, b, c          kernel.Tile
	ring, full       *kernel.Pipeline // of stages, of accumulators
	memory           *kernel.TensorMemory
	sums             kernel.TensorAccumulator
	rank             kernel.Reg // of the CTA in its pair
}

func (g TensorGEMM) write() *tensorGEMM {
	opts := []kernel.Option{kernel.Block(192), kernel.Target("sm_100a")}
	if g.Pair {
		opts = append(opts, kernel.Clusters(2))
	}
	k := kernel.New("tensor_gemm", opts...)
	s := &tensorGEMM{TensorGEMM: g, Kernel: k}
	s.mapA, s.mapB, s.mapC = k.TensorMap("map_a"), k.TensorMap("map_b"), k.TensorMap("map_c")
	s.a = k.Tiles("a", g.Stages, g.Type, tileM, tileK, 128)
	s.b = k.Tiles("b", g.Stages, g.Type, g.TileN/g.ctas(), tileK, 128)
	s.c = k.Tiles("c", 4, g.Type, 32, strip, 128) // a strip for each warp
	s.ring = k.Pipeline("ring", g.Stages, 1, 1)
	s.full = k.Pipeline("sums", g.Sums, 1, 128*g.ctas())
	columns := 1 << bits.Len(uint(g.Sums*g.TileN-1))
	if g.mistake == "columns that are no power of two" {
		columns = 96
	}
	begun := g.Pair && g.mistake != "the columns are taken before the other CTA has begun"
	if g.Pair {
		s.memory = k.TensorMemoryPair("tmem", columns)
		s.rank = k.ClusterRank()
	} else {
		s.memory = k.TensorMemory("tmem", columns)
	}
	if begun {
		k.InitMbarriers() // and with it each CTA knows that the other has begun
	}
	s.sums = s.memory.Accumulators(kernel.F32, g.rows(), g.TileN, g.Sums)

	k.SingleWarp(5, func() {
		if g.mistake == "the permit is given up too early" {
			s.memory.Relinquish()
		}
		s.memory.Alloc()
		if g.mistake != "the permit is given up too early" {
			s.memory.Relinquish()
		}
	})
	if g.mistake == "the address is read before it is there" {
		s.memory.Address()
	}
	if begun {
		k.ClusterSync()
	} else {
		k.InitMbarriers() // and with it all threads wait for the address
	}
	k.TensorFenceAfter()
	k.SingleWarp(4, func() { k.Elect(s.load) })
	k.SingleWarp(5, func() {
		if g.mistake == "both CTAs multiply" {
			k.Elect(s.multiply)
		} else {
			s.first(func() { k.Elect(s.multiply) })
		}
	})
	k.Warpgroup(0, s.store)
	if g.mistake != "the memory is freed in use" {
		// The loads of the last tile are complete, in both CTAs of a pair.
		k.TensorFenceBefore()
		if g.Pair && g.mistake != "the memory is freed while the other CTA loads" {
			k.ClusterSync()
		} else {
			k.Sync()
		}
		k.TensorFenceAfter()
	}
	if g.mistake != "the memory is never freed" {
		k.SingleWarp(5, s.memory.Free)
	}
	return s
}

// first executes body in the CTA that multiplies: the first one of a pair.
func (s *tensorGEMM) first(body func()) {
	if s.Pair {
		s.If(s.rank.Eq(0), body)
	} else {
		body()
	}
}

// tiles executes body for every tile of C that is this CTA's or its pair's, with the first
// row of the CTA and the first column.
func (s *tensorGEMM) tiles(body func(row, col kernel.Reg)) {
	across := ceil(s.N, s.TileN)
	from := s.CtaidX()
	if s.Pair {
		from = s.ClusteridX()
	}
	s.For(from, ceil(s.M, s.rows())*across, s.TensorGEMM.CTAs/s.ctas(), func(i kernel.Reg) {
		row := i.Div(across).Mul(s.rows())
		if s.Pair {
			row = row.Add(s.rank.Mul(tileM))
		}
		body(row, i.Rem(across).Mul(s.TileN))
	})
}

// load fills the ring. At its end it waits until all stages are empty again, so that the
// CTA does not go before the last commit has arrived.
func (s *tensorGEMM) load() {
	ring := s.ring.Producer()
	s.tiles(func(row, col kernel.Reg) {
		s.For(0, s.K, tileK, func(k kernel.Reg) {
			if s.mistake != "nobody waits for an empty stage" {
				ring.Acquire()
			}
			bytes := (s.a.Size() + s.b.Size()) * s.ctas()
			if s.mistake == "the first CTA expects only its own bytes" {
				bytes /= 2
			}
			s.first(func() { ring.Expect(bytes) })
			full, col := ring.Full(), col
			var opts []kernel.CopyOption
			if s.Pair {
				full, col = full.Remote(0), col.Add(s.rank.Mul(s.TileN/2))
				opts = append(opts, kernel.PairBarrier())
			}
			s.mapA.Load(s.a.At(ring.Stage).Ptr(), full, kernel.Coords{k, row}, opts...)
			s.mapB.Load(s.b.At(ring.Stage).Ptr(), full, kernel.Coords{k, col}, opts...)
			ring.Advance()
		})
	})
	ring.Tail()
}

// multiply issues the products of every tile, and commits: each stage when it is read, and
// the accumulator when the tile is complete.
func (s *tensorGEMM) multiply() {
	s.memory.Address() // once, ahead of the loops
	var both []kernel.CopyOption
	if s.Pair && s.mistake != "commits reach only the first CTA" {
		both = append(both, kernel.Multicast(3))
	}
	ring, sums := s.ring.Consumer(), s.full.Producer()
	s.tiles(func(row, col kernel.Reg) {
		if s.mistake != "nobody waits for an empty accumulator" {
			sums.Acquire()
		}
		s.TensorFenceAfter()
		d := s.sums.At(sums.Stage)
		again := s.Const(kernel.U32, 0)
		if s.mistake == "the first product adds to what is there" {
			again.Set(1)
		}
		s.For(0, ceil(s.K, tileK), 1, func(kernel.Reg) {
			if s.mistake != "nobody waits for a full stage" {
				ring.Wait()
			}
			s.TensorFenceAfter()
			d.Mma(s.a.At(ring.Stage), s.b.At(ring.Stage).T(), kernel.Accumulate(again.Ne(0)))
			again.Set(1)
			if s.mistake == "a stage is given back by an arrive" {
				ring.Release()
			} else {
				ring.Commit(both...)
			}
			ring.Advance()
		})
		if s.mistake == "an accumulator is handed on by an arrive" {
			sums.Commit()
		} else {
			sums.CommitProducts(both...)
		}
		sums.Advance()
	})
}

// store has each warp write its 32 rows of C: strip by strip from tensor memory into
// registers, from there into shared memory, and on by a tensor copy.
func (s *tensorGEMM) store() {
	s.memory.Address()
	sums := s.full.Consumer()
	warp := s.ShflIdx(s.ThreadIndex().Shr(5), 0)
	to := s.c.At(warp)
	s.tiles(func(row, col kernel.Reg) {
		switch s.mistake {
		case "an accumulator is read before the wait for its commit":
			s.TensorFenceAfter()
		case "no fence after the barrier":
			sums.Wait(kernel.Relaxed)
		default:
			sums.Wait()
			s.TensorFenceAfter()
		}
		d := s.sums.At(sums.Stage)
		if s.mistake == "an accumulator is given back before it is read" {
			s.TensorFenceBefore()
			sums.Release()
		}
		s.EachWarp(func() {
			for i := range s.TileN / strip {
				from := d
				if s.mistake == "all warps load the lanes of warp 1" {
					from = d.Lanes(32)
				}
				v := from.Load(i*strip, strip)
				if s.mistake != "the registers are read before the wait" {
					s.TensorWaitLoad()
				}
				if s.mistake != "a strip is overwritten while it is stored" {
					s.SingleThread(func() { s.BulkWaitRead(0) })
				}
				s.Sync()
				s.pack(to, v)
				if s.mistake != "no proxy fence" {
					s.FenceProxyAsync(kernel.SharedCTA)
				}
				s.Sync()
				s.SingleThread(func() {
					s.mapC.Store(kernel.Coords{col.Add(i * strip), row.Add(warp.Mul(32))}, to.Ptr())
					s.BulkCommit()
				})
			}
		})
		switch s.mistake {
		case "an accumulator is given back before it is read":
		case "no fence before an accumulator is given back":
			sums.Release(kernel.Relaxed)
		default:
			s.TensorFenceBefore()
			if s.Pair && s.mistake != "an accumulator is given back to the own CTA" {
				sums.ReleaseTo(0)
			} else {
				sums.Release()
			}
		}
		sums.Advance()
	})
	s.EachWarp(func() { s.SingleThread(func() { s.BulkWaitRead(0) }) })
}

// pack writes a thread's row of a strip, rounded to the type of C.
func (s *tensorGEMM) pack(to kernel.Tile, v kernel.Vec) {
	for i := 0; i < len(v); i += 8 {
		var four kernel.Vec
		for j := i; j < i+8; j += 2 {
			pair := s.Var(s.Type + "x2")
			s.Inst("cvt.rn."+string(s.Type)+"x2.f32", pair, v[j+1], v[j])
			four = append(four, pair.As(kernel.B32))
		}
		to.Addr(s.LaneID(), i).Cast(kernel.B32).StoreVec(four)
	}
}

// A TensorMistake is a mistake that Tensor can make, and what tells of it: a kind of finding,
// at a line of this package, or, with Build, the words of a mistake when it is built.
type TensorMistake struct {
	Name, Finds string
	Build       bool
	// Warning says that the finding is a warning: kernels of note do without.
	Warning bool
}

// TensorMistakes are all that Tensor can make.
var TensorMistakes = []TensorMistake{
	{Name: "the permit is given up too early", Build: true, Finds: "Relinquish before Alloc of tensor memory tmem: without the permit nothing can be allocated"},
	{Name: "columns that are no power of two", Build: true, Finds: `TensorMemory("tmem"): 96 columns; they are allocated by powers of two from 32 on: the next is 128`},
	{Name: "the memory is never freed", Build: true, Finds: "tensor memory tmem is allocated and never freed: one warp calls Free when everything in it is complete, for a kernel must not end with it"},
	{Name: "the address is read before it is there", Finds: "race-shared"},
	{Name: "the memory is freed in use", Finds: "tensor-unallocated"},
	{Name: "nobody waits for an empty stage", Finds: "overwrite-in-flight"},
	{Name: "nobody waits for a full stage", Finds: "read-in-flight"},
	{Name: "nobody waits for an empty accumulator", Finds: "race-tensor"},
	{Name: "the first product adds to what is there", Finds: "uninitialized-tensor"},
	{Name: "a stage is given back by an arrive", Finds: "overwrite-in-flight"},
	{Name: "an accumulator is handed on by an arrive", Finds: "race-tensor"},
	{Name: "an accumulator is read before the wait for its commit", Finds: "race-tensor"},
	{Name: "an accumulator is given back before it is read", Finds: "race-tensor"},
	{Name: "no fence after the barrier", Finds: "race-tensor"},
	{Name: "no fence before an accumulator is given back", Finds: "race-tensor"},
	{Name: "all warps load the lanes of warp 1", Finds: "tensor-lanes"},
	{Name: "the registers are read before the wait", Finds: "tensor-wait", Warning: true},
	{Name: "a strip is overwritten while it is stored", Finds: "overwrite-in-flight"},
	{Name: "no proxy fence", Finds: "proxy-raw"},
}

// TensorPairMistakes are those that TensorPair can make.
var TensorPairMistakes = []TensorMistake{
	{Name: "the first CTA expects only its own bytes", Finds: "bytes-early"},
	{Name: "commits reach only the first CTA", Finds: "never-completes"},
	{Name: "the columns are taken before the other CTA has begun", Finds: "remote-before-start"},
	{Name: "the memory is freed while the other CTA loads", Finds: "exit-before-remote"},
	{Name: "an accumulator is given back to the own CTA", Finds: "never-completes"},
	{Name: "both CTAs multiply", Finds: "never-completes"},
	{Name: "a stage is given back by an arrive", Finds: "never-completes"},
}

// Tensor is a small TensorGEMM: one CTA that takes three tiles, with two accumulators.
func Tensor(mistake string) (*Work, error) {
	return tensor(TensorGEMM{M: 128, N: 192, K: 192, TileN: 64, Stages: 2, CTAs: 1, mistake: mistake})
}

// TensorPair is a small TensorGEMM of one pair of CTAs that takes three tiles.
func TensorPair(mistake string) (*Work, error) {
	return tensor(TensorGEMM{M: 256, N: 192, K: 192, TileN: 64, Stages: 2, CTAs: 2, Pair: true, mistake: mistake})
}

func tensor(g TensorGEMM) (*Work, error) {
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
