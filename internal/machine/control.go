package machine

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"time"

	"muster/ptx"
)

// Control flow: branches and exits; calls are in call.go.

var controlDecoders = map[string]decodeFn{
	"bra":       decodeBra,
	"brx":       decodeBrx,
	"call":      decodeCall,
	"ret":       decodeRet,
	"exit":      decodeExit,
	"trap":      decodeTrap,
	"brkpt":     decodeNothing,
	"pmevent":   decodePmevent,
	"nanosleep": decodeNanosleep,
}

// lanesOf yields the lanes of a mask, lowest first.
func lanesOf(mask uint32) iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; mask != 0; mask &= mask - 1 {
			if !yield(bits.TrailingZeros32(mask)) {
				return
			}
		}
	}
}

func (d *decoder) label(op ptx.Operand) (*symbol, error) {
	n, ok := op.(ptx.Name)
	if !ok {
		return nil, d.errorf("branch target must be a label")
	}
	y := d.scope.find(string(n))
	if y == nil || y.kind != symLabel {
		return nil, d.errorf("label %s is not defined in this scope", n)
	}
	return y, nil
}

func decodeBra(d *decoder, in *ptx.Inst) error {
	if len(in.Operands) != 1 {
		return d.errorf("bra takes one label")
	}
	y, err := d.label(in.Operands[0])
	if err != nil {
		return err
	}
	pc := int32(len(d.prog.code))
	d.emit(instr{class: branch, exec: execBra})
	d.promised(nil)
	d.fixups = append(d.fixups, fixup{pc: pc, label: y, set: func(t int32) { d.prog.code[pc].target = t }})
	return nil
}

func execBra(x *ctx, in *instr, mask uint32) {
	s := x.s
	if mask == s.mask {
		s.jump(in.target)
		return
	}
	x.w.divide(s, mask).jump(in.target)
	s.pc++
}

// decodeBrx decodes a branch through a table: brx.idx %r, targets.
func decodeBrx(d *decoder, in *ptx.Inst) error {
	d.read("idx")
	if len(in.Operands) != 2 {
		return d.errorf("brx.idx takes an index and a list of targets")
	}
	idx, err := d.src(in.Operands[0], u32)
	if err != nil {
		return err
	}
	n, _ := in.Operands[1].(ptx.Name)
	y := d.scope.find(string(n))
	if y == nil || y.kind != symList {
		return d.errorf("%s is no .branchtargets list", n)
	}
	list := y.list
	targets := make([]int32, len(list.Names))
	pc := int32(len(d.prog.code))
	for i, name := range list.Names {
		y, err := d.label(ptx.Name(name))
		if err != nil {
			return err
		}
		d.fixups = append(d.fixups, fixup{pc: pc, label: y, set: func(t int32) { targets[i] = t }})
	}
	d.emit(instr{class: branch, exec: execBrx, a: idx, x: targets})
	d.promised(func(x *ctx, in *instr, lane int) uint64 { return uint64(x.a32(in.a)[lane]) })
	return nil
}

func execBrx(x *ctx, in *instr, mask uint32) {
	s, row, targets := x.s, x.a32(in.a), in.x.([]int32)
	if mask != s.mask {
		x.w.divide(s, s.mask&^mask).pc++
	}
	for rest := s.mask; rest != 0; {
		v := row[lowest(rest)]
		same := uint32(0)
		for l := range lanesOf(rest) {
			if row[l] == v {
				same |= 1 << l
			}
		}
		if int(v) >= len(targets) {
			x.m.halt(Stop{Kind: FaultOther, CTA: x.w.cta, Warp: x.w.index, Mask: same, PC: s.pc, Mem: Local,
				Msg: fmt.Sprintf("brx.idx with index %d of %d targets", v, len(targets))})
			return
		}
		rest &^= same
		if rest == 0 {
			s.jump(targets[v])
			return
		}
		x.w.divide(s, same).jump(targets[v])
	}
}

func decodeRet(d *decoder, in *ptx.Inst) error {
	if d.fn.decl.Entry {
		return decodeExit(d, in)
	}
	d.emit(instr{class: branch, exec: execRet})
	d.promised(nil)
	return nil
}

func decodeExit(d *decoder, in *ptx.Inst) error {
	d.emit(instr{class: visible, visit: visitExit})
	d.promised(nil)
	return nil
}

// visitExit ends lanes, and the CTA with its last one.
func visitExit(x *ctx, in *instr, mask uint32) verdict {
	m, w, t := x.m, x.w, x.c
	w.live &^= mask
	w.drop(x.s)
	t.live -= int32(bits.OnesCount32(mask))
	m.emit(Event{Kind: EvExit, CTA: w.cta, Warp: w.index, Mask: mask, PC: x.s.pc})
	m.laneGone(t, w)
	if t.live == 0 {
		m.endCTA(t)
	}
	return halted
}

func decodeTrap(d *decoder, in *ptx.Inst) error {
	d.emit(instr{class: visible, visit: visitTrap})
	return nil
}

func visitTrap(x *ctx, in *instr, mask uint32) verdict {
	stop := Stop{Kind: FaultTrap, CTA: x.w.cta, Warp: x.w.index, Lane: int8(lowest(mask)), Mask: mask, PC: x.s.pc, Mem: Local}
	m, s := x.m, x.s
	changed := slices.ContainsFunc(s.awaits, func(a await) bool { return m.changed(&a) })
	switch {
	case s.gaveUp == 0:
	case !changed && !m.moves(s): // asks others, and leaves x with one of them
		// The trap ends a wait that failed and that nothing can complete any more: any error is
		// the wait.
		stop.Kind = Deadlock
		x.quiet = true // the conditions that it waited for are still queried
	case s.waited >= Timeout:
		stop.Kind = Expired
	}
	return m.halt(stop)
}

func decodeNothing(d *decoder, in *ptx.Inst) error {
	d.emit(instr{class: plain, exec: func(*ctx, *instr, uint32) {}})
	return nil
}

func decodeNanosleep(d *decoder, in *ptx.Inst) error {
	if len(in.Operands) != 1 {
		return d.errorf("nanosleep takes one operand")
	}
	r, err := d.src(in.Operands[0], u32)
	if err != nil {
		return err
	}
	d.emit(instr{class: plain, exec: execNanosleep, a: r})
	return nil
}

func execNanosleep(x *ctx, in *instr, mask uint32) {
	t := int64(x.a32(in.a)[lowest(mask)])
	x.m.clock += t
	x.m.slept += time.Duration(t)
	x.s.waited = min(Timeout, x.s.waited+time.Duration(t)) // counts once a test has failed
}

func visitUnmodelled(x *ctx, in *instr, mask uint32) verdict {
	msg := Name(in.src)
	if why, ok := in.x.(notModelled); ok {
		msg += " (" + string(why) + ")"
	}
	return x.m.halt(Stop{Kind: Unmodelled, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc, Mem: Local, Msg: msg})
}
