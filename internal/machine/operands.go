package machine

import (
	"math"

	"muster/ptx"
)

// Invalid operands of instructions that change nothing in the machine: hints to caches,
// counters of a profiler, and addresses that are computed but not accessed. Constants are
// checked when the program is decoded; values known only in a run are reported by
// EvOperand, and the run goes on.

// badOperand emits EvOperand for lanes that give an instruction an invalid operand.
func (x *ctx) badOperand(kind StopKind, lanes uint32, why string) {
	if lanes != 0 && x.m.cfg.Observer != nil {
		x.m.emit(Event{Kind: EvOperand, CTA: x.w.cta, Warp: x.w.index, Mask: lanes, PC: x.s.pc, Fault: kind, Why: why})
	}
}

// unaligned returns the lanes of mask whose address is no multiple of size, a power of
// two.
func unaligned(mask uint32, addr *[32]uint64, size uint64) (out uint32) {
	for l := range lanesOf(mask) {
		if addr[l]&(size-1) != 0 {
			out |= 1 << l
		}
	}
	return out
}

// outside returns the lanes of mask whose generic address does not lie in global memory.
func (x *ctx) outside(sp space, mask uint32, addr *[32]uint64) (out uint32) {
	for l := range lanesOf(mask) {
		if sp == spGeneric && !x.inSpace(spGlobal, addr[l]) {
			out |= 1 << l
		}
	}
	return out
}

// decodePrefetch decodes hints to caches, which have no effect that a program can see.
// discard.L2 leaves the data undefined and is refused.
func decodePrefetch(d *decoder, in *ptx.Inst) error {
	if in.Op == "prefetch" || in.Op == "prefetchu" {
		return decodeNothing(d, in)
	}
	if has(in, "async") {
		return errNotModelled
	}
	if len(in.Operands) == 2 {
		if n, ok := in.Operands[1].(ptx.Int); !ok || n.Bits != cacheLine {
			return d.errorf("%s takes a size of %d (ISA %s)", Name(in), cacheLine, in.Form.Section)
		}
	}
	if in.Op == "discard" {
		return errNotModelled
	}
	a := &access{space: d.stateSpace(), size: cacheLine}
	if err := d.mem(in.Operands[0], a); err != nil {
		return err
	}
	d.emit(instr{exec: execApplyPriority, x: a})
	return nil
}

const cacheLine = 128

func execApplyPriority(x *ctx, in *instr, mask uint32) {
	a := in.x.(*access)
	x.addressesOf(a, &x.m.addr)
	addr := x.m.addr
	x.badOperand(FaultAlign, unaligned(mask, &addr, cacheLine), "an address that is no multiple of 128")
	x.badOperand(FaultBounds, x.outside(a.space, mask, &addr), "an address outside of global memory")
}

type bulkPrefetch struct{ access }

// bulkPrefetch decodes cp.async.bulk.prefetch.L2 [a], size.
func (d *decoder) bulkPrefetch(in *ptx.Inst) error {
	d.read("L2")
	if len(in.Operands) < 2 {
		return d.errorf("%s takes an address and a size", Name(in))
	}
	a := &bulkPrefetch{access{space: d.stateSpace()}}
	if err := d.mem(in.Operands[0], &a.access); err != nil {
		return err
	}
	n, err := d.src(in.Operands[1], u32)
	if err != nil {
		return err
	}
	d.emit(instr{exec: execBulkPrefetch, b: n, x: a})
	return nil
}

func execBulkPrefetch(x *ctx, in *instr, mask uint32) {
	x.addressesOf(&in.x.(*bulkPrefetch).access, &x.m.addr)
	addr, size := x.m.addr, x.a32(in.b)
	odd := unaligned(mask, &addr, 16)
	x.badOperand(FaultAlign, odd, "an address that is no multiple of 16")
	odd = 0
	for l := range lanesOf(mask) {
		if size[l]%16 != 0 {
			odd |= 1 << l
		}
	}
	x.badOperand(FaultAlign, odd, "a size that is no multiple of 16")
}

func decodeCreatepolicy(d *decoder, in *ptx.Inst) error {
	if len(in.Operands) < 1 {
		return d.errorf("createpolicy takes a destination")
	}
	i := instr{exec: func(x *ctx, in *instr, mask uint32) { x.fill64(in.d, mask, 0) }}
	var err error
	if i.d, err = d.dst(in.Operands[0], b64); err != nil {
		return err
	}
	switch {
	case has(in, "range") && len(in.Operands) == 4:
		a := &access{space: d.stateSpace()}
		if err := d.mem(in.Operands[1], a); err != nil {
			return err
		}
		if i.a, err = d.src(in.Operands[2], u32); err != nil {
			return err
		}
		if i.b, err = d.src(in.Operands[3], u32); err != nil {
			return err
		}
		i.exec, i.x = execRangePolicy, a
	case has(in, "fractional") && len(in.Operands) == 2:
		if i.a, err = d.src(in.Operands[1], f32); err != nil {
			return err
		}
		i.exec = execFractionPolicy
	}
	d.emit(i)
	return nil
}

func execRangePolicy(x *ctx, in *instr, mask uint32) {
	primary, total := x.a32(in.a), x.a32(in.b)
	large := uint32(0)
	for l := range lanesOf(mask) {
		if primary[l] > total[l] {
			large |= 1 << l
		}
	}
	x.badOperand(FaultOther, large, "a primary size that exceeds the total size")
	a := in.x.(*access)
	x.addressesOf(a, &x.m.addr)
	addr := x.m.addr
	x.badOperand(FaultBounds, x.outside(a.space, mask, &addr), "an address outside of global memory")
	x.fill64(in.d, mask, 0)
}

func execFractionPolicy(x *ctx, in *instr, mask uint32) {
	outside := uint32(0)
	row := x.a32(in.a)
	for l := range lanesOf(mask) {
		if f := math.Float32frombits(row[l]); !(f > 0 && f <= 1) {
			outside |= 1 << l
		}
	}
	x.badOperand(FaultOther, outside, "a fraction that is not in (0, 1]")
	x.fill64(in.d, mask, 0)
}

func decodePmevent(d *decoder, in *ptx.Inst) error {
	if !d.has("mask") && len(in.Operands) == 1 {
		if n, ok := in.Operands[0].(ptx.Int); !ok || n.Bits > 15 {
			return d.errorf("pmevent takes an event from 0 to 15 (ISA 9.7.19.3)")
		}
	}
	return decodeNothing(d, in)
}
