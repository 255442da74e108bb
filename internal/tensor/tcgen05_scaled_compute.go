package tensor

// readScales reads the cells of the factors of one CTA.
func (t *TCGen05) readScales(s *tcScratch, x *TCGen05Call, cta int) {
	if t.Factors == 0 {
		return
	}
	t.readCells(s.sfa[:], x, cta, t.scaleAddress(x.SFA), t.SpansSFA(x.SFA))
	t.readCells(s.sfb[:], x, cta, t.scaleAddress(x.SFB), t.SpansSFB(x.SFB))
}

// readCells reads spans of tensor memory to where they lie from the first column on.
func (t *TCGen05) readCells(cells []byte, x *TCGen05Call, cta int, taddr uint32, spans []Span) {
	_, column := TensorCell(taddr)
	for _, p := range spans {
		x.ReadTensor(cta, p.Addr, cells[p.Addr-TensorOffset(0, column):][:p.Len])
	}
}

// factorsA are the codes of the factors of a row of A of the CTA.
func (t *TCGen05) factorsA(s *tcScratch, row int) []byte {
	for f := range t.Factors {
		_, lane, column, b := t.CellSFA(row, f)
		s.codesA[f] = s.sfa[TensorOffset(lane, column)+uint32(b)]
	}
	return s.codesA[:t.Factors]
}

// factorsB are the codes of the factors of a column of a half of B.
func (t *TCGen05) factorsB(s *tcScratch, half, n int) []byte {
	for f := range t.Factors {
		lane, column, b := t.CellSFB(half*t.N/t.CTAs+n, f)
		s.codesB[f] = s.sfb[TensorOffset(lane, column)+uint32(b)]
	}
	return s.codesB[:t.Factors]
}

// scaledTile is Tile with a factor for each row and column, for operands of 8 bits.
// Powers of two are taken out of C before, and are put into D after: that changes
// no bit where all of them are normal numbers. The other elements are computed one
// by one.
func (t *TCGen05) scaledTile(s *tcScratch, d []uint32, half, copied int) {
	rows, table := t.Rows(), &factors[t.Scale]
	was, ea, eb := s.was[:len(d)], s.expA[:rows], s.expB[:len(d)/rows]
	for m := range ea {
		ea[m] = table[t.factorsA(s, m)[0]].exp
	}
	for n := range eb {
		eb[n] = table[t.factorsB(s, half, n)[0]].exp
	}
	copy(was, d)
	for i, c := range d {
		d[i], _ = shifted(c, -ea[i%rows]-eb[i/rows])
	}
	t.tile(s, d, half, copied)
	var x, y Vector
	for i, c := range was {
		e := ea[i%rows] + eb[i/rows]
		_, fine := shifted(c, -e)
		r, also := shifted(d[i], e)
		if d[i] == 0 && c&^(1<<31) != 0 { // C may have been below the smallest number
			also = false
		}
		if !fine || !also {
			t.vectors(&x, &y, s, i%rows, half, i/rows, copied)
			r = t.scaled.Dot(c, &x, &y, t.factorsA(s, i%rows), t.factorsB(s, half, i/rows))
		}
		d[i] = r
	}
}

// shifted is x·2^e, of a zero and of a normal number that becomes one; else 0 and
// false.
func shifted(x uint32, e int32) (uint32, bool) {
	old := int32(x >> 23 & 0xff)
	switch n := old + e; {
	case x&^(1<<31) == 0 && e < special/2:
		return 0, true
	case old == 0 || old == 0xff || n <= 0 || n >= 0xff:
		return 0, false
	}
	return x + uint32(e)<<23, true
}

// vectors decodes a row of A and the elements of a column of B that it meets.
func (t *TCGen05) vectors(x, y *Vector, s *tcScratch, row, half, col, copied int) {
	x.reset()
	y.reset()
	a, b := s.a[copied][row*t.a.width:][:t.a.width], s.b[half][col*t.b.width:][:t.b.width]
	n, met := widthOf[t.A]/8, s.met[row*t.stored():]
	for i := range t.stored() {
		k := i
		if t.Sparse {
			k = int(met[i])
		}
		if t.packed() {
			t.rule.AppendA(x, nibbleAt(a, i))
			t.rule.AppendB(y, nibbleAt(b, k))
		} else {
			t.rule.AppendA(x, elementAt(a[i*n:], n))
			t.rule.AppendB(y, elementAt(b[k*n:], n))
		}
	}
}

// nibbleAt is an element of 4 bits.
func nibbleAt(b []byte, i int) uint32 { return uint32(b[i/2]) >> (i % 2 * 4) & 15 }

// halvesOf has e2m1 in halves.
var halvesOf = func() (t [16]int8) {
	for b := range t {
		t[b] = int8(2 * E2M1.Value(uint32(b)))
	}
	return t
}()

// unpackHalves makes numbers of rows of e2m1.
func unpackHalves(to []int8, rows []byte) {
	for i, b := range rows {
		to[2*i], to[2*i+1] = halvesOf[b&15], halvesOf[b>>4]
	}
}

// packedTile is Tile for operands of 4 bits: integers all the way, for a sum of 16
// products is a multiple of a quarter, and factors have four bits.
func (t *TCGen05) packedTile(s *tcScratch, d []uint32, half, copied int) {
	rows, columns, k := t.Rows(), len(d)/t.Rows(), t.stored()
	a, b := s.num[0][:rows*k], s.num[1][:columns*t.K]
	unpackHalves(a, s.a[copied][:rows*t.a.width])
	unpackHalves(b, s.b[half][:columns*t.b.width])
	var fa [8]factor
	table := &factors[t.Scale]
	for n := range columns {
		for i, code := range t.factorsB(s, half, n) {
			s.facB[n][i] = table[code]
		}
	}
	for m := range rows {
		for i, code := range t.factorsA(s, m) {
			fa[i] = table[code]
		}
		for n := range columns {
			col := b[n*t.K:][:t.K]
			if t.Sparse {
				col = s.num[2][:k]
				for i, at := range s.met[m*k:][:k] {
					col[i] = b[n*t.K+int(at)]
				}
			}
			c := &d[n*rows+m]
			*c = t.packedDot(*c, a[m*k:][:k], col, &fa, &s.facB[n])
		}
	}
}

// dot16 adds products of e2m1 in halves.
func dot16(x, y *[scaledGroup]int8) int32 {
	p := func(i int) int32 { return int32(x[i]) * int32(y[i]) }
	return p(0) + p(1) + p(2) + p(3) + (p(4) + p(5) + p(6) + p(7)) + (p(8) + p(9) + p(10) + p(11) + (p(12) + p(13) + p(14) + p(15)))
}

// packedDot is [ScaledRule.Dot] of e2m1 in halves.
func (t *TCGen05) packedDot(c uint32, a, b []int8, fa, fb *[8]factor) uint32 {
	var sums [8]int64
	var exps [8]int32
	groups, block := len(a)/scaledGroup, len(a)/scaledGroup/t.Factors
	cv, top := decode32(c)
	for g := range groups {
		sum := dot16((*[scaledGroup]int8)(a[g*scaledGroup:]), (*[scaledGroup]int8)(b[g*scaledGroup:]))
		f, h := &fa[g/block], &fb[g/block]
		sums[g], exps[g] = int64(sum)*int64(f.sig*h.sig), f.exp+h.exp
		switch {
		case f.exp == special || h.exp == special:
			return canonicalNaN
		case exps[g] > nothing/2:
			top = max(top, exps[g])
		}
	}
	if uint32(top-nothing/2) > special/2-nothing/2 {
		return t.rule.unusual(cv, nil, nil)
	}
	keep := t.rule.bits
	q := int64(cv * power(keep-top))
	for g, s := range sums[:groups] {
		// The sum is in units of 2^(exps-8): two quarters of products, 64 of factors.
		switch shift := keep - 8 - (top - exps[g]); {
		case shift >= 0:
			q += s << shift
		case shift > -63:
			q += s / (1 << -shift)
		}
	}
	return t.rule.round(float64(q) * power(top-keep))
}
