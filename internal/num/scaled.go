package num

import "math/bits"

// Conversions that take more than a value: a scale, or random bits (ISA 9.7.9.21).

// CvtUnpackScaled2 is cvt.rn{.relu}{.satfinite}.scaled::n2::ue8m0.bf16x2 from a pair of small
// floats of type src: each element times the power of two that the same byte of scale holds.
// The product is rounded once, since every element is a bf16 exactly. A scale of 0xff, which
// is NaN, makes its element NaN.
func CvtUnpackScaled2(src Type, m Mod, v, scale uint32) uint32 {
	n := slot(src)
	one := func(b, s uint32) uint16 {
		x := Decode(src, b&(1<<n-1)) * Decode(UE8M0, s&0xff)
		if x != x {
			return NaN16
		}
		return m.outBF16(uint16(Encode(BF16, RN, m, x)))
	}
	return pair(one(v>>n, scale>>8), one(v, scale))
}

// randomBits is how many random bits a conversion to f16 or bf16 adds to the bits that it
// discards: as many as a normal number loses.
func randomBits(t Type) uint {
	if t == F16 {
		return 13
	}
	return 16
}

// CvtStochastic is cvt.rs{.relu}{.satfinite} of one f32 to f16 or bf16: the magnitude is
// rounded away from zero if the sum of the discarded bits and the random ones carries out.
//
// Open: the ISA does not say which discarded bits the random ones are added to where more
// are discarded, for a subnormal result. Chosen: the highest, as for a normal one. Beyond
// the largest number the result is infinity, as for .rn.
func CvtStochastic(t Type, m Mod, v, random uint32) uint16 {
	f := &layouts[t]
	n := randomBits(t)
	random &= 1<<n - 1
	sign := uint32(v>>31) << 15
	abs := v &^ (1 << 31)
	switch {
	case abs > 0x7f800000:
		return NaN16
	case m&Relu != 0 && sign != 0:
		return 0
	case abs == 0x7f800000:
		if m&SatFinite != 0 {
			return uint16(sign | f.max)
		}
		return uint16(sign | f.inf)
	}
	code := f.stochastic(abs, uint64(random), n)
	if code > f.max {
		code = f.inf
		if m&SatFinite != 0 {
			code = f.max
		}
	}
	return uint16(sign | code)
}

// stochastic gives the magnitude code of a finite f32 magnitude; it may exceed max.
func (f *layout) stochastic(abs uint32, random uint64, n uint) uint32 {
	mant, e := uint64(abs&(1<<23-1)), int(abs>>23)
	if e == 0 { // a subnormal f32, with its leading bit put in place
		if mant == 0 {
			return 0
		}
		k := bits.LeadingZeros64(mant) - 40
		mant, e = mant<<k, 1-k
	} else {
		mant |= 1 << 23
	}
	e += f.bias - 127
	if e > 1<<f.exp {
		return f.max + 1
	}
	drop := int(23 - f.man)
	if e <= 0 {
		drop += 1 - e
		e = 1
	}
	kept, top := mant>>min(drop, 63), mant>>min(drop-int(n), 63)&(1<<n-1)
	return uint32(uint64(e-1)<<f.man + kept + (top+random)>>n)
}

// CvtStochastic2 is cvt.rs…x2.f32 d, a, b, rbits: a goes to the upper element and takes the
// random bits of the upper half, b to the lower with those of the lower.
func CvtStochastic2(t Type, m Mod, a, b, random uint32) uint32 {
	return pair(CvtStochastic(t, m, a, random>>16), CvtStochastic(t, m, b, random))
}

// ReduxF32 is one step of redux.sync.min and .max on f32: num's min or max, on magnitudes if
// abs is set (ISA 9.7.13.12). Of zeros, the negative one is the smaller.
func ReduxF32(m Mod, abs, max bool, a, b uint32) uint32 {
	if abs {
		a, b = a&^(1<<31), b&^(1<<31)
	}
	if max {
		return MaxF32(m, a, b)
	}
	return MinF32(m, a, b)
}
