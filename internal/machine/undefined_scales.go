package machine

import "muster/internal/tensor"

// Undefined factors of a block-scaled tcgen05.mma make the elements of D undefined that they
// scale: of A's a row of D in their CTA, of B's a column. Undefined metadata makes a row undefined.

// A lacking is the undefined bytes of what a multiplication reads besides its matrices.
type lacking map[Span]bool

// at reports whether a byte of a cell of a CTA is undefined.
func (l lacking) at(cta int32, lane, column, b int) bool {
	return l[Span{Mem: TensorOf(cta), Addr: uint64(tensor.TensorOffset(lane, column)) + uint64(b)}]
}

// lacks returns undefined bytes of an operation's parts behind D.
func (p *multiplication) lacks(op *Op) lacking {
	l, at := lacking{}, 0
	for i, s := range op.Reads {
		for k := range s.Len {
			if p.parts[i] > partD && op.shades[at+int(k)].bits != 0 {
				l[Span{Mem: s.Mem, Addr: s.Addr + k}] = true
			}
		}
		at += int(s.Len)
	}
	return l
}

// operandLacks reports whether a byte of A or B is undefined.
func (p *multiplication) operandLacks(op *Op) bool {
	at := 0
	for i, s := range op.Reads {
		for k := range int(s.Len) {
			if p.parts[i].operand() && op.shades[at+k].bits != 0 {
				return true
			}
		}
		at += int(s.Len)
	}
	return false
}

// shadeBesides sets the bits of the elements of D, in the order of the operation's Writes, that
// undefined factors or metadata make undefined.
func (p *multiplication) shadeBesides(op *Op, bits []uint32) {
	l, f := p.lacks(op), p.form
	if len(l) == 0 {
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
	for m := range f.M {
		if p.rowLacks(l, m) {
			for n := range f.N {
				element(m, n)
			}
		}
	}
	for n := range f.N {
		for cta := range p.ctas {
			if p.columnLacks(l, cta, n) {
				for m := cta * f.Rows(); m < (cta+1)*f.Rows(); m++ {
					element(m, n)
				}
			}
		}
	}
}

// rowLacks reports whether a factor of a row of A, or its metadata, is undefined.
func (p *multiplication) rowLacks(l lacking, m int) bool {
	f := p.form
	for i := range f.Factors {
		if cta, lane, column, b := f.CellSFA(m, i); p.factorLacks(l, cta, lane, column, b, f.CopiesSFA(), p.sfa) {
			return true
		}
	}
	lane0, column0 := tensor.TensorCell(p.meta)
	for n := range f.Nibbles() {
		cta, lane, column, bit := f.CellMeta(m, n)
		for _, d := range f.CopiesMeta() {
			if l.at(p.ctas[cta], lane0+lane+d, column0+column, bit/8) {
				return true
			}
		}
	}
	return false
}

// columnLacks reports whether a factor of a column of B is undefined in a CTA.
func (p *multiplication) columnLacks(l lacking, cta, n int) bool {
	for i := range p.form.Factors {
		if lane, column, b := p.form.CellSFB(n, i); p.factorLacks(l, cta, lane, column, b, p.form.CopiesSFB(), p.sfb) {
			return true
		}
	}
	return false
}

func (p *multiplication) factorLacks(l lacking, cta, lane, column, b int, copies []int, taddr uint32) bool {
	_, first := tensor.TensorCell(taddr &^ (3 << 30))
	for _, d := range append([]int{0}, copies...) {
		if l.at(p.ctas[cta], lane+d, first+column, b) {
			return true
		}
	}
	return false
}
