package machine

import "muster/ptx"

// The stack that alloca grows: an allocation lies beyond the frame's fixed part,
// at one offset for all lanes of the split, so lanes that ask for different sizes
// get the largest. A return frees it (ISA 9.7.17).

func decodeAlloca(d *decoder, in *ptx.Inst) error {
	t := d.lastType()
	if len(in.Operands) < 2 || len(in.Operands) > 3 || t != u32 && t != u64 {
		return d.errorf("%s takes a destination, a size and an alignment, of .u32 or .u64", Name(in))
	}
	i := instr{class: branch, exec: execAlloca, t: t, imm: 8}
	var err error
	if i.d, err = d.dst(in.Operands[0], t); err != nil {
		return err
	}
	if i.a, err = d.src(in.Operands[1], t); err != nil {
		return err
	}
	if len(in.Operands) == 3 {
		n, ok := in.Operands[2].(ptx.Int)
		if !ok || n.Bits == 0 || n.Bits&(n.Bits-1) != 0 || n.Bits > 1<<10 {
			return d.errorf("alloca takes a constant alignment, a power of two up to 1024")
		}
		i.imm = max(n.Bits, 8)
	}
	d.fn.grows = true
	d.emit(i)
	return nil
}

func decodeStacksave(d *decoder, in *ptx.Inst) error {
	t := d.lastType()
	if len(in.Operands) != 1 || t != u32 && t != u64 {
		return d.errorf("%s takes a destination of .u32 or .u64", Name(in))
	}
	r, err := d.dst(in.Operands[0], t)
	if err != nil {
		return err
	}
	d.emit(instr{exec: execStacksave, d: r, t: t})
	return nil
}

func decodeStackrestore(d *decoder, in *ptx.Inst) error {
	t := d.lastType()
	if len(in.Operands) != 1 || t != u32 && t != u64 {
		return d.errorf("%s takes a source of .u32 or .u64", Name(in))
	}
	r, err := d.src(in.Operands[0], t)
	if err != nil {
		return err
	}
	d.emit(instr{exec: execStackrestore, a: r, t: t})
	return nil
}

// stackTop returns the local address of the first free byte.
func (x *ctx) stackTop() uint64 {
	f := &x.m.prog.funcs[x.m.prog.code[x.s.pc].fn]
	return uint64(x.s.lbase) + uint64(f.local) + uint64(x.s.room)
}

func (x *ctx) operand(r reg, t typ, lane int) uint64 {
	if t.wide() {
		return x.a64(r)[lane]
	}
	return uint64(x.a32(r)[lane])
}

func (x *ctx) fill(r reg, t typ, mask uint32, v uint64) {
	if t.wide() {
		x.fill64(r, mask, v)
	} else {
		x.fill32(r, mask, uint32(v))
	}
}

// execAlloca has the class of a branch, because it can end the run.
func execAlloca(x *ctx, in *instr, mask uint32) {
	m, s := x.m, x.s
	size := uint64(0)
	for l := range lanesOf(mask) {
		size = max(size, x.operand(in.a, in.t, l))
	}
	top := x.stackTop()
	at := alignUp(top, in.imm)
	if limit := x.w.lsize; size > limit || at+size > limit {
		m.halt(Stop{Kind: LimitLocal, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: s.pc, Mem: Local, Size: alignUp(at+min(size, 1<<40), pageBytes) - pageBytes + 1})
		return
	}
	x.w.freshFrame(mask, at, size, m.owner)
	x.fill(in.d, in.t, mask, at)
	s.room += uint32(at + size - top)
	s.pc++
}

func execStacksave(x *ctx, in *instr, mask uint32) { x.fill(in.d, in.t, mask, x.stackTop()) }

// execStackrestore frees what was allocated since the save; a value above the top
// changes nothing.
func execStackrestore(x *ctx, in *instr, mask uint32) {
	if mask != x.s.mask {
		return // the other lanes still use their allocations
	}
	f := &x.m.prog.funcs[x.m.prog.code[x.s.pc].fn]
	low := uint64(x.s.lbase) + uint64(f.local)
	to := low
	for l := range lanesOf(mask) {
		to = max(to, x.operand(in.a, in.t, l))
	}
	if to < x.stackTop() {
		x.s.room = uint32(to - low)
	}
}
