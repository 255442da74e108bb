package tma

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// What Blackwell adds, against the text of the ISA element by element: no card was
// asked. Nothing here uses the code's own walk, its swizzles or its runs' order.

// swizzleTables are the tables of ISA 5.5.7: for each line of 128 bytes, which 16 bytes
// of the source lie at each place.
var swizzleTables = map[Swizzle][]string{
	SwizzleNone:           {"01234567"},
	Swizzle32:             {"01234567", "10325476"},
	Swizzle64:             {"01234567", "10325476", "23016745", "32107654"},
	Swizzle96:             {"01234567", "10325476"},
	Swizzle128:            {"01234567", "10325476", "23016745", "32107654", "45670123", "54761032", "67452301", "76543210"},
	Swizzle128Atom32:      {"01234567", "23016745", "45670123", "67452301"},
	Swizzle128Atom32Flip8: {"01234567", "23016745", "45670123", "67452301"},
	Swizzle128Atom64:      {"01234567", "45670123"},
}

// lies is where the byte at an offset from an aligned address lies.
func lies(s Swizzle, at int) int {
	table := swizzleTables[s]
	line, cell := at/128, at%128/16
	place := strings.IndexByte(table[line%len(table)], "01234567"[cell])
	if s == Swizzle128Atom32Flip8 && line%2 == 1 {
		at = at&^15 | (at+8)&15 // adjacent 8 bytes change places
	}
	return 128*line + 16*place + at%16
}

func TestSwizzlesAreTheTables(t *testing.T) {
	for s := SwizzleNone; s <= Swizzle96; s++ {
		for a := range 4096 {
			if got, want := int(s.Apply(uint32(a))), lies(s, a); got != want {
				t.Fatalf("%s: byte %d lies at %d, not %d", s, a, got, want)
			}
		}
		if n := s.Align(); s != SwizzleNone && lies(s, n) != n {
			t.Errorf("%s does not start afresh at %d", s, n)
		}
	}
}

// A cell is a byte of shared memory after a load.
type cell struct {
	written, undefined bool
	v                  byte
}

// element reads n bits from a bit on, the lowest first.
func element(b []byte, bit int64, n int) (v uint64) {
	for i := range n {
		at := bit + int64(i)
		v |= uint64(b[at/8]>>(at%8)&1) << i
	}
	return v
}

// A reference says of each row of a box, in the order of shared memory, where its first
// element is. It makes what a load leaves, element by element.
type reference struct {
	m    *Map
	rows [][5]int64
}

// bitsOf are the sizes of ISA 5.5.1; in shared memory 16 padded elements have 16 bytes.
func bitsOf(t Type) (global, n int) {
	switch t {
	case B4x16:
		return 4, 0
	case B4x16P64:
		return 4, 64
	case B6x16P32:
		return 6, 96
	}
	return 8 * t.Size(), 0
}

func (r *reference) width() int {
	if r.m.Mode == Tiled {
		return int(r.m.Box[0])
	}
	return int(r.m.Channels)
}

// pitch is how far apart rows are.
func (r *reference) pitch() int {
	bits, group := bitsOf(r.m.Type)
	row := r.width() * bits / 8
	if group > 0 {
		row = r.width()
	}
	if span := map[Swizzle]int{Swizzle32: 32, Swizzle64: 64, Swizzle96: 96, Swizzle128: 128, Swizzle128Atom32: 128, Swizzle128Atom32Flip8: 128, Swizzle128Atom64: 128}[r.m.Swizzle]; row < span {
		return span
	}
	return row
}

// inside returns the bit of global memory at which an element is; false if it is out of bounds.
func (r *reference) inside(x [5]int64) (int64, bool) {
	bits, _ := bitsOf(r.m.Type)
	at := int64(r.m.Address)*8 + x[0]*int64(bits)
	for i := range r.m.Rank {
		if x[i] < 0 || x[i] >= int64(r.m.Dims[i]) {
			return 0, false
		}
		if i > 0 {
			at += 8 * x[i] * int64(r.m.Strides[i-1])
		}
	}
	return at, true
}

// place is the bit of shared memory at which an element of a row lies in a load.
func (r *reference) place(row, e int) int {
	bits, group := bitsOf(r.m.Type)
	bit := e * bits
	if group > 0 {
		bit = e/16*128 + e%16*bits
	}
	return bit + 8*row*r.pitch()
}

func (r *reference) load(global []byte) []cell {
	out := make([]cell, (len(r.rows)*r.pitch()+1023)&^1023)
	bits, group := bitsOf(r.m.Type)
	for i, x := range r.rows {
		if group > 0 {
			for b := range r.width() {
				out[lies(r.m.Swizzle, i*r.pitch()+b)] = cell{true, true, 0}
			}
		}
		for e := range r.width() {
			y := x
			y[0] += int64(e)
			v := uint64(0)
			if at, ok := r.inside(y); ok {
				v = element(global, at, bits)
			} else if r.m.Fill == FillNaN {
				v = 0x7ff77ff77ff77ff7
			}
			for b := range bits {
				at := r.place(i, e) + b
				c := &out[lies(r.m.Swizzle, at/8)]
				if !c.written || c.undefined {
					*c = cell{written: true}
				}
				c.v |= byte(v>>b&1) << (at % 8)
			}
		}
	}
	return out
}

// loaded is what Load leaves.
func loaded(m *Map, a Access, global []byte, n int) []cell {
	out := make([]cell, n)
	for run := range m.Load(0, a) {
		b := make([]byte, run.Len)
		if run.Fill {
			m.WriteFill(b)
		} else {
			copy(b, global[run.Global:])
		}
		for i := range run.Span {
			c := &out[int(run.Shared)+i]
			if c.written {
				panic("a byte is in two runs")
			}
			*c = cell{written: true, undefined: i >= run.Len}
			if i < run.Len {
				c.v = b[i]
			}
		}
	}
	return out
}

func (r *reference) check(t *testing.T, a Access, global []byte) {
	t.Helper()
	if err := r.m.Check(); err != nil {
		t.Fatalf("%v: %+v", err, r.m)
	}
	if err := r.m.CheckLoad(a); err != nil {
		t.Fatalf("%v: %+v, %+v", err, r.m, a)
	}
	want := r.load(global)
	got := loaded(r.m, a, global, len(want))
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("byte %d is %+v, not %+v\n%+v\n%+v", i, got[i], want[i], r.m, a)
		}
	}
	bits, _ := bitsOf(r.m.Type)
	if n, tx := len(r.rows)*r.width()*bits/8, r.m.TxBytes(a); n != tx {
		t.Fatalf("%d bytes count, not %d\n%+v", tx, n, r.m)
	}
	if n := len(r.rows) * r.pitch(); n != r.m.SharedBytes(a) {
		t.Fatalf("the box has %d bytes, not %d\n%+v", r.m.SharedBytes(a), n, r.m)
	}
}

// drawn draws a type, a swizzle and a width that go with each other.
func drawn(r *rand.Rand, m *Map, swizzles ...Swizzle) {
	for {
		m.Type = []Type{U8, U16, F16, BF16, F32, S64, B4x16, B4x16P64, B6x16P32}[r.IntN(9)]
		m.Swizzle = swizzles[r.IntN(len(swizzles))]
		bits, group := bitsOf(m.Type)
		n := 128 / bits * (1 + r.IntN(8))
		dim := 2 * (1 + r.IntN(300))
		stride := (dim*bits/8 + 31) &^ 31
		if group > 0 {
			n, dim = 128, 128*(1+r.IntN(3))
			stride = (dim*bits/8 + 31) &^ 31
		}
		m.Dims[0], m.Strides[0] = uint64(dim), uint64(stride)
		if m.Mode == Tiled {
			m.Box[0] = uint32(n)
		} else {
			m.Channels = uint32(n)
		}
		m.Fill = Fill(r.IntN(2))
		if m.Check() == nil {
			return
		}
	}
}

// column is a coordinate of the innermost dimension that copies take.
func column(r *rand.Rand, m *Map, least int) int32 {
	bits, group := bitsOf(m.Type)
	step := 128 / bits
	if group > 0 {
		step = 128
	}
	return int32(step * (least + r.IntN(5-least)))
}

var allSwizzles = []Swizzle{SwizzleNone, Swizzle32, Swizzle64, Swizzle96, Swizzle128, Swizzle128Atom32, Swizzle128Atom32Flip8, Swizzle128Atom64}

// TestGather4 holds .tile::gather4 to ISA 5.5.3.4: four rows of a tensor of two
// dimensions, anywhere, the same one twice, or outside; one after the other in shared
// memory.
func TestGather4(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	global := bufferOf(globalWord, bufferBytes)
	seen := map[string]int{}
	for range 1500 {
		m := &Map{Rank: 2, Address: 4096, ElementStrides: [5]uint32{1, uint32(1 + r.IntN(3))}, Dims: [5]uint64{1, uint64(1 + r.IntN(20))}, Box: [5]uint32{1, 1}, Strides: [4]uint64{16}}
		drawn(r, m, allSwizzles...)
		if m.Type == B6x16P32 && m.Swizzle == Swizzle128Atom64 {
			continue // stores only
		}
		a := Access{Coords: []int32{column(r, m, -2)}, Four: true}
		ref := &reference{m: m}
		for range 4 {
			a.Coords = append(a.Coords, int32(r.IntN(26)-3))
			ref.rows = append(ref.rows, [5]int64{int64(a.Coords[0]), int64(a.Coords[len(a.Coords)-1])})
		}
		ref.check(t, a, global)
		seen[fmt.Sprint(m.Type, " ", m.Swizzle)]++
	}
	if len(seen) < 50 {
		t.Errorf("only %d pairs of a type and a swizzle: %v", len(seen), seen)
	}
}

// TestTiledBlackwell holds the new types and swizzles in tiled mode.
func TestTiledBlackwell(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	global := bufferOf(globalWord, bufferBytes)
	for range 500 {
		m := &Map{Rank: 2, Address: 4096, ElementStrides: [5]uint32{1, uint32(1 + r.IntN(3))}, Dims: [5]uint64{1, uint64(1 + r.IntN(40))}, Box: [5]uint32{1, uint32(1 + r.IntN(30))}, Strides: [4]uint64{16}}
		drawn(r, m, allSwizzles...)
		if m.Type == B6x16P32 && m.Swizzle == Swizzle128Atom64 {
			continue
		}
		a := Access{Coords: []int32{column(r, m, -2), int32(r.IntN(30) - 10)}}
		ref := &reference{m: m}
		for i := uint32(0); i < m.Box[1]; i += m.ElementStrides[1] {
			ref.rows = append(ref.rows, [5]int64{int64(a.Coords[0]), int64(a.Coords[1]) + int64(i)})
		}
		ref.check(t, a, global)
	}
}

// TestIm2colW holds im2col::w and im2col::w::128 to ISA 5.5.5, by a walk of single steps.
func TestIm2colW(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	global := bufferOf(globalWord, bufferBytes)
	for range 200 {
		rank := 3 + r.IntN(3)
		m := &Map{Mode: Im2colW + Mode(r.IntN(2)), Rank: rank, Address: 4096, Pixels: uint32(1 + r.IntN(140)), ElementStrides: [5]uint32{1, uint32(1 + r.IntN(4)), 1, 1, 1}}
		for i := 1; i < rank; i++ {
			m.Dims[i], m.Strides[i-1] = uint64(1+r.IntN(9)), 32
		}
		m.Lower[0], m.Upper[0] = int32(r.IntN(4)-2), int32(r.IntN(4)-2)
		if int64(m.Dims[1])+int64(m.Upper[0])-int64(m.Lower[0]) <= 0 {
			m.Upper[0] = m.Lower[0]
		}
		drawn(r, m, Swizzle64, Swizzle128, Swizzle128Atom32, Swizzle96)
		for i := 1; i < rank-1; i++ {
			m.Strides[i] = uint64(32 * (1 + r.IntN(500))) // images may overlap
		}
		first, last := int64(m.Lower[0]), int64(m.Dims[1])-1+int64(m.Upper[0])
		a := Access{Coords: make([]int32, rank), Offsets: []uint16{uint16(r.IntN(32)), uint16(r.IntN(4))}}
		a.Coords[0] = column(r, m, 0)
		a.Coords[1] = int32(last - int64(r.IntN(int(last-first)+3))) // also left of the box
		for i := 2; i < rank; i++ {
			a.Coords[i] = int32(r.IntN(int(m.Dims[i])+2) - 1)
		}
		m.check(t, a, global, first, last)
	}
}

// check makes the rows of a wide mode. walk gives one pixel after the other: W grows by
// its stride to the far edge of the bounding box, then begins at the near one in the next
// image; the offset moves both edges and the walk.
func (m *Map) check(t *testing.T, a Access, global []byte, first, last int64) {
	t.Helper()
	halo, offset := int(a.Offsets[0]), int64(a.Offsets[1])
	var x [5]int64
	for i := range m.Rank {
		x[i] = int64(a.Coords[i])
	}
	x[1] += offset
	var walk [][5]int64
	for range 1200 {
		walk = append(walk, x)
		if x[1] += int64(m.ElementStrides[1]); x[1] > last+offset {
			x[1] = first + offset
			x[m.Rank-1]++
		}
	}
	ref := &reference{m: m}
	if m.Mode == Im2colW {
		ref.rows = walk[:int(m.Pixels)+halo]
	} else {
		ref.rows = append(ref.rows, walk[:128]...)
		for h := range halo {
			ref.rows = append(ref.rows, walk[32+h], walk[64+h], walk[96+h], walk[128+h])
		}
	}
	ref.check(t, a, global)
}

// TestIm2colWExample is the first example of ISA 5.5.5.3 and that of 5.5.5.4.
func TestIm2colWExample(t *testing.T) {
	m := Map{Mode: Im2colW, Type: F16, Rank: 4, Dims: [5]uint64{64, 7, 9, 128}, Strides: [4]uint64{128, 896, 8064}, Channels: 64, Pixels: 128,
		ElementStrides: [5]uint32{1, 1, 1, 1}, Swizzle: Swizzle128}
	a := Access{Coords: []int32{0, 3, 2, 7}, Offsets: []uint16{2, 0}}
	if n := m.TxBytes(a); n != 130*128 || m.Check() != nil || m.CheckLoad(a) != nil {
		t.Errorf("128 pixels and 2 of halo have %d bytes", n)
	}
	global, i := func(n, h, w int) uint64 { return uint64(n*8064 + h*896 + w*128) }, 0
	for run := range m.Load(0, a) {
		if run.Len == 16 && i%8 == 0 { // of each pixel the first 16 bytes
			n := 3 + i/8
			if want := global(7+n/7, 2, n%7); run.Fill || run.Global != want {
				t.Fatalf("pixel %d is at %d, not %d", i/8, run.Global, want)
			}
		}
		i += run.Len / 16
	}
	// Stride 2 from -1: buffer 1 has the odd columns and one more, buffer 2 the even ones.
	m.Dims, m.Strides, m.Lower[0], m.ElementStrides[1] = [5]uint64{64, 67, 9, 128}, [4]uint64{128, 8576, 77184}, -1, 2
	for buffer, offs := range [][]uint16{{1, 0}, {0, 1}} {
		a := Access{Coords: []int32{0, -1, 2, 7}, Offsets: offs}
		if n := m.TxBytes(a); n != (129-buffer)*128 {
			t.Errorf("buffer %d has %d bytes", buffer+1, n)
		}
		w, line := -1+buffer, 0
		m.rows(a, func(at uint32, x *[5]int64) bool {
			if int(at) != 128*line || x[1] != int64(w) || x[2] != 2 {
				t.Fatalf("buffer %d, line %d: %v, not W %d", buffer+1, line, x, w)
			}
			if w, line = w+2, line+1; w > 66+buffer {
				w = -1 + buffer
			}
			return true
		})
	}
}

// TestStoresBlackwell holds .tile::scatter4 and stores of 6-bit elements, which find each
// element in the low bits of a byte (.b6p2x16).
func TestStoresBlackwell(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	shared := bufferOf(sharedWord, 1<<16)
	seen := map[Type]int{}
	for n := range 1000 {
		m := &Map{Rank: 2, Address: 4096, ElementStrides: [5]uint32{1, 1}, Dims: [5]uint64{1, uint64(6 + r.IntN(20))}, Box: [5]uint32{1, 1}, Strides: [4]uint64{16}}
		drawn(r, m, SwizzleNone, Swizzle32, Swizzle64, Swizzle96, Swizzle128, Swizzle128Atom32, Swizzle128Atom64)
		if m.Type == B4x16P64 {
			continue
		}
		bits, group := bitsOf(m.Type)
		if group == 0 { // whole 16 bytes, see Store
			m.Dims[0] = (m.Dims[0] + uint64(128/bits) - 1) / uint64(128/bits) * uint64(128/bits)
			m.Strides[0] = (m.Dims[0]*uint64(bits)/8 + 31) &^ 31
		}
		seen[m.Type]++
		a := Access{Coords: []int32{column(r, m, 0)}, Four: n%2 == 0}
		if a.Four {
			for _, row := range r.Perm(int(m.Dims[1]) + 2)[:4] {
				a.Coords = append(a.Coords, int32(row))
			}
		} else {
			m.Box[1] = uint32(1 + r.IntN(9))
			a.Coords = append(a.Coords, int32(r.IntN(int(m.Dims[1]))))
		}
		if err := m.CheckStore(a); err != nil {
			t.Fatalf("%v: %+v", err, m)
		}
		ref := &reference{m: m}
		for i := range max(int(m.Box[1]), len(a.Coords)-1) {
			row := int64(a.Coords[1]) + int64(i)
			if a.Four {
				row = int64(a.Coords[1+i])
			}
			ref.rows = append(ref.rows, [5]int64{int64(a.Coords[0]), row})
		}
		want, got := make([]byte, 1<<18), make([]byte, 1<<18)
		for i, x := range ref.rows {
			for e := range ref.width() {
				y := x
				y[0] += int64(e)
				at, ok := ref.inside(y)
				if !ok {
					continue
				}
				for b := range bits {
					from := ref.place(i, e) + b
					if group > 0 {
						from = 8*(i*ref.pitch()+e) + b // a byte each
					}
					bit := shared[lies(m.Swizzle, from/8)] >> (from % 8) & 1
					want[(at+int64(b))/8] |= bit << ((at + int64(b)) % 8)
				}
			}
		}
		for run := range m.Store(0, a) {
			if b := m.Pack(shared[run.Shared:][:run.Span]); len(b) != run.Len {
				t.Fatalf("%d bytes are packed into %d, not %d", run.Span, len(b), run.Len)
			} else {
				copy(got[run.Global:], b)
			}
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("byte %d is %#x, not %#x\n%+v\n%+v", i, got[i], want[i], m, a)
			}
		}
	}
	if seen[B6x16P32] < 50 || seen[B4x16] < 50 {
		t.Error("only", seen)
	}
}
