package machine

import (
	"math/bits"

	"muster/internal/num"
	"muster/ptx"
)

// Extended-precision arithmetic (ISA, extended-precision integer arithmetic
// instructions). The carry flag CC.CF is a predicate row of the function that
// uses it; calls do not keep it, as the ISA says.

var carryDecoders = map[string]decodeFn{
	"addc": decodeCarry,
	"subc": decodeCarry,
	"madc": decodeCarry,
}

// carryName is no PTX identifier, so the flag can be an entry of the symbol table.
const carryName = "CC.CF"

func (d *decoder) carryFlag() reg {
	sc := d.fnScopes(d.index)
	y := sc.names[carryName]
	if y == nil {
		y = &symbol{kind: symReg, typ: pred, reg: d.temp(pred), fn: carryName}
		sc.names[carryName] = y
	}
	return y.reg
}

// What a carry instruction does with the flag, in instr.op.
const (
	carryIn uint8 = 1 << iota
	carryOut
	carrySub // a subtraction, which begins with a carry of one
)

// carry0 is the carry into an instruction that reads none.
func (in *instr) carry0() uint32 {
	if in.op&carrySub != 0 {
		return allLanes
	}
	return 0
}

// decodeCarry decodes add.cc, addc, addc.cc and the like.
func decodeCarry(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	op := uint8(0)
	name := in.Op
	if n := len(name) - 1; name[n] == 'c' {
		op, name = carryIn, name[:n]
	}
	if f.take("cc") != "" {
		op |= carryOut
	}
	if name == "sub" {
		op |= carrySub
	}
	mode := f.take("lo", "hi")
	if !f.plain(1, 0) || (name == "mad") != (mode != "") {
		return errNotModelled
	}
	t := f.types[0]
	var exec execFn
	switch t {
	case u32, s32:
		exec = carry32(name, mode == "hi", t == s32)
	case u64, s64:
		exec = carry64(name, mode == "hi", t == s64)
	default:
		return errNotModelled
	}
	return d.carry(in, instr{exec: exec, op: op, t: t})
}

func (d *decoder) carry(in *ptx.Inst, i instr) error {
	n := 2
	if in.Op[0] == 'm' {
		n = 3
	}
	if err := d.count(in, 1+n); err != nil {
		return err
	}
	types := []typ{i.t, i.t, i.t}
	rows, err := d.srcs(in, 1, types[:n]...)
	if err != nil {
		return err
	}
	if i.d, err = d.dst(in.Operands[0], i.t); err != nil {
		return err
	}
	i.a, i.b, i.c = rows[0], rows[1], rows[n-1]
	i.target = int32(d.carryFlag())
	d.emit(i)
	return nil
}

func carry32(name string, hi, signed bool) execFn {
	switch name {
	case "add":
		return carryLanes(func(a, b, _, cf uint32) (uint32, uint32) { return num.AddC32(a, b, cf) })
	case "sub":
		return carryLanes(func(a, b, _, cf uint32) (uint32, uint32) { return num.SubC32(a, b, cf) })
	}
	return carryLanes(func(a, b, c, cf uint32) (uint32, uint32) { return num.MadC32(hi, signed, a, b, c, cf) })
}

func carry64(name string, hi, signed bool) execFn {
	switch name {
	case "add":
		return carryLanes(func(a, b, _, cf uint64) (uint64, uint64) { return num.AddC64(a, b, cf) })
	case "sub":
		return carryLanes(func(a, b, _, cf uint64) (uint64, uint64) { return num.SubC64(a, b, cf) })
	}
	return carryLanes(func(a, b, c, cf uint64) (uint64, uint64) { return num.MadC64(hi, signed, a, b, c, cf) })
}

func carryLanes[T word](f func(a, b, c, cf T) (T, T)) execFn {
	return func(x *ctx, in *instr, mask uint32) {
		d, a, b, c := dstRow[T](x, in.d), srcRow[T](x, in.a), srcRow[T](x, in.b), srcRow[T](x, in.c)
		cf, carries := in.carry0(), uint32(0)
		if in.op&carryIn != 0 {
			cf = x.p[in.target]
		}
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			v, out := f(a[i], b[i], c[i], T(cf>>i&1))
			d[i] = v
			carries |= uint32(out) << i
		}
		if in.op&carryOut != 0 {
			x.p[in.target] = x.p[in.target]&^mask | carries
		}
	}
}
