package tensor

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestReduction compares tcgen05.ld.red with a search over real numbers: the values are
// ordered as float64, a zero by its sign, and NaNs are left out or taken.
func TestReduction(t *testing.T) {
	s := source{rand.New(rand.NewPCG(3, 4))}
	special := []uint32{0, 1 << 31, 1, 0x80000001, 0x7f800000, 0xff800000, 0x7fc00001, 0xff800001, 0x7f7fffff, 0x3f800000, 0xbf800000}
	for round := range 400 {
		r := Reduction{Type: []string{"f32", "u32", "s32"}[round%3], Max: s.to(2) == 0}
		if r.Type == "f32" {
			r.Abs, r.NaN = s.to(2) == 0, s.to(2) == 0
		}
		regs := make([]*[32]uint32, 2+s.to(6))
		for i := range regs {
			regs[i] = new([32]uint32)
			for l := range 32 {
				if regs[i][l] = uint32(s.Uint64()); s.to(2) == 0 {
					regs[i][l] = special[s.to(len(special))]
				}
			}
		}
		var got [32]uint32
		r.Reduce(&got, regs)
		for l := range 32 {
			values := make([]uint32, len(regs))
			for i := range regs {
				values[i] = regs[i][l]
			}
			if want := reduceAsNumbers(&r, values); got[l] != want {
				t.Fatalf("%+v of %x is %#x, want %#x", r, values, got[l], want)
			}
		}
	}
}

func reduceAsNumbers(r *Reduction, values []uint32) uint32 {
	key := func(x uint32) float64 {
		switch r.Type {
		case "u32":
			return float64(x)
		case "s32":
			return float64(int32(x))
		}
		v := float64(math.Float32frombits(x))
		if v == 0 && math.Signbit(v) {
			return -math.SmallestNonzeroFloat64 // below +0, above every negative f32
		}
		return v
	}
	var best uint32
	found := false
	for _, x := range values {
		if r.Abs {
			x &= 1<<31 - 1
		}
		if r.Type == "f32" && x&0x7fffffff > 0x7f800000 {
			if r.NaN {
				return 0x7fffffff
			}
			continue
		}
		if !found || r.Max && key(x) > key(best) || !r.Max && key(x) < key(best) {
			best, found = x, true
		}
	}
	if !found {
		return 0x7fffffff
	}
	return best
}

// TestShiftSpans moves numbered cells: those of lanes 0 to 30 of a warp's go one lane on, and
// all others stay.
func TestShiftSpans(t *testing.T) {
	for _, warp := range []int{0, 1, 3} {
		for _, column := range []int{0, 9, 504} {
			memory := make([]byte, TensorBytes)
			for lane := range TensorLanes {
				for c := range TensorColumns {
					binary.LittleEndian.PutUint32(memory[TensorOffset(lane, c):], uint32(lane<<16|c))
				}
			}
			taddr := TensorAddress(32*warp, column)
			if err := CheckShift(taddr); err != nil {
				t.Fatal(err)
			}
			var data []byte
			reads, writes := ShiftSpans(taddr)
			for _, p := range reads {
				data = append(data, memory[p.Addr:p.Addr+p.Len]...)
			}
			for _, p := range writes {
				copy(memory[p.Addr:p.Addr+p.Len], data)
				data = data[p.Len:]
			}
			for lane := range TensorLanes {
				for c := range TensorColumns {
					want := lane<<16 | c
					if lane/32 == warp && lane%32 != 0 && c >= column && c < column+8 {
						want -= 1 << 16
					}
					if got := binary.LittleEndian.Uint32(memory[TensorOffset(lane, c):]); int(got) != want {
						t.Fatalf("shift at %#x: lane %d, column %d holds %#x, want %#x", taddr, lane, c, got, want)
					}
				}
			}
		}
	}
	for _, taddr := range []uint32{TensorAddress(16, 0), TensorAddress(128, 0), TensorAddress(0, 505)} {
		if CheckShift(taddr) == nil {
			t.Errorf("no complaint of %#x", taddr)
		}
	}
}

// TestAShift compares a product with .ashift with one of rows that are moved beforehand.
func TestAShift(t *testing.T) {
	for _, layout := range []struct{ ctas, m int }{{1, 128}, {2, 256}} {
		s := source{rand.New(rand.NewPCG(5, uint64(layout.m)))}
		form := TCGen05Form{Kind: "f16", CTAs: layout.ctas, ATensor: true, ScaleD: -1, Desc: idesc(F32, F16, F16, layout.m, 32)}
		plain := newTCCase(t, s, form)
		form.AShift = true
		g, err := NewTCGen05(form)
		if err != nil {
			t.Fatal(err)
		}
		shifted := [2][]byte{append([]byte(nil), plain.tensor[0]...), append([]byte(nil), plain.tensor[1]...)}
		call := plain.call
		call.ReadTensor = func(cta int, addr uint32, b []byte) { copy(b, shifted[cta][addr:]) }
		call.WriteTensor = func(cta int, addr uint32, b []byte) { copy(shifted[cta][addr:], b) }
		g.Compute(&call)
		_, column := TensorCell(plain.ta0)
		for cta := range layout.ctas {
			for lane := TensorLanes - 1; lane > 0; lane-- {
				for c := range ColumnsTA {
					copy(plain.tensor[cta][TensorOffset(lane, column+c):][:4], plain.tensor[cta][TensorOffset(lane-1, column+c):])
				}
			}
		}
		plain.g.Compute(&plain.call)
		_, d := TensorCell(plain.d0)
		for cta := range layout.ctas {
			from, to := TensorOffset(0, d), TensorOffset(0, d+g.ColumnsD())
			if string(shifted[cta][from:to]) != string(plain.tensor[cta][from:to]) {
				t.Errorf("%+v: D differs in CTA %d", form, cta)
			}
		}
	}
	for _, f := range []TCGen05Form{
		{Kind: "f16", CTAs: 1, ATensor: true, AShift: true, ScaleD: -1, Desc: idesc(F32, F16, F16, 64, 32)},
		{Kind: "f16", CTAs: 2, ATensor: true, AShift: true, ScaleD: -1, Desc: idesc(F32, F16, F16, 128, 32)},
	} {
		if g, err := NewTCGen05(f); err == nil {
			t.Error(fmt.Sprintf("%+v", g), "has .ashift")
		}
	}
}

// TestTensorCopyDecompresses puts elements of 4 and of 6 bits where CuTe's layouts have them,
// with noise as padding: each must come out as a byte of its own.
func TestTensorCopyDecompresses(t *testing.T) {
	s := source{rand.New(rand.NewPCG(7, 8))}
	for _, l := range copyLayouts {
		for _, f := range []struct {
			name string
			of   Format
			mask uint32
		}{{"b4x16_p64", E2M1, 15}, {"b6x16_p32", E3M2, 63}} {
			c, err := NewTensorCopy(l.shape, l.multicast, f.name)
			if err != nil {
				t.Fatal(err)
			}
			for _, sl := range smemLayouts[:4] {
				if l.bits/8 > 1<<(4+sl.bits) && sl.bits > 0 {
					continue
				}
				src := newSmem(sl, false, f.of, 1024+32, 16*1040, 1040) // no two elements at one place
				if sl.bits > 0 {
					src = newSmem(sl, false, f.of, 1024+32, 16, 2064)
				}
				mem, want := make([]byte, 1<<16), make([]byte, TensorBytes)
				for i := range mem {
					mem[i] = byte(mix(5, uint32(i)))
				}
				for row := range l.rows {
					for k := range l.bits / 8 {
						x := uint32(s.Uint64()) & f.mask
						src.put(mem, row, k, x)
						for n := range l.times {
							bit := l.at(row, 8*k, n)
							want[TensorOffset(bit/dp, 40+bit%dp/32)+uint32(bit%32/8)] = byte(x)
						}
					}
				}
				got, read := make([]byte, TensorBytes), uint32(0)
				c.Copy(40, src.desc(), func(addr uint32, b []byte) { read += uint32(copy(b, mem[addr:])) }, func(addr uint32, b []byte) { copy(got[addr:], b) })
				if string(got) != string(want) {
					t.Fatalf("%s.%s of %s, swizzle %d: another byte", l.shape, l.multicast, f.name, sl.code)
				}
				if bits := uint32(src.width * l.rows * l.bits / 8); 8*read != bits {
					t.Errorf("%s of %s reads %d bits, and has %d", l.shape, f.name, 8*read, bits)
				}
			}
		}
	}
	if _, err := NewTensorCopy("128x128b", "", "b5x16"); err == nil {
		t.Error("b5x16 is a format")
	}
}
