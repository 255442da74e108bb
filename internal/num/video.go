package num

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
// vshr or vset. DSel other than VWord merges into c, and then Sec is VSecNone.
type Video struct {
	Op                        VideoOp
	Cmp                       Cmp // VSet
	DSigned, ASigned, BSigned bool
	Sat, Wrap                 bool // Wrap: vshl, vshr in .wrap mode
	DSel, ASel, BSel          VideoSel
	Sec                       VideoSec
}

// Eval runs the instruction's stages: select, operate, saturate, combine (ISA,
// scalar video instructions). Where the H200, which has few of them in hardware,
// departs from the ISA it is followed: in saturation, in a merge into .h1, which
// takes the upper half of the result, and in what a minimum or maximum compares.
func (v *Video) Eval(a, b, c uint32) uint32 {
	at, w := v.ASel.part()
	ta := field(uint64(a), at, w, v.ASigned)
	at, w = v.BSel.part()
	shift := v.shifts()
	tb := field(uint64(b), at, w, v.BSigned && !shift)
	t := videoOp(v.Op, v.Cmp, ta, videoShift(shift, v.Wrap, tb))
	if v.Sat {
		t = v.saturate(t)
	}
	switch {
	case v.DSel == VH1:
		return c&0xffff | uint32(t)&^0xffff
	case v.DSel != VWord:
		at, w = v.DSel.part()
		mask := uint32(1<<w-1) << at
		return c&^mask | uint32(t)<<at&mask
	}
	return v.combine(t, c)
}

func (v *Video) shifts() bool { return v.Op == VShl || v.Op == VShr }

// saturate clamps an intermediate result. To a byte or halfword it is clamped
// from above alone, as an unsigned number, so that a negative one comes out
// largest; shifts clamp to 32 bits before they are cut. An unsigned word is
// clamped from below, and from above only by vshl, whose intermediate has 34 bits.
func (v *Video) saturate(t int64) int64 {
	_, w := v.DSel.part()
	signed := v.DSigned && v.Op != VSet
	if w < 32 && !v.shifts() {
		limit := uint64(1)<<w - 1
		if signed {
			limit >>= 1
		}
		return int64(min(uint64(t), limit))
	}
	if v.Op == VShl {
		t = t << 30 >> 30
	}
	switch {
	case signed:
		return clampWidth(t, 32, true)
	case v.Op == VShl:
		return clampWidth(t, 32, false)
	}
	return max(t, 0)
}

// combine is the secondary operation. A minimum or maximum compares c, extended
// as the destination's type has it (a's, for vset), with the result: that of an
// addition, a subtraction or a saturated shift cut to 32 bits and sign-extended,
// any other as it is. Between unsigned numbers 64 bits count.
func (v *Video) combine(t int64, c uint32) uint32 {
	if v.Sec == VSecNone {
		return uint32(t)
	}
	if v.Sec == VSecAdd {
		return uint32(t) + c
	}
	if v.Op == VAdd || v.Op == VSub || v.Sat && v.shifts() {
		t = int64(int32(t))
	}
	signed := v.DSigned
	if v.Op == VSet {
		signed = v.ASigned
	}
	x := field(uint64(c), 0, 32, signed)
	less := uint64(t) < uint64(x)
	if signed {
		less = t < x
	}
	if less == (v.Sec == VSecMin) {
		return uint32(t)
	}
	return c
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
		// Halves round up where the sum is not negative, else down: the ISA adds
		// one only to a sum that is not negative.
		if a+b >= 0 {
			return (a + b + 1) >> 1
		}
		return (a + b) >> 1
	case VShl:
		return a << b // of 64 bits, on the H200 too
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

// Vmad is vmad. NegAB negates the product, NegC the addend; PlusOne is .po.
// Shift is 0, 7 or 15.
type Vmad struct {
	ASigned, BSigned     bool
	NegAB, NegC, PlusOne bool
	Sat                  bool
	Shift                uint
	ASel, BSel           VideoSel
}

// Eval multiplies, adds, scales and saturates, in signed 64 bits as the H200
// does, which departs from the ISA: a whole word is a signed factor whatever its
// type, and c is signed always. Only the scaling and the clamp look at the types.
func (v *Vmad) Eval(a, b, c uint32) uint32 {
	at, w := v.ASel.part()
	ta := int32(field(uint64(a), at, w, v.ASigned))
	at, w = v.BSel.part()
	tb := int32(field(uint64(b), at, w, v.BSigned))
	t, x := int64(ta)*int64(tb), int64(int32(c))
	switch {
	case v.PlusOne:
		x++
	case v.NegAB:
		t = -t
	case v.NegC:
		x = -x
	}
	t += x
	signed := v.ASigned || v.BSigned || v.NegAB || v.NegC
	if signed {
		t >>= v.Shift
	} else {
		t = int64(uint64(t) >> v.Shift)
	}
	if v.Sat {
		t = clampWidth(t, 32, signed)
	}
	return uint32(t)
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
