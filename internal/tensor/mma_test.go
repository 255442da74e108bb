package tensor

import (
	"fmt"
	"strings"
	"testing"
)

// forms lists the qualifiers of every form that ParseMMA takes.
func forms() (list []string) {
	for _, d := range depths {
		for _, k := range d.k {
			for _, typ := range strings.Fields(d.types) {
				acc := []string{"s32"}
				switch {
				case typ == "f64":
					acc = []string{"f64"}
				case elems[typ].float:
					acc = []string{"f32"}
					if typ == "f16" || !d.sparse && elems[typ].bits == 8 {
						acc = []string{"f16", "f32"}
					}
				}
				for _, c := range acc {
					op := "sync.aligned"
					if d.sparse {
						op = "sp.sync.aligned"
					}
					list = append(list, fmt.Sprintf("%s.m%dn8k%d.row.col.%s.%s.%s.%s", op, d.m, k, c, typ, typ, c))
				}
			}
		}
	}
	for _, l := range []string{"row.row", "row.col", "col.row", "col.col"} {
		list = append(list, "sync.aligned.m8n8k4."+l+".f32.f16.f16.f16")
	}
	return list
}

// TestFragmentsCover holds every fragment to being a bijection: each element of
// the matrix lies in one place.
func TestFragmentsCover(t *testing.T) {
	for _, form := range forms() {
		w, err := ParseMMA(strings.Split(form, "."))
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		kb := w.K
		if w.a.bits == 1 {
			kb /= 32
		}
		covers(t, form+" A", &w.A, w.M, w.columns, w.team(0))
		covers(t, form+" B", &w.B, kb, 8, w.team(0))
		covers(t, form+" C", &w.C, w.M, 8, w.team(0))
		covers(t, form+" D", &w.D, w.M, 8, w.team(0))
	}
	covers(t, "matrix", &Matrix8, 8, 8, ^uint32(0))
	covers(t, "transposed", &Transposed8, 8, 8, ^uint32(0))
}

func covers(t *testing.T, name string, f *Fragment, rows, columns int, team uint32) {
	t.Helper()
	seen := map[[2]int]bool{}
	for lane := range 32 {
		for reg := 0; reg < f.Regs && team>>lane&1 != 0; reg++ {
			r, c := f.At(lane, reg)
			for range f.Per {
				if r < 0 || r >= rows || c < 0 || c >= columns || seen[[2]int{r, c}] {
					t.Fatalf("%s: lane %d register %d holds (%d, %d), outside or twice", name, lane, reg, r, c)
				}
				seen[[2]int{r, c}] = true
				if f.Down {
					r++
				} else {
					c++
				}
			}
		}
	}
	if len(seen) != rows*columns {
		t.Errorf("%s: %d of %d elements have a place", name, len(seen), rows*columns)
	}
}

// TestFragmentPlaces looks at places that the ISA writes down (9.7.14.5.1,
// .7, .8, .10, .13; 9.7.14.5.15).
func TestFragmentPlaces(t *testing.T) {
	at := func(form, operand string) *Fragment {
		w, err := ParseMMA(strings.Split("sync.aligned."+form, "."))
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		return map[string]*Fragment{"a": &w.A, "b": &w.B, "c": &w.C, "d": &w.D}[operand]
	}
	for _, c := range []struct {
		form, operand string
		lane, reg     int
		row, column   int
	}{
		{"m16n8k16.row.col.f32.f16.f16.f32", "a", 5, 1, 9, 2},
		{"m16n8k16.row.col.f32.f16.f16.f32", "a", 5, 2, 1, 10},
		{"m16n8k16.row.col.f32.f16.f16.f32", "b", 31, 1, 14, 7},
		{"m16n8k16.row.col.f32.f16.f16.f32", "c", 6, 3, 9, 5},
		{"m16n8k16.row.col.f16.f16.f16.f16", "d", 6, 1, 9, 4},
		{"m16n8k8.row.col.f32.tf32.tf32.f32", "a", 3, 2, 0, 7},
		{"m16n8k16.row.col.f64.f64.f64.f64", "a", 2, 5, 8, 10},
		{"m16n8k32.row.col.s32.s8.s8.s32", "a", 1, 3, 8, 20},
		{"m16n8k256.row.col.s32.b1.b1.s32.and.popc", "b", 2, 1, 6, 0},
		{"m8n8k4.row.col.f32.f16.f16.f32", "a", 18, 1, 6, 2},
		{"m8n8k4.col.col.f32.f16.f16.f32", "a", 18, 1, 6, 2},
		{"m8n8k4.row.row.f32.f16.f16.f32", "b", 18, 1, 2, 6},
		{"m8n8k4.row.col.f32.f16.f16.f32", "c", 19, 7, 7, 7},
		{"m8n8k4.row.col.f16.f16.f16.f16", "c", 19, 3, 7, 6},
	} {
		if r, k := at(c.form, c.operand).At(c.lane, c.reg); r != c.row || k != c.column {
			t.Errorf("%s %s: lane %d register %d is at (%d, %d), want (%d, %d)", c.form, c.operand, c.lane, c.reg, r, k, c.row, c.column)
		}
	}
	if r, c := Matrix8.At(13, 0); r != 3 || c != 2 {
		t.Errorf("ldmatrix: lane 13 holds (%d, %d)", r, c)
	}
	if r, c := Transposed8.At(13, 0); r != 2 || c != 3 {
		t.Errorf("ldmatrix.trans: lane 13 holds (%d, %d)", r, c)
	}
}

// TestNotMMA are combinations that NVIDIA's assembler refuses, or that are of
// later architectures.
func TestNotMMA(t *testing.T) {
	for _, form := range []string{
		"sync.aligned.m8n8k4.row.col.f16.f16.f16.f32",
		"sync.aligned.m16n8k8.row.col.f32.f16.f16.f16",
		"sync.aligned.m16n8k16.row.col.f16.f16.f16.f32",
		"sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
		"sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
		"sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16",
		"sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
		"sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f32",
		"sync.aligned.m16n8k16.row.col.f32.s8.s8.f32",
		"sync.aligned.m16n8k32.row.col.s32.s8.s4.s32",
		"sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16",
		"sp.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
		"sync.aligned.m16n8k16x.row.col.f32.f16.f16.f32",
		"sync.aligned", "", "m.n",
	} {
		if w, err := ParseMMA(strings.Split(form, ".")); err == nil {
			t.Errorf("%s is taken: %+v", form, w)
		}
	}
}

// TestSparseMeets compares a sparse product with the dense one of the same
// matrix, its zeros written out.
func TestSparseMeets(t *testing.T) {
	sparse, _ := ParseMMA(strings.Split("sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "."))
	dense, _ := ParseMMA(strings.Split("sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "."))
	rows := func(n int) (list []*[32]uint32) {
		for range n {
			list = append(list, new([32]uint32))
		}
		return list
	}
	meta := new([32]uint32)
	stored, full, b, c, d, want := rows(2), rows(4), rows(2), rows(4), rows(4), rows(4)
	var matrix [16 * 32]uint32
	seed := uint32(1)
	next := func() uint32 { seed = seed*1664525 + 1013904223; return seed >> 8 }
	for lane := range 32 {
		b[0][lane], b[1][lane] = next()|next()<<16, next()|next()<<16
		for i := range 4 {
			c[i][lane] = next()
		}
		for n := range 8 {
			meta[lane] |= []uint32{4, 8, 9, 12, 13, 14}[next()%6] << (4 * n)
		}
	}
	for row := range 16 {
		for n := range 8 {
			// Selector 1: lanes 2 and 3 of a group, one for each row.
			x := meta[row%8*4+2+row/8] >> (4 * n) & 15
			for i, at := range []uint32{x & 3, x >> 2} {
				v := next() & 0xff
				col := 2*n + i
				stored[row/8][row%8*4+col/4] |= v << (8 * (col % 4))
				matrix[row*32+4*n+int(at)] = v
			}
		}
	}
	scatter(full, &dense.A, 8, matrix[:], 32)
	sparse.Run(d, stored, b, c, meta, 1)
	dense.Run(want, full, b, c, nil, 0)
	for i := range d {
		if *d[i] != *want[i] {
			t.Errorf("register %d: %x, dense %x", i, *d[i], *want[i])
		}
	}
}

// scatter lays a matrix out as f says.
func scatter(regs []*[32]uint32, f *Fragment, bits int, m []uint32, columns int) {
	for lane := range 32 {
		for reg := range f.Regs {
			r, c := f.At(lane, reg)
			for i := range f.Per {
				regs[reg][lane] |= m[r*columns+c+i] << (bits * i)
			}
		}
	}
}

// TestRunInPlace: D's registers may be C's, or A's.
func TestRunInPlace(t *testing.T) {
	for _, form := range forms() {
		w, _ := ParseMMA(strings.Split(form, "."))
		if w.Wide {
			continue
		}
		var regs [4][8][32]uint32
		seed := uint32(7)
		for i := range regs {
			for j := range regs[i] {
				for l := range regs[i][j] {
					seed = seed*1664525 + 1013904223
					regs[i][j][l] = seed &^ 0x40404040
				}
			}
		}
		operand := func(m *[4][8][32]uint32, i, n int) (list []*[32]uint32) {
			for r := range n {
				list = append(list, &m[i][r])
			}
			return list
		}
		run := func(m *[4][8][32]uint32, d int) [8][32]uint32 {
			meta := [32]uint32{}
			for l := range meta {
				meta[l] = 0x44444444
			}
			w.Run(operand(m, d, w.D.Regs), operand(m, 0, w.A.Regs), operand(m, 1, w.B.Regs), operand(m, 2, w.C.Regs), &meta, 0)
			for r := w.D.Regs; r < 8; r++ {
				m[d][r] = [32]uint32{}
			}
			return m[d]
		}
		apart, inC, inA := regs, regs, regs
		want := run(&apart, 3)
		if run(&inC, 2) != want || run(&inA, 0) != want {
			t.Errorf("%s: another result in place", form)
		}
	}
}

// BenchmarkMMA counts floating-point operations of a whole m16n8k16, fragments
// included.
func BenchmarkMMA(b *testing.B) {
	for _, form := range []string{"m16n8k16.row.col.f32.f16.f16.f32", "m16n8k32.row.col.s32.s8.s8.s32"} {
		b.Run(form, func(b *testing.B) {
			w, err := ParseMMA(strings.Split("sync.aligned."+form, "."))
			if err != nil {
				b.Fatal(err)
			}
			var regs [10][32]uint32
			var p [10]*[32]uint32
			for i := range regs {
				for l := range regs[i] {
					regs[i][l] = 0x3c003a00 + uint32(i*l)
				}
				p[i] = &regs[i]
			}
			for b.Loop() {
				w.Run(p[6:10], p[0:4], p[4:6], p[6:10], nil, 0)
			}
			b.ReportMetric(float64(b.N)*2*float64(w.M*w.N*w.K)/b.Elapsed().Seconds()/1e9, "Gop/s")
		})
	}
}
