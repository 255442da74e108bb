package tensor

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// scaledFields are UMMA::InstrDescriptorBlockScaled, cute/arch/mma_sm100_desc.hpp.
var scaledFields = []bitField{{"sparse_id2", 2}, {"sparse_flag", 1}, {"k_upper", 1}, {"b_sf_id", 2}, {"", 1}, {"a_format", 3}, {"b_format", 3},
	{"a_negate", 1}, {"b_negate", 1}, {"a_major", 1}, {"b_major", 1}, {"n_dim", 6}, {"scale_format", 1}, {"m_dim", 5}, {"a_sf_id", 2}, {"k_size", 1}}

// A scaledForm is a kind with block scales as the ISA combines them.
type scaledForm struct {
	kind, scales string
	format       ScaleFormat
	factors      int
}

var scaledForms = []scaledForm{
	{"mxf8f6f4", "", UE8M0, 1}, {"mxf8f6f4", "scale_vec::1X", UE8M0, 1}, {"mxf8f6f4", "block32", UE8M0, 1},
	{"mxf4", "", UE8M0, 2}, {"mxf4", "scale_vec::2X", UE8M0, 2}, {"mxf4", "block32", UE8M0, 2},
	{"mxf4nvf4", "scale_vec::2X", UE8M0, 2}, {"mxf4nvf4", "block32", UE8M0, 2},
	{"mxf4nvf4", "scale_vec::4X", UE8M0, 4}, {"mxf4nvf4", "block16", UE8M0, 4}, {"mxf4nvf4", "scale_vec::4X", UE4M3, 4}, {"mxf4nvf4", "block16", UE4M3, 4},
}

// fields are a descriptor's, of the first formats, M of 128 a CTA and some N.
func (f scaledForm) fields(a, b Format, m, n int) map[string]uint64 {
	v := map[string]uint64{"n_dim": uint64(n / 8), "m_dim": uint64(m / 16), "a_format": 1, "b_format": 1}
	if f.kind == "mxf8f6f4" {
		v["a_format"], v["b_format"] = formatCodes[a], formatCodes[b]
	}
	if f.format == UE8M0 {
		v["scale_format"] = 1
	}
	return v
}

func (f scaledForm) form(ctas int, v map[string]uint64) TCGen05Form {
	return TCGen05Form{Kind: f.kind, Scales: f.scales, CTAs: ctas, ScaleD: -1, Desc: uint32(packFields(scaledFields, v))}
}

// TestScaledDescriptors draws descriptors, encodes them by CUTLASS's fields, and compares what
// is decoded.
func TestScaledDescriptors(t *testing.T) {
	s := source{rand.New(rand.NewPCG(7, 5))}
	narrow := kindFormats["f8f6f4"].ab
	for range 10000 {
		f := scaledForms[s.to(len(scaledForms))]
		ctas := 1 + s.to(2)
		m, n := 128, 16*ctas*(1+s.to(16/ctas))
		if ctas == 2 {
			m <<= s.to(2)
		}
		a, b := E2M1, E2M1
		v := f.fields(a, b, m, n)
		if f.kind == "mxf8f6f4" {
			a, b = narrow[s.to(5)], narrow[s.to(5)]
			v = f.fields(a, b, m, n)
			v["a_major"], v["b_major"] = uint64(s.to(2)), uint64(s.to(2))
		}
		v["a_negate"], v["b_negate"] = uint64(s.to(2)), uint64(s.to(2))
		v["a_sf_id"], v["b_sf_id"] = uint64(f.factors*s.to(4/f.factors)), uint64(f.factors*s.to(4/f.factors))
		g, err := NewTCGen05(f.form(ctas, v))
		if err != nil {
			t.Fatalf("%+v %v: %v", f, v, err)
		}
		type decoded struct {
			m, n, k, factors, sfa, sfb int
			a, b                       Format
			scale                      ScaleFormat
			na, nb, ta, tb             bool
		}
		k := 64
		if f.kind == "mxf8f6f4" {
			k = 32
		}
		bit := func(name string) bool { return v[name] == 1 }
		want := decoded{m, n, k, f.factors, int(v["a_sf_id"]), int(v["b_sf_id"]), a, b, f.format, bit("a_negate"), bit("b_negate"), bit("a_major"), bit("b_major")}
		if got := (decoded{g.M, g.N, g.K, g.Factors, g.SFA, g.SFB, g.A, g.B, g.Scale, g.NegA, g.NegB, g.TransA, g.TransB}); got != want {
			t.Fatalf("0x%08x: %+v, want %+v", g.Desc, got, want)
		}
	}
}

// TestWrongScaledDescriptors changes each field of right descriptors to values that it must not
// have.
func TestWrongScaledDescriptors(t *testing.T) {
	count := 0
	for _, f := range scaledForms {
		for _, ctas := range []int{1, 2} {
			bad := func(field, bits string, values ...uint64) {
				for _, x := range values {
					v := f.fields(E4M3, E5M2, 128, 64)
					if _, err := NewTCGen05(f.form(ctas, v)); err != nil {
						t.Fatal(err)
					}
					v[field] = x
					_, err := NewTCGen05(f.form(ctas, v))
					if count++; err == nil || !strings.Contains(err.Error(), bits+",") || !strings.Contains(err.Error(), "(ISA 9.7.18.") || errors.Is(err, ErrNotModelled) {
						t.Errorf("%+v, %d CTAs, %s = %d: %v", f, ctas, field, x, err)
					}
				}
			}
			bad("sparse_id2", "bits 0-1", 1, 2, 3)
			bad("sparse_flag", "bit 2", 1)
			bad("k_upper", "bit 3", 1)
			bad("", "bit 6", 1)
			bad("k_size", "bit 31", 1) // of sm_100
			bad("m_dim", "bits 24-25", 1, 2, 3, 9, 10)
			bad("m_dim", "bit 26", 4, 12)
			bad("m_dim", "bits 27-28", 0, 24)
			bad("n_dim", "bits 17-22", 0, 33, 63)
			if ctas == 1 {
				bad("m_dim", "bits 27-28", 16)
			} else {
				bad("n_dim", "bits 17-22", 1, 3, 31)
			}
			if f.format == UE8M0 && (f.kind != "mxf4nvf4" || f.factors == 2) {
				bad("scale_format", "bit 23", 0)
			}
			for id := range uint64(4) {
				if int(id)%f.factors != 0 {
					bad("a_sf_id", "bits 29-30", id)
					bad("b_sf_id", "bits 4-5", id)
				}
			}
			if f.kind == "mxf8f6f4" {
				bad("a_format", "bits 7-9", 2, 6, 7)
				bad("b_format", "bits 10-12", 2, 6, 7)
				continue
			}
			bad("a_format", "bits 7-9", 0, 2, 3, 4, 5, 6, 7)
			bad("b_format", "bits 10-11", 0, 2, 3)
			bad("b_format", "bit 12", 5)
			bad("a_major", "bit 15", 1)
			bad("b_major", "bit 16", 1)
		}
	}
	if count < 500 {
		t.Errorf("%d wrong fields", count)
	}
	for _, c := range []struct {
		f    scaledForm
		want string
	}{
		{scaledForm{"mxf4nvf4", "", UE8M0, 2}, "one of them must be said"},
		{scaledForm{"mxf8f6f4", "scale_vec::2X", UE8M0, 2}, "kind mxf8f6f4 has no .scale_vec::2X"},
		{scaledForm{"mxf8f6f4", "block16", UE8M0, 2}, "has no .block16"},
		{scaledForm{"mxf4", "scale_vec::1X", UE8M0, 2}, "kind mxf4 has no .scale_vec::1X"},
		{scaledForm{"mxf4", "block16", UE8M0, 2}, "has no .block16"},
		{scaledForm{"mxf4nvf4", "scale_vec::1X", UE8M0, 2}, "has no .scale_vec::1X"},
	} {
		if _, err := NewTCGen05(c.f.form(1, c.f.fields(E4M3, E4M3, 128, 64))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.f, err, c.want)
		}
	}
}

// cuteScales is tmem_sf_frg of cute/atom/mma_traits_sm100_frag.hpp, from (row, copy, factor) to
// lane + 128·byte, for the rows of A or columns of B of a CTA; half of the columns where the
// data path is 2x2, which lie 64 lanes on.
func cuteScales(rows int, two bool) (l cute, copies int) {
	rows = (rows + 127) / 128 * 128
	if two {
		return lay("((32,%d,2),2,4):((1,512,64),32,128)", rows/64), 2
	}
	return lay("((32,%d),4,4):((1,512),32,128)", rows/32), 4
}

// TestScaleLayout compares where factors lie with CuTe's layout and with Triton's, element by
// element.
func TestScaleLayout(t *testing.T) {
	triton := linear{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}} // of a lane; 32 lanes on the same again
	column := linear{{0, 1}, {0, 2}, {32, 0}, {64, 0}, {128, 0}}
	for _, f := range scaledForms {
		for _, c := range []struct{ ctas, m int }{{1, 128}, {2, 128}, {2, 256}} {
			for n := 8 * c.ctas; n <= 256; n += 8 * c.ctas {
				v := f.fields(E4M3, E4M3, c.m, n)
				v["a_sf_id"], v["b_sf_id"] = uint64(4-f.factors), uint64(4-f.factors)
				if f.factors == 1 {
					v["b_sf_id"] = 1
				}
				g, err := NewTCGen05(f.form(c.ctas, v))
				if err != nil {
					t.Fatal(err)
				}
				two := g.Layout() == 'B'
				a, timesA := cuteScales(c.m/c.ctas, false)
				b, timesB := cuteScales(n, two)
				cells := [2]map[uint32]bool{{}, {}}
				differ := func(swap int, note bool) bool {
					for m := range c.m {
						for i := range f.factors {
							cta, lane, col, by := g.CellSFA(m^swap, i)
							for k, d := range append([]int{0}, g.CopiesSFA()...) {
								at := a.at(m%g.Rows(), k, g.SFA+i)
								if cta != m/g.Rows() || lane+d != at%128 || 4*col+by != at/128 {
									return true
								}
								if note && cta == 0 {
									cells[0][TensorOffset(lane+d, col)] = true
								}
							}
							row, _ := triton.at(lane)
							more, k := column.at(4*col + by)
							if row^more != m%g.Rows() || k != g.SFA+i {
								return true
							}
						}
					}
					if two && n%128 != 0 {
						return false // CuTe has none
					}
					for col := range n {
						for i := range f.factors {
							lane, column, by := g.CellSFB(col^swap, i)
							for k, d := range append([]int{0}, g.CopiesSFB()...) {
								if at := b.at(cuteColumn(col, n, two), k, g.SFB+i); lane+d != at%128 || 4*column+by != at/128 {
									return true
								}
								if note {
									cells[1][TensorOffset(lane+d, column)] = true
								}
							}
						}
					}
					return false
				}
				if differ(0, true) {
					t.Fatalf("%+v, M = %d of %d CTAs, N = %d: factors lie elsewhere than CuTe and Triton have them", f, c.m, c.ctas, n)
				}
				if !differ(1, false) {
					t.Errorf("%+v: two rows exchanged agree with CuTe", f)
				}
				if timesA != 1+len(g.CopiesSFA()) || timesB != 1+len(g.CopiesSFB()) {
					t.Errorf("%d and %d copies", 1+len(g.CopiesSFA()), 1+len(g.CopiesSFB()))
				}
				sameCells(t, g.SpansSFA(0), cells[0])
				if !two || n%128 == 0 {
					sameCells(t, g.SpansSFB(0), cells[1])
				}
			}
		}
	}
}

// cuteColumn is the index of a column of B in CuTe's mode of three submodes, which takes all
// columns of a half before those of the next.
func cuteColumn(col, n int, two bool) int {
	if two && col >= n/2 {
		return (n+127)/128*64 + col - n/2
	}
	return col
}

// TestScaleAtom copies factors from shared memory, where CUTLASS's SfAtom places them
// (Sm1xxBlockScaledBasicChunk of cutlass/detail/sm100_blockscaled_layout.hpp), by the copy that
// CUTLASS uses, and looks for each.
func TestScaleAtom(t *testing.T) {
	atom := lay("((32,4),4):((16,4),1)")
	c, err := NewTensorCopy("32x128b", "warpx4", "")
	if err != nil {
		t.Fatal(err)
	}
	shared := make([]byte, 1024)
	code := func(m, f int) byte { return byte(1 + m + 131*f) }
	for m := range 128 {
		for f := range 4 {
			shared[512+atom.at(m, f)] = code(m, f)
		}
	}
	got := make([]byte, TensorBytes)
	c.Copy(5, 512>>4|128>>4<<32|1<<46, func(addr uint32, b []byte) { copy(b, shared[addr:]) }, func(addr uint32, b []byte) { copy(got[addr:], b) })
	f := scaledForms[8]
	g, err := NewTCGen05(f.form(1, f.fields(E2M1, E2M1, 128, 128)))
	if err != nil {
		t.Fatal(err)
	}
	for m := range 128 {
		for i := range 4 {
			_, lane, column, b := g.CellSFA(m, i)
			for _, d := range append([]int{0}, g.CopiesSFA()...) {
				if x := got[TensorOffset(lane+d, 5+column)+uint32(b)]; x != code(m, i) {
					t.Fatalf("row %d, factor %d, copy at lane %d: %d, want %d", m, i, d, x, code(m, i))
				}
			}
		}
	}
}

// TestScaleAddress has right and wrong addresses of factors.
func TestScaleAddress(t *testing.T) {
	f := scaledForms[3]
	v := f.fields(E2M1, E2M1, 128, 136)
	v["a_sf_id"], v["b_sf_id"] = 2, 0
	g, err := NewTCGen05(f.form(1, v))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{g.CheckSFA(508), ""}, {g.CheckSFA(508 | 2<<30), ""}, {g.CheckSFB(507), ""},
		{g.CheckSFA(509), "columns 509 to 512"}, {g.CheckSFB(508), "columns 508 to 512"},
		{g.CheckSFA(1 << 30), "1 in bits 30-31"}, {g.CheckSFB(2 << 30), "2 in bits 30-31"},
		{g.CheckSFA(32 << 16), "begin at lane 32"}, {g.CheckSFB(1 << 16), "begin at lane 1"},
	} {
		if (c.err == nil) != (c.want == "") || c.err != nil && !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
	if a, b := fmt.Sprint(g.SpansSFA(7|2<<30)), fmt.Sprint(g.SpansSFA(7)); a != b {
		t.Errorf("with the id in the address %s, without %s", a, b)
	}
}
