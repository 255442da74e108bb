package kernel

// A Fragment is a matrix A in the registers of a warpgroup: in blocks of 64 rows, 16 for
// each warp, with four registers per thread for each 32 bytes of K (ISA 9.7.15.5.1.1).
// The first register of thread t of a warp has 32 bits of row t/4, from byte 4(t%4) on;
// the second those of the row 8 below; the third and fourth those 16 bytes further.
type Fragment struct {
	k          *Kernel
	elem       Type
	rows, cols int
	regs       Vec
}

// Fragment makes one from registers that already hold it: four of 32 bits for each 64
// rows and each 32 bytes of K.
func (k *Kernel) Fragment(elem Type, rows, cols int, regs Vec) Fragment {
	f := Fragment{k: k, elem: elem, rows: rows, cols: cols, regs: regs}
	bytes := cols * elem.Size()
	n := rows / 64 * bytes / stepBytes * 4
	switch {
	case rows < 64 || rows%64 != 0 || bytes == 0 || bytes%stepBytes != 0:
		k.fail("Fragment of %d × %d %s: rows are a multiple of 64, and a row of %d bytes", rows, cols, elem, stepBytes)
	case len(regs) != n:
		k.fail("Fragment of %d × %d %s has %d registers, and %d are given", rows, cols, elem, n, len(regs))
	default:
		return f
	}
	return k.lostFragment(elem, 64*min(16, max(1, rows/64)), stepBytes*min(16, max(1, bytes/stepBytes))/max(1, elem.Size()))
}

func (k *Kernel) lostFragment(elem Type, rows, cols int) Fragment {
	f := Fragment{k: k, elem: elem, rows: rows, cols: cols}
	for range rows / 64 * cols * elem.Size() / stepBytes * 4 {
		f.regs = append(f.regs, k.lost(B32))
	}
	return f
}

// Regs gives the registers.
func (f Fragment) Regs() Vec { return f.regs }

// Elem gives the type of the elements.
func (f Fragment) Elem() Type { return f.elem }

// Dims gives rows and columns.
func (f Fragment) Dims() (rows, cols int) { return f.rows, f.cols }

// Load reads the tile into the registers of the warpgroup, by ldmatrix of four matrices
// for each 16 rows and 32 bytes (ISA 9.7.14.5.15). The elements are stored with K along
// the rows.
func (t Tile) Load() Fragment {
	k := t.kernel()
	if !k.warpgroup("Load") {
		return k.lostFragment(t.elem, max(64, t.rows/64*64), t.cols)
	}
	if t.trans || t.rows%64 != 0 {
		k.fail("Load of a tile of %d rows: they are a multiple of 64, with K along the rows", t.rows)
		return k.lostFragment(t.elem, max(64, t.rows/64*64), t.cols)
	}
	var regs Vec
	warp := k.index(false).And(127).Shr(5).Mul(16)
	for block := range t.rows / 64 {
		for step := range t.cols * t.elem.Size() / stepBytes {
			regs = append(regs, t.LoadA(warp.Add(64*block), step*stepBytes/t.elem.Size())...)
		}
	}
	return k.Fragment(t.elem, t.rows, t.cols, regs)
}

// Fragment returns the accumulator as the left factor of the next product, like the
// softmax in attention, converted to F16 or BF16, rounded to nearest even. D and A have
// the same register layout, so no data moves between threads.
func (a Accumulator) Fragment(t Type) Fragment {
	k := a.kernel()
	if t.Size() != 2 || !t.float() || a.typ == S32 || a.typ == F16 && t != F16 || a.n%16 != 0 {
		k.fail("Fragment(%s) of an accumulator of type %s with %d columns: one of F32 converts to F16 and BF16, and its columns are a multiple of 16", t, a.typ, a.n)
		return k.lostFragment(F16, a.m, a.n)
	}
	return k.Fragment(t, a.m, a.n, a.packed(t))
}

// packed returns the elements in 16 bits each, one register for two columns.
func (a Accumulator) packed(t Type) Vec {
	if a.typ == t {
		return a.regs
	}
	return a.k.packed(a.regs, t)
}

// packed returns values of F32 rounded to a type of 16 bits, two in each register.
func (k *Kernel) packed(from Vec, t Type) Vec {
	v := make(Vec, len(from)/2)
	for i := range v {
		v[i] = k.reg(t + "x2")
		k.Inst("cvt.rn."+string(t)+"x2.f32", v[i], from[2*i+1], from[2*i])
	}
	return v
}

// Store writes the accumulator to a tile of the same dimensions, converted to the tile's
// type, F16 or BF16, rounded to nearest even. It uses stmatrix of four matrices for each
// 16 columns (ISA 9.7.14.5.16), without bank conflicts if the tile is swizzled by 128
// bytes. Tensor copies and products see it after fence.proxy.async and a barrier.
func (a Accumulator) Store(t Tile) {
	k := a.kernel()
	t.kernel()
	rows, cols := t.Dims()
	switch {
	case !k.warpgroup("Store"):
	case rows != a.m || cols != a.n:
		k.fail("Store of %d × %d elements into a tile of %d × %d", a.m, a.n, rows, cols)
	default:
		warp := k.index(false).And(127).Shr(5).Mul(16)
		for i := range a.m / 64 {
			a.store(t, warp.Add(64*i), i, 0, a.n)
		}
	}
}

// StoreWarp writes a warp's 16 rows of a block of 64, in columns from first on, to a tile
// of 16 rows, one tile per warp. It lets a warp pass its rows to a tensor copy without
// waiting for others.
func (a Accumulator) StoreWarp(t Tile, block, first int) {
	k := a.kernel()
	t.kernel()
	rows, cols := t.Dims()
	if block < 0 || block >= a.m/64 || first < 0 || first%16 != 0 || rows != 16 || first+cols > a.n {
		k.fail("StoreWarp of block %d from column %d on, %d × %d: a warp has 16 rows of each 64 of the accumulator, which is %d × %d, and columns come by 16", block, first, rows, cols, a.m, a.n)
		return
	}
	a.store(t, k.Const(U32, 0), block, first, cols)
}

// store writes columns of a block to a tile, from the given row on.
//
// Lanes 0 to 15 give the row addresses of the first 16 bytes of 32; lanes 16 to 31 those
// of the second. Within a panel the swizzle is the same for all columns, so that one
// exclusive or per column computes the address.
func (a Accumulator) store(t Tile, row Reg, block, first, cols int) {
	k := a.k
	if t.trans || t.elem.Size() != 2 || !t.elem.float() || cols%16 != 0 || a.typ == S32 || a.typ == F16 && t.elem != F16 {
		k.fail("Store of %[2]d columns of an accumulator of type %[1]s into a tile of %[3]s: F32 goes into F16 and BF16, F16 into F16, and columns come by 16", a.typ, cols, t.elem)
		return
	}
	lane := k.index(true)
	half := lane.Shr(4)
	r := row.Add(lane.And(15))
	w := t.width()
	at := map[int]Reg{}
	base := t.bytes(t.off)
	per := 2 * a.typ.Size() // registers of 16 columns
	part := a
	part.regs = a.regs[(block*a.n+first)/16*per:][:cols/16*per]
	regs := part.packed(t.elem)
	for j := 0; j < cols; j += 16 {
		x := 2 * j % w
		p, ok := at[x]
		if !ok {
			if w == 16 {
				p = half.Mul(t.panel).Add(r.Mul(16))
			} else {
				p = r.Mul(w)
				p = p.Add(half.Mul(16).Xor(p.Shr(3).And(w - 16)).Xor(x))
			}
			p = base.Bytes(p).Address()
			at[x] = p
		}
		c := j / 16 * 4
		k.Pointer(SharedCTA, t.elem, p).Bytes(2 * j / w * t.panel).StoreMatrix(regs[c : c+4])
	}
}
