package tensor

import (
	"fmt"
	"slices"
)

// mma.sync with a kind, of sm_120 (ISA 9.7.14.5.14, 9.7.14.6.3). Fragments are those of the
// integers of the same width: of u8 for the kinds f8f6f4 and mxf8f6f4, whose elements are in
// bytes, of u4 for mxf4 and mxf4nvf4. In a byte, e2m1 has the four bits in the middle, e2m3
// and e3m2 the six low ones.
//
// With block scales (9.7.14.3) a row of A and a column of B have a byte for each chunk of K: one,
// two or four, from byte-id on of a register of one lane of their four. Of row m that is lane
// 4·(m mod 8) + m/8 + 2·thread-id, of column n lane 4n + thread-id. The ISA shows it in figures;
// CuTe has it as SFALayout and SFBLayout (mma_traits_sm120.hpp).

// containers are the formats whose elements lie in bytes, by their first bit and their bits.
var containers = map[string]struct {
	format     Format
	shift, len uint
}{"e4m3": {E4M3, 0, 8}, "e5m2": {E5M2, 0, 8}, "e3m2": {E3M2, 0, 6}, "e2m3": {E2M3, 0, 6}, "e2m1": {E2M1, 2, 4}}

// A kindText is what the text of an mma with a kind says besides its shape and types.
type kindText struct {
	kind   string
	blocks bool
	scale  string // as in "2X"
	stype  string
}

// scaleForms has the forms of the kinds with block scales: the factors of a row, and their
// format.
var scaleForms = map[string][]struct {
	factors int
	scale   ScaleFormat
}{"mxf8f6f4": {{1, UE8M0}}, "mxf4": {{2, UE8M0}}, "mxf4nvf4": {{2, UE8M0}, {4, UE8M0}, {4, UE4M3}}}

// kinds sets what follows from a kind and the types of D, A, B and C.
func (w *WarpMMA) kinds(k kindText, types, layouts []string) error {
	packed := k.kind == "mxf4" || k.kind == "mxf4nvf4"
	depth, bits := 32, uint(8)
	if packed {
		depth, bits = 64, 4
	}
	if w.Sparse {
		depth *= 2
	}
	x, okA := containers[types[1]]
	y, okB := containers[types[2]]
	wide := types[0] == "f32" && types[3] == "f32"
	half := types[0] == "f16" && types[3] == "f16" && k.kind == "f8f6f4"
	if !okA || !okB || packed && (x.format != E2M1 || y.format != E2M1) || !wide && !half ||
		w.M != 16 || w.N != 8 || w.K != depth || layouts[0] != "row" || layouts[1] != "col" {
		return ErrNotMMA
	}
	w.a, w.b = elem{bits: bits, float: true, format: x.format}, elem{bits: bits, float: true, format: y.format}
	if !packed {
		w.fromA, w.fromB = container{x.shift, uint32(1)<<x.len - 1}, container{y.shift, uint32(1)<<y.len - 1}
	}
	acc := F32
	w.cbits, w.dbits = 32, 32
	if half {
		acc, w.cbits, w.dbits = F16, 16, 16
	}
	w.fragments(layouts)
	if k.kind == "f8f6f4" {
		if k.blocks {
			return ErrNotMMA
		}
		w.rule = NewRule(acc, x.format, y.format, wholeSum)
		return nil
	}
	return w.scales(k, packed)
}

// scales sets what follows from the factors.
func (w *WarpMMA) scales(k kindText, packed bool) error {
	forms := scaleForms[k.kind]
	if !k.blocks || k.scale == "" && len(forms) > 1 {
		return ErrNotMMA
	}
	for _, f := range forms {
		if (k.scale == "" || k.scale == fmt.Sprint(f.factors, "X")) && k.stype == f.scale.String() {
			w.Factors, w.scale = f.factors, f.scale
			w.scaled = ScaledRuleFor(w.a.format, w.b.format, packed, f.scale, w.columns/f.factors)
			w.rule = w.scaled.rule
			return nil
		}
	}
	return ErrNotMMA
}

// A container is where an element lies in a byte. The zero container is the whole of it.
type container struct {
	shift uint
	mask  uint32
}

// open takes elements out of their bytes.
func (c container) open(v []uint32) {
	if c.mask == 0 {
		return
	}
	for i := range v {
		v[i] = v[i] >> c.shift & c.mask
	}
}

// MMAScales holds the factors of A and B: a register of each lane of a warp, and the selectors that
// name the bytes, and the lanes of each four, that are taken.
type MMAScales struct {
	A, B           *[32]uint32
	ByteA, ThreadA int
	ByteB, ThreadB int
}

// Check returns an error if the ISA does not define a selector's value.
func (w *WarpMMA) Check(s *MMAScales) error {
	bytes, want := []int{0, 1, 2, 3}, "0 to 3 are"
	switch w.Factors {
	case 2:
		bytes, want = []int{0, 2}, "0 and 2 are"
	case 4:
		bytes, want = []int{0}, "0 alone is"
	}
	for _, c := range []struct {
		name string
		is   int
		may  []int
		want string
	}{
		{"byte-id-a", s.ByteA, bytes, fmt.Sprintf("%s defined with %d factors", want, w.Factors)}, {"byte-id-b", s.ByteB, bytes, fmt.Sprintf("%s defined with %d factors", want, w.Factors)},
		{"thread-id-a", s.ThreadA, []int{0, 1}, "0 and 1 are defined"}, {"thread-id-b", s.ThreadB, []int{0, 1, 2, 3}, "0 to 3 are defined"},
	} {
		if !slices.Contains(c.may, c.is) {
			return fmt.Errorf("%s is %d, where %s (ISA 9.7.14.3)", c.name, c.is, c.want)
		}
	}
	return nil
}

// FactorA is where the first factor of a row of A is: a lane, and a byte of its register.
func (s *MMAScales) FactorA(row int) (lane, at int) {
	return row%8*4 + row/8 + 2*s.ThreadA, s.ByteA
}

// FactorB is the same of a column of B.
func (s *MMAScales) FactorB(column int) (lane, at int) { return column*4 + s.ThreadB, s.ByteB }

func factorBytes(from *[32]uint32, lane, at, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(from[lane] >> (8 * (at + i)))
	}
	return b
}

// RunScaled is Run with block scales.
func (w *WarpMMA) RunScaled(d, a, b, c []*[32]uint32, meta *[32]uint32, selector int, scales *MMAScales) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	w.unpack(s, a, b, c)
	if w.Sparse {
		w.meets(s.met[:], meta, selector)
	}
	for i := range w.M {
		s.va.reset()
		for _, x := range s.a[i*w.columns:][:w.columns] {
			w.scaled.AppendA(&s.va, x)
		}
		lane, at := scales.FactorA(i)
		sa := factorBytes(scales.A, lane, at, w.Factors)
		for j := range 8 {
			s.vb.reset()
			for n := range w.columns {
				k := n
				if w.Sparse {
					k = int(s.met[i*w.columns+n])
				}
				w.scaled.AppendB(&s.vb, s.b[j*w.K+k])
			}
			lane, at := scales.FactorB(j)
			e := &s.c[8*i+j]
			*e = w.scaled.Dot(*e, &s.va, &s.vb, sa, factorBytes(scales.B, lane, at, w.Factors))
		}
	}
	pack(d, &w.D, w.dbits, s.c[:], 8)
}
