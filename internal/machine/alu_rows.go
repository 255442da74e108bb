package machine

import (
	"math"

	"muster/internal/num"
)

// Row functions: the instructions that real kernels spend their time in. Each
// computes d from its sources over slices of the same length; cutting the
// sources to the destination's length first leaves no bounds check in the loop.

func addRow[T word](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

func subRow[T word](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] - b[i]
	}
}

func mulRow[T word](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

func madRow[T word](d, a, b, c []T) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		d[i] = a[i]*b[i] + c[i]
	}
}

func negRow[T word](d, a []T) {
	a = a[:len(d)]
	for i := range d {
		d[i] = -a[i]
	}
}

func minRow[T word](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = min(a[i], b[i])
	}
}

func maxRow[T word](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = max(a[i], b[i])
	}
}

func minS32Row(d, a, b []uint32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = uint32(min(int32(a[i]), int32(b[i])))
	}
}

func maxS32Row(d, a, b []uint32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = uint32(max(int32(a[i]), int32(b[i])))
	}
}

func minS64Row(d, a, b []uint64) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = uint64(min(int64(a[i]), int64(b[i])))
	}
}

func maxS64Row(d, a, b []uint64) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = uint64(max(int64(a[i]), int64(b[i])))
	}
}

func mulWideU32Row(d []uint64, a, b []uint32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = uint64(a[i]) * uint64(b[i])
	}
}

func mulWideS32Row(d []uint64, a, b []uint32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = uint64(int64(int32(a[i])) * int64(int32(b[i])))
	}
}

func madWideU32Row(d []uint64, a, b []uint32, c []uint64) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		d[i] = uint64(a[i])*uint64(b[i]) + c[i]
	}
}

func madWideS32Row(d []uint64, a, b []uint32, c []uint64) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		d[i] = uint64(int64(int32(a[i]))*int64(int32(b[i]))) + c[i]
	}
}

func andRow[T word](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

func orRow[T word](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

func xorRow[T word](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

func notRow[T word](d, a []T) {
	a = a[:len(d)]
	for i := range d {
		d[i] = ^a[i]
	}
}

func shlRow[T word](d, a []T, n []uint32) {
	a, n = a[:len(d)], n[:len(d)]
	for i := range d {
		d[i] = a[i] << n[i]
	}
}

func shrRow[T word](d, a []T, n []uint32) {
	a, n = a[:len(d)], n[:len(d)]
	for i := range d {
		d[i] = a[i] >> n[i]
	}
}

func shrS32Row(d, a, n []uint32) {
	a, n = a[:len(d)], n[:len(d)]
	for i := range d {
		d[i] = uint32(int32(a[i]) >> n[i])
	}
}

func shrS64Row(d, a []uint64, n []uint32) {
	a, n = a[:len(d)], n[:len(d)]
	for i := range d {
		d[i] = uint64(int64(a[i]) >> n[i])
	}
}

// shl32By and the like are shifts by a literal below the width, which spare
// the comparison that a shift by a variable costs.
func shl32By(n uint32) func(d, a []uint32) {
	return func(d, a []uint32) {
		a = a[:len(d)]
		for i := range d {
			d[i] = a[i] << (n & 31)
		}
	}
}

func shrU32By(n uint32) func(d, a []uint32) {
	return func(d, a []uint32) {
		a = a[:len(d)]
		for i := range d {
			d[i] = a[i] >> (n & 31)
		}
	}
}

func shrS32By(n uint32) func(d, a []uint32) {
	return func(d, a []uint32) {
		a = a[:len(d)]
		for i := range d {
			d[i] = uint32(int32(a[i]) >> (n & 31))
		}
	}
}

func shl64By(n uint32) func(d, a []uint64) {
	return func(d, a []uint64) {
		a = a[:len(d)]
		for i := range d {
			d[i] = a[i] << (n & 63)
		}
	}
}

func shrU64By(n uint32) func(d, a []uint64) {
	return func(d, a []uint64) {
		a = a[:len(d)]
		for i := range d {
			d[i] = a[i] >> (n & 63)
		}
	}
}

func shrS64By(n uint32) func(d, a []uint64) {
	return func(d, a []uint64) {
		a = a[:len(d)]
		for i := range d {
			d[i] = uint64(int64(a[i]) >> (n & 63))
		}
	}
}

func shfLWrapRow(d, a, b, n []uint32) {
	a, b, n = a[:len(d)], b[:len(d)], n[:len(d)]
	for i := range d {
		d[i] = uint32((uint64(b[i])<<32 | uint64(a[i])) << (n[i] & 31) >> 32)
	}
}

func shfRWrapRow(d, a, b, n []uint32) {
	a, b, n = a[:len(d)], b[:len(d)], n[:len(d)]
	for i := range d {
		d[i] = uint32((uint64(b[i])<<32 | uint64(a[i])) >> (n[i] & 31))
	}
}

// lop3Rows has row functions for the tables that compilers emit most.
var lop3Rows = map[uint8]func(d, a, b, c []uint32){
	0x96: func(d, a, b, c []uint32) {
		a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
		for i := range d {
			d[i] = a[i] ^ b[i] ^ c[i]
		}
	},
	0xfe: func(d, a, b, c []uint32) {
		a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
		for i := range d {
			d[i] = a[i] | b[i] | c[i]
		}
	},
	0x80: func(d, a, b, c []uint32) {
		a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
		for i := range d {
			d[i] = a[i] & b[i] & c[i]
		}
	},
	0xf8: func(d, a, b, c []uint32) {
		a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
		for i := range d {
			d[i] = a[i] | b[i]&c[i]
		}
	},
	0xea: func(d, a, b, c []uint32) {
		a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
		for i := range d {
			d[i] = a[i]&b[i] | c[i]
		}
	},
	0x6a: func(d, a, b, c []uint32) {
		a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
		for i := range d {
			d[i] = a[i]&b[i] ^ c[i]
		}
	},
	0x78: func(d, a, b, c []uint32) {
		a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
		for i := range d {
			d[i] = a[i] ^ b[i]&c[i]
		}
	},
	0xca: func(d, a, b, c []uint32) {
		a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
		for i := range d {
			d[i] = c[i] ^ (b[i]^c[i])&a[i]
		}
	},
	0xe8: func(d, a, b, c []uint32) {
		a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
		for i := range d {
			d[i] = a[i]&b[i] | (a[i]|b[i])&c[i]
		}
	},
}

func lop3Row(lut uint8) func(d, a, b, c []uint32) {
	if k := lop3Rows[lut]; k != nil {
		return k
	}
	// A table of three inputs is a choice by a and b among four functions of c:
	// all, none, c or not c. Which they are is settled here, once.
	var zero, flip [4]uint32
	for i := range zero {
		zero[i] = num.Lop3(lut, -uint32(i>>1), -uint32(i&1), 0)
		flip[i] = zero[i] ^ num.Lop3(lut, -uint32(i>>1), -uint32(i&1), allLanes)
	}
	return func(d, a, b, c []uint32) {
		z0, z1, z2, z3 := zero[0], zero[1], zero[2], zero[3]
		f0, f1, f2, f3 := flip[0], flip[1], flip[2], flip[3]
		a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
		for i := range d {
			t0, t1 := z0^f0&c[i], z1^f1&c[i]
			t2, t3 := z2^f2&c[i], z3^f3&c[i]
			lo, hi := t0^(t0^t1)&b[i], t2^(t2^t3)&b[i]
			d[i] = lo ^ (lo^hi)&a[i]
		}
	}
}

func bfeU32Row(d, a, pos, n []uint32) {
	a, pos, n = a[:len(d)], pos[:len(d)], n[:len(d)]
	for i := range d {
		d[i] = num.BfeU32(a[i], pos[i], n[i])
	}
}

func prmtRow(d, a, b, c []uint32) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		d[i] = num.Prmt(num.PrmtIndex, a[i], b[i], c[i])
	}
}

// prmtBy is prmt with a literal selector that replicates no sign.
func prmtBy(sel uint32) func(d, a, b []uint32) {
	s0, s1, s2, s3 := sel&7*8, sel>>4&7*8, sel>>8&7*8, sel>>12&7*8
	return func(d, a, b []uint32) {
		a, b = a[:len(d)], b[:len(d)]
		for i := range d {
			v := uint64(b[i])<<32 | uint64(a[i])
			d[i] = uint32(v>>(s0&63)&0xff | v>>(s1&63)&0xff<<8 | v>>(s2&63)&0xff<<16 | v>>(s3&63)&0xff<<24)
		}
	}
}

func movRow[T word](d, a []T) { copy(d, a) }

// cut16Row and cut8Row truncate values that may come from a wider register.
func cut16Row(d, a []uint32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = a[i] & 0xffff
	}
}

func cut8Row(d, a []uint32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = a[i] & 0xff
	}
}

func zext64Row(d []uint64, a []uint32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = uint64(a[i])
	}
}

func sext64Row(d []uint64, a []uint32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = uint64(int64(int32(a[i])))
	}
}

func trunc32Row(d []uint32, a []uint64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = uint32(a[i])
	}
}

func trunc16Row(d []uint32, a []uint64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = uint32(uint16(a[i]))
	}
}

func sext16Row(d, a []uint32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = uint32(int32(int16(a[i])))
	}
}

func sext8Row(d, a []uint32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = uint32(int32(int8(a[i])))
	}
}

func f32FromS32Row(d, a []uint32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = math.Float32bits(float32(int32(a[i])))
	}
}

func f32FromU32Row(d, a []uint32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = math.Float32bits(float32(a[i]))
	}
}

// s32FromF32Row is cvt.rzi.s32.f32.
func s32FromF32Row(d, a []uint32) {
	a = a[:len(d)]
	for i := range d {
		if x := math.Float32frombits(a[i]); x > -0x1p31 && x < 0x1p31 {
			d[i] = uint32(int32(x))
			continue
		}
		d[i] = uint32(num.Cvt(num.S32, num.F32, num.RZI, 0, uint64(a[i])))
	}
}

// The f32 rows: to nearest, without qualifiers.

func addF32Row(d, a, b []uint32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = num.AddRN(a[i], b[i])
	}
}

func subF32Row(d, a, b []uint32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = num.SubRN(a[i], b[i])
	}
}

func mulF32Row(d, a, b []uint32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = num.MulRN(a[i], b[i])
	}
}

// fmaF32Row inlines the common case of num.FmaRN: an f64 sum that is a normal f32
// and no tie rounds correctly, whatever bits the f64 sum lost. num.FmaRN does the
// rest: it is too long for the compiler to inline.
func fmaF32Row(d, a, b, c []uint32) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		p := float64(math.Float32frombits(a[i])) * float64(math.Float32frombits(b[i]))
		s := p + float64(math.Float32frombits(c[i]))
		v := math.Float64bits(s)
		if v<<1>>53-897 < 254 && v&0x1fffffff != 0x10000000 {
			d[i] = math.Float32bits(float32(s))
			continue
		}
		if v<<1 == 0 { // an exact zero, with the sign that IEEE gives it
			d[i] = uint32(v >> 32)
			continue
		}
		d[i] = num.FmaRN(a[i], b[i], c[i])
	}
}

// minF32Row and maxF32Row inline the common case, two unequal numbers.
func minF32Row(d, a, b []uint32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		x, y := math.Float32frombits(a[i]), math.Float32frombits(b[i])
		switch {
		case x < y:
			d[i] = a[i]
		case y < x:
			d[i] = b[i]
		default:
			d[i] = num.MinF32(0, a[i], b[i])
		}
	}
}

func maxF32Row(d, a, b []uint32) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		x, y := math.Float32frombits(a[i]), math.Float32frombits(b[i])
		switch {
		case x > y:
			d[i] = a[i]
		case y > x:
			d[i] = b[i]
		default:
			d[i] = num.MaxF32(0, a[i], b[i])
		}
	}
}

func addF64Row(d, a, b []uint64) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = num.AddRNF64(a[i], b[i])
	}
}

func mulF64Row(d, a, b []uint64) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = num.MulRNF64(a[i], b[i])
	}
}

func fmaF64Row(d, a, b, c []uint64) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		d[i] = num.FmaRNF64(a[i], b[i], c[i])
	}
}
