package tensor

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// A scaledCase is a product with factors, in memories that CuTe's layouts filled.
type scaledCase struct {
	*tcCase
	sa, sb     [][]byte // by row of A and column of B
	sfa0, sfb0 uint32
}

func newScaledCase(t *testing.T, s source, f scaledForm, form TCGen05Form) *scaledCase {
	t.Helper()
	c := &scaledCase{tcCase: newTCCase(t, s, form), sfa0: 40, sfb0: 48}
	g := c.g
	draw := func(rows int) (list [][]byte) {
		for range rows {
			row := make([]byte, f.factors)
			for i := range row {
				switch {
				case f.format == UE4M3:
					row[i] = byte(s.to(127))
				case s.to(40) == 0:
					row[i] = byte(s.to(256))
				default:
					row[i] = byte(118 + s.to(20))
				}
			}
			list = append(list, row)
		}
		return list
	}
	c.sa, c.sb = draw(g.M), draw(g.N)
	c.call.SFA, c.call.SFB = c.sfa0, c.sfb0
	c.put()
	return c
}

// put places the factors by CuTe's layout.
func (c *scaledCase) put() {
	g := c.g
	two := g.Layout() == 'B'
	put := func(mem []byte, l cute, copies, row, first int, at uint32, codes []byte) {
		for k := range copies {
			for i, x := range codes {
				p := l.at(row, k, first+i)
				mem[TensorOffset(p%128, int(at)+p/128/4)+uint32(p/128%4)] = x
			}
		}
	}
	a, timesA := cuteScales(g.Rows(), false)
	if g.K == 96 {
		a = cuteWords(g.Rows())
	}
	for m, codes := range c.sa {
		put(c.tensor[m/g.Rows()], a, timesA, m%g.Rows(), g.SFA, c.sfa0, codes)
	}
	b, timesB := cuteScales(g.N, two)
	if g.K == 96 {
		b = cuteWords(g.N)
	}
	for n, codes := range c.sb {
		for cta := range g.CTAs {
			put(c.tensor[cta], b, timesB, cuteColumn(n, g.N, two), g.SFB, c.sfb0, codes)
		}
	}
}

// wrong counts elements of D that are not what the rule makes of the elements and factors.
func (c *scaledCase) wrong() (wrong, all int) {
	g := c.g
	rows := g.Rows()
	frag := tensorLayoutD(g.CTAs, rows, g.N)
	lane0, column0 := TensorCell(c.d0)
	sign := func(f Format, neg bool) uint32 {
		if !neg {
			return 0
		}
		return 1 << (layouts[f].exp + layouts[f].frac)
	}
	rule := ScaledRuleFor(g.A, g.B, g.packed(), g.Scale, g.K/g.Factors)
	bs := make([]Vector, g.N)
	for n, col := range c.b {
		for _, x := range col {
			rule.AppendB(&bs[n], x^sign(g.B, g.NegB))
		}
	}
	for m, row := range c.a {
		var x Vector
		for _, e := range row {
			rule.AppendA(&x, e^sign(g.A, g.NegA))
		}
		for n := range g.N {
			e := c.c[m][n]
			if !c.call.Input {
				e = 0
			}
			at := frag.at(m%rows, n)
			got := binary.LittleEndian.Uint32(c.tensor[m/rows][TensorOffset(lane0+at%128, column0+at/128):])
			if all++; got != rule.Dot(e, &x, &bs[n], c.sa[m], c.sb[n]) {
				wrong++
			}
		}
	}
	return wrong, all
}

// TestScaledCompute runs drawn block-scaled instructions of every form and layout, and holds D
// to the rule, which TestScaledSums holds to MMA-Sim. With two factors exchanged, or a copy of
// them left out, D is another.
func TestScaledCompute(t *testing.T) {
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	narrow := kindFormats["f8f6f4"].ab
	for _, f := range scaledForms {
		for _, layout := range []struct{ ctas, m int }{{1, 128}, {2, 128}, {2, 256}} {
			t.Run(fmt.Sprintf("%s/%s/%s/%d/%d", f.kind, f.scales, f.format, layout.ctas, layout.m), func(t *testing.T) {
				t.Parallel()
				s := source{rand.New(rand.NewPCG(uint64(layout.m), uint64(layout.ctas+len(f.kind+f.scales))))}
				for round := range rounds {
					a, b := narrow[s.to(5)], narrow[s.to(5)]
					n := 16 * layout.ctas * (1 + s.to(8))
					if layout.ctas == 2 && layout.m == 128 {
						n = 128 << s.to(2)
					}
					v := f.fields(a, b, layout.m, n)
					v["a_negate"], v["b_negate"] = uint64(s.to(2)), uint64(s.to(2))
					v["a_sf_id"], v["b_sf_id"] = uint64(f.factors*s.to(4/f.factors)), uint64(f.factors*s.to(4/f.factors))
					tensor := s.to(3) == 0
					if f.kind == "mxf8f6f4" {
						v["b_major"] = uint64(s.to(2))
						if !tensor {
							v["a_major"] = uint64(s.to(2))
						}
					}
					form := f.form(layout.ctas, v)
					form.ATensor = tensor
					c := newScaledCase(t, s, f, form)
					c.call.NoLane = nil
					was := [2][]byte{append([]byte(nil), c.tensor[0]...), append([]byte(nil), c.tensor[1]...)}
					c.g.Compute(&c.call)
					if wrong, all := c.wrong(); wrong != 0 {
						t.Fatalf("%+v: %d of %d elements differ from the rule", form, wrong, all)
					}
					c.tensor = was
					c.swapped(t, s, round)
				}
			})
		}
	}
}

// swapped exchanges two factors that differ where they lie, and expects another D.
func (c *scaledCase) swapped(t *testing.T, s source, round int) {
	t.Helper()
	list, rows := c.sa, c.g.M
	if round%2 == 1 {
		list, rows = c.sb, c.g.N
	}
	x, y := s.to(rows), s.to(rows)
	i, j := s.to(c.g.Factors), s.to(c.g.Factors)
	was := [2]byte{list[x][i], list[y][j]}
	exchange := func() { list[x][i], list[y][j] = list[y][j], list[x][i] }
	exchange()
	c.put()
	c.g.Compute(&c.call)
	exchange()
	if wrong, _ := c.wrong(); wrong == 0 && was[0] != was[1] {
		t.Errorf("%+v: factors %d of row %d and %d of row %d exchanged change nothing", c.g.TCGen05Form, i, x, j, y)
	}
}
