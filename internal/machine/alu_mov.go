package machine

import (
	"math/bits"

	"muster/ptx"
)

// Data movement between registers: mov, with its packing and unpacking forms.

var moveDecoders = map[string]decodeFn{
	"mov": decodeMov,
	"cvt": decodeCvt,
}

// execZext64 and execTrunc32 move a row between the two classes.
var (
	execZext64  = rows1(zext64Row)
	execTrunc32 = rows1(trunc32Row)
)

var movTable = merge(
	forTypes(rows1(cut16Row), b16, u16, s16),
	forTypes(rows1(movRow[uint32]), b32, u32, s32, f32),
	forTypes(rows1(movRow[uint64]), b64, u64, s64, f64),
	map[typ]execFn{pred: execPredMov, b128: execMov128})

func decodeMov(d *decoder, in *ptx.Inst) error {
	if d.has("v4") {
		return d.movVector(in)
	}
	f := d.formOf(in)
	if !f.plain(1, 0) || movTable[f.types[0]] == nil {
		return errNotModelled
	}
	if err := d.count(in, 2); err != nil {
		return err
	}
	t := f.types[0]
	to, err := d.wholeVector(in, in.Operands[0], t)
	if err != nil {
		return err
	}
	from, err := d.wholeVector(in, in.Operands[1], t)
	if err != nil {
		return err
	}
	switch src := from.(type) {
	case *ptx.Vector:
		return d.pack(in, src, t)
	case *ptx.Mem:
		return d.movElement(in, src, t)
	case ptx.Name:
		if s := d.findSpecial(string(src)); s != nil && d.symbol(src) == nil {
			return d.movSpecial(in, specialName(src), s, t)
		}
	}
	if v, ok := to.(*ptx.Vector); ok {
		return d.unpack(in, v, t)
	}
	if t == b128 {
		return d.mov128(in)
	}
	return d.alu(in, movTable[t], t, t)
}

// movVector moves a vector of four, element by element: a vector register (ISA 6.4.3), or a
// special register that is one (10.12).
func (d *decoder) movVector(in *ptx.Inst) error {
	if err := d.count(in, 2); err != nil {
		return err
	}
	t := d.lastType()
	if movTable[t] == nil || t.size() != 4 {
		return errNotModelled
	}
	to, from := d.elems(in.Operands[0]), d.elems(in.Operands[1])
	name, special := in.Operands[1].(ptx.Name)
	if special = special && specialVector(string(name)) && d.symbol(name) == nil; special {
		from = nil
		for _, part := range [...]string{".x", ".y", ".z", ".w"} {
			from = append(from, name+ptx.Name(part))
		}
	}
	if len(to) != 4 || len(from) != 4 {
		return d.errorf("%s moves four registers to four", Name(in))
	}
	var rows []reg
	for _, op := range from {
		r, err := d.src(op, t)
		if err != nil {
			return err
		}
		rows = append(rows, r)
	}
	b, err := d.bundleOf(to, t)
	if err != nil {
		return err
	}
	d.emit(instr{exec: execMovVector, t: t, x: &vectorMove{from: rows, to: b.rows}})
	return nil
}

// A vectorMove has the rows of a vector that is moved.
type vectorMove struct{ from, to []reg }

func execMovVector(x *ctx, in *instr, mask uint32) {
	v := in.x.(*vectorMove)
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		var was [4]uint32 // a vector may be moved into itself in another order
		for k, r := range v.from {
			was[k] = x.a32(r)[i]
		}
		for k, r := range v.to {
			x.w32(r)[i] = was[k]
		}
	}
}

// bundleOf makes a bundle of destinations.
func (d *decoder) bundleOf(list []ptx.Operand, t typ) (*bundle, error) {
	b := &bundle{bits: 8 * uint(t.size())}
	for _, op := range list {
		r, err := d.dst(op, t)
		if err != nil {
			return nil, err
		}
		b.rows = append(b.rows, r)
	}
	return b, nil
}

// wholeVector gives a vector register, as an operand of mov, as the vector of its
// elements (ISA 9.7.9.4); other operands as they are.
func (d *decoder) wholeVector(in *ptx.Inst, op ptx.Operand, t typ) (ptx.Operand, error) {
	n, ok := op.(ptx.Name)
	if !ok {
		return op, nil
	}
	y := d.symbol(n)
	if y == nil || y.kind != symReg || y.vec == 0 {
		return op, nil
	}
	if t != b16 && t != b32 && t != b64 && t != b128 || y.typ.size()*int32(y.vec) != t.size() {
		return nil, d.errorf("%s cannot take %s, a vector of %d registers of .%s: mov packs and unpacks vectors as wide as its type, .b16 to .b128", Name(in), n, y.vec, typeName(y.typ))
	}
	return &ptx.Vector{Elems: d.elems(op)}, nil
}

// movSpecial reads a special register straight into the destination.
func (d *decoder) movSpecial(in *ptx.Inst, name specialName, s *specialReg, t typ) error {
	if (t == pred) != (s.typ == pred) || t == b128 {
		return d.errorf("%s cannot be moved as .%s", in.Operands[1], in.Mods[0])
	}
	r, err := d.dst(in.Operands[0], t)
	if err != nil {
		return err
	}
	d.emit(instr{exec: s.exec(t), d: r, t: t, x: name})
	return nil
}

// movElement moves the address of an array's element: mov.u64 %rd, table[3]
// (ISA, arrays as operands).
func (d *decoder) movElement(in *ptx.Inst, m *ptx.Mem, t typ) error {
	n, ok := m.Base.(ptx.Name)
	if !ok || !m.Index || len(m.Rest) > 0 {
		return d.errorf("mov takes a register, a constant or a variable's address")
	}
	y := d.symbol(n)
	if y == nil {
		return d.errorf("unknown name %s", n)
	}
	if y.kind == symReg || y.typ.size() == 0 {
		return errNotModelled
	}
	r, err := d.address(y, m.Off*int64(y.typ.size()), t)
	if err != nil {
		return err
	}
	to, err := d.dst(in.Operands[0], t)
	if err != nil {
		return err
	}
	d.emit(instr{exec: movTable[t], d: to, a: r, t: t})
	return nil
}

// mov128 moves a 128-bit register, which is two rows.
func (d *decoder) mov128(in *ptx.Inst) error {
	a, at, err := d.register(in.Operands[1])
	if err != nil {
		return err
	}
	if at != b128 {
		return d.errorf("mov.b128 takes 128-bit registers")
	}
	r, err := d.dst(in.Operands[0], b128)
	if err != nil {
		return err
	}
	d.emit(instr{exec: execMov128, d: r, a: a, t: b128})
	return nil
}

func execMov128(x *ctx, in *instr, mask uint32) {
	for k := range reg(2) {
		d, a := x.w64(in.d+k), x.a64(in.a+k)
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = a[i]
		}
	}
}

// elementTypes is the type of an element by its width in bytes.
var elementTypes = map[int32]typ{1: b8, 2: b16, 4: b32, 8: b64}

// vectorType checks a vector operand of a mov and returns its elements' type.
func (d *decoder) vectorType(in *ptx.Inst, v *ptx.Vector, t typ) (typ, error) {
	n := int32(len(v.Elems))
	if n != 2 && n != 4 || t == pred || t.size()%n != 0 {
		return tNone, d.errorf("%s cannot take a vector of %d elements", Name(in), n)
	}
	et, ok := elementTypes[t.size()/n]
	if !ok {
		return tNone, d.errorf("%s cannot take a vector of %d elements", Name(in), n)
	}
	return et, nil
}

// A bundle is the elements of a vector: rows of one width.
type bundle struct {
	rows []reg
	bits uint // of an element
}

func (d *decoder) pack(in *ptx.Inst, v *ptx.Vector, t typ) error {
	et, err := d.vectorType(in, v, t)
	if err != nil {
		return err
	}
	b := &bundle{bits: 8 * uint(et.size())}
	for _, op := range v.Elems {
		r, err := d.src(op, et)
		if err != nil {
			return err
		}
		b.rows = append(b.rows, r)
	}
	r, err := d.dst(in.Operands[0], t)
	if err != nil {
		return err
	}
	i := instr{exec: execPack, d: r, t: t, x: b}
	if t.wide() && len(b.rows) == 2 {
		i.exec, i.a, i.b = rows2(packRow), b.rows[0], b.rows[1]
	}
	d.emit(i)
	return nil
}

func packRow(d []uint64, a, b []uint32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = uint64(b[i])<<32 | uint64(a[i])
	}
}

func execPack(x *ctx, in *instr, mask uint32) {
	b := in.x.(*bundle)
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		var v [2]uint64
		for k, r := range b.rows {
			at := uint(k) * b.bits
			v[at/64] |= x.bits(r, i, b.bits) << (at % 64)
		}
		switch {
		case in.t == b128:
			x.w64(in.d)[i], x.w64(in.d + 1)[i] = v[0], v[1]
		case in.t.wide():
			x.w64(in.d)[i] = v[0]
		default:
			x.w32(in.d)[i] = uint32(v[0])
		}
	}
}

// bits reads n bits of a source row's lane.
func (x *ctx) bits(r reg, lane int, n uint) uint64 {
	if n == 64 {
		return x.a64(r)[lane]
	}
	return uint64(x.a32(r)[lane]) & (1<<n - 1)
}

func (d *decoder) unpack(in *ptx.Inst, v *ptx.Vector, t typ) error {
	et, err := d.vectorType(in, v, t)
	if err != nil {
		return err
	}
	i := instr{exec: execUnpack, t: t}
	if t == b128 {
		var at typ
		if i.a, at, err = d.register(in.Operands[1]); err == nil && at != b128 {
			err = d.errorf("mov.b128 takes 128-bit registers")
		}
	} else {
		i.a, err = d.src(in.Operands[1], t)
	}
	if err != nil {
		return err
	}
	b, err := d.bundleOf(v.Elems, et)
	if err != nil {
		return err
	}
	i.x = b
	if t.wide() && len(b.rows) == 2 {
		i.exec = execUnpack2
	}
	d.emit(i)
	return nil
}

// execUnpack2 is mov.b64 {lo, hi}, a.
func execUnpack2(x *ctx, in *instr, mask uint32) {
	b := in.x.(*bundle)
	lo, hi, a := x.w32(b.rows[0]), x.w32(b.rows[1]), x.a64(in.a)
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		lo[i], hi[i] = uint32(a[i]), uint32(a[i]>>32)
	}
}

func execUnpack(x *ctx, in *instr, mask uint32) {
	b := in.x.(*bundle)
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		var v [2]uint64
		switch {
		case in.t == b128:
			v = [2]uint64{x.a64(in.a)[i], x.a64(in.a + 1)[i]}
		case in.t.wide():
			v[0] = x.a64(in.a)[i]
		default:
			v[0] = uint64(x.a32(in.a)[i])
		}
		for k, r := range b.rows {
			at := uint(k) * b.bits
			e := v[at/64] >> (at % 64)
			if b.bits == 64 {
				x.w64(r)[i] = e
			} else {
				x.w32(r)[i] = uint32(e & (1<<b.bits - 1))
			}
		}
	}
}
