package tensor

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// intDesc is an instruction descriptor of kind i8, by CUTLASS's fields: S8Format and CFormat::S32
// of cute/arch/mma_sm100_desc.hpp.
func intDesc(a, b Format, m, n int, more map[string]uint64) uint32 {
	v := map[string]uint64{"c_format": 2, "n_dim": uint64(n / 8), "m_dim": uint64(m / 16)}
	for field, f := range map[string]Format{"a_format": a, "b_format": b} {
		if f == S8 {
			v[field] = 1
		}
	}
	for field, x := range more {
		v[field] = x
	}
	return uint32(packFields(instrFields, v))
}

// TestIntDescriptors has what kind i8 has otherwise than the others.
func TestIntDescriptors(t *testing.T) {
	for _, c := range []struct {
		ctas, m, n int
		more       map[string]uint64
		want       string // "" where it is right
	}{
		{1, 64, 8, nil, ""}, {1, 128, 24, nil, ""}, {1, 128, 48, nil, ""}, {1, 128, 256, nil, ""}, {2, 128, 32, nil, ""}, {2, 256, 96, nil, ""},
		{1, 128, 64, map[string]uint64{"saturate": 1}, ""}, {1, 128, 32, map[string]uint64{"a_major": 1, "b_major": 1}, ""},
		{1, 128, 40, nil, "N/8 5 in bits 17-22"}, {1, 128, 56, nil, "N/8 7 in bits 17-22"}, {2, 128, 16, nil, "N/8 2 in bits 17-22"}, {2, 256, 48, nil, "N/8 6 in bits 17-22"},
		{1, 128, 24, map[string]uint64{"b_major": 1}, "a transposed B of kind i8"},
		{1, 128, 64, map[string]uint64{"a_negate": 1}, "negate A and B 1 in bits 13-14"}, {1, 128, 64, map[string]uint64{"b_negate": 1}, "negate A and B 2 in bits 13-14"},
		{1, 128, 64, map[string]uint64{"c_format": 1}, "D type 1 in bits 4-5"}, {1, 128, 64, map[string]uint64{"a_format": 2}, "A type 2 in bits 7-9"},
		{1, 128, 64, map[string]uint64{"b_format": 5}, "B type 5 in bits 10-12"}, {1, 256, 64, nil, "M/16 16 in bits 24-28"},
	} {
		_, err := NewTCGen05(TCGen05Form{Kind: "i8", CTAs: c.ctas, ScaleD: -1, Desc: intDesc(U8, S8, c.m, c.n, c.more)})
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "(ISA 9.7.18.")) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestIntCompute runs drawn products of integers of every layout, and compares D with sums of
// 64 bits.
func TestIntCompute(t *testing.T) {
	s := source{rand.New(rand.NewPCG(8, 32))}
	value := func(f Format, x uint32) int64 {
		if f == S8 {
			return int64(int8(x))
		}
		return int64(uint8(x))
	}
	clamped, wrapped := 0, 0
	for _, layout := range []struct{ ctas, m int }{{1, 64}, {1, 128}, {2, 128}, {2, 256}} {
		for i := range 16 {
			a, b := []Format{S8, U8}[i&1], []Format{S8, U8}[i>>1&1]
			f := TCGen05Form{Kind: "i8", CTAs: layout.ctas, ATensor: i%5 == 4, ScaleD: -1}
			more := map[string]uint64{"saturate": uint64(i >> 2 & 1), "b_major": uint64(s.to(2))}
			if !f.ATensor {
				more["a_major"] = uint64(s.to(2))
			}
			f.Desc = intDesc(a, b, layout.m, 32*(1+s.to(8)), more)
			c := newTCCase(t, s, f)
			c.call.NoLane = nil
			for m := range c.c { // near both ends
				for n := range c.c[m] {
					c.c[m][n] = c.c[m][n]>>14 ^ []uint32{0, 0x7fffffff, 0x80000000}[s.to(3)]
				}
			}
			c.fill()
			g := c.g
			g.Compute(&c.call)
			rows := g.Rows()
			frag := tensorLayoutD(g.CTAs, rows, g.N)
			lane0, column0 := TensorCell(c.d0)
			for m, row := range c.a {
				for n, col := range c.b {
					sum := int64(0)
					if c.call.Input {
						sum = int64(int32(c.c[m][n]))
					}
					for k := range row {
						sum += value(a, row[k]) * value(b, col[k])
					}
					switch {
					case sum == int64(int32(sum)):
					case more["saturate"] == 1:
						clamped++
						sum = max(math.MinInt32, min(sum, math.MaxInt32))
					default:
						wrapped++
					}
					at := frag.at(m%rows, n)
					if got := binary.LittleEndian.Uint32(c.tensor[m/rows][TensorOffset(lane0+at%128, column0+at/128):]); got != uint32(sum) {
						t.Fatalf("%+v: D(%d,%d) is 0x%x, want 0x%x", g.TCGen05Form, m, n, got, uint32(sum))
					}
				}
			}
		}
	}
	if clamped < 1000 || wrapped < 1000 {
		t.Errorf("%d elements are clamped and %d wrap around", clamped, wrapped)
	}
}
