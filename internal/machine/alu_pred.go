package machine

import (
	"math"
	"math/bits"

	"muster/internal/num"
	"muster/ptx"
)

// Comparison, selection and predicates (ISA, comparison and selection
// instructions). A comparison gives the mask of the lanes in which it holds.

var predDecoders = map[string]decodeFn{
	"setp":  decodeSetp,
	"set":   decodeSet,
	"selp":  byType("tttp", selpTable),
	"slct":  decodeSlct,
	"testp": decodeTestp,
}

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// setPred writes the lanes in mask of a predicate.
func (x *ctx) setPred(r reg, v, mask uint32) { x.p[r] = x.p[r]&^mask | v&mask }

func execPredConst(x *ctx, in *instr, mask uint32) { x.setPred(in.d, -uint32(in.op), mask) }
func execPredNot(x *ctx, in *instr, mask uint32)   { x.setPred(in.d, ^x.p[in.a], mask) }
func execPredMov(x *ctx, in *instr, mask uint32)   { x.setPred(in.d, x.p[in.a], mask) }

func predicates2(f func(a, b uint32) uint32) execFn {
	return func(x *ctx, in *instr, mask uint32) { x.setPred(in.d, f(x.p[in.a], x.p[in.b]), mask) }
}

var boolOps = map[string]func(t, c uint32) uint32{
	"and": func(t, c uint32) uint32 { return t & c },
	"or":  func(t, c uint32) uint32 { return t | c },
	"xor": func(t, c uint32) uint32 { return t ^ c },
}

var cmpNames = map[string]num.Cmp{
	"eq": num.EQ, "ne": num.NE, "lt": num.LT, "le": num.LE, "gt": num.GT, "ge": num.GE,
	"equ": num.EQU, "neu": num.NEU, "ltu": num.LTU, "leu": num.LEU, "gtu": num.GTU, "geu": num.GEU,
	"num": num.NUM, "nan": num.NAN,
}

// unsignedCmps are the names that only unsigned integers take.
var unsignedCmps = map[string]num.Cmp{"lo": num.LT, "ls": num.LE, "hi": num.GT, "hs": num.GE}

// cmpOf returns the comparison that an instruction names, if its type has it:
// bit-size types have equality only (ISA, integer and bit-size comparisons).
func (f *form) cmpOf(t typ) (num.Cmp, bool) {
	for i, w := range f.words {
		c, ok := cmpNames[w]
		u, isU := unsignedCmps[w]
		if !ok && !isU {
			continue
		}
		f.words = append(f.words[:i:i], f.words[i+1:]...)
		switch {
		case t.float():
			return c, ok
		case isU:
			return u, t == u16 || t == u32 || t == u64
		case t.signed(), t == u16, t == u32, t == u64:
			return c, c&^(num.NE|num.EQ) == 0 && c != num.NUM
		}
		return c, c == num.EQ || c == num.NE
	}
	return 0, false
}

// A cmpFn returns the lanes of mask, and maybe others, in which a comparison
// of in's sources holds.
type cmpFn func(x *ctx, in *instr, mask uint32) uint32

// comparison returns the function that compares values of type t, or nil.
func comparison(t typ, c num.Cmp, m num.Mod) cmpFn {
	switch t {
	case u32, b32:
		return ordered(c, ltU32, eq32)
	case s32:
		return ordered(c, ltS32, eq32)
	case u64, b64:
		return ordered(c, ltU64, eq64)
	case s64:
		return ordered(c, ltS64, eq64)
	case u16, b16:
		return cmpLanes(func(a, b uint32) bool { return c.U64(uint64(uint16(a)), uint64(uint16(b))) })
	case s16:
		return cmpLanes(func(a, b uint32) bool { return c.S64(int64(int16(a)), int64(int16(b))) })
	case f32:
		if fast := cmpF32(c); fast != nil && m == 0 {
			return fast
		}
		return cmpLanes(func(a, b uint32) bool { return c.F32(m, a, b) })
	case f64:
		return cmpLanes(func(a, b uint64) bool { return c.F64(a, b) })
	case f16:
		return cmpLanes(func(a, b uint32) bool { return c.F16(m, uint16(a), uint16(b)) })
	case bf16:
		return cmpLanes(func(a, b uint32) bool { return c.BF16(uint16(a), uint16(b)) })
	}
	return nil
}

// cmpLanes makes a row comparison from a per-lane one.
func cmpLanes[T word](f func(a, b T) bool) cmpFn {
	return func(x *ctx, in *instr, mask uint32) (t uint32) {
		a, b := srcRow[T](x, in.a), srcRow[T](x, in.b)
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			t |= bit(f(a[i], b[i])) << i
		}
		return t
	}
}

// ordered makes the six comparisons of a total order from less and equal.
func ordered[T word](c num.Cmp, lt, eq func(a, b *[32]T) uint32) cmpFn {
	switch c {
	case num.EQ:
		return cmpRows(eq, 0)
	case num.NE:
		return cmpRows(eq, allLanes)
	case num.LT:
		return cmpRows(lt, 0)
	case num.GE:
		return cmpRows(lt, allLanes)
	case num.GT:
		return cmpSwapped(lt, 0)
	}
	return cmpSwapped(lt, allLanes)
}

// cmpF32 builds the common f32 comparisons from eq, lt and le; each unordered one
// is the complement of an ordered one. It returns nil for the rest.
func cmpF32(c num.Cmp) cmpFn {
	switch c {
	case num.EQ:
		return cmpRows(eqF32, 0)
	case num.NEU:
		return cmpRows(eqF32, allLanes)
	case num.LT:
		return cmpRows(ltF32, 0)
	case num.GEU:
		return cmpRows(ltF32, allLanes)
	case num.LE:
		return cmpRows(leF32, 0)
	case num.GTU:
		return cmpRows(leF32, allLanes)
	case num.GT:
		return cmpSwapped(ltF32, 0)
	case num.LEU:
		return cmpSwapped(ltF32, allLanes)
	case num.GE:
		return cmpSwapped(leF32, 0)
	case num.LTU:
		return cmpSwapped(leF32, allLanes)
	}
	return nil
}

func cmpRows[T word](k func(a, b *[32]T) uint32, flip uint32) cmpFn {
	return func(x *ctx, in *instr, _ uint32) uint32 {
		return k(srcRow[T](x, in.a), srcRow[T](x, in.b)) ^ flip
	}
}

func cmpSwapped[T word](k func(a, b *[32]T) uint32, flip uint32) cmpFn {
	return func(x *ctx, in *instr, _ uint32) uint32 {
		return k(srcRow[T](x, in.b), srcRow[T](x, in.a)) ^ flip
	}
}

// Branch-free comparisons of whole rows; the mask is shifted in from lane 31 down.

func ltU32(a, b *[32]uint32) (m uint32) {
	for i := 31; i >= 0; i-- {
		m = m + m + uint32((uint64(a[i])-uint64(b[i]))>>63)
	}
	return m
}

func ltS32(a, b *[32]uint32) (m uint32) {
	for i := 31; i >= 0; i-- {
		m = m + m + uint32(uint64(int64(int32(a[i]))-int64(int32(b[i])))>>63)
	}
	return m
}

func eq32(a, b *[32]uint32) (m uint32) {
	for i := 31; i >= 0; i-- {
		m = m + m + uint32((uint64(a[i]^b[i])-1)>>63)
	}
	return m
}

func ltU64(a, b *[32]uint64) (m uint32) {
	for i := 31; i >= 0; i-- {
		m = m + m + bit(a[i] < b[i])
	}
	return m
}

func ltS64(a, b *[32]uint64) (m uint32) {
	for i := 31; i >= 0; i-- {
		m = m + m + bit(int64(a[i]) < int64(b[i]))
	}
	return m
}

func eq64(a, b *[32]uint64) (m uint32) {
	for i := 31; i >= 0; i-- {
		m = m + m + bit(a[i] == b[i])
	}
	return m
}

func ltF32(a, b *[32]uint32) (m uint32) {
	for i := 31; i >= 0; i-- {
		m = m + m + bit(math.Float32frombits(a[i]) < math.Float32frombits(b[i]))
	}
	return m
}

func leF32(a, b *[32]uint32) (m uint32) {
	for i := 31; i >= 0; i-- {
		m = m + m + bit(math.Float32frombits(a[i]) <= math.Float32frombits(b[i]))
	}
	return m
}

func eqF32(a, b *[32]uint32) (m uint32) {
	for i := 31; i >= 0; i-- {
		m = m + m + bit(math.Float32frombits(a[i]) == math.Float32frombits(b[i]))
	}
	return m
}

// highHalves applies a 16-bit comparison to the upper halves.
func highHalves(f func(a, b uint16) bool) cmpFn {
	return cmpLanes(func(a, b uint32) bool { return f(uint16(a>>16), uint16(b>>16)) })
}

// packedComparison returns the comparisons of the lower and upper elements.
func packedComparison(t typ, c num.Cmp, m num.Mod) (lo, hi cmpFn) {
	if t == f16x2 {
		return comparison(f16, c, m), highHalves(func(a, b uint16) bool { return c.F16(m, a, b) })
	}
	return comparison(bf16, c, m), highHalves(c.BF16)
}

// A setpInfo is what setp needs beyond its first destination and sources.
type setpInfo struct {
	second  reg // the destination after the bar, or noGuard
	c       reg // the predicate operand
	combine func(t, c uint32) uint32
	cmp     cmpFn
	high    cmpFn // of the upper elements of a packed type, else nil
}

func ftzFor(t typ) num.Mod {
	if t == f32 || t == f16 || t == f16x2 {
		return num.FTZ
	}
	return 0
}

// decodeSetp decodes setp (ISA, setp; half precision setp).
func decodeSetp(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	if len(f.types) != 1 {
		return errNotModelled
	}
	t := f.types[0]
	c, ok := f.cmpOf(t)
	op := f.take("and", "or", "xor")
	if !ok || !f.plain(1, ftzFor(t)) {
		return errNotModelled
	}
	info := &setpInfo{second: noGuard, combine: boolOps[op]}
	if t == f16x2 || t == bf16x2 {
		info.cmp, info.high = packedComparison(t, c, f.m)
	} else {
		info.cmp = comparison(t, c, f.m)
	}
	if info.cmp == nil {
		return errNotModelled
	}
	return d.setp(in, t, info)
}

func (d *decoder) setp(in *ptx.Inst, t typ, info *setpInfo) error {
	n := 3
	if info.combine != nil {
		n = 4
	}
	if err := d.count(in, n); err != nil {
		return err
	}
	rows, err := d.srcs(in, 1, t, t)
	if err != nil {
		return err
	}
	i := instr{t: t, a: rows[0], b: rows[1]}
	if info.combine != nil {
		if info.c, err = d.predSrc(in.Operands[3]); err != nil {
			return err
		}
	}
	first := in.Operands[0]
	if two, ok := first.(*ptx.Pair); ok {
		first = two.A
		if info.second, err = d.dst(two.B, pred); err != nil {
			return err
		}
	}
	// The assembler accepts a single destination for packed types too; on the
	// H200 it gets the low element's result.
	if i.d, err = d.dst(first, pred); err != nil {
		return err
	}
	if info.combine == nil && info.second == noGuard {
		i.exec = simpleSetp(info.cmp)
	} else {
		i.exec, i.x = execSetp, info
	}
	d.emit(i)
	return nil
}

func simpleSetp(cmp cmpFn) execFn {
	return func(x *ctx, in *instr, mask uint32) {
		t := cmp(x, in, mask)
		x.p[in.d] = x.p[in.d]&^mask | t&mask
	}
}

func execSetp(x *ctx, in *instr, mask uint32) {
	info := in.x.(*setpInfo)
	p := info.cmp(x, in, mask)
	q := ^p
	if info.high != nil {
		q = info.high(x, in, mask)
	}
	if info.combine != nil {
		c := x.p[info.c]
		p, q = info.combine(p, c), info.combine(q, c)
	}
	x.setPred(in.d, p, mask)
	if info.second != noGuard {
		x.setPred(info.second, q, mask)
	}
}

// setTrue has what set writes where the comparison holds.
var setTrue = map[typ]uint32{
	u32: allLanes, s32: allLanes, u16: 0xffff, s16: 0xffff,
	f32: 0x3f800000, f16: 0x3c00, bf16: 0x3f80,
	f16x2: 0x3c003c00, bf16x2: 0x3f803f80,
}

// decodeSet decodes set (ISA, set; half precision set).
func decodeSet(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	if len(f.types) != 2 {
		return errNotModelled
	}
	dt, t := f.types[0], f.types[1]
	c, ok := f.cmpOf(t)
	op := f.take("and", "or", "xor")
	one := setTrue[dt]
	if !ok || !f.plain(2, ftzFor(t)) || one == 0 || !setPair(dt, t) {
		return errNotModelled
	}
	info := &setpInfo{combine: boolOps[op]}
	if t == f16x2 || t == bf16x2 {
		info.cmp, info.high = packedComparison(t, c, f.m)
	} else {
		info.cmp = comparison(t, c, f.m)
	}
	if info.cmp == nil {
		return errNotModelled
	}
	types := []typ{t, t}
	if info.combine != nil {
		types = append(types, pred)
	}
	err := d.alu(in, execSet, dt, types...)
	if err != nil {
		return err
	}
	i := &d.prog.code[len(d.prog.code)-1]
	info.c = i.c
	i.imm, i.x = uint64(one), info
	return nil
}

// setPair reports whether set takes a destination type with a source type.
func setPair(dt, t typ) bool {
	switch {
	case t == f16x2:
		return dt == f16x2 || dt == u32 || dt == s32
	case t == bf16x2:
		return dt == bf16x2 || dt == u32 || dt == s32
	case dt == u16 || dt == s16:
		return t == f16 || t == bf16
	}
	return dt != f16x2 && dt != bf16x2
}

func execSet(x *ctx, in *instr, mask uint32) {
	info := in.x.(*setpInfo)
	lo := info.cmp(x, in, mask)
	hi := lo
	if info.high != nil {
		hi = info.high(x, in, mask)
	}
	if info.combine != nil {
		c := x.p[info.c]
		lo, hi = info.combine(lo, c), info.combine(hi, c)
	}
	d, one := x.w32(in.d), uint32(in.imm)
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = one & (-(hi>>i&1)&0xffff0000 | -(lo>>i&1)&0xffff)
	}
}

var selpTable = merge(
	forTypes(selp[uint32], b16, u16, s16, b32, u32, s32, f32),
	forTypes(selp[uint64], b64, u64, s64, f64))

func selp[T word](x *ctx, in *instr, mask uint32) {
	d, a, b, p := dstRow[T](x, in.d), srcRow[T](x, in.a), srcRow[T](x, in.b), x.p[in.c]
	if mask == allLanes {
		for i := range d {
			d[i] = b[i] ^ (a[i]^b[i])&-T(p&1)
			p >>= 1
		}
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = b[i] ^ (a[i]^b[i])&-T(p>>i&1)
	}
}

// decodeSlct decodes slct.dtype.s32 and slct{.ftz}.dtype.f32.
func decodeSlct(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	if len(f.types) != 2 || !f.plain(2, ftzFor(f.types[1])) {
		return errNotModelled
	}
	t, m := f.types[0], f.m
	var first func(c uint32) bool
	switch f.types[1] {
	case s32:
		first = func(c uint32) bool { return int32(c) >= 0 }
	case f32:
		first = func(c uint32) bool { return num.SlctF32(m, c) }
	default:
		return errNotModelled
	}
	if selpTable[t] == nil {
		return errNotModelled
	}
	exec := lane3(func(a, b, c uint32) uint32 { return choose(first(c), a, b) })
	if t.wide() {
		exec = lane3(func(a, b uint64, c uint32) uint64 { return choose(first(c), a, b) })
	}
	return d.alu(in, exec, t, t, t, f.types[1])
}

func choose[T word](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

var testps = map[string]num.Testp{
	"finite": num.Finite, "infinite": num.Infinite, "number": num.Number,
	"notanumber": num.NotANumber, "normal": num.Normal, "subnormal": num.Subnormal,
}

func decodeTestp(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	op, ok := testps[f.take("finite", "infinite", "number", "notanumber", "normal", "subnormal")]
	if !ok || !f.plain(1, 0) {
		return errNotModelled
	}
	var exec execFn
	switch f.types[0] {
	case f32:
		exec = testpLanes(func(a uint32) bool { return num.TestpF32(op, a) })
	case f64:
		exec = testpLanes(func(a uint64) bool { return num.TestpF64(op, a) })
	}
	return d.alu(in, exec, pred, f.types[0])
}

func testpLanes[T word](f func(a T) bool) execFn {
	return func(x *ctx, in *instr, mask uint32) {
		a, t := srcRow[T](x, in.a), uint32(0)
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			t |= bit(f(a[i])) << i
		}
		x.setPred(in.d, t, mask)
	}
}
