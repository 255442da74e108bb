package num

import "math"

func f64(b uint64) float64 { return math.Float64frombits(b) }

const sign64 = 1 << 63

func isNaN64(a uint64) bool { return a&^sign64 > 0x7ff<<52 }
func isInf64(a uint64) bool { return a&^sign64 == 0x7ff<<52 }

// nan64 is the NaN of an operation on a, b, c. The ISA does not say which; the
// H200 takes a NaN operand, b before c before a, and makes it quiet with sign and
// payload kept (internal/campaign: add.f64, mul.f64, fma.f64), and NaN64 where
// none is one.
func nan64(a, b, c uint64) uint64 {
	switch {
	case isNaN64(b):
		return b | 1<<51
	case isNaN64(c):
		return c | 1<<51
	case isNaN64(a):
		return a | 1<<51
	}
	return NaN64
}

func result64(x float64, a, b, c uint64) uint64 {
	if x != x {
		return nan64(a, b, c)
	}
	return math.Float64bits(x)
}

// AddRNF64 is add.rn.f64.
func AddRNF64(a, b uint64) uint64 { return result64(f64(a)+f64(b), a, b, 0) }

// SubRNF64 is sub.rn.f64. A NaN subtrahend keeps its sign, on the H200 too.
func SubRNF64(a, b uint64) uint64 { return result64(f64(a)-f64(b), a, b, 0) }

// AtomAddF64 is the addition of atom and red on global memory, whose unit on the
// H200 passes a NaN on as it is, quiet or not: the operand b before memory's a.
func AtomAddF64(a, b uint64) uint64 {
	switch {
	case isNaN64(b):
		return b
	case isNaN64(a):
		return a
	}
	return AddRNF64(a, b)
}

// MulRNF64 is mul.rn.f64.
func MulRNF64(a, b uint64) uint64 { return result64(f64(a)*f64(b), a, b, 0) }

// FmaRNF64 is fma.rn.f64.
func FmaRNF64(a, b, c uint64) uint64 {
	return result64(math.FMA(f64(a), f64(b), f64(c)), a, b, c)
}

func special64(x float64) bool { return x != x || math.IsInf(x, 0) }

// AddF64 is add{.rnd}.f64.
func AddF64(r Rounding, a, b uint64) uint64 {
	s := f64(a) + f64(b)
	if r == RN || s != s || isInf64(a) || isInf64(b) {
		return result64(s, a, b, 0)
	}
	return unpack64(a).add(unpack64(b), r).f64(r)
}

// SubF64 is sub{.rnd}.f64.
func SubF64(r Rounding, a, b uint64) uint64 {
	if r == RN || isNaN64(b) {
		return SubRNF64(a, b)
	}
	return AddF64(r, a, b^sign64)
}

// MulF64 is mul{.rnd}.f64.
func MulF64(r Rounding, a, b uint64) uint64 {
	p := f64(a) * f64(b)
	if r == RN || p != p || isInf64(a) || isInf64(b) {
		return result64(p, a, b, 0)
	}
	return unpack64(a).mul(unpack64(b)).f64(r)
}

// FmaF64 is fma.rnd.f64.
func FmaF64(r Rounding, a, b, c uint64) uint64 {
	if r == RN || isInf64(a) || isInf64(b) || isInf64(c) || isNaN64(a) || isNaN64(b) || isNaN64(c) {
		return FmaRNF64(a, b, c)
	}
	return unpack64(a).mul(unpack64(b)).add(unpack64(c), r).f64(r)
}

// DivF64 is div.rnd.f64.
func DivF64(r Rounding, a, b uint64) uint64 {
	q := f64(a) / f64(b)
	if r == RN || q != q || isInf64(a) || isInf64(b) || a<<1 == 0 || b<<1 == 0 {
		return result64(q, b, a, 0)
	}
	return unpack64(a).quo(unpack64(b)).f64(r)
}

// RcpF64 is rcp.rnd.f64.
func RcpF64(r Rounding, a uint64) uint64 {
	return DivF64(r, 0x3ff<<52, a)
}

// SqrtF64 is sqrt.rnd.f64.
func SqrtF64(r Rounding, a uint64) uint64 {
	q := math.Sqrt(f64(a))
	if r == RN || special64(q) || q == 0 {
		return result64(q, a, 0, 0)
	}
	return unpack64(a).sqrt().f64(r)
}

// NegF64 is neg.f64. The H200 makes a NaN quiet and keeps its sign, as an
// addition would.
func NegF64(a uint64) uint64 {
	if isNaN64(a) {
		return a | 1<<51
	}
	return a ^ sign64
}

// AbsF64 is abs.f64. The ISA passes a NaN unchanged; the H200 makes it quiet.
func AbsF64(a uint64) uint64 {
	if isNaN64(a) {
		return a | 1<<51
	}
	return a &^ sign64
}

// CopySignF64 is copysign.f64: the magnitude of b with the sign of a.
func CopySignF64(a, b uint64) uint64 { return b&^sign64 | a&sign64 }

// MinF64 is min.f64.
func MinF64(a, b uint64) uint64 { return pick64(a, b, false) }

// MaxF64 is max.f64.
func MaxF64(a, b uint64) uint64 { return pick64(a, b, true) }

// pick64: of two NaNs the H200 gives the second, made quiet.
func pick64(a, b uint64, max bool) uint64 {
	nanA, nanB := isNaN64(a), isNaN64(b)
	switch {
	case nanA && nanB:
		return b | 1<<51
	case nanA:
		return b
	case nanB:
		return a
	case (order64(a) < order64(b)) == max:
		return b
	}
	return a
}

func order64(a uint64) int64 { return int64(a) ^ int64(uint64(int64(a)>>63)>>1) }

// TestpF64 is testp.op.f64.
func TestpF64(op Testp, a uint64) bool {
	abs := a &^ sign64
	return testp(op, isInf64(a), isNaN64(a), abs != 0 && abs < 1<<52)
}
