package machine

import (
	"math/bits"
	"strings"

	"muster/internal/flow"
	"muster/internal/num"
	"muster/ptx"
)

// The transfer functions of undefined bits, from the operands of an instruction on
// registers to its results. They are exact, or nearly so, for instructions that move
// bits, combine them bit by bit, carry only upwards or compare; for any other, one
// undefined bit makes all results undefined.

// gives says whether an instruction introduces an undefined value.
type gives uint8

const (
	nothingElse      gives = iota
	undefinedValue         // the ISA leaves it undefined: %pm
	unknownValue           // the driver or the chip decides
	workspaceAddress       // unknownValue, but in a cooperative launch
	unknownAddress         // unknownValue, and its purpose is to be part of addresses
	mayDivideByZero
)

// givesOf classifies an instruction.
func givesOf(in *ptx.Inst, symbol func(ptx.Name) *symbol) gives {
	switch e := in.Effect(); {
	case e.Has(ptx.GivesPolicy | ptx.SavesStack):
		return unknownValue
	case e.Has(ptx.Divides):
		if t := lastType(in); t != f32 && t != f64 {
			return mayDivideByZero
		}
	}
	for _, op := range in.Operands {
		if n, ok := op.(ptx.Name); ok && symbol(n) == nil {
			if g := givesSpecial(string(n)); g != nothingElse {
				return g
			}
		}
	}
	return nothingElse
}

func givesSpecial(name string) gives {
	switch {
	case strings.HasPrefix(name, "%pm"):
		return undefinedValue
	case strings.HasPrefix(name, "%reserved_smem_offset_"):
		return unknownAddress
	case name == "%envreg1", name == "%envreg2":
		return workspaceAddress
	case strings.HasPrefix(name, "%envreg"), name == "%total_smem_size", name == "%aggr_smem_size", name == "%current_graph_exec":
		return unknownValue
	}
	return nothingElse
}

// Unspecified reports whether the program has instructions whose results the ISA leaves
// undefined, or to the driver or the chip.
func (p *Program) Unspecified() bool { return p.unspecified }

// watchResult instruments an instruction that gives an undefined value to report it.
func (d *decoder) watchResult(in *instr) {
	if in.gives = givesOf(in.src, d.symbol); in.gives == nothingElse || in.class != plain {
		return
	}
	exec := in.exec
	switch in.gives {
	case unknownValue, unknownAddress, workspaceAddress:
		d.prog.unspecified = true
	case undefinedValue:
		in.exec = func(x *ctx, in *instr, mask uint32) {
			x.undefinedResult(mask)
			exec(x, in, mask)
		}
	case mayDivideByZero:
		if in.b < 0 && d.prog.divisor(in, 0) != 0 {
			in.gives = nothingElse
			return
		}
		in.exec = func(x *ctx, in *instr, mask uint32) {
			x.undefinedResult(x.divisionsByZero(in, mask))
			exec(x, in, mask)
		}
	}
}

// divisor returns the value of a constant divisor.
func (p *Program) divisor(in *instr, lane int) uint64 {
	if in.src != nil && lastType(in.src).wide() {
		return p.k64[^in.b][lane]
	}
	return uint64(p.k32[^in.b][lane])
}

// divisionsByZero returns the lanes of mask in which the divisor is zero.
func (x *ctx) divisionsByZero(in *instr, mask uint32) (lanes uint32) {
	t := lastType(in.src)
	for l := range lanesOf(mask) {
		v := uint64(0)
		if t.wide() {
			v = x.a64(in.b)[l]
		} else {
			v = uint64(x.a32(in.b)[l]) & maskOf(t)
		}
		if v == 0 {
			lanes |= 1 << l
		}
	}
	return lanes
}

// undefinedResult reports that lanes get a value that the ISA does not define.
func (x *ctx) undefinedResult(lanes uint32) {
	if lanes != 0 && x.m.cfg.Observer != nil {
		x.m.emit(Event{Kind: EvRegister, CTA: x.w.cta, Warp: x.w.index, Mask: lanes, PC: x.s.pc, Unset: UnsetResult})
	}
}

// operandRegs keeps the registers of operands that name one each, of an instruction on
// registers: flow.NoReg of others.
func (d *decoder) operandRegs(in *ptx.Inst) []flow.Reg {
	if len(in.Operands) < 2 {
		return nil
	}
	list := make([]flow.Reg, 0, len(in.Operands)-1)
	for _, op := range in.Operands[1:] {
		id := flow.NoReg
		if not, ok := op.(*ptx.Not); ok {
			op = not.X
		}
		if n, ok := op.(ptx.Name); ok {
			if y := d.symbol(n); y != nil && y.kind == symReg && y.vec == 0 {
				id = d.regID(y, 0)
			}
		}
		list = append(list, id)
	}
	return list
}

// A bitsOf is an operand of one lane.
type bitsOf struct {
	shade
	v     uint64
	known bool // v is its value, in bits that are defined
}

// operand returns operand i, counted from the first source.
func (u *Undefined) operand(x *ctx, n *flow.Use, i, l int) (b bitsOf) {
	if i >= len(n.Args) {
		return b
	}
	op := n.In.Operands[i+1]
	if id := n.Args[i]; id != flow.NoReg {
		b.shade = u.at(x, id, l)
		b.known = true
		row := id.Row()
		switch id >> 32 & 3 {
		case 0:
			b.v = uint64(x.r32[row][l])
		case 1:
			b.v = x.r64[row][l]
		default:
			b.v = uint64(x.p[row] >> l & 1)
		}
		if _, not := op.(*ptx.Not); not {
			b.v ^= 1
		}
		return b
	}
	switch v := op.(type) {
	case ptx.Int:
		b.v, b.known = v.Bits, true
	case ptx.Name:
		if from := u.own(x, n, string(v)); from != 0 {
			b.shade = shade{^uint64(0), from}
			b.known = true
		}
	}
	return b
}

// own returns the origin of a special register's undefined value; 0 if it is defined.
func (u *Undefined) own(x *ctx, n *flow.Use, name string) uint64 {
	switch givesSpecial(name) {
	case workspaceAddress:
		if x.c.g.Cooperative {
			return 0
		}
		return u.origin(UndefinedFrom{UnknownResult, x.s.pc, 0})
	case undefinedValue:
		return u.origin(UndefinedFrom{UndefinedResult, x.s.pc, 0})
	case unknownValue, unknownAddress:
		return u.origin(UndefinedFrom{UnknownResult, x.s.pc, 0})
	}
	return 0
}

// transfer takes an instruction that reads and writes registers only.
func (u *Undefined) transfer(x *ctx, in *instr, n *flow.Use, mask uint32) {
	reads := rowsOf(n, n.Reads)
	lanes, _ := u.lanes(x, mask, reads)
	made := uint64(0)
	switch in.gives {
	case nothingElse:
	case mayDivideByZero:
		for l := range lanesOf(mask) {
			if b := u.operand(x, n, 1, l); b.known && b.bits == 0 && b.v&maskOf(lastType(n.In)) == 0 {
				lanes |= 1 << l
			}
		}
	default:
		lanes = mask
		if n.Does(ptx.GivesPolicy | ptx.SavesStack) {
			made = u.origin(UndefinedFrom{UnknownResult, x.s.pc, 0})
		} else if !precise[n.In.Op] {
			for _, op := range n.In.Operands {
				if name, ok := op.(ptx.Name); ok {
					made |= u.own(x, n, string(name))
				}
			}
		}
	}
	if n.Accumulates() {
		more, _ := u.lanes(x, mask, n.Writes)
		lanes |= more
	}
	writes := rowsOf(n, n.Writes)
	if lanes == 0 {
		u.clear(x, writes, mask)
		return
	}
	// All are computed before any is written: an instruction may name a register twice.
	var out [32]shade
	if (n.Does(ptx.Moves) || movesVector(n)) && u.moves(x, n, mask) {
		return
	}
	for l := range lanesOf(lanes) {
		s, ok := shade{}, false
		if made == 0 {
			s, ok = u.result(x, n, l)
		}
		if !ok {
			s = shade{^uint64(0), made}
			for _, r := range reads {
				if b := u.at(x, r, l); b.bits != 0 {
					s.from |= b.from
				}
			}
			if n.Accumulates() {
				for _, r := range n.Writes {
					if b := u.at(x, r, l); b.bits != 0 {
						s.from |= b.from
					}
				}
			}
			if in.gives == mayDivideByZero && s.from == 0 {
				s.from = u.origin(UndefinedFrom{UndefinedResult, x.s.pc, 0})
			}
			if s.from == 0 {
				s.bits = 0
			}
		}
		out[l&31] = s
	}
	u.clear(x, writes, mask)
	for _, id := range writes {
		k := u.key(x, id)
		for l := range lanesOf(lanes) {
			s := out[l&31]
			if k.class >= 2 && s.bits != 0 {
				s.bits = 1
			}
			u.put(k, l, s)
		}
	}
}

// movesVector reports whether an instruction moves the elements of a vector, mov.v4.
func movesVector(n *flow.Use) bool { return n.In.Op == "mov" && n.In.Mod("vec") != "" }

// moves takes a mov, also one that packs or unpacks. It returns false for unknown forms.
func (u *Undefined) moves(x *ctx, n *flow.Use, mask uint32) bool {
	t := lastType(n.In)
	if len(n.In.Operands) != 2 {
		return false
	}
	w := uint(8 * t.size())
	switch {
	case t == pred:
		w = 1
	case movesVector(n):
		w *= 4
	}
	// The bits of the source, in two words.
	var src [32][2]shade
	switch v := n.In.Operands[1].(type) {
	case *ptx.Vector:
		each := w / uint(max(len(v.Elems), 1))
		k := 0
		for i, e := range v.Elems {
			name, ok := e.(ptx.Name)
			if !ok {
				continue
			}
			if givesSpecial(string(name)) != nothingElse || k >= len(n.Reads) {
				return false
			}
			at := uint(i) * each
			for l := range lanesOf(mask) {
				s := u.at(x, n.Reads[k], l)
				s.bits &= ones(each)
				d := &src[l&31][at/64]
				d.bits |= s.bits << (at % 64)
				if s.bits != 0 {
					d.from |= s.from
				}
			}
			k++
		}
		if k != len(n.Reads) {
			return false
		}
	case ptx.Name:
		if k := uint(len(n.Reads)); k > 1 { // a vector of registers
			for i, r := range n.Reads {
				at := uint(i) * (w / k)
				for l := range lanesOf(mask) {
					s := u.at(x, r, l)
					d := &src[l&31][at/64]
					if s.bits &= ones(w / k); s.bits != 0 {
						d.bits |= s.bits << (at % 64)
						d.from |= s.from
					}
				}
			}
			break
		}
		for l := range lanesOf(mask) {
			src[l&31][0] = u.operand(x, n, 0, l).shade
			if t == b128 && len(n.Reads) == 1 {
				src[l&31][1] = u.at(x, n.Reads[0]+1, l)
			}
		}
	default:
		return false
	}
	to := []flow.Reg{}
	each := w
	switch v := n.In.Operands[0].(type) {
	case *ptx.Vector:
		each = w / uint(max(len(v.Elems), 1))
		k := 0
		for _, e := range v.Elems {
			if _, sink := e.(ptx.Sink); sink {
				to = append(to, flow.NoReg)
				continue
			}
			if k >= len(n.Writes) {
				return false
			}
			to = append(to, n.Writes[k])
			k++
		}
		if k != len(n.Writes) {
			return false
		}
	case ptx.Name:
		if to = n.Writes; len(to) > 1 {
			each = w / uint(len(to))
			break
		}
		if t == b128 {
			to, each = rowsOf(n, n.Writes), 64
		}
	default:
		return false
	}
	for i, id := range to {
		if id == flow.NoReg {
			continue
		}
		k := u.key(x, id)
		at := uint(i) * each
		for l := range lanesOf(mask) {
			s := src[l&31][at/64]
			s.bits = s.bits >> (at % 64) & ones(each)
			u.put(k, l, s)
		}
	}
	return true
}

func ones(w uint) uint64 {
	if w >= 64 {
		return ^uint64(0)
	}
	return 1<<w - 1
}

func maskOf(t typ) uint64 {
	if t == pred {
		return 1
	}
	return ones(uint(8 * t.size()))
}

// leftOf returns the lowest set bit and all bits above it.
func leftOf(v uint64) uint64 {
	if v == 0 {
		return 0
	}
	return ^uint64(0) << bits.TrailingZeros64(v)
}

// precise lists the instructions that result knows.
var precise = map[string]bool{
	"and": true, "or": true, "xor": true, "not": true, "lop3": true, "shl": true, "shr": true, "shf": true, "bfe": true, "bfi": true,
	"prmt": true, "cvt": true, "selp": true, "add": true, "sub": true, "mul": true, "mad": true, "setp": true, "neg": true, "brev": true,
	"mov": true, "min": true, "max": true, "fma": true,
}

// result returns the undefined bits of an instruction's only result. It is not ok for an
// instruction that it does not know: then any undefined bit makes all of it undefined.
func (u *Undefined) result(x *ctx, n *flow.Use, l int) (s shade, ok bool) {
	in := n.In
	if !precise[in.Op] || movesVector(n) {
		return s, false
	}
	t := lastType(in)
	full := maskOf(t)
	var o [4]bitsOf
	for i := range min(len(n.Args), len(o)) {
		o[i] = u.operand(x, n, i, l)
	}
	from := uint64(0)
	for i := range o {
		if o[i].bits != 0 {
			from |= o[i].from
		}
	}
	is := func(bits uint64) (shade, bool) { return shade{bits, from}, true }
	integer := t.integer() || t == pred
	switch in.Op {
	case "and", "or", "xor", "not", "lop3":
		return u.bitwise(n, o[:], full, is)
	case "selp":
		switch p := o[2]; {
		case p.bits == 0 && p.v != 0:
			return shade{o[0].bits & full, o[0].from}, true
		case p.bits == 0:
			return shade{o[1].bits & full, o[1].from}, true
		case o[0].known && o[1].known:
			return is((o[0].bits | o[1].bits | o[0].v ^ o[1].v) & full)
		}
	case "setp":
		return u.compares(n, o[:], t, is)
	case "cvt":
		return converts(in, o[:], is)
	case "shl", "shr":
		if a, by := o[0], o[1]; by.bits&(1<<32-1) == 0 && by.known {
			w, k := uint(8*t.size()), uint(uint32(by.v))
			a.bits &= full
			switch {
			case in.Op == "shl" && k >= w, in.Op == "shr" && k >= w && !t.signed():
				return is(0)
			case in.Op == "shl":
				return is(a.bits << k & full)
			case t.signed():
				return is(uint64(int64(extend(a.bits, w))>>min(k, 63)) & full)
			}
			return is(a.bits >> k)
		}
	case "shf":
		if by := o[2]; by.bits == 0 && by.known {
			f := num.ShfR
			if has(in, "l") {
				f = num.ShfL
			}
			return is(uint64(f(has(in, "wrap"), uint32(o[0].bits), uint32(o[1].bits), uint32(by.v))))
		}
	case "bfe":
		if pos, k := o[1], o[2]; pos.bits|k.bits == 0 && pos.known && k.known {
			w := uint(8 * t.size())
			p, c := uint(pos.v&0xff), uint(k.v&0xff)
			switch {
			case c == 0:
				return is(0)
			case p >= w && !t.signed():
				return is(0)
			}
			got := uint64(0)
			if p < w {
				got = o[0].bits & full >> p & ones(c)
			}
			if t.signed() && o[0].bits>>min(p+c-1, w-1)&1 != 0 {
				got |= leftOf(1 << min(c-1, 63))
				if p >= w || p+c > w {
					got |= leftOf(1 << max(int(w)-1-int(p), 0))
				}
			}
			return is(got & full)
		}
	case "bfi":
		if pos, k := o[2], o[3]; pos.bits|k.bits == 0 && pos.known && k.known {
			p, c := uint(pos.v&0xff), uint(k.v&0xff)
			field := uint64(0)
			if p < 64 {
				field = ones(c) << p & full
			}
			if c == 0 {
				field = 0
			}
			return is(o[1].bits&full&^field | o[0].bits<<min(p, 63)&field)
		}
	case "prmt":
		if sel := o[2]; sel.bits&0xffff == 0 && sel.known && len(in.Mods) == 1 {
			both := o[0].bits&(1<<32-1) | o[1].bits<<32
			got := uint64(0)
			for i := range 4 {
				k := sel.v >> (4 * i)
				b := both >> (k & 7 * 8) & 0xff
				if k&8 != 0 {
					b = uint64(-int64(b>>7)) & 0xff
				}
				got |= b << (8 * i)
			}
			return is(got)
		}
	case "brev":
		if t == b32 {
			return is(uint64(bits.Reverse32(uint32(o[0].bits))))
		}
		return is(bits.Reverse64(o[0].bits))
	case "neg":
		if integer {
			return is(leftOf(o[0].bits&full) & full)
		}
	case "add", "sub":
		switch {
		case !integer || has(in, "sat"):
		case in.Op == "sub" && len(n.Args) == 2 && n.Args[0] == n.Args[1] && n.Args[0] != flow.NoReg:
			return shade{}, true
		case has(in, "cc"): // the carry too
		default:
			return is(leftOf((o[0].bits|o[1].bits)&full) & full)
		}
	case "mul", "mad":
		if integer && !has(in, "cc") && !has(in, "sat") {
			return u.multiplies(in, o[:], t, is)
		}
	case "min", "max":
		if t == u32 || t == u64 || t == u16 || t == s32 || t == s64 || t == s16 {
			if sure, less := below(o[0], o[1], t); sure && !has(in, "relu") {
				if less == (in.Op == "min") {
					return shade{o[0].bits & full, o[0].from}, true
				}
				return shade{o[1].bits & full, o[1].from}, true
			}
		}
	}
	if t.packed() && (in.Op == "add" || in.Op == "sub" || in.Op == "mul" || in.Op == "fma" || in.Op == "min" || in.Op == "max" || in.Op == "neg") {
		half := ones(uint(4 * t.size()))
		all := o[0].bits | o[1].bits | o[2].bits
		got := uint64(0)
		if all&half != 0 {
			got |= half
		}
		if all&full&^half != 0 {
			got |= full &^ half
		}
		return is(got)
	}
	return s, false
}

// bitwise takes an instruction whose result bits each depend on the same bits of its
// operands: a bit is undefined if the values of undefined operand bits make a difference.
func (u *Undefined) bitwise(n *flow.Use, o []bitsOf, full uint64, is func(uint64) (shade, bool)) (shade, bool) {
	in := n.In
	k := 2
	switch in.Op {
	case "not":
		return is(o[0].bits & full)
	case "lop3":
		if k = 3; len(in.Operands) != 5 {
			return shade{}, false
		}
	}
	if in.Op == "xor" && n.Args[0] == n.Args[1] && n.Args[0] != flow.NoReg {
		return shade{}, true
	}
	for i := range k {
		if !o[i].known {
			// The value is not known: any undefined bit may matter.
			if in.Op == "xor" {
				o[i].v = 0
				continue
			}
			return is((o[0].bits | o[1].bits | o[2].bits) & full)
		}
	}
	f := func(a, b, c uint64) uint64 { return a & b }
	switch in.Op {
	case "or":
		f = func(a, b, c uint64) uint64 { return a | b }
	case "xor":
		f = func(a, b, c uint64) uint64 { return a ^ b }
	case "lop3":
		lut, ok := in.Operands[4].(ptx.Int)
		if !ok {
			return shade{}, false
		}
		f = func(a, b, c uint64) (d uint64) {
			for m := range 8 {
				if lut.Bits>>m&1 != 0 {
					d |= (a ^ -uint64(^m>>2&1)) & (b ^ -uint64(^m>>1&1)) & (c ^ -uint64(^m&1))
				}
			}
			return d
		}
	}
	first, diff := f(o[0].v, o[1].v, o[2].v), uint64(0)
	for m := 1; m < 1<<k; m++ {
		var v [3]uint64
		for i := range v {
			v[i] = o[i].v
			if m>>i&1 != 0 {
				v[i] ^= o[i].bits
			}
		}
		diff |= f(v[0], v[1], v[2]) ^ first
	}
	return is(diff & full)
}

// below reports whether a is less than b; sure if that holds for all values of their
// undefined bits.
func below(a, b bitsOf, t typ) (sure, less bool) {
	if !a.known || !b.known {
		return false, false
	}
	full := maskOf(t)
	ab, bb := a.bits&full, b.bits&full
	if !t.signed() {
		av, bv := a.v&full, b.v&full
		switch {
		case av|ab < bv&^bb:
			return true, true
		case av&^ab >= bv|bb:
			return true, false
		}
		return false, false
	}
	w := uint(8 * t.size())
	top := uint64(1) << (w - 1)
	low := func(v, u uint64) int64 { return int64(extend(v&full&^u|u&top, w)) }
	high := func(v, u uint64) int64 { return int64(extend((v&full|u)&^(u&top), w)) }
	switch {
	case high(a.v, ab) < low(b.v, bb):
		return true, true
	case low(a.v, ab) >= high(b.v, bb):
		return true, false
	}
	return false, false
}

// compares applies a setp.
func (u *Undefined) compares(n *flow.Use, o []bitsOf, t typ, is func(uint64) (shade, bool)) (shade, bool) {
	in := n.In
	if len(in.Mods) == 0 || t < b8 || t > s64 || t == b128 {
		return shade{}, false
	}
	full := maskOf(t)
	a, b := o[0], o[1]
	if a.bits|b.bits == 0 {
		a.known, b.known = true, true // both are defined; the values are not used below
	}
	sure, value, valued := false, false, true
	same := n.Args[0] == n.Args[1] && n.Args[0] != flow.NoReg
	swap := func() { a, b = b, a }
	switch cmp := in.Mods[0]; cmp {
	case "eq", "ne":
		switch {
		case same || (a.bits|b.bits)&full == 0:
			sure, value = true, (cmp == "eq") == (same || a.v&full == b.v&full)
			valued = same || o[0].known && o[1].known
		case o[0].known && o[1].known && (a.v^b.v)&^(a.bits|b.bits)&full != 0:
			sure, value = true, cmp == "ne"
		}
	case "lt", "lo", "ge", "hs":
		sure, value = below(a, b, t)
		value = value == (cmp == "lt" || cmp == "lo")
		valued = o[0].known && o[1].known
	case "gt", "hi", "le", "ls":
		swap()
		sure, value = below(a, b, t)
		value = value == (cmp == "gt" || cmp == "hi")
		valued = o[0].known && o[1].known
	default:
		return shade{}, false
	}
	if len(in.Operands) == 3 {
		if sure {
			return shade{}, true
		}
		return is(1)
	}
	c := o[2]
	_, two := in.Operands[0].(*ptx.Pair)
	bit := func(undefined bool) (shade, bool) {
		if undefined {
			return is(1)
		}
		return shade{}, true
	}
	switch {
	case sure && c.bits == 0:
		return bit(false)
	case has(in, "and"):
		return bit(!(c.bits == 0 && c.known && c.v == 0 || sure && valued && !value && !two))
	case has(in, "or"):
		return bit(!(c.bits == 0 && c.known && c.v == 1 || sure && valued && value && !two))
	}
	return bit(true)
}

// converts applies a cvt.
func converts(in *ptx.Inst, o []bitsOf, is func(uint64) (shade, bool)) (shade, bool) {
	if p, ok := pairsOf(in); ok {
		return is(p.undefined(o))
	}
	var types []typ
	for _, m := range in.Mods {
		if t, ok := typNames[m]; ok {
			types = append(types, t)
		}
	}
	if len(types) < 2 {
		return shade{}, false
	}
	to, from := types[len(types)-2], types[len(types)-1]
	plain := func(t typ) bool { return t >= b8 && t <= s64 && t != b128 }
	if from.size() < 4 && o[0].bits&maskOf(from) == 0 {
		return shade{}, true // it is not in the part that is converted
	}
	if !plain(to) || !plain(from) || has(in, "sat") {
		return shade{}, false
	}
	got := o[0].bits & maskOf(from)
	if from.signed() {
		got = extend(got, uint(8*from.size()))
	}
	if to.size() < 4 { // the destination may be wider
		if to.signed() {
			return is(extend(got&maskOf(to), uint(8*to.size())))
		}
		return is(got & maskOf(to))
	}
	return is(got & maskOf(to))
}

// multiplies applies an integer mul or mad: bits carry upwards only, and trailing zeros
// shift.
func (u *Undefined) multiplies(in *ptx.Inst, o []bitsOf, t typ, is func(uint64) (shade, bool)) (shade, bool) {
	full := maskOf(t)
	a, b := o[0], o[1]
	a.bits, b.bits = a.bits&full, b.bits&full
	zeros := func(v bitsOf) int {
		if v.known && v.bits == 0 {
			return bits.TrailingZeros64(v.v & full)
		}
		return 0
	}
	low := 64 // the lowest undefined bit of the product
	if a.bits != 0 && b.bits != 0 {
		low = min(bits.TrailingZeros64(a.bits), bits.TrailingZeros64(b.bits))
	} else if a.bits|b.bits != 0 {
		low = min(64, bits.TrailingZeros64(a.bits|b.bits)+zeros(a)+zeros(b))
	}
	product := uint64(0)
	if low < 64 {
		product = ^uint64(0) << low
	}
	switch {
	case has(in, "wide"):
		full = ones(uint(16 * t.size()))
	case has(in, "lo"):
	case product != 0:
		product = ^uint64(0) // hi
	}
	if in.Op == "mad" {
		return is(leftOf((product|o[2].bits)&full) & full)
	}
	return is(product & full)
}
