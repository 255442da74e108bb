package tensor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// fragOf is where D lies by CuTe's layouts, from (m, n) of one CTA to lane + 128·column. Of layout
// C it has none; the ISA says that it uses half of the lanes, as layout F does.
func fragOf(g *TCGen05) cute {
	if g.Layout() == 'C' {
		return tensorLayoutD(1, 64, g.N)
	}
	return tensorLayoutD(g.CTAs, g.Rows(), g.N)
}

// A sparseForm is a kind with a sparse A.
type sparseForm struct {
	kind, scales string
	d            Format
	scale        ScaleFormat
	factors      int
	ab           []Format
	ctas, m      []int // together
}

var (
	anyCTAs, anyM   = []int{1, 1, 2, 2}, []int{64, 128, 128, 256}
	fullCTAs, fullM = []int{1, 2}, []int{128, 256}
)

var sparseForms = []sparseForm{
	{"f16", "", F32, 0, 0, []Format{F16, BF16}, anyCTAs, anyM}, {"f16", "", F16, 0, 0, []Format{F16}, anyCTAs, anyM},
	{"tf32", "", F32, 0, 0, []Format{TF32}, anyCTAs, anyM},
	{"f8f6f4", "", F32, 0, 0, []Format{E4M3, E5M2, E2M3, E3M2, E2M1}, anyCTAs, anyM}, {"f8f6f4", "", F16, 0, 0, []Format{E4M3, E5M2}, anyCTAs, anyM},
	{"i8", "", S32, 0, 0, []Format{S8, U8}, anyCTAs, anyM},
	{"mxf8f6f4", "block32", F32, UE8M0, 1, []Format{E4M3, E5M2, E2M3, E3M2, E2M1}, fullCTAs, fullM},
	{"mxf4", "", F32, UE8M0, 2, []Format{E2M1}, fullCTAs, fullM},
	{"mxf4nvf4", "block16", F32, UE4M3, 4, []Format{E2M1}, fullCTAs, fullM},
	{"mxf4nvf4", "scale_vec::2X", F32, UE8M0, 2, []Format{E2M1}, fullCTAs, fullM},
}

// form draws the rest of a form.
func (f *sparseForm) form(s source, ctas, m int) TCGen05Form {
	a, b := f.ab[s.to(len(f.ab))], f.ab[s.to(len(f.ab))]
	n := 32 * (1 + s.to(5))
	var desc uint32
	switch {
	case f.factors > 0:
		v := scaledForm{f.kind, f.scales, f.scale, f.factors}.fields(a, b, m, n)
		v["sparse_flag"], v["a_sf_id"] = 1, uint64(f.factors*s.to(4/f.factors))
		desc = uint32(packFields(scaledFields, v))
	case f.kind == "i8":
		desc = intDesc(a, b, m, n, map[string]uint64{"sparse_flag": 1, "saturate": uint64(s.to(2))})
	default:
		desc = idesc(f.d, a, b, m, n) | 4 | uint32(s.to(4))<<13
	}
	form := TCGen05Form{Kind: f.kind, CTAs: ctas, ScaleD: -1, Sparse: true, Scales: f.scales, Desc: desc}
	form.ATensor = s.to(3) == 0
	if !strings.HasPrefix(f.kind, "mxf4") {
		form.Desc |= uint32(s.to(2)) << 16
		if !form.ATensor {
			form.Desc |= uint32(s.to(2)) << 15
		}
	}
	return form
}

// cuteMeta is tmem_e_frg of cute/atom/mma_traits_sm100_frag.hpp for 128 rows, from (m, k) to
// lane + 128·unit, and the units of a bit.
func cuteMeta(g *TCGen05) (l cute, unit func(at int) int) {
	switch widthOf[g.A] {
	case 32:
		return lay("((8,2,8),(8,2)):((1,1024,16),(128,8))"), func(at int) int { return 2 * at }
	case 16:
		return lay("((8,2,8),(16,2)):((1,2048,16),(128,8))"), func(at int) int { return at }
	}
	if g.packed() {
		return lay("(128,128):(1,128)"), func(at int) int { return at / 2 }
	}
	return lay("(128,64):(1,128)"), func(at int) int { return at }
}

// TestMetaLayout compares where metadata lies with CuTe's layout, element by element, and its
// spans with its cells.
func TestMetaLayout(t *testing.T) {
	s := source{rand.New(rand.NewPCG(1, 9))}
	for _, f := range sparseForms {
		for i, ctas := range f.ctas {
			g, err := NewTCGen05(f.form(s, ctas, f.m[i]))
			if err != nil {
				t.Fatal(err)
			}
			taddr := uint32(100)
			if g.halfLanes() {
				taddr |= 16 << 16
			}
			lane0, column0 := TensorCell(taddr)
			cells := map[uint32]bool{}
			l, unit := cuteMeta(g)
			each := g.K / g.Nibbles() // elements of K that a nibble is about
			differ := func(swap int) bool {
				for m := range g.M {
					for n := range g.Nibbles() {
						cta, lane, column, bit := g.CellMeta(m^swap, n)
						if cta == 0 && swap == 0 {
							cells[TensorOffset(lane0+lane, column0+column)] = true
						}
						if g.Rows() != 128 {
							continue // CuTe has none
						}
						at := l.at(m%128, n*each)
						if cta != m/128 || lane != at%128 || 32*column+bit != unit(at/128) {
							return true
						}
					}
				}
				return false
			}
			if differ(0) {
				t.Fatalf("%+v: metadata lies elsewhere than CuTe has it", g.TCGen05Form)
			}
			if g.Rows() == 128 && !differ(1) {
				t.Errorf("%+v: two rows exchanged agree with CuTe", g.TCGen05Form)
			}
			sameCells(t, g.SpansMeta(taddr), cells)
			if err := g.CheckMetaAt(taddr, taddr+8); err != nil {
				t.Error(err)
			}
		}
	}
}

// A sparseCase is a product with a sparse A.
type sparseCase struct {
	*scaledCase
	met  [][]int // which elements of K the stored ones of a row are
	meta uint32
}

// legal are the nibbles that ISA 9.7.18.10.8 has.
var legal = []uint32{0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110, 0b1110}

func newSparseCase(t *testing.T, s source, f *sparseForm, form TCGen05Form) *sparseCase {
	t.Helper()
	g, err := NewTCGen05(form)
	if err != nil {
		t.Fatalf("%+v: %v", form, err)
	}
	c := new(sparseCase)
	if g.Factors > 0 {
		c.scaledCase = newScaledCase(t, s, scaledForm{f.kind, f.scales, f.scale, f.factors}, form)
	} else {
		c.scaledCase = &scaledCase{tcCase: newTCCase(t, s, form)}
	}
	c.call.NoLane = nil
	c.meta = c.d0&^0xffff | 62
	c.call.Meta = c.meta
	for m := range g.M {
		var met []int
		for n := range g.Nibbles() {
			x := legal[s.to(len(legal))]
			if g.A == TF32 {
				x = []uint32{0b0100, 0b1110}[s.to(2)]
			}
			low, high := int(x&3), int(x>>2)
			switch {
			case g.A == TF32:
				met = append(met, 2*n+high/2)
			case g.packed():
				met = append(met, 8*n+2*low, 8*n+2*low+1, 8*n+2*high, 8*n+2*high+1)
			default:
				met = append(met, 4*n+low, 4*n+high)
			}
			c.putMeta(m, n, x)
		}
		c.met = append(c.met, met)
	}
	return c
}

// putMeta writes a nibble where CuTe says that it is; for 64 rows a CTA, where 16 rows of D are.
func (c *sparseCase) putMeta(m, n int, x uint32) {
	g := c.g
	r := m % g.Rows()
	lane0, column0 := TensorCell(c.meta)
	l, unit := cuteMeta(g)
	at := l.at(r, n*g.K/g.Nibbles())
	lane, bit := at%128, unit(at/128)
	if g.Rows() == 64 {
		lane = lane/16*32 + lane%16
	}
	cell := c.tensor[m/g.Rows()][TensorOffset(lane0+lane, column0+bit/32):]
	old := binary.LittleEndian.Uint32(cell)
	binary.LittleEndian.PutUint32(cell, old&^(15<<(bit%32))|x<<(bit%32))
}

// wrong counts elements of D that are not what the rule makes of the stored elements and what
// they meet.
func (c *sparseCase) wrong() (wrong, all int) {
	g := c.g
	frag := fragOf(g)
	lane0, column0 := TensorCell(c.d0)
	sign := func(f Format, neg bool) uint32 {
		if !neg {
			return 0
		}
		return 1 << (layouts[f].exp + layouts[f].frac)
	}
	value := func(f Format, x uint32) int64 {
		if f == S8 {
			return int64(int8(x))
		}
		return int64(uint8(x))
	}
	for m, row := range c.a {
		for n, col := range c.b {
			e := c.c[m][n] & c.mask
			if !c.call.Input {
				e = 0
			}
			var want uint32
			if g.Kind == "i8" {
				sum := int64(int32(e))
				for i, x := range row {
					sum += value(g.A, x) * value(g.B, col[c.met[m][i]])
				}
				if g.Desc>>3&1 != 0 {
					sum = max(-1<<31, min(sum, 1<<31-1))
				}
				want = uint32(sum)
			} else {
				var x, y Vector
				rule := g.rule
				for i, a := range row {
					rule.AppendA(&x, a^sign(g.A, g.NegA))
					rule.AppendB(&y, col[c.met[m][i]]^sign(g.B, g.NegB))
				}
				if g.Factors > 0 {
					want = ScaledRuleFor(g.A, g.B, g.packed(), g.Scale, len(row)/g.Factors).Dot(e, &x, &y, c.sa[m], c.sb[n])
				} else {
					want = TCGen05Rule(g.D, g.A, g.B).Dot(e, &x, &y)
				}
			}
			at := frag.at(m%g.Rows(), n)
			got := binary.LittleEndian.Uint32(c.tensor[m/g.Rows()][TensorOffset(lane0+at%128, column0+at/128):])
			if all++; got != want {
				wrong++
			}
		}
	}
	return wrong, all
}

// TestSparseCompute runs drawn instructions with a sparse A of every kind and layout, and holds D
// to the rule for the stored elements and what they meet; with a nibble of metadata changed, D is
// another.
func TestSparseCompute(t *testing.T) {
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	for i := range sparseForms {
		f := &sparseForms[i]
		t.Run(fmt.Sprintf("%d/%s%s", i, f.kind, f.scales), func(t *testing.T) {
			t.Parallel()
			s := source{rand.New(rand.NewPCG(uint64(i), 77))}
			for j, ctas := range f.ctas {
				for range rounds {
					form := f.form(s, ctas, f.m[j])
					c := newSparseCase(t, s, f, form)
					was := [2][]byte{append([]byte(nil), c.tensor[0]...), append([]byte(nil), c.tensor[1]...)}
					for cta := range c.g.CTAs {
						if err := c.g.CheckMeta(c.meta, func(addr uint32, b []byte) { copy(b, c.tensor[cta][addr:]) }); err != nil {
							t.Fatal(err)
						}
					}
					c.g.Compute(&c.call)
					if wrong, all := c.wrong(); wrong != 0 {
						t.Fatalf("%+v: %d of %d elements differ from the rule", form, wrong, all)
					}
					c.tensor = was
					changed := false
					for m := range c.g.M {
						for n := range c.g.Nibbles() {
							if x := legal[s.to(len(legal))]; c.g.A != TF32 && s.to(8) == 0 {
								c.putMeta(m, n, x)
								changed = true
							} else if c.g.A == TF32 {
								c.putMeta(m, n, 0b0100)
								changed = true
							}
						}
					}
					c.g.Compute(&c.call)
					if wrong, _ := c.wrong(); wrong == 0 && changed {
						t.Errorf("%+v: other metadata changes nothing", form)
					}
				}
			}
		})
	}
}

// TestCheckMeta has the sixteen nibbles.
func TestCheckMeta(t *testing.T) {
	for _, f := range []struct {
		desc uint32
		kind string
		good string
	}{{idesc(F32, F16, F16, 128, 64) | 4, "f16", "4 6 8 9 12 13 14"}, {idesc(F32, TF32, TF32, 64, 64) | 4, "tf32", "4 14"}, {idesc(F32, E4M3, E4M3, 128, 64) | 4, "f8f6f4", "4 6 8 9 12 13 14"}} {
		g, err := NewTCGen05(TCGen05Form{Kind: f.kind, CTAs: 1, ScaleD: -1, Sparse: true, Desc: f.desc})
		if err != nil {
			t.Fatal(err)
		}
		good := ""
		for x := range uint32(16) {
			mem := make([]byte, TensorBytes)
			for i := range mem {
				mem[i] = 0x44
			}
			_, lane, column, bit := g.CellMeta(37, 5)
			cell := mem[TensorOffset(lane, 8+column):]
			binary.LittleEndian.PutUint32(cell, binary.LittleEndian.Uint32(cell)&^(15<<bit)|x<<bit)
			err := g.CheckMeta(8, func(addr uint32, b []byte) { copy(b, mem[addr:]) })
			if err == nil {
				good += fmt.Sprintf(" %d", x)
			} else if !strings.Contains(err.Error(), "row 37 of A is 0b") || errors.Is(err, ErrNotModelled) {
				t.Error(err)
			}
		}
		if good[1:] != f.good {
			t.Errorf("%s: %s are fine, want %s", f.kind, good, f.good)
		}
	}
}
