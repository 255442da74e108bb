package launch

import (
	"fmt"
	"math"
	"math/bits"
)

// Random describes pseudo-random contents: the same bytes for the same seed on
// every machine.
//
// The stream is SplitMix64 (Steele, Lea, Flood, 2014): element i comes from
// the i-th output, x, of the generator seeded with Seed. A float is
// Low + (x>>11)·2^-53·(High-Low) in f64 with each step rounded, then rounded
// to its type; so High itself can appear only by rounding. An integer is
// Low + floor(x·n / 2^64) with n = High-Low+1: both ends are included, and the
// bias is below n/2^64.
type Random struct {
	Seed      uint64
	Low, High float64
}

// splitMix64 is output i, from 0, of the generator.
func splitMix64(seed, i uint64) uint64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// check returns why type t cannot hold the range, or "".
func (r Random) check(t Type) string {
	if t.IsFloat() {
		largest := t.info().float.decode(t.info().float.maxFinite)
		if math.Abs(r.Low) > largest || math.Abs(r.High) > largest || math.IsInf(r.High-r.Low, 0) {
			return fmt.Sprintf("random from %v to %v does not fit %s", r.Low, r.High, t)
		}
		return ""
	}
	if r.Low != math.Trunc(r.Low) || r.High != math.Trunc(r.High) {
		return fmt.Sprintf("low and high must be integers for %s", t)
	}
	lo, hi := 0.0, math.Ldexp(1, t.bits())
	if t.info().class == signedClass {
		lo, hi = -hi/2, hi/2
	}
	if r.Low < lo || r.High >= hi {
		return fmt.Sprintf("random from %v to %v does not fit %s", r.Low, r.High, t)
	}
	return ""
}

// element encodes element i. The conversions to float64 prevent a fused multiply-add,
// which would round once.
func (r Random) element(t Type, i uint64) uint64 {
	x := splitMix64(r.Seed, i)
	if t.IsFloat() {
		u := float64(x>>11) * 0x1p-53
		v := r.Low + float64(u*(r.High-r.Low))
		return t.info().float.encode(v)
	}
	low := integerBits(r.Low)
	n := integerBits(r.High) - low + 1
	if n == 0 { // the whole range of 64 bits
		return x
	}
	hi, _ := bits.Mul64(x, n)
	return (low + hi) & t.mask()
}

// integerBits converts an integral float64 of any sign to two's complement.
func integerBits(v float64) uint64 {
	if v < 0 {
		return -uint64(-v)
	}
	return uint64(v)
}
