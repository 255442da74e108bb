package kernel

import (
	"fmt"

	"muster/launch"
)

// A Tile is a matrix in shared memory, in the layout that tensor copies write and tensor
// cores read. Its rows are stored one after the other; a row's elements are contiguous
// within a panel.
//
// A panel is as wide as the swizzle, 32, 64 or 128 bytes, or 16 without swizzle. A wider
// tile has several panels, one after the other, each with all rows. Within a panel of W
// bytes, byte x of row r lies at r*W + x with bits 4 and up, as many as W has, xored with
// bits 7 and up (ISA 5.5.6, 9.7.15.5.1). One tensor copy fills one panel: its box is Box,
// its destination is Panel.
//
// A Tile is a value. At selects a stage, Rows and Cols a part, T transposes: none of them
// emits an instruction.
type Tile struct {
	k          *Kernel
	base       Ptr
	elem       Type
	rows, cols int
	swizzle    int
	panel      int // bytes from a panel to the next
	stage      int // bytes from a stage to the next
	stages     int // that At can choose from; 0 for one tile
	off        int // bytes from base
	vars       []term
	trans      bool
}

// A term is a part of an address computed by the kernel: a register times bytes.
type term struct {
	reg   Reg
	bytes int
}

// Tile allocates a matrix of rows × cols elements in shared memory, with a swizzle of 32,
// 64 or 128 bytes, or 0 for none. rows is a multiple of 8, and a row a multiple of the
// swizzle's bytes, or of 16. The array is aligned to its pattern's period: 256, 512,
// 1,024 bytes; 128 without a swizzle.
func (k *Kernel) Tile(name string, elem Type, rows, cols, swizzle int) Tile {
	t := k.tiles(fmt.Sprintf("Tile(%q)", name), name, 1, elem, rows, cols, swizzle)
	t.stages = 0
	return t
}

// Tiles allocates several tiles, the stages of a ring, one after the other, each as Tile
// would. At selects one; without At, the first is used.
func (k *Kernel) Tiles(name string, stages int, elem Type, rows, cols, swizzle int) Tile {
	what := fmt.Sprintf("Tiles(%q)", name)
	if stages < 1 {
		k.fail("%s: %d stages; there is at least one", what, stages)
		stages = 1
	}
	return k.tiles(what, name, stages, elem, rows, cols, swizzle)
}

func (k *Kernel) tiles(what, name string, stages int, elem Type, rows, cols, swizzle int) Tile {
	t := k.tile(what, elem, rows, cols, swizzle)
	t.stages = stages
	t.base = k.SharedAlign(name, t.pattern(), t.elem, stages, t.panels(), t.rows, t.width()/t.elem.Size())
	return t
}

// Tile interprets an address in shared memory as a tile with the layout of Kernel.Tile.
func (p Ptr) Tile(rows, cols, swizzle int) Tile {
	k := p.kernel()
	t := k.tile("Tile", p.elem, rows, cols, swizzle)
	t.base = p
	switch {
	case p.space != SharedCTA:
		k.fail("Tile: the address is in %s; a tile is in the CTA's own shared memory", p.space)
	case p.sym != nil && (p.sym.align < t.pattern() || p.off%int64(t.pattern()) != 0):
		k.fail("Tile: it begins %d bytes after %s, which is aligned to %d; a tile with a swizzle of %d bytes is aligned to %d: allocate it so with SharedAlign", p.off, p.sym.name, p.sym.align, swizzle, t.pattern())
	}
	return t
}

// tile checks a layout, and returns it, or the nearest valid one.
func (k *Kernel) tile(what string, elem Type, rows, cols, swizzle int) Tile {
	t := Tile{k: k, elem: elem, rows: rows, cols: cols, swizzle: swizzle}
	switch swizzle {
	case 0, 32, 64, 128:
	default:
		k.fail("%s: a swizzle of %d bytes; there are 32, 64 and 128, and 0 for none", what, swizzle)
		t.swizzle = 128
	}
	if elem.Size() == 0 || elem.Size() > 8 {
		k.fail("%s: %q is no type of a tile's elements", what, string(elem))
		t.elem = F16
	}
	n := t.width() / t.elem.Size()
	if rows < 8 || rows%8 != 0 {
		k.fail("%s: %d rows; the pattern has 8, and a tile a multiple of that", what, rows)
		t.rows = max(8, rows/8*8)
	}
	if cols < n || cols%n != 0 {
		hint := "take a narrower swizzle or wider rows"
		if swizzle == 0 {
			hint = "take wider rows"
		}
		k.fail("%s: rows of %d elements of %s, %d bytes, are no multiple of %d bytes: %s", what, cols, t.elem, cols*t.elem.Size(), t.width(), hint)
		t.cols = max(n, cols/n*n)
	}
	t.panel = t.rows * t.width()
	t.stage = t.panel * t.panels()
	return t
}

// width is the bytes of a panel's row.
func (t Tile) width() int { return max(16, t.swizzle) }

// pattern returns the alignment of a tile: 8 rows of a swizzled panel, and at least that
// of tensor copies.
func (t Tile) pattern() int { return max(128, 8*t.swizzle) }

func (t Tile) panels() int { return (t.cols*t.elem.Size() + t.width() - 1) / t.width() }

func (t Tile) kernel() *Kernel {
	if t.k == nil {
		panic("kernel: the zero Tile is no tile: it comes from Kernel.Tile, Tiles or Ptr.Tile")
	}
	return t.k
}

// Elem gives the type of the elements.
func (t Tile) Elem() Type { return t.elem }

// Dims returns rows and columns, exchanged if T transposed the tile.
func (t Tile) Dims() (rows, cols int) {
	if t.trans {
		return t.cols, t.rows
	}
	return t.rows, t.cols
}

// Size returns the bytes of one tile: the tx-count of the copies that fill it.
func (t Tile) Size() int { return t.rows * t.cols * t.elem.Size() }

// Swizzle gives the bytes of the swizzle; 0 for none.
func (t Tile) Swizzle() int { return t.swizzle }

// Panels returns the number of tensor copies that fill the tile.
func (t Tile) Panels() int { return t.panels() }

// Box returns the box of a tensor map whose copies fill a panel of the tile, in the form
// of MapOf: rows, then elements of a row.
func (t Tile) Box() []int { return []int{t.rows, t.PanelCols()} }

// PanelCols returns the number of columns in a panel: panel i begins at column
// i*PanelCols.
func (t Tile) PanelCols() int { return min(t.cols, t.width()/t.elem.Size()) }

// MapOf makes the tensor map for copies between a slice and the tile: with the tile's
// element type, box and swizzle. shape is that of the slice, outermost dimension first.
func (t Tile) MapOf(slice any, shape []int, opts ...MapOption) *Map {
	box := make([]int, max(0, len(shape)-2), len(shape))
	for i := range box {
		box[i] = 1
	}
	elem := t.elem
	if elem == TF32 {
		elem = F32
		opts = append([]MapOption{Spec(func(s *launch.TensorMapSpec) { s.Type = launch.ElementTF32 })}, opts...)
	}
	return MapOf(slice, elem, shape, append(box, t.Box()...), append([]MapOption{Swizzled(t.swizzle)}, opts...)...)
}

// At selects a stage of several tiles, by a number or a register.
func (t Tile) At(stage Num) Tile {
	k := t.kernel()
	n, isConst := toInt(stage)
	switch r, isReg := stage.(Reg); {
	case t.stages == 0:
		k.fail("At of a tile that has no stages: Tiles makes several")
	case isConst && (n < 0 || n >= int64(t.stages)):
		k.fail("At: stage %d of %d", n, t.stages)
	case isConst:
		t.off += int(n) * t.stage
	case isReg && r.k != nil && r.t.fits(U32, false):
		t = t.with(r, t.stage)
	default:
		k.fail("At: the stage is %s; it is a number or an integer register of 32 bits", describe(stage))
	}
	t.stages = 0
	return t
}

func (t Tile) with(r Reg, bytes int) Tile {
	t.vars = append(t.vars[:len(t.vars):len(t.vars)], term{r, bytes})
	return t
}

// Rows returns n rows from first on. Both are multiples of 8; first may be a register,
// which is not checked.
func (t Tile) Rows(first Num, n int) Tile {
	k := t.kernel()
	if t.trans {
		k.fail("Rows of a transposed tile: take the part before T")
		return t
	}
	f, isConst := toInt(first)
	switch r, isReg := first.(Reg); {
	case n < 8 || n%8 != 0 || n > t.rows || isConst && (f < 0 || f%8 != 0 || int(f)+n > t.rows):
		k.fail("Rows(%v, %d) of a tile of %d rows: they are multiples of 8 within it", first, n, t.rows)
		return t
	case isConst:
		t.off += int(f) * t.width()
	case isReg && r.k != nil && r.t.fits(U32, false):
		t = t.with(r, t.width())
	default:
		k.fail("Rows: the first is %s; it is a number or an integer register of 32 bits", describe(first))
	}
	t.rows = n
	return t
}

// Cols returns n columns from first on: whole panels, or a part of one panel. A part
// begins and ends at multiples of 32 bytes, the K of one matrix instruction.
func (t Tile) Cols(first, n int) Tile {
	k := t.kernel()
	if t.trans {
		k.fail("Cols of a transposed tile: take the part before T")
		return t
	}
	s, w := t.elem.Size(), t.width()
	from, size := first*s, n*s
	whole := from%w == 0 && size%w == 0
	inside := from%32 == 0 && size%32 == 0 && from/w == (from+size-1)/w
	if first < 0 || n < 1 || first+n > t.cols || !whole && !inside {
		k.fail("Cols(%d, %d) of a tile of %d columns of %s: they are whole panels of %d columns, or multiples of %d within one", first, n, t.cols, t.elem, w/s, 32/s)
		return t
	}
	t.off += from/w*t.panel + from%w
	t.cols = n
	return t
}

// T returns the transposed matrix: for Mma, A with K not along the stored rows, or B with
// K along them.
func (t Tile) T() Tile {
	t.trans = !t.trans
	return t
}

// Ptr returns the address of the tile, that of its first panel.
func (t Tile) Ptr() Ptr { return t.Panel(0) }

// Panel returns the address of a panel: the destination or source of a tensor copy.
func (t Tile) Panel(i int) Ptr {
	k := t.kernel()
	if i < 0 || i >= t.panels() {
		k.fail("Panel(%d) of a tile of %d", i, t.panels())
		i = 0
	}
	return t.bytes(t.off + i*t.panel)
}

// bytes returns the address off bytes from the array's beginning.
func (t Tile) bytes(off int) Ptr {
	p := t.base
	p.dims = nil
	for _, v := range t.vars {
		p = p.Bytes(v.reg.As(U32).Mul(v.bytes))
	}
	return p.Bytes(off)
}

// Addr returns the address of an element of the stored matrix, regardless of T, by
// numbers or registers of 32 bits.
func (t Tile) Addr(row, col Num) Ptr {
	k := t.kernel()
	s, w := t.elem.Size(), t.width()
	r, rConst := toInt(row)
	c, cConst := toInt(col)
	if rConst && (r < 0 || r >= int64(t.rows)) || cConst && (c < 0 || c >= int64(t.cols)) {
		k.fail("Addr(%v, %v) of a tile of %d rows and %d columns", row, col, t.rows, t.cols)
		return t.bytes(t.off)
	}
	inner := t.off % w // nonzero only after Cols within a panel
	if rConst && cConst {
		b := int(c)*s + inner
		at := int(r)*w + b%w
		at ^= at >> 3 & (w - 16)
		return t.bytes(t.off - inner + b/w*t.panel + at)
	}
	b, panel := k.u32(col), 0
	if cConst {
		b, panel = k.Const(U32, (int(c)*s+inner)%w), (int(c)*s+inner)/w
	} else {
		b = b.Mul(s)
		if inner > 0 {
			b = b.Add(inner)
		}
	}
	at := k.u32(row).Mul(w).Add(b)
	if !cConst && t.panels() > 1 {
		at = k.u32(row).Mul(w).Add(b.And(w - 1))
	}
	if w > 16 {
		at = at.Xor(at.Shr(3).And(w - 16))
	}
	if !cConst && t.panels() > 1 {
		at = b.Div(w).Mad(t.panel, at)
	}
	return t.bytes(t.off - inner + panel*t.panel).Bytes(at)
}

// u32 returns an index as a register.
func (k *Kernel) u32(x Num) Reg {
	if r, ok := x.(Reg); ok && r.k != nil && r.t.fits(U32, false) {
		return r.As(U32)
	}
	if n, ok := toInt(x); ok {
		return k.Const(U32, n)
	}
	k.fail("an index is %s; it is a number or an integer register of 32 bits", describe(x))
	return k.lost(U32)
}
