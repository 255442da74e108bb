package tensor

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
)

// zeroDesc is a zero-column mask descriptor by the fields of Table 54.
func zeroDesc(sc, fs [4]uint64, nonZero, skip, use, shift uint64) ZeroColumns {
	z := nonZero<<39 | skip<<40 | use<<48 | shift<<56
	for i := range 4 {
		z |= sc[i]<<(8*i) | fs[i]<<(32+i)
	}
	return ZeroColumns(z)
}

// TestZeroColumns has the four worked examples of the ISA (9.7.18.4.3), lowest column first;
// its vectors of counts and spans have number 3 first.
func TestZeroColumns(t *testing.T) {
	for _, c := range []struct {
		m     int
		z     ZeroColumns
		masks []string
	}{
		{128, zeroDesc([4]uint64{}, [4]uint64{}, 0, 4, 3, 0), []string{"00000000000000"}},
		{128, zeroDesc([4]uint64{}, [4]uint64{}, 1, 2, 3, 0), []string{"00001110000111"}},
		{64, zeroDesc([4]uint64{}, [4]uint64{1}, 1, 2, 3, 0), []string{"11100001110000111", "0000111000011100"}},
		{32, zeroDesc([4]uint64{0, 1, 2, 1}, [4]uint64{1, 1, 0, 0}, 1, 2, 3, 2), []string{"11100001110000", "1100001110000", "001110000111", "0001110000111"}},
	} {
		const n = 128
		for g, want := range c.masks {
			got := ""
			for i := range len(want) {
				got += map[bool]string{false: "0", true: "1"}[c.z.Zero(g*n/len(c.masks)+i, n, len(c.masks))]
			}
			if got != want {
				t.Errorf("M = %d: mask %d is %s, want %s", c.m, g, got, want)
			}
		}
	}
	if got := zeroDesc([4]uint64{}, [4]uint64{}, 1, 2, 3, 2).Shift(); got != 2 {
		t.Errorf("shift is %d", got)
	}
}

// drawZero draws a descriptor and the mask that it stands for, written as runs.
func drawZero(s source, n, groups, most int) (ZeroColumns, []bool) {
	var sc, fs [4]uint64
	skip, use := uint64(s.to(20)), uint64(s.to(20))
	zero := make([]bool, 0, n)
	for g := range groups {
		sc[g], fs[g] = uint64(s.to(50)), uint64(s.to(2))
		var pattern []bool
		for ones := fs[g] == 1; len(pattern) < int(sc[g])+n/groups; ones = !ones {
			length := use + 1
			if ones {
				length = skip + 1
			}
			for range length {
				pattern = append(pattern, ones)
			}
		}
		zero = append(zero, pattern[sc[g]:int(sc[g])+n/groups]...)
	}
	nonZero := uint64(s.to(3) & 1)
	if nonZero == 0 {
		clear(zero)
	}
	return zeroDesc(sc, fs, nonZero, skip, use, uint64(s.to(most+1))), zero
}

// TestWSCompute runs drawn instructions of every kind, layout and major-ness, with columns that
// are shifted and zero. D and A in tensor memory lie where CuTe's tmem_frg_ws of
// cute/atom/mma_traits_sm100_frag.hpp has them, A once for each group of D's columns, as
// FlashMLA stores it.
func TestWSCompute(t *testing.T) {
	for _, kind := range []string{"f16", "tf32", "f8f6f4", "i8"} {
		s := source{rand.New(rand.NewPCG(9, uint64(len(kind))))}
		zeroes, shifts, sparse := 0, 0, 0
		for round := range 36 {
			m := []int{32, 64, 128}[round%3]
			groups := 128 / m
			f := TCGen05Form{Kind: kind, CTAs: 1, WS: true, ScaleD: -1, ATensor: s.to(3) == 0}
			n, allowed := []int{64, 128, 256}[s.to(3)], s.to(4)
			if f.Sparse = round%4 == 3; f.Sparse {
				n = min(n, 128)
			}
			var a, b Format
			if kind == "i8" {
				a, b = []Format{S8, U8}[s.to(2)], []Format{S8, U8}[s.to(2)]
				f.Desc = intDesc(a, b, m, n, nil)
			} else {
				k := kindFormats[kind]
				a, b = k.ab[s.to(len(k.ab))], k.ab[s.to(len(k.ab))]
				f.ATensor = f.ATensor && a < E2M3
				f.Desc = idesc(F32, a, b, m, n) | uint32(s.to(4))<<13
			}
			if !f.ATensor {
				f.Desc |= uint32(s.to(2)) << 15
			}
			f.Desc |= uint32(s.to(2))<<16 | uint32(allowed)<<30
			if f.Sparse {
				f.Desc |= 4
			}
			g, err := NewTCGen05(f)
			if err != nil {
				t.Fatal(err)
			}
			if want := map[int]byte{32: 'G', 64: 'E', 128: 'D'}[m]; g.Layout() != want {
				t.Fatalf("M = %d has layout %c", m, g.Layout())
			}
			most := []int{0, 8, 16, 32}[allowed]
			if m == 32 {
				most = min(most, 16)
			}
			zero, mask := drawZero(s, n, groups, most)
			if err := g.CheckZero(zero); err != nil {
				t.Fatal(err)
			}
			frag := map[int]cute{
				32:  lay("(32,(%d,4)):(1,(128,32))", n/4),
				64:  lay("(64,(%d,2)):(1,(128,64))", n/2),
				128: lay("(128,%d):(1,128)", n),
			}[m]

			// Memories.
			rowsB := (n + zero.Shift() + 15) / 16 * 16
			ma, mb, mc := drawBits(s, a, m, g.stored()), drawBits(s, b, rowsB, g.K), drawBits(s, g.D, m, n)
			a0 := drawSmem(s, a, g.TransA, m, g.stored(), 1024+s.to(9000))
			b0 := drawSmem(s, b, g.TransB, rowsB, g.K, 120000+s.to(20000))
			shared, memory := make([]byte, smemEnd), make([]byte, TensorBytes)
			call := TCGen05Call{D: uint32(s.to(200)), A: a0.desc(), B: b0.desc(), Zero: zero, Input: s.to(4) != 0}
			for i, row := range ma {
				for k, x := range row {
					if !f.ATensor {
						a0.put(shared, i, k, x)
						continue
					}
					call.A = 480
					bit := k * widthOf[a]
					for copied := range groups {
						at := memory[TensorOffset(i+copied*m, 480+bit/32):]
						word := binary.LittleEndian.Uint32(at)
						word = word&^(uint32(1<<widthOf[a]-1)<<(bit%32)) | x<<(bit%32)
						binary.LittleEndian.PutUint32(at, word)
					}
				}
			}
			for i, col := range mb {
				for k, x := range col {
					b0.put(shared, i, k, x)
				}
			}
			_, column0 := TensorCell(call.D)
			for i, row := range mc {
				for j, x := range row {
					at := frag.at(i, j)
					binary.LittleEndian.PutUint32(memory[TensorOffset(at%128, column0+at/128):], x)
				}
			}
			met := make([][]int, m)
			call.Meta = 490
			for i := range met {
				for nibble := range g.Nibbles() {
					x := legal[s.to(len(legal))]
					if a == TF32 {
						x = []uint32{0b0100, 0b1110}[s.to(2)]
						met[i] = append(met[i], 2*nibble+int(x>>3))
					} else {
						met[i] = append(met[i], 4*nibble+int(x&3), 4*nibble+int(x>>2))
					}
					for copied := range groups {
						at := metaWS(a, m).at(i, nibble*g.K/g.Nibbles(), copied)
						bit := at / 128
						if a == TF32 {
							bit *= 2
						}
						cell := memory[TensorOffset(at%128, 490+bit/32):]
						word := binary.LittleEndian.Uint32(cell)
						binary.LittleEndian.PutUint32(cell, word&^(15<<(bit%32))|x<<(bit%32))
					}
				}
			}
			if err := g.CheckMeta(call.Meta, func(addr uint32, b []byte) { copy(b, memory[addr:]) }); err != nil {
				t.Fatal(err)
			}
			read := map[Span]bool{}
			call.ReadShared = func(_ int, addr uint32, b []byte) {
				read[Span{addr, uint32(len(b))}] = true
				copy(b, shared[addr:])
			}
			call.ReadTensor = func(_ int, addr uint32, b []byte) { copy(b, memory[addr:]) }
			call.WriteTensor = func(_ int, addr uint32, b []byte) { copy(memory[addr:], b) }
			g.Compute(&call)
			for _, p := range append(g.SpansA(call.A), g.SpansB(call.B, zero)...) {
				if !read[p] {
					t.Fatalf("%+v does not read %v", f, p)
				}
			}

			for i := range m {
				for j := range n {
					at := frag.at(i, j)
					got := binary.LittleEndian.Uint32(memory[TensorOffset(at%128, column0+at/128):])
					c := mc[i][j]
					if !call.Input {
						c = 0
					}
					col := mb[j+zero.Shift()]
					if mask[j] {
						col = make([]uint32, g.K)
					}
					if f.Sparse {
						var meets []uint32
						for _, k := range met[i] {
							meets = append(meets, col[k])
						}
						col = meets
					}
					var want uint32
					if kind == "i8" {
						want = c
						for k := range col {
							want += uint32(intOf(a, ma[i][k]) * intOf(b, col[k]))
						}
					} else {
						if s.to(m*n/60+1) != 0 {
							continue
						}
						want = (oracle{f: 25}).dot(F32, c, 0, terms(a, ma[i], g.NegA), terms(b, col, g.NegB && !mask[j]))
					}
					if got != want {
						t.Fatalf("%+v, zero columns %#x: D(%d,%d) is %#x, want %#x", f, uint64(zero), i, j, got, want)
					}
					if mask[j] {
						zeroes++
					}
					if zero.Shift() > 0 {
						shifts++
					}
					if f.Sparse {
						sparse++
					}
				}
			}
		}
		if zeroes == 0 || shifts == 0 || sparse == 0 {
			t.Errorf("kind %s: %d elements of zero columns, %d of shifted ones, %d of a sparse A", kind, zeroes, shifts, sparse)
		}
	}
}

// metaWS is tmem_e_frg_ws of cute/atom/mma_traits_sm100_frag.hpp, from (m, k, copy) to lane +
// 128·unit; a unit is two bits of tf32, else one.
func metaWS(f Format, m int) cute {
	switch widthOf[f] {
	case 32:
		return lay("((8,2,%d),(8,2),%d):((1,1024,16),(128,8),%d)", m/16, 128/m, m)
	case 16:
		return lay("((8,2,%d),(16,2),%d):((1,2048,16),(128,8),%d)", m/16, 128/m, m)
	}
	return lay("(%d,64,%d):(1,128,%d)", m, 128/m, m)
}

// TestWSLayout compares where D and the metadata of a sparse A lie with CuTe's tmem_frg_ws and
// tmem_e_frg_ws, element by element; two columns, or two rows, exchanged do not agree.
func TestWSLayout(t *testing.T) {
	for _, m := range []int{32, 64, 128} {
		for _, n := range []int{64, 128} {
			for _, f := range []struct {
				kind string
				of   Format
			}{{"f16", F16}, {"tf32", TF32}, {"f8f6f4", E4M3}} {
				g, err := NewTCGen05(TCGen05Form{Kind: f.kind, CTAs: 1, WS: true, Sparse: true, ScaleD: -1, Desc: idesc(F32, f.of, f.of, m, n) | 4})
				if err != nil {
					t.Fatal(err)
				}
				groups := 128 / m
				frag := lay("(%d,(%d,%d)):(1,(128,%d))", m, n/groups, groups, m)
				differ := func(row, col func(int) int) (count int) {
					for i := range m {
						for j := range n {
							if _, lane, column := g.CellD(row(i), col(j)); lane+128*column != frag.at(i, j) {
								count++
							}
						}
						for nibble := range g.Nibbles() {
							_, lane, column, bit := g.CellMeta(row(i), nibble)
							for copied, d := range g.CopiesMeta() {
								at := metaWS(f.of, m).at(i, nibble*g.K/g.Nibbles(), copied)
								unit := at / 128
								if f.of == TF32 {
									unit *= 2
								}
								if lane+d != at%128 || 32*column+bit != unit {
									count++
								}
							}
						}
					}
					return count
				}
				same := func(i int) int { return i }
				swapped := func(i int) int { return map[int]int{1: 9, 9: 1}[i] + map[bool]int{true: i}[i != 1 && i != 9] }
				if n := differ(same, same); n != 0 {
					t.Fatalf("%s, M = %d, N = %d: %d places are not CuTe's", f.kind, m, g.N, n)
				}
				if differ(swapped, same) == 0 || differ(same, swapped) == 0 {
					t.Errorf("%s, M = %d: two rows or columns exchanged agree with CuTe", f.kind, m)
				}
			}
		}
	}
}

// drawBits draws a matrix, of finite elements where the format has others.
func drawBits(s source, f Format, rows, k int) [][]uint32 {
	if f == S8 || f == U8 || f == S32 {
		m := make([][]uint32, rows)
		for i := range m {
			m[i] = make([]uint32, k)
			for j := range m[i] {
				m[i][j] = uint32(s.Uint64()) >> (32 - widthOf[f])
			}
		}
		return m
	}
	return draw(s, f, rows, k)
}

func intOf(f Format, x uint32) int32 {
	if f == S8 {
		return int32(int8(x))
	}
	return int32(x)
}

// TestWSRefuses has what .ws forbids.
func TestWSRefuses(t *testing.T) {
	form := func(m, n int) TCGen05Form {
		return TCGen05Form{Kind: "f16", CTAs: 1, WS: true, ScaleD: -1, Desc: idesc(F32, F16, F16, m, n)}
	}
	pair := form(64, 64)
	pair.CTAs = 2
	scaled := TCGen05Form{Kind: "mxf8f6f4", CTAs: 1, WS: true, ScaleD: -1}
	for want, f := range map[string]TCGen05Form{"N of 64, 128 and 256": form(64, 96), "M of 32, 64 and 128": form(256, 64), "neither": pair, "nor block scales": scaled} {
		if _, err := NewTCGen05(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	g, err := NewTCGen05(form(32, 64))
	if err != nil {
		t.Fatal(err)
	}
	most := form(32, 64)
	most.Desc |= 3 << 30
	h, err := NewTCGen05(most)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		g    *TCGen05
		z    ZeroColumns
		want string
	}{{g, 1 << 36, "bits 36-38"}, {g, 1 << 62, "62-63"}, {g, 8 << 56, "allows 0 in bits 30-31"}, {h, 17 << 56, "at most 16"}, {h, 16 << 56, ""}} {
		err := c.g.CheckZero(c.z)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%#x: %v", uint64(c.z), err)
		}
	}
	if err := g.CheckD(TensorAddress(16, 0)); err == nil || !strings.Contains(err.Error(), "layout G") {
		t.Error(err)
	}
}
