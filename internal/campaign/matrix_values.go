package campaign

import "fmt"

// Fragments for the matrix instructions.

// A matrixType is a type of elements: its width, and the bits of exponent and
// fraction of a float.
type matrixType struct{ bits, exp, frac int }

var matrixTypes = map[string]matrixType{
	"f16": {16, 5, 10}, "bf16": {16, 8, 7}, "tf32": {32, 8, 23}, "f32": {32, 8, 23}, "f64": {64, 11, 52}, "e4m3": {8, 4, 3}, "e5m2": {8, 5, 2},
	"s8": {8, 0, 0}, "u8": {8, 0, 0}, "s4": {4, 0, 0}, "u4": {4, 0, 0}, "b1": {1, 0, 0}, "s32": {32, 0, 0},
}

func (t matrixType) float() bool { return t.exp > 0 }

func (t matrixType) mask() uint64 { return 1<<(t.bits-1)<<1 - 1 }

// compose makes a float of its parts. An exponent beyond the largest finite one
// becomes that, unless it is all ones.
func (t matrixType) compose(sign uint64, exp int, frac uint64) uint64 {
	top := 1<<t.exp - 1
	if exp != top {
		exp = max(0, min(exp, top-1))
	}
	return sign&1<<(t.bits-1) | uint64(exp)<<t.frac | frac&(1<<t.frac-1)
}

func (t matrixType) bias() int { return 1<<(t.exp-1) - 1 }

// number is an element that differs from those with other small i, for as many
// as the type has.
func (t matrixType) number(i int) uint64 {
	if !t.float() {
		return uint64(i+1) & t.mask()
	}
	at := i & (1<<min(t.frac, 10) - 1)
	v := t.compose(uint64(i>>min(t.frac, 10)&1), t.bias()+i>>min(t.frac, 10)>>1&3, uint64(at)<<(t.frac-min(t.frac, 10)))
	return v
}

// one is the element that leaves a product as it is.
func (t matrixType) one() uint64 {
	if t.float() {
		return t.compose(0, t.bias(), 0)
	}
	return 1
}

// element draws an operand's element.
func (t matrixType) element(s *source, fam family, warp int) uint64 {
	v := s.next()
	if !t.float() {
		return t.integer(s, fam, v)
	}
	around := func(width int) int { return t.bias() - width/2 + s.n(width+1) }
	switch fam {
	case near:
		return t.compose(v>>63, around([]int{2, 4, 12, 24}[warp%4]), v)
	case spread:
		if s.n(5) == 0 {
			return t.compose(v>>63, 0, 0)
		}
		return t.compose(v>>63, s.n(1<<t.exp-1), v)
	case edge:
		return t.edge(s, v, warp)
	}
	if v&t.mask()>>t.frac&(1<<t.exp-1) == 1<<t.exp-1 && warp%4 != 0 {
		v ^= 1 << t.frac // no infinity or NaN, which hide all others
	}
	return v & t.mask()
}

func (t matrixType) edge(s *source, v uint64, warp int) uint64 {
	top := 1<<t.exp - 1
	switch warp % 4 {
	case 0:
		return t.compose(v>>63, s.n(3)*s.n(t.bias()), v)
	case 1:
		return t.compose(v>>63, top-1-s.n(3)*s.n(3), v)
	case 2:
		if s.n(3) == 0 {
			return t.compose(v>>63, 0, 0)
		}
		return t.compose(v>>63, t.bias()-20+s.n(40), 0)
	}
	switch s.n(48) {
	case 0:
		return t.compose(v>>63, top, 0)
	case 1:
		return t.compose(v>>63, top, v)
	case 2, 3, 4:
		return t.compose(v>>63, 0, v)
	case 5, 6, 7, 8:
		return t.compose(v>>63, 0, 0)
	}
	return t.compose(v>>63, t.bias()-3+s.n(7), v)
}

func (t matrixType) integer(s *source, fam family, v uint64) uint64 {
	top := uint64(1) << (t.bits - 1)
	switch {
	case t.bits == 32 && fam == near:
		return v % 100000
	case t.bits == 32 && fam == edge:
		return (top - 20000 + v%40000) & t.mask() // past either limit
	case fam == edge:
		return []uint64{0, top, top - 1, t.mask()}[s.n(4)]
	case fam == near && t.bits > 1:
		return (v%7 - 3) & t.mask()
	}
	return v & t.mask()
}

// accumulator draws an element of C.
func (t matrixType) accumulator(s *source, fam family, warp int) uint64 {
	if t.float() && fam == near {
		v := s.next()
		return t.compose(v>>63, t.bias()-20+s.n(41), v)
	}
	return t.element(s, fam, warp)
}

// fillMMA makes the operands of an mma.
func fillMMA(c *Case, fam family, kinds []operandKind) []byte {
	buf := make([]byte, sizeOf(c.In))
	for warp := range wholeWarps {
		s := newSource(fmt.Sprint(c.Name, " warp ", warp))
		for lane := range 32 {
			var before uint64
			for n, a := range c.In {
				v := kinds[n].value(s, fam, warp, lane, before)
				before = v
				putBits(buf[a.Offset+(32*warp+lane)*a.Size:], a.Size, v)
			}
		}
	}
	return buf
}

// value makes one register. before is the one that the lane got before it.
func (k *operandKind) value(s *source, fam family, warp, lane int, before uint64) uint64 {
	if k.role == 'e' && fam == wild {
		return s.next() & 0xffffffff
	}
	if k.role == 'e' {
		return k.indices(s)
	}
	if fam == wild {
		fam = near
	}
	t := matrixTypes[k.typ]
	size := max(32, t.bits)
	per := size / t.bits
	if fam == places {
		return k.places(t, per, warp, lane)
	}
	if k.role == 'c' {
		per := size / t.bits
		var v uint64
		for i := range per {
			v |= t.accumulator(s, fam, warp) << (i * t.bits)
		}
		return v
	}
	var v, last uint64
	for i := range per {
		x := t.element(s, fam, warp)
		if fam == spread && t.float() && warp%2 == 0 && i%2 == 1 {
			// A pair of products that cancel, but for a bit now and then.
			x = last
			if k.role == 'a' {
				flip := s.next()
				flip &= s.next()
				x ^= 1<<(t.bits-1) ^ flip&1
			}
		}
		last = x
		v |= x << (i * t.bits)
	}
	if per == 1 && fam == spread && t.float() && warp%2 == 0 && k.reg >= k.regs/2 && k.regs > 1 {
		v = before ^ 1<<(t.bits-1)
	}
	return v
}

// places makes a register of the family of that name: in even warps A has a
// single one, in odd warps B.
func (k *operandKind) places(t matrixType, per, warp, lane int) uint64 {
	if k.role == 'c' {
		var v uint64
		for i := range per {
			v |= t.number((lane*k.regs+k.reg)*per+i) << (i * t.bits)
		}
		return v
	}
	if (k.role == 'a') == (warp%2 == 0) {
		at := (warp*37 + 11) % (32 * k.regs * per)
		at -= (lane*k.regs + k.reg) * per
		if at < 0 || at >= per {
			return 0
		}
		return t.one() << (at * t.bits)
	}
	var v uint64
	for i := range per {
		v |= t.number((lane*k.regs+k.reg)*per+i+warp) << (i * t.bits)
	}
	return v
}

// indices makes metadata that the ISA gives a meaning.
func (k *operandKind) indices(s *source) (v uint64) {
	list := []uint64{0x4, 0x8, 0x9, 0xc, 0xd, 0xe}
	switch {
	case k.typeA == "tf32":
		list = []uint64{0x4, 0xe}
	case k.sp:
		list = append(list, 0x1, 0x2, 0x6, 0x3, 0x7, 0xb)
	}
	for i := range 8 {
		v |= s.pick(list) << (4 * i)
	}
	return v
}

// fillRows makes the input of the instructions that only move: what is stored,
// and which row a lane names. No two lanes name one row, so that what stmatrix
// leaves is determined; lanes that name none have random bits.
func fillRows(c *Case, fam family) []byte {
	buf := make([]byte, sizeOf(c.In))
	for warp := range wholeWarps {
		s := newSource(fmt.Sprint(c.Name, " warp ", warp))
		rows := permutation(s, matrixRows)
		n := 0
		for i, a := range c.In {
			for lane := range 32 {
				v := s.next()
				switch {
				case a.Kind == "row" && lane < namedRows(c.Text):
					v = uint64(rows[n])
					n++
				case a.Kind == "m" && fam == places:
					v = uint64(2*(lane*len(c.In)+i))*0x10001 + 0x10000
				}
				putBits(buf[a.Offset+(32*warp+lane)*a.Size:], a.Size, v)
			}
		}
	}
	return buf
}

func namedRows(text string) int {
	return map[string]int{"x1": 8, "x2": 16, "x4": 32}[numOf(text)]
}

func permutation(s *source, n int) []int {
	list := make([]int, n)
	for i := range list {
		j := s.n(i + 1)
		list[i] = list[j]
		list[j] = i
	}
	return list
}
