package kernels

import "muster/kernel"

// TensorCopy moves a tile of a matrix with tensor copies. The map says how the
// matrix lies in global memory and which box a copy moves; in shared memory the
// tile is swizzled, so that rows and columns can be read without bank
// conflicts, and Addr finds an element in it. The tensor's edge needs no care:
// what lies outside is zero when it is loaded, and left out when it is stored,
// and the bytes that land are those of the whole box.
func TensorCopy(mistake string) (*Work, error) {
	const rows, cols, n = 50, 40, 64
	k := kernel.New("tensor_copy", kernel.Block(n))
	in, out := k.TensorMap("in"), k.TensorMap("out")
	tile := k.Tile("tile", kernel.F32, n, 32, 128)
	full := k.Mbarrier("full", 1)
	k.InitMbarriers(full)

	column := k.CtaidX().Mul(32)
	k.SingleThread(func() {
		bytes := tile.Size()
		if mistake == "only the tensor's own bytes are expected" {
			bytes = rows * 32 * 4
		}
		full.ArriveExpect(bytes)
		in.Load(tile.Ptr(), full, kernel.Coords{column, 0})
	})
	full.WaitParity(0)
	row := k.TidX()
	for col := range 32 {
		at := tile.Addr(row, col)
		at.Store(at.Load().Mul(2))
	}
	if mistake != "no proxy fence" {
		k.FenceProxyAsync(kernel.SharedCTA)
	}
	k.Sync()
	k.SingleThread(func() {
		out.Store(kernel.Coords{column, 0}, tile.Ptr())
		k.BulkCommit()
		k.BulkWait(0)
	})

	y := make([]float32, rows*cols)
	call, err := k.Call(kernel.Grid(2), tile.MapOf(iota32(rows*cols), []int{rows, cols}), tile.MapOf(y, []int{rows, cols}))
	return work(equal(y, func(i int) float32 { return float32(2 * i) }), call, err)
}

// Product multiplies one pair of tiles on the tensor cores: 64×64 of A and 64×64
// of B, which lies with K along its rows and so is transposed. wgmma is
// asynchronous like a copy: it reads shared memory through the asynchronous
// proxy and works on the accumulator's registers, which no thread may touch
// between the first product and the wait for its group.
func Product(mistake string) (*Work, error) {
	const m, n, depth = 64, 64, 64
	k := kernel.New("product", kernel.Block(128))
	am, bm, out := k.TensorMap("a"), k.TensorMap("b"), k.GlobalPtr("out", kernel.F32)
	a, b := k.Tile("a_tile", kernel.F16, m, depth, 128), k.Tile("b_tile", kernel.F16, n, depth, 128)
	full := k.Mbarrier("full", 1)
	k.InitMbarriers(full)

	k.SingleThread(func() {
		full.ArriveExpect(a.Size() + b.Size())
		am.Load(a.Ptr(), full, kernel.Coords{0, 0})
		bm.Load(b.Ptr(), full, kernel.Coords{0, 0})
	})
	acc := k.Accumulator(kernel.F32, m, n)
	acc.Zero()
	full.WaitParity(0)
	if mistake != "the accumulator is set without a fence" {
		k.WgmmaFence()
	}
	acc.Mma(a, b.T())
	k.WgmmaCommit()
	if mistake == "the sums are read in flight" {
		k.WgmmaWait(1)
	} else {
		k.WgmmaWait(0)
	}
	for i := range acc.Regs() {
		row, col := acc.Place(i)
		out.At(row.Mul(n).Add(col)).Store(acc.At(i))
	}

	x, y, z := integers(m*depth, 7), integers(n*depth, 5), make([]float32, m*n)
	call, err := k.Call(kernel.Grid(1), a.MapOf(x, []int{m, depth}), b.MapOf(y, []int{n, depth}), z)
	return work(func() error { return product(x, y, z, n, depth) }, call, err)
}
