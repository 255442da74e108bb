package num

import (
	"math"
	"math/bits"
)

// VideoOp is the primary operation of a video instruction.
type VideoOp uint8

const (
	VAdd VideoOp = iota
	VSub
	VAbsDiff
	VMin
	VMax
	VAvrg // SIMD only
	VShl  // scalar only
	VShr  // scalar only
	VSet  // compares with Cmp; always unsigned
)

// VideoSec is the secondary operation of a scalar video instruction.
type VideoSec uint8

const (
	VSecNone VideoSec = iota
	VSecAdd
	VSecMin
	VSecMax
)

// VideoSel selects a part of a register.
type VideoSel uint8

const (
	VWord VideoSel = iota
	VB0
	VB1
	VB2
	VB3
	VH0
	VH1
)

// part is where a selection lies and how wide it is.
func (s VideoSel) part() (at, width uint) {
	switch {
	case s >= VB0 && s <= VB3:
		return 8 * uint(s-VB0), 8
	case s == VH0, s == VH1:
		return 16 * uint(s-VH0), 16
	}
	return 0, 32
}

// field takes width bits of v at a position and extends them to 64.
func field(v uint64, at, width uint, signed bool) int64 {
	v = v >> at << (64 - width)
	if signed {
		return int64(v) >> (64 - width)
	}
	return int64(v >> (64 - width))
}

// Video is a scalar video instruction: vadd, vsub, vabsdiff, vmin, vmax, vshl,
// vshr or vset. DSel other than VWord merges into c, and then Sec is none.
type Video struct {
	Op                        VideoOp
	Cmp                       Cmp // VSet
	DSigned, ASigned, BSigned bool
	Sat, Wrap                 bool // Wrap: vshl, vshr in .wrap mode
	DSel, ASel, BSel          VideoSel
	Sec                       VideoSec
}

// Eval runs the instruction's stages: select, operate, saturate, combine (ISA,
// scalar video instructions).
func (v *Video) Eval(a, b, c uint32) uint32 {
	at, w := v.ASel.part()
	ta := field(uint64(a), at, w, v.ASigned)
	at, w = v.BSel.part()
	shift := v.Op == VShl || v.Op == VShr
	tb := field(uint64(b), at, w, v.BSigned && !shift)
	t := videoOp(v.Op, v.Cmp, ta, videoShift(shift, v.Wrap, tb))
	at, w = v.DSel.part()
	signed := v.DSigned && v.Op != VSet
	if v.Sat {
		t = clampWidth(t, w, signed)
	}
	if v.DSel != VWord {
		mask := uint32(1<<w-1) << at
		return c&^mask | uint32(t)<<at&mask
	}
	return videoSec(v.Sec, t, c, signed)
}

func videoShift(shift, wrap bool, tb int64) int64 {
	switch {
	case !shift:
		return tb
	case wrap:
		return tb & 31
	}
	return min(tb, 32)
}

func videoOp(op VideoOp, cmp Cmp, a, b int64) int64 {
	switch op {
	case VAdd:
		return a + b
	case VSub:
		return a - b
	case VAbsDiff:
		return max(a-b, b-a)
	case VMin:
		return min(a, b)
	case VMax:
		return max(a, b)
	case VAvrg:
		// Halves round away from zero upward, toward zero never below it: the
		// ISA adds one only to a sum that is not negative.
		if a+b >= 0 {
			return (a + b + 1) >> 1
		}
		return (a + b) >> 1
	case VShl:
		// Only a 32-bit value with its top bit set, shifted by 32, leaves int64.
		if t := a << b; t>>b == a {
			return t
		}
		return math.MaxInt64 &^ (1<<32 - 1)
	case VShr:
		return a >> b
	case VSet:
		if cmp.S64(a, b) {
			return 1
		}
	}
	return 0
}

// clampWidth saturates to width bits.
func clampWidth(t int64, width uint, signed bool) int64 {
	if signed {
		return min(max(t, -1<<(width-1)), 1<<(width-1)-1)
	}
	return min(max(t, 0), 1<<width-1)
}

// videoSec combines with c.
//
// Open: the ISA calls the intermediate result 33 bits wide and signed, and says
// that its sign depends on dtype. Chosen: without .sat it is cut to 32 bits and
// read as dtype before a minimum or maximum.
func videoSec(sec VideoSec, t int64, c uint32, signed bool) uint32 {
	x := field(uint64(t), 0, 32, signed)
	y := field(uint64(c), 0, 32, signed)
	switch sec {
	case VSecAdd:
		return uint32(t) + c
	case VSecMin:
		return uint32(min(x, y))
	case VSecMax:
		return uint32(max(x, y))
	}
	return uint32(t)
}

// Vmad is vmad. NegAB negates the product, NegC the addend; PlusOne is .po.
// Shift is 0, 7 or 15.
type Vmad struct {
	ASigned, BSigned     bool
	NegAB, NegC, PlusOne bool
	Sat                  bool
	Shift                uint
	ASel, BSel           VideoSel
}

// Eval multiplies, adds, scales and saturates. The product needs 65 bits, so it
// is kept in two words.
func (v *Vmad) Eval(a, b, c uint32) uint32 {
	at, w := v.ASel.part()
	ta := field(uint64(a), at, w, v.ASigned)
	at, w = v.BSel.part()
	tb := field(uint64(b), at, w, v.BSigned)
	hi, lo := bits.Mul64(uint64(ta), uint64(tb))
	hi -= uint64(ta>>63)&uint64(tb) + uint64(tb>>63)&uint64(ta)
	var one uint64
	switch {
	case v.PlusOne:
		one = 1
	case v.NegAB:
		hi, lo, one = ^hi, ^lo, 1
	case v.NegC:
		c, one = ^c, 1
	}
	signed := v.ASigned || v.BSigned || v.NegAB || v.NegC
	cx := field(uint64(c), 0, 32, signed)
	lo, carry := bits.Add64(lo, uint64(cx), one)
	hi, _ = bits.Add64(hi, uint64(cx>>63), carry)
	if v.Shift != 0 {
		lo = lo>>v.Shift | hi<<(64-v.Shift)
	}
	switch {
	case v.Sat && signed:
		return uint32(clampWidth(int64(lo), 32, true))
	case v.Sat:
		return uint32(min(lo, math.MaxUint32))
	}
	return uint32(lo)
}

// VideoSIMD is a SIMD video instruction on Lanes (2 or 4) equal parts. Nibble i
// of ASel and BSel says which part of b:a is element i: the written selectors
// .h10 and .b7654 are 0x10 and 0x7654. Bit i of Mask covers part i of the
// destination. Add accumulates into c instead of merging.
type VideoSIMD struct {
	Op                        VideoOp
	Cmp                       Cmp // VSet
	Lanes                     uint8
	DSigned, ASigned, BSigned bool
	Sat, Add                  bool
	Mask                      uint8
	ASel, BSel                uint16
}

// Eval runs the instruction (ISA, SIMD video instructions).
func (v *VideoSIMD) Eval(a, b, c uint32) uint32 {
	w := uint(16)
	if v.Lanes == 4 {
		w = 8
	}
	src := uint64(b)<<32 | uint64(a)
	d := c
	for i := uint(0); i < 32/w; i++ {
		if v.Mask>>i&1 == 0 {
			continue
		}
		t := videoOp(v.Op, v.Cmp,
			field(src, uint(v.ASel>>(4*i)&7)*w, w, v.ASigned),
			field(src, uint(v.BSel>>(4*i)&7)*w, w, v.BSigned))
		if v.Sat {
			t = clampWidth(t, w, v.DSigned)
		}
		if v.Add {
			d += uint32(t)
			continue
		}
		mask := uint32(1<<w-1) << (w * i)
		d = d&^mask | uint32(t)<<(w*i)&mask
	}
	return d
}
