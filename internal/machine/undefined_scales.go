package machine

import "muster/internal/tensor"

// Undefined factors of a block-scaled tcgen05.mma make the elements of D undefined that they
// scale: of A's a row of D in their CTA, of B's a column.

// shadeScales sets the bits of those elements of D, in the order of the operation's Writes.
func (p *multiplication) shadeScales(op *Op, bits []uint32) {
	f := p.form
	if f.Factors == 0 || len(op.shades) == 0 {
		return
	}
	lacks := map[Span]bool{} // undefined bytes of factors
	at := 0
	for i, s := range op.Reads {
		for k := range s.Len {
			if (p.parts[i] == partSFA || p.parts[i] == partSFB) && op.shades[at+int(k)].bits != 0 {
				lacks[Span{Mem: s.Mem, Addr: s.Addr + k}] = true
			}
		}
		at += int(s.Len)
	}
	if len(lacks) == 0 {
		return
	}
	word, n := map[Span]int{}, 0
	for _, s := range op.Writes {
		for k := uint64(0); k < s.Len; k += 4 {
			word[Span{Mem: s.Mem, Addr: s.Addr + k}] = n
			n++
		}
	}
	lane0, column0 := tensor.TensorCell(p.d)
	element := func(m, n int) {
		cta, lane, column := f.CellD(m, n)
		if w, ok := word[Span{Mem: TensorOf(p.ctas[cta]), Addr: uint64(tensor.TensorOffset(lane0+lane, column0+column))}]; ok {
			bits[w] = ^uint32(0)
		}
	}
	lacking := func(cta, lane, column, b int, copies []int, taddr uint32) bool {
		_, first := tensor.TensorCell(taddr &^ (3 << 30))
		for _, d := range append([]int{0}, copies...) {
			for k := range f.Factors {
				if lacks[Span{Mem: TensorOf(p.ctas[cta]), Addr: uint64(tensor.TensorOffset(lane+d, first+column)) + uint64(b+k)}] {
					return true
				}
			}
		}
		return false
	}
	for m := range f.M {
		cta, lane, column, b := f.CellSFA(m, 0)
		if lacking(cta, lane, column, b, f.CopiesSFA(), p.sfa) {
			for n := range f.N {
				element(m, n)
			}
		}
	}
	for n := range f.N {
		lane, column, b := f.CellSFB(n, 0)
		for cta := range p.ctas {
			if lacking(cta, lane, column, b, f.CopiesSFB(), p.sfb) {
				for m := cta * f.Rows(); m < (cta+1)*f.Rows(); m++ {
					element(m, n)
				}
			}
		}
	}
}
