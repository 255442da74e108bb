package num

// Cmp is a comparison as the set of relations in which it holds: exactly one of
// less, equal, greater and unordered is true of any two numbers. The integer
// names lo, ls, hi and hs are LT, LE, GT and GE on unsigned values.
type Cmp uint8

const (
	less Cmp = 1 << iota
	equal
	greater
	unordered
)

const (
	EQ  = equal
	NE  = less | greater
	LT  = less
	LE  = less | equal
	GT  = greater
	GE  = greater | equal
	EQU = EQ | unordered
	NEU = NE | unordered
	LTU = LT | unordered
	LEU = LE | unordered
	GTU = GT | unordered
	GEU = GE | unordered
	NUM = less | equal | greater
	NAN = unordered
)

// relation works for float32 and float64; every comparison with NaN is false.
func relation[T float32 | float64](a, b T) Cmp {
	switch {
	case a < b:
		return less
	case a == b:
		return equal
	case a > b:
		return greater
	}
	return unordered
}

// F32 compares f32 bits, with FTZ after flushing subnormals.
func (c Cmp) F32(m Mod, a, b uint32) bool {
	return c&relation(f32(m.in32(a)), f32(m.in32(b))) != 0
}

// F64 compares f64 bits.
func (c Cmp) F64(a, b uint64) bool { return c&relation(f64(a), f64(b)) != 0 }

// F16 compares f16 bits, with FTZ after flushing subnormals.
func (c Cmp) F16(m Mod, a, b uint16) bool {
	return c&relation(f16Float(m.in16(a)), f16Float(m.in16(b))) != 0
}

// BF16 compares bf16 bits.
func (c Cmp) BF16(a, b uint16) bool { return c&relation(bf16Float(a), bf16Float(b)) != 0 }

// U64 compares unsigned integers of any width, zero-extended. On integers NE
// and NEU agree, as do the other pairs.
func (c Cmp) U64(a, b uint64) bool {
	switch {
	case a < b:
		return c&less != 0
	case a > b:
		return c&greater != 0
	}
	return c&equal != 0
}

// S64 compares signed integers of any width, sign-extended.
func (c Cmp) S64(a, b int64) bool { return c.U64(uint64(a)^sign64, uint64(b)^sign64) }

// SlctF32 reports whether slct.f32 takes its first operand: c ≥ 0, where -0
// counts as 0 and NaN does not pass (ISA, slct).
func SlctF32(m Mod, c uint32) bool { return f32(m.in32(c)) >= 0 }
