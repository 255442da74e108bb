package tensor

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// rule is the rule of a kind that has one.
func (k kind) rule() *Rule {
	a, b := formatNames[k.a], formatNames[k.b]
	switch {
	case k.acc == "f64" || strings.HasPrefix(k.name, "m8n8k4."):
		return nil
	case k.a == "b1":
		return BitRule(strings.HasSuffix(k.name, "xor"))
	case k.acc == "s32":
		return IntRule(a, b, strings.HasSuffix(k.name, ".satfinite"))
	case strings.HasPrefix(k.name, "wgmma"):
		return WGMMARule(formats[k.acc], a, b)
	}
	return MMA(formats[k.acc], a, b)
}

var formatNames = map[string]Format{"f16": F16, "bf16": BF16, "tf32": TF32, "e4m3": E4M3, "e5m2": E5M2, "s8": S8, "u8": U8, "s4": S4, "u4": U4, "b1": B1}

// packed is elements of w bits as they lie in words.
func packed(v []uint64, w int) []uint32 {
	var b bytes.Buffer
	words(&b, w, v)
	out := make([]uint32, b.Len()/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b.Bytes()[4*i:])
	}
	return out
}

// row adds a row to a panel in one of the three ways.
func (p *Panel) row(v []uint64, w, how int) {
	ws := packed(v, w)
	switch {
	case how%3 == 0:
		p.AddWords(ws)
	case how%3 == 1:
		var b []byte
		for _, x := range ws {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
		p.AddBytes(b)
	case w == 1:
		p.Add(ws)
	default:
		var e []uint32
		for _, x := range v {
			e = append(e, uint32(x))
		}
		p.Add(e)
	}
}

// TestTileReplay compares Tile, and TileSparse with operands spread out, with
// the H200's results.
func TestTileReplay(t *testing.T) {
	f, err := os.Open(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	per := len(digest(make([]uint64, 128)))
	for _, k := range kinds {
		want := make([]uint32, tiles*per)
		if err := binary.Read(z, binary.LittleEndian, want); err != nil {
			t.Fatal(err)
		}
		r := k.rule()
		if r == nil {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			in, n := k.input(), k.elems()
			var a, b, wide Panel
			for tile := range tiles {
				if testing.Short() && tile >= 40 {
					break
				}
				s := source{rand.New(rand.NewPCG(1, uint64(tile)))}
				a.ResetA(r, n)
				b.ResetB(r, n)
				wide.ResetB(r, 2*n)
				var at []uint8
				for i := range n {
					at = append(at, uint8(2*i+s.to(2)))
				}
				for i := range k.rows() {
					row := slices.Clone(in.a[(tile*16+i)*n:][:n])
					if strings.Contains(k.name, "negate") {
						for e := range row {
							row[e] ^= 1 << (width(k.a) - 1)
						}
					}
					a.row(row, width(k.a), tile)
				}
				for i := range 8 {
					col := in.b[(tile*8+i)*n:][:n]
					b.row(col, width(k.b), tile+1)
					// Elements that the loop does not reach are random.
					spread := make([]uint64, 2*n)
					for e := range spread {
						spread[e] = s.Uint64() & (1<<width(k.b) - 1)
					}
					for e, to := range at {
						spread[to] = col[e]
					}
					wide.row(spread, width(k.b), tile)
				}
				var d [128]uint32
				for i := range d[:8*k.rows()] {
					if d[i] = uint32(in.c[tile*128+i]); strings.Contains(k.name, "zero") {
						d[i] = 0
					}
				}
				sparse := d
				check := func(how string, d [128]uint32) {
					t.Helper()
					var out [128]uint64
					for i, x := range d {
						out[i] = uint64(x)
					}
					if got := digest(out[:]); !slices.Equal(got, want[tile*per:][:per]) {
						t.Fatalf("%s %d: sum and first elements %08x, the H200 has %08x", how, tile, got, want[tile*per:][:per])
					}
				}
				r.Tile(d[:], &a, &b)
				check("tile", d)
				if k.a != "b1" {
					r.TileSparse(sparse[:], &a, &wide, slices.Concat(slices.Repeat([][]uint8{at}, a.Rows())...))
					check("sparse tile", sparse)
				}
			}
		})
	}
}

// A blend draws a random element of a format.
type blend struct {
	name string
	draw func(s source, f Format) uint32
}

func bitsOf(f Format, x float64) uint32 {
	b := math.Float32bits(float32(x))
	switch f {
	case BF16:
		return b >> 16
	case TF32:
		return b &^ 0x1fff
	case F32:
		return b
	}
	// The nearest by bisection over the magnitudes, which are in order.
	sign := uint32(1) << (layouts[f].exp + layouts[f].frac)
	lo, hi := uint32(0), sign-1
	for lo < hi {
		m := (lo + hi + 1) / 2
		if v, _ := decode(f, m); v <= math.Abs(x) {
			lo = m
		} else {
			hi = m - 1
		}
	}
	if x < 0 {
		lo |= sign
	}
	return lo
}

func anyBits(s source, f Format) uint32 { return uint32(s.Uint64() & (1<<widthOf[f] - 1)) }

var blends = []blend{
	{"normal", func(s source, f Format) uint32 { return bitsOf(f, s.NormFloat64()) }},
	{"uniform", func(s source, f Format) uint32 { return bitsOf(f, 2*s.Float64()-1) }},
	{"ints", func(s source, f Format) uint32 { return bitsOf(f, float64(s.to(9)-4)) }},
	{"powers", func(s source, f Format) uint32 { return bitsOf(f, math.Ldexp(1, s.to(40)-20)) }},
	{"ties", func(s source, f Format) uint32 { // sums half way between two f16 numbers, but for what is truncated
		e := []int{0, 0, -1, -10, -11, -11, -12, -13, -24}[s.to(9)]
		return bitsOf(f, math.Ldexp(float64(1-2*s.to(2)), e))
	}},
	{"bits", anyBits},
	{"sparse", func(s source, f Format) uint32 {
		if s.to(6) != 0 {
			return uint32(s.to(2)) << (widthOf[f] - 1)
		}
		return anyBits(s, f)
	}},
	{"wide", func(s source, f Format) uint32 {
		return bitsOf(f, math.Ldexp(s.NormFloat64(), int(s.NormFloat64()*30)))
	}},
	{"apart", func(s source, f Format) uint32 { // what is large in a row meets zeros
		if s.to(3) != 0 {
			return 0
		}
		return bitsOf(f, math.Ldexp(s.NormFloat64(), s.to(60)-30))
	}},
	{"special", func(s source, f Format) uint32 {
		if s.to(50) == 0 {
			return []uint32{bitsOf(f, math.Inf(1)), bitsOf(f, math.Inf(-1)), 1<<(widthOf[f]-1) - 1}[s.to(3)]
		}
		return bitsOf(f, s.NormFloat64())
	}},
}

// TestTileAgainstDot compares Tile with Dot on more data than the campaign's,
// with every mix of operands against every mix of C.
func TestTileAgainstDot(t *testing.T) {
	rules := []*Rule{MMA(F32, F16, F16), MMA(F16, F16, F16), MMA(F32, BF16, BF16), MMA(F32, TF32, TF32), MMA(F32, E4M3, E5M2), MMA(F16, E4M3, E4M3),
		WGMMARule(F32, E4M3, E4M3), WGMMARule(F32, E5M2, E4M3), WGMMARule(F16, E5M2, E5M2), WGMMARule(F16, E4M3, E4M3)}
	rounds := 12
	if testing.Short() {
		rounds = 2
	}
	var a, b Panel
	for n, r := range rules {
		s := source{rand.New(rand.NewPCG(7, uint64(n)))}
		for round := range rounds {
			for _, m := range blends {
				for _, mc := range blends {
					k := []int{4, 8, 12, 16, 32, 64}[s.to(6)]
					if r.halves {
						k = (k + 7) / 8 * 8 // whose halves are of four
					}
					rows, cols := 1+s.to(5), 1+s.to(20)
					a.ResetA(r, k)
					b.ResetB(r, k)
					va, vb := make([]Vector, rows), make([]Vector, cols)
					draw := func(f Format, left bool, v *Vector, p *Panel) {
						var row []uint32
						for range k {
							x := m.draw(s, f)
							if left {
								r.AppendA(v, x)
							} else {
								r.AppendB(v, x)
							}
							row = append(row, x)
						}
						p.Add(row)
					}
					for i := range va {
						draw(r.a, true, &va[i], &a)
					}
					for i := range vb {
						draw(r.b, false, &vb[i], &b)
					}
					c := make([]uint32, rows*cols)
					for i := range c {
						c[i] = mc.draw(s, r.acc)
					}
					d := slices.Clone(c)
					r.Tile(d, &a, &b)
					for i := range d {
						if want := r.Dot(c[i], &va[i/cols], &vb[i%cols]); d[i] != want {
							t.Fatalf("rule %d round %d %s c %s k %d element %d of %d×%d: %#x, Dot has %#x", n, round, m.name, mc.name, k, i, rows, cols, d[i], want)
						}
					}
				}
			}
		}
	}
}
