package machine

import (
	"muster/internal/num"
	"muster/ptx"
)

// Logic, shifts and byte permutation (ISA, logic and shift instructions, prmt).

var logicDecoders = map[string]decodeFn{
	"and": byType("ttt", map[typ]execFn{
		pred: predicates2(func(a, b uint32) uint32 { return a & b }),
		b16:  rows2(andRow[uint32]),
		b32:  rows2(andRow[uint32]),
		b64:  rows2(andRow[uint64]),
	}),
	"or": byType("ttt", map[typ]execFn{
		pred: predicates2(func(a, b uint32) uint32 { return a | b }),
		b16:  rows2(orRow[uint32]),
		b32:  rows2(orRow[uint32]),
		b64:  rows2(orRow[uint64]),
	}),
	"xor": byType("ttt", map[typ]execFn{
		pred: predicates2(func(a, b uint32) uint32 { return a ^ b }),
		b16:  rows2(xorRow[uint32]),
		b32:  rows2(xorRow[uint32]),
		b64:  rows2(xorRow[uint64]),
	}),
	"not": byType("tt", map[typ]execFn{
		pred: execPredNot,
		b16:  half1(func(a uint16) uint16 { return ^a }),
		b32:  rows1(notRow[uint32]),
		b64:  rows1(notRow[uint64]),
	}),
	"cnot": byType("tt", map[typ]execFn{
		b16: lane1(num.Cnot32),
		b32: lane1(num.Cnot32),
		b64: lane1(num.Cnot64),
	}),
	"lop3": decodeLop3,
	"shf":  decodeShf,
	"shl":  shift(shlTable, shl32By, shl64By, shl32By, shl64By),
	"shr":  shift(shrTable, shrU32By, shrU64By, shrS32By, shrS64By),
	"prmt": decodePrmt,
}

var shlTable = map[typ]execFn{
	b16: lane2(func(a, n uint32) uint32 { return uint32(num.Shl16(uint16(a), n)) }),
	b32: rows2(shlRow[uint32]),
	b64: rows2(shlRow[uint64]),
}

var (
	shrU16 = lane2(func(a, n uint32) uint32 { return uint32(num.ShrU16(uint16(a), n)) })
	shrS16 = lane2(func(a, n uint32) uint32 { return uint32(num.ShrS16(uint16(a), n)) })
	shrU32 = rows2(shrRow[uint32])
	shrU64 = rows2(shrRow[uint64])
)

var shrTable = map[typ]execFn{
	b16: shrU16, u16: shrU16, s16: shrS16,
	b32: shrU32, u32: shrU32, s32: rows2(shrS32Row),
	b64: shrU64, u64: shrU64, s64: rows2(shrS64Row),
}

type (
	shift32 func(n uint32) func(d, a []uint32)
	shift64 func(n uint32) func(d, a []uint64)
)

// shift makes the decoder of shl or shr; a literal amount below the width has
// row functions of its own, for unsigned and signed values.
func shift(table map[typ]execFn, u32By shift32, u64By shift64, s32By shift32, s64By shift64) decodeFn {
	return func(d *decoder, in *ptx.Inst) error {
		f := d.formOf(in)
		if !f.plain(1, 0) || table[f.types[0]] == nil {
			return errNotModelled
		}
		t := f.types[0]
		if err := d.count(in, 3); err != nil {
			return err
		}
		exec := table[t]
		if v, ok := in.Operands[2].(ptx.Int); ok && v.Bits < 8*uint64(t.size()) {
			n := uint32(v.Bits)
			switch t {
			case b32, u32:
				exec = rows1(u32By(n))
			case s32:
				exec = rows1(s32By(n))
			case b64, u64:
				exec = rows1(u64By(n))
			case s64:
				exec = rows1(s64By(n))
			}
		}
		return d.alu(in, exec, t, t, u32)
	}
}

func decodeShf(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	dir, mode := f.take("l", "r"), f.take("clamp", "wrap")
	if dir == "" || mode == "" || !f.plain(1, 0) || f.types[0] != b32 {
		return errNotModelled
	}
	exec := map[string]execFn{
		"l.wrap":  rows3(shfLWrapRow),
		"r.wrap":  rows3(shfRWrapRow),
		"l.clamp": lane3(func(a, b, n uint32) uint32 { return num.ShfL(false, a, b, n) }),
		"r.clamp": lane3(func(a, b, n uint32) uint32 { return num.ShfR(false, a, b, n) }),
	}[dir+"."+mode]
	return d.alu(in, exec, b32, b32, b32, u32)
}

var prmtModes = map[string]num.PrmtMode{
	"f4e": num.PrmtF4E, "b4e": num.PrmtB4E, "rc8": num.PrmtRC8,
	"ecl": num.PrmtECL, "ecr": num.PrmtECR, "rc16": num.PrmtRC16,
}

func decodePrmt(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	mode, ok := prmtModes[f.take("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")]
	if !f.plain(1, 0) || f.types[0] != b32 {
		return errNotModelled
	}
	if err := d.count(in, 4); err != nil {
		return err
	}
	exec := rows3(prmtRow)
	if ok {
		exec = lane3(func(a, b, c uint32) uint32 { return num.Prmt(mode, a, b, c) })
	} else if v, isInt := in.Operands[len(in.Operands)-1].(ptx.Int); isInt && v.Bits&0x8888 == 0 {
		exec = rows2(prmtBy(uint32(v.Bits)))
	}
	return d.alu(in, exec, b32, b32, b32, b32)
}

// decodeLop3 decodes lop3.b32, and lop3.or.b32 and lop3.and.b32 with their
// predicate.
func decodeLop3(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	op := f.take("or", "and")
	if !f.plain(1, 0) || f.types[0] != b32 {
		return errNotModelled
	}
	n := 5
	if op != "" {
		n = 6
	}
	if err := d.count(in, n); err != nil {
		return err
	}
	lut, ok := in.Operands[4].(ptx.Int)
	if !ok || lut.Bits > 0xff {
		return d.errorf("the table of lop3 must be a constant from 0 to 255")
	}
	rows, err := d.srcs(in, 1, b32, b32, b32)
	if err != nil {
		return err
	}
	i := instr{exec: rows3(lop3Row(uint8(lut.Bits))), t: b32}
	i.setSources(rows)
	if op == "" {
		i.d, err = d.dst(in.Operands[0], b32)
		if err == nil {
			d.emit(i)
		}
		return err
	}
	return d.lop3Predicate(in, i, op)
}

func (d *decoder) lop3Predicate(in *ptx.Inst, i instr, op string) error {
	to, ok := in.Operands[0].(*ptx.Pair)
	if !ok {
		return d.errorf("%s needs a destination d|p", Name(in))
	}
	q, err := d.predSrc(in.Operands[5])
	if err != nil {
		return err
	}
	p, err := d.dst(to.B, pred)
	if err != nil {
		return err
	}
	if i.d, err = d.dst(to.A, b32); err != nil {
		return err
	}
	first := i.exec
	combine := boolOps[op]
	i.x = [2]reg{p, q}
	i.exec = func(x *ctx, in *instr, mask uint32) {
		first(x, in, mask)
		pq := in.x.([2]reg)
		x.setPred(pq[0], combine(nonZero(x.w32(in.d)), x.p[pq[1]]), mask)
	}
	d.emit(i)
	return nil
}

func nonZero(a *[32]uint32) (m uint32) {
	for i := range a {
		m |= bit(a[i] != 0) << (i & 31)
	}
	return m
}
