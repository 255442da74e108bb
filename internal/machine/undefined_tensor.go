package machine

import (
	"encoding/binary"

	"muster/internal/flow"
	"muster/internal/tensor"
)

// formatUnits has the formats of tcgen05.mma of which matrixUnits has the one.
var formatUnits = map[tensor.Format]matrixUnit{tensor.F16: matrixUnits["f16"], tensor.BF16: matrixUnits["bf16"], tensor.TF32: matrixUnits["tf32"],
	tensor.E4M3: matrixUnits["e4m3"], tensor.E5M2: matrixUnits["e5m2"], tensor.S8: matrixUnits["s8"], tensor.U8: matrixUnits["u8"]}

// packedOnes are numbers one of e2m1 in 4 bits, and scaleOnes words of factors of one.
var (
	packedOnes = matrixUnit{0x22222222, 4}
	scaleOnes  = map[tensor.ScaleFormat]uint32{tensor.UE8M0: 0x7f7f7f7f, tensor.UE4M3: 0x38383838}
)

// Undefined values in tensor memory (undefined.go says what they are).

// storedTensor sets the shades of what a tcgen05.st takes from registers.
func (u *Undefined) storedTensor(x *ctx, op *Op) {
	t := op.tcgen05
	rows, from := make([][32]uint32, len(t.regs)), uint64(0)
	for i, r := range t.regs {
		if r < 0 {
			continue
		}
		for l := range 32 {
			if s := u.at(x, flow.RegOf(0, flow.Word, int32(r)), l); s.bits != 0 {
				rows[i][l] = uint32(s.bits)
				from |= s.from
			}
		}
	}
	if from == 0 {
		return
	}
	t.access.Store(t.at, rowPointers(rows), func(_ uint32, b []byte) {
		for _, bits := range b {
			op.shades = append(op.shades, shade{uint64(bits), from})
		}
	})
}

// readRaced makes the bytes of a tcgen05.mma's operands undefined that are read in a race; n is
// how many bytes it reads together.
func (u *Undefined) readRaced(op *Op, n uint64) {
	from, at, first := u.origin(UndefinedFrom{UndefinedOperand, op.PC, 0}), uint64(0), uint64(0)
	for i, s := range op.Reads {
		for k := uint64(0); op.tcgen05.mma.parts[i].operand() && k < s.Len; k++ {
			if !u.raced.Has(op.PC, first+k, 1) {
				continue
			}
			if op.shades == nil {
				op.shades = make([]shade, n)
			}
			op.shades[at+k] = shade{0xff, op.shades[at+k].from | from}
		}
		if at += s.Len; op.tcgen05.mma.parts[i].operand() {
			first += s.Len
		}
	}
}

// wroteTensor sets the shades of what an operation of tcgen05 has written; from are the
// origins of what it read.
func (u *Undefined) wroteTensor(m *Machine, op *Op, from uint64) {
	switch op.Kind {
	case OpTensorLoad:
		u.loadedTensor(op, from)
	case OpTensorStore, OpTensorShift: // what it stores, or moves
		u.shadeSpans(m, op, func(i uint64) shade {
			if i < uint64(len(op.shades)) {
				return op.shades[i]
			}
			return shade{}
		})
	default:
		if op.Kind == OpTensorMultiply && from != 0 && u.multipliedTensor(m, op, from) {
			return
		}
		if from != 0 {
			u.shadeSpans(m, op, func(uint64) shade { return shade{0xff, from | throughVague} })
		}
	}
}

// shadeSpans gives the bytes that an operation has written, numbered in the order of its
// targets, their shades.
func (u *Undefined) shadeSpans(m *Machine, op *Op, of func(i uint64) shade) {
	n := uint64(0)
	for _, s := range op.Writes {
		if r, off := m.memory(s.Mem, s.Addr); r != nil {
			for i := range s.Len {
				u.setShade(r, off+i, of(n+i), op.PC, m.owner)
			}
		}
		n += s.Len
	}
}

// loadedTensor sets the shades of the registers that a tcgen05.ld has written.
func (u *Undefined) loadedTensor(op *Op, from uint64) {
	t := op.tcgen05
	rows := make([][32]uint32, len(t.regs))
	if from != 0 {
		bits := make([]byte, len(op.shades))
		for i, s := range op.shades {
			bits[i] = byte(s.bits)
		}
		t.access.Load(t.at, rowPointers(rows), inOrder(bits))
	}
	if t.reduce != nil {
		last := len(rows) - 1
		for l := range 32 {
			for _, r := range rows[:last] {
				if r[l] != 0 {
					rows[last][l] = ^uint32(0)
				}
			}
		}
	}
	for i, r := range t.regs {
		k := undefinedReg{op.CTA, op.Warp, 0, t.base32 + int32(r)}
		u.clearRow(k, allLanes)
		for l, v := range rows[i] {
			if v != 0 {
				u.put(k, l, shade{uint64(v), from})
			}
		}
		if t.reduce != nil && i == len(rows)-2 {
			from |= throughVague // the last is the result
		}
	}
}

// multipliedTensor sets the shades of D of a tcgen05.mma by its own arithmetic: with ones for
// undefined elements and zeros for defined ones of A, and ones for all of B, an undefined
// element of the product is not zero; and so for B. It returns false for types without a one.
func (u *Undefined) multipliedTensor(m *Machine, op *Op, from uint64) bool {
	p := op.tcgen05.mma
	a, aok := formatUnits[p.form.A]
	b, bok := formatUnits[p.form.B]
	if p.form.Kind == "mxf4" || p.form.Kind == "mxf4nvf4" {
		a, b, aok, bok = packedOnes, packedOnes, true, true
	}
	if !aok || !bok || len(op.shades) == 0 || p.form.Sparse && p.operandLacks(op) {
		return false
	}
	bits := make([]uint32, spansLen(op.Writes)/4)
	for _, side := range [...]mmaPart{partA, partB} {
		if p.form.Sparse {
			break
		}
		in, at := make([]byte, len(op.shades)), 0
		for i, s := range op.Reads {
			part := p.parts[i]
			unit, lacks := b, side == partB
			if part == partA {
				unit, lacks = a, side == partA
			}
			for k := at; k+4 <= at+int(s.Len) && part != partD; k += 4 {
				w := unit.bits
				switch {
				case !part.operand():
					w = scaleOnes[p.form.Scale]
				case lacks:
					w = unit.of(shadeWord(op.shades[k:]))
				}
				binary.LittleEndian.PutUint32(in[k:], w)
			}
			at += int(s.Len)
		}
		out := make([]byte, spansLen(op.Writes))
		without := *p
		without.enable = false
		without.compute(in, out)
		for i := range bits {
			if binary.LittleEndian.Uint32(out[4*i:]) != 0 {
				bits[i] = ^uint32(0)
				if p.form.D == tensor.F16 {
					bits[i] = 0xffff
				}
			}
		}
	}
	at, d := 0, 0
	for i, s := range op.Reads {
		if p.parts[i] == partD {
			for k := 0; k < int(s.Len); k += 4 {
				bits[d] |= shadeWord(op.shades[at+k:])
				d++
			}
		}
		at += int(s.Len)
	}
	p.shadeBesides(op, bits)
	u.shadeSpans(m, op, func(i uint64) shade {
		if w := bits[i/4] >> (8 * (i % 4)) & 0xff; w != 0 {
			return shade{uint64(w), from}
		}
		return shade{}
	})
	return true
}

func shadeWord(s []shade) (w uint32) {
	for i := range 4 {
		w |= uint32(s[i].bits&0xff) << (8 * i)
	}
	return w
}
