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
	as, bs, cs := k.GlobalPtr("a", kernel.F16, 16), k.GlobalPtr("b", kernel.F16, 16), k.GlobalPtr("c", kernel.F32)
	table, problems := k.GlobalPtr("table", kernel.U32), k.Param("problems", kernel.U32)
	places := k.GlobalPtr("maps", kernel.B8, 128)
	a := k.Tiles("a_tile", stages, kernel.F16, tile, tile, 128)
	b := k.Tiles("b_tile", stages, kernel.F16, tile, tile, 128)
	staged := k.SharedAlign("staged", 128, kernel.B8, 2, 128)
	ring := k.Pipeline("ring", stages, 1, warps)
	k.InitMbarriers()

	apart := 2 * 128
	if mistake == "all CTAs write their maps in one place" {
		apart = 0
	}
	mine := places.At(k.CtaidX().Mul(apart))
	am, bm := k.TensorMapAt(mine), k.TensorMapAt(mine.At(128))
	prod, cons := ring.Producer(), ring.Consumer()
	k.For(k.CtaidX(), problems, ctas, func(problem kernel.Reg) {
		entry := func(i int) kernel.Reg { return table.At(problem.Mad(6, i)).Load() }
		m, n, depth := entry(0), entry(1), entry(2)
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
			write(am, staged.At(0), as.At(entry(3)), m)
			write(bm, staged.At(1), bs.At(entry(4)), n)
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
			acc, c := k.Accumulator(kernel.F32, tile, tile), cs.At(entry(5))
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
					r, j := acc.Place(i)
					r, j = r.Add(row), j.Add(col)
					k.Guard(r.Lt(m).And(j.Lt(n)), func() { c.At(r.Mad(n, j)).Store(acc.At(i)) })
				}
			})
		})
		if mistake != "the next problem's maps are written while copies run" {
			k.Sync()
		}
	})

	// Rows and columns of C and depth, and in the kernel's table where the
	// matrices begin too.
	sizes := [][3]int{{64, 64, 128}, {40, 24, 64}, {100, 16, 72}, {8, 72, 200}}
	var list []uint32
	var atA, atB, atC int
	for _, p := range sizes {
		m, n, depth := p[0], p[1], p[2]
		list = append(list, uint32(m), uint32(n), uint32(depth), uint32(atA), uint32(atB), uint32(atC))
		atA, atB, atC = atA+m*depth, atB+n*depth, atC+m*n
	}
	x, y, z := integers(atA, 7), integers(atB, 5), make([]float32, atC)
	verify := func() error {
		for i, p := range sizes {
			at := list[6*i+3:]
			if err := product(x[at[0]:], y[at[1]:], z[at[2]:][:p[0]*p[1]], p[1], p[2]); err != nil {
				return fmt.Errorf("problem %d: %v", i, err)
			}
		}
		return nil
	}
	call, err := k.Call(kernel.Grid(ctas), a.MapOf(x, []int{tile, tile}), x, y, z, list, len(sizes),
		kernel.Scratch(make([]uint8, ctas*2*128)))
	return work(verify, call, err)
}
