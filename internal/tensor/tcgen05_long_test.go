package tensor

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// cuteWords is how CUTLASS's kernels for sm_103 go through factors: one after the other in
// tmem_sf_frg, of 128 rows or of N rounded up to 128, from (row, copy, factor) to lane + 128·byte.
func cuteWords(rows int) cute {
	rows = (rows + 127) / 128 * 128
	return lay("((32,%d),4,(4,2)):((1,512),32,(128,%d))", rows/32, 512*rows/32)
}

// longForms are the kinds with K of 96.
var longForms = []scaledForm{
	{"mxf4", "", UE8M0, 3}, {"mxf4", "block32", UE8M0, 3}, {"mxf4nvf4", "block32", UE8M0, 3}, {"mxf4nvf4", "block16", UE8M0, 6}, {"mxf4nvf4", "block16", UE4M3, 6},
}

func (f scaledForm) long(ctas, n, sfa, sfb int) TCGen05Form {
	v := f.fields(E2M1, E2M1, 128*ctas, n)
	v["k_size"], v["a_sf_id"], v["b_sf_id"] = 1, uint64(sfa), uint64(sfb)
	form := f.form(ctas, v)
	form.Arch = 103
	return form
}

// TestLongK: K of 96, on sm_103a alone.
func TestLongK(t *testing.T) {
	for _, f := range longForms {
		for _, ctas := range []int{1, 2} {
			form := f.long(ctas, 64, 0, 2)
			g, err := NewTCGen05(form)
			if err != nil {
				t.Fatal(err)
			}
			if g.K != 96 || g.Factors != f.factors || g.a.width != 48 {
				t.Errorf("%+v: K %d, %d factors", form, g.K, g.Factors)
			}
			form.Arch = 100
			if _, err := NewTCGen05(form); err == nil || !strings.Contains(err.Error(), "K of 96 needs sm_103a") {
				t.Errorf("%+v: %v", form, err)
			}
			form.Arch, form.ATensor = 103, true
			if _, err := NewTCGen05(form); !errors.Is(err, ErrNotModelled) {
				t.Errorf("%+v: %v", form, err)
			}
		}
	}
	form := longForms[1].long(2, 64, 0, 0)
	form.Desc = form.Desc&^(3<<27) | 1<<27
	if _, err := NewTCGen05(form); err == nil || !strings.Contains(err.Error(), "with M of 256") {
		t.Error(err)
	}
	form = longForms[3].long(1, 64, 1, 0)
	if _, err := NewTCGen05(form); err == nil || !strings.Contains(err.Error(), "scale factor id of A 1") {
		t.Error(err)
	}
	form = longForms[1].long(1, 64, 0, 0)
	form.Scales = "scale_vec::2X"
	if _, err := NewTCGen05(form); !errors.Is(err, ErrNotModelled) {
		t.Error(err)
	}
}

// TestLongScaleLayout compares where the factors lie with CUTLASS's, element by element.
func TestLongScaleLayout(t *testing.T) {
	for _, f := range longForms {
		for n := 8; n <= 256; n += 8 {
			for id := range 4 {
				if f.factors == 6 && id%2 != 0 {
					continue
				}
				g, err := NewTCGen05(f.long(1, n, id, id))
				if err != nil {
					t.Fatal(err)
				}
				a, b := cuteWords(128), cuteWords(n)
				cells := [2]map[uint32]bool{{}, {}}
				for i := range f.factors {
					for k, d := range append([]int{0}, g.CopiesSFA()...) {
						for m := range 128 {
							_, lane, column, by := g.CellSFA(m, i)
							if at := a.at(m, k, id+i); lane+d != at%128 || 4*column+by != at/128 {
								t.Fatalf("%+v id %d: factor %d of row %d lies elsewhere", f, id, i, m)
							}
							cells[0][TensorOffset(lane+d, column)] = true
						}
						for col := range n {
							lane, column, by := g.CellSFB(col, i)
							if at := b.at(col, k, id+i); lane+d != at%128 || 4*column+by != at/128 {
								t.Fatalf("%+v id %d: factor %d of column %d lies elsewhere", f, id, i, col)
							}
							cells[1][TensorOffset(lane+d, column)] = true
						}
					}
				}
				sameCells(t, g.SpansSFA(0), cells[0])
				sameCells(t, g.SpansSFB(0), cells[1])
			}
		}
	}
}

// TestLongCompute multiplies with K of 96 out of CUTLASS's buffers: rows of 768 e2m1 in three
// buffers of 128 bytes, swizzled, of which each of eight instructions takes 48 bytes, in part from
// the next buffer.
func TestLongCompute(t *testing.T) {
	s := source{rand.New(rand.NewPCG(96, 3))}
	for _, f := range longForms {
		for _, ctas := range []int{1, 2} {
			n := 16 * ctas * (1 + s.to(6))
			for step := range 8 {
				ids := []int{0, 1, 2, 3}
				if f.factors == 6 {
					ids = []int{0, 2}
				}
				form := f.long(ctas, n, ids[s.to(len(ids))], ids[s.to(len(ids))])
				c := newScaledCase(t, s, f, form)
				c.call.NoLane = nil
				// Buffers in falling order of addresses for A, so that the next lies below.
				place := func(at [3]int, row, k int) (int, int) {
					b := step*48 + k/2
					return swizzle(3, 4, 3, at[b/128]+row/8*1024+row%8*128+b%128), k % 2 * 4
				}
				a, b := [3]int{65536, 32768, 0}, [3]int{98304, 131072, 163840}
				desc := func(at [3]int) uint64 {
					byte0 := step * 48
					next := at[min(byte0/128+1, 2)]
					return uint64(at[byte0/128]+byte0%128)>>4 | uint64(next)>>4<<16 | 1024>>4<<32 | 1<<46 | 1<<52 | 2<<61
				}
				put := func(mem []byte, at [3]int, row int, list []uint32) {
					for k, x := range list {
						p, bit := place(at, row, k)
						mem[p] = mem[p]&^(15<<bit) | byte(x)<<bit
					}
				}
				for m, row := range c.a {
					put(c.shared[m/c.g.Rows()], a, m%c.g.Rows(), row)
				}
				for col, list := range c.b {
					put(c.shared[col/(n/ctas)], b, col%(n/ctas), list)
				}
				c.call.A, c.call.B = desc(a), desc(b)
				for _, err := range []error{c.g.CheckA(c.call.A), c.g.CheckB(c.call.B)} {
					if err != nil {
						t.Fatal(err)
					}
				}
				c.reads = [2]map[Span]bool{{}, {}}
				c.g.Compute(&c.call)
				if wrong, all := c.wrong(); wrong != 0 {
					t.Fatalf("%+v, step %d: %d of %d elements differ from the rule", form, step, wrong, all)
				}
				for _, p := range append(c.g.SpansA(c.call.A), c.g.SpansB(c.call.B, 0)...) {
					if !c.reads[0][p] {
						t.Fatalf("%+v, step %d does not read %v", form, step, p)
					}
					delete(c.reads[0], p)
				}
				if len(c.reads[0]) != 0 {
					t.Fatalf("%+v, step %d reads %v, which are no spans", form, step, c.reads[0])
				}
			}
		}
	}
	g, err := NewTCGen05(longForms[0].long(1, 64, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.CheckA(96>>4 | 1<<46 | 2<<61); !errors.Is(err, ErrNotModelled) {
		t.Error(err)
	}
	if err := g.CheckA(1<<46 | 1<<52 | 4<<61); err == nil || !strings.Contains(err.Error(), "the swizzle must be mode 2") {
		t.Error(err)
	}
}
