package kernel

// A descriptor is the matrix descriptor of a factor (ISA 9.7.15.5.1.2.2), in two halves:
// the lower contains the start address, which varies; the upper is constant.
type descriptor struct {
	t  Tile
	mn bool
	lo Reg // of the tile
	hi Reg
}

// A descriptorKey identifies a descriptor's lower half in a function.
type descriptorKey struct {
	in   *body
	sym  *variable
	off  int64
	lead int
	hi   uint32
}

// descriptor builds the descriptor of a tile. Its lower half is computed once per array,
// at the function's beginning; selecting a stage costs a multiplication and an addition
// of 32 bits, a step an addition.
//
// Bits 0–13 are the address, 16–29 the leading, 32–45 the stride byte offset, in units of
// 16 bytes, 62–63 the swizzle. With K along the rows, the stride goes 8 rows down and the
// leading offset to the next panel; with M or N along the rows and no swizzle they are
// exchanged. The address is relative to the CTA's window: the bits above it name the CTA
// of a cluster.
func (t Tile) descriptor(mn bool) descriptor {
	return t.described(mn, map[int]uint32{0: 0, 128: 1, 64: 2, 32: 3}[t.swizzle]<<30)
}

// tensorDescriptor is descriptor for tcgen05, whose format has 0b001 in bits 46–48 and
// other codes of the swizzle, in bits 61–63 (ISA 9.7.18.4.1).
func (t Tile) tensorDescriptor(mn bool) descriptor {
	return t.described(mn, 1<<14|map[int]uint32{0: 0, 128: 2, 64: 4, 32: 6}[t.swizzle]<<29)
}

// described builds a descriptor whose upper half has these bits beside the stride.
func (t Tile) described(mn bool, bits uint32) descriptor {
	k := t.k
	lead, stride := t.panel, 8*t.width()
	if mn && t.swizzle == 0 {
		lead, stride = stride, lead
	}
	d := descriptor{t: t, mn: mn}
	hi := uint32(stride/16) | bits
	key := descriptorKey{k.at, t.base.sym, t.base.off, lead, hi}
	compute := func() {
		d.lo = t.base.Address().And(0x3ffff).Shr(4).Or(lead / 16 << 16)
		d.hi = k.Const(U32, hi)
	}
	switch known, ok := k.state[key].(descriptor); {
	case ok:
		d.lo, d.hi = known.lo, known.hi
	case t.base.sym == nil: // an address that is computed where the tile is
		compute()
	default:
		k.prologue(compute)
		k.state[key] = d
	}
	for _, v := range t.vars {
		d.lo = v.reg.As(U32).Mad(v.bytes/16, d.lo)
	}
	return d
}

// at returns the descriptor of the part that begins at a row of M or N, and a step of K.
func (d descriptor) at(row, step int) Reg {
	t := d.t
	off := t.off
	w := t.width()
	switch {
	case !d.mn:
		b := off%w + step*stepBytes
		off += b/w*t.panel + b%w - off%w + row*w
	default:
		b := row * t.elem.Size()
		off += step*(stepBytes/t.elem.Size())*w + b/w*t.panel + b%w
	}
	lo := d.lo
	if off != 0 {
		lo = lo.Add(off / 16)
	}
	return t.k.Pack(B64, lo, d.hi)
}
