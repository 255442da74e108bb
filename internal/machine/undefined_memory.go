package machine

import (
	"maps"
	"slices"

	"muster/internal/flow"
)

// Undefined values in memory (undefined.go says what they are), and in operations in flight.

// A pageShade has the bits of a page that are written but undefined, and for each word
// their origins and the PC of the writer.
type pageShade struct {
	bits [pageBytes]byte
	from [pageWords]uint64
	pc   [pageWords]int32
	// drawn has the numbers with which words move one to one; nil: none do.
	drawn map[uint16]drawn
}

// clean makes bytes of a page defined.
func (p *page) clean(off, n uint64) {
	if p.shade != nil {
		clear(p.shade.bits[off:min(off+n, pageBytes)])
		if len(p.shade.drawn) > 0 {
			maps.DeleteFunc(p.shade.drawn, func(word uint16, _ drawn) bool { return uint64(word) >= off/4 && uint64(word)*4 < off+n })
		}
	}
}

// shaded returns the shade of a byte; missing returns the origin of an unwritten one.
func (r *region) shaded(off uint64, missing func() uint64) (s shade) {
	if !r.initialized(off, 1) {
		return shade{0xff, missing()}
	}
	p := r.pages[off/pageBytes]
	if p == nil || p.shade == nil || p.shade.bits[off%pageBytes] == 0 {
		return shade{}
	}
	return shade{uint64(p.shade.bits[off%pageBytes]), p.shade.from[off%pageBytes/4]}
}

// setShade gives a byte that was just written a shade.
func (u *Undefined) setShade(r *region, off uint64, s shade, pc int32, owner uint64) {
	if s.bits&0xff == 0 {
		return
	}
	u.memory = true
	p := r.write(off, owner)
	if p.shade == nil {
		p.shade = new(pageShade)
	}
	at := off % pageBytes
	word := at / 4
	if bytes := p.shade.bits[word*4:][:4]; bytes[0]|bytes[1]|bytes[2]|bytes[3] == 0 {
		p.shade.from[word] = 0
	}
	delete(p.shade.drawn, uint16(word))
	p.shade.bits[at] = byte(s.bits)
	p.shade.from[word] |= s.from
	p.shade.pc[word] = pc
}

// untouched reports whether bytes of a region are all written and defined.
func (u *Undefined) untouched(r *region, off, n uint64) bool {
	return !u.memory && r.initialized(off, n)
}

// missing returns the origin of unwritten bytes that the instruction at pc reads.
func (u *Undefined) missing(mem MemID, pc int32) func() uint64 {
	kind := UndefinedShared
	switch mem {
	case Global:
		kind = UndefinedGlobal
	case Local:
		kind = UndefinedLocal
	}
	if mem.Kind() == TensorMemory {
		kind = UndefinedTensor
	}
	return func() uint64 { return u.origin(UndefinedFrom{kind, pc, 0}) }
}

// bytes returns the shade of up to 8 bytes.
func (u *Undefined) bytes(r *region, off, n uint64, missing func() uint64) (s shade) {
	if u.untouched(r, off, n) {
		return s
	}
	for i := range n {
		b := r.shaded(off+i, missing)
		s.bits |= b.bits << (8 * i)
		s.from |= b.from
	}
	return s
}

// row is a data register of an access: its class is told by its width.
func (u *Undefined) row(x *ctx, r reg, wide bool) undefinedReg {
	class := flow.Word
	if wide {
		class = flow.Wide
	}
	return u.key(x, flow.RegOf(0, class, int32(r)))
}

// loaded sets the shades of what an access has loaded.
func (u *Undefined) loaded(x *ctx, a *access, at where) {
	missing := u.missing(at.mem, x.s.pc)
	for l := range lanesOf(at.mask) {
		for e := int32(0); e < a.n; e++ {
			if a.skip[e] {
				continue
			}
			off := x.m.addr[l] - at.r.base + uint64(e*a.elem)
			if a.t == b128 {
				k := u.row(x, a.regs[e], true)
				u.put(k, l, u.takesHanded(x, at.mem, at.r.base+off, 8, u.bytes(at.r, off, 8, missing)))
				k.row++
				u.put(k, l, u.takesHanded(x, at.mem, at.r.base+off+8, 8, u.bytes(at.r, off+8, 8, missing)))
				continue
			}
			s := u.takesHanded(x, at.mem, at.r.base+off, uint64(a.elem), u.bytes(at.r, off, uint64(a.elem), missing))
			if s.bits != 0 && a.sext {
				s.bits = extend(s.bits, uint(8*a.elem))
			}
			k := u.row(x, a.regs[e], a.wide[e])
			u.put(k, l, s)
			if u.draws != nil && s.bits != 0 && a.elem == 4 && off%4 == 0 {
				if p := at.r.pages[off/pageBytes]; p != nil && p.shade != nil {
					if d, ok := p.shade.drawn[uint16(off%pageBytes/4)]; ok {
						u.draws.regs[drawnReg{k, l}] = d
					}
				}
			}
			u.looks(x, a, at.mem, at.r.base+off, k, l)
		}
	}
}

// extend copies bit w-1 to those above it.
func extend(v uint64, w uint) uint64 {
	if w >= 64 {
		return v
	}
	return uint64(int64(v<<(64-w)) >> (64 - w))
}

// stored sets the shades of what an access has stored.
func (u *Undefined) stored(x *ctx, a *access, at where) {
	if len(u.regs) == 0 {
		return
	}
	for l := range lanesOf(at.mask) {
		off := x.m.addr[l] - at.r.base
		for e := int32(0); e < a.n; e, off = e+1, off+uint64(a.elem) {
			if a.skip[e] || a.regs[e] < 0 {
				continue
			}
			u.store(x, at.r, off, u.value(x, a.regs[e], a.t, a.wide[e], l), uint64(a.elem))
			if d, ok := u.moving(u.row(x, a.regs[e], a.wide[e] || a.t == b128), l); ok && a.elem == 4 && off%4 == 0 {
				u.movesWord(at.r, off, d)
			}
		}
	}
}

// value returns the shade of a data register, of up to 16 bytes.
func (u *Undefined) value(x *ctx, r reg, t typ, wide bool, l int) (s [2]shade) {
	if r < 0 {
		return s
	}
	k := u.row(x, r, wide || t == b128)
	if row := u.regs[k]; row != nil {
		s[0] = row[l]
	}
	if t == b128 {
		k.row++
		if row := u.regs[k]; row != nil {
			s[1] = row[l]
		}
	}
	return s
}

func (u *Undefined) store(x *ctx, r *region, off uint64, s [2]shade, n uint64) {
	for i := range n {
		u.setShade(r, off+i, shade{s[i/8].bits >> (i % 8 * 8), s[i/8].from}, x.s.pc, x.m.owner)
	}
}

// updated sets the shade of an element after an atomic of one lane on it; was is the
// shade that the element had.
func (u *Undefined) updated(x *ctx, in *instr, a *access, mem MemID, r *region, off uint64, e int32, l int, was [2]shade, old, operand, result wideValue) {
	isWide := a.t.wide()
	b := u.value(x, a.regs[e], a.t, isWide, l)
	now := b
	if a.atom != atomExch {
		from := uint64(0)
		for _, s := range [...]shade{was[0], was[1], b[0], b[1]} {
			if s.bits != 0 {
				from |= s.from
			}
		}
		swapped := [2]shade{}
		if a.atom == atomCas {
			swapped = u.value(x, in.c, a.t, isWide, l)
			for _, s := range u.value(x, in.c, a.t, isWide, l) {
				if s.bits != 0 {
					from |= s.from
				}
			}
		}
		now = [2]shade{}
		known := was[0].bits|was[1].bits|b[0].bits|b[1].bits == 0
		switch {
		case from == 0:
		case a.atom == atomCas && known && old == operand:
			now = swapped
		case a.atom == atomCas && known:
		case a.atom == atomAnd && a.t.size() <= 8:
			now[0] = shade{was[0].bits&(operand.lo|b[0].bits) | b[0].bits&(old.lo|was[0].bits), from}
		case a.atom == atomOr && a.t.size() <= 8:
			now[0] = shade{was[0].bits&(^operand.lo|b[0].bits) | b[0].bits&(^old.lo|was[0].bits), from}
		case a.atom == atomXor && a.t.size() <= 8:
			now[0] = shade{was[0].bits | b[0].bits, from}
		default:
			now = [2]shade{{^uint64(0), from}, {^uint64(0), from}}
		}
	}
	if u.summed(x, a, mem, r.base+off, l, old.lo, operand.lo) {
		now[0] = shade{^uint64(0), now[0].from | u.origin(UndefinedFrom{UndefinedSum, x.s.pc, 0})}
		was[0] = now[0]
	}
	u.store(x, r, off, now, uint64(a.elem))
	u.swaps(x, a, r, off, e, l)
	if a.acc&Read != 0 {
		k := u.row(x, a.regs[a.n+e], isWide || a.t == b128)
		u.put(k, l, was[0])
		if a.t == b128 {
			k.row++
			u.put(k, l, was[1])
		}
	}
	if u.draws != nil {
		u.drew(x, a, mem, r.base+off, e, l, was[0], b[0], now[0], old.lo, operand.lo, result.lo)
	}
}

// sizes takes the size of a bulk store, which decides what is written.
func (u *Undefined) sizes(x *ctx, s *bulkStore, mask uint32) {
	if s.bytes < 0 {
		return
	}
	class := flow.Word
	if s.wide {
		class = flow.Wide
	}
	_, from := u.lanes(x, mask, []flow.Reg{flow.RegOf(0, class, int32(s.bytes))})
	u.decides(from, "the size of a bulk store", x.s.pc)
}

// element returns the shade of an element of memory of up to 16 bytes.
func (u *Undefined) element(x *ctx, mem MemID, r *region, off uint64, n int32) (s [2]shade) {
	missing := u.missing(mem, x.s.pc)
	s[0] = u.takesHanded(x, mem, r.base+off, uint64(min(n, 8)), u.bytes(r, off, uint64(min(n, 8)), missing))
	if n > 8 {
		s[1] = u.takesHanded(x, mem, r.base+off+8, uint64(n-8), u.bytes(r, off+8, uint64(n-8), missing))
	}
	return s
}

// matrixLoaded sets the shades of the register to which an ldmatrix has loaded matrix i.
func (u *Undefined) matrixLoaded(x *ctx, a *matrixAccess, at where, i int, r reg, mask uint32) {
	var t matrix8
	from := uint64(0)
	missing := u.missing(at.mem, x.s.pc)
	for row := range t {
		if l := 8*i + row; at.mask>>l&1 != 0 {
			off := x.m.addr[l] - at.r.base
			for k := range uint64(a.size) / 8 {
				s := u.bytes(at.r, off+8*k, 8, missing)
				t[row][k] = s.bits
				from |= s.from
			}
			t[row] = a.unpacked(t[row])
		}
	}
	var to [32]uint32
	t.get(a.frag, &to, mask)
	k := u.row(x, r, false)
	for l := range lanesOf(mask) {
		u.put(k, l, shade{uint64(to[l]), from})
	}
}

// matrixStored sets the shades of the matrices that an stmatrix has stored.
func (u *Undefined) matrixStored(x *ctx, a *matrixAccess, at where) {
	if len(u.regs) == 0 {
		return
	}
	for i, r := range a.regs {
		if r < 0 {
			continue
		}
		row := u.regs[u.row(x, r, false)]
		if row == nil {
			continue
		}
		var t matrix8
		var bits32 [32]uint32
		from := uint64(0)
		for l := range row {
			bits32[l] = uint32(row[l].bits)
			from |= row[l].from
		}
		t.put(a.frag, &bits32)
		for k, words := range t {
			if l := 8*i + k; at.mask>>l&1 != 0 {
				u.store(x, at.r, x.m.addr[l]-at.r.base, [2]shade{{words[0], from}, {words[1], from}}, matrixRow)
			}
		}
	}
}

// outputs processes the undefined values that global memory holds at the end.
func (u *Undefined) outputs(m *Machine) {
	if !u.memory {
		return
	}
	for _, r := range slices.Concat(m.global.regions, m.global.heap) {
		for _, p := range r.pages {
			if p == nil || p.shade == nil {
				continue
			}
			for at, b := range p.shade.bits {
				if b != 0 {
					u.decides(p.shade.from[at/4], "an output", p.shade.pc[at/4])
				}
			}
		}
	}
}

// --- operations in flight ---

// read records the shades of an operation's source, which it has read.
func (u *Undefined) read(m *Machine, op *Op) {
	op.shades = nil
	n := uint64(0)
	for _, s := range op.Reads {
		n += s.Len
	}
	at := uint64(0)
	for _, s := range op.Reads {
		if r, off := m.memory(s.Mem, s.Addr); r != nil && !u.untouched(r, off, s.Len) {
			missing := u.missing(s.Mem, op.PC)
			for i := range s.Len {
				if b := r.shaded(off+i, missing); b.bits != 0 {
					if op.shades == nil {
						op.shades = make([]shade, n)
					}
					op.shades[at+i] = b
				}
			}
		}
		at += s.Len
	}
	if op.Kind == OpTensorMultiply && u.raced[op.PC] != nil {
		u.readRaced(op, n)
	}
	if op.wgmma != nil {
		op.fragShades = nil
		for _, r := range op.wgmma.info.a {
			op.fragShades = append(op.fragShades, u.warpRow(op, op.wgmma.base32+int32(r)))
		}
	}
}

func (u *Undefined) warpRow(op *Op, row int32) (none [32]shade) {
	if r := u.regs[undefinedReg{op.CTA, op.Warp, 0, row}]; r != nil {
		return *r
	}
	return none
}

// wrote sets the shades of an operation's target, which it has written.
func (u *Undefined) wrote(m *Machine, op *Op) {
	from := uint64(0)
	for _, s := range op.shades {
		if s.bits != 0 {
			from |= s.from
		}
	}
	switch {
	case op.wgmma != nil:
		u.multiplied(m, op)
	case op.tcgen05 != nil:
		u.wroteTensor(m, op, from)
	case from == 0 && op.red == nil:
	case op.tensor != nil:
		for _, s := range op.Writes {
			if s.Mem == Global {
				u.decides(from, "an output", op.PC)
				continue
			}
			if r, off := m.memory(s.Mem, s.Addr); r != nil {
				for i := range s.Len {
					u.setShade(r, off+i, shade{0xff, from | throughVague}, op.PC, m.owner)
				}
			}
		}
	default:
		for _, s := range op.Writes {
			r, off := m.memory(s.Mem, s.Addr)
			if r == nil {
				continue
			}
			for i := range min(s.Len, uint64(len(op.shades))) {
				v := op.shades[i]
				if op.masked && op.bytes>>(i%16)&1 == 0 {
					continue
				}
				if op.red != nil {
					size := uint64(op.red.t.size())
					v = shade{}
					for _, b := range op.shades[i/size*size : min(i/size*size+size, uint64(len(op.shades)))] {
						if b.bits != 0 {
							v = shade{0xff, v.from | b.from}
						}
					}
				}
				u.setShade(r, off+i, v, op.PC, m.owner)
			}
		}
	}
}

// reduces processes an operation that is about to change its target: undefined bits of
// the target stay undefined.
func (u *Undefined) reduces(m *Machine, op *Op, r *region, off uint64, s Span) {
	if u.untouched(r, off, s.Len) {
		return
	}
	missing := u.missing(s.Mem, op.PC)
	for i := range s.Len {
		if b := r.shaded(off+i, missing); b.bits != 0 {
			for uint64(len(op.shades)) < s.Len {
				op.shades = append(op.shades, shade{})
			}
			op.shades[i].bits |= b.bits
			op.shades[i].from |= b.from
		}
	}
}
