package machine

import (
	"math"
	"math/bits"
	"reflect"
	"slices"

	"muster/internal/flow"
	"muster/ptx"
)

// The transfer functions of strides. If no source of an instruction on registers has
// a stride, its result has none. Else there are rules by opcode: for operations
// linear modulo the register's width, and for those that are linear, or constant, as
// long as nothing wraps, which then bounds n.

func sameExec(a, b execFn) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// A line is the value v + j*p + n*l in period p of launch l (stride.go), as exact integers.
type line struct{ v, j, n int64 }

const far = math.MaxInt64 / 4

// mul and add saturate at far and -far.
func mul(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(abs(a)), uint64(abs(b)))
	if hi != 0 || lo > far {
		lo = far
	}
	if (a < 0) != (b < 0) {
		return -int64(lo)
	}
	return int64(lo)
}

func add(a, b int64) int64 { return max(-far, min(far, max(-far, min(far, a))+max(-far, min(far, b)))) }

func abs(a int64) int64 {
	if a < 0 {
		return -a
	}
	return a
}

// fits reports whether a line stays within lo to hi for every launch and every period,
// where j is the last period of launch 0; it may lower the bound of n for that.
func (s *strides) fits(x line, j, lo, hi int64, pc int32) bool {
	end := add(x.v, mul(x.j, j))
	if min(x.v, end) < lo || max(x.v, end) > hi {
		return false
	}
	most := s.most
	for _, r := range [2]struct{ from, by int64 }{{x.v, x.n}, {end, add(x.n, x.j)}} {
		switch {
		case r.by > 0:
			most = min(most, (hi-r.from)/r.by)
		case r.by < 0:
			most = min(most, (r.from-lo)/-r.by)
		}
	}
	if most < s.least {
		return false
	}
	if most < s.most {
		s.most, s.maxAt = most, Cause{pc, "a register overflows"}
	}
	return true
}

// span returns the least and the greatest value of a line.
func (s *strides) span(x line, j int64) (lo, hi int64) {
	end := add(x.v, mul(x.j, j))
	a, b := add(x.v, mul(x.n, s.most)), add(end, mul(add(x.n, x.j), s.most))
	return min(x.v, end, a, b), max(x.v, end, a, b)
}

// cut reduces a stride modulo the width of a type's register.
func cut(v stride, t typ) stride {
	if v.why == 0 && !t.wide() {
		v.j, v.n = int64(int32(v.j)), int64(int32(v.n))
	}
	return v
}

// plain carries strides through an instruction on registers.
func (s *strides) plain(ws *warpStrides, x *ctx, in *instr, u *flow.Use, mask uint32, base int) {
	for l := range lanesOf(mask & ws.moving(u.Addr)) {
		for _, r := range u.Addr {
			if v := ws.get(r, l); v.why != 0 {
				s.fail(x.s.pc, "an address of the "+Name(u.In)+" depends on "+s.because(v.why))
			} else if v != still && u.Does(ptx.Reads|ptx.Writes) {
				s.fail(x.s.pc, "an address in local or constant memory, of the "+Name(u.In)+", grows with the number of turns")
			}
		}
	}
	if u.Does(ptx.Reads) {
		s.load(ws, x, in, u, mask)
		return
	}
	if s.row != nil && s.row.special[x.s.pc] != still {
		for _, w := range u.Writes {
			ws.put(w, mask, s.row.special[x.s.pc])
		}
		return
	}
	moves := mask & ws.moving(u.Reads)
	for l := range lanesOf(moves) {
		s.moved(ws, x, in, u, l, s.lanes[base+l])
	}
	for _, w := range u.Writes {
		ws.put(w, mask&^moves, still)
	}
}

// moved is plain for a lane in which a source is not still.
func (s *strides) moved(ws *warpStrides, x *ctx, in *instr, u *flow.Use, l int, j int64) {
	why := int32(0)
	for _, r := range u.Reads {
		if v := ws.get(r, l); v.why != 0 {
			why = v.why
		}
	}
	var out stride
	switch {
	case u.Does(ptx.Compares):
		out = s.setp(ws, x, in, u, l, j)
	case len(u.Writes) == 1:
		out = s.result(ws, x, in, u, l, j, why)
	case why != 0:
		out = stride{why: why}
	default:
		out = s.unknown(x.s.pc, Name(u.In)+" of what changes from period to period")
	}
	for _, w := range u.Writes {
		ws.put(w, 1<<l, out)
	}
}

// load carries strides through a load from local memory, constants, or the kernel's
// parameters, which the launch gives.
func (s *strides) load(ws *warpStrides, x *ctx, in *instr, u *flow.Use, mask uint32) {
	a, ok := in.x.(*access)
	for i, w := range u.Writes {
		switch {
		case !u.Launched || !ok:
			ws.put(w, mask, s.unknown(x.s.pc, "a value that is loaded"))
		case a.space == spParam && a.base == baseImm:
			ws.put(w, mask, s.param(x.s.pc, uint64(a.off)+uint64(i)*uint64(a.elem), uint64(a.elem)))
		case a.space == spParam && len(s.params) > 0:
			ws.put(w, mask, s.unknown(x.s.pc, "a parameter that is loaded through a register"))
		default:
			ws.put(w, mask, still)
		}
	}
}

func (s *strides) param(pc int32, off, size uint64) stride {
	for _, p := range s.params {
		switch {
		case off == p.Offset && size == p.Size:
			return stride{n: p.By}
		case off < p.Offset+p.Size && p.Offset < off+size:
			return s.unknown(pc, "a part of the argument")
		}
	}
	return still
}

// A source is an operand of one lane: its value, read as a type, and its stride.
type source struct {
	v int64
	stride
}

func (o source) line() line { return line{o.v, o.j, o.n} }

// source reads row r as type t. Constants have no stride.
func (s *strides) source(ws *warpStrides, x *ctx, r reg, t typ, l int) source {
	var o source
	if t.wide() {
		o.v = int64(x.a64(r)[l])
		if r >= 0 {
			o.stride = ws.r64[r].at(l)
		}
		return o
	}
	v := x.a32(r)[l]
	switch {
	case t == s16:
		o.v = int64(int16(v))
	case t.size() < 4:
		o.v = int64(v & (1<<(8*t.size()) - 1))
	case t.signed():
		o.v = int64(int32(v))
	default:
		o.v = int64(v)
	}
	if r >= 0 {
		o.stride = ws.r32[r].at(l)
	}
	return o
}

// limits returns the range of an integer type; for 64 bits, the part within which
// the arithmetic here is exact.
func limits(t typ) (lo, hi int64) {
	switch {
	case t.wide() && t.signed():
		return -far + 1, far - 1
	case t.wide():
		return 0, far - 1
	case t == s32:
		return math.MinInt32, math.MaxInt32
	case t.size() == 4:
		return 0, math.MaxUint32
	}
	return 0, 0
}

// linear reports whether the rules of result know all modifiers of an instruction: the
// types of integers, and few more.
func linear(in *ptx.Inst) bool {
	return !slices.ContainsFunc(in.Mods, func(m string) bool {
		t, ok := typNames[m]
		switch {
		case ok:
			return !t.integer() && t != pred
		case m == "lo", m == "hi", m == "wide":
			return in.Op != "mul" && in.Op != "mad"
		}
		return in.Op != "cvta" // to a space
	})
}

// result returns the stride of the only destination of an instruction whose sources
// change.
func (s *strides) result(ws *warpStrides, x *ctx, in *instr, u *flow.Use, l int, j int64, why int32) stride {
	op, pc := u.In.Op, x.s.pc
	t := lastType(u.In)
	lost := func() stride {
		if why != 0 {
			return stride{why: why}
		}
		return s.unknown(pc, Name(u.In)+" of what changes from period to period")
	}
	if !linear(u.In) {
		return lost()
	}
	if t == pred {
		return s.logic(ws, x, in, u, l)
	}
	if t.size() < 4 && op != "cvt" {
		return lost()
	}
	get := func(r reg, t typ) source { return s.source(ws, x, r, t, l) }
	switch op {
	case "mov", "cvta":
		if len(u.Reads) == 1 && len(u.In.Operands) == 2 && !movesVector(u) {
			_, from := u.In.Operands[1].(*ptx.Vector)
			_, to := u.In.Operands[0].(*ptx.Vector)
			if !from && !to {
				return ws.get(u.Reads[0], l)
			}
		}
		return lost()
	case "selp":
		if ws.p[in.c].at(l) != still {
			return lost()
		}
		if x.p[in.c]>>l&1 != 0 {
			return get(in.a, t).stride
		}
		return get(in.b, t).stride
	case "cvt":
		return s.cvt(ws, x, in, u, l, j, lost)
	case "neg", "not", "mul", "mad", "add", "sub", "shl", "shr", "and", "or", "xor", "div", "rem", "min", "max", "bfe":
	default:
		return lost()
	}
	a := get(in.a, t)
	if a.why != 0 {
		return lost()
	}
	switch op {
	case "neg", "not": // ^a is -1-a
		return cut(stride{j: -a.j, n: -a.n}, t)
	}
	if op == "mul" || op == "mad" {
		return s.product(ws, x, in, u, l, j, lost)
	}
	if op == "bfe" {
		// The field lies below all bits that change.
		at, n := get(in.b, u32), get(in.c, u32)
		if at.stride == still && n.stride == still && int64(bits.TrailingZeros64(uint64(a.j|a.n))) >= at.v&0xff+n.v&0xff {
			return still
		}
		return lost()
	}
	if len(u.In.Operands) != 3 {
		return lost()
	}
	bt := t
	if op == "shl" || op == "shr" {
		bt = u32
	}
	b := get(in.b, bt)
	if b.why != 0 {
		return lost()
	}
	switch op {
	case "add":
		return cut(stride{j: a.j + b.j, n: a.n + b.n}, t)
	case "sub":
		return cut(stride{j: a.j - b.j, n: a.n - b.n}, t)
	case "shl":
		if b.stride != still || b.v >= int64(t.size())*8 {
			return lost()
		}
		return cut(stride{j: a.j << b.v, n: a.n << b.v}, t)
	case "and", "or", "xor":
		if a.stride == still {
			a, b = b, a
		}
		if b.stride != still {
			return lost()
		}
		c := uint64(b.v)
		if op == "and" && c == 1 && (a.j|a.n)&1 != 0 {
			return stride{j: a.j & 1, n: a.n & 1, why: lost().why}
		}
		if top := bits.Len64(c); op == "and" && top > 16 && top < 62 && s.fits(a.line(), j, 0, 1<<top-1, pc) {
			c |= ^uint64(0) << top // no bit there is ever set
		}
		return bitwise(op, a, c, t, lost)
	}
	lo, hi := limits(t)
	if !s.fits(a.line(), j, lo, hi, pc) || !s.fits(b.line(), j, lo, hi, pc) {
		return lost()
	}
	switch op {
	case "shr":
		if b.stride == still && b.v < int64(t.size())*8 && b.v < 62 {
			return s.quotient(a, 1<<b.v, j, true, pc, lost)
		}
	case "div":
		if b.stride == still && b.v > 0 {
			return s.quotient(a, b.v, j, false, pc, lost)
		}
	case "rem":
		if q := s.quotient(a, b.v, j, false, pc, func() stride { return stride{why: 1 << 30} }); b.stride == still && b.v > 0 && q.why == 0 {
			return stride{j: a.j - q.j*b.v, n: a.n - q.n*b.v}
		}
	case "min", "max":
		d := line{a.v - b.v, a.j - b.j, a.n - b.n}
		first, known := s.sign(d, j)
		if !known && s.row != nil {
			first, known = s.less(d, pc)
		}
		if known && (first <= 0) == (op == "min") {
			return a.stride
		} else if known {
			return b.stride
		}
	}
	return lost()
}

// bitwise applies and, or or xor with a constant that affects only bits that never
// change, or keeps only these.
func bitwise(op string, a source, c uint64, t typ, lost func() stride) stride {
	width := uint(t.size()) * 8
	if width < 64 {
		c &= 1<<width - 1
	}
	if op == "xor" && c == 1<<width-1 {
		return cut(stride{j: -a.j, n: -a.n}, t)
	}
	low := uint(bits.TrailingZeros64(uint64(a.j | a.n))) // the bits below do not change
	if op == "and" {
		if low >= uint(bits.Len64(c)) {
			return still
		}
		c = ^c
		if width < 64 {
			c &= 1<<width - 1
		}
	}
	if low >= uint(bits.Len64(c)) {
		return a.stride
	}
	return lost()
}

// quotient returns the stride of a divided by a positive constant, rounded down; unless
// down is set, a must not be negative. With a = q*by + r, the growth of r must stay below
// by: so a division by multiplication with the reciprocal is covered, too.
func (s *strides) quotient(a source, by, j int64, down bool, pc int32, lost func() stride) stride {
	lo, hi := s.span(a.line(), j)
	if by <= 0 || !down && lo < 0 {
		return lost()
	}
	if floor(lo, by) == floor(hi, by) {
		return still
	}
	qj, qn := floor(a.j+by/2, by), floor(a.n+by/2, by)
	rest := line{a.v - by*floor(a.v, by), a.j - qj*by, a.n - qn*by}
	if s.fits(rest, j, 0, by-1, pc) {
		return stride{j: qj, n: qn}
	}
	return lost()
}

func floor(a, by int64) int64 {
	q := a / by
	if a%by < 0 {
		q--
	}
	return q
}

// product carries strides through mul and mad, lo and wide.
func (s *strides) product(ws *warpStrides, x *ctx, in *instr, u *flow.Use, l int, j int64, lost func() stride) stride {
	t := lastType(u.In)
	wide, high := has(u.In, "wide"), has(u.In, "hi")
	if high && (t.wide() || u.In.Op == "mad") {
		return lost()
	}
	a, b := s.source(ws, x, in.a, t, l), s.source(ws, x, in.b, t, l)
	if a.stride == still {
		a, b = b, a
	}
	if a.why != 0 || b.stride != still {
		return lost()
	}
	lo, hi := limits(t)
	if (wide || high) && a.stride != still && !s.fits(a.line(), j, lo, hi, x.s.pc) {
		return lost()
	}
	if high {
		p := source{a.v * b.v, stride{j: a.j * b.v, n: a.n * b.v}}
		if !s.fits(p.line(), j, -far+1, far-1, x.s.pc) {
			return lost()
		}
		return s.quotient(p, 1<<32, j, true, x.s.pc, lost)
	}
	rt := t
	if wide {
		rt = t.widened()
	}
	out := cut(stride{j: a.j * b.v, n: a.n * b.v}, rt)
	if u.In.Op == "mad" {
		c := s.source(ws, x, in.c, rt, l)
		if c.why != 0 {
			return lost()
		}
		out = cut(stride{j: out.j + c.j, n: out.n + c.n}, rt)
	}
	return out
}

// cvt converts integers: to a wider type as long as nothing wraps, to a narrower one
// modulo its width.
func (s *strides) cvt(ws *warpStrides, x *ctx, in *instr, u *flow.Use, l int, j int64, lost func() stride) stride {
	var types []typ
	for _, m := range u.In.Mods {
		if t, ok := typNames[m]; ok {
			types = append(types, t)
		}
	}
	if len(types) != 2 {
		return lost()
	}
	d, t := types[0], types[1]
	v := ws.get(u.Reads[0], l)
	if v.why != 0 {
		return lost()
	}
	if n := min(d.size(), t.size()); n < 4 {
		// The result is still if all bits that change are cut off.
		if uint(bits.TrailingZeros64(uint64(v.j|v.n))) >= 8*uint(n) {
			return still
		}
		return lost()
	}
	wide := u.Reads[0].Class() == flow.Wide
	if t.size() == 4 && wide || d.size() <= t.size() {
		v = cut(v, d)
		if d.size() <= 4 && u.Writes[0].Class() == flow.Wide {
			return lost() // into a wider register
		}
		if d.size() <= t.size() {
			return v
		}
		return lost()
	}
	lo, hi := limits(t)
	a := s.source(ws, x, in.a, t, l)
	if !s.fits(a.line(), j, lo, hi, x.s.pc) {
		return lost()
	}
	return v
}

// sign returns the sign of a line, if it is the same in all periods and launches.
func (s *strides) sign(x line, j int64) (sign int, known bool) {
	switch lo, hi := s.span(x, j); {
	case lo == 0 && hi == 0:
		return 0, true
	case lo > 0:
		return 1, true
	case hi < 0:
		return -1, true
	}
	return 0, false
}

// logic carries strides through operations on predicates: if one operand decides the
// result of and or or, the other does not matter.
func (s *strides) logic(ws *warpStrides, x *ctx, in *instr, u *flow.Use, l int) stride {
	why := int32(0)
	for _, r := range u.Reads {
		row := r.Row()
		if r.Class() != flow.Predicate {
			return ws.get(r, l)
		}
		if w := ws.p[row].at(l).why; w != 0 {
			why = w
		}
	}
	if u.In.Op == "and" || u.In.Op == "or" {
		for _, r := range []reg{in.a, in.b} {
			if r >= 0 && ws.p[r].at(l) == still && (x.p[r]>>l&1 != 0) == (u.In.Op == "or") {
				return still
			}
		}
	}
	return stride{why: why}
}

// setp compares: the result must be the same in all periods and launches.
func (s *strides) setp(ws *warpStrides, x *ctx, in *instr, u *flow.Use, l int, j int64) stride {
	out := s.compared(ws, x, in, u, lastType(u.In), l, j)
	info, ok := in.x.(*setpInfo)
	if !ok || info.combine == nil {
		return out
	}
	c := ws.p[info.c].at(l).why
	set := x.p[info.c]>>l&1 != 0
	switch {
	case c == 0 && out.why == 0:
		return still
	case c == 0 && (has(u.In, "and") && !set || has(u.In, "or") && set):
		if info.second == noGuard {
			return still
		}
	case c == 0:
		return out
	}
	return stride{why: max(c, out.why)}
}

func (s *strides) compared(ws *warpStrides, x *ctx, in *instr, u *flow.Use, t typ, l int, j int64) stride {
	pc := x.s.pc
	if !t.integer() || t.size() < 4 {
		for _, r := range u.Reads {
			if v := ws.get(r, l); r.Class() != flow.Predicate && v != still {
				if v.why != 0 {
					return stride{why: v.why}
				}
				return s.unknown(pc, Name(u.In)+" of what changes from period to period")
			}
		}
		return still
	}
	a, b := s.source(ws, x, in.a, t, l), s.source(ws, x, in.b, t, l)
	for _, o := range []source{a, b} {
		if o.why != 0 {
			return stride{why: o.why}
		}
	}
	if a.stride == still && b.stride == still {
		return still
	}
	name, cmp := "", ""
	for _, m := range u.In.Mods {
		switch m {
		case "eq", "ne":
			name, cmp = m, "is"
		case "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs":
			name, cmp = m, "is below"
		}
	}
	lo, hi := limits(t)
	if t == b32 || t == b64 {
		lo, hi = limits(map[bool]typ{false: u32, true: u64}[t == b64])
	}
	text := "a comparison that does not come out the same for every number of turns"
	if b.stride == still {
		text = sprint("whether what grows %s %d", cmp, b.v)
	} else if a.stride == still {
		text = sprint("whether %d %s what grows", a.v, cmp)
	}
	if !s.fits(a.line(), j, lo, hi, pc) || !s.fits(b.line(), j, lo, hi, pc) {
		return s.unknown(pc, text+", once it has wrapped")
	}
	least, most := s.span(line{a.v - b.v, a.j - b.j, a.n - b.n}, j)
	known := false
	switch name {
	case "lt", "ge", "lo", "hs":
		known = most < 0 || least >= 0
	case "le", "gt", "ls", "hi":
		known = most <= 0 || least > 0
	case "eq", "ne":
		known = most < 0 || least > 0 || least == 0 && most == 0
	}
	if known || s.row != nil && s.stays(line{v: a.v - b.v, n: a.n - b.n}, name, pc) {
		return still
	}
	return s.unknown(pc, text)
}

// point carries strides to a visible instruction: its operands must not change, except
// addresses in global memory, coordinates of tensors and data.
func (s *strides) point(ws *warpStrides, x *ctx, in *instr, u *flow.Use, mask uint32, base int) {
	for l := range lanesOf(mask) {
		p := &s.last[base+l]
		p.pc, p.n, p.turns = x.s.pc, 0, false
		for _, r := range u.Addr {
			s.address(ws, x, in, u, r, l, base+l)
		}
	}
	for l := range lanesOf(mask & ws.moving(s.told[x.s.pc])) {
		s.tell(ws, x, in, u, l, base+l)
	}
	s.gives(ws, x, u, mask)
}

// address takes a register that is part of an address.
func (s *strides) address(ws *warpStrides, x *ctx, in *instr, u *flow.Use, r flow.Reg, l, lane int) {
	pc, p, v := x.s.pc, &s.last[lane], ws.get(r, l)
	switch {
	case v.why != 0:
		s.fail(pc, "an address of the "+Name(u.In)+" depends on "+s.because(v.why))
	case slices.Contains(u.Coords, r):
		p.note(uint64(x.r32[r.Row()][l]), v, true)
		if at := (line{int64(int32(x.r32[r.Row()][l])), v.j, v.n}); v != still && !s.fits(at, s.lanes[lane], math.MinInt32, math.MaxInt32, pc) {
			s.fail(pc, "a coordinate of the "+Name(u.In)+" overflows")
		}
	case globalAddress(x, in, r, l):
		p.note(x.r64[r.Row()][l], v, false)
	case v != still && in.stridesBy(r):
		s.fail(pc, "the stride of the "+Name(u.In)+" grows with the number of turns")
	case v != still:
		s.fail(pc, "an address in shared memory, of the "+Name(u.In)+", grows with the number of turns")
	}
}

// tell takes a register that tells a lane's instruction what to do.
func (s *strides) tell(ws *warpStrides, x *ctx, in *instr, u *flow.Use, l, lane int) {
	pc := x.s.pc
	mi, ok := in.x.(*mbarInfo)
	parity := ok && mi.parity && u.Does(ptx.Tests)
	for _, r := range s.told[pc] {
		switch v := ws.get(r, l); {
		case v == still:
		case parity && v.bit() && r.Class() == flow.Word && reg(r.Row()) == in.b && s.inTurns(v, lane):
			s.last[lane].turns = true
		case v.why != 0 && s.causes[v.why].Text == tokenText && u.Does(ptx.Tests):
		case v.why != 0:
			s.fail(pc, "an operand of the "+Name(u.In)+" depends on "+s.because(v.why))
		default:
			s.fail(pc, "an operand of the "+Name(u.In)+" grows with the number of turns")
		}
	}
}

// inTurns reports whether a bit flips exactly with each period, or, past the periods,
// exactly with each launch.
func (s *strides) inTurns(v stride, lane int) bool {
	switch s.modes[lane].mode {
	case body:
		return v.j == 1 && v.n == 0
	case after:
		return v.j == 0 && v.n == 1
	}
	return false
}

const tokenText = "a token"

func (p *point) note(at uint64, by stride, coordinate bool) {
	if p.n < len(p.at) {
		p.at[p.n], p.by[p.n], p.from[p.n] = at, by, coordinate
		p.n++
	}
}

// globalAddress reports whether an address register points to global memory. A
// shared address, in whatever window, is below 2^32 or above the first window.
func globalAddress(x *ctx, in *instr, r flow.Reg, l int) bool {
	if r.Class() != flow.Wide {
		return false
	}
	if a, ok := in.x.(*access); ok && a.space != spGlobal && a.space != spGeneric {
		return false
	}
	v := x.r64[r.Row()][l]
	return v >= 1<<32 && v < sharedWindow
}

// told lists the registers that tell a visible instruction, or a collective, what
// to do: all that it reads, except data.
func told(u *flow.Use) []flow.Reg {
	list, _ := u.Commands()
	if u.Does(ptx.Warpgroup) { // scale-d is data
		list = slices.DeleteFunc(slices.Clone(list), func(r flow.Reg) bool { return r.Class() == flow.Predicate })
	}
	return list
}

// gives sets the strides of what a visible instruction or a collective returns.
func (s *strides) gives(ws *warpStrides, x *ctx, u *flow.Use, mask uint32) {
	if len(u.Writes) == 0 {
		return
	}
	out := still
	switch {
	case u.Does(ptx.Elects | ptx.Tests), s.row != nil && u.Does(ptx.GivesToken):
	case s.addresses[x.s.pc]:
	case u.Does(ptx.GivesToken | ptx.CountsPending):
		out = s.unknown(x.s.pc, tokenText)
	case u.Does(ptx.Reads) && !u.Does(ptx.Updates):
		out = s.unknown(x.s.pc, "a value that is loaded")
	case u.Does(ptx.Exchanges):
		out, mask = s.exchanged(ws, x, u, mask)
	default:
		out = s.unknown(x.s.pc, "what the "+Name(u.In)+" returns")
	}
	for _, w := range u.Writes {
		ws.put(w, mask, out)
	}
}

// exchanged returns the stride of values that lanes exchange, and the lanes that get them:
// it is known only if all of the warp stand together, and none of their operands changes.
// In a row, lanes that came before the last are given it with them.
func (s *strides) exchanged(ws *warpStrides, x *ctx, u *flow.Use, mask uint32) (stride, uint32) {
	lost, there := s.unknown(x.s.pc, "what the "+Name(u.In)+" returns"), x.s.mask
	if s.row != nil && u.Guard == flow.NoReg {
		for _, o := range x.w.splits {
			if o.pc == x.s.pc {
				there |= o.mask
			}
		}
		mask = there
	}
	if there != x.w.live || s.row == nil && there&s.idle[x.w.cta*x.m.warps+x.w.index] != 0 {
		return lost, mask
	}
	moving := there & ws.moving(u.Reads)
	if moving == 0 {
		return still, mask
	}
	for _, r := range u.Reads {
		if v := ws.get(r, lowest(moving)); v.why != 0 {
			return stride{why: v.why}, mask
		}
	}
	return lost, mask
}
