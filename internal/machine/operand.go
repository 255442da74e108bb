package machine

import (
	"math"
	"strings"

	"muster/ptx"
)

// This file resolves operands: names to rows, immediates to rows of
// constants, symbols to addresses.

// k returns the constant row that holds v in every lane, for a value of type t.
func (d *decoder) k(v uint64, t typ) reg {
	if t.wide() {
		return d.const64(v)
	}
	switch t.size() {
	case 1:
		v &= 0xff
	case 2:
		v &= 0xffff
	}
	return d.const32(uint32(v))
}

func (d *decoder) const32(v uint32) reg {
	if r, ok := d.k32[v]; ok {
		return r
	}
	var row [32]uint32
	for i := range row {
		row[i] = v
	}
	d.prog.k32 = append(d.prog.k32, row)
	r := ^reg(len(d.prog.k32) - 1)
	d.k32[v] = r
	return r
}

func (d *decoder) const64(v uint64) reg {
	if r, ok := d.k64[v]; ok {
		return r
	}
	var row [32]uint64
	for i := range row {
		row[i] = v
	}
	d.prog.k64 = append(d.prog.k64, row)
	r := ^reg(len(d.prog.k64) - 1)
	d.k64[v] = r
	return r
}

// temp allocates a fresh register of the type's class.
func (d *decoder) temp(t typ) reg {
	switch {
	case t == pred:
		d.fn.np++
		return reg(d.fn.np - 1)
	case t == b128:
		d.fn.n64 += 2
		return reg(d.fn.n64 - 2)
	case t.wide():
		d.fn.n64++
		return reg(d.fn.n64 - 1)
	}
	d.fn.n32++
	return reg(d.fn.n32 - 1)
}

// symbol resolves a name, vector components included.
func (d *decoder) symbol(n ptx.Name) *symbol {
	if y := d.scope.find(string(n)); y != nil {
		return y
	}
	if i := len(n) - 2; i > 0 && n[i] == '.' {
		y := d.scope.find(string(n[:i]))
		if c := strings.IndexByte("xyzwrgba", n[i+1]) % 4; y != nil && y.kind == symReg && c >= 0 && c < y.vec {
			return &symbol{kind: symReg, typ: y.typ, reg: y.reg + reg(c)*regsPer(y.typ)}
		}
	}
	return nil
}

// register resolves an operand that must be a register, with its type.
func (d *decoder) register(op ptx.Operand) (reg, typ, error) {
	n, ok := op.(ptx.Name)
	if !ok {
		return 0, 0, d.errorf("operand must be a register")
	}
	y := d.symbol(n)
	if y == nil {
		return 0, 0, d.errorf("unknown name %s", n)
	}
	if y.kind != symReg {
		return 0, 0, d.errorf("%s is no register", n)
	}
	if y.vec > 0 {
		return 0, 0, d.whole(n)
	}
	return y.reg, y.typ, nil
}

// whole returns the error for a vector register in place of one of its elements.
func (d *decoder) whole(n ptx.Name) error {
	return d.errorf("%s is a vector of registers; %s takes one of its elements, %s.x", n, Name(d.cur), n)
}

// dst resolves a destination of type t; a sink gets a register of its own.
func (d *decoder) dst(op ptx.Operand, t typ) (reg, error) {
	if _, ok := op.(ptx.Sink); ok {
		return d.temp(t), nil
	}
	r, rt, err := d.register(op)
	if err != nil {
		return 0, err
	}
	if !sameClass(rt, t) {
		return 0, d.errorf("destination %s does not take a value of this instruction's type", op)
	}
	return r, nil
}

// sameClass reports whether a register of type r holds values of type t.
func sameClass(r, t typ) bool {
	if t == pred || r == pred {
		return t == r
	}
	return r.size() == t.size() || r.size() <= 4 && t.size() <= 4
}

// src resolves a source operand of type t (not pred) to a row.
func (d *decoder) src(op ptx.Operand, t typ) (reg, error) {
	switch op := op.(type) {
	case ptx.Name:
		return d.nameSrc(op, t)
	}
	if t == b128 {
		return 0, d.errorf("a 128-bit operand must be a register")
	}
	switch op := op.(type) {
	case ptx.Int:
		return d.k(intAs(op, t), t), nil
	case ptx.Float:
		return d.k(floatAs(op, t), t), nil
	case *ptx.Binary, *ptx.Unary:
		return d.addressExpr(op, t)
	}
	return 0, d.errorf("operand does not fit this instruction")
}

func (d *decoder) nameSrc(n ptx.Name, t typ) (reg, error) {
	y := d.symbol(n)
	if t == b128 && (y == nil || y.kind != symReg) {
		return 0, d.errorf("a 128-bit operand must be a register")
	}
	if n == "WARP_SZ" {
		return d.k(32, t), nil
	}
	if y == nil {
		if r, rt, ok := d.special(string(n)); ok {
			return d.widen(r, rt, t), nil
		}
		return 0, d.errorf("unknown name %s", n)
	}
	switch y.kind {
	case symReg:
		if y.vec > 0 {
			return 0, d.whole(n)
		}
		if !sameClass(y.typ, t) {
			return 0, d.errorf("register %s has the wrong width for this instruction", n)
		}
		return y.reg, nil
	}
	return d.address(y, 0, t)
}

// widen moves a special register's row to a row of type t's class.
func (d *decoder) widen(r reg, have, want typ) reg {
	if have.wide() == want.wide() {
		return r
	}
	t := d.temp(want)
	g, n := d.guard, d.not
	d.guard, d.not = noGuard, false
	if want.wide() {
		d.emit(instr{exec: execZext64, d: t, a: r, t: u64})
	} else {
		d.emit(instr{exec: execTrunc32, d: t, a: r, t: u32})
	}
	d.guard, d.not = g, n
	return t
}

// intAs returns an integer literal's bits, also for a float type t, as in
// 'mov.f32 %f, 0'.
func intAs(v ptx.Int, t typ) uint64 {
	return v.Bits
}

// floatAs gives a float literal's bits as type t. A 0f literal is the bits of
// an f32; a decimal or 0d literal is an f64 and is rounded to the type.
func floatAs(v ptx.Float, t typ) uint64 {
	if v.Size == 32 {
		if t == f64 {
			return math.Float64bits(float64(math.Float32frombits(uint32(v.Bits))))
		}
		return v.Bits
	}
	if t.size() == 4 {
		return uint64(math.Float32bits(float32(math.Float64frombits(v.Bits))))
	}
	return v.Bits
}

// address returns a row that holds the address of a symbol plus off.
func (d *decoder) address(y *symbol, off int64, t typ) (reg, error) {
	switch y.kind {
	case symGlobal:
		return d.k(y.addr+uint64(off), t), nil
	case symParam:
		return d.k(y.addr+uint64(off), t), nil
	case symFunc:
		i, known := d.fns[y.fn]
		if !known {
			return 0, errNotModelled // another kernel's address: to launch it from here
		}
		return d.k(codeWindow+uint64(i)*16, t), nil
	case symLabel, symList, symTexture:
		return 0, d.errorf("%s cannot be an operand here", y.fn)
	}
	// Shared addresses hold the CTA's rank and frame addresses the frame's
	// base: both are known only when the instruction runs.
	r := d.temp(t)
	in := instr{d: r, t: t, imm: y.addr + uint64(off)}
	switch y.kind {
	case symShared, symDynamic:
		in.exec = execSharedAddr
	default:
		in.exec = execLocalAddr
	}
	g, n := d.guard, d.not
	d.guard, d.not = noGuard, false
	d.emit(in)
	d.guard, d.not = g, n
	return r, nil
}

// addressExpr resolves sym+4 and generic(sym).
func (d *decoder) addressExpr(op ptx.Operand, t typ) (reg, error) {
	y, off, ok := d.symbolPlus(op)
	if !ok {
		return 0, d.errorf("operand is no address that a constant expression can give")
	}
	return d.address(y, off, t)
}

// symbolPlus takes apart an expression of a symbol and a displacement.
func (d *decoder) symbolPlus(op ptx.Operand) (*symbol, int64, bool) {
	switch op := op.(type) {
	case ptx.Name:
		y := d.symbol(op)
		return y, 0, y != nil && y.kind != symReg
	case *ptx.Binary:
		y, off, ok := d.symbolPlus(op.X)
		v, isInt := op.Y.(ptx.Int)
		if !ok || !isInt {
			return nil, 0, false
		}
		switch op.Op {
		case "+":
			return y, off + int64(v.Bits), true
		case "-":
			return y, off - int64(v.Bits), true
		}
	case *ptx.Unary:
		if op.Op == "generic" || strings.HasPrefix(op.Op, "(") {
			return d.symbolPlus(op.X)
		}
	}
	return nil, 0, false
}

// srcs resolves operands[from:] as sources of type t.
func (d *decoder) srcs(in *ptx.Inst, from int, types ...typ) ([]reg, error) {
	if len(in.Operands) < from+len(types) {
		return nil, d.errorf("%s needs %d operands", Name(in), from+len(types))
	}
	out := make([]reg, len(types))
	for i, t := range types {
		var err error
		if t == pred {
			out[i], err = d.predSrc(in.Operands[from+i])
		} else {
			out[i], err = d.src(in.Operands[from+i], t)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// predSrc resolves a predicate source; !p gets a row of its own.
func (d *decoder) predSrc(op ptx.Operand) (reg, error) {
	not := false
	if n, ok := op.(*ptx.Not); ok {
		op, not = n.X, true
	}
	if v, ok := op.(ptx.Int); ok {
		r := d.temp(pred)
		val := v.Bits != 0
		d.bare(instr{exec: execPredConst, d: r, op: boolOp(val != not)})
		return r, nil
	}
	r, t, err := d.register(op)
	if err != nil {
		return 0, err
	}
	if t != pred {
		return 0, d.errorf("%s is no predicate register", op)
	}
	if !not {
		return r, nil
	}
	n := d.temp(pred)
	d.bare(instr{exec: execPredNot, d: n, a: r})
	return n, nil
}

// bare emits without the current guard: a preparation that must not depend on it.
func (d *decoder) bare(in instr) {
	g, n := d.guard, d.not
	d.guard, d.not = noGuard, false
	d.emit(in)
	d.guard, d.not = g, n
}

func boolOp(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// elems returns the operand's elements: those of a vector, the components of
// a vector register, or itself.
func (d *decoder) elems(op ptx.Operand) []ptx.Operand {
	switch op := op.(type) {
	case *ptx.Vector:
		return op.Elems
	case ptx.Name:
		if y := d.symbol(op); y != nil && y.kind == symReg && y.vec > 0 {
			var out []ptx.Operand
			for _, c := range "xyzw"[:y.vec] {
				out = append(out, op+"."+ptx.Name(c))
			}
			return out
		}
	}
	return []ptx.Operand{op}
}
