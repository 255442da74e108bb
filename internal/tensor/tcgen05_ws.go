package tensor

import "fmt"

// tcgen05.mma.ws keeps B, the weights, where tcgen05.mma keeps A (ISA 9.7.18.10). D and A lie
// under other layouts, and columns of B may be shifted and count as zero.
//
// Where D lies is CuTe's tmem_frg_ws. Under layouts E and G the lanes of each half or quarter
// of D's columns have a copy of A of their own, as under layout B: FlashMLA has it so for
// layout E, and CuTe the metadata of a sparse A for both; for A and layout G it is assumed. So are the sums: those of tcgen05.mma.

// WSAssumes says what is assumed of tcgen05.mma.ws.
const WSAssumes = "tcgen05.mma.ws adds as tcgen05.mma does, and under layout G reads a copy of an A in tensor memory for each quarter of D's columns: no model of it is published"

// checkWS says which M and N go with .ws (ISA 9.7.18.2.1).
func (t *TCGen05) checkWS() error {
	n, m := t.Desc>>17&63, t.Desc>>24&31
	switch {
	case t.M != 32 && t.M != 64 && t.M != 128:
		return t.bad("9.7.18.2.1", "M/16", "24-28", m, "tcgen05.mma.ws has M of 32, 64 and 128, that is 2, 4 and 8")
	case t.N != 64 && t.N != 128 && (t.N != 256 || t.Sparse):
		also := ", 128 and 256, that is 8, 16 and 32"
		if t.Sparse {
			also = " and 128, that is 8 and 16"
		}
		return t.bad("9.7.18.2.1", "N/8", "17-22", n, "tcgen05.mma.ws has N of 64%s", also)
	}
	return nil
}

// MaxShift is how far columns of B may be shifted: .ws alone does (ISA 9.7.18.4.2).
func (t *TCGen05) MaxShift() int {
	if !t.WS {
		return 0
	}
	return [...]int{0, 8, 16, 32}[t.Desc>>30]
}

// ZeroColumns is the zero-column mask descriptor of tcgen05.mma.ws (ISA 9.7.18.4.3). D has one
// mask for each group of columns that its layout has: one, two or four. It counts in bits of
//
//	0–31   how many bits of each mask's pattern are skipped at its beginning
//	32–35  whether a pattern begins with ones
//	39     there is a mask
//	40–47  ones that follow each other, less one
//	48–55  zeros that follow each other, less one
//	56–61  by how many columns B is shifted
//
// and a one makes a column of B zero. So the worked examples have it, the meaning of a mask's
// bits, and the names of the fields (skip and use); the table's words for the two spans say
// the reverse. Column n of D meets column n and the shift of B, and the mask counts columns of
// D: the last example shows the first, and nothing the second, which is assumed.
type ZeroColumns uint64

// Shift is by how many columns B is shifted.
func (z ZeroColumns) Shift() int { return int(z >> 56 & 63) }

// Zero reports whether a column counts as zero; columns and groups are D's.
func (z ZeroColumns) Zero(n, columns, groups int) bool {
	if z>>39&1 == 0 {
		return false
	}
	group, at := n/(columns/groups), n%(columns/groups)
	skip, use := int(z>>40&255)+1, int(z>>48&255)+1
	first, second, ones := use, skip, false
	if z>>(32+group)&1 != 0 {
		first, second, ones = skip, use, true
	}
	return ((at+int(z>>(8*group)&255))%(first+second) < first) == ones
}

// CheckZero says in one sentence why the ISA forbids a zero-column mask descriptor.
func (t *TCGen05) CheckZero(z ZeroColumns) error {
	const section = "(ISA 9.7.18.4.3)"
	most := 32
	if t.M == 32 {
		most = 16
	}
	switch s := z.Shift(); {
	case z&(7<<36|3<<62) != 0:
		return fmt.Errorf("zero-column mask descriptor 0x%016x has reserved bits set: bits 36-38 and 62-63 must be 0 %s", uint64(z), section)
	case s > most:
		return fmt.Errorf("zero-column mask descriptor 0x%016x shifts by %d columns in bits 56-61, where at most %d are allowed with M of %d %s", uint64(z), s, most, t.M, section)
	case s > t.MaxShift():
		return fmt.Errorf("zero-column mask descriptor 0x%016x shifts by %d columns in bits 56-61, where the instruction descriptor 0x%08x allows %d in bits 30-31 (ISA 9.7.18.4.2)", uint64(z), s, t.Desc, t.MaxShift())
	}
	return nil
}

// shiftedB is B with the columns that a shift adds. Along N, 16 bytes lie together.
func (t *TCGen05) shiftedB(z ZeroColumns) operand {
	o := t.b
	o.rows += z.Shift()
	if o.mn {
		per := 16 / o.elem
		o.rows = (o.rows + per - 1) / per * per
	}
	return o
}

// groups is how many groups of D's columns have lanes of their own.
func (t *TCGen05) groups() int {
	switch t.Layout() {
	case 'E':
		return 2
	case 'G':
		return 4
	}
	return 1
}

// readBWS makes a panel of the columns of B for each group of D's.
func (t *TCGen05) readBWS(s *tcScratch, x *TCGen05Call) {
	o := t.shiftedB(x.Zero)
	all := s.b[0][:o.rows*o.width]
	s.matrix(all, TensorDescriptor(x.B).canonical(), &o, func(addr uint32, b []byte) { x.ReadShared(0, addr, b) })
	flip(all, t.B, t.NegB, false)
	columns, groups := all[x.Zero.Shift()*o.width:][:t.N*o.width], t.groups()
	for n := range t.N {
		if x.Zero.Zero(n, t.N, groups) {
			clear(columns[n*o.width:][:o.width])
		}
	}
	for i := range groups {
		panel(&s.pb[i], columns[i*len(columns)/groups:(i+1)*len(columns)/groups], o.width, t.B, false, t.resetB)
	}
}
