package machine

import (
	"math"

	"muster/ptx"
)

// This file gives every symbol its place: module variables and static shared
// memory in declaration order, kernel parameters by the C rules, formal
// parameters and local variables in their function's frame.

const maxShared = 1 << rankShift // what an address can reach, far above any target's limit

// layout places the module's variables that the reachable functions mention,
// and the static shared variables of those functions.
func (d *decoder) layout(reach []*ptx.Func, names map[string]bool) error {
	shared := uint64(SharedBase)
	var dynamic []*symbol
	var inits []*ptx.Var
	var list []*symbol // of this kernel alone, or new
	place := func(v *ptx.Var) error {
		if y := d.placed[v]; y != nil {
			d.scope.names[v.Name] = y
			return nil
		}
		size, align, err := d.varSize(v)
		if err != nil {
			return err
		}
		y := &symbol{typ: elemType(v), size: size, align: align, v: v, fn: v.Name}
		switch v.Space {
		case "shared":
			if size == 0 && len(v.Dims) > 0 && v.Dims[0] < 0 {
				y.kind = symDynamic
				list = append(list, y)
				dynamic = append(dynamic, y)
				break
			}
			shared = alignUp(shared, align)
			y.kind, y.addr = symShared, shared
			list = append(list, y)
			shared += size
			if shared > maxShared {
				return d.errorAt(v.Pos, "static shared memory exceeds %d bytes", maxShared)
			}
		case "global", "const":
			y.kind = symGlobal
			if a, ok := d.at[v.Name]; ok {
				if a%align != 0 {
					return d.errorAt(v.Pos, "variable %s cannot lie at %#x: it is aligned to %d bytes", v.Name, a, align)
				}
				y.addr = a
			} else {
				d.free = alignUp(d.free, max(align, 16))
				y.addr = d.free
				d.free += size + 256
			}
			d.placed[v] = y
			list = append(list, y)
			inits = append(inits, v)
		case "tex":
			y.kind = symTexture
		default:
			return d.errorAt(v.Pos, ".%s variables belong to a function", v.Space)
		}
		d.scope.names[v.Name] = y
		return nil
	}
	d.scope = d.root
	for _, it := range d.mod.Items {
		if v, ok := it.(*ptx.Var); ok && (names[v.Name] || d.space > 0 && (v.Space == "global" || v.Space == "const")) {
			if err := place(v); err != nil {
				return err
			}
		}
	}
	for _, f := range d.mod.Items {
		if f, ok := f.(*ptx.Func); ok {
			y := &symbol{kind: symFunc, fn: f.Name}
			if to, ok := d.aliases[f.Name]; ok {
				y.fn = to
			}
			d.root.names[f.Name] = y
		}
	}
	for _, f := range reach {
		if f.Body == nil {
			continue
		}
		if err := d.staticShared(f.Body, &shared); err != nil {
			return err
		}
	}
	d.entry.Static = shared - SharedBase
	align := uint64(16)
	for _, y := range dynamic {
		align = max(align, uint64(y.v.Align))
	}
	d.entry.DynamicAt = alignUp(shared, align)
	for _, y := range dynamic {
		y.addr = d.entry.DynamicAt
	}
	for _, y := range list {
		d.prog.symbols = append(d.prog.symbols, Symbol{Name: y.v.Name, Shared: y.kind != symGlobal, Addr: y.addr, Size: y.size, Elem: uint64(y.typ.size()), Align: y.align})
	}
	sortSymbols(d.prog.symbols)
	for i, f := range reach {
		d.fns[f.Name] = d.entry.fn + int32(i)
	}
	for _, v := range inits {
		y := d.root.names[v.Name]
		g := global{name: v.Name, addr: y.addr, size: y.size, init: true, ro: v.Space == "const"}
		if v.Init != nil {
			g.data = make([]byte, y.size)
			if err := d.initBytes(v, v.Init, g.data, elemType(v), v.Dims); err != nil {
				return err
			}
		}
		d.prog.globals = append(d.prog.globals, g)
	}
	return nil
}

// staticShared enters the .shared variables of a body into d.shares, from *at on:
// they are static, so each has one address for all frames.
func (d *decoder) staticShared(b *ptx.Block, at *uint64) error {
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *ptx.Block:
			if err := d.staticShared(s, at); err != nil {
				return err
			}
		case *ptx.Var:
			if s.Space != "shared" {
				continue
			}
			size, align, err := d.varSize(s)
			if err != nil {
				return err
			}
			*at = alignUp(*at, align)
			if d.shares == nil {
				d.shares = map[*ptx.Var]uint64{}
			}
			d.prog.symbols = append(d.prog.symbols, Symbol{Name: s.Name, Shared: true, Addr: *at, Size: size, Elem: uint64(elemType(s).size()), Align: align})
			d.shares[s] = *at
			*at += size
			if *at > maxShared {
				return d.errorAt(s.Pos, "static shared memory exceeds %d bytes", maxShared)
			}
		}
	}
	return nil
}

func alignUp(v, a uint64) uint64 {
	if a == 0 {
		return v
	}
	return (v + a - 1) / a * a
}

func elemType(v *ptx.Var) typ {
	if t, ok := typNames[v.Type]; ok {
		return t
	}
	return otherType
}

// maxVar bounds a variable in bytes, and maxInit one with an initializer.
const (
	maxVar  = 1 << 36
	maxInit = 1 << 28
)

// varSize returns a variable's size and alignment in bytes.
func (d *decoder) varSize(v *ptx.Var) (size, align uint64, err error) {
	t := elemType(v)
	es := uint64(t.size())
	if t == otherType {
		es = 64 // .texref, .samplerref, .surfref: opaque
	}
	if v.Vec > 0 {
		es *= uint64(v.Vec)
	}
	align = max(es, 1)
	if v.Align > 0 {
		align = uint64(v.Align)
	}
	size = es
	for i, n := range v.Dims {
		if n < 0 {
			if i == 0 && v.Init != nil {
				n = int64(len(v.Init.List))
			} else if i == 0 {
				n = 0
			} else {
				return 0, 0, d.errorAt(v.Pos, "%s: only the first extent may be left out", v.Name)
			}
		}
		if n > 0 && size > maxVar/uint64(n) {
			return 0, 0, d.errorAt(v.Pos, "%s is larger than %d bytes", v.Name, int64(maxVar))
		}
		size *= uint64(n)
	}
	if v.Init != nil && size > maxInit {
		return 0, 0, d.errorAt(v.Pos, "%s has an initializer and more than %d bytes", v.Name, maxInit)
	}
	return size, align, nil
}

// initBytes writes an initializer into b, which is an array of the extents
// dims: a braced list inside a list is a row, and what it leaves out is zero.
func (d *decoder) initBytes(v *ptx.Var, in *ptx.Init, b []byte, t typ, dims []int64) error {
	n := int(t.size())
	if in.Expr == nil {
		row := n
		if len(dims) > 1 && len(in.List) > 0 {
			row = n * max(v.Vec, 1)
			for _, k := range dims[1:] {
				row *= int(k)
			}
			dims = dims[1:]
		}
		for _, e := range in.List {
			k := row
			if e.Expr != nil {
				k = n
			}
			if k == 0 || k > len(b) {
				return d.tooMany(v)
			}
			if err := d.initBytes(v, e, b[:k], t, dims); err != nil {
				return err
			}
			b = b[k:]
		}
		return nil
	}
	if n == 0 || len(b) < n {
		return d.tooMany(v)
	}
	bits, err := d.initValue(v, in.Expr, t)
	if err != nil {
		return err
	}
	for i := range min(n, 8) {
		b[i] = byte(bits >> (8 * i))
	}
	return nil
}

func (d *decoder) tooMany(v *ptx.Var) error {
	return d.errorAt(v.Pos, "%s has more initializers than elements", v.Name)
}

func (d *decoder) initValue(v *ptx.Var, op ptx.Operand, t typ) (uint64, error) {
	switch op := op.(type) {
	case ptx.Int:
		switch t {
		case f32:
			return uint64(math.Float32bits(float32(int64(op.Bits)))), nil
		case f64:
			return math.Float64bits(float64(int64(op.Bits))), nil
		}
		return op.Bits, nil
	case ptx.Float:
		return floatAs(op, t), nil
	case *ptx.Unary:
		if shift, ok := maskShift(op.Op); ok {
			x, err := d.initValue(v, op.X, b64)
			return x >> shift & 0xff, err
		}
	}
	d.scope = d.root
	y, off, ok := d.symbolPlus(op)
	if !ok {
		return 0, d.errorAt(v.Pos, "initializer of %s is no constant", v.Name)
	}
	switch y.kind {
	case symFunc:
		return codeWindow + uint64(d.fns[y.fn])*16, nil
	case symGlobal:
		return y.addr + uint64(off), nil
	case symShared, symDynamic:
		return y.addr + uint64(off), nil
	}
	return 0, d.errorAt(v.Pos, "initializer of %s is no constant", v.Name)
}

// maskShift takes the mask operator 0xFF00(sym) apart: which byte it selects.
func maskShift(op string) (uint, bool) {
	var m uint64
	if len(op) < 3 || op[0] != '0' || op[1]|0x20 != 'x' {
		return 0, false
	}
	for _, c := range []byte(op[2:]) {
		switch {
		case c == 'f' || c == 'F':
			m = m<<4 | 0xf
		case c == '0':
			m <<= 4
		default:
			return 0, false
		}
	}
	for s := uint(0); s < 64; s += 8 {
		if m == 0xff<<s {
			return s, true
		}
	}
	return 0, false
}

// signature lays out a function's parameters: a kernel's in its parameter
// space, a .func's in registers or its frame.
func (d *decoder) signature(i int32, f *ptx.Func) error {
	fn := &d.prog.funcs[i]
	sc := &scope{up: d.root, names: map[string]*symbol{}}
	d.sigs = append(d.sigs, sc)
	if f.Entry {
		return d.kernelParams(f, sc)
	}
	formals := func(vars []*ptx.Var) ([]place, error) {
		var out []place
		for _, v := range vars {
			list, err := d.formal(fn, sc, v)
			if err != nil {
				return nil, err
			}
			out = append(out, list...)
		}
		return out, nil
	}
	var err error
	if fn.rets, err = formals(f.Ret); err == nil {
		fn.params, err = formals(f.Params)
	}
	return err
}

// formal lays out one formal parameter of fn: a place, or one for each element of a
// vector of registers.
func (d *decoder) formal(fn *function, sc *scope, v *ptx.Var) ([]place, error) {
	t := elemType(v)
	if v.Space == "reg" {
		d.fn, d.scope, d.declared = fn, sc, fn.formals
		if err := d.declareReg(v, t); err != nil {
			return nil, err
		}
		fn.formals = d.declared
		y := sc.names[v.Name]
		var out []place
		for k := range max(v.Vec, 1) {
			out = append(out, place{inReg: true, reg: y.reg + reg(k)*regsPer(t), typ: t})
		}
		return out, nil
	}
	size, align, err := d.varSize(v)
	if err != nil {
		return nil, err
	}
	if uint64(fn.local)+size > maxFrame {
		return nil, d.errorAt(v.Pos, "%s: parameters exceed %d bytes", v.Name, maxFrame)
	}
	off := fn.frame(size, align)
	sc.names[v.Name] = &symbol{kind: symFormal, typ: t, addr: off, size: size, fn: v.Name, v: v}
	return []place{{off: uint32(off), size: uint32(size), typ: t}}, nil
}

// maxFrame bounds a function's frame in bytes: far above the 512 KiB of local
// memory that a thread has.
const maxFrame = 1 << 29

// frame reserves size bytes of the function's frame.
func (fn *function) frame(size, align uint64) uint64 {
	off := alignUp(uint64(fn.local), align)
	fn.local, fn.align = uint32(off+size), max(fn.align, uint32(align))
	return off
}

func (d *decoder) kernelParams(f *ptx.Func, sc *scope) error {
	at := uint64(0)
	for _, v := range f.Params {
		size, align, err := d.varSize(v)
		if err != nil {
			return err
		}
		at = alignUp(at, align)
		d.entry.Params = append(d.entry.Params, Param{Name: v.Name, Offset: at, Size: size, Align: align, Type: v.Type})
		sc.names[v.Name] = &symbol{kind: symParam, typ: elemType(v), addr: paramWindow + at, size: size, fn: v.Name, v: v}
		at += size
		if at > 32764 {
			return d.errorAt(v.Pos, "kernel parameters exceed 32764 bytes")
		}
	}
	return nil
}

// fnScopes returns the scope that holds a function's parameters.
func (d *decoder) fnScopes(i int32) *scope { return d.sigs[i] }

const maxRegisters = 1 << 20

// declare enters a declaration of a body into the current scope.
func (d *decoder) declare(v *ptx.Var) error {
	t := elemType(v)
	switch v.Space {
	case "reg":
		return d.declareReg(v, t)
	case "shared":
		size, _, err := d.varSize(v)
		if err != nil {
			return err
		}
		d.scope.names[v.Name] = &symbol{kind: symShared, typ: t, addr: d.shares[v], size: size, fn: v.Name, v: v}
	case "local", "param":
		size, align, err := d.varSize(v)
		if err != nil {
			return err
		}
		if uint64(d.fn.local)+size > maxFrame {
			return d.errorAt(v.Pos, "%s: a frame exceeds %d bytes", v.Name, maxFrame)
		}
		off := d.fn.frame(size, align)
		d.fn.locals = append(d.fn.locals, localVar{v, off, size})
		d.scope.names[v.Name] = &symbol{kind: symLocal, typ: t, addr: off, size: size, fn: v.Name, v: v}
	case "global", "const":
		return d.errorAt(v.Pos, ".%s variables belong to module scope", v.Space)
	}
	return nil
}

func (d *decoder) declareReg(v *ptx.Var, t typ) error {
	if t == otherType || t == tNone {
		return d.errorAt(v.Pos, "registers of type .%s are not modelled", v.Type)
	}
	if v.Vec > 0 && (t == pred || t.size()*int32(v.Vec) > 16 || v.Vec != 2 && v.Vec != 4) {
		return d.errorAt(v.Pos, "%s: a vector has 2 or 4 elements, at most 128 bits, and none of them is a predicate", v.Name)
	}
	n := max(v.Count, 1)
	if n > maxRegisters {
		return d.errorAt(v.Pos, "more than %d registers", maxRegisters)
	}
	width := max(v.Vec, 1)
	var first reg
	for i := range n * width {
		r := d.temp(t)
		if i == 0 {
			first = r
		}
	}
	d.declared = append(d.declared, declaredRegister{v: v, bank: uint8(classOf(t)), first: int32(first), rows: int32(regsPer(t)), n: int32(n * width), vec: int32(v.Vec)})
	if v.Count > 0 {
		d.scope.ranges = append(d.scope.ranges, regRange{prefix: v.Name, first: first, count: v.Count, typ: t, vec: v.Vec})
		return nil
	}
	d.scope.names[v.Name] = &symbol{kind: symReg, typ: t, reg: first, vec: v.Vec, fn: v.Name}
	return nil
}
