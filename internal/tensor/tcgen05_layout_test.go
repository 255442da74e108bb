package tensor

import (
	"fmt"
	"slices"
	"testing"
)

// accessLayouts are Copy_Traits<SM100_TMEM_LOAD_…> of
// cute/atom/copy_traits_sm100.hpp, which has one for every N: DstLayout, from
// thread and bit of the thread's registers to a bit of the data, and the data's
// bits of a lane and lanes. These forms for all N were compared with each of its
// 74. The stores have the same.
var accessLayouts = []struct {
	shape       string
	most        int
	dst         func(n int) cute
	bits, lanes int // of a lane and N, and of the data
}{
	{"32x32b", 128, func(n int) cute { return lay("(32,%d):(%d,1)", 32*n, 32*n) }, 32, 32},
	{"16x64b", 128, func(n int) cute { return lay("((2,2,8),(32,%d)):((%d,32,%d),(1,64))", n, 512*n, 64*n) }, 64, 16},
	{"16x128b", 64, func(n int) cute { return lay("((4,8),(32,2,%d)):((32,%d),(1,%d,128))", n, 128*n, 1024*n) }, 128, 16},
	{"16x256b", 32, func(n int) cute { return lay("((4,8),(64,2,%d)):((64,%d),(1,%d,256))", n, 256*n, 2048*n) }, 256, 16},
	{"16x32bx2", 128, func(n int) cute { return lay("((16,2),%d):((%d,%d),1)", 32*n, 64*n, 32*n) }, 64, 16},
}

// TestTensorAccessLayout compares every cell of every form with CuTe's layouts.
func TestTensorAccessLayout(t *testing.T) {
	for _, l := range accessLayouts {
		for n := 1; n <= l.most; n *= 2 {
			for _, pack := range []bool{false, true} {
				f := TensorAccessForm{Shape: l.shape, Num: n, Pack: pack}
				// ValID, from a bit of the data to one of tensor memory.
				val := lay("(%d,%d):(1,%d)", l.bits*n, l.lanes, dp)
				if pack {
					val = lay("((16,%d),%d):((1,32),%d)", l.bits*n/16, l.lanes, dp)
				}
				if l.shape == "16x32bx2" { // whose second half follows the first in CuTe
					if f.Split = n; pack {
						f.Split = 2 * n
					}
				}
				a, err := NewTensorAccess(f)
				if err != nil {
					t.Fatal(err)
				}
				dst := l.dst(n)
				if got, want := a.Registers(), dst.shape[1].size()/32; got != want {
					t.Errorf("%+v has %d registers, want %d", f, got, want)
				}
				differ := func(cell func(thread, reg int) (lane, column int)) string {
					for thread := range 32 {
						for reg := range a.Registers() {
							lane, column := cell(thread, reg)
							for half := range 2 {
								bit := val.at(dst.at(thread, 32*reg+16*half))
								wantLane, wantColumn, wantBit := bit/dp, bit%dp/32, bit%32
								gotColumn, gotBit := column, 16*half
								if pack {
									gotColumn, gotBit = column+half, 0
								}
								if lane != wantLane || gotColumn != wantColumn || gotBit != wantBit {
									return fmt.Sprintf("thread %d register %d: cell (%d,%d) bit %d, CuTe has (%d,%d) bit %d", thread, reg, lane, gotColumn, gotBit, wantLane, wantColumn, wantBit)
								}
							}
						}
					}
					return ""
				}
				if why := differ(a.Cell); why != "" {
					t.Fatalf("%+v: %s", f, why)
				}
				// Two lanes or two columns exchanged are noticed.
				swapped := func(thread, reg int) (int, int) {
					lane, column := a.Cell(thread, reg)
					if lane == 3 || lane == 4 {
						lane = 7 - lane
					}
					return lane, column
				}
				if differ(swapped) == "" {
					t.Errorf("%+v: lanes 3 and 4 exchanged agree with CuTe", f)
				}
				swapped = func(thread, reg int) (int, int) {
					lane, column := a.Cell(thread, reg)
					if last := a.Columns() - 1; column == 0 || column == last {
						column = last - column
					}
					return lane, column
				}
				if a.Columns() > 2 && differ(swapped) == "" {
					t.Errorf("%+v: the first and the last column exchanged agree with CuTe", f)
				}
			}
		}
	}
}

// tensorLayoutD is tmem_frg of cute/atom/mma_traits_sm100_frag.hpp for an
// accumulator: from (m, n) of one CTA to lane + 128·column.
func tensorLayoutD(ctas, m, n int) cute {
	switch {
	case ctas == 1 && m == 64:
		return lay("((16,4),%d):((1,32),128)", n)
	case ctas == 2 && m == 64:
		return lay("(64,(%d,2)):(1,(128,64))", n/2)
	}
	return lay("(128,%d):(1,128)", n)
}

// TestTensorLayoutD compares where D lies with CuTe's layouts, element by element.
func TestTensorLayoutD(t *testing.T) {
	for _, c := range []struct {
		ctas, m int
		letter  byte
	}{{1, 64, 'F'}, {1, 128, 'D'}, {2, 128, 'B'}, {2, 256, 'A'}} {
		for n := 8 * c.ctas; n <= 256; n += 8 * c.ctas {
			f := TCGen05Form{Kind: "f16", CTAs: c.ctas, ScaleD: -1, Desc: idesc(F32, F16, F16, c.m, n)}
			g, err := NewTCGen05(f)
			if err != nil {
				t.Fatal(err)
			}
			if g.Layout() != c.letter {
				t.Errorf("M = %d of %d CTAs has layout %c", c.m, c.ctas, g.Layout())
			}
			// CLayout of the 2x1SM traits: CTA r has rows M/2·r and more.
			rows, frag := c.m/c.ctas, tensorLayoutD(c.ctas, c.m/c.ctas, n)
			differ := func(cell func(m, n int) (cta, lane, column int)) string {
				for m := range c.m {
					for col := range n {
						cta, lane, column := cell(m, col)
						if at := frag.at(m%rows, col); cta != m/rows || lane+128*column != at {
							return fmt.Sprintf("%c: (%d,%d) is at CTA %d lane %d column %d, CuTe has %d, %d, %d", c.letter, m, col, cta, lane, column, m/rows, at%128, at/128)
						}
					}
				}
				return ""
			}
			if why := differ(g.CellD); why != "" {
				t.Fatal(why)
			}
			for what, swap := range map[string]func(cta, lane, column int) (int, int, int){
				"lanes":   func(cta, lane, column int) (int, int, int) { return cta, lane ^ 1, column },
				"columns": func(cta, lane, column int) (int, int, int) { return cta, lane, column ^ 1 },
			} {
				if differ(func(m, n int) (int, int, int) { return swap(g.CellD(m, n)) }) == "" {
					t.Errorf("%c with %s exchanged agrees with CuTe", c.letter, what)
				}
			}
			checkSpans(t, g, f)
		}
	}
}

// TestTensorLayoutA compares where A lies in tensor memory with CuTe's tmem_frg
// of its type, which packs K: from (m, k) to lane + 128·element. With two CTAs of
// 64 rows each it is duplicated (TmemAllocMode::Duplicated).
func TestTensorLayoutA(t *testing.T) {
	for _, kind := range []string{"f16", "tf32", "f8f6f4"} {
		f := kindFormats[kind].ab[0]
		for _, c := range []struct{ ctas, m int }{{1, 64}, {1, 128}, {2, 128}, {2, 256}} {
			g, err := NewTCGen05(TCGen05Form{Kind: kind, CTAs: c.ctas, ATensor: true, ScaleD: -1, Desc: idesc(F32, f, f, c.m, 64)})
			if err != nil {
				t.Fatal(err)
			}
			rows := c.m / c.ctas
			frag := lay("(%d,%d):(1,128)", rows, g.K)
			if c.ctas == 1 && c.m == 64 {
				frag = lay("((16,4),%d):((1,32),128)", g.K)
			}
			differ := func(cell func(m, k int) (cta, lane, column, bit int)) bool {
				for m := range c.m {
					for k := range g.K {
						cta, lane, column, bit := cell(m, k)
						at := frag.at(m%rows, k)
						if cta != m/rows || lane != at%128 || 32*column+bit != at/128*widthOf[f] {
							return true
						}
					}
				}
				return false
			}
			if differ(g.CellTA) {
				t.Errorf("%s, M = %d of %d CTAs: A lies elsewhere than CuTe has it", kind, c.m, c.ctas)
			}
			if !differ(func(m, k int) (int, int, int, int) { return g.CellTA(m^1, k) }) || !differ(func(m, k int) (int, int, int, int) { return g.CellTA(m, k^1) }) {
				t.Errorf("%s: rows or columns exchanged agree with CuTe", kind)
			}
		}
	}
}

// checkSpans compares the spans of D, and of A in tensor memory, with their cells.
func checkSpans(t *testing.T, g *TCGen05, f TCGen05Form) {
	t.Helper()
	f.ATensor = true
	ta, err := NewTCGen05(f)
	if err != nil {
		t.Fatal(err)
	}
	base := uint32(TensorColumns - 256)
	if g.Layout() == 'F' && g.N%16 == 0 {
		base |= 16 << 16
	}
	lane0, column0 := TensorCell(base)
	off := make([]uint32, 4*g.CTAs)
	for i := range off {
		off[i] = 0x9249_2491 >> (i % 3)
	}
	for cta := range g.CTAs {
		d, some, a := map[uint32]bool{}, map[uint32]bool{}, map[uint32]bool{}
		for m := range g.M {
			for n := range g.N {
				c, lane, column := g.CellD(m, n)
				if lane += lane0; c != cta {
					continue
				}
				at := TensorOffset(lane, column0+column)
				d[at] = true
				if off[4*cta+lane/32]>>(lane%32)&1 == 0 {
					some[at] = true
				}
			}
			for k := range g.K {
				c, lane, column, _ := ta.CellTA(m, k)
				if c == cta {
					a[TensorOffset(lane0+lane, column0+column)] = true
					if g.Layout() == 'B' {
						a[TensorOffset(lane0+lane+64, column0+column)] = true
					}
				}
			}
		}
		sameCells(t, g.SpansD(base, cta, nil), d)
		sameCells(t, g.SpansD(base, cta, off), some)
		sameCells(t, ta.SpansTA(base), a)
	}
	for _, err := range []error{g.CheckD(base), ta.CheckTA(base, base)} {
		if err != nil {
			t.Error(err)
		}
	}
}

// sameCells compares spans, which must ascend and not touch, with a set of cells.
func sameCells(t *testing.T, spans []Span, want map[uint32]bool) {
	t.Helper()
	n := 0
	for i, s := range spans {
		if i > 0 && s.Addr <= spans[i-1].Addr+spans[i-1].Len {
			t.Fatalf("spans %v and %v", spans[i-1], s)
		}
		for b := uint32(0); b < s.Len; b += 4 {
			if n++; !want[s.Addr+b] {
				t.Fatalf("cell at byte %d is none of the %d that are expected", s.Addr+b, len(want))
			}
		}
	}
	if n != len(want) {
		t.Fatalf("spans of %d cells, want %d", n, len(want))
	}
}

// copyLayouts are ValID and SrcLayout of Copy_Traits<SM100_UTCCP_…> of
// cute/atom/copy_traits_sm100.hpp, from (row, bit, copy…) to a bit of tensor
// memory. Of 4x256b CuTe's four rows are rows 32q of 128.
var copyLayouts = []struct {
	shape, multicast  string
	rows, bits, times int
	at                func(row, bit, n int) int
}{
	{"128x256b", "", 128, 256, 1, func(row, bit, n int) int { return lay("(128,256):(%d,1)", dp).at(row, bit) }},
	{"128x128b", "", 128, 128, 1, func(row, bit, n int) int { return lay("(128,128):(%d,1)", dp).at(row, bit) }},
	{"4x256b", "", 4, 256, 1, func(row, bit, n int) int {
		return lay("(128,256):(%d,1)", dp).at(lay("(4,256):(32,128)").at(row, bit))
	}},
	{"32x128b", "warpx4", 32, 128, 4, func(row, bit, n int) int { return lay("(32,128,4):(%d,1,%d)", dp, 32*dp).at(row, bit, n) }},
	{"64x128b", "warpx2::02_13", 64, 128, 2, func(row, bit, n int) int { return lay("(64,128,2):(%d,1,%d)", dp, 64*dp).at(row, bit, n) }},
	{"64x128b", "warpx2::01_23", 64, 128, 2, func(row, bit, n int) int {
		return lay("(32,128,2,2):(%d,1,%d,%d)", dp, 64*dp, 32*dp).at(row%32, bit, row/32, n)
	}},
}

// TestTensorCopy runs every shape under every swizzle, and compares tensor memory
// with what CuTe's layouts make of shared memory.
func TestTensorCopy(t *testing.T) {
	for _, l := range copyLayouts {
		c, err := NewTensorCopy(l.shape, l.multicast, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, sl := range smemLayouts[:4] {
			src := newSmem(sl, false, TF32, 1024+32, 4096+128, 2064)
			if l.bits/8 > 1<<(4+sl.bits) && sl.bits > 0 {
				continue
			}
			mem := make([]byte, 1<<16)
			for i := range mem {
				mem[i] = byte(mix(5, uint32(i)))
			}
			taddr := TensorAddress(0, 77)
			if l.rows == 4 {
				taddr = TensorAddress(31, 77)
			}
			if err := c.CheckTensor(taddr); err != nil {
				t.Error(err)
			}
			if err := c.CheckShared(src.desc()); err != nil {
				t.Error(err)
			}
			got, read := make([]byte, TensorBytes), map[uint32]bool{}
			wrote := map[uint32]bool{}
			c.Copy(taddr, src.desc(), func(addr uint32, b []byte) {
				copy(b, mem[addr:])
				for i := 0; i < len(b); i += 4 {
					read[addr+uint32(i)] = true
				}
			}, func(addr uint32, b []byte) {
				copy(got[addr:], b)
				for i := 0; i < len(b); i += 4 {
					wrote[addr+uint32(i)] = true
				}
			})
			lane0, column0 := TensorCell(taddr)
			want, reads, writes := make([]byte, TensorBytes), map[uint32]bool{}, map[uint32]bool{}
			for row := range l.rows {
				for word := range l.bits / 32 {
					from := src.bit(row, word) / 8
					reads[uint32(from)] = true
					for n := range l.times {
						bit := l.at(row, 32*word, n)
						to := TensorOffset(lane0+bit/dp, column0+bit%dp/32)
						copy(want[to:to+4], mem[from:])
						writes[to] = true
					}
				}
			}
			if string(got) != string(want) {
				t.Fatalf("%s.%s swizzle %d: tensor memory is not what CuTe's layouts say", l.shape, l.multicast, sl.code)
			}
			sameCells(t, c.SpansTensor(taddr), writes)
			sameCells(t, c.SpansShared(src.desc()), reads)
			for at := range reads {
				if !read[at] {
					t.Fatalf("byte %d was not read", at)
				}
			}
			if len(read) != len(reads) || len(wrote) != len(writes) {
				t.Errorf("%d words read and %d written, want %d and %d", len(read), len(wrote), len(reads), len(writes))
			}
			// Two lanes exchanged are noticed.
			other := *c
			other.lanes = slices.Clone(c.lanes)
			other.lanes[1], other.lanes[2] = c.lanes[2], c.lanes[1]
			other.Copy(taddr, src.desc(), func(addr uint32, b []byte) { copy(b, mem[addr:]) }, func(addr uint32, b []byte) { copy(got[addr:], b) })
			if string(got) == string(want) {
				t.Errorf("%s with two lanes exchanged agrees with CuTe", l.shape)
			}
		}
	}
}
