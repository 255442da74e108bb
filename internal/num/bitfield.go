package num

import "math/bits"

// Brev32 is brev.b32.
func Brev32(a uint32) uint32 { return bits.Reverse32(a) }

// Brev64 is brev.b64.
func Brev64(a uint64) uint64 { return bits.Reverse64(a) }

// Clz32 is clz.b32.
func Clz32(a uint32) uint32 { return uint32(bits.LeadingZeros32(a)) }

// Clz64 is clz.b64.
func Clz64(a uint64) uint32 { return uint32(bits.LeadingZeros64(a)) }

// Popc32 is popc.b32.
func Popc32(a uint32) uint32 { return uint32(bits.OnesCount32(a)) }

// Popc64 is popc.b64.
func Popc64(a uint64) uint32 { return uint32(bits.OnesCount64(a)) }

// Cnot32 is cnot.b32; zero-extended it serves b16.
func Cnot32(a uint32) uint32 {
	if a == 0 {
		return 1
	}
	return 0
}

// Cnot64 is cnot.b64.
func Cnot64(a uint64) uint64 {
	if a == 0 {
		return 1
	}
	return 0
}

// BfeU32 is bfe.u32. Position and length count modulo 256 (ISA, bfe).
func BfeU32(a, pos, n uint32) uint32 {
	return a >> (pos & 0xff) & (1<<(n&0xff) - 1)
}

// BfeU64 is bfe.u64. On the H200 position and length of the 64-bit forms do not
// count modulo 256, though the ISA says so: 256 is past the top.
func BfeU64(a uint64, pos, n uint32) uint64 {
	return a >> pos & (1<<n - 1)
}

// BfeS32 is bfe.s32.
func BfeS32(a, pos, n uint32) uint32 {
	return uint32(BfeS64(uint64(int64(int32(a))), pos&0xff, n&0xff))
}

// BfeS64 is bfe.s64; see BfeU64. Bits past the top are copies of the sign, which
// is what an arithmetic shift brings in.
func BfeS64(a uint64, pos, n uint32) uint64 {
	x := int64(a) >> pos
	switch {
	case n == 0:
		return 0
	case n >= 64:
		return uint64(x)
	}
	return uint64(x << (64 - n) >> (64 - n))
}

// Bfi32 is bfi.b32: n bits of a into b at pos.
func Bfi32(a, b, pos, n uint32) uint32 {
	mask := uint32(1<<(n&0xff)-1) << (pos & 0xff)
	return b&^mask | a<<(pos&0xff)&mask
}

// Bfi64 is bfi.b64; position and length as for BfeU64.
func Bfi64(a, b uint64, pos, n uint32) uint64 {
	mask := uint64(1<<n-1) << pos
	return b&^mask | a<<pos&mask
}

// Bfind32 is bfind{.shiftamt}.u32 and .s32.
func Bfind32(signed, shiftamt bool, a uint32) uint32 {
	if signed {
		a ^= uint32(int32(a) >> 31)
	}
	return found(uint32(bits.Len32(a)), 32, shiftamt)
}

// Bfind64 is bfind{.shiftamt}.u64 and .s64.
func Bfind64(signed, shiftamt bool, a uint64) uint32 {
	if signed {
		a ^= uint64(int64(a) >> 63)
	}
	return found(uint32(bits.Len64(a)), 64, shiftamt)
}

func found(length, width uint32, shiftamt bool) uint32 {
	if shiftamt && length != 0 {
		return width - length
	}
	return length - 1
}

// Fns is fns.b32. A base above 31 is undefined; the H200 finds nothing there.
func Fns(mask, base uint32, offset int32) uint32 {
	const none = 0xffffffff
	if base > 31 {
		return none
	}
	if offset == 0 {
		if mask>>base&1 != 0 {
			return base
		}
		return none
	}
	if offset < 0 {
		at := Fns(bits.Reverse32(mask), 31-base, -max(offset, -33))
		if at == none {
			return none
		}
		return 31 - at
	}
	for mask = mask >> base << base; mask != 0; mask &= mask - 1 {
		if offset--; offset == 0 {
			return uint32(bits.TrailingZeros32(mask))
		}
	}
	return none
}

// Szext is szext.mode: the low n bits of a extended to 32.
func Szext(wrap, signed bool, a, n uint32) uint32 {
	if n >= 32 && !wrap {
		return a
	}
	n &= 31
	switch {
	case n == 0:
		return 0
	case signed:
		return uint32(int32(a<<(32-n)) >> (32 - n))
	}
	return a & (1<<n - 1)
}

// Bmsk is bmsk.mode.b32: n ones from bit pos up.
func Bmsk(wrap bool, pos, n uint32) uint32 {
	if wrap {
		pos, n = pos&31, n&31
	}
	pos, n = min(pos, 32), min(n, 32)
	return (1<<n - 1) << pos
}

// Lop3 is lop3.b32: bit 4a+2b+c of lut is the result for bits a, b, c.
func Lop3(lut uint8, a, b, c uint32) uint32 {
	var t [4]uint32
	for i := range t {
		// Two table bits select c, not c, all or nothing.
		zero, one := -uint32(lut>>(2*i)&1), -uint32(lut>>(2*i+1)&1)
		t[i] = zero ^ (zero^one)&c
	}
	lo, hi := t[0]^(t[0]^t[1])&b, t[2]^(t[2]^t[3])&b
	return lo ^ (lo^hi)&a
}

// PrmtMode is the mode of prmt.
type PrmtMode uint8

const (
	PrmtIndex PrmtMode = iota // no mode: four selectors in c
	PrmtF4E
	PrmtB4E
	PrmtRC8
	PrmtECL
	PrmtECR
	PrmtRC16
)

// prmtSelectors has, by mode and c[1:0], the selectors in the form that the
// plain mode takes.
var prmtSelectors = [...][4]uint32{
	PrmtF4E:  {0x3210, 0x4321, 0x5432, 0x6543},
	PrmtB4E:  {0x5670, 0x6701, 0x7012, 0x0123},
	PrmtRC8:  {0x0000, 0x1111, 0x2222, 0x3333},
	PrmtECL:  {0x3210, 0x3211, 0x3222, 0x3333},
	PrmtECR:  {0x0000, 0x1110, 0x2210, 0x3210},
	PrmtRC16: {0x1010, 0x3232, 0x1010, 0x3232},
}

// Prmt is prmt.b32{.mode}.
func Prmt(mode PrmtMode, a, b, c uint32) uint32 {
	if mode != PrmtIndex {
		c = prmtSelectors[mode][c&3]
	}
	src := uint64(b)<<32 | uint64(a)
	var d uint32
	for i := uint(0); i < 32; i += 8 {
		v := uint8(src >> (c & 7 * 8))
		if c&8 != 0 {
			v = uint8(int8(v) >> 7)
		}
		d |= uint32(v) << i
		c >>= 4
	}
	return d
}
