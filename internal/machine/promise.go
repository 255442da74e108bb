package machine

// A branch with .uni promises that all active threads of the warp that execute it have
// one guard and one target (ISA 9.7.12.3 to .6). Lanes of one split execute together, so
// a branch that divides them breaks the promise. Splits that diverged before may execute
// the branch one after the other: then each is checked separately.

// A promise returns the target to which a lane takes a branch; nil if the branch has one
// target.
type promise func(x *ctx, in *instr, lane int) uint64

// promised has the .uni of the instruction just emitted checked, if it has one.
func (d *decoder) promised(where promise) {
	in := &d.prog.code[len(d.prog.code)-1]
	if d.has("uni") && (where != nil || in.guard != noGuard) {
		in.uni = &where
	}
}

// keepsPromise reports lanes that a branch with .uni divides; those in mask take it.
func (x *ctx) keepsPromise(in *instr, mask uint32) {
	away := x.s.mask &^ mask
	if away == 0 && *in.uni != nil {
		first := (*in.uni)(x, in, lowest(mask))
		for l := range lanesOf(mask) {
			if (*in.uni)(x, in, l) != first {
				away |= 1 << l
			}
		}
		mask &^= away
	}
	if away != 0 {
		x.m.emit(Event{Kind: EvParted, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc, Members: away})
	}
}
