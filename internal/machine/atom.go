package machine

import (
	"math/bits"

	"muster/internal/num"
	"muster/ptx"
)

// Atomics. The lanes of one atomic instruction perform it one after the other,
// lowest first; a card may take another order.

type atomOp = ptx.Update

const (
	atomNone = ptx.NoUpdate
	atomAdd  = ptx.UpdateAdd
	atomAnd  = ptx.UpdateAnd
	atomOr   = ptx.UpdateOr
	atomXor  = ptx.UpdateXor
	atomMin  = ptx.UpdateMin
	atomMax  = ptx.UpdateMax
	atomInc  = ptx.UpdateInc
	atomDec  = ptx.UpdateDec
	atomExch = ptx.UpdateExch
	atomCas  = ptx.UpdateCas
)

// atomInfo decodes the modifiers that atom, red and their asynchronous kin share.
func (d *decoder) atomInfo(in *ptx.Inst, a *access) error {
	a.space, a.t = d.stateSpace(), d.lastType()
	if a.t == tNone {
		for _, m := range in.Mods {
			if t, ok := typNames[m]; ok {
				a.t = t
				d.read(m)
			}
		}
	}
	a.sem, a.scope = Relaxed, ScopeGPU
	a.semDefaulted, a.scopeDefaulted = true, true
	for _, m := range in.Mods {
		if o := ptx.LookupUpdate(m); o != atomNone {
			a.atom = o
			d.read(m)
		}
		switch m {
		case "relaxed", "acquire", "release", "acq_rel":
			a.semDefaulted = false
		}
		if _, ok := scopes[m]; ok {
			a.scopeDefaulted = false
		}
	}
	b := *a
	b.ordering(d)
	if !a.semDefaulted {
		a.sem = b.sem
	}
	if !a.scopeDefaulted {
		a.scope = b.scope
	}
	a.noftz = a.t == f32 && d.has("noftz")
	if a.atom == atomNone || a.t == tNone || a.t == pred || a.t == b128 && a.atom != atomExch && a.atom != atomCas {
		return errNotModelled
	}
	a.elem = a.t.size()
	a.n = int32(d.vecCount())
	a.size = a.elem * a.n
	return nil
}

// decodeAtom decodes atom d, [a], b{, c}.
func decodeAtom(d *decoder, in *ptx.Inst) error {
	a := &access{acc: Read | Write | Update}
	if err := d.atomInfo(in, a); err != nil {
		return err
	}
	a.poll = true
	i := instr{class: visible, visit: visitAtom, x: a}
	if a.outside() {
		i.visit = visitOutside
	}
	ops := in.Operands
	want := 3
	if a.atom == atomCas {
		want = 4
	}
	if len(ops) < want {
		return d.errorf("%s takes %d operands", Name(in), want)
	}
	if err := d.mem(ops[1], a); err != nil {
		return err
	}
	dst, b := d.elems(ops[0]), d.elems(ops[2])
	if len(b) != int(a.n) || len(dst) != int(a.n) {
		return d.errorf("%s takes %d elements", Name(in), a.n)
	}
	if err := d.atomRows(a, dst, b); err != nil {
		return err
	}
	if a.atom == atomCas {
		var err error
		if i.c, err = d.src(ops[3], a.t); err != nil {
			return err
		}
	}
	d.emit(i)
	return nil
}

// decodeRed decodes red [a], b.
func decodeRed(d *decoder, in *ptx.Inst) error {
	if d.has("async") {
		return decodeRedAsync(d, in)
	}
	a := &access{acc: Write | Update}
	if err := d.atomInfo(in, a); err != nil {
		return err
	}
	if len(in.Operands) < 2 {
		return d.errorf("%s takes an address and a value", Name(in))
	}
	if err := d.mem(in.Operands[0], a); err != nil {
		return err
	}
	b := d.elems(in.Operands[1])
	if len(b) != int(a.n) {
		return d.errorf("%s takes %d elements", Name(in), a.n)
	}
	if err := d.atomRows(a, nil, b); err != nil {
		return err
	}
	i := instr{class: visible, visit: visitAtom, x: a}
	if a.outside() {
		i.visit = visitOutside
	}
	d.emit(i)
	return nil
}

// atomRows resolves destinations and sources: regs holds the sources, then
// the destinations.
func (d *decoder) atomRows(a *access, dst, src []ptx.Operand) error {
	for _, op := range src {
		r, err := d.src(op, a.t)
		if err != nil {
			return err
		}
		a.regs = append(a.regs, r)
	}
	for _, op := range dst {
		r, err := d.dst(op, a.t)
		if err != nil {
			return err
		}
		a.regs = append(a.regs, r)
	}
	return nil
}

// wideValue is a value of up to 128 bits.
type wideValue struct{ lo, hi uint64 }

func (x *ctx) value(r reg, t typ, l int) wideValue {
	switch {
	case t == b128:
		return wideValue{x.a64(r)[l], x.a64(r + 1)[l]}
	case t.wide():
		return wideValue{lo: x.a64(r)[l]}
	}
	v := uint64(x.a32(r)[l])
	if t.size() == 2 {
		v &= 0xffff
	}
	return wideValue{lo: v}
}

func (x *ctx) setValue(r reg, t typ, l int, v wideValue) {
	switch {
	case t == b128:
		x.w64(r)[l], x.w64(r + 1)[l] = v.lo, v.hi
	case t.wide():
		x.w64(r)[l] = v.lo
	default:
		x.w32(r)[l] = uint32(v.lo)
	}
}

func visitAtom(x *ctx, in *instr, mask uint32) verdict {
	a, m := in.x.(*access), x.m
	addr := &m.addr
	x.addressesOf(a, addr)
	align := a.size
	if l := misaligned(mask, addr, align); l >= 0 {
		return x.fault(FaultAlign, a, l, addr[l])
	}
	changed := false
	for mask != 0 {
		at, ok := x.locate(a.space, mask, a.size, addr)
		if !ok || at.r.fixed {
			return x.fault(FaultBounds, a, lowest(mask), addr[lowest(mask)])
		}
		if m.cfg.Observer != nil {
			x.accessEvent(a, at, false)
		}
		for k := at.mask; k != 0; k &= k - 1 {
			if x.atomLane(in, a, at, bits.TrailingZeros32(k)&31) {
				changed = true
			}
		}
		if a.poll && !changed {
			x.polled(a, at)
		}
		x.look(a, at)
		mask &^= at.mask
	}
	x.quiet, x.idle = !changed, !changed
	return performed
}

// atomLane performs one lane's atomic and reports whether it changed memory.
func (x *ctx) atomLane(in *instr, a *access, at where, l int) bool {
	r, owner := at.r, x.m.owner
	off := x.m.addr[l] - r.base
	changed := false
	for e := int32(0); e < a.n; e++ {
		o := off + uint64(e*a.elem)
		if at.mem != Global {
			x.poisonMemory(r, o, uint64(a.elem))
		}
		if len(x.m.given.list) > 0 {
			x.m.give(a, at.mem, r, x.m.addr[l])
		}
		var old wideValue
		if a.t == b128 {
			old = wideValue{r.load(o, 8), r.load(o+8, 8)}
		} else {
			old.lo = r.load(o, a.elem)
		}
		word := Word{at.mem, x.m.addr[l] + uint64(e*a.elem), a.elem}
		if lo, hi, ok := x.picked(word); ok {
			old = wideValue{lo, hi}
		}
		var was [2]shade
		u := x.m.undefined()
		if u != nil {
			was = u.element(x, at.mem, r, o, a.elem)
		}
		b := x.value(a.regs[e], a.t, l)
		now := old
		switch a.atom {
		case atomExch:
			now = b
		case atomCas:
			if old == b {
				now = x.value(in.c, a.t, l)
			}
		default:
			mem := at.mem
			if a.noftz {
				mem = noMem
			}
			now.lo = combine(a.atom, a.t, mem, old.lo, b.lo)
		}
		switch kept := x.m.versioned(a); {
		case kept && a.atom == atomCas && old != b: // a read (ISA 8.4)
			now = old
		case kept && !x.addVersion(word, l, now.lo, now.hi, true):
			// memory holds a later version
		case a.t == b128:
			r.store(o, 8, now.lo, owner)
			r.store(o+8, 8, now.hi, owner)
		default:
			r.store(o, a.elem, now.lo, owner)
		}
		if u != nil {
			u.updated(x, in, a, at.mem, r, o, e, l, was, old, b, now)
		}
		changed = changed || now != old
		if a.acc&Read != 0 {
			x.setValue(a.regs[a.n+e], a.t, l, old)
		}
	}
	return changed
}

// noMem is a memory in which no addition flushes subnormals.
const noMem MemID = 0

// combine applies a reduction operator. Floating-point addition rounds to
// nearest even; on f32 in global memory it flushes subnormals (9.7.13.6).
func combine(op atomOp, t typ, mem MemID, a, b uint64) uint64 {
	switch t {
	case f32, f64, f16, bf16, f16x2, bf16x2:
		return combineFloat(op, t, mem, a, b)
	}
	switch op {
	case atomAdd:
		a += b
	case atomAnd:
		a &= b
	case atomOr:
		a |= b
	case atomXor:
		a ^= b
	case atomMin, atomMax:
		less := a < b
		switch t {
		case s32:
			less = int32(a) < int32(b)
		case s64:
			less = int64(a) < int64(b)
		}
		if less != (op == atomMin) {
			a = b
		}
	case atomInc:
		if a >= b {
			a = 0
		} else {
			a++
		}
	case atomDec:
		if a == 0 || a > b {
			a = b
		} else {
			a--
		}
	case atomExch:
		a = b
	}
	switch t.size() {
	case 4:
		return uint64(uint32(a))
	case 2:
		return uint64(uint16(a))
	}
	return a
}

func combineFloat(op atomOp, t typ, mem MemID, a, b uint64) uint64 {
	if op == atomExch {
		return b
	}
	switch t {
	case f32:
		m := num.Mod(0)
		if mem == Global {
			m = num.FTZ
		}
		return uint64(num.AddF32(num.RN, m, uint32(a), uint32(b)))
	case f64:
		if mem == Global {
			return num.AtomAddF64(a, b)
		}
		return num.AddRNF64(b, a) // the order decides which of two NaNs results
	case f16:
		return uint64(halfOp(op, uint16(a), uint16(b), num.AddF16, num.MinF16, num.MaxF16))
	case bf16:
		return uint64(halfOp(op, uint16(a), uint16(b), num.AddBF16, num.MinBF16, num.MaxBF16))
	case f16x2:
		return uint64(pairOp(op, uint32(a), uint32(b), num.AddF16x2, num.MinF16x2, num.MaxF16x2))
	}
	return uint64(pairOp(op, uint32(a), uint32(b), num.AddBF16x2, num.MinBF16x2, num.MaxBF16x2))
}

func halfOp(op atomOp, a, b uint16, add, lo, hi func(num.Mod, uint16, uint16) uint16) uint16 {
	switch op {
	case atomMin:
		return lo(0, a, b)
	case atomMax:
		return hi(0, a, b)
	}
	return add(0, a, b)
}

func pairOp(op atomOp, a, b uint32, add, lo, hi func(num.Mod, uint32, uint32) uint32) uint32 {
	switch op {
	case atomMin:
		return lo(0, a, b)
	case atomMax:
		return hi(0, a, b)
	}
	return add(0, a, b)
}
