package machine

import (
	"encoding/binary"

	"muster/internal/flow"
)

// Undefined values through the tensor cores. An element of D comes from a row of A, a
// column of B and an element of C. The machine's own arithmetic finds them: with ones for
// undefined elements and zeros for defined ones, an undefined element of the product is
// not zero.

// A matrixUnit is the one of an element type, repeated to fill a word.
type matrixUnit struct {
	bits uint32
	size uint // of an element, in bits
}

var matrixUnits = map[string]matrixUnit{
	"f16": {0x3c003c00, 16}, "bf16": {0x3f803f80, 16}, "tf32": {0x3f800000, 32}, "f32": {0x3f800000, 32}, "s32": {1, 32},
	"e4m3": {0x38383838, 8}, "e5m2": {0x3c3c3c3c, 8}, "s8": {0x01010101, 8}, "u8": {0x01010101, 8}, "s4": {0x11111111, 4}, "u4": {0x11111111, 4},
}

// of returns a word with the number one in each element that has a bit set in v.
func (u matrixUnit) of(v uint32) (w uint32) {
	for at := uint(0); at < 32; at += u.size {
		m := uint32(ones(u.size)) << at
		if v&m != 0 {
			w |= u.bits & m
		}
	}
	return w
}

// whole returns v with all bits set in each element that is not zero.
func (u matrixUnit) whole(v uint32) (w uint32) {
	for at := uint(0); at < 32; at += u.size {
		if m := uint32(ones(u.size)) << at; v&m != 0 {
			w |= m
		}
	}
	return w
}

func rowPointers(rows [][32]uint32) []*[32]uint32 {
	p := make([]*[32]uint32, len(rows))
	for i := range rows {
		p[i] = &rows[i]
	}
	return p
}

// multiplies32 takes an mma or a wmma.mma. It returns false for unknown types.
func (u *Undefined) multiplies32(x *ctx, in *instr, n *flow.Use) bool {
	mi, ok := in.x.(*matrixInfo)
	if !ok || mi.mma == nil && mi.wmma == nil || mi.wide() || mi.scales != nil {
		return false
	}
	var types []matrixUnit
	for _, m := range n.In.Mods {
		if m == "b1" || m == "f64" {
			return false
		}
		if t, ok := matrixUnits[m]; ok {
			types = append(types, t)
		}
	}
	if len(types) == 2 && mi.wmma != nil { // of D and C
		half := matrixUnits["f16"]
		types = []matrixUnit{types[0], half, half, types[1]}
	}
	if len(types) != 4 {
		return false
	}
	from := uint64(0)
	operand := func(regs []reg, unit matrixUnit) (lacks, full, zero [][32]uint32) {
		lacks, full, zero = make([][32]uint32, len(regs)), make([][32]uint32, len(regs)), make([][32]uint32, len(regs))
		for i, r := range regs {
			for l := range 32 {
				full[i][l] = unit.bits
				if r >= 0 {
					if s := u.at(x, flow.RegOf(0, flow.Word, int32(r)), l); s.bits != 0 {
						from |= s.from
						lacks[i][l] = unit.of(uint32(s.bits))
					}
				}
			}
		}
		return lacks, full, zero
	}
	d, a, b, c := types[0], types[1], types[2], types[3]
	alacks, afull, azero := operand(mi.a, a)
	blacks, bfull, bzero := operand(mi.b, b)
	clacks, _, czero := operand(mi.c, c)
	var meta *[32]uint32
	if mi.sparse() {
		meta = x.a32(mi.meta)
		if mi.meta >= 0 {
			if _, more := u.lanes(x, allLanes, []flow.Reg{flow.Reg(uint32(mi.meta))}); more != 0 {
				return false
			}
		}
	}
	got := make([][32]uint32, len(mi.d))
	for _, p := range [...][3][][32]uint32{{alacks, bfull, czero}, {afull, blacks, czero}, {azero, bzero, clacks}} {
		out := make([][32]uint32, len(mi.d))
		mi.run(rowPointers(out), rowPointers(p[0]), rowPointers(p[1]), rowPointers(p[2]), meta)
		for i := range out {
			for l, v := range out[i] {
				got[i][l] |= d.whole(v)
			}
		}
	}
	for i, r := range mi.d {
		k := u.key(x, flow.RegOf(0, flow.Word, int32(r)))
		for l := range lanesOf(x.s.mask) {
			u.put(k, l, shade{uint64(got[i][l]), from})
		}
	}
	return true
}

// multiplied sets the shades of the part of D that a wgmma has written.
func (u *Undefined) multiplied(m *Machine, op *Op) {
	wo := op.wgmma
	from := uint64(0)
	for _, s := range op.shades {
		if s.bits != 0 {
			from |= s.from
		}
	}
	for i := range op.fragShades {
		for _, s := range op.fragShades[i] {
			if s.bits != 0 {
				from |= s.from
			}
		}
	}
	key := func(r reg) undefinedReg { return undefinedReg{op.CTA, op.Warp, 0, wo.base32 + int32(r)} }
	if !wo.scaleD {
		for _, r := range wo.info.acc {
			u.clearRow(key(r), allLanes)
		}
	}
	if from == 0 {
		return
	}
	form := wo.info.form
	a, aok := matrixUnits[form.A]
	b, bok := matrixUnits[form.B]
	d, dok := matrixUnits[form.D]
	if !aok || !bok || !dok {
		for _, r := range wo.info.acc {
			for l := range 32 {
				u.put(key(r), l, shade{^uint64(0), from | throughVague})
			}
		}
		return
	}
	inA := 0
	if len(wo.info.a) == 0 {
		inA = len(form.SpansA(wo.da, int(op.Warp%4)))
	}
	for _, side := range [...]bool{true, false} { // what is undefined in A, and in B
		frag := make([][32]uint32, len(wo.info.a))
		for i := range frag {
			for l := range 32 {
				if frag[i][l] = a.bits; side {
					frag[i][l] = a.of(uint32(op.fragShades[i][l].bits))
				}
			}
		}
		span, at := 0, 0
		read := func(_ uint32, to []byte) {
			unit, lacks := b, !side
			if span < inA {
				unit, lacks = a, side
			}
			for i := 0; i+4 <= len(to); i += 4 {
				w := unit.bits
				if lacks {
					v := uint32(0)
					for k := range 4 {
						if at+i+k < len(op.shades) {
							v |= uint32(op.shades[at+i+k].bits&0xff) << (8 * k)
						}
					}
					w = unit.of(v)
				}
				binary.LittleEndian.PutUint32(to[i:], w)
			}
			at += len(to)
			span++
		}
		out := make([][32]uint32, len(wo.info.acc))
		meta := op.meta
		form.Compute(int(op.Warp%4), rowPointers(out), rowPointers(frag), wo.da, wo.db, &meta, false, read)
		for i, r := range wo.info.acc {
			k := key(r)
			for l, v := range out[i] {
				s := shade{}
				if row := u.regs[k]; row != nil {
					s = row[l]
				}
				if w := uint64(d.whole(v)); w != 0 {
					u.put(k, l, shade{s.bits | w, s.from | from})
				}
			}
		}
	}
}
