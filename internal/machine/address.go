package machine

import (
	"math/bits"

	"muster/ptx"
)

// Address conversions: between a state space and generic, and between the CTAs of
// a cluster.

// windows gives the generic address of a space's address 0.
var windows = map[space]uint64{spShared: sharedWindow, spCluster: sharedWindow, spLocal: localWindow}

// decodeCvta decodes cvta{.to}.space: adding or removing the window.
func decodeCvta(d *decoder, in *ptx.Inst) error {
	if len(in.Operands) != 2 {
		return d.errorf("cvta takes two operands")
	}
	t := d.lastType()
	if t != u64 && t != u32 {
		return d.errorf("cvta needs .u32 or .u64")
	}
	w := windows[d.stateSpace()]
	sp := d.stateSpace()
	op := in.Operands[1]
	src, err := d.src(op, t)
	if err != nil {
		return err
	}
	if sp == spParam && !d.has("to") {
		// The address of a kernel parameter is generic already.
		w = 0
	}
	dst, err := d.dst(in.Operands[0], t)
	if err != nil {
		return err
	}
	if d.has("to") {
		w = -w
	}
	if t == u32 {
		d.emit(instr{exec: execMove32, d: dst, a: src})
		return nil
	}
	d.emit(instr{exec: execAddImm64, d: dst, a: src, imm: w})
	return nil
}

func execMove32(x *ctx, in *instr, mask uint32) {
	d, a := x.w32(in.d), x.a32(in.a)
	for k := mask; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		d[i] = a[i]
	}
}

func execAddImm64(x *ctx, in *instr, mask uint32) {
	d, a := x.w64(in.d), x.a64(in.a)
	if mask == ^uint32(0) {
		for i := range d {
			d[i] = a[i] + in.imm
		}
		return
	}
	for k := mask; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		d[i] = a[i] + in.imm
	}
}

// decodeIsspacep decodes isspacep.space p, a.
func decodeIsspacep(d *decoder, in *ptx.Inst) error {
	if len(in.Operands) != 2 {
		return d.errorf("isspacep takes two operands")
	}
	p, err := d.dst(in.Operands[0], pred)
	if err != nil {
		return err
	}
	a, err := d.src(in.Operands[1], u64)
	if err != nil {
		return err
	}
	d.emit(instr{exec: execIsspacep, d: p, a: a, op: uint8(d.stateSpace())})
	return nil
}

func execIsspacep(x *ctx, in *instr, mask uint32) {
	row := x.a64(in.a)
	out := uint32(0)
	for l := range lanesOf(mask) {
		if x.inSpace(space(in.op), row[l]) {
			out |= 1 << l
		}
	}
	x.p[in.d] = x.p[in.d]&^mask | out
}

func (x *ctx) inSpace(sp space, a uint64) bool {
	switch sp {
	case spLocal:
		return a-localWindow < windowSize
	case spParam:
		return a-paramWindow < windowSize
	case spShared:
		rank := int32((a - sharedWindow) >> rankShift)
		return a-sharedWindow < windowSize && rank == x.c.rank
	case spCluster:
		return a-sharedWindow < windowSize
	case spConst:
		r := x.m.global.find(a)
		return r != nil && r.fixed
	}
	// The window of kernel parameters lies within the global one.
	r := x.m.global.find(a)
	return a-localWindow >= windowSize && a-sharedWindow >= windowSize && (r == nil || !r.fixed)
}

// decodeMapa decodes mapa{.space}.type d, a, rank.
func decodeMapa(d *decoder, in *ptx.Inst) error {
	t := d.lastType()
	if sp := d.stateSpace(); sp != spGeneric && sp != spCluster {
		return errNotModelled
	}
	if len(in.Operands) != 3 || t != u32 && t != u64 {
		return d.errorf("mapa takes a destination, an address and a rank, of .u32 or .u64")
	}
	dst, err := d.dst(in.Operands[0], t)
	if err != nil {
		return err
	}
	a, err := d.src(in.Operands[1], t)
	if err != nil {
		return err
	}
	b, err := d.src(in.Operands[2], u32)
	if err != nil {
		return err
	}
	d.emit(instr{exec: execMapa, d: dst, a: a, b: b, t: t, x: d.stateSpace()})
	return nil
}

func execMapa(x *ctx, in *instr, mask uint32) {
	rank := x.a32(in.b)
	const low = 1<<rankShift - 1
	if in.t == u32 {
		d, a := x.w32(in.d), x.a32(in.a)
		for l := range lanesOf(mask) {
			d[l] = a[l]&low | rank[l]<<rankShift
		}
		return
	}
	d, a := x.w64(in.d), x.a64(in.a)
	x.pointsToShared(in.x, mask, a)
	for l := range lanesOf(mask) {
		d[l] = a[l]&^(0xff<<rankShift) | uint64(rank[l])<<rankShift
	}
}

func decodeGetctarank(d *decoder, in *ptx.Inst) error {
	t := d.lastType()
	if sp := d.stateSpace(); sp != spGeneric && sp != spCluster {
		return errNotModelled
	}
	if len(in.Operands) != 2 || t != u32 && t != u64 {
		return d.errorf("getctarank takes a destination and an address, of .u32 or .u64")
	}
	dst, err := d.dst(in.Operands[0], u32)
	if err != nil {
		return err
	}
	a, err := d.src(in.Operands[1], t)
	if err != nil {
		return err
	}
	d.emit(instr{exec: execGetctarank, d: dst, a: a, t: t, x: d.stateSpace()})
	return nil
}

// pointsToShared reports lanes whose generic address is outside shared memory.
func (x *ctx) pointsToShared(sp any, mask uint32, a *[32]uint64) {
	if sp != spGeneric {
		return
	}
	outside := uint32(0)
	for l := range lanesOf(mask) {
		if a[l]-sharedWindow >= windowSize {
			outside |= 1 << l
		}
	}
	x.badOperand(FaultBounds, outside, "a generic address that does not point to shared memory")
}

func execGetctarank(x *ctx, in *instr, mask uint32) {
	d := x.w32(in.d)
	if in.t == u64 {
		x.pointsToShared(in.x, mask, x.a64(in.a))
	}
	for l := range lanesOf(mask) {
		if in.t == u32 {
			d[l] = x.a32(in.a)[l] >> rankShift
		} else {
			d[l] = uint32(x.a64(in.a)[l]>>rankShift) & 0xff
		}
	}
}
