package machine

import (
	"muster/internal/num"
	"muster/ptx"
)

// Floating-point arithmetic that sm_100 adds: pairs of f32 (ISA 9.7.3.3 to 9.7.3.6), min and
// max of three (9.7.3.11, 9.7.3.12), and mixed precision (9.7.5).

func pairTwo(f func(r num.Rounding, m num.Mod, a, b uint64) uint64) func(num.Rounding, num.Mod) execFn {
	return func(r num.Rounding, m num.Mod) execFn {
		return lane2(func(a, b uint64) uint64 { return f(r, m, a, b) })
	}
}

func fmaF32x2(r num.Rounding, m num.Mod) execFn {
	return lane3(func(a, b, c uint64) uint64 { return num.FmaF32x2(r, m, a, b, c) })
}

// minMax3 decodes min and max of three f32.
func (d *decoder) minMax3(in *ptx.Inst, f *form) error {
	abs := f.take("abs") != ""
	if !f.plain(1, num.FTZ|num.NaN) || f.types[0] != f32 {
		return errNotModelled
	}
	fn, m := num.Min3F32, f.m
	if in.Op == "max" {
		fn = num.Max3F32
	}
	return d.alu(in, lane3(func(a, b, c uint32) uint32 { return fn(m, abs, a, b, c) }), f32, f32, f32, f32)
}

// mixed decodes add, sub and fma of f32 with sources of a half precision type, which are
// converted exactly.
func (d *decoder) mixed(in *ptx.Inst, f *form) error {
	t := f.types[1]
	from, ok := map[typ]num.Type{f16: num.F16, bf16: num.BF16}[t]
	if !ok || f.r > num.RP || in.Op == "fma" && !f.round || floatLiteral(in, t) || !f.is(2, num.Sat) {
		return errNotModelled
	}
	r, m := f.r, f.m
	wide := func(h uint32) uint32 { return num.HalfToF32(from, uint16(h)) }
	switch in.Op {
	case "add":
		return d.alu(in, lane2(func(a, c uint32) uint32 { return num.AddF32(r, m, wide(a), c) }), f32, t, f32)
	case "sub":
		return d.alu(in, lane2(func(a, c uint32) uint32 { return num.SubF32(r, m, wide(a), c) }), f32, t, f32)
	case "fma":
		return d.alu(in, lane3(func(a, b, c uint32) uint32 { return num.FmaF32(r, m, wide(a), wide(b), c) }), f32, t, t, f32)
	}
	return errNotModelled
}
