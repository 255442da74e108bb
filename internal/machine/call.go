package machine

import (
	"encoding/binary"
	"fmt"

	"muster/ptx"
)

// Calls. Arguments and results are copied between the caller's frame and the
// callee's; a frame is a window on each class of registers and a piece of the
// lane's local memory, so that recursion costs only the frames in use.

// A callInfo is a decoded call: where arguments and results are on the
// caller's side.
type callInfo struct {
	fn   int32 // -1 for an indirect call
	ptr  reg
	args []place
	rets []place
}

// A place is where an argument or a parameter is: a register, or a range of
// the frame's local memory.
type place struct {
	inReg bool
	reg   reg
	typ   typ
	off   uint32
	size  uint32
}

func decodeCall(d *decoder, in *ptx.Inst) error {
	ops := in.Operands
	var ci callInfo
	var err error
	if len(ops) > 0 {
		if l, ok := ops[0].(*ptx.List); ok {
			if ci.rets, err = d.places(l); err != nil {
				return err
			}
			ops = ops[1:]
		}
	}
	if len(ops) == 0 {
		return d.errorf("call names no function")
	}
	n, ok := ops[0].(ptx.Name)
	if !ok {
		return d.errorf("call names no function")
	}
	switch y := d.symbol(n); {
	case y != nil && y.kind == symFunc:
		i, known := d.fns[y.fn]
		if !known || d.prog.funcs[i].decl.Entry {
			return d.errorf("%s is a kernel, which a call cannot name", n)
		}
		ci.fn = i
	case y != nil && y.kind == symReg && y.vec == 0 && y.typ.wide():
		ci.fn, ci.ptr = -1, y.reg
	default:
		return d.errorf("%s is no function, nor a register that holds the address of one", n)
	}
	if len(ops) > 1 {
		if l, ok := ops[1].(*ptx.List); ok {
			if ci.args, err = d.places(l); err != nil {
				return err
			}
		}
	}
	if ci.fn >= 0 {
		f := &d.prog.funcs[ci.fn]
		if f.decl.Body == nil && f.builtin == nil && !f.frees() {
			return errNotModelled
		}
		if len(ci.args) != len(f.params) || len(ci.rets) != len(f.rets) {
			return d.errorf("call of %s with %d arguments and %d results; it takes %d and gives %d", n, len(ci.args), len(ci.rets), len(f.params), len(f.rets))
		}
		if f.frees() {
			if len(ci.args) != 1 || len(ci.rets) != 0 {
				return errNotModelled
			}
			d.fn.calls = append(d.fn.calls, ci.fn)
			d.decodeFree(&ci)
			return nil
		}
	}
	d.fn.calls = append(d.fn.calls, ci.fn)
	d.emit(instr{class: branch, exec: execCall, x: &ci})
	if ci.fn >= 0 {
		d.promised(nil)
	} else {
		d.promised(func(x *ctx, _ *instr, lane int) uint64 { return x.a64(ci.ptr)[lane] })
	}
	return nil
}

// stack returns the most local memory in bytes that a thread can use: limit if
// indirect or recursive calls leave that open.
func (p *Program) stack(limit uint64) uint64 {
	need := make([]uint64, len(p.funcs))
	open := make([]bool, len(p.funcs))
	var of func(i int32) uint64
	of = func(i int32) uint64 {
		switch {
		case i < 0 || open[i] || p.funcs[i].grows:
			return limit
		case need[i] > 0:
			return need[i]
		}
		open[i] = true
		f := &p.funcs[i]
		deepest := uint64(0)
		for _, c := range f.calls {
			slack := uint64(16)
			if c >= 0 {
				slack = uint64(max(p.funcs[c].align, 16))
			}
			deepest = max(deepest, slack+of(c))
		}
		open[i] = false
		need[i] = min(limit, uint64(f.local)+deepest)
		return need[i]
	}
	return of(0)
}

func (d *decoder) places(l *ptx.List) ([]place, error) {
	var out []place
	for _, op := range l.Elems {
		if n, ok := op.(ptx.Name); ok {
			y := d.symbol(n)
			switch {
			case y == nil:
				return nil, d.errorf("unknown name %s", n)
			case y.kind == symReg:
				for k := range max(y.vec, 1) {
					out = append(out, place{inReg: true, reg: y.reg + reg(k)*regsPer(y.typ), typ: y.typ})
				}
				continue
			case y.kind == symLocal || y.kind == symFormal:
				out = append(out, place{off: uint32(y.addr), size: uint32(y.size), typ: y.typ})
				continue
			}
			return nil, d.errorf("%s cannot be passed", n)
		}
		// The parameter's size decides how many bytes of a constant are passed.
		t := b64
		switch v := op.(type) {
		case ptx.Float:
			if v.Size == 32 {
				t = b32
			}
		case ptx.Sink:
			out = append(out, place{inReg: true, reg: d.temp(b32), typ: b32})
			continue
		}
		r, err := d.src(op, t)
		if err != nil {
			return nil, err
		}
		out = append(out, place{inReg: true, reg: r, typ: t})
	}
	return out, nil
}

func execCall(x *ctx, in *instr, mask uint32) {
	s, ci := x.s, in.x.(*callInfo)
	if mask != s.mask {
		x.w.divide(s, s.mask&^mask).pc++
	}
	if ci.fn >= 0 {
		x.call(ci, ci.fn)
		return
	}
	// An indirect call: the lanes that name another function stay behind.
	row := x.a64(ci.ptr)
	want := row[lowest(s.mask)]
	same := uint32(0)
	for l := range lanesOf(s.mask) {
		if row[l] == want {
			same |= 1 << l
		}
	}
	if same != s.mask {
		x.w.divide(s, s.mask&^same)
	}
	i := want - codeWindow
	if want >= codeWindow && i%16 == 0 && i/16 < uint64(len(x.m.prog.funcs)) && x.m.prog.funcs[i/16].frees() {
		x.m.halt(Stop{Kind: Unmodelled, CTA: x.w.cta, Warp: x.w.index, Mask: same, PC: s.pc, Mem: Local, Msg: "free through a pointer to it"})
		return
	}
	if want < codeWindow || i%16 != 0 || i/16 >= uint64(len(x.m.prog.funcs)) || x.m.prog.funcs[i/16].entry < 0 && x.m.prog.funcs[i/16].builtin == nil {
		x.m.halt(Stop{Kind: FaultOther, CTA: x.w.cta, Warp: x.w.index, Mask: same, PC: s.pc, Mem: Local,
			Msg: fmt.Sprintf("call through %#x, which is no function of this module", want)})
		return
	}
	f := &x.m.prog.funcs[i/16]
	if len(f.params) != len(ci.args) || len(f.rets) != len(ci.rets) {
		x.m.halt(Stop{Kind: FaultOther, CTA: x.w.cta, Warp: x.w.index, Mask: same, PC: s.pc, Mem: Local,
			Msg: fmt.Sprintf("call of %s through a prototype that does not match it", f.name)})
		return
	}
	x.call(ci, int32(i/16))
}

// MaxCalls bounds the calls that are under way in one lane.
const MaxCalls = 1 << 14

// call enters function fn for the lanes of the split.
func (x *ctx) call(ci *callInfo, fn int32) {
	m, w, s := x.m, x.w, x.s
	f := &m.prog.funcs[fn]
	if f.builtin != nil {
		f.builtin(x, ci)
		s.pc++
		x.loseCarry(s.mask)
		return
	}
	caller := &m.prog.funcs[m.prog.code[s.pc].fn]
	fr := frame{pc: s.pc, fn: fn, base32: s.base32, base64: s.base64, basep: s.basep, lbase: s.lbase, room: s.room}
	nb := *s
	nb.base32 += caller.n32
	nb.base64 += caller.n64
	nb.basep += caller.np
	nb.lbase = uint32(alignUp(uint64(s.lbase)+uint64(caller.local)+uint64(s.room), uint64(max(f.align, 16))))
	// The caller's registers are part of the stack too: a card saves them there.
	saved := 4*uint64(nb.base32) + 8*uint64(nb.base64)
	switch need := uint64(nb.lbase) + uint64(f.local) + saved - firstFrame(m.prog, x.c.g.entry); {
	case need > uint64(m.cfg.MaxLocal):
		m.halt(Stop{Kind: LimitLocal, CTA: w.cta, Warp: w.index, Mask: s.mask, PC: s.pc, Mem: Local, Size: need})
		return
	case len(s.frames) >= MaxCalls:
		m.halt(Stop{Kind: LimitLocal, CTA: w.cta, Warp: w.index, Mask: s.mask, PC: s.pc, Mem: Local})
		return
	}
	w.need(nb.base32+f.n32, nb.base64+f.n64, nb.basep+f.np)
	m.unsetFrame(w, &nb, f, s.mask)
	w.freshFrame(s.mask, uint64(nb.lbase), uint64(f.local), m.owner)
	for i, a := range ci.args {
		x.pass(a, s, f.params[i], &nb)
	}
	s.frames = append(s.frames, fr)
	s.base32, s.base64, s.basep, s.lbase, s.room = nb.base32, nb.base64, nb.basep, nb.lbase, 0
	s.pc = f.entry
	m.enter(w, s)
}

// firstFrame returns the bytes of the kernel's own registers on a stack: they do
// not count against its limit.
func firstFrame(p *Program, e *Entry) uint64 {
	f := &p.funcs[e.fn]
	return 4*uint64(f.n32) + 8*uint64(f.n64)
}

// grow makes room for the registers of the entry's frame.
func (m *Machine) grow(w *warp, s *split, f *function) {
	w.need(s.base32+f.n32, s.base64+f.n64, s.basep+f.np)
}

func (w *warp) need(n32, n64, np int32) {
	if n := int(n32) - len(w.r32); n > 0 {
		w.r32 = append(w.r32, make([][32]uint32, n)...)
	}
	if n := int(n64) - len(w.r64); n > 0 {
		w.r64 = append(w.r64, make([][32]uint64, n)...)
	}
	if n := int(np) - len(w.p); n > 0 {
		w.p = append(w.p, make([]uint32, n)...)
	}
}

// pass copies a value from a place in one frame to a place in another.
func (x *ctx) pass(from place, s *split, to place, n *split) {
	w := x.w
	for l := range lanesOf(s.mask) {
		var b [16]byte
		var buf []byte
		if from.inReg {
			buf = x.laneValue(b[:0], from, s, l)
		} else {
			buf = make([]byte, from.size)
			w.local.read(uint64(l)*w.lsize+uint64(s.lbase+from.off), buf)
			if x.passUnwritten(from, s, to, n, l, buf) {
				if u := x.m.undefined(); u != nil {
					u.passed(x, from, s, to, n, l)
				}
				continue
			}
		}
		if to.inReg {
			w.setLane(to.reg, to.typ, n, l, buf)
		} else {
			if len(buf) > int(to.size) {
				buf = buf[:to.size]
			}
			w.local.put(uint64(l)*w.lsize+uint64(n.lbase+to.off), buf, x.m.owner)
		}
		if u := x.m.undefined(); u != nil {
			u.passed(x, from, s, to, n, l)
		}
	}
}

// passUnwritten copies a frame's range that has unwritten bytes to another frame, where
// these stay unwritten. It returns false if all bytes are written, or if the range goes
// to a register: then it reports the read.
func (x *ctx) passUnwritten(from place, s *split, to place, n *split, l int, buf []byte) bool {
	w := x.w
	off := uint64(l)*w.lsize + uint64(s.lbase+from.off)
	if w.local.initialized(off, uint64(from.size)) {
		return false
	}
	if to.inReg {
		x.readUnwrittenLocal(l, off, int32(from.size))
		if p := x.m.cfg.Poison; p.at(x.s.pc) {
			p.fill(&w.local, off, buf)
		}
		return false
	}
	at := uint64(l)*w.lsize + uint64(n.lbase+to.off)
	for i := range min(len(buf), int(to.size)) {
		w.local.put(at+uint64(i), buf[i:i+1], x.m.owner)
		if !w.local.initialized(off+uint64(i), 1) {
			w.local.forget(at+uint64(i), 1, x.m.owner)
		}
	}
	return true
}

// laneValue appends one lane's register value, low byte first.
func (x *ctx) laneValue(b []byte, p place, s *split, l int) []byte {
	switch {
	case p.typ == pred:
		return append(b, byte(x.w.p[s.basep+int32(p.reg)]>>l&1))
	case p.typ == b128:
		r := x.w.r64[s.base64+int32(p.reg):]
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, r[0][l]), r[1][l])
	case p.typ.wide():
		if p.reg < 0 {
			return binary.LittleEndian.AppendUint64(b, x.k64[^p.reg][l])
		}
		return binary.LittleEndian.AppendUint64(b, x.w.r64[s.base64+int32(p.reg)][l])
	case p.reg < 0:
		return binary.LittleEndian.AppendUint32(b, x.k32[^p.reg][l])
	}
	return binary.LittleEndian.AppendUint32(b, x.w.r32[s.base32+int32(p.reg)][l])[:len(b)+max(int(p.typ.size()), 1)]
}

func (w *warp) setLane(r reg, t typ, s *split, l int, b []byte) {
	var v [16]byte
	copy(v[:], b)
	switch {
	case t == pred:
		w.p[s.basep+int32(r)] = w.p[s.basep+int32(r)]&^(1<<l) | uint32(v[0]&1)<<l
	case t == b128:
		w.r64[s.base64+int32(r)][l] = binary.LittleEndian.Uint64(v[:])
		w.r64[s.base64+int32(r)+1][l] = binary.LittleEndian.Uint64(v[8:])
	case t.wide():
		w.r64[s.base64+int32(r)][l] = binary.LittleEndian.Uint64(v[:])
	default:
		w.r32[s.base32+int32(r)][l] = binary.LittleEndian.Uint32(v[:])
	}
}

// execRet returns the lanes in mask from a function.
func execRet(x *ctx, in *instr, mask uint32) {
	s, w := x.s, x.w
	if mask != s.mask {
		w.divide(s, s.mask&^mask).pc++
	}
	fr := s.frames[len(s.frames)-1]
	f := &x.m.prog.funcs[fr.fn]
	ci := x.m.prog.code[fr.pc].x.(*callInfo)
	for _, n := range f.unsetRets {
		x.readUnset(n, s.mask)
		if u := x.m.undefined(); u != nil {
			u.unwritten(x, n, s.mask)
		}
	}
	back := split{base32: fr.base32, base64: fr.base64, basep: fr.basep, lbase: fr.lbase}
	for i, r := range f.rets {
		x.pass(r, s, ci.rets[i], &back)
	}
	s.frames = s.frames[:len(s.frames)-1]
	s.base32, s.base64, s.basep, s.lbase, s.room = fr.base32, fr.base64, fr.basep, fr.lbase, fr.room
	s.pc = fr.pc + 1
	x.m.enter(w, s).loseCarry(s.mask)
}
