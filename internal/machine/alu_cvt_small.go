package machine

import (
	"muster/internal/num"
	"muster/ptx"
)

// Conversions to and from pairs of 8, 6 and 4 bits and powers of two, and those with random
// bits (ISA 9.7.9.21), which sm_100 adds. Pairs of fixed-point numbers (.s2f6x2) are not
// modelled: for what exceeds their range the text names a largest value in two ways. Nor is
// .rs to four elements: which random bits each of them takes is in a figure alone.

// A smallPair is a packed pair as a type of cvt: what its elements are, and the register type
// that it takes.
type smallPair struct {
	elem num.Type
	reg  typ
}

var smallPairs = map[string]smallPair{
	"e4m3x2": {num.E4M3, b16}, "e5m2x2": {num.E5M2, b16}, "e2m3x2": {num.E2M3, b16}, "e3m2x2": {num.E3M2, b16},
	"e2m1x2": {num.E2M1, b8}, "ue8m0x2": {num.UE8M0, b16},
	"f16x2": {num.F16, b32}, "bf16x2": {num.BF16, b32},
}

// cvtTypes gives the types of a cvt that has a pair of small floats or .rs: the last two
// words of its modifiers that name types. ok is false for any other cvt.
func cvtTypes(in *ptx.Inst) (to, from string, ok bool) {
	var types []string
	for _, m := range in.Mods {
		if _, small := smallPairs[m]; small || typNames[m] != tNone {
			types = append(types, m)
		}
	}
	if len(types) != 2 {
		return "", "", false
	}
	small := func(t string) bool { p, is := smallPairs[t]; return is && p.reg != b32 }
	return types[0], types[1], small(types[0]) || small(types[1]) || has(in, "rs")
}

// cvtSmall decodes a conversion that has a pair of small floats or random bits.
func (d *decoder) cvtSmall(in *ptx.Inst, f *form, to, from string) error {
	scaled := f.take("scaled::n2::ue8m0") != ""
	rs := f.take("rs") != ""
	for _, m := range in.Mods { // pairs that typNames lacks
		if smallPairs[m].reg != tNone {
			f.take(m)
		}
	}
	dp, ap := smallPairs[to], smallPairs[from]
	d.readAll()
	switch {
	case len(f.words) > 0, rs == f.round, floatLiteral(in, typNames[from]):
		return errNotModelled
	case rs:
		return d.cvtStochastic(in, f, dp, from)
	case dp.reg == b32:
		return d.cvtFromSmall(in, f, dp, ap, scaled)
	case scaled, dp.reg == tNone:
		return errNotModelled
	case dp.elem == num.UE8M0:
		if f.r != num.RZ && f.r != num.RP || f.m&^num.SatFinite != 0 {
			return errNotModelled
		}
	case f.r != num.RN, f.m&^num.Relu != num.SatFinite:
		return errNotModelled
	}
	return d.cvtToSmall(in, f, dp, ap, from)
}

// cvtToSmall decodes a conversion to a small pair, of two f32 or of a pair of a half
// precision type.
func (d *decoder) cvtToSmall(in *ptx.Inst, f *form, to, ap smallPair, from string) error {
	r, m, elem, half := f.r, f.m, to.elem, ap.elem
	switch {
	case from == "f32":
		return d.alu(in, lane2(func(a, b uint32) uint32 { return num.CvtPack2(elem, r, m, a, b) }), to.reg, f32, f32)
	case ap.reg == b32 && (elem != num.UE8M0 || half == num.BF16):
		return d.alu(in, lane1(func(a uint32) uint32 { return num.CvtPack2Half(elem, half, r, m, a) }), to.reg, b32)
	}
	return errNotModelled
}

// cvtFromSmall decodes a conversion of a small pair to f16x2 or bf16x2.
func (d *decoder) cvtFromSmall(in *ptx.Inst, f *form, to, from smallPair, scaled bool) error {
	m, elem, half := f.m, from.elem, to.elem
	powers := elem == num.UE8M0
	mods := num.Relu
	if half == num.BF16 {
		mods |= num.SatFinite
	}
	switch {
	case f.r != num.RN, from.reg != b16 && from.reg != b8, m&^mods != 0, powers && (m != 0 || half != num.BF16), scaled && (half != num.BF16 || powers):
		return errNotModelled
	case scaled:
		return d.alu(in, lane2(func(a, s uint32) uint32 { return num.CvtUnpackScaled2(elem, m, a, s) }), b32, from.reg, b16)
	}
	return d.alu(in, lane1(func(a uint32) uint32 { return num.CvtUnpack2(half, elem, m, a) }), b32, from.reg)
}

// cvtStochastic decodes cvt.rs to a pair of a half precision type.
func (d *decoder) cvtStochastic(in *ptx.Inst, f *form, to smallPair, from string) error {
	if to.reg != b32 || from != "f32" || f.m&^(num.Relu|num.SatFinite) != 0 {
		return errNotModelled
	}
	m, half := f.m, to.elem
	return d.alu(in, lane3(func(a, b, random uint32) uint32 { return num.CvtStochastic2(half, m, a, b, random) }), b32, f32, f32, b32)
}

// A pairCvt is a cvt that works on the elements of pairs apart: how wide an element is in the
// result and how many of these bits its value takes, and in the source, 0 for two f32.
type pairCvt struct {
	slot, bits uint
	from       uint
	random     bool
	scaled     bool
}

// pairsOf says how a cvt works on pairs; not ok for any other.
func pairsOf(in *ptx.Inst) (p pairCvt, ok bool) {
	to, from, small := cvtTypes(in)
	t, pair := smallPairs[to]
	f, pairs := smallPairs[from]
	if !pair || !pairs && from != "f32" || !small && pairs {
		return p, false
	}
	return pairCvt{uint(4 * t.reg.size()), t.elem.Bits(), uint(4 * f.reg.size()), has(in, "rs"), has(in, "scaled::n2::ue8m0")}, true
}

// undefined returns the undefined bits of the result: an element of it depends on the same
// element of each source.
func (p pairCvt) undefined(o []bitsOf) (got uint64) {
	elements := func(v uint64, w uint) [2]uint64 { return [2]uint64{v & ones(w), v >> w & ones(w)} }
	all := [2]uint64{o[1].bits, o[0].bits}
	if p.from != 0 {
		all = elements(o[0].bits, p.from)
	}
	var more [2]uint64
	switch {
	case p.random:
		more = elements(o[2].bits, 16)
	case p.scaled:
		more = elements(o[1].bits, 8)
	}
	for i := range all {
		if all[i]|more[i] != 0 {
			got |= ones(p.bits) << (uint(i) * p.slot)
		}
	}
	return got
}
