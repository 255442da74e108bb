package tensor

import (
	"fmt"
	"strings"
)

// The factors of block-scaled kinds (ISA 9.7.18.10.7). A row of A and a column of
// B have one for each block of K, a byte in tensor memory. Those of a row follow
// each other from the byte on that the descriptor's id names, and cells have four
// bytes. With r the row of A in its CTA, or the column of B, the first cell is
//
//	lane r%32, column r/32, and again 32, 64 and 96 lanes below
//
// so that each part of 32 lanes has all of them. Factors that do not fit in the cell (K
// of 96) are in the one that is as many columns on as 128 rows have, or 256 where N is
// above 128: so CUTLASS goes through them (sm103_blockscaled_mma_warpspecialized.hpp), and
// the ISA has figures for N up to 128 and for N above. Under layout B, whose halves have
// a half of B's columns each, B's factors are
//
//	lane r%32 + 64·(n ≥ N/2), column r/32, and again 32 lanes below
//
// with r = n mod N/2. The figures are replaced by CuTe's tmem_sf_frg; Triton's
// tensorMemoryScalesToLinearLayout has the same. Each CTA of a pair has the factors
// of its own rows of A, and those of all columns of B.
//
// Copies that differ are an error: the ISA does not say which part reads which.

// decodeScaled takes the instruction descriptor of a block-scaled kind apart (ISA
// 9.7.18.4.2).
func (t *TCGen05) decodeScaled() error {
	d := t.Desc
	const table = "9.7.18.4.2"
	packed := t.packed()
	why := "it must be 0"
	for _, z := range []struct {
		field, bits string
		value       uint32
		why         string
		only        bool // of mxf4 and mxf4nvf4
	}{
		{"reserved value", "0-1", d & 3, why, false},
		{"reserved value", "3", d >> 3 & 1, why, false},
		{"reserved value", "6", d >> 6 & 1, why, false},
		{"sparsity version", "12", d >> 12 & 1, "only sm_107 has another: it must be 0", true},
		{"transpose A", "15", d >> 15 & 1, "kind " + t.Kind + " transposes nothing: it must be 0", true},
		{"transpose B", "16", d >> 16 & 1, "kind " + t.Kind + " transposes nothing: it must be 0", true},
		{"reserved value", "24-25", d >> 24 & 3, why, false},
		{"scale factor layout of A", "26", d >> 26 & 1, "only sm_107 has another: it must be 0", false},
	} {
		if z.value != 0 && (packed || !z.only) {
			return t.bad(table, z.field, z.bits, z.value, "%s", z.why)
		}
	}
	if err := t.checkSparsity(); err != nil {
		return err
	}
	if err := t.scaledTypes(); err != nil {
		return err
	}
	t.NegA, t.NegB = d>>13&1 != 0, d>>14&1 != 0
	t.TransA, t.TransB = d>>15&1 != 0, d>>16&1 != 0
	t.N, t.M, t.K = int(d>>17&63)<<3, int(d>>27&3)<<7, t.logical(tcgen05Kinds[t.Kind].k)
	if err := t.longK(); err != nil {
		return err
	}
	if t.M != 128 && (t.M != 256 || t.CTAs == 1) {
		return t.bad("9.7.18.2.1", "M/128", "27-28", d>>27&3, "kind %s with .cta_group::%d has M of %s", t.Kind, t.CTAs, [...]string{1: "128, that is 1", 2: "128 and 256, that is 1 and 2"}[t.CTAs])
	}
	if t.Sparse && t.CTAs == 2 && t.M != 256 {
		return t.bad("9.7.18.2.1", "M/128", "27-28", d>>27&3, "a sparse A of kind %s with .cta_group::2 has M of 256, that is 2", t.Kind)
	}
	if err := t.checkN(); err != nil {
		return err
	}
	if err := t.scales(); err != nil {
		return err
	}
	return t.checkPlace()
}

// longK decodes K of 96, in bit 31.
func (t *TCGen05) longK() error {
	bad := func(why string) error { return t.bad("9.7.18.4.2", "K dimension", "31", 1, "%s", why) }
	switch {
	case t.Desc>>31 == 0:
		return nil
	case !t.packed():
		return bad("only sm_107 has another: it must be 0")
	case t.Arch != 103:
		return bad("K of 96 needs sm_103a")
	case t.Sparse:
		return bad("K of 192 for a sparse A needs sm_107")
	case t.CTAs == 2 && t.M != 256:
		return bad(".cta_group::2 has K of 96 with M of 256")
	case t.ATensor:
		return fmt.Errorf("tcgen05.mma with K of 96 and A in tensor memory is %w", ErrNotModelled)
	}
	t.K = 96
	return nil
}

// scaledTypes decodes the formats of A and B.
func (t *TCGen05) scaledTypes() error {
	d, codesOf, bBits, bMask := t.Desc, tcgen05Kinds[t.Kind].ab, "10-12", uint32(7)
	if t.packed() {
		bBits, bMask = "10-11", 3
	}
	var ok bool
	t.D = F32
	if t.A, ok = codesOf[d>>7&7]; !ok {
		return t.bad("9.7.18.4.2", "A type", "7-9", d>>7&7, "kind %s has %s", t.Kind, codes(codesOf))
	}
	if t.B, ok = codesOf[d>>10&bMask]; !ok {
		return t.bad("9.7.18.4.2", "B type", bBits, d>>10&bMask, "kind %s has %s", t.Kind, codes(codesOf))
	}
	return nil
}

// scales decodes the factors' format, number and first bytes (ISA 9.7.18.10.7.1).
func (t *TCGen05) scales() error {
	const section = "9.7.18.10.7.1"
	switch t.Kind + " " + t.Scales {
	case "mxf8f6f4 ", "mxf8f6f4 scale_vec::1X", "mxf8f6f4 block32":
		t.Factors = 1
	case "mxf4 ", "mxf4 scale_vec::2X", "mxf4 block32", "mxf4nvf4 scale_vec::2X", "mxf4nvf4 block32":
		t.Factors = 2
	case "mxf4nvf4 scale_vec::4X", "mxf4nvf4 block16":
		t.Factors = 4
	case "mxf4nvf4 ":
		return fmt.Errorf("tcgen05.mma of kind mxf4nvf4 has no .scale_vec nor .block, and one of them must be said (ISA 9.7.18.10.10.1)")
	default:
		return fmt.Errorf("tcgen05.mma of kind %s has no .%s (ISA %s)", t.Kind, t.Scales, section)
	}
	if t.K == 96 {
		if strings.HasPrefix(t.Scales, "scale_vec") {
			return fmt.Errorf("tcgen05.mma of kind %s with K of 96 and .%s, which is no block of 16 or 32 there (ISA %s), is %w", t.Kind, t.Scales, section, ErrNotModelled)
		}
		t.Factors = t.Factors / 2 * 3
	}
	t.Scale = UE8M0
	if t.Desc>>23&1 == 0 {
		switch {
		case t.Kind != "mxf4nvf4":
			return t.bad("9.7.18.4.2", "scale type", "23", 0, "kind %s has UE8M0 = 1", t.Kind)
		case t.Factors == 2 || t.Factors == 3:
			return t.bad(section, "scale type", "23", 0, "blocks of 32 with UE4M3 = 0 need sm_107, others have UE8M0 = 1")
		}
		t.Scale = UE4M3
	}
	t.SFA, t.SFB = int(t.Desc>>29&3), int(t.Desc>>4&3)
	for _, id := range [...]struct {
		matrix, bits string
		value        int
	}{{"A", "29-30", t.SFA}, {"B", "4-5", t.SFB}} {
		if step := [...]int{1: 1, 2: 2, 3: 1, 4: 4, 6: 2}[t.Factors]; id.value%step != 0 {
			return t.bad("9.7.18.10.7.2", "scale factor id of "+id.matrix, id.bits, uint32(id.value), "%d factors a row begin at byte %s of a cell",
				t.Factors, [...]string{2: "0 or 2", 4: "0"}[step])
		}
	}
	return nil
}

// CellSFA is the CTA of a factor of a row of A, its first cell relative to the
// factors' address, and which of the cell's bytes it is.
func (t *TCGen05) CellSFA(m, f int) (cta, lane, column, b int) {
	r := m % t.Rows()
	f += t.SFA
	return m / t.Rows(), r % 32, f/4*wordColumns(t.Rows()) + r/32, f % 4
}

// CellSFB is CellSFA for a column of B, the same in each CTA.
func (t *TCGen05) CellSFB(n, f int) (lane, column, b int) {
	if t.Layout() == 'B' && n >= t.N/2 {
		n -= t.N / 2
		lane = 64
	}
	f += t.SFB
	return lane + n%32, f/4*wordColumns(t.columnsB()) + n/32, f % 4
}

// wordColumns is how many columns on the next four factors of a row are.
func wordColumns(rows int) int { return (rows + 127) / 128 * 4 }

// CopiesSFA are the distances in lanes at which each cell of A's factors is again.
func (t *TCGen05) CopiesSFA() []int { return []int{32, 64, 96} }

// CopiesSFB is CopiesSFA for B's.
func (t *TCGen05) CopiesSFB() []int {
	if t.Layout() == 'B' {
		return []int{32}
	}
	return t.CopiesSFA()
}

// columnsB is how many columns of B each copy of its factors has.
func (t *TCGen05) columnsB() int {
	if t.Layout() == 'B' {
		return t.N / 2
	}
	return t.N
}

// SpansSFA returns the bytes of tensor memory that hold A's factors, the same in
// each CTA, whole cells. None where there are no factors.
func (t *TCGen05) SpansSFA(taddr uint32) []Span { return t.spansSF(taddr, t.SFA, t.Rows()) }

// SpansSFB is SpansSFA for B's.
func (t *TCGen05) SpansSFB(taddr uint32) []Span { return t.spansSF(taddr, t.SFB, t.columnsB()) }

func (t *TCGen05) spansSF(taddr uint32, id, rows int) (spans []Span) {
	if t.Factors == 0 {
		return nil
	}
	_, column := TensorCell(t.scaleAddress(taddr))
	add := func(list []Span) {
		for _, s := range list {
			if n := len(spans); n > 0 && spans[n-1].Addr+spans[n-1].Len == s.Addr {
				spans[n-1].Len += s.Len
			} else {
				spans = append(spans, s)
			}
		}
	}
	for word := 0; word <= (id+t.Factors-1)/4; word++ {
		at := column + word*wordColumns(rows)
		add(cellSpans(allLanes, at, rows/32))
		if rest := rows % 32; rest != 0 {
			add(cellSpans([]run{{0, rest}, {32, rest}, {64, rest}, {96, rest}}, at+rows/32, 1))
		}
	}
	return spans
}

// scaleAddress is an address of factors without the bits in which CuTe's pointers
// to them have the byte of the first.
func (t *TCGen05) scaleAddress(taddr uint32) uint32 { return taddr &^ (3 << 30) }

// CheckSFA says in one sentence why the ISA forbids an address of A's factors.
func (t *TCGen05) CheckSFA(taddr uint32) error { return t.checkSF("A", taddr, t.SFA, t.Rows()) }

// CheckSFB is CheckSFA for B's.
func (t *TCGen05) CheckSFB(taddr uint32) error { return t.checkSF("B", taddr, t.SFB, t.columnsB()) }

func (t *TCGen05) checkSF(matrix string, taddr uint32, id, rows int) error {
	if t.Factors == 0 {
		return nil
	}
	what := fmt.Sprintf("scale factors of %s at tensor address 0x%08x", matrix, taddr)
	if top := int(taddr >> 30); top != 0 && top != id {
		return fmt.Errorf("%s have %d in bits 30-31, where the instruction descriptor has scale factor id %d (ISA 9.7.18.10.7.2)", what, top, id)
	}
	lane, column := TensorCell(t.scaleAddress(taddr))
	if lane != 0 {
		return fmt.Errorf("%s begin at lane %d, where they are in all lanes from 0 on (ISA 9.7.18.10.7)", what, lane)
	}
	return checkColumns(what, column, (id+t.Factors-1)/4*wordColumns(rows)+(rows+31)/32)
}

// CheckScales says in one sentence that copies of a factor differ in one CTA: read copies bytes
// of its tensor memory, those of SpansSFA and SpansSFB.
func (t *TCGen05) CheckScales(sfa, sfb uint32, read func(addr uint32, b []byte)) error {
	if t.Factors == 0 {
		return nil
	}
	s := tcScratches.Get().(*tcScratch)
	defer tcScratches.Put(s)
	x := &TCGen05Call{SFA: sfa, SFB: sfb, ReadTensor: func(_ int, addr uint32, b []byte) { read(addr, b) }}
	t.readScales(s, x, 0)
	for f := range t.Factors {
		for r := range t.Rows() {
			_, lane, column, b := t.CellSFA(r, f)
			if err := t.copiesDiffer(s.sfa[:], "row", "A", r, f, lane, column, b, t.CopiesSFA(), sfa); err != nil {
				return err
			}
		}
		for n := range t.N {
			lane, column, b := t.CellSFB(n, f)
			if err := t.copiesDiffer(s.sfb[:], "column", "B", n, f, lane, column, b, t.CopiesSFB(), sfb); err != nil {
				return err
			}
		}
	}
	return nil
}

// copiesDiffer compares the copies of a factor of a row.
func (t *TCGen05) copiesDiffer(cells []byte, what, matrix string, row, f, lane, column, b int, copies []int, taddr uint32) error {
	first := cells[TensorOffset(lane, column)+uint32(b)]
	for _, d := range copies {
		if x := cells[TensorOffset(lane+d, column)+uint32(b)]; x != first {
			_, c := TensorCell(t.scaleAddress(taddr))
			return fmt.Errorf("scale factor %d of %s %d of %s is 0x%02x in lane %d of column %d and 0x%02x in lane %d, where each 32 lanes have the same (ISA 9.7.18.10.7)",
				f, what, row, matrix, first, lane, c+column, x, lane+d)
		}
	}
	return nil
}
