package tensor

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

// A tcCase is an instruction on drawn matrices, in memories that CuTe's layouts
// filled.
type tcCase struct {
	g       *TCGen05
	call    TCGen05Call
	a, b    [][]uint32 // rows of A, columns of B
	c       [][]uint32 // rows of C
	shared  [2][]byte
	tensor  [2][]byte
	reads   [2]map[Span]bool
	a0, b0  *smem
	mask    uint32 // of an element of D
	d0, ta0 uint32
}

// drawSmem draws a place for a matrix from start on.
func drawSmem(s source, f Format, mn bool, rows, k, start int) *smem {
	l := smemLayouts[s.to(4)]
	if mn && f == TF32 {
		l = smemLayouts[4]
	}
	w, e := 16<<l.bits, widthOf[f]/8
	if !mn && l.code == 6 && k*e > 32 { // CuTe has no such layout
		l, w = smemLayouts[3], 128
	}
	if l.code == 1 {
		w = 128
	}
	more := func(x int) int { return x + 16*s.to(3)*s.to(9) }
	lbo, sbo := 16*s.to(512), more(8*w) // K-major, swizzled
	switch {
	case !mn && l.code == 0:
		sbo = more(128)
		lbo = more(rows / 8 * sbo)
	case mn && l.code == 0:
		sbo = more(128)
		lbo = more(rows * e / 16 * sbo)
	case mn && l.code == 1:
		sbo = more(4 * w)
		lbo = more(k / 4 * sbo)
	case mn:
		lbo = more((k + 7) / 8 * sbo)
	}
	if s.to(3) != 0 {
		start = start &^ 1023
	}
	return newSmem(l, mn, f, start&^15, lbo, sbo)
}

func draw(s source, f Format, rows, k int) [][]uint32 {
	m := make([][]uint32, rows)
	blend := blends[s.to(len(blends))]
	if s.to(3) == 0 {
		blend = blends[0]
	}
	for i := range m {
		m[i] = make([]uint32, k)
		for j := range m[i] {
			if f == S8 || f == U8 || f == S32 {
				m[i][j] = uint32(s.Uint64() & (1<<widthOf[f] - 1))
				continue
			}
			m[i][j] = blend.draw(s, f)
		}
	}
	return m
}

// newTCCase draws an instruction.
func newTCCase(t *testing.T, s source, form TCGen05Form) *tcCase {
	g, err := NewTCGen05(form)
	if err != nil {
		t.Fatal(err)
	}
	c := &tcCase{g: g, mask: 0xffffffff}
	if g.D == F16 {
		c.mask = 0xffff
	}
	c.a, c.b, c.c = draw(s, g.A, g.M, g.stored()), draw(s, g.B, g.N, g.K), draw(s, g.D, g.M, g.N)
	rows := g.Rows()
	c.a0 = drawSmem(s, g.A, g.TransA, rows, g.stored(), 1024+s.to(20000))
	c.b0 = drawSmem(s, g.B, g.TransB, g.N/g.CTAs, g.K, 120000+s.to(20000))
	c.a0.packed, c.b0.packed = g.packed(), g.packed()
	lane := 0
	if g.halfLanes() {
		lane = 16 * s.to(2)
	}
	c.ta0 = TensorAddress(lane, s.to(32))
	c.d0 = TensorAddress(lane, 64+s.to(TensorColumns-64-g.ColumnsD()+1))
	c.call = TCGen05Call{D: c.d0, A: c.a0.desc(), B: c.b0.desc(), Input: s.to(4) != 0}
	for cta := range g.CTAs {
		c.shared[cta], c.tensor[cta] = make([]byte, smemEnd), make([]byte, TensorBytes)
		for i := range c.shared[cta] {
			c.shared[cta][i] = byte(mix(1, uint32(i+cta)))
		}
		for i := range c.tensor[cta] {
			c.tensor[cta][i] = byte(mix(2, uint32(i+cta)))
		}
		c.reads[cta] = map[Span]bool{}
	}
	if s.to(3) == 0 {
		c.call.NoLane = make([]uint32, 4*g.CTAs)
		one := 4 * s.to(g.CTAs) // CTA whose lanes are disabled, and now and then the other's
		for i := range c.call.NoLane {
			if i/4 == one/4 || s.to(9) == 0 {
				c.call.NoLane[i] = uint32(s.Uint64() & s.Uint64())
			}
		}
	}
	c.fill()
	c.call.ReadShared = func(cta int, addr uint32, b []byte) {
		c.reads[cta][Span{addr, uint32(len(b))}] = true
		copy(b, c.shared[cta][addr:])
	}
	c.call.ReadTensor = func(cta int, addr uint32, b []byte) { copy(b, c.tensor[cta][addr:]) }
	c.call.WriteTensor = func(cta int, addr uint32, b []byte) { copy(c.tensor[cta][addr:], b) }
	return c
}

// fill puts the matrices where CuTe says that they are: ALayout and BLayout of
// the 2x1SM traits give CTA r rows r·M/2 and more of A, and columns r·N/2 and more
// of B.
func (c *tcCase) fill() {
	g := c.g
	rows := g.Rows()
	if g.ATensor {
		c.call.A = uint64(c.ta0)
	}
	lane0, column0 := TensorCell(c.ta0)
	for m, row := range c.a {
		for k, x := range row {
			if !g.ATensor {
				c.a0.put(c.shared[m/rows], m%rows, k, x)
				continue
			}
			_, lane, column, bit := g.CellTA(m, k)
			for again := 0; again <= 64; again += 64 {
				if again > 0 && g.Layout() != 'B' {
					break
				}
				at := c.tensor[m/rows][TensorOffset(lane0+lane+again, column0+column):]
				word := uint64(binary.LittleEndian.Uint32(at))
				mask := uint64(1)<<bitsTA(g) - 1
				binary.LittleEndian.PutUint32(at, uint32(word&^(mask<<bit)|uint64(x)&mask<<bit))
			}
		}
	}
	half := g.N / g.CTAs
	for n, col := range c.b {
		for k, x := range col {
			c.b0.put(c.shared[n/half], n%half, k, x)
		}
	}
	frag := fragOf(g)
	lane0, column0 = TensorCell(c.d0)
	for m, row := range c.c {
		for n, x := range row {
			at := frag.at(m%rows, n)
			cell := c.tensor[m/rows][TensorOffset(lane0+at%128, column0+at/128):]
			high := binary.LittleEndian.Uint32(cell) &^ c.mask
			binary.LittleEndian.PutUint32(cell, high|x&c.mask)
		}
	}
}

// bitsTA is the bits of an element of A in tensor memory, without its padding.
func bitsTA(g *TCGen05) int {
	switch {
	case g.A == E2M1:
		return 4
	case g.A == E2M3 || g.A == E3M2:
		return 6
	}
	return widthOf[g.A]
}

// terms decodes a row for the oracle.
func terms(f Format, row []uint32, neg bool) []term {
	out := make([]term, len(row))
	for i, x := range row {
		out[i] = termOf(f, x)
		out[i].neg = out[i].neg != neg
	}
	return out
}

// sumCounts counts elements that other rules would compute differently.
type sumCounts struct{ all, less, more, unfused, scaled int }

// check runs the instruction and compares D: every element with Dot where C is
// not scaled, and some with the oracle.
func (c *tcCase) check(t *testing.T, s source, n *sumCounts) {
	t.Helper()
	g := c.g
	was := [2][]byte{append([]byte(nil), c.tensor[0]...), append([]byte(nil), c.tensor[1]...)}
	g.Compute(&c.call)
	rows, rule := g.Rows(), TCGen05Rule(g.D, g.A, g.B)
	frag := tensorLayoutD(g.CTAs, rows, g.N)
	lane0, column0 := TensorCell(c.d0)
	as, bs := make([]Vector, g.M), make([]Vector, g.N)
	sign := func(f Format, x uint32, neg bool) uint32 {
		if neg {
			x ^= 1 << (layouts[f].exp + layouts[f].frac)
		}
		return x
	}
	for i, row := range c.a {
		for _, x := range row {
			rule.AppendA(&as[i], sign(g.A, x, g.NegA))
		}
	}
	for i, col := range c.b {
		for _, x := range col {
			rule.AppendB(&bs[i], sign(g.B, x, g.NegB))
		}
	}
	scale := max(0, g.ScaleD)
	for m := range g.M {
		cta := m / rows
		for col := range g.N {
			at := frag.at(m%rows, col)
			lane := lane0 + at%128
			off := TensorOffset(lane, column0+at/128)
			got := binary.LittleEndian.Uint32(c.tensor[cta][off:])
			if c.call.NoLane != nil && c.call.NoLane[4*cta+lane/32]>>(lane%32)&1 != 0 {
				continue // compared below
			}
			binary.LittleEndian.PutUint32(was[cta][off:], got)
			e := c.c[m][col] & c.mask
			if !c.call.Input {
				e = 0
			}
			if scale == 0 {
				if want := rule.Dot(e, &as[m], &bs[col]); got != want {
					t.Fatalf("%+v: D(%d,%d) is 0x%x, Dot has 0x%x", g.TCGen05Form, m, col, got, want)
				}
			}
			if s.to(g.M*g.N/200+1) != 0 {
				continue
			}
			x, y := terms(g.A, c.a[m], g.NegA), terms(g.B, c.b[col], g.NegB)
			if want := (oracle{f: 25}).dot(g.D, e, scale, x, y); got != want {
				t.Fatalf("%+v: D(%d,%d) is 0x%x, the oracle has 0x%x", g.TCGen05Form, m, col, got, want)
			}
			n.count(got, g.D, e, scale, x, y)
			c.bound(t, got, e, scale, x, y)
		}
	}
	for cta := range g.CTAs {
		if string(c.tensor[cta]) != string(was[cta]) {
			t.Fatalf("%+v writes cells that are not D's, or lanes that are disabled", g.TCGen05Form)
		}
		spans := g.SpansB(c.call.B, c.call.Zero)
		spans = append(spans, g.SpansA(c.call.A)...)
		for _, p := range spans {
			if !c.reads[cta][p] {
				t.Fatalf("%+v does not read %v", g.TCGen05Form, p)
			}
			delete(c.reads[cta], p)
		}
		if len(c.reads[cta]) != 0 {
			t.Fatalf("%+v reads %v, which are no spans", g.TCGen05Form, c.reads[cta])
		}
	}
}

func (n *sumCounts) count(got uint32, acc Format, c uint32, scale int, x, y []term) {
	n.all++
	if (oracle{f: 24}).dot(acc, c, scale, x, y) != got {
		n.less++
	}
	if (oracle{f: 26}).dot(acc, c, scale, x, y) != got {
		n.more++
	}
	if (oracle{f: 25, unfused: true}).dot(acc, c, scale, x, y) != got {
		n.unfused++
	}
	if scale > 0 && (oracle{f: 25}).dot(acc, c, 0, x, y) != got {
		n.scaled++
	}
}

// bound compares an element with the exact sum: K+1 addends lose less than
// 2^(E-25) each, and the result less than a unit in its last place.
func (c *tcCase) bound(t *testing.T, got, e uint32, scale int, x, y []term) {
	t.Helper()
	exact, top, finite := sumExactly(c.g.D, e, scale, x, y)
	d := termOf(c.g.D, got)
	if !finite || d.inf {
		return
	}
	v := new(big.Float).SetPrec(1200).SetMantExp(new(big.Float).SetInt64(d.mant), d.exp)
	if d.neg {
		v.Neg(v)
	}
	limit := new(big.Float).SetPrec(1200).SetMantExp(big.NewFloat(float64(len(x)+1)), top-25)
	limit.Add(limit, new(big.Float).SetMantExp(big.NewFloat(1), d.exp+1))
	if diff := v.Sub(v, exact); diff.Abs(diff).Cmp(limit) > 0 {
		t.Fatalf("%+v: 0x%x is farther from the exact sum than %v", c.g.TCGen05Form, got, limit)
	}
}

// TestTCGen05Compute runs drawn instructions of every kind, layout, swizzle and
// major-ness.
func TestTCGen05Compute(t *testing.T) {
	rounds := 24
	if testing.Short() {
		rounds = 8
	}
	for _, kind := range []string{"f16", "tf32", "f8f6f4"} {
		for _, layout := range []struct{ ctas, m int }{{1, 64}, {1, 128}, {2, 128}, {2, 256}} {
			t.Run(fmt.Sprintf("%s/%d/%d", kind, layout.ctas, layout.m), func(t *testing.T) {
				t.Parallel()
				s := source{rand.New(rand.NewPCG(uint64(layout.m), uint64(layout.ctas+len(kind))))}
				k := kindFormats[kind]
				var n sumCounts
				for range rounds {
					d, a, b := k.d[s.to(len(k.d))], k.ab[s.to(len(k.ab))], k.ab[s.to(len(k.ab))]
					if a == BF16 || b == BF16 {
						d = F32
					}
					f := TCGen05Form{Kind: kind, CTAs: layout.ctas, ATensor: s.to(3) == 0, ScaleD: -1}
					step := 8 * layout.ctas
					if kind == "f8f6f4" {
						step *= 2
					}
					f.Desc = idesc(d, a, b, layout.m, step*(1+s.to(min(256/step, 9))))
					f.Desc |= uint32(s.to(4)) << 13
					if !f.ATensor {
						f.Desc |= uint32(s.to(2)) << 15
					}
					f.Desc |= uint32(s.to(2)) << 16
					if kind != "f8f6f4" && s.to(3) == 0 {
						f.ScaleD = s.to(16)
					}
					newTCCase(t, s, f).check(t, s, &n)
				}
				t.Logf("%d elements; %d with F of 24, %d with 26, %d with C apart and %d with C not scaled would differ", n.all, n.less, n.more, n.unfused, n.scaled)
				if testing.Short() {
					return
				}
				if n.all < 80*rounds || n.less < n.all/200 || n.more < n.all/500 || n.unfused < n.all/200 {
					t.Errorf("too few elements distinguish the rule: %+v", n)
				}
			})
		}
	}
}

// TestTCGen05Duplicate: of layout B, each half of D's columns is computed from its
// own copy of A in tensor memory.
func TestTCGen05Duplicate(t *testing.T) {
	s := source{rand.New(rand.NewPCG(1, 1))}
	c := newTCCase(t, s, TCGen05Form{Kind: "f16", CTAs: 2, ATensor: true, ScaleD: -1, Desc: idesc(F32, F16, F16, 128, 64)})
	c.call.Input, c.call.NoLane = false, nil
	one := bitsOf(F16, 1)
	for i := range c.a {
		for k := range c.a[i] {
			c.a[i][k], c.b[i%64][k] = one, one
		}
	}
	c.fill()
	lane, column := TensorCell(c.ta0)
	c.tensor[1][TensorOffset(lane+64+5, column)+1] ^= 0x80 // A(69,0) of the second copy
	c.call.A = uint64(c.ta0)
	c.g.Compute(&c.call)
	for _, e := range []struct {
		m, n int
		want float64
	}{{69, 31, 16}, {69, 32, 14}, {68, 32, 16}, {5, 32, 16}} {
		cta, lane, column := c.g.CellD(e.m, e.n)
		l0, c0 := TensorCell(c.d0)
		if got := binary.LittleEndian.Uint32(c.tensor[cta][TensorOffset(l0+lane, c0+column):]); got != bitsOf(F32, e.want) {
			t.Errorf("D(%d,%d) is 0x%x, want %v", e.m, e.n, got, e.want)
		}
	}
}

// TestTCGen05Scale scales every exponent that C can have by every scale-input-d,
// against products that are nothing, small and large.
func TestTCGen05Scale(t *testing.T) {
	s := source{rand.New(rand.NewPCG(8, 8))}
	for _, kind := range []struct {
		kind string
		d, a Format
	}{{"f16", F16, F16}, {"f16", F32, BF16}, {"tf32", F32, TF32}} {
		l := layouts[kind.d]
		for scale := range 16 {
			c := newTCCase(t, s, TCGen05Form{Kind: kind.kind, CTAs: 1, ScaleD: scale, Desc: idesc(kind.d, kind.a, kind.a, 128, 128)})
			c.call.Input, c.call.NoLane = true, nil
			for i := range 128 {
				for k := range c.a[i] {
					size := []float64{0, 0x1p-70, 0x1p-8, 1}[i%4]
					c.a[i][k], c.b[i][k] = bitsOf(kind.a, size*s.NormFloat64()), bitsOf(kind.a, 0x1p-60*s.NormFloat64())
					if kind.d == F16 {
						c.b[i][k] = bitsOf(kind.a, 0x1p-8*s.NormFloat64())
					}
				}
				for n := range c.c[i] {
					e := uint32(s.to(1 << l.exp))
					if s.to(2) == 0 {
						e = uint32(s.to(20)) // near the smallest
					}
					c.c[i][n] = e<<l.frac | uint32(s.Uint64()&(1<<l.frac-1)) | uint32(s.to(2))<<(l.exp+l.frac)
				}
			}
			c.fill()
			var n sumCounts
			if c.check(t, s, &n); scale > 0 && n.scaled < n.all/8 {
				t.Errorf("%s, scale-input-d %d: of %d elements %d would differ with C not scaled", kind.kind, scale, n.all, n.scaled)
			}
		}
	}
}

// TestTCGen05Panels compares Tile with Dot for the formats that tcgen05 adds, on
// every blend.
func TestTCGen05Panels(t *testing.T) {
	s := source{rand.New(rand.NewPCG(4, 4))}
	formats := kindFormats["f8f6f4"].ab
	for _, fa := range formats {
		for _, fb := range formats {
			for _, acc := range []Format{F16, F32} {
				r := TCGen05Rule(acc, fa, fb)
				for _, m := range blends {
					var a, b Panel
					a.ResetA(r, 32)
					b.ResetB(r, 32)
					va, vb := make([]Vector, 5), make([]Vector, 12)
					ta, tb := make([][]term, 5), make([][]term, 12)
					fill := func(f Format, p *Panel, add func(*Vector, uint32), v []Vector, ts [][]term) {
						for i := range v {
							row := make([]uint32, 32)
							for k := range row {
								row[k] = m.draw(s, f)
								add(&v[i], row[k])
							}
							p.Add(row)
							ts[i] = terms(f, row, false)
						}
					}
					fill(fa, &a, r.AppendA, va, ta)
					fill(fb, &b, r.AppendB, vb, tb)
					var d [60]uint32
					for i := range d {
						d[i] = blends[s.to(len(blends))].draw(s, acc)
					}
					c := d
					r.Tile(d[:], &a, &b)
					for i, got := range d {
						if want := r.Dot(c[i], &va[i/12], &vb[i%12]); got != want {
							t.Fatalf("%d %d %s: 0x%x, Dot has 0x%x", fa, fb, m.name, got, want)
						}
						if want := (oracle{f: 25}).dot(acc, c[i], 0, ta[i/12], tb[i%12]); got != want {
							t.Fatalf("%d %d %s: 0x%x, the oracle has 0x%x", fa, fb, m.name, got, want)
						}
					}
				}
			}
		}
	}
}

// BenchmarkTCGen05 does whole instructions, and what the same work takes as parts
// of wgmma of four warps: compare GFLOP/s.
func BenchmarkTCGen05(b *testing.B) {
	for _, c := range []struct {
		kind    string
		ctas, m int
		d, a    Format
		trans   uint32
		ta      bool
	}{
		{"f16", 1, 128, F32, F16, 0, false}, {"f16", 1, 128, F32, BF16, 0, false}, {"f16", 1, 128, F16, F16, 0, false}, {"f16", 1, 128, F32, F16, 3 << 15, false},
		{"f16", 1, 64, F32, F16, 0, false}, {"f16", 1, 128, F32, F16, 0, true}, {"f16", 2, 256, F32, F16, 0, false}, {"f16", 2, 128, F32, F16, 0, false},
		{"tf32", 1, 128, F32, TF32, 0, false}, {"f8f6f4", 1, 128, F32, E4M3, 0, false}, {"f8f6f4", 1, 128, F32, E2M1, 0, false},
	} {
		name := fmt.Sprintf("%s/cta%d/m%d/d%d/a%d/trans%d/ta%v", c.kind, c.ctas, c.m, c.d, c.a, c.trans>>15, c.ta)
		b.Run(name, func(b *testing.B) {
			g, err := NewTCGen05(TCGen05Form{Kind: c.kind, CTAs: c.ctas, ATensor: c.ta, ScaleD: -1, Desc: idesc(c.d, c.a, c.a, c.m, 256) | c.trans})
			if err != nil {
				b.Fatal(err)
			}
			s := source{rand.New(rand.NewPCG(1, 2))}
			tc := &tcCase{g: g, mask: 0xffffffff, a0: newSmem(smemLayouts[3], g.TransA, g.A, 1024, 4096, 1024), b0: newSmem(smemLayouts[3], g.TransB, g.B, 65536, 4096, 1024), ta0: 0, d0: 64}
			for i := range max(g.M, g.N) {
				row := make([]uint32, g.K)
				for k := range row {
					row[k] = blends[0].draw(s, g.A)
				}
				if i < g.M {
					tc.a = append(tc.a, row)
				}
				if i < g.N {
					tc.b = append(tc.b, row)
				}
			}
			for cta := range g.CTAs {
				tc.shared[cta], tc.tensor[cta] = make([]byte, smemEnd), make([]byte, TensorBytes)
			}
			tc.call = TCGen05Call{D: tc.d0, A: tc.a0.desc(), B: tc.b0.desc(), Input: true,
				ReadShared:  func(cta int, addr uint32, b []byte) { copy(b, tc.shared[cta][addr:]) },
				ReadTensor:  func(cta int, addr uint32, b []byte) { copy(b, tc.tensor[cta][addr:]) },
				WriteTensor: func(cta int, addr uint32, b []byte) {}}
			tc.fill()
			write := tc.call.WriteTensor
			tc.call.WriteTensor = func(cta int, addr uint32, b []byte) { copy(tc.tensor[cta][addr:], b) }
			for range 8 { // C of the size that a sum of eight has
				g.Compute(&tc.call)
			}
			tc.call.WriteTensor = write
			b.ReportAllocs()
			for b.Loop() {
				g.Compute(&tc.call)
			}
			b.ReportMetric(float64(b.N)*2*float64(g.M)*float64(g.N)*float64(g.K)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}
