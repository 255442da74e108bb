package machine

import (
	"strings"

	"muster/internal/num"
	"muster/ptx"
)

// Conversions (ISA, cvt and cvt.pack). Alone among the instructions here, cvt
// takes registers wider than its types: a source is cut to its type, a result
// extended to its register (ISA, operand size exceeding instruction-type size).

var numTypes = map[typ]num.Type{
	u8: num.U8, u16: num.U16, u32: num.U32, u64: num.U64,
	s8: num.S8, s16: num.S16, s32: num.S32, s64: num.S64,
	f16: num.F16, bf16: num.BF16, f32: num.F32, f64: num.F64, tf32: num.TF32,
}

// elementOf is the element type of a pair of a half precision type.
var elementOf = map[typ]num.Type{f16x2: num.F16, bf16x2: num.BF16}

func decodeCvt(d *decoder, in *ptx.Inst) error {
	if d.has("pack") {
		return decodeCvtPack(d, in)
	}
	f := d.formOf(in)
	if to, from, ok := cvtTypes(in); ok {
		return d.cvtSmall(in, f, to, from)
	}
	if len(f.types) != 2 || len(f.words) > 0 {
		return errNotModelled
	}
	d.readAll() // what cvtForm and cvtPair do not take they refuse
	dt, at := f.types[0], f.types[1]
	if _, pair := elementOf[dt]; pair {
		return d.cvtPair(in, f, dt, at)
	}
	dn, ok := numTypes[dt]
	an, ok2 := numTypes[at]
	if !ok || !ok2 || !cvtForm(f, dt, at) {
		return errNotModelled
	}
	return d.cvtScalar(in, f, dt, at, dn, an)
}

// cvtForm reports whether cvt has the form: the qualifiers that go with the
// types, and a rounding where one is needed.
func cvtForm(f *form, dt, at typ) bool {
	mods := num.Sat
	if dt == f32 || at == f32 {
		mods |= num.FTZ
	}
	integral := f.round && f.r >= num.RNI
	switch {
	case at == tf32:
		return false
	case dt == tf32:
		return at == f32 && f.round && f.r != num.RM && f.r != num.RP && !integral && f.m&^(num.Relu|num.SatFinite) == 0
	case f.r == num.RNA:
		return false
	case (dt == f16 || dt == bf16) && at == f32:
		mods |= num.Relu | num.SatFinite
	}
	if f.m&^mods != 0 {
		return false
	}
	f.imply(mods)
	switch {
	case !dt.float() && !at.float():
		return !f.round
	case !dt.float():
		return integral
	case !at.float():
		return f.round && !integral
	case dt.size() < at.size(), dt.size() == at.size() && dt != at:
		return f.round && !integral
	case dt.size() > at.size():
		return !f.round || at == bf16 && !integral
	}
	return !f.round || integral
}

// cvtSource resolves a source whose register may be wider than type t, and
// says whether its row is of 64 bits.
func (d *decoder) cvtSource(op ptx.Operand, t typ) (reg, bool, error) {
	if n, ok := op.(ptx.Name); ok {
		if y := d.symbol(n); y != nil && y.kind == symReg {
			if y.vec > 0 {
				return 0, false, d.whole(n)
			}
			if y.typ == pred || y.typ == b128 || y.typ.size() < t.size() {
				return 0, false, d.errorf("register %s has the wrong width for this instruction", n)
			}
			return y.reg, y.typ.wide(), nil
		}
	}
	r, err := d.src(op, t)
	return r, t.wide(), err
}

// cvtDest resolves a destination whose register may be wider than type t, and
// returns the width of that register in bytes.
func (d *decoder) cvtDest(op ptx.Operand, t typ) (reg, int32, error) {
	if _, ok := op.(ptx.Sink); ok {
		return d.temp(t), t.size(), nil
	}
	r, rt, err := d.register(op)
	if err != nil {
		return 0, 0, err
	}
	if rt == pred || rt == b128 || rt.size() < t.size() {
		return 0, 0, d.errorf("destination %s does not take a value of this instruction's type", op)
	}
	return r, rt.size(), nil
}

func (d *decoder) cvtScalar(in *ptx.Inst, f *form, dt, at typ, dn, an num.Type) error {
	if err := d.count(in, 2); err != nil {
		return err
	}
	if floatLiteral(in, at) {
		return errNotModelled
	}
	a, wideA, err := d.cvtSource(in.Operands[1], at)
	if err != nil {
		return err
	}
	r, size, err := d.cvtDest(in.Operands[0], dt)
	if err != nil {
		return err
	}
	exec := fastCvt(f, dt, at, size, wideA)
	if exec == nil {
		exec = slowCvt(f, dn, an, size, wideA)
	}
	d.emit(instr{exec: exec, d: r, a: a, t: dt, t2: at})
	return nil
}

// slowCvt converts any pair of types.
func slowCvt(f *form, dn, an num.Type, size int32, wideA bool) execFn {
	r, m := f.r, f.m
	cut := uint32(1<<(8*uint(min(size, 4))) - 1)
	switch {
	case size == 8 && wideA:
		return lane1(func(a uint64) uint64 { return num.Cvt(dn, an, r, m, a) })
	case size == 8:
		return lane1(func(a uint32) uint64 { return num.Cvt(dn, an, r, m, uint64(a)) })
	case wideA:
		return lane1(func(a uint64) uint32 { return uint32(num.Cvt(dn, an, r, m, a)) & cut })
	}
	return lane1(func(a uint32) uint32 { return uint32(num.Cvt(dn, an, r, m, uint64(a))) & cut })
}

// fastCvt has row functions for the conversions that address arithmetic and
// mixed precision are made of; it returns nil for the others.
func fastCvt(f *form, dt, at typ, size int32, wideA bool) execFn {
	if f.m == 0 && f.r == num.RZI && dt == s32 && at == f32 && size == 4 && !wideA {
		return rows1(s32FromF32Row)
	}
	if f.m != 0 || f.round && f.r != num.RN {
		return nil
	}
	if !dt.float() && !at.float() {
		return fastCvtInt(dt, at, size, wideA)
	}
	if wideA || size > 4 {
		return nil
	}
	switch [2]typ{dt, at} {
	case [2]typ{f32, s32}:
		return rows1(f32FromS32Row)
	case [2]typ{f32, u32}:
		return rows1(f32FromU32Row)
	case [2]typ{f32, f16}:
		return lane1(func(a uint32) uint32 { return num.F16ToF32(uint16(a)) })
	case [2]typ{f32, bf16}:
		return lane1(func(a uint32) uint32 { return num.BF16ToF32(uint16(a)) })
	case [2]typ{f16, f32}:
		return lane1(func(a uint32) uint32 { return uint32(num.F32ToF16(a)) })
	case [2]typ{bf16, f32}:
		return lane1(func(a uint32) uint32 { return uint32(num.F32ToBF16(a)) })
	}
	return nil
}

// fastCvtInt has the integer conversions between types of at most 32 bits
// and 64 bits that are a cut or an extension. size is the width of the
// destination register, which may be more than dt's.
func fastCvtInt(dt, at typ, size int32, wideA bool) execFn {
	exact := size == dt.size()
	switch {
	case dt.size() == 8 && wideA && at.size() == 8:
		return rows1(movRow[uint64])
	case dt.size() == 8 && at == u32 && !wideA:
		return rows1(zext64Row)
	case dt.size() == 8 && at == s32 && !wideA:
		return rows1(sext64Row)
	case dt.size() == 4 && exact && wideA && at.size() >= 4:
		return rows1(trunc32Row)
	case dt.size() == 2 && exact && wideA && at.size() >= 2:
		return rows1(trunc16Row)
	case wideA || size > 4:
		return nil
	case dt.size() == 4 && at.size() == 4:
		return rows1(movRow[uint32])
	case dt.size() == 4 && at == u16, dt == u16 && at.size() >= 2, exact && dt == s16 && at.size() >= 2:
		return rows1(cut16Row)
	case dt.size() == 4 && at == u8, dt == u8, exact && dt == s8:
		return rows1(cut8Row)
	case dt.size() == 4 && at == s16:
		return rows1(sext16Row)
	case dt.size() == 4 && at == s8:
		return rows1(sext8Row)
	}
	return nil
}

// cvtPair decodes cvt.f16x2.f32 and cvt.bf16x2.f32; alu_cvt_small.go has the other pairs.
func (d *decoder) cvtPair(in *ptx.Inst, f *form, dt, at typ) error {
	de, r, m := elementOf[dt], f.r, f.m
	if at != f32 || !f.round || r != num.RN && r != num.RZ || m&^(num.Relu|num.SatFinite) != 0 {
		return errNotModelled
	}
	return d.alu(in, lane2(func(a, b uint32) uint32 { return num.CvtPack2(de, r, m, a, b) }), b32, f32, f32)
}

// packTypes are the types that cvt.pack converts to, with their widths.
var packTypes = map[string]uint{
	"u2": 2, "s2": 2, "u4": 4, "s4": 4, "u8": 8, "s8": 8, "u16": 16, "s16": 16,
}

// decodeCvtPack decodes cvt.pack.sat.to.s32{.b32}.
func decodeCvtPack(d *decoder, in *ptx.Inst) error {
	d.readAll()
	mods := in.Mods
	if len(mods) < 4 || mods[0] != "pack" || mods[1] != "sat" || mods[3] != "s32" {
		return errNotModelled
	}
	width := packTypes[mods[2]]
	signed := strings.HasPrefix(mods[2], "s")
	switch {
	case width == 0:
		return errNotModelled
	case width == 16 && len(mods) == 4:
		return d.alu(in, lane2(func(a, b uint32) uint32 { return num.CvtPackSat(width, signed, a, b, 0) }), b32, s32, s32)
	case width < 16 && len(mods) == 5 && mods[4] == "b32":
		return d.alu(in, lane3(func(a, b, c uint32) uint32 { return num.CvtPackSat(width, signed, a, b, c) }), b32, s32, s32, b32)
	}
	return errNotModelled
}
