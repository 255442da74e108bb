package product

import (
	"fmt"
	"math"

	"muster/internal/tensor"
)

// A Format is one of binary floating-point numbers.
type Format struct {
	Name  string
	Bytes int
	exp   int // bits of the exponent
	frac  int // bits of the fraction
	// spare are the low bits of an element that a unit does not read.
	spare int
	// finite: there is no infinity, and the largest exponent has numbers.
	finite bool
	of     tensor.Format
}

// The formats.
var (
	F16  = &Format{Name: "f16", Bytes: 2, exp: 5, frac: 10, of: tensor.F16}
	BF16 = &Format{Name: "bf16", Bytes: 2, exp: 8, frac: 7, of: tensor.BF16}
	F32  = &Format{Name: "f32", Bytes: 4, exp: 8, frac: 23, of: tensor.F32}
	TF32 = &Format{Name: "tf32", Bytes: 4, exp: 8, frac: 10, spare: 13, of: tensor.TF32}
	E4M3 = &Format{Name: "e4m3", Bytes: 1, exp: 4, frac: 3, finite: true, of: tensor.E4M3}
	E5M2 = &Format{Name: "e5m2", Bytes: 1, exp: 5, frac: 2, of: tensor.E5M2}
)

// FormatOf returns the format of a name.
func FormatOf(name string) (*Format, error) {
	for _, f := range []*Format{F16, BF16, F32, TF32, E4M3, E5M2} {
		if f.Name == name {
			return f, nil
		}
	}
	return nil, fmt.Errorf("no format is called %q", name)
}

// least is the exponent of the smallest normal number.
func (f *Format) least() int { return 2 - 1<<(f.exp-1) }

// Value is the number of an element.
func (f *Format) Value(x uint32) float64 {
	x >>= f.spare
	frac := x & (1<<f.frac - 1)
	e := int(x >> f.frac & (1<<f.exp - 1))
	sign := 1 - 2*float64(x>>(f.exp+f.frac)&1)
	switch {
	case e == 1<<f.exp-1 && !f.finite && frac != 0, e == 1<<f.exp-1 && f.finite && frac == 1<<f.frac-1:
		return math.NaN()
	case e == 1<<f.exp-1 && !f.finite:
		return sign * math.Inf(1)
	case e == 0:
		return sign * math.Ldexp(float64(frac), f.least()-f.frac)
	}
	return sign * math.Ldexp(float64(frac|1<<f.frac), f.least()+e-1-f.frac)
}

// unit is the distance of numbers of the format near v.
func (f *Format) unit(v float64) float64 {
	return power(max(exponent(v), f.least()) - f.frac)
}

// Nearest rounds to nearest even; past the largest number of a format without infinity to
// that number, as .satfinite does.
func (f *Format) Nearest(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	u := f.unit(v)
	r := math.RoundToEven(v/u) * u
	switch most := f.most(); {
	case math.Abs(r) <= most:
		return r
	case f.finite:
		return math.Copysign(most, r)
	}
	return math.Inf(int(math.Copysign(1, r)))
}

// most is the largest number.
func (f *Format) most() float64 {
	if f.finite { // all ones are NaN
		return math.Ldexp(2-math.Ldexp(2, -f.frac), 2-f.least())
	}
	return math.Ldexp(2-math.Ldexp(1, -f.frac), 1-f.least())
}

// Cut rounds toward zero.
func (f *Format) Cut(v float64) float64 { return cut(v, f.unit(v)) }

// cut is the next multiple of u toward zero. u is a power of two.
func cut(v, u float64) float64 {
	if v == 0 {
		return 0
	}
	return math.Trunc(v/u) * u
}

// exponent is that of v's first bit, and far below all others for zero.
func exponent(v float64) int {
	if v == 0 {
		return nothing
	}
	if e := int(math.Float64bits(v) >> 52 & 0x7ff); e > 0 {
		return e - 1023
	}
	_, e := math.Frexp(v)
	return e - 1
}

// power is 2^e.
func power(e int) float64 {
	if e > -1023 && e < 1024 {
		return math.Float64frombits(uint64(e+1023) << 52)
	}
	return math.Ldexp(1, e)
}

const nothing = -1 << 20

// A number is an operand's element.
type number struct {
	v   float64
	exp int32 // as the unit counts it: a subnormal's is the smallest normal's
	low int32 // of its lowest bit
}

func (f *Format) number(x uint32) number {
	v := f.Value(x)
	n := number{v: v, exp: int32(max(exponent(v), f.least()))}
	if v != 0 {
		m, e := math.Frexp(v)
		bits := int64(math.Ldexp(math.Abs(m), 53))
		n.low = int32(e - 53)
		for ; bits&1 == 0; bits >>= 1 {
			n.low++
		}
	}
	return n
}
