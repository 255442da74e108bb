package kernels

import (
	"fmt"

	"muster/kernel"
)

// Grouped multiplies the matrices of several problems, each of its own size, in
// one launch: C = A·Bᵀ. A CTA takes problem after problem, and a tensor map is of
// one matrix, so that it writes its maps itself: a pattern that the host made
// is copied to shared memory and changed there, and CopyFence takes it to the
// CTA's place in global memory.
//
// Copies read maps through a proxy of their own, which keeps what it has seen.
// So the thread that writes a map releases it to that proxy, as CopyFence does,
// and the thread that issues the copies acquires it, each time it is written.
// And it is not written while a copy runs that reads it: here everybody meets
// between problems, and by then the consumers have waited for all copies.
//
// Boxes reach over the edges of matrices. Zeros land there, which count as bytes
// and add nothing.
func Grouped(mistake string) (*Work, error) {
	const ctas, tile, stages, warps = 2, 64, 2, 4
	k := kernel.New("grouped", kernel.Block(32*warps+32))
	pattern := k.TensorMap("pattern")
	ap, bp, out := k.GlobalPtr("a", kernel.F16, 16), k.GlobalPtr("b", kernel.F16, 16), k.GlobalPtr("c", kernel.F32)
	sizes, problems := k.GlobalPtr("sizes", kernel.U32), k.Param("problems", kernel.U32)
	places := k.GlobalPtr("maps", kernel.B8, 128)
	a := k.Tiles("a_tile", stages, kernel.F16, tile, tile, 128)
	b := k.Tiles("b_tile", stages, kernel.F16, tile, tile, 128)
	staged := k.SharedAlign("staged", 128, kernel.B8, 2, 128)
	ring := k.Pipeline("ring", stages, 1, warps)
	k.InitMbarriers()

	mine := k.CtaidX().Mul(2 * 128)
	if mistake == "all CTAs write their maps in one place" {
		mine = k.Const(kernel.U32, 0)
	}
	am, bm := k.TensorMapAt(places.At(mine)), k.TensorMapAt(places.At(mine.Add(128)))
	prod, cons := ring.Producer(), ring.Consumer()
	k.For(k.CtaidX(), problems, ctas, func(problem kernel.Reg) {
		var p [6]kernel.Reg
		for i := range p {
			p[i] = sizes.At(problem.Mad(len(p), i)).Load()
		}
		m, n, depth, atA, atB, atC := p[0], p[1], p[2], p[3], p[4], p[5]
		// tiles executes body for every tile of C.
		tiles := func(body func(row, col kernel.Reg)) {
			k.For(0, m, tile, func(row kernel.Reg) {
				k.For(0, n, tile, func(col kernel.Reg) { body(row, col) })
			})
		}
		k.SingleWarp(warps, func() {
			write := func(to kernel.TensorMap, staged, matrix kernel.Ptr, rows kernel.Reg) {
				s := k.TensorMapAt(staged)
				k.Elect(func() {
					pattern.Copy(staged)
					s.ReplaceAddress(matrix)
					s.ReplaceDim(0, depth)
					s.ReplaceDim(1, rows)
					s.ReplaceStride(0, depth.MulWide(2))
					if mistake == "a map is stored and not released" {
						s.Copy(to.Ptr())
					}
				})
				k.Sync()
				if mistake != "a map is stored and not released" {
					s.CopyFence(to, kernel.GPU)
				}
			}
			write(am, staged.At(0), ap.At(atA), m)
			write(bm, staged.At(1), bp.At(atB), n)
			k.Elect(func() {
				if mistake != "a map is used without an acquire" {
					k.FenceTensormapAcquire(am.Ptr(), kernel.GPU)
					k.FenceTensormapAcquire(bm.Ptr(), kernel.GPU)
				}
				tiles(func(row, col kernel.Reg) {
					k.For(0, depth, tile, func(i kernel.Reg) {
						prod.Acquire()
						prod.Expect(a.Size() + b.Size())
						am.Load(a.At(prod.Stage).Ptr(), prod.Full(), kernel.Coords{i, row})
						bm.Load(b.At(prod.Stage).Ptr(), prod.Full(), kernel.Coords{i, col})
						prod.Advance()
					})
				})
			})
		})
		k.Warps(0, warps, func() {
			acc := k.Accumulator(kernel.F32, tile, tile)
			tiles(func(row, col kernel.Reg) {
				acc.Zero()
				k.For(0, depth, tile, func(kernel.Reg) {
					cons.Wait()
					k.WgmmaFence()
					acc.Mma(a.At(cons.Stage), b.At(cons.Stage).T())
					k.WgmmaCommit()
					k.WgmmaWait(0)
					k.EachWarp(func() { k.SingleThread(func() { cons.Release() }) })
					cons.Advance()
				})
				for i := range acc.Regs() {
					r, c := acc.Place(i)
					r, c = row.Add(r), col.Add(c)
					k.Guard(r.Lt(m).And(c.Lt(n)), func() { out.At(atC.Add(r.Mad(n, c))).Store(acc.At(i)) })
				}
			})
		})
		if mistake != "the next problem's maps are written while copies run" {
			k.Sync()
		}
	})

	list := [][3]int{{64, 64, 128}, {40, 24, 64}, {100, 16, 72}, {8, 72, 200}}
	var table []uint32
	var la, lb, lc int
	for _, p := range list {
		m, n, depth := p[0], p[1], p[2]
		table = append(table, uint32(m), uint32(n), uint32(depth), uint32(la), uint32(lb), uint32(lc))
		la, lb, lc = la+m*depth, lb+n*depth, lc+m*n
	}
	as, bs, cs := integers(la, 7), integers(lb, 5), make([]float32, lc)
	call, err := k.Call(kernel.Grid(ctas), a.MapOf(as, []int{tile, tile}), as, bs, cs, table, len(list),
		kernel.Scratch(make([]uint8, ctas*2*128)))
	verify := func() error {
		for i, p := range list {
			t := table[6*i:]
			if err := product(as[t[3]:], bs[t[4]:], cs[t[5]:][:p[0]*p[1]], p[1], p[2]); err != nil {
				return fmt.Errorf("problem %d: %v", i, err)
			}
		}
		return nil
	}
	return work(verify, call, err)
}
