package machine

import (
	"slices"

	"muster/internal/tensor"
	"muster/ptx"
)

// tcgen05.shift (ISA 9.7.18.9.3) moves rows of tensor memory by one lane. It is one lane's, and
// tcgen05.commit tracks it, as a multiplication or a copy.

type tensorShiftInfo struct {
	at   reg
	off  uint32
	pair bool
}

func (d *decoder) tensorShift(in *ptx.Inst) error {
	ti := &tensorShiftInfo{pair: d.ctaPair()}
	d.read("down")
	if len(in.Operands) != 1 {
		return d.errorf("%s takes an address in tensor memory", Name(in))
	}
	var err error
	if ti.at, ti.off, err = d.tensorAddress(in.Operands[0]); err != nil {
		return err
	}
	d.assume(tensor.ShiftAssumes)
	d.emit(instr{class: visible, visit: visitTensorShift, x: ti})
	return nil
}

func visitTensorShift(x *ctx, in *instr, mask uint32) verdict {
	ti := in.x.(*tensorShiftInfo)
	if !x.ctaGroup(mask, ti.pair) {
		return halted
	}
	for l := range lanesOf(mask) {
		one := uint32(1) << l
		at := x.a32(ti.at)[l] + ti.off
		if err := tensor.CheckShift(at); err != nil {
			kind := FaultTensorLanes
			if lane, _ := tensor.TensorCell(at); lane%32 == 0 {
				kind = FaultTensorBounds
			}
			return x.tensorFault(kind, one, err.Error())
		}
		ctas, ok := x.pairOf(one, ti.pair)
		if !ok {
			return halted
		}
		op := Op{Kind: OpTensorShift, Group: GroupTensor, Proxy: Async, pair: x.otherOf(ti.pair), tcgen05: &tcgen05Op{at: at, shift: true, pair: ti.pair}}
		reads, writes := tensor.ShiftSpans(at)
		for _, t := range ctas {
			from, ok := x.tensorSpans(t, reads, one)
			if !ok {
				return halted
			}
			to, ok := x.tensorSpans(t, writes, one)
			if !ok {
				return halted
			}
			op.Reads, op.Writes = append(op.Reads, from...), append(op.Writes, to...)
		}
		x.pipeline(&op, l)
		x.issue(op, l)
	}
	return performed
}

// assume notes what a program is taken to do where the ISA's text is open.
func (d *decoder) assume(what string) {
	if !slices.Contains(d.prog.assumes, what) {
		d.prog.assumes = append(d.prog.assumes, what)
	}
}

// Assumes says what instructions of the program are taken to do where the ISA's text is open.
func (p *Program) Assumes() []string { return p.assumes }
