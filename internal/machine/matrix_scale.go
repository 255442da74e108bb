package machine

import (
	"muster/internal/tensor"
	"muster/ptx"
)

// The factors of an mma with block scales (ISA 9.7.14.3): a register of A and one of B. Two
// selectors go with each: byte-id names the bytes of the register, thread-id the lanes that hold them.

type scaleRegs struct {
	data [2]reg    // of A and B
	ids  [2][2]reg // byte-id and thread-id
	now  tensor.MMAScales
}

// scaleOperands decodes the operands from number at on: the data of A, {byte-id, thread-id}, and
// the same of B.
func (d *decoder) scaleOperands(in *ptx.Inst, mi *matrixInfo, at int) error {
	s := &scaleRegs{}
	for i := range s.data {
		var err error
		if s.data[i], err = d.src(one(d.elems(in.Operands[at+2*i])), b32); err != nil {
			return err
		}
		ids := d.elems(in.Operands[at+2*i+1])
		if len(ids) != 2 {
			return d.errorf("%s takes a byte and a thread of a factor, not %d numbers", Name(in), len(ids))
		}
		for k := range ids {
			if s.ids[i][k], err = d.src(ids[k], u16); err != nil {
				return err
			}
		}
	}
	mi.scales = s
	return nil
}

func one(list []ptx.Operand) ptx.Operand { return list[0] }

// scaledFor returns an instruction with the factors of a warp that executes it; ok is false where
// the ISA does not define them.
func (mi *matrixInfo) scaledFor(x *ctx, mask uint32) (of *matrixInfo, ok bool) {
	s := *mi.scales
	var ids [2][2]int
	for i := range s.ids {
		for k, r := range s.ids[i] {
			if !uniform(x.a32(r), mask) {
				x.wgmmaFault(mask, "lanes of the warp give different selectors of factors (ISA 9.7.14.3)")
				return nil, false
			}
			ids[i][k] = int(x.a32(r)[lowest(mask)] & 0xffff)
		}
	}
	s.now = tensor.MMAScales{A: x.a32(s.data[0]), B: x.a32(s.data[1]), ByteA: ids[0][0], ThreadA: ids[0][1], ByteB: ids[1][0], ThreadB: ids[1][1]}
	if err := mi.mma.Check(&s.now); err != nil {
		x.wgmmaFault(mask, err.Error())
		return nil, false
	}
	other := *mi
	other.scales = &s
	return &other, true
}
