package machine

import (
	"iter"
	"slices"

	"muster/internal/flow"
	"muster/ptx"
)

// Registers that wgmma uses while it is in flight. Between its issue and the
// wgmma.wait_group that covers it, nothing else may touch its accumulators and
// the fragments of A (ISA 9.7.15.5); and what the warp's own instructions did to
// such a register must be separated from the next wgmma that uses it by
// wgmma.fence (ISA 9.7.15.7.1). Instructions that name a register of any wgmma
// report it here when they execute; all others cost nothing.

// A Touch is a register that an instruction and a wgmma both use.
type Touch struct {
	Register string
	// By and ByPC are the wgmma that uses it.
	By   int64
	ByPC int32
	// InFlight: the warp has not waited for that wgmma. Else no wgmma.fence
	// stands between an access to the register and the wgmma, or none before
	// the first wgmma at all (First).
	InFlight    bool
	First       bool
	Accumulator bool // else a fragment of A
	// More registers than this one.
	More int
}

// touching lists the registers of wgmma, or of tcgen05.ld, that an instruction reads and
// writes.
type touching struct {
	exec          execFn // of a plain instruction
	reads, writes []reg
	wgmma         bool // the function has a wgmma
}

// watchFragments instruments those instructions of the function just decoded that
// name registers of a wgmma or of a tcgen05.ld.
func (d *decoder) watchFragments(from int32) {
	used := map[reg]bool{}
	wgmma := false
	for i := from; int(i) < len(d.prog.code); i++ {
		switch info := d.prog.code[i].x.(type) {
		case *wgmmaInfo:
			wgmma = true
			for _, r := range append(info.acc[:len(info.acc):len(info.acc)], info.a...) {
				used[r] = true
			}
		case *tensorAccessInfo:
			for _, r := range info.regs {
				used[r] = used[r] || !info.st
			}
		}
	}
	if len(used) == 0 {
		return
	}
	// Of the registers that an instruction names, those that some wgmma uses.
	shared := func(lists ...[]flow.Reg) (regs []reg) {
		for _, list := range lists {
			for _, id := range list {
				if r := reg(id.Row()); id.Class() == flow.Word && used[r] {
					regs = append(regs, r)
				}
			}
		}
		return regs
	}
	uses := d.flow().Uses
	for i := range uses {
		u := &uses[i]
		if u.Does(ptx.Warpgroup) {
			continue
		}
		t := touching{wgmma: wgmma, reads: shared(u.Reads, u.Addr), writes: shared(u.Writes)}
		if len(t.reads)+len(t.writes) == 0 {
			continue
		}
		in := &d.prog.code[u.PC]
		in.touch = &t
		if in.class == plain || in.class == branch {
			t.exec, in.exec = in.exec, execTouching
		}
	}
}

func execTouching(x *ctx, in *instr, mask uint32) {
	x.touch(in, mask)
	in.touch.exec(x, in, mask)
}

// touch records and reports what an instruction does to registers of wgmma.
func (x *ctx) touch(in *instr, mask uint32) {
	w, base := x.w, x.s.base32
	if len(w.loads) > 0 {
		x.finishLoads(in.touch)
	}
	if !in.touch.wgmma {
		return
	}
	if len(w.wgmmas) > 0 {
		x.touchInFlight(in.touch, mask)
	}
	for _, r := range in.touch.reads {
		setRow(&w.looked, base+int32(r))
	}
	for _, r := range in.touch.writes {
		setRow(&w.written, base+int32(r))
	}
}

// touchInFlight reports the last wgmma in flight that uses any of the registers:
// a wait for that one covers those before it.
func (x *ctx) touchInFlight(t *touching, mask uint32) {
	w, base := x.w, x.s.base32
	var found Touch
	for i := len(w.wgmmas) - 1; i >= 0 && found.Register == ""; i-- {
		u := &w.wgmmas[i]
		for k, r := range u.info.registers() {
			row := u.base32 + int32(r)
			if t.has(row - base) {
				found.add(u, k)
			}
		}
	}
	x.tell(&found, mask)
}

func (t *touching) has(r int32) bool {
	return slices.Contains(t.reads, reg(r)) || slices.Contains(t.writes, reg(r))
}

// registers yields the registers of D and then those of A, numbered.
func (wi *wgmmaInfo) registers() iter.Seq2[int, reg] {
	return func(yield func(int, reg) bool) {
		for i, r := range wi.acc {
			if !yield(i, r) {
				return
			}
		}
		for i, r := range wi.a {
			if !yield(len(wi.acc)+i, r) {
				return
			}
		}
	}
}

// add records that register k of a wgmma in flight is touched.
func (t *Touch) add(u *wgmmaUse, k int) {
	if t.Register != "" {
		t.More++
		return
	}
	*t = Touch{Register: u.info.names[k], By: u.op, ByPC: u.pc, InFlight: true, Accumulator: k < len(u.info.acc)}
}

func (x *ctx) tell(t *Touch, mask uint32) {
	if t.Register != "" {
		x.m.emit(Event{Kind: EvRegister, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc, Touch: t})
	}
}

// checkFragments reports registers of a wgmma about to be issued that an
// instruction has accessed since the warp's last wgmma.fence, or that a wgmma in
// flight uses in another way. Wgmmas of one shape may follow each other on the
// same accumulators.
func (x *ctx) checkFragments(wi *wgmmaInfo, mask uint32) {
	w, base := x.w, x.s.base32
	if !w.fenced || w.touched() {
		x.checkOpen(wi, mask)
	}
	for i := range w.wgmmas {
		u := &w.wgmmas[i]
		if u.base32 == base && wi.follows(u.info) {
			continue
		}
		var found Touch
		for k, r := range u.info.registers() {
			row, acc := reg(u.base32+int32(r)-base), k < len(u.info.acc)
			if acc && slices.Contains(wi.a, row) || slices.Contains(wi.acc, row) && (!acc || !u.fenced && !u.info.form.SameShape(wi.form)) {
				found.add(u, k)
			}
		}
		x.tell(&found, mask)
	}
}

// follows reports whether a wgmma may certainly follow another without a fence:
// both have A in shared memory, one shape, and the same accumulators.
func (wi *wgmmaInfo) follows(u *wgmmaInfo) bool {
	return len(wi.a) == 0 && len(u.a) == 0 && wi.form.SameShape(u.form) && slices.Equal(wi.acc, u.acc)
}

// touched reports whether any register of a wgmma was accessed since the last
// fence.
func (w *warp) touched() bool {
	some := func(v uint64) bool { return v != 0 }
	return slices.ContainsFunc(w.written, some) || slices.ContainsFunc(w.looked, some)
}

// checkOpen reports registers that a wgmma uses without a fence since they were
// accessed.
func (x *ctx) checkOpen(wi *wgmmaInfo, mask uint32) {
	w, base := x.w, x.s.base32
	var open Touch
	for k, r := range wi.registers() {
		row := base + int32(r)
		acc := k < len(wi.acc)
		if w.fenced && !hasRow(w.written, row) && !(acc && hasRow(w.looked, row)) {
			continue
		}
		if open.Register != "" {
			open.More++
			continue
		}
		open = Touch{Register: wi.names[k], By: x.m.nextOp + 1, ByPC: x.s.pc, First: !w.fenced, Accumulator: acc}
	}
	x.tell(&open, mask)
}

func setRow(set *[]uint64, row int32) {
	for int(row/64) >= len(*set) {
		*set = append(*set, 0)
	}
	(*set)[row/64] |= 1 << (row % 64)
}

func hasRow(set []uint64, row int32) bool {
	return int(row/64) < len(set) && set[row/64]>>(row%64)&1 != 0
}
