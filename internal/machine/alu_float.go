package machine

import (
	"muster/internal/num"
	"muster/ptx"
)

// Floating-point arithmetic (ISA, floating point instructions, half precision
// floating point instructions). add, sub, mul and mad without a rounding are
// rounded to nearest each; the assembler's licence to fuse them is not used.

var floatDecoders = map[string]decodeFn{
	"add":      byKind(addSub(addTable, num.AddSatS32), arith("add")),
	"sub":      byKind(addSub(subTable, num.SubSatS32), arith("sub")),
	"mul":      byKind(decodeMulInt, arith("mul")),
	"mad":      byKind(decodeMadInt, arith("mad")),
	"fma":      decodeFma,
	"div":      byKind(byType("ttt", divTable), decodeDivFloat),
	"abs":      byKind(byType("tt", absTable), arith("abs")),
	"neg":      byKind(byType("tt", negTable), arith("neg")),
	"min":      byKind(minMaxInt(minTable, minReluTable), arith("min")),
	"max":      byKind(minMaxInt(maxTable, maxReluTable), arith("max")),
	"rcp":      decodeRcp,
	"sqrt":     decodeSqrt,
	"rsqrt":    decodeRsqrt,
	"sin":      approx(num.SinF32),
	"cos":      approx(num.CosF32),
	"lg2":      approx(num.Lg2F32),
	"ex2":      decodeEx2,
	"tanh":     decodeTanh,
	"copysign": byType("ttt", map[typ]execFn{f32: lane2(num.CopySignF32), f64: lane2(num.CopySignF64)}),
}

// byKind chooses between the integer, the float and the carry form of an
// opcode that has several.
func byKind(integer, float decodeFn) decodeFn {
	return func(d *decoder, in *ptx.Inst) error {
		switch {
		case d.has("cc"):
			return decodeCarry(d, in)
		case ofFloats(in):
			return float(d, in)
		}
		return integer(d, in)
	}
}

// ofFloats looks for a float type among the modifiers; the assembler takes
// them in any order.
func ofFloats(in *ptx.Inst) bool {
	for _, w := range in.Mods {
		if typNames[w].float() {
			return true
		}
	}
	return false
}

// An arithOp is a float operation: which qualifiers and roundings each type
// takes, and what executes it.
type arithOp struct {
	sig     string
	rounded bool // a rounding is required of f32 and f64
	exact   bool // there is no rounding
	mods32  num.Mod
	mods16  num.Mod // f16 and f16x2; without FTZ and Sat, bf16 and bf16x2
	plain   map[typ]execFn
	f32     func(r num.Rounding, m num.Mod) execFn
	f64     func(r num.Rounding) execFn
	half    map[typ]func(m num.Mod) execFn
	// pair is for f32x2, which takes .ftz and, as f32, a rounding (sm_100).
	pair func(r num.Rounding, m num.Mod) execFn
}

var arithOps = map[string]*arithOp{
	"add": {
		sig: "ttt", mods32: num.FTZ | num.Sat, mods16: num.FTZ | num.Sat,
		plain: map[typ]execFn{f32: rows2(addF32Row), f64: rows2(addF64Row)},
		f32:   func(r num.Rounding, m num.Mod) execFn { return f32Two(num.AddF32, r, m) },
		f64:   func(r num.Rounding) execFn { return f64Two(num.AddF64, r) },
		half:  halfTwo(num.AddF16, num.AddF16x2, num.AddBF16, num.AddBF16x2),
		pair:  pairTwo(num.AddF32x2),
	},
	"sub": {
		sig: "ttt", mods32: num.FTZ | num.Sat, mods16: num.FTZ | num.Sat,
		plain: map[typ]execFn{f32: rows2(subF32Row)},
		f32:   func(r num.Rounding, m num.Mod) execFn { return f32Two(num.SubF32, r, m) },
		f64:   func(r num.Rounding) execFn { return f64Two(num.SubF64, r) },
		half:  halfTwo(num.SubF16, num.SubF16x2, num.SubBF16, num.SubBF16x2),
		pair:  pairTwo(num.SubF32x2),
	},
	"mul": {
		sig: "ttt", mods32: num.FTZ | num.Sat, mods16: num.FTZ | num.Sat,
		plain: map[typ]execFn{f32: rows2(mulF32Row), f64: rows2(mulF64Row)},
		f32:   func(r num.Rounding, m num.Mod) execFn { return f32Two(num.MulF32, r, m) },
		f64:   func(r num.Rounding) execFn { return f64Two(num.MulF64, r) },
		half:  halfTwo(num.MulF16, num.MulF16x2, num.MulBF16, num.MulBF16x2),
		pair:  pairTwo(num.MulF32x2),
	},
	"fma": {
		sig: "tttt", rounded: true, mods32: num.FTZ | num.Sat, mods16: num.FTZ | num.Sat | num.Relu,
		plain: fmaPlain, f32: fmaF32, f64: fmaF64,
		half: halfThree(num.FmaF16, num.FmaF16x2, num.FmaBF16, num.FmaBF16x2),
		pair: fmaF32x2,
	},
	// On sm_20 and above mad is fma, also that of modules for sm_1x; where its rounding may be
	// left out, it is to nearest even (ISA 9.7.3.7). It has no half forms.
	"mad": {
		sig: "tttt", rounded: true, mods32: num.FTZ | num.Sat,
		plain: fmaPlain, f32: fmaF32, f64: fmaF64,
	},
	"min": {
		sig: "ttt", exact: true,
		mods32: num.FTZ | num.NaN | num.XorSignAbs, mods16: num.FTZ | num.NaN | num.XorSignAbs,
		plain: map[typ]execFn{f32: rows2(minF32Row)},
		f32: func(_ num.Rounding, m num.Mod) execFn {
			return lane2(func(a, b uint32) uint32 { return num.MinF32(m, a, b) })
		},
		f64:  func(num.Rounding) execFn { return lane2(num.MinF64) },
		half: halfTwo(num.MinF16, num.MinF16x2, num.MinBF16, num.MinBF16x2),
	},
	"max": {
		sig: "ttt", exact: true,
		mods32: num.FTZ | num.NaN | num.XorSignAbs, mods16: num.FTZ | num.NaN | num.XorSignAbs,
		plain: map[typ]execFn{f32: rows2(maxF32Row)},
		f32: func(_ num.Rounding, m num.Mod) execFn {
			return lane2(func(a, b uint32) uint32 { return num.MaxF32(m, a, b) })
		},
		f64:  func(num.Rounding) execFn { return lane2(num.MaxF64) },
		half: halfTwo(num.MaxF16, num.MaxF16x2, num.MaxBF16, num.MaxBF16x2),
	},
	"neg": {
		sig: "tt", exact: true, mods32: num.FTZ, mods16: num.FTZ,
		f32: func(_ num.Rounding, m num.Mod) execFn {
			return lane1(func(a uint32) uint32 { return num.NegF32(m, a) })
		},
		f64:  func(num.Rounding) execFn { return lane1(num.NegF64) },
		half: halfOne(num.NegF16, num.NegF16x2, num.NegBF16, num.NegBF16x2),
	},
	"abs": {
		sig: "tt", exact: true, mods32: num.FTZ, mods16: num.FTZ,
		f32: func(_ num.Rounding, m num.Mod) execFn {
			return lane1(func(a uint32) uint32 { return num.AbsF32(m, a) })
		},
		f64:  func(num.Rounding) execFn { return lane1(num.AbsF64) },
		half: halfOne(num.AbsF16, num.AbsF16x2, num.AbsBF16, num.AbsBF16x2),
	},
}

// fmaOOB is fma.oob, which only the half precision types have.
var fmaOOB = &arithOp{
	sig: "tttt", rounded: true, mods16: num.Relu,
	half: halfThree(num.FmaOOBF16, num.FmaOOBF16x2, num.FmaOOBBF16, num.FmaOOBBF16x2),
}

func decodeFma(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	if f.take("oob") == "" {
		return arith("fma")(d, in)
	}
	if len(f.types) != 1 || fmaOOB.half[f.types[0]] == nil || floatLiteral(in, f.types[0]) {
		return errNotModelled
	}
	return d.typed(in, fmaOOB.sig, map[typ]execFn{f.types[0]: fmaOOB.exec(f)}, f.types[0])
}

var fmaPlain = map[typ]execFn{f32: rows3(fmaF32Row), f64: rows3(fmaF64Row)}

func fmaF32(r num.Rounding, m num.Mod) execFn {
	return lane3(func(a, b, c uint32) uint32 { return num.FmaF32(r, m, a, b, c) })
}

func fmaF64(r num.Rounding) execFn {
	return lane3(func(a, b, c uint64) uint64 { return num.FmaF64(r, a, b, c) })
}

func f32Two(f func(r num.Rounding, m num.Mod, a, b uint32) uint32, r num.Rounding, m num.Mod) execFn {
	return lane2(func(a, b uint32) uint32 { return f(r, m, a, b) })
}

func f64Two(f func(r num.Rounding, a, b uint64) uint64, r num.Rounding) execFn {
	return lane2(func(a, b uint64) uint64 { return f(r, a, b) })
}

type (
	one16   = func(m num.Mod, a uint16) uint16
	one32   = func(m num.Mod, a uint32) uint32
	two16   = func(m num.Mod, a, b uint16) uint16
	two32   = func(m num.Mod, a, b uint32) uint32
	three16 = func(m num.Mod, a, b, c uint16) uint16
	three32 = func(m num.Mod, a, b, c uint32) uint32
)

// halfOne, halfTwo and halfThree list an operation's functions for f16, f16x2,
// bf16 and bf16x2.
func halfOne(h one16, h2 one32, b one16, b2 one32) map[typ]func(num.Mod) execFn {
	single := func(f one16) func(num.Mod) execFn {
		return func(m num.Mod) execFn { return half1(func(a uint16) uint16 { return f(m, a) }) }
	}
	pair := func(f one32) func(num.Mod) execFn {
		return func(m num.Mod) execFn { return lane1(func(a uint32) uint32 { return f(m, a) }) }
	}
	return map[typ]func(num.Mod) execFn{f16: single(h), f16x2: pair(h2), bf16: single(b), bf16x2: pair(b2)}
}

func halfTwo(h two16, h2 two32, b two16, b2 two32) map[typ]func(num.Mod) execFn {
	single := func(f two16) func(num.Mod) execFn {
		return func(m num.Mod) execFn { return half2(func(a, b uint16) uint16 { return f(m, a, b) }) }
	}
	pair := func(f two32) func(num.Mod) execFn {
		return func(m num.Mod) execFn { return lane2(func(a, b uint32) uint32 { return f(m, a, b) }) }
	}
	return map[typ]func(num.Mod) execFn{f16: single(h), f16x2: pair(h2), bf16: single(b), bf16x2: pair(b2)}
}

func halfThree(h three16, h2 three32, b three16, b2 three32) map[typ]func(num.Mod) execFn {
	single := func(f three16) func(num.Mod) execFn {
		return func(m num.Mod) execFn { return half3(func(a, b, c uint16) uint16 { return f(m, a, b, c) }) }
	}
	pair := func(f three32) func(num.Mod) execFn {
		return func(m num.Mod) execFn { return lane3(func(a, b, c uint32) uint32 { return f(m, a, b, c) }) }
	}
	return map[typ]func(num.Mod) execFn{f16: single(h), f16x2: pair(h2), bf16: single(b), bf16x2: pair(b2)}
}

// arith makes the decoder of a float operation.
func arith(name string) decodeFn {
	op := arithOps[name]
	return func(d *decoder, in *ptx.Inst) error {
		f := d.formOf(in)
		switch {
		case len(f.types) == 2 && f.types[0] == f32:
			return d.mixed(in, f)
		case len(f.types) != 1 || op.exact && f.round || f.r > num.RP:
			return errNotModelled
		case op.exact && len(in.Operands) == 4:
			return d.minMax3(in, f)
		}
		exec := op.exec(f)
		if exec == nil || floatLiteral(in, f.types[0]) {
			return errNotModelled
		}
		return d.typed(in, op.sig, map[typ]execFn{f.types[0]: exec}, f.types[0])
	}
}

// exec returns what executes the form, or nil if there is no such form.
func (op *arithOp) exec(f *form) execFn {
	t := f.types[0]
	if row := f.d.cur.Form; op.rounded && !f.round && (row == nil || row.Gone == nil) {
		return nil
	}
	switch {
	case t == f32 && f.is(1, op.mods32):
		if e := op.plain[f32]; e != nil && f.r == num.RN && f.m == 0 {
			return e
		}
		return op.f32(f.r, f.m)
	case t == f64 && f.is(1, 0):
		if e := op.plain[f64]; e != nil && f.r == num.RN {
			return e
		}
		return op.f64(f.r)
	case t == f32x2 && op.pair != nil && f.is(1, num.FTZ):
		return op.pair(f.r, f.m)
	case op.half[t] == nil || f.r != num.RN:
		return nil
	case (t == f16 || t == f16x2) && f.is(1, op.mods16):
		return op.half[t](f.m)
	case (t == bf16 || t == bf16x2) && f.is(1, op.mods16&^(num.FTZ|num.Sat)):
		return op.half[t](f.m)
	}
	return nil
}

// floatLiteral reports whether a half precision instruction has a literal that
// is written as an f32 or f64: which bits that gives the ISA does not say.
func floatLiteral(in *ptx.Inst, t typ) bool {
	if t == f32 || t == f64 {
		return false
	}
	for _, op := range in.Operands {
		if _, ok := op.(ptx.Float); ok {
			return true
		}
	}
	return false
}

func decodeDivFloat(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	mode := f.take("approx", "full")
	if !f.is(1, num.FTZ) || f.round == (mode != "") || f.r > num.RP {
		return errNotModelled
	}
	r, m := f.r, f.m
	switch t := f.types[0]; {
	case t == f64 && mode == "" && m == 0:
		return d.alu(in, f64Two(num.DivF64, r), f64, f64, f64)
	case t != f32:
		return errNotModelled
	case mode == "approx":
		return d.alu(in, lane2(func(a, b uint32) uint32 { return num.DivApproxF32(m, a, b) }), f32, f32, f32)
	case mode == "full":
		return d.alu(in, lane2(func(a, b uint32) uint32 { return num.DivFullF32(m, a, b) }), f32, f32, f32)
	}
	return d.alu(in, f32Two(num.DivF32, r, m), f32, f32, f32)
}

// f32One executes an f32 function of one source with qualifiers.
func f32One(f one32, m num.Mod) execFn {
	return lane1(func(a uint32) uint32 { return f(m, a) })
}

func decodeRcp(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	approx := f.take("approx") != ""
	if !f.is(1, num.FTZ) || f.round == approx || f.r > num.RP {
		return errNotModelled
	}
	r, m := f.r, f.m
	switch t := f.types[0]; {
	case t == f32 && approx:
		return d.alu(in, f32One(num.RcpApproxF32, m), f32, f32)
	case t == f32:
		return d.alu(in, lane1(func(a uint32) uint32 { return num.RcpF32(r, m, a) }), f32, f32)
	case t == f64 && approx && m == num.FTZ:
		return d.alu(in, lane1(num.RcpApproxF64), f64, f64)
	case t == f64 && !approx && m == 0:
		return d.alu(in, lane1(func(a uint64) uint64 { return num.RcpF64(r, a) }), f64, f64)
	}
	return errNotModelled
}

func decodeSqrt(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	approx := f.take("approx") != ""
	if !f.is(1, num.FTZ) || f.round == approx || f.r > num.RP {
		return errNotModelled
	}
	r, m := f.r, f.m
	switch t := f.types[0]; {
	case t == f32 && approx:
		return d.alu(in, f32One(num.SqrtApproxF32, m), f32, f32)
	case t == f32:
		return d.alu(in, lane1(func(a uint32) uint32 { return num.SqrtF32(r, m, a) }), f32, f32)
	case t == f64 && !approx && m == 0:
		return d.alu(in, lane1(func(a uint64) uint64 { return num.SqrtF64(r, a) }), f64, f64)
	}
	return errNotModelled
}

func decodeRsqrt(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	if f.take("approx") == "" || !f.plain(1, num.FTZ) {
		return errNotModelled
	}
	switch t := f.types[0]; {
	case t == f32:
		return d.alu(in, f32One(num.RsqrtF32, f.m), f32, f32)
	case t == f64 && f.m == num.FTZ:
		return d.alu(in, lane1(num.RsqrtApproxFTZF64), f64, f64)
	case t == f64:
		return d.alu(in, lane1(num.RsqrtF64), f64, f64)
	}
	return errNotModelled
}

// approx makes the decoder of an approximation that only f32 has.
func approx(fn one32) decodeFn {
	return func(d *decoder, in *ptx.Inst) error {
		f := d.formOf(in)
		if f.take("approx") == "" || !f.plain(1, num.FTZ) || f.types[0] != f32 {
			return errNotModelled
		}
		return d.alu(in, f32One(fn, f.m), f32, f32)
	}
}

func decodeEx2(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	if f.take("approx") == "" || !f.plain(1, num.FTZ) {
		return errNotModelled
	}
	t := f.types[0]
	var exec execFn
	switch {
	case t == f32:
		exec = f32One(num.Ex2F32, f.m)
	case t == f16 && f.m == 0:
		exec = half1(num.Ex2F16)
	case t == f16x2 && f.m == 0:
		exec = lane1(num.Ex2F16x2)
	case t == bf16 && f.m == num.FTZ:
		exec = half1(num.Ex2BF16)
	case t == bf16x2 && f.m == num.FTZ:
		exec = lane1(num.Ex2BF16x2)
	}
	return d.alu(in, exec, t, t)
}

func decodeTanh(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	if f.take("approx") == "" || !f.plain(1, 0) {
		return errNotModelled
	}
	return d.typed(in, "tt", map[typ]execFn{
		f32:    lane1(num.TanhF32),
		f16:    half1(num.TanhF16),
		f16x2:  lane1(num.TanhF16x2),
		bf16:   half1(num.TanhBF16),
		bf16x2: lane1(num.TanhBF16x2),
	}, f.types[0])
}
