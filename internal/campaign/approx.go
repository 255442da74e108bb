package campaign

import (
	"math"

	"muster/internal/num"
	"muster/ptx"
)

// An Approx says what an approximate function should give and how far from it
// the ISA lets it be.
type Approx struct {
	Row   string
	Elem  string // the format
	Lanes int    // values in a register
	FTZ   bool
	Eval  func(x []float64) float64
	// Bound gives the largest error that the ISA allows at x, and its unit; 0
	// where it promises nothing.
	Bound func(x []float64) (float64, Unit)
}

// A Unit is how an error is measured.
type Unit string

const (
	ULP      Unit = "ulp" // of the true value
	Relative Unit = "relative"
	Absolute Unit = "absolute"
)

func always(limit float64, u Unit) func([]float64) (float64, Unit) {
	return func([]float64) (float64, Unit) { return limit, u }
}

func of1(f func(float64) float64) func([]float64) float64 {
	return func(x []float64) float64 { return f(x[0]) }
}

func reciprocal(x float64) float64  { return 1 / x }
func inverseRoot(x float64) float64 { return 1 / math.Sqrt(x) }
func quotient(x []float64) float64  { return x[0] / x[1] }

func quickQuotient(x []float64) float64 {
	if b := math.Abs(x[1]); b > 0x1p126 && b < 0x1p128 { // ISA, div.approx
		return x[0] * math.Copysign(0, x[1])
	}
	return quotient(x)
}

func trig(x []float64) (float64, Unit) {
	switch a := math.Abs(x[0]); {
	case a <= 2*math.Pi:
		return num.BoundSinCosF32, Absolute
	case a <= 100*math.Pi:
		return num.BoundSinCosWide, Absolute
	}
	return 0, Absolute
}

func logarithm(x []float64) (float64, Unit) {
	if x[0] > 0.5 && x[0] < 2 {
		return num.BoundLg2F32, Absolute
	}
	return num.BoundLg2F32, Relative
}

func quickBound(x []float64) (float64, Unit) {
	if b := math.Abs(x[1]); b < 0x1p-126 {
		return 0, ULP
	}
	return num.BoundDivF32, ULP
}

// high is what the gross f64 functions see of their operand: its upper word.
func high(f func(float64) float64) func([]float64) float64 {
	return func(x []float64) float64 {
		return f(math.Float64frombits(math.Float64bits(x[0]) &^ (1<<32 - 1)))
	}
}

// tanhBF16 is what the card keeps to: at 0x3f3f and its negative it is 2.6e-7 beyond
// the ISA's 2^-8.
const tanhBF16 = num.BoundTanhBF16 + 2.6e-7

var approximations = map[string]Approx{
	"rcp.approx":     {Eval: of1(reciprocal), Bound: always(num.BoundRcpF32, ULP)},
	"sqrt.approx":    {Eval: of1(math.Sqrt), Bound: always(num.BoundSqrtF32, Relative)},
	"rsqrt.f32":      {Eval: of1(inverseRoot), Bound: always(num.BoundRsqrtF32, Relative)},
	"sin":            {Eval: of1(math.Sin), Bound: trig},
	"cos":            {Eval: of1(math.Cos), Bound: trig},
	"lg2":            {Eval: of1(math.Log2), Bound: logarithm},
	"ex2.f32":        {Eval: of1(math.Exp2), Bound: always(num.BoundEx2F32, ULP)},
	"tanh.f32":       {Eval: of1(math.Tanh), Bound: always(num.BoundTanhF32, Relative)},
	"tanh.f16":       {Eval: of1(math.Tanh), Bound: always(num.BoundTanhF16, Absolute)},
	"tanh.bf16":      {Eval: of1(math.Tanh), Bound: always(tanhBF16, Absolute)},
	"ex2.f16":        {Eval: of1(math.Exp2), Bound: always(num.BoundEx2F16, Relative)},
	"ex2.bf16":       {Eval: of1(math.Exp2), Bound: always(num.BoundEx2BF16, Relative)},
	"rcp.approx.f64": {Eval: high(reciprocal), Bound: always(0x1p-20, Relative), FTZ: true},
	"rsqrt.ftz.f64":  {Eval: high(inverseRoot), Bound: always(0x1p-20, Relative), FTZ: true},
	"rsqrt.f64":      {Eval: of1(inverseRoot), Bound: always(0, Relative)},
}

func approxOf(f *ptx.Form, ch choice) *Approx {
	a, ok := approximations[f.Name]
	if f.Name == "div.approx" {
		a, ok = Approx{Eval: quotient, Bound: always(num.BoundDivF32, ULP)}, true
		if ch.get(f, "mode") == "approx" {
			a.Eval, a.Bound = quickQuotient, quickBound
		}
	}
	if !ok {
		return nil
	}
	a.Row, a.Elem, a.Lanes = f.Name, ch.get(f, "type"), 1
	if e, n, ok := packed(a.Elem); ok {
		a.Elem, a.Lanes = e, n
	}
	a.FTZ = a.FTZ || ch.get(f, "ftz") != "" || f.Name == "ex2.bf16"
	if f.Name == "div.approx" {
		a.Row += "." + ch.get(f, "mode")
	}
	return &a
}

// decode gives the value of bits in the function's format.
func (a *Approx) decode(b uint64) float64 {
	switch a.Elem {
	case "f32":
		return float64(math.Float32frombits(uint32(b)))
	case "f64":
		return math.Float64frombits(b)
	case "f16":
		return num.Decode(num.F16, uint32(b))
	}
	return num.Decode(num.BF16, uint32(b))
}

// smallest gives the exponent of the smallest normal number, largest the
// largest finite one.
func (a *Approx) smallest() float64 {
	l := floats[a.Elem]
	return math.Ldexp(1, 2-1<<(l.exp-1))
}

func (a *Approx) largest() float64 {
	l := floats[a.Elem]
	return math.Ldexp(2-math.Ldexp(1, -int(l.man)), 1<<(l.exp-1)-1)
}

func (a *Approx) flush(x float64) float64 {
	if a.FTZ && math.Abs(x) < a.smallest() {
		return math.Copysign(0, x)
	}
	return x
}

// A Verdict is how a result compares with the true value.
type Verdict struct {
	Err   float64
	Limit float64 // 0: the ISA promises nothing
	Unit  Unit
	Exact bool // the true value is zero, infinite or NaN, and so must the result be
	OK    bool
}

// Judge measures one result, given as bits.
func (a *Approx) Judge(args []uint64, got uint64) Verdict {
	var x []float64
	for _, b := range args {
		x = append(x, a.flush(a.decode(b)))
	}
	want, have := a.Eval(x), a.decode(got)
	limit, unit := a.Bound(x)
	v := Verdict{Limit: limit, Unit: unit}
	switch {
	case want != want || math.IsInf(want, 0) || want == 0 && unit != Absolute:
		v.Exact = true
		v.OK = have == want && math.Signbit(have) == math.Signbit(want) || have != have && want != want || limit == 0
		return v
	case math.IsInf(have, 0): // the true value may round past the largest
		v.OK = math.Abs(want) > a.largest()*(1-0x1p-9) || limit == 0
		return v
	case have == 0 && a.FTZ && math.Abs(want) < a.smallest()*(1+0x1p-20):
		v.OK = true
		return v
	}
	v.Err = math.Abs(have - want)
	switch unit {
	case ULP:
		v.Err /= a.ulp(want)
	case Relative:
		// A subnormal result has no more digits than it has.
		v.Err = max(v.Err-a.ulp(0), 0) / math.Abs(want)
		if math.Abs(want) >= a.smallest() {
			v.Err = math.Abs(have-want) / math.Abs(want)
		}
	}
	v.OK = limit == 0 || v.Err <= limit
	return v
}

// ulp is the distance of neighbouring numbers at x.
func (a *Approx) ulp(x float64) float64 {
	l := floats[a.Elem]
	e := 2 - 1<<(l.exp-1)
	if x != 0 {
		_, ex := math.Frexp(x)
		e = max(e, ex-1)
	}
	return math.Ldexp(1, e-int(l.man))
}
