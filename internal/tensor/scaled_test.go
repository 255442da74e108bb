package tensor

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"testing"
)

// A scaledSum is a record of testdata/scaled/golden.gz: what MMA-Sim made of C, 32 or 64
// elements of A and of B, a byte each, and their factors.
type scaledSum struct {
	rule   *ScaledRule
	c, d   uint32
	a, b   []byte
	sa, sb []byte
}

func (g *scaledSum) dot(r *ScaledRule) uint32 {
	var x, y Vector
	for i := range g.a {
		r.AppendA(&x, uint32(g.a[i]))
		r.AppendB(&y, uint32(g.b[i]))
	}
	return r.Dot(g.c, &x, &y, g.sa, g.sb)
}

// scaledKinds are those of run.py, in its order.
var scaledKinds = []struct {
	a, b    Format
	packed  bool
	scale   ScaleFormat
	factors int
}{
	{E4M3, E4M3, false, UE8M0, 1}, {E4M3, E5M2, false, UE8M0, 1}, {E5M2, E4M3, false, UE8M0, 1}, {E5M2, E5M2, false, UE8M0, 1},
	{E2M1, E2M1, true, UE8M0, 2}, {E2M1, E2M1, true, UE8M0, 4}, {E2M1, E2M1, true, UE4M3, 4},
}

// scaledSums reads the golden sums.
func scaledSums(t *testing.T) (list [][]scaledSum) {
	t.Helper()
	f, err := os.ReadFile("testdata/scaled/golden.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	next := func(n int) []byte {
		b := data[:n]
		data = data[n:]
		return b
	}
	list = make([][]scaledSum, len(scaledKinds))
	for len(data) > 0 {
		i := next(1)[0]
		k := scaledKinds[i]
		n := 32
		if k.packed {
			n = 64
		}
		g := scaledSum{rule: ScaledRuleFor(k.a, k.b, k.packed, k.scale, n/k.factors)}
		g.c = binary.LittleEndian.Uint32(next(4))
		g.a, g.b, g.sa, g.sb = next(n), next(n), next(k.factors), next(k.factors)
		g.d = binary.LittleEndian.Uint32(next(4))
		list[i] = append(list[i], g)
	}
	return list
}

// TestScaledSums holds block-scaled sums to MMA-Sim's, bit for bit, and counts how many of them
// other rules would compute otherwise.
func TestScaledSums(t *testing.T) {
	for i, sums := range scaledSums(t) {
		k := scaledKinds[i]
		if len(sums) < 400 {
			t.Fatalf("%v: %d sums", k, len(sums))
		}
		var less, more, swapped int
		for n, g := range sums {
			if got := g.dot(g.rule); got != g.d {
				t.Errorf("%v, sum %d: 0x%08x, MMA-Sim has 0x%08x", k, n, got, g.d)
			}
			other := func(d int32) bool {
				r, s := *g.rule, *g.rule.rule
				s.bits += d
				r.rule = &s
				return g.dot(&r) != g.d
			}
			if other(-1) {
				less++
			}
			if other(1) {
				more++
			}
			if k.factors > 1 {
				h := g
				h.sa = append([]byte(nil), g.sa...)
				h.sa[0], h.sa[1] = h.sa[1], h.sa[0]
				if h.dot(h.rule) != g.d {
					swapped++
				}
			}
		}
		t.Logf("%v: of %d sums a smaller F changes %d, a larger one %d, two factors swapped %d", k, len(sums), less, more, swapped)
		if less < len(sums)/50 || more < len(sums)/100 || k.factors > 1 && swapped < len(sums)/4 {
			t.Errorf("%v: too few sums tell the rule from others", k)
		}
	}
}

// TestScaledSpecials has what MMA-Sim was not asked, or has no arithmetic for.
func TestScaledSpecials(t *testing.T) {
	one := map[Format]uint32{E4M3: bitsOf(E4M3, 1), E2M1: bitsOf(E2M1, 1), E2M3: bitsOf(E2M3, 1)}
	for _, c := range []struct {
		what   string
		f      Format
		packed bool
		scale  ScaleFormat
		c      uint32
		a, b   byte // all factors but the first of B, which is first
		first  byte
		want   uint32
	}{
		{"ones", E4M3, false, UE8M0, 0, 127, 127, 127, bitsOf(F32, 32)},
		{"ones of 6 bits", E2M3, false, UE8M0, 0, 128, 129, 129, bitsOf(F32, 256)},
		{"a zero for every product", E2M1, true, UE4M3, bitsOf(F32, 3), 0x38, 0, 0, bitsOf(F32, 3)},
		{"zeros alone", E2M1, true, UE4M3, 1 << 31, 0, 0, 0, 0},
		{"a factor's sign is not read", E2M1, true, UE4M3, 0, 0xb8, 0x38, 0xb8, bitsOf(F32, 64)},
		{"a subnormal factor", E2M1, true, UE4M3, 0, 0x38, 0x38, 0x01, bitsOf(F32, 48+16*0x1p-9)},
		{"the largest factors", E2M1, true, UE4M3, 0, 0x7e, 0x7e, 0x7e, bitsOf(F32, 64*448*448)},
		{"an infinite C", E2M1, true, UE8M0, 0xff800000, 127, 127, 127, 0xff800000},
		{"an infinite C and a NaN", E2M1, true, UE8M0, 0xff800000, 127, 127, 0xff, canonicalNaN},
		{"too large a result", E4M3, false, UE8M0, 0, 254, 254, 254, 0x7f800000},
		{"too small a result", E4M3, false, UE8M0, 0, 0, 0, 0, 0},
		{"a C that is not lost beside zeros", E4M3, false, UE8M0, bitsOf(F32, 1), 254, 254, 254, 0x7f800000},
	} {
		n, factors := 32, 1
		if c.packed {
			n, factors = 64, 4
		}
		g := scaledSum{c: c.c, rule: ScaledRuleFor(c.f, c.f, c.packed, c.scale, n/factors)}
		for range n {
			g.a, g.b = append(g.a, byte(one[c.f])), append(g.b, byte(one[c.f]))
		}
		for range factors {
			g.sa, g.sb = append(g.sa, c.a), append(g.sb, c.b)
		}
		g.sb[0] = c.first
		if got := g.dot(g.rule); got != c.want {
			t.Errorf("%s: 0x%08x, want 0x%08x", c.what, got, c.want)
		}
		clear(g.a)
		if got := g.dot(g.rule); c.f == E4M3 && got != c.c {
			t.Errorf("%s, times zeros: 0x%08x, want C", c.what, got)
		}
	}
}
