package machine

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"sort"
	"strings"

	"muster/ptx"
)

// Control flow: branches, calls and exits, and the few functions that every
// module may call without defining them.

var controlDecoders = map[string]decodeFn{
	"bra":       decodeBra,
	"brx":       decodeBrx,
	"call":      decodeCall,
	"ret":       decodeRet,
	"exit":      decodeExit,
	"trap":      decodeTrap,
	"brkpt":     decodeNothing,
	"pmevent":   decodeNothing,
	"nanosleep": decodeNanosleep,
}

// lanesOf yields the lanes of a mask, lowest first.
func lanesOf(mask uint32) iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; mask != 0; mask &= mask - 1 {
			if !yield(bits.TrailingZeros32(mask)) {
				return
			}
		}
	}
}

func (d *decoder) label(op ptx.Operand) (*symbol, error) {
	n, ok := op.(ptx.Name)
	if !ok {
		return nil, d.errorf("branch target must be a label")
	}
	y := d.scope.find(string(n))
	if y == nil || y.kind != symLabel {
		return nil, d.errorf("label %s is not defined in this scope", n)
	}
	return y, nil
}

func decodeBra(d *decoder, in *ptx.Inst) error {
	if len(in.Operands) != 1 {
		return d.errorf("bra takes one label")
	}
	y, err := d.label(in.Operands[0])
	if err != nil {
		return err
	}
	pc := int32(len(d.prog.code))
	d.emit(instr{class: branch, exec: execBra})
	d.fixups = append(d.fixups, fixup{pc: pc, label: y, set: func(t int32) { d.prog.code[pc].target = t }})
	return nil
}

func execBra(x *ctx, in *instr, mask uint32) {
	s := x.s
	if mask == s.mask {
		s.pc = in.target
		return
	}
	x.w.divide(s, mask).pc = in.target
	s.pc++
}

// decodeBrx decodes a branch through a table: brx.idx %r, targets.
func decodeBrx(d *decoder, in *ptx.Inst) error {
	if len(in.Operands) != 2 {
		return d.errorf("brx.idx takes an index and a list of targets")
	}
	idx, err := d.src(in.Operands[0], u32)
	if err != nil {
		return err
	}
	n, _ := in.Operands[1].(ptx.Name)
	y := d.scope.find(string(n))
	if y == nil || y.kind != symList {
		return d.errorf("%s is no .branchtargets list", n)
	}
	list := y.list
	targets := make([]int32, len(list.Names))
	pc := int32(len(d.prog.code))
	for i, name := range list.Names {
		y, err := d.label(ptx.Name(name))
		if err != nil {
			return err
		}
		d.fixups = append(d.fixups, fixup{pc: pc, label: y, set: func(t int32) { targets[i] = t }})
	}
	d.emit(instr{class: branch, exec: execBrx, a: idx, x: targets})
	return nil
}

func execBrx(x *ctx, in *instr, mask uint32) {
	s, row, targets := x.s, x.a32(in.a), in.x.([]int32)
	if mask != s.mask {
		x.w.divide(s, s.mask&^mask).pc++
	}
	for rest := s.mask; rest != 0; {
		v := row[lowest(rest)]
		same := uint32(0)
		for l := range lanesOf(rest) {
			if row[l] == v {
				same |= 1 << l
			}
		}
		if int(v) >= len(targets) {
			x.m.halt(Stop{Kind: FaultOther, CTA: x.w.cta, Warp: x.w.index, Mask: same, PC: s.pc, Mem: Local,
				Msg: fmt.Sprintf("brx.idx with index %d of %d targets", v, len(targets))})
			return
		}
		rest &^= same
		if rest == 0 {
			s.pc = targets[v]
			return
		}
		x.w.divide(s, same).pc = targets[v]
	}
}

func decodeRet(d *decoder, in *ptx.Inst) error {
	if d.fn.decl.Entry {
		return decodeExit(d, in)
	}
	d.emit(instr{class: branch, exec: execRet})
	return nil
}

func decodeExit(d *decoder, in *ptx.Inst) error {
	d.emit(instr{class: visible, visit: visitExit})
	return nil
}

// visitExit ends lanes, and the CTA with its last one.
func visitExit(x *ctx, in *instr, mask uint32) verdict {
	m, w, t := x.m, x.w, x.c
	w.live &^= mask
	w.drop(x.s)
	t.live -= int32(bits.OnesCount32(mask))
	m.emit(Event{Kind: EvExit, CTA: w.cta, Warp: w.index, Mask: mask, PC: x.s.pc})
	m.laneGone(t, w)
	if t.live == 0 {
		m.endCTA(t)
	}
	return halted
}

func (m *Machine) endCTA(t *cta) {
	t.ended = true
	m.ended++
	for i, idx := range m.running {
		if idx == t.index {
			m.running = append(m.running[:i], m.running[i+1:]...)
			break
		}
	}
	m.emit(Event{Kind: EvEnd, CTA: t.index})
	for r := int32(0); r < m.csize; r++ {
		if !m.ctas[m.clusterMember(t.first, r)].ended {
			return
		}
	}
	// The cluster's memory goes when its last CTA has ended and nothing in
	// flight reaches it.
	m.resident -= m.csize
	m.dead = append(m.dead, t.first)
	m.reap()
}

// reap frees the memory of ended clusters that no operation in flight uses.
func (m *Machine) reap() {
	keep := m.dead[:0]
	for _, first := range m.dead {
		if m.inFlight(first) {
			keep = append(keep, first)
			continue
		}
		for r := int32(0); r < m.csize; r++ {
			m.ctas[m.clusterMember(first, r)] = nil
		}
	}
	m.dead = keep
}

func (m *Machine) inFlight(first int32) bool {
	for _, op := range m.ops {
		if t := m.ctas[op.CTA]; t != nil && t.first == first {
			return true
		}
	}
	return false
}

func decodeTrap(d *decoder, in *ptx.Inst) error {
	d.emit(instr{class: visible, visit: visitTrap})
	return nil
}

func visitTrap(x *ctx, in *instr, mask uint32) verdict {
	kind := FaultTrap
	if x.s.gaveUp > 0 {
		// The trap is the far end of a bounded wait that nothing ended: what
		// went wrong is the wait.
		kind = Deadlock
	}
	return x.m.halt(Stop{Kind: kind, CTA: x.w.cta, Warp: x.w.index, Lane: int8(lowest(mask)), Mask: mask, PC: x.s.pc, Mem: Local})
}

func decodeNothing(d *decoder, in *ptx.Inst) error {
	d.emit(instr{class: plain, exec: func(*ctx, *instr, uint32) {}})
	return nil
}

func decodeNanosleep(d *decoder, in *ptx.Inst) error {
	if len(in.Operands) != 1 {
		return d.errorf("nanosleep takes one operand")
	}
	r, err := d.src(in.Operands[0], u32)
	if err != nil {
		return err
	}
	d.emit(instr{class: plain, exec: execNanosleep, a: r})
	return nil
}

func execNanosleep(x *ctx, in *instr, mask uint32) {
	x.m.clock += int64(x.a32(in.a)[lowest(mask)])
}

func visitUnmodelled(x *ctx, in *instr, mask uint32) verdict {
	return x.m.halt(Stop{Kind: Unmodelled, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc, Mem: Local, Msg: Name(in.src)})
}

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
	case y != nil && y.kind == symReg && y.typ.wide():
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
		if f.decl.Body == nil && f.builtin == nil {
			return errNotModelled
		}
		if len(ci.args) != len(f.params) || len(ci.rets) != len(f.rets) {
			return d.errorf("call of %s with %d arguments and %d results; it takes %d and gives %d", n, len(ci.args), len(ci.rets), len(f.params), len(f.rets))
		}
	}
	d.fn.calls = append(d.fn.calls, ci.fn)
	d.emit(instr{class: branch, exec: execCall, x: &ci})
	return nil
}

// stack returns how much local memory a thread can come to use: limit if
// calls by address or in a circle leave that open.
func (p *Program) stack(limit uint64) uint64 {
	need := make([]uint64, len(p.funcs))
	open := make([]bool, len(p.funcs))
	var of func(i int32) uint64
	of = func(i int32) uint64 {
		switch {
		case i < 0 || open[i]:
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
				out = append(out, place{inReg: true, reg: y.reg, typ: y.typ})
				continue
			case y.kind == symLocal || y.kind == symFormal:
				out = append(out, place{off: uint32(y.addr), size: uint32(y.size), typ: y.typ})
				continue
			}
			return nil, d.errorf("%s cannot be passed", n)
		}
		// A constant has as many bytes as its parameter takes of it.
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

// call enters function fn for the lanes of the split.
func (x *ctx) call(ci *callInfo, fn int32) {
	m, w, s := x.m, x.w, x.s
	f := &m.prog.funcs[fn]
	if f.builtin != nil {
		f.builtin(x, ci)
		s.pc++
		return
	}
	caller := &m.prog.funcs[m.prog.code[s.pc].fn]
	fr := frame{pc: s.pc, fn: fn, base32: s.base32, base64: s.base64, basep: s.basep, lbase: s.lbase}
	nb := *s
	nb.base32 += caller.n32
	nb.base64 += caller.n64
	nb.basep += caller.np
	nb.lbase = uint32(alignUp(uint64(s.lbase)+uint64(caller.local), uint64(max(f.align, 16))))
	// The caller's registers are part of the stack too: a card saves them there.
	saved := 4*uint64(nb.base32) + 8*uint64(nb.base64)
	if uint64(nb.lbase)+uint64(f.local)+saved > uint64(m.cfg.MaxLocal)+firstFrame(m.prog) || len(s.frames) >= 1<<14 {
		m.halt(Stop{Kind: LimitLocal, CTA: w.cta, Warp: w.index, Mask: s.mask, PC: s.pc, Mem: Local})
		return
	}
	w.need(nb.base32+f.n32, nb.base64+f.n64, nb.basep+f.np)
	for i, a := range ci.args {
		x.pass(a, s, f.params[i], &nb)
	}
	s.frames = append(s.frames, fr)
	s.base32, s.base64, s.basep, s.lbase = nb.base32, nb.base64, nb.basep, nb.lbase
	s.pc = f.entry
	m.enter(w, s)
}

// firstFrame is what the kernel's own registers take of a stack: they do not
// count against its limit.
func firstFrame(p *Program) uint64 {
	f := &p.funcs[0]
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
		}
		if to.inReg {
			w.setLane(to.reg, to.typ, n, l, buf)
		} else {
			if len(buf) > int(to.size) {
				buf = buf[:to.size]
			}
			w.local.put(uint64(l)*w.lsize+uint64(n.lbase+to.off), buf, x.m.owner)
		}
	}
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
	back := split{base32: fr.base32, base64: fr.base64, basep: fr.basep, lbase: fr.lbase}
	for i, r := range f.rets {
		x.pass(r, s, ci.rets[i], &back)
	}
	s.frames = s.frames[:len(s.frames)-1]
	s.base32, s.base64, s.basep, s.lbase = fr.base32, fr.base64, fr.basep, fr.lbase
	s.pc = fr.pc + 1
	x.m.enter(w, s)
}

// A builtin is a function that the system provides.
type builtin func(x *ctx, ci *callInfo)

var builtins = map[string]builtin{
	"vprintf":      callPrintf,
	"__assertfail": callAssert,
}

// argument returns one lane's argument as bits.
func (x *ctx) argument(ci *callInfo, i, lane int) uint64 {
	var v [16]byte
	p := ci.args[i]
	if p.inReg {
		x.laneValue(v[:0], p, x.s, lane)
	} else {
		x.w.local.read(uint64(lane)*x.w.lsize+uint64(x.s.lbase+p.off), v[:min(p.size, 16)])
	}
	return binary.LittleEndian.Uint64(v[:])
}

func callPrintf(x *ctx, ci *callInfo) {
	if len(ci.args) < 2 {
		return
	}
	for l := range lanesOf(x.s.mask) {
		format := x.cString(x.argument(ci, 0, l), l)
		x.m.out = append(x.m.out, x.format(format, x.argument(ci, 1, l), l)...)
		if len(x.m.out) > maxOutput {
			x.m.out = x.m.out[:maxOutput]
		}
	}
	if len(ci.rets) > 0 {
		var s [4]byte
		for l := range lanesOf(x.s.mask) {
			r := ci.rets[0]
			if r.inReg {
				x.w.setLane(r.reg, r.typ, x.s, l, s[:])
			} else {
				x.w.local.put(uint64(l)*x.w.lsize+uint64(x.s.lbase+r.off), s[:min(r.size, 4)], x.m.owner)
			}
		}
	}
}

const (
	maxOutput = 1 << 20
	maxString = 1 << 12
)

// cString reads a zero-terminated string at a generic address as one lane
// sees it.
func (x *ctx) cString(addr uint64, lane int) string {
	var b []byte
	for len(b) < maxString {
		v := x.readByte(addr+uint64(len(b)), lane)
		if v == 0 {
			break
		}
		b = append(b, v)
	}
	return string(b)
}

// A printer renders printf's arguments, which stand in a packed buffer, each
// aligned to its size.
type printer struct {
	x    *ctx
	args uint64
	lane int
	out  []byte
}

func (p *printer) next(size uint64) uint64 {
	p.args = alignUp(p.args, size)
	var v uint64
	for i := range size {
		v |= uint64(p.x.readByte(p.args+i, p.lane)) << (8 * i)
	}
	p.args += size
	return v
}

// format renders a format of C's printf with the arguments at args.
func (x *ctx) format(f string, args uint64, lane int) []byte {
	p := &printer{x: x, args: args, lane: lane}
	for i := 0; i < len(f); i++ {
		if f[i] != '%' || i+1 == len(f) {
			p.out = append(p.out, f[i])
			continue
		}
		j := i + 1
		for j < len(f) && !isVerb(f[j]) {
			j++
		}
		if j == len(f) {
			return append(p.out, f[i:]...)
		}
		p.verb(f[i+1:j], f[j])
		i = j
	}
	return p.out
}

// verb renders one conversion: flags, width, precision and length are in mods.
func (p *printer) verb(mods string, verb byte) {
	spec, size := "%", uint64(4)
	for _, c := range []byte(mods) {
		switch c {
		case 'l', 'z', 'j', 't', 'q':
			size = 8
		case 'h':
		case '*':
			spec += fmt.Sprint(int32(p.next(4)))
		default:
			spec += string(c)
		}
	}
	switch verb {
	case '%':
		p.out = append(p.out, '%')
	case 'd', 'i':
		n := int64(p.next(size))
		if size == 4 {
			n = int64(int32(n))
		}
		p.out = fmt.Appendf(p.out, spec+"d", n)
	case 'u':
		p.out = fmt.Appendf(p.out, spec+"d", p.next(size))
	case 'x', 'X', 'o':
		p.out = fmt.Appendf(p.out, spec+string(verb), p.next(size))
	case 'c':
		p.out = fmt.Appendf(p.out, spec+"s", string([]byte{byte(p.next(4))}))
	case 'p':
		p.out = fmt.Appendf(p.out, "%#x", p.next(8))
	case 's':
		p.out = fmt.Appendf(p.out, spec+"s", p.x.cString(p.next(8), p.lane))
	default:
		p.float(spec, verb, math.Float64frombits(p.next(8)))
	}
}

// float renders a floating-point conversion, where Go's verbs differ from C's.
func (p *printer) float(spec string, verb byte, v float64) {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		text := strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+"))
		if verb >= 'A' && verb <= 'Z' {
			text = strings.ToUpper(text)
		}
		width, _, _ := strings.Cut(spec[1:], ".")
		p.out = fmt.Appendf(p.out, "%"+strings.TrimLeft(width, "0")+"s", text)
		return
	}
	switch verb {
	case 'g', 'G':
		if !strings.Contains(spec, ".") {
			spec += ".6"
		}
	case 'a':
		verb = 'x'
	case 'A':
		verb = 'X'
	}
	p.out = fmt.Appendf(p.out, spec+string(verb), v)
}

func isVerb(c byte) bool { return strings.IndexByte("diuxXocpsfFeEgGaA%", c) >= 0 }

// readByte reads a byte at a generic address as one lane sees it.
func (x *ctx) readByte(addr uint64, lane int) byte {
	if a := addr - localWindow; a < windowSize {
		if a >= x.w.lsize {
			return 0
		}
		return byte(x.w.local.load(uint64(lane)*x.w.lsize+a, 1))
	}
	mem, a, ok := x.resolve(spGeneric, addr)
	if !ok {
		return 0
	}
	v, _ := x.m.Peek(mem, a, 1)
	return byte(v)
}

// callAssert is __assertfail(message, file, line, function, charsize).
func callAssert(x *ctx, ci *callInfo) {
	if len(ci.args) < 4 {
		return
	}
	l := lowest(x.s.mask)
	msg := fmt.Sprintf("%s:%d: %s: assertion `%s' failed", x.cString(x.argument(ci, 1, l), l), uint32(x.argument(ci, 2, l)),
		x.cString(x.argument(ci, 3, l), l), x.cString(x.argument(ci, 0, l), l))
	x.m.halt(Stop{Kind: FaultAssert, CTA: x.w.cta, Warp: x.w.index, Lane: int8(l), Mask: x.s.mask, PC: x.s.pc, Mem: Local, Msg: msg})
}

func sortRegions(r []region) {
	sort.Slice(r, func(i, j int) bool { return r[i].base < r[j].base })
}
