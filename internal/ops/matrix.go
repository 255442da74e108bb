package ops

import (
	"fmt"

	"muster/kernel"
)

func init() {
	for _, n := range []int{1, 2, 4} {
		for _, trans := range []bool{false, true} {
			name, uses := fmt.Sprintf("x%d", n), []string{"Ptr.LoadMatrix", "Ptr.StoreMatrix"}
			var mods []kernel.Mod
			if trans {
				name += "-trans"
				uses = append(uses, "Trans")
				mods = []kernel.Mod{kernel.Trans}
			}
			add("matrix/load-"+name, uses[:1:1], loadMatrix(n, mods))
			add("matrix/store-"+name, uses[1:], storeMatrix(n, mods))
		}
	}
	add("matrix/transpose", []string{"Reg.TransposeMatrix"}, warpOf("transpose", func(k *kernel.Kernel, in, out kernel.Ptr) {
		out.At(k.LaneID()).Store(in.At(k.LaneID()).Load().TransposeMatrix())
	}))
	add("matrix/fragments", []string{"Tile.LoadA", "Tile.LoadB", "Kernel.MmaSync"}, fragments)
	f16x2, f32, s32, f64 := kernel.F16x2, kernel.F32, kernel.S32, kernel.F64
	for _, m := range []mmaSync{
		{kernel.MmaShape{M: 16, N: 8, K: 8}, kernel.F16, kernel.F16, f32},
		{kernel.MmaShape{M: 16, N: 8, K: 16}, kernel.F16, kernel.F16, f32},
		{kernel.MmaShape{M: 16, N: 8, K: 16}, kernel.F16, kernel.F16, f16x2},
		{kernel.MmaShape{M: 16, N: 8, K: 16}, kernel.BF16, kernel.BF16, f32},
		{kernel.MmaShape{M: 16, N: 8, K: 8}, kernel.TF32, kernel.TF32, f32},
		{kernel.MmaShape{M: 16, N: 8, K: 32}, kernel.E4M3, kernel.E5M2, f32},
		{kernel.MmaShape{M: 16, N: 8, K: 16}, kernel.E4M3, kernel.E4M3, f32},
		{kernel.MmaShape{M: 16, N: 8, K: 32}, kernel.E5M2, kernel.E5M2, f16x2},
		{kernel.MmaShape{M: 16, N: 8, K: 8}, kernel.BF16, kernel.BF16, f32},
		{kernel.MmaShape{M: 16, N: 8, K: 4}, kernel.TF32, kernel.TF32, f32},
		{kernel.MmaShape{M: 16, N: 8, K: 16}, kernel.U8, kernel.U8, s32},
		{kernel.MmaShape{M: 16, N: 8, K: 16}, kernel.F64, kernel.F64, f64},
		{kernel.MmaShape{M: 16, N: 8, K: 32}, kernel.S8, kernel.U8, s32},
		{kernel.MmaShape{M: 8, N: 8, K: 4}, kernel.F64, kernel.F64, f64},
		{kernel.MmaShape{M: 16, N: 8, K: 8}, kernel.F64, kernel.F64, f64},
	} {
		add(fmt.Sprintf("matrix/mma-%s-%s-%s-k%d-m%d", m.a, m.b, m.acc, m.shape.K, m.shape.M), []string{"Kernel.MmaSync", "MmaShape"}, m.call)
	}
}

// warpOf is a kernel of one warp, with 256 words that are all different and as
// many that it writes.
func warpOf(name string, body func(k *kernel.Kernel, in, out kernel.Ptr)) func() (*kernel.Call, error) {
	return func() (*kernel.Call, error) {
		k := kernel.New(name, kernel.Block(32))
		in, out := k.GlobalPtr("in", kernel.B32), k.GlobalPtr("out", kernel.B32)
		body(k, in, out)
		words := make([]uint32, 256)
		for i := range words {
			words[i] = uint32(2*i) | uint32(2*i+1)<<16
		}
		return k.Call(kernel.Grid(1), words, make([]uint32, 256))
	}
}

// loadMatrix reads matrices of 8 rows of 16 bytes that lie one after the other.
func loadMatrix(n int, mods []kernel.Mod) func() (*kernel.Call, error) {
	return warpOf("load_matrix", func(k *kernel.Kernel, in, out kernel.Ptr) {
		rows := k.Shared("rows", kernel.B32, 8*n, 4)
		lane := k.LaneID()
		k.For(lane, 32*n, 32, func(i kernel.Reg) { rows.At(i.Shr(2), i.And(3)).Store(in.At(i).Load()) })
		k.Sync()
		for i, r := range rows.At(lane.Rem(8*n), 0).LoadMatrix(n, mods...) {
			out.At(lane.Add(32 * i)).Store(r)
		}
	})
}

// storeMatrix writes them.
func storeMatrix(n int, mods []kernel.Mod) func() (*kernel.Call, error) {
	return warpOf("store_matrix", func(k *kernel.Kernel, in, out kernel.Ptr) {
		rows := k.Shared("rows", kernel.B32, 8*n, 4)
		lane := k.LaneID()
		var v kernel.Vec
		for i := range n {
			v = append(v, in.At(lane.Add(32*i)).Load())
		}
		rows.At(lane.Rem(8*n), 0).StoreMatrix(v, mods...)
		k.Sync()
		k.For(lane, 32*n, 32, func(i kernel.Reg) { out.At(i).Store(rows.At(i.Shr(2), i.And(3)).Load()) })
	})
}

// fragments multiplies by mma.sync what lies in swizzled tiles.
func fragments() (*kernel.Call, error) {
	k := kernel.New("fragments", kernel.Block(32))
	ga, gb, gd := k.GlobalPtr("ga", kernel.F16), k.GlobalPtr("gb", kernel.F16), k.GlobalPtr("gd", kernel.F32)
	a, b := k.Tile("a", kernel.F16, 16, 64, 128), k.Tile("b", kernel.F16, 16, 64, 128)
	fill(k, a, ga)
	fill(k, b, gb)
	k.Sync()
	lane := k.LaneID()
	for half := range 2 { // of 16 columns
		c := kernel.Vec{}
		for range 4 {
			c = append(c, k.Const(kernel.F32, 0))
		}
		k.For(0, 64, 16, func(i kernel.Reg) {
			d := k.MmaSync(kernel.MmaShape{M: 16, N: 8, K: 16}, kernel.F16, kernel.F16, a.LoadA(0, i), b.LoadB(8*half, i), c)
			for j := range c {
				c[j].Set(d[j])
			}
		})
		for j, r := range c {
			row := lane.Shr(2).Add(j / 2 * 8)
			gd.At(row.Mul(16).Add(lane.And(3).Mul(2)).Add(8*half + j%2)).Store(r)
		}
	}
	return k.Call(kernel.Grid(1), noise(kernel.F16, 16*64, 1), noise(kernel.F16, 16*64, 2), make([]float32, 16*16))
}

// An mmaSync is one mma.sync on registers that each lane reads from memory.
type mmaSync struct {
	shape     kernel.MmaShape
	a, b, acc kernel.Type
}

func (m mmaSync) call() (*kernel.Call, error) {
	k := kernel.New("mma_sync", kernel.Block(32))
	lane := k.LaneID()
	reg := func(t kernel.Type) kernel.Type { // of a fragment's registers
		if t == kernel.F64 {
			return t
		}
		return kernel.B32
	}
	// An m × n matrix of elements is spread over the lanes.
	registers := func(elems int, t kernel.Type) int { return elems * t.Size() / 32 / reg(t).Size() }
	load := func(name string, t kernel.Type, n int) kernel.Vec {
		p := k.GlobalPtr(name, t)
		var v kernel.Vec
		for i := range n {
			v = append(v, p.At(lane.Add(32*i)).Load())
		}
		return v
	}
	s := m.shape
	na, nb := registers(s.M*s.K, m.a), registers(s.N*s.K, m.b)
	acc := m.acc
	nc := s.M * s.N / 32
	if acc == kernel.F16x2 {
		nc /= 2
	}
	a, b := load("a", reg(m.a), na), load("b", reg(m.b), nb)
	c := load("c", acc, nc)
	out := k.GlobalPtr("out", acc)
	for i, r := range k.MmaSync(s, m.a, m.b, a, b, c) {
		out.At(lane.Add(32 * i)).Store(r)
	}
	elem := acc
	cs := nc * 32
	if acc == kernel.F16x2 {
		elem, cs = kernel.F16, 2*cs
	}
	cv := noise(elem, cs, 3)
	if acc == kernel.S32 {
		cv = make([]int32, cs)
	}
	return k.Call(kernel.Grid(1), noise(m.a, s.M*s.K, 1), noise(m.b, s.N*s.K, 2), cv, zeros(elem, cs))
}
