package tensor

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A kindLayout is where CuTe's traits of sm_120 have the operands, from (lane, value) to m + 16·k
// or n + 8·k: cute/atom/mma_traits_sm120.hpp and mma_traits_sm120_sparse.hpp, of which the
// 8-bit dense ones are those of SM80_16x8x32. Of a sparse A, values are stored elements and what
// stands for them is the first of two.
type kindLayout struct{ a, b, meta cute }

var kindLayouts = map[string]kindLayout{
	"m16n8k32": {a: lay("((4,8),(4,2,2)):((64,1),(16,8,256))"), b: lay("((4,8),(4,2)):((32,1),(8,128))")},
	"m16n8k64": {a: lay("((4,8),(8,2,2)):((128,1),(16,8,512))"), b: lay("((4,8),(8,2)):((64,1),(8,256))")},
	// 64 columns of K in bytes, of which A has half
	"sparse m16n8k64":  {a: lay("((4,8),(8,2,2)):((128,1),(16,8,512))"), b: lay("((4,8),(4,4)):((32,1),(8,128))"), meta: lay("((2,2,8),32):((8,512,1),16)")},
	"sparse m16n8k128": {a: lay("((4,8),(16,2,2)):((256,1),(16,8,1024))"), b: lay("((4,8),(8,4)):((64,1),(8,256))"), meta: lay("((2,2,8),64):((8,1024,1),16)")},
}

// kindForms are forms with a kind, without their types.
var kindForms = []struct {
	kind, scale, stype string
	sparse             bool
	shape              string
}{
	{"f8f6f4", "", "", false, "m16n8k32"}, {"f8f6f4", "", "", true, "m16n8k64"},
	{"mxf8f6f4", "1X", "ue8m0", false, "m16n8k32"}, {"mxf8f6f4", "", "ue8m0", true, "m16n8k64"},
	{"mxf4", "", "ue8m0", false, "m16n8k64"}, {"mxf4", "2X", "ue8m0", true, "m16n8k128"},
	{"mxf4nvf4", "2X", "ue8m0", false, "m16n8k64"}, {"mxf4nvf4", "4X", "ue4m3", false, "m16n8k64"}, {"mxf4nvf4", "4X", "ue8m0", false, "m16n8k64"},
	{"mxf4nvf4", "4X", "ue4m3", true, "m16n8k128"}, {"mxf4nvf4", "2X", "ue8m0", true, "m16n8k128"},
}

// TestKinds runs drawn products of each kind on matrices that CuTe's layouts put into registers,
// with noise in the padding of bytes and in the lanes whose factors are not selected.
func TestKinds(t *testing.T) {
	s := source{rand.New(rand.NewPCG(12, 0))}
	names := []string{"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"}
	for round := range 24 {
		for _, f := range kindForms {
			ta, tb, acc := names[s.to(5)], names[s.to(5)], "f32"
			if strings.HasPrefix(f.kind, "mxf4") {
				ta, tb = "e2m1", "e2m1"
			}
			if f.kind == "f8f6f4" && s.to(2) == 0 {
				acc = "f16"
			}
			mods := []string{"sync", "aligned", f.shape, "row", "col", "kind::" + f.kind}
			layout := kindLayouts[f.shape]
			if f.sparse {
				mods = append([]string{"sp::ordered_metadata"}, mods...)
				layout = kindLayouts["sparse "+f.shape]
			}
			if f.stype != "" {
				mods = append(mods, "block_scale")
			}
			if f.scale != "" {
				mods = append(mods, "scale_vec::"+f.scale)
			}
			mods = append(mods, acc, ta, tb, acc)
			if f.stype != "" {
				mods = append(mods, f.stype)
			}
			w, err := ParseMMA(mods)
			if err != nil {
				t.Fatalf("%v: %v", mods, err)
			}
			if w, err = w.On(120); err != nil {
				t.Fatal(err)
			}
			c := newKindCase(s, w, layout, containers[ta].format, containers[tb].format)
			name := strings.Join(mods, ".")
			if wrong := c.wrong(); wrong != "" {
				t.Fatalf("round %d: %s: %s", round, name, wrong)
			}
			if round == 0 {
				c.broken(t, name)
			}
		}
	}
}

// broken exchanges two lanes, and selects other factors: both must show.
func (c *kindCase) broken(t *testing.T, name string) {
	exchange := func(regs []*[32]uint32, i, j int) {
		for _, r := range regs {
			r[i], r[j] = r[j], r[i]
		}
	}
	for what, regs := range map[string][]*[32]uint32{"A": c.ra, "B": c.rb, "C": c.rc} {
		exchange(regs, 5, 22)
		if c.wrong() == "" {
			t.Errorf("%s: two lanes of %s exchanged agree with CuTe", name, what)
		}
		exchange(regs, 5, 22)
	}
	if c.w.Sparse {
		exchange([]*[32]uint32{&c.meta}, 1, 9)
		if c.wrong() == "" {
			t.Errorf("%s: two lanes of the metadata exchanged agree with CuTe", name)
		}
		exchange([]*[32]uint32{&c.meta}, 1, 9)
	}
	if c.w.Factors > 0 {
		for what, id := range map[string]*int{"A": &c.scales.ThreadA, "B": &c.scales.ThreadB} {
			*id ^= 1
			if c.wrong() == "" {
				t.Errorf("%s: factors of %s of other lanes give the same", name, what)
			}
			*id ^= 1
		}
	}
	if wrong := c.wrong(); wrong != "" {
		t.Fatal(wrong)
	}
}

// A kindCase is a product in registers.
type kindCase struct {
	w                 *WarpMMA
	a, b              [][]uint32 // rows of A, as stored, and columns of B
	c                 [][]uint32
	met               [][]int
	ra, rb, rc, rd    []*[32]uint32
	meta              [32]uint32
	scales            MMAScales
	formatA, formatB  Format
	accumulator       Format
	factorsA, factorB [][]byte // by row and by column
}

// putBits writes bits of a lane's registers, of which each has 32.
func putBits(regs []*[32]uint32, lane, at int, n uint, x uint32) {
	r := &regs[at/32][lane]
	m := (uint32(1)<<n - 1) << (at % 32)
	*r = *r&^m | x<<(at%32)&m
}

func newRegs(s source, n int) []*[32]uint32 {
	regs := make([]*[32]uint32, n)
	for i := range regs {
		regs[i] = new([32]uint32)
		for l := range regs[i] {
			regs[i][l] = uint32(s.Uint64())
		}
	}
	return regs
}

func newKindCase(s source, w *WarpMMA, layout kindLayout, fa, fb Format) *kindCase {
	c := &kindCase{w: w, formatA: fa, formatB: fb, accumulator: F32}
	if w.cbits == 16 {
		c.accumulator = F16
	}
	c.a, c.b, c.c = draw(s, fa, 16, w.columns), draw(s, fb, 8, w.K), draw(s, c.accumulator, 16, 8)
	c.ra, c.rb, c.rc, c.rd = newRegs(s, w.A.Regs), newRegs(s, w.B.Regs), newRegs(s, w.C.Regs), newRegs(s, w.D.Regs)
	size := int(w.a.bits)
	place := func(f Format) (shift int, n uint) {
		for _, x := range containers {
			if x.format == f && size == 8 {
				return int(x.shift), x.len
			}
		}
		return 0, 4
	}
	shiftA, bitsA := place(fa)
	shiftB, bitsB := place(fb)
	row := lay("((4,8),(2,2)):((32,1),(16,8))") // SM80_16x8_Row
	for lane := range 32 {
		step := w.K / w.columns
		for v := range 16 * w.columns / 32 {
			at := layout.a.at(lane, v*step)
			putBits(c.ra, lane, v*size+shiftA, bitsA, c.a[at%16][at/16/step])
		}
		for v := range 8 * w.K / 32 {
			at := layout.b.at(lane, v)
			putBits(c.rb, lane, v*size+shiftB, bitsB, c.b[at%8][at/8])
		}
		for v := range 4 {
			at := row.at(lane, v)
			putBits(c.rc, lane, v*int(w.cbits), w.cbits, c.c[at%16][at/16])
		}
	}
	c.sparsity(s, layout)
	c.factors(s)
	return c
}

// sparsity draws the metadata: bit v of a lane's register is of the v-th element of K, of pairs
// of them where they have 4 bits.
func (c *kindCase) sparsity(s source, layout kindLayout) {
	w := c.w
	if !w.Sparse {
		return
	}
	c.met = make([][]int, 16)
	each := 4 // elements of a nibble
	if w.a.bits == 4 {
		each = 8
	}
	nibbles := make([]map[int]uint32, 16)
	for i := range nibbles {
		nibbles[i] = map[int]uint32{}
		for n := range w.K / each {
			x := legal[s.to(len(legal))]
			nibbles[i][n] = x
			for _, k := range []int{int(x & 3), int(x >> 2)} {
				if each == 4 {
					c.met[i] = append(c.met[i], 4*n+k)
				} else {
					c.met[i] = append(c.met[i], 8*n+2*k, 8*n+2*k+1)
				}
			}
		}
	}
	for lane := range 32 {
		for n := range 8 {
			at := layout.meta.at(lane, n*each)
			c.meta[lane] |= nibbles[at%16][at/16/each] << (4 * n)
		}
	}
}

// factors draws factors by CuTe's SFALayout and SFBLayout, into which the selected lanes go.
func (c *kindCase) factors(s source) {
	w := c.w
	if w.Factors == 0 {
		return
	}
	step := map[int]int{1: 1, 2: 2, 4: 4}[w.Factors]
	c.scales = MMAScales{A: newRegs(s, 1)[0], B: newRegs(s, 1)[0], ByteA: step * s.to(4/step), ThreadA: s.to(2), ByteB: step * s.to(4/step), ThreadB: s.to(4)}
	c.factorsA, c.factorB = make([][]byte, 16), make([][]byte, 8)
	sfa := lay("((2,2,8),%d):((8,0,1),16)", w.K)
	sfb := lay("((4,8),%d):((0,1),8)", w.K)
	for i := range w.Factors {
		for lane := range 32 {
			x := byte(0x38 + s.to(20) - 10)
			if w.scale == UE8M0 {
				x = byte(127 + s.to(20) - 10)
			}
			regs := []*[32]uint32{c.scales.A}
			if lane%4/2 == c.scales.ThreadA {
				putBits(regs, lane, 8*(c.scales.ByteA+i), 8, uint32(x))
				row := sfa.at(lane, 0) % 16
				c.factorsA[row] = append(c.factorsA[row], x)
			}
			if regs[0] = c.scales.B; lane%4 == c.scales.ThreadB {
				putBits(regs, lane, 8*(c.scales.ByteB+i), 8, uint32(x))
				column := sfb.at(lane, 0) % 8
				c.factorB[column] = append(c.factorB[column], x)
			}
		}
	}
}

// wrong runs the product, and says which element is not as it should be, if one is.
func (c *kindCase) wrong() string {
	w := c.w
	if w.Factors > 0 {
		if err := w.Check(&c.scales); err != nil {
			return err.Error()
		}
		w.RunScaled(c.rd, c.ra, c.rb, c.rc, &c.meta, 0, &c.scales)
	} else {
		w.Run(c.rd, c.ra, c.rb, c.rc, &c.meta, 0)
	}
	row := lay("((4,8),(2,2)):((32,1),(16,8))")
	for lane := range 32 {
		for v := range 4 {
			at := row.at(lane, v)
			i, j := at%16, at/16
			got := c.rd[v*int(w.dbits)/32][lane] >> (v * int(w.dbits) % 32)
			if w.dbits == 16 {
				got &= 0xffff
			}
			b := make([]uint32, w.columns)
			for n := range b {
				if b[n] = c.b[j][n]; w.Sparse {
					b[n] = c.b[j][c.met[i][n]]
				}
			}
			var want uint32
			if w.Factors == 0 {
				want = (oracle{f: 25}).dot(c.accumulator, c.c[i][j], 0, terms(c.formatA, c.a[i], false), terms(c.formatB, b, false))
			} else { // a rule that is held to MMA-Sim elsewhere
				rule := ScaledRuleFor(c.formatA, c.formatB, w.a.bits == 4, w.scale, w.columns/w.Factors)
				var x, y Vector
				for n := range b {
					rule.AppendA(&x, c.a[i][n])
					rule.AppendB(&y, b[n])
				}
				want = rule.Dot(c.c[i][j], &x, &y, c.factorsA[i], c.factorB[j])
			}
			if got != want {
				return fmt.Sprintf("D(%d,%d) is %#x, want %#x", i, j, got, want)
			}
		}
	}
	return ""
}

// TestKindsRefused has what the ISA does not have, and what is not known.
func TestKindsRefused(t *testing.T) {
	for _, text := range []string{
		"m16n8k32.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", "m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
		"m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3", "m16n8k64.row.col.kind::mxf4.block_scale.f32.e4m3.e2m1.f32.ue8m0",
		"m16n8k32.row.col.kind::mxf8f6f4.f32.e4m3.e2m1.f32", "m16n8k32.row.col.kind::mxf8f6f4.block_scale.f16.e4m3.e2m1.f16.ue8m0", "m16n8k32.row.row.kind::f8f6f4.f32.e4m3.e2m1.f32",
	} {
		if _, err := ParseMMA(strings.Split(text, ".")); !errors.Is(err, ErrNotMMA) {
			t.Errorf("%s: %v", text, err)
		}
	}
	w, err := ParseMMA(strings.Split("m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", "."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.On(100); !errors.Is(err, ErrSumNotKnown) {
		t.Error(err)
	}
	for _, c := range []struct {
		s    MMAScales
		want string
	}{
		{MMAScales{ByteA: 1}, "byte-id-a is 1, where 0 and 2 are defined with 2 factors"}, {MMAScales{ByteB: 3}, "byte-id-b is 3"},
		{MMAScales{ThreadA: 2}, "thread-id-a is 2, where 0 and 1 are defined"}, {MMAScales{ThreadB: 4}, "thread-id-b is 4, where 0 to 3 are defined"}, {MMAScales{ByteA: 2, ThreadB: 3}, ""},
	} {
		if got := fmt.Sprint(w.Check(&c.s)); c.want == "" && got != "<nil>" || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s", c.s, got)
		}
	}
}
