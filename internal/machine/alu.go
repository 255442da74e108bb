package machine

import (
	"math/bits"
	"slices"

	"muster/internal/num"
	"muster/ptx"
)

// The files alu*.go decode and execute the instructions that read and write
// registers only. Package num computes the values; these files know each
// instruction's operands and how they lie in rows.
//
// Execution is by row. The hot instructions are row functions: a loop over
// slices, called once for each run of consecutive active lanes, which is once
// for a full warp. The others are lane functions, called once a lane. Both are
// wrapped, when the instruction is decoded, into its exec function; a type
// argument is uint32 or uint64, the class of a row. Values narrower than 32
// bits are kept zero-extended in their rows, so every producer truncates.
//
// A lane's sources are read before its destination is written, so an
// instruction may name one register twice; instructions with several destinations
// ensure this themselves.

// aluDecoders has the decoder of every instruction on registers, by the part
// of its opcode before the first dot.
var aluDecoders = join(intDecoders, carryDecoders, logicDecoders, floatDecoders, moveDecoders, predDecoders, videoDecoders)

const allLanes = ^uint32(0)

// word is the class of a row of registers.
type word interface{ uint32 | uint64 }

// dstRow and srcRow are w32, w64, a32 and a64, by type.
func dstRow[T word](x *ctx, r reg) *[32]T {
	var z T
	if _, ok := any(z).(uint32); ok {
		return any(x.w32(r)).(*[32]T)
	}
	return any(x.w64(r)).(*[32]T)
}

func srcRow[T word](x *ctx, r reg) *[32]T {
	var z T
	if _, ok := any(z).(uint32); ok {
		return any(x.a32(r)).(*[32]T)
	}
	return any(x.a64(r)).(*[32]T)
}

// firstRun is the lowest run of ones of a mask that is not zero, as a range.
func firstRun(mask uint32) (lo, hi int) {
	lo = bits.TrailingZeros32(mask) & 31
	hi = min(lo+bits.TrailingZeros32(^(mask>>lo)), 32)
	return lo, hi
}

// rows1 executes a row function of one source; rows2 and rows3 likewise.
func rows1[D, A word](k func(d []D, a []A)) execFn {
	return func(x *ctx, in *instr, mask uint32) {
		d, a := dstRow[D](x, in.d), srcRow[A](x, in.a)
		if mask == allLanes {
			k(d[:], a[:])
			return
		}
		for mask != 0 {
			lo, hi := firstRun(mask)
			k(d[lo:hi], a[lo:hi])
			mask &= allLanes << hi
		}
	}
}

func rows2[D, A, B word](k func(d []D, a []A, b []B)) execFn {
	return func(x *ctx, in *instr, mask uint32) {
		d, a, b := dstRow[D](x, in.d), srcRow[A](x, in.a), srcRow[B](x, in.b)
		if mask == allLanes {
			k(d[:], a[:], b[:])
			return
		}
		for mask != 0 {
			lo, hi := firstRun(mask)
			k(d[lo:hi], a[lo:hi], b[lo:hi])
			mask &= allLanes << hi
		}
	}
}

func rows3[D, A, B, C word](k func(d []D, a []A, b []B, c []C)) execFn {
	return func(x *ctx, in *instr, mask uint32) {
		d, a, b, c := dstRow[D](x, in.d), srcRow[A](x, in.a), srcRow[B](x, in.b), srcRow[C](x, in.c)
		if mask == allLanes {
			k(d[:], a[:], b[:], c[:])
			return
		}
		for mask != 0 {
			lo, hi := firstRun(mask)
			k(d[lo:hi], a[lo:hi], b[lo:hi], c[lo:hi])
			mask &= allLanes << hi
		}
	}
}

// lane1 executes a lane function of one source; lane2, lane3 and lane4
// likewise. The fourth source's row is in.target.
func lane1[D, A word](f func(A) D) execFn {
	return func(x *ctx, in *instr, mask uint32) {
		d, a := dstRow[D](x, in.d), srcRow[A](x, in.a)
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i])
		}
	}
}

func lane2[D, A, B word](f func(A, B) D) execFn {
	return func(x *ctx, in *instr, mask uint32) {
		d, a, b := dstRow[D](x, in.d), srcRow[A](x, in.a), srcRow[B](x, in.b)
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i], b[i])
		}
	}
}

func lane3[D, A, B, C word](f func(A, B, C) D) execFn {
	return func(x *ctx, in *instr, mask uint32) {
		d, a, b, c := dstRow[D](x, in.d), srcRow[A](x, in.a), srcRow[B](x, in.b), srcRow[C](x, in.c)
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

func lane4[D, A, B, C, E word](f func(A, B, C, E) D) execFn {
	return func(x *ctx, in *instr, mask uint32) {
		d, a, b, c, e := dstRow[D](x, in.d), srcRow[A](x, in.a), srcRow[B](x, in.b), srcRow[C](x, in.c), srcRow[E](x, reg(in.target))
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i], b[i], c[i], e[i])
		}
	}
}

// half1 to half3 execute functions on 16-bit values.
func half1(f func(uint16) uint16) execFn {
	return lane1(func(a uint32) uint32 { return uint32(f(uint16(a))) })
}

func half2(f func(a, b uint16) uint16) execFn {
	return lane2(func(a, b uint32) uint32 { return uint32(f(uint16(a), uint16(b))) })
}

func half3(f func(a, b, c uint16) uint16) execFn {
	return lane3(func(a, b, c uint32) uint32 { return uint32(f(uint16(a), uint16(b), uint16(c))) })
}

// A form is what an instruction's modifiers say, sorted: rounding, the
// qualifiers that num knows, types, and the other words.
type form struct {
	d     *decoder
	flush bool // .ftz is implied, where the instruction has it, as on sm_1x (ISA 13, version 2.0)
	r     num.Rounding
	round bool // a rounding is written
	m     num.Mod
	types []typ
	words []string
}

var roundings = map[string]num.Rounding{
	"rn": num.RN, "rz": num.RZ, "rm": num.RM, "rp": num.RP, "rna": num.RNA,
	"rni": num.RNI, "rzi": num.RZI, "rmi": num.RMI, "rpi": num.RPI,
}

var qualifiers = map[string]num.Mod{
	"ftz": num.FTZ, "sat": num.Sat, "relu": num.Relu, "satfinite": num.SatFinite, "NaN": num.NaN,
}

func (d *decoder) formOf(in *ptx.Inst) *form {
	f := &form{d: d, flush: sm1x(d.unit().Target)}
	signs := has(in, "xorsign") && has(in, "abs")
	for _, w := range in.Mods {
		if t, ok := typNames[w]; ok {
			f.types = append(f.types, t)
		} else if r, ok := roundings[w]; ok && !f.round {
			f.r, f.round = r, true
		} else if q, ok := qualifiers[w]; ok && f.m&q == 0 {
			f.m |= q
		} else if signs && (w == "xorsign" || w == "abs") {
			f.m |= num.XorSignAbs
		} else {
			f.words = append(f.words, w)
		}
	}
	return f
}

// take removes one of the given words and returns it; it returns "" if the
// instruction has none of them.
func (f *form) take(words ...string) string {
	for i, w := range f.words {
		if slices.Contains(words, w) {
			f.words = slices.Delete(f.words, i, i+1)
			return w
		}
	}
	return ""
}

// is reports whether the form has exactly that many types, only qualifiers in
// mods, and no word left; if so, it marks all modifiers as read.
func (f *form) is(types int, mods num.Mod) bool {
	if len(f.words) > 0 || len(f.types) != types || f.m&^mods != 0 {
		return false
	}
	f.imply(mods)
	f.d.readAll()
	return true
}

// imply adds the qualifiers that are implied, of those that the form may have. Up to PTX 1.4
// conversions from and to 64 bits do not flush (ISA 9.7.9.21).
func (f *form) imply(mods num.Mod) {
	if !f.flush || !slices.Contains(f.types, f32) {
		return
	}
	if wide := slices.ContainsFunc(f.types, typ.wide); !wide || !f.d.unit().Version.Before(ptx.Version{Major: 1, Minor: 5}) {
		f.m |= mods & num.FTZ
	}
}

// plain is like is, and requires that no rounding is written.
func (f *form) plain(types int, mods num.Mod) bool { return !f.round && f.is(types, mods) }

func (f *form) has(q num.Mod) bool { return f.m&q != 0 }

// alu emits an instruction with one destination and up to four sources.
func (d *decoder) alu(in *ptx.Inst, exec execFn, dt typ, st ...typ) error {
	if exec == nil {
		return errNotModelled
	}
	if err := d.count(in, 1+len(st)); err != nil {
		return err
	}
	rows, err := d.srcs(in, 1, st...)
	if err != nil {
		return err
	}
	i := instr{exec: exec, t: dt}
	if i.d, err = d.dst(in.Operands[0], dt); err != nil {
		return err
	}
	i.setSources(rows)
	d.emit(i)
	return nil
}

func (i *instr) setSources(rows []reg) {
	for k, r := range rows {
		switch k {
		case 0:
			i.a = r
		case 1:
			i.b = r
		case 2:
			i.c = r
		case 3:
			i.target = int32(r)
		}
	}
}

func (d *decoder) count(in *ptx.Inst, n int) error {
	if len(in.Operands) != n {
		return d.errorf("%s takes %d operands, not %d", Name(in), n, len(in.Operands))
	}
	return nil
}

// widened is the type of twice the width.
func (t typ) widened() typ {
	switch t {
	case u8, b8:
		return u16
	case s8:
		return s16
	case u16, b16:
		return u32
	case s16:
		return s32
	case u32, b32:
		return u64
	case s32:
		return s64
	}
	return tNone
}

// signature gives the operand types that a string describes for an
// instruction of type t, destination first: t is the type itself, w the type
// of twice the width, u a u32, p a predicate.
func signature(sig string, t typ) []typ {
	types := make([]typ, len(sig))
	for i, c := range []byte(sig) {
		switch c {
		case 'w':
			types[i] = t.widened()
		case 'u':
			types[i] = u32
		case 'p':
			types[i] = pred
		default:
			types[i] = t
		}
	}
	return types
}

// byType makes the decoder of an instruction whose only modifier is its type.
func byType(sig string, table map[typ]execFn) decodeFn {
	return func(d *decoder, in *ptx.Inst) error {
		f := d.formOf(in)
		if !f.plain(1, 0) {
			return errNotModelled
		}
		return d.typed(in, sig, table, f.types[0])
	}
}

func (d *decoder) typed(in *ptx.Inst, sig string, table map[typ]execFn, t typ) error {
	types := signature(sig, t)
	return d.alu(in, table[t], types[0], types[1:]...)
}

// forTypes makes a table with one function for several types.
func forTypes(e execFn, types ...typ) map[typ]execFn {
	m := map[typ]execFn{}
	for _, t := range types {
		m[t] = e
	}
	return m
}

// merge joins tables.
func merge(tables ...map[typ]execFn) map[typ]execFn {
	all := map[typ]execFn{}
	for _, t := range tables {
		for k, e := range t {
			all[k] = e
		}
	}
	return all
}

// sm1x reports whether a module is for an architecture before sm_20.
func sm1x(target []string) bool {
	sm, ok := (&ptx.Module{Target: target}).Architecture()
	return ok && sm.Number < 20
}
