package machine

import (
	"muster/internal/num"
	"muster/ptx"
)

// Integer arithmetic (ISA, integer arithmetic instructions). Instructions
// that exist for floats too come here through byKind.

var intDecoders = map[string]decodeFn{
	"mul24": decodeMul24,
	"mad24": decodeMad24,
	"clmad": decodeClmad,
	"sad":   byType("tttt", sadTable),
	"rem":   byType("ttt", remTable),
	"popc": byType("ut", map[typ]execFn{
		b32: lane1(num.Popc32),
		b64: lane1(num.Popc64),
	}),
	"clz": byType("ut", map[typ]execFn{
		b32: lane1(num.Clz32),
		b64: lane1(num.Clz64),
	}),
	"brev": byType("tt", map[typ]execFn{
		b32: lane1(num.Brev32),
		b64: lane1(num.Brev64),
	}),
	"bfe": byType("ttuu", map[typ]execFn{
		u32: rows3(bfeU32Row),
		s32: lane3(num.BfeS32),
		u64: lane3(num.BfeU64),
		s64: lane3(num.BfeS64),
	}),
	"bfi": byType("tttuu", map[typ]execFn{
		b32: lane4(num.Bfi32),
		b64: lane4(num.Bfi64),
	}),
	"fns": byType("tttt", map[typ]execFn{
		b32: lane3(func(m, base, off uint32) uint32 { return num.Fns(m, base, int32(off)) }),
	}),
	"bfind": decodeBfind,
	"szext": decodeSzext,
	"bmsk":  decodeBmsk,
	"dp4a":  decodeDp4a,
	"dp2a":  decodeDp2a,
}

func decodeClmad(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	hi := f.take("hi", "lo") == "hi"
	if !f.plain(1, 0) || f.types[0] != u64 {
		return errNotModelled
	}
	return d.alu(in, lane3(func(a, b, c uint64) uint64 { return num.Clmad(hi, a, b, c) }), u64, u64, u64, u64)
}

// packed2 works on the two halves of a register.
func packed2(f func(a, b uint16) uint16) execFn {
	return lane2(func(a, b uint32) uint32 {
		return uint32(f(uint16(a>>16), uint16(b>>16)))<<16 | uint32(f(uint16(a), uint16(b)))
	})
}

func add16(a, b uint16) uint16 { return a + b }

var addTable = map[typ]execFn{
	u16: half2(add16), s16: half2(add16),
	u32: rows2(addRow[uint32]), s32: rows2(addRow[uint32]),
	u64: rows2(addRow[uint64]), s64: rows2(addRow[uint64]),
	u16x2: packed2(add16), s16x2: packed2(add16),
}

func sub16(a, b uint16) uint16 { return a - b }

var subTable = map[typ]execFn{
	u16: half2(sub16), s16: half2(sub16),
	u32: rows2(subRow[uint32]), s32: rows2(subRow[uint32]),
	u64: rows2(subRow[uint64]), s64: rows2(subRow[uint64]),
}

// addSub makes the decoder of add and sub, whose s32 form may saturate.
func addSub(table map[typ]execFn, sat func(a, b uint32) uint32) decodeFn {
	saturating := map[typ]execFn{s32: lane2(sat)}
	return func(d *decoder, in *ptx.Inst) error {
		f := d.formOf(in)
		if !f.plain(1, num.Sat) {
			return errNotModelled
		}
		if f.has(num.Sat) {
			return d.typed(in, "ttt", saturating, f.types[0])
		}
		return d.typed(in, "ttt", table, f.types[0])
	}
}

func mul16(a, b uint16) uint16 { return a * b }

var mulTables = map[string]map[typ]execFn{
	"lo": {
		u16: half2(mul16), s16: half2(mul16),
		u32: rows2(mulRow[uint32]), s32: rows2(mulRow[uint32]),
		u64: rows2(mulRow[uint64]), s64: rows2(mulRow[uint64]),
	},
	"hi": {
		u16: half2(num.MulHiU16), s16: half2(num.MulHiS16),
		u32: lane2(num.MulHiU32), s32: lane2(num.MulHiS32),
		u64: lane2(num.MulHiU64), s64: lane2(num.MulHiS64),
	},
	"wide": {
		u16: lane2(mulWideU16), s16: lane2(mulWideS16),
		u32: rows2(mulWideU32Row), s32: rows2(mulWideS32Row),
	},
}

func mulWideU16(a, b uint32) uint32 { return a & 0xffff * (b & 0xffff) }
func mulWideS16(a, b uint32) uint32 { return uint32(int32(int16(a)) * int32(int16(b))) }

func decodeMulInt(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	mode := f.take("lo", "hi", "wide")
	if mode == "" || !f.plain(1, 0) {
		return errNotModelled
	}
	if mode == "wide" {
		return d.typed(in, "wtt", mulTables[mode], f.types[0])
	}
	return d.typed(in, "ttt", mulTables[mode], f.types[0])
}

var madTables = map[string]map[typ]execFn{
	"lo": {
		u16: half3(mad16), s16: half3(mad16),
		u32: rows3(madRow[uint32]), s32: rows3(madRow[uint32]),
		u64: rows3(madRow[uint64]), s64: rows3(madRow[uint64]),
	},
	"hi": {
		u16: half3(func(a, b, c uint16) uint16 { return num.MulHiU16(a, b) + c }),
		s16: half3(func(a, b, c uint16) uint16 { return num.MulHiS16(a, b) + c }),
		u32: lane3(func(a, b, c uint32) uint32 { return num.MulHiU32(a, b) + c }),
		s32: lane3(func(a, b, c uint32) uint32 { return num.MulHiS32(a, b) + c }),
		u64: lane3(func(a, b, c uint64) uint64 { return num.MulHiU64(a, b) + c }),
		s64: lane3(func(a, b, c uint64) uint64 { return num.MulHiS64(a, b) + c }),
	},
	"wide": {
		u16: lane3(func(a, b, c uint32) uint32 { return mulWideU16(a, b) + c }),
		s16: lane3(func(a, b, c uint32) uint32 { return mulWideS16(a, b) + c }),
		u32: rows3(madWideU32Row),
		s32: rows3(madWideS32Row),
	},
	"hi.sat": {s32: lane3(num.MadHiSatS32)},
}

func mad16(a, b, c uint16) uint16 { return a*b + c }

func decodeMadInt(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	mode := f.take("lo", "hi", "wide")
	if mode == "" || !f.plain(1, num.Sat) {
		return errNotModelled
	}
	if f.has(num.Sat) {
		mode += ".sat"
	}
	if mode == "wide" {
		return d.typed(in, "wttw", madTables[mode], f.types[0])
	}
	return d.typed(in, "tttt", madTables[mode], f.types[0])
}

func decodeMul24(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	mode := f.take("lo", "hi")
	if mode == "" || !f.plain(1, 0) {
		return errNotModelled
	}
	signed := f.types[0] == s32
	exec := lane2(func(a, b uint32) uint32 { return num.Mul24Lo(signed, a, b) })
	if mode == "hi" {
		exec = lane2(func(a, b uint32) uint32 { return num.Mul24Hi(signed, a, b) })
	}
	return d.typed(in, "ttt", forTypes(exec, u32, s32), f.types[0])
}

func decodeMad24(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	mode := f.take("lo", "hi")
	if mode == "" || !f.plain(1, num.Sat) {
		return errNotModelled
	}
	signed := f.types[0] == s32
	switch {
	case f.has(num.Sat) && mode == "hi":
		return d.typed(in, "tttt", map[typ]execFn{s32: lane3(num.Mad24HiSatS32)}, f.types[0])
	case f.has(num.Sat):
		return errNotModelled
	case mode == "hi":
		return d.typed(in, "tttt", forTypes(lane3(func(a, b, c uint32) uint32 { return num.Mul24Hi(signed, a, b) + c }), u32, s32), f.types[0])
	}
	return d.typed(in, "tttt", forTypes(lane3(func(a, b, c uint32) uint32 { return num.Mul24Lo(signed, a, b) + c }), u32, s32), f.types[0])
}

func sext16(a uint16) uint64 { return uint64(int64(int16(a))) }

var sadTable = map[typ]execFn{
	u16: half3(func(a, b, c uint16) uint16 { return uint16(num.SadU32(uint32(a), uint32(b), uint32(c))) }),
	s16: half3(func(a, b, c uint16) uint16 { return uint16(num.SadS64(sext16(a), sext16(b), uint64(c))) }),
	u32: lane3(num.SadU32),
	s32: lane3(num.SadS32),
	u64: lane3(num.SadU64),
	s64: lane3(num.SadS64),
}

var divTable = map[typ]execFn{
	u16: half2(num.DivU16), s16: half2(num.DivS16),
	u32: lane2(num.DivU32), s32: lane2(num.DivS32),
	u64: lane2(num.DivU64), s64: lane2(num.DivS64),
}

var remTable = map[typ]execFn{
	u16: half2(num.RemU16), s16: half2(num.RemS16),
	u32: lane2(num.RemU32), s32: lane2(num.RemS32),
	u64: lane2(num.RemU64), s64: lane2(num.RemS64),
}

var negTable = map[typ]execFn{
	s16: half1(func(a uint16) uint16 { return -a }),
	s32: rows1(negRow[uint32]),
	s64: rows1(negRow[uint64]),
}

// The smallest integer has no positive counterpart and stays as it is.
var absTable = map[typ]execFn{
	s16: half1(func(a uint16) uint16 {
		if a>>15 != 0 {
			return -a
		}
		return a
	}),
	s32: lane1(func(a uint32) uint32 { return uint32(max(int32(a), -int32(a))) }),
	s64: lane1(func(a uint64) uint64 { return uint64(max(int64(a), -int64(a))) }),
}

func minU16(a, b uint16) uint16 { return min(a, b) }
func maxU16(a, b uint16) uint16 { return max(a, b) }
func minS16(a, b uint16) uint16 { return uint16(min(int16(a), int16(b))) }
func maxS16(a, b uint16) uint16 { return uint16(max(int16(a), int16(b))) }

var minTable = map[typ]execFn{
	u16: half2(minU16), s16: half2(minS16), u16x2: packed2(minU16), s16x2: packed2(minS16),
	u32: rows2(minRow[uint32]), s32: rows2(minS32Row),
	u64: rows2(minRow[uint64]), s64: rows2(minS64Row),
}

var maxTable = map[typ]execFn{
	u16: half2(maxU16), s16: half2(maxS16), u16x2: packed2(maxU16), s16x2: packed2(maxS16),
	u32: rows2(maxRow[uint32]), s32: rows2(maxS32Row),
	u64: rows2(maxRow[uint64]), s64: rows2(maxS64Row),
}

var minReluTable = map[typ]execFn{
	s16x2: packed2(func(a, b uint16) uint16 { return maxS16(minS16(a, b), 0) }),
	s32:   lane2(func(a, b uint32) uint32 { return uint32(max(min(int32(a), int32(b)), 0)) }),
}

var maxReluTable = map[typ]execFn{
	s16x2: packed2(func(a, b uint16) uint16 { return maxS16(maxS16(a, b), 0) }),
	s32:   lane2(func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b), 0)) }),
}

func minMaxInt(table, relu map[typ]execFn) decodeFn {
	return func(d *decoder, in *ptx.Inst) error {
		f := d.formOf(in)
		if !f.plain(1, num.Relu) {
			return errNotModelled
		}
		if f.has(num.Relu) {
			return d.typed(in, "ttt", relu, f.types[0])
		}
		return d.typed(in, "ttt", table, f.types[0])
	}
}

func decodeBfind(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	amount := f.take("shiftamt") != ""
	if !f.plain(1, 0) {
		return errNotModelled
	}
	signed := f.types[0].signed()
	word := lane1(func(a uint32) uint32 { return num.Bfind32(signed, amount, a) })
	long := lane1(func(a uint64) uint32 { return num.Bfind64(signed, amount, a) })
	return d.typed(in, "ut", map[typ]execFn{u32: word, s32: word, u64: long, s64: long}, f.types[0])
}

func decodeSzext(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	mode := f.take("clamp", "wrap")
	if mode == "" || !f.plain(1, 0) {
		return errNotModelled
	}
	wrap, signed := mode == "wrap", f.types[0].signed()
	exec := lane2(func(a, n uint32) uint32 { return num.Szext(wrap, signed, a, n) })
	return d.typed(in, "ttu", forTypes(exec, u32, s32), f.types[0])
}

func decodeBmsk(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	mode := f.take("clamp", "wrap")
	if mode == "" || !f.plain(1, 0) {
		return errNotModelled
	}
	wrap := mode == "wrap"
	exec := lane2(func(pos, n uint32) uint32 { return num.Bmsk(wrap, pos, n) })
	return d.typed(in, "ttt", forTypes(exec, b32), f.types[0])
}

func wordType(t typ) bool { return t == u32 || t == s32 }

func decodeDp4a(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	if !f.plain(2, 0) || !wordType(f.types[0]) || !wordType(f.types[1]) {
		return errNotModelled
	}
	sa, sb := f.types[0] == s32, f.types[1] == s32
	exec := lane3(func(a, b, c uint32) uint32 { return num.Dp4a(sa, sb, a, b, c) })
	return d.alu(in, exec, b32, b32, b32, b32)
}

func decodeDp2a(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	mode := f.take("lo", "hi")
	if mode == "" || !f.plain(2, 0) || !wordType(f.types[0]) || !wordType(f.types[1]) {
		return errNotModelled
	}
	hi, sa, sb := mode == "hi", f.types[0] == s32, f.types[1] == s32
	exec := lane3(func(a, b, c uint32) uint32 { return num.Dp2a(hi, sa, sb, a, b, c) })
	return d.alu(in, exec, b32, b32, b32, b32)
}
