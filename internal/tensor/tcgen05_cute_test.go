package tensor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A cute is a CuTe layout: a shape and a stride of the same nesting, as in
// "((4,8),2):((1,16),4)". It maps one number for each top-level mode, which is
// taken apart from the first submode on.
type cute struct{ shape, stride []mode }

type mode struct {
	n    int
	kids []mode
}

// lay makes a layout of its text.
func lay(format string, args ...any) cute {
	text := fmt.Sprintf(format, args...)
	shape, stride, ok := strings.Cut(text, ":")
	if !ok {
		panic(text)
	}
	return cute{parseModes(shape), parseModes(stride)}
}

func parseModes(s string) []mode {
	m, rest := parseMode(s)
	if rest != "" {
		panic(s)
	}
	if m.kids == nil {
		return []mode{m}
	}
	return m.kids
}

func parseMode(s string) (m mode, rest string) {
	if s[0] != '(' {
		end := strings.IndexAny(s, ",)")
		if end < 0 {
			end = len(s)
		}
		if _, err := fmt.Sscan(s[:end], &m.n); err != nil {
			panic(err)
		}
		return m, s[end:]
	}
	for s = s[1:]; ; s = s[1:] {
		var kid mode
		kid, s = parseMode(s)
		m.kids = append(m.kids, kid)
		if s[0] == ')' {
			return m, s[1:]
		}
	}
}

func (m mode) size() int {
	if m.kids == nil {
		return m.n
	}
	p := 1
	for _, k := range m.kids {
		p *= k.size()
	}
	return p
}

func (m mode) at(stride mode, i int) int {
	if m.kids == nil {
		return i * stride.n
	}
	sum := 0
	for j, k := range m.kids {
		sum += k.at(stride.kids[j], i%k.size())
		i /= k.size()
	}
	return sum
}

// at is the layout of coordinates, one for each mode; of one coordinate for
// several modes, that of an index.
func (l cute) at(coords ...int) int {
	if len(coords) == 1 {
		return mode{kids: l.shape}.at(mode{kids: l.stride}, coords[0])
	}
	sum := 0
	for i, c := range coords {
		sum += l.shape[i].at(l.stride[i], c)
	}
	return sum
}

// dp is CuTe's distance of two lanes of tensor memory in bits (TMEM::DP_b of
// cute/arch/tmem_allocator_sm100.hpp); a column has 32.
const dp = 1 << 21

// swizzle is CuTe's Swizzle<bits, base, shift> of a byte address
// (cute/swizzle.hpp).
func swizzle(bits, base, shift int, addr int) int {
	mask := (1<<bits - 1) << (base + shift)
	return addr ^ addr&mask>>shift
}

func TestCuteLayouts(t *testing.T) {
	l := lay("((4,8),(64,2)):((64,256),(1,2048))")
	for _, c := range []struct{ t, v, want int }{{0, 0, 0}, {1, 0, 64}, {4, 0, 256}, {7, 65, 256 + 192 + 2049}, {31, 127, 1792 + 192 + 2048 + 63}} {
		if got := l.at(c.t, c.v); got != c.want {
			t.Errorf("(%d,%d): %d, want %d", c.t, c.v, got, c.want)
		}
	}
	if got := lay("32:5").at(7); got != 35 {
		t.Error(got)
	}
	if got := swizzle(3, 4, 3, 0x390); got != 0x3e0 {
		t.Errorf("0x%x", got)
	}
}

// smemLayouts are the canonical layouts of cute/arch/mma_sm100_desc.hpp and ISA
// 9.7.18.3.3, in elements of which 16 bytes hold T; what CuTe calls m and k is as
// large as the matrix needs. The strides are in bytes here, and elem is the bytes
// of an element.
type smemLayout struct {
	code             uint64
	bits, base, shft int // the swizzle
	mn               func(elem, lbo, sbo int) cute
	k                func(elem, lbo, sbo int) cute
}

func smemLayoutOf(code uint64, w, bits int) smemLayout {
	return smemLayout{code: code, bits: bits, base: 4, shft: 3,
		mn: func(e, lbo, sbo int) cute {
			return lay("((%d,%d,64),(8,64)):((%d,16,%d),(%d,%d))", 16/e, w/16, e, lbo, w, sbo)
		},
		k: func(e, lbo, sbo int) cute {
			return lay("((8,64),(%d,64)):((%d,%d),(%d,16))", 16/e, w, sbo, e)
		}}
}

var smemLayouts = []smemLayout{
	{code: 0, base: 4, shft: 3,
		mn: func(e, lbo, sbo int) cute {
			return lay("((%d,1,64),(8,64)):((%d,16,%d),(16,%d))", 16/e, e, sbo, lbo)
		},
		k: func(e, lbo, sbo int) cute {
			return lay("((8,64),(%d,64)):((16,%d),(%d,%d))", 16/e, sbo, e, lbo)
		}},
	smemLayoutOf(6, 32, 1),
	smemLayoutOf(4, 64, 2),
	smemLayoutOf(2, 128, 3),
	// Swizzle<2,5,2> of ((T,8,m),(4,k)):((1,T,LBO),(8T,SBO)), MN-major alone.
	{code: 1, bits: 2, base: 5, shft: 2,
		mn: func(e, lbo, sbo int) cute {
			return lay("((%d,8,64),(4,64)):((%d,16,%d),(128,%d))", 16/e, e, lbo, sbo)
		}},
}

// A smem is a matrix in shared memory by CuTe's layout.
type smem struct {
	smemLayout
	mn        bool
	elem      int // bytes from one element to the next
	width     int // bits of an element, which may be followed by padding
	start     int
	lbo, sbo  int
	canonical cute
	packed    bool // two elements of 4 bits a byte
}

func newSmem(l smemLayout, mn bool, f Format, start, lbo, sbo int) *smem {
	s := &smem{smemLayout: l, mn: mn, elem: widthOf[f] / 8, width: widthOf[f], start: start, lbo: lbo, sbo: sbo}
	switch f {
	case E2M3, E3M2:
		s.width = 6
	case E2M1:
		s.width = 4
	}
	layout := l.k
	if mn {
		layout = l.mn
	}
	s.canonical = layout(s.elem, lbo, sbo)
	return s
}

func (s *smem) desc() uint64 {
	return uint64(s.start>>4) | uint64(s.lbo>>4)<<16 | uint64(s.sbo>>4)<<32 | 1<<46 | s.code<<61
}

// bit is where an element (row of M or N, k) begins, in bits of the window.
func (s *smem) bit(row, k int) int {
	if s.packed {
		at := s.start + s.canonical.at(row, k/2)
		return swizzle(s.bits, s.base, s.shft, at)*8 + k%2*4
	}
	at := s.start + s.canonical.at(row, k)
	at = swizzle(s.bits, s.base, s.shft, at)
	if s.width < 8 { // sixteen follow each other, and then comes padding
		return at&^15*8 + at%16*s.width
	}
	return at * 8
}

// put writes an element.
func (s *smem) put(mem []byte, row, k int, x uint32) {
	at := s.bit(row, k)
	for i := range s.width {
		mem[(at+i)/8] = mem[(at+i)/8]&^(1<<((at+i)%8)) | byte(x>>i&1)<<((at+i)%8)
	}
}

// TestSmemLayouts gathers matrices that CuTe's layouts placed, of every format,
// swizzle and major-ness, and compares each element.
func TestSmemLayouts(t *testing.T) {
	s := source{rand.New(rand.NewPCG(6, 6))}
	for _, f := range []Format{F16, TF32, E4M3, E2M3, E2M1} {
		for _, l := range smemLayouts {
			for _, mn := range []bool{false, true} {
				if wide := l.code == 1; wide && !mn || mn && wide != (f == TF32) {
					continue // no such combination
				}
				const rows = 128
				k := 256 / widthOf[f]
				o := new(TCGen05).operand(f, rows, mn, k)
				lbo, sbo := 4096, 8192
				switch {
				case mn && l.code == 0:
					lbo, sbo = 16384, 256
				case mn:
					lbo, sbo = 1024, 16384
				}
				m := newSmem(l, mn, f, 2048+s.to(4)*16, lbo, sbo)
				mem := make([]byte, 1<<19)
				for i := range mem {
					mem[i] = byte(s.Uint64())
				}
				want := make([]byte, rows*32)
				for row := range rows {
					for i := range k {
						x := uint32(s.Uint64() & (1<<m.width - 1))
						m.put(mem, row, i, x)
						for b := range o.elem {
							want[row*32+i*o.elem+b] = byte(x >> (8 * b))
						}
					}
				}
				gather := func(d TensorDescriptor) string {
					raw, got := make([]byte, rows*32+16), make([]byte, rows*32)
					p, base := placeOf(d.canonical(), &o)
					p.read(raw, base, func(addr uint32, b []byte) { copy(b, mem[addr:]) })
					p.gather(got, raw, &o)
					return string(got)
				}
				d := TensorDescriptor(m.desc())
				if gather(d) != string(want) {
					t.Fatalf("format %d swizzle %d MN-major %v: elements lie elsewhere than CuTe has them", f, l.code, mn)
				}
				// Of the wrong swizzle, start, stride or major-ness other elements.
				wrong := []TensorDescriptor{d + 1, d + 1<<32, d&^(7<<61) | 2<<61, d &^ (7 << 61)}
				for i, w := range wrong {
					if w != d && gather(w) == string(want) {
						t.Errorf("format %d swizzle %d MN-major %v: wrong descriptor %d gathers the same", f, l.code, mn, i)
					}
				}
			}
		}
	}
}

// TestCanonicalExamples has the exact layouts that ISA 9.7.18.3.3 prints with
// their offsets, in elements.
func TestCanonicalExamples(t *testing.T) {
	for _, e := range []struct {
		name     string
		layout   cute
		elem     int // bytes
		mn       bool
		code     uint64
		bits     int // of the swizzle
		lbo, sbo uint64
	}{
		{"K-major, none, tf32", lay("((8,2),(4,4)):((4,32),(1,64))"), 4, false, 0, 0, 64 * 4, 32 * 4},
		{"K-major, 32B, tf32", lay("((8,2),(4,2)):((8,64),(1,4))"), 4, false, 6, 1, 0, 64 * 4},
		{"MN-major, none, bf16", lay("((8,1,2),(8,2)):((1,8,64),(8,128))"), 2, true, 0, 0, 128 * 2, 64 * 2},
		{"MN-major, 32B, bf16", lay("((8,2,2),(8,2)):((1,8,128),(16,256))"), 2, true, 6, 1, 128 * 2, 256 * 2},
		{"MN-major, 64B, bf16", lay("((8,4,2),(8,2)):((1,8,256),(32,512))"), 2, true, 4, 2, 256 * 2, 512 * 2},
	} {
		rows, k := e.layout.shape[0].size(), e.layout.shape[1].size()
		o := operand{rows: rows, width: k * e.elem, mn: e.mn, elem: e.elem}
		var want, got []int
		for row := 0; row < rows; row++ {
			for i := 0; i < k; i++ {
				if at := swizzle(e.bits, 4, 3, 4096+e.layout.at(row, i)*e.elem); at%16 == 0 {
					want = append(want, at)
				}
			}
		}
		d := TensorDescriptor(4096>>4 | e.lbo>>4<<16 | e.sbo>>4<<32 | 1<<46 | e.code<<61)
		d.canonical().chunks(&o, func(addr uint32) { got = append(got, int(addr)) })
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: chunks at %v, want %v", e.name, got, want)
		}
	}
}
