package machine

import "math/bits"

// Memory that no other agent sees: local memory, parameters and the constant
// bank. Accesses to it emit no events.

// localLanes performs the part of a generic access that goes to local memory
// or to parameters, and returns the other lanes.
func (x *ctx) localLanes(in *instr, a *access, mask uint32) uint32 {
	rest := mask
	for k := mask; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		switch v := x.m.addr[i]; {
		case v-localWindow < windowSize:
			x.private(a, &x.w.local, i, uint64(i)*x.w.lsize, v-localWindow, x.stackTop())
			rest &^= 1 << i
		case v-paramWindow < windowSize:
			x.private(a, x.params(), i, 0, v-paramWindow, x.params().size)
			rest &^= 1 << i
		}
	}
	return rest
}

// private performs one lane's access to memory that no other agent sees.
func (x *ctx) private(a *access, r *region, lane int, base, off, limit uint64) {
	if off > limit || uint64(a.size) > limit-off || r.fixed && a.acc&Write != 0 {
		x.m.halt(Stop{Kind: FaultBounds, CTA: x.w.cta, Warp: x.w.index, Lane: int8(lane), Mask: 1 << lane, PC: x.s.pc,
			Mem: Local, Addr: off, Size: uint64(a.size), Acc: a.acc, Msg: r.name})
		return
	}
	if off&uint64(a.size-1) != 0 {
		x.m.halt(Stop{Kind: FaultAlign, CTA: x.w.cta, Warp: x.w.index, Lane: int8(lane), Mask: 1 << lane, PC: x.s.pc,
			Mem: Local, Addr: off, Size: uint64(a.size), Acc: a.acc, Msg: r.name})
		return
	}
	var save = x.m.addr[lane]
	x.m.addr[lane] = base + off
	at := where{mem: Local, r: &region{}, mask: 1 << lane}
	at.r = r
	b := r.base
	r.base = 0
	if a.acc&Write != 0 {
		x.store(a, at, false)
		if u := x.m.undefined(); u != nil {
			u.stored(x, a, at)
		}
	} else {
		x.load(a, at, false)
		if u := x.m.undefined(); u != nil {
			u.loaded(x, a, at)
		}
		x.unwrittenLocal(a, at)
	}
	r.base = b
	x.m.addr[lane] = save
}

// unwrittenLocal reports a load of unwritten local memory.
func (x *ctx) unwrittenLocal(a *access, at where) {
	l := lowest(at.mask)
	off := x.m.addr[l]
	if at.r != &x.w.local || at.r.initialized(off, uint64(a.size)) {
		return
	}
	x.readUnwrittenLocal(l, off, a.size)
	if p := x.m.cfg.Poison; p.at(x.s.pc) {
		x.poison(a, at, p)
	}
}

// readUnwrittenLocal reports one lane's read of unwritten local memory; off is
// the offset in the region of all lanes of the warp.
func (x *ctx) readUnwrittenLocal(lane int, off uint64, n int32) {
	if x.m.cfg.Observer == nil {
		return
	}
	own := off - uint64(lane)*x.w.lsize
	x.m.emit(Event{Kind: EvRegister, CTA: x.w.cta, Warp: x.w.index, Mask: 1 << lane, PC: x.s.pc, Unset: UnsetLocal,
		Mem: Local, Gen: own, Size: n, Count: x.s.lbase})
}

// freshFrame marks n bytes of the lanes' local memory, from an address on, as unwritten.
func (w *warp) freshFrame(mask uint32, at, n, owner uint64) {
	for k := mask; k != 0 && n > 0; k &= k - 1 {
		w.local.forget(uint64(bits.TrailingZeros32(k)&31)*w.lsize+at, n, owner)
	}
}

// execLocal performs a .local access.
func execLocal(x *ctx, in *instr, mask uint32) {
	a := in.x.(*access)
	x.addressesOf(in.x.(*access), &x.m.addr)
	addr := x.m.addr
	for k := mask; k != 0 && x.m.stop == nil; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		v := addr[i]
		if v-localWindow < windowSize {
			v -= localWindow
		}
		x.private(a, &x.w.local, i, uint64(i)*x.w.lsize, v, x.stackTop())
	}
}

// execLdParam loads a kernel parameter at a constant address: every lane
// reads the same bytes.
func execLdParam(x *ctx, in *instr, mask uint32) {
	a := in.x.(*access)
	p := x.params()
	off := uint64(a.off)
	for e := int32(0); e < a.n; e++ {
		o := off + uint64(e*a.elem)
		if !p.within(o, uint64(a.elem)) {
			x.fault(FaultBounds, a, lowest(mask), o)
			return
		}
		if o%uint64(a.elem) != 0 {
			x.fault(FaultAlign, a, lowest(mask), o)
			return
		}
		if a.skip[e] {
			continue
		}
		if a.t == b128 {
			x.fill64(a.regs[e], mask, p.load(o, 8))
			x.fill64(a.regs[e]+1, mask, p.load(o+8, 8))
			continue
		}
		v := p.load(o, a.elem)
		if a.sext {
			sh := 64 - 8*uint(a.elem)
			v = uint64(int64(v<<sh) >> sh)
		}
		if a.wide[e] {
			x.fill64(a.regs[e], mask, v)
		} else {
			if a.elem < 4 && a.half[e] {
				v &= 0xffff
			}
			x.fill32(a.regs[e], mask, uint32(v))
		}
	}
}

// execConst loads from the constant bank or from parameters by address.
func execConst(x *ctx, in *instr, mask uint32) {
	a := in.x.(*access)
	x.addressesOf(in.x.(*access), &x.m.addr)
	addr := x.m.addr
	for k := mask; k != 0 && x.m.stop == nil; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		v := addr[i]
		if a.space == spParam {
			if v-paramWindow < windowSize {
				v -= paramWindow
			}
			x.private(a, x.params(), i, 0, v, x.params().size)
			continue
		}
		r := x.m.global.find(v)
		if r == nil || !r.within(v-r.base, uint64(a.size)) {
			x.fault(FaultBounds, a, i, v)
			return
		}
		x.private(a, r, i, 0, v-r.base, r.size)
	}
}

func execSharedAddr(x *ctx, in *instr, mask uint32) {
	v := in.imm + uint64(x.c.rank)<<rankShift
	if in.t.wide() {
		x.fill64(in.d, x.s.mask, v)
	} else {
		x.fill32(in.d, x.s.mask, uint32(v))
	}
}

func execLocalAddr(x *ctx, in *instr, mask uint32) {
	v := in.imm + uint64(x.s.lbase)
	if in.t.wide() {
		x.fill64(in.d, x.s.mask, v)
	} else {
		x.fill32(in.d, x.s.mask, uint32(v))
	}
}
