package machine

// Branches that promise with .uni that all active threads of the warp which execute them
// have one guard and one target (ISA 9.7.12.3 to .6). Lanes of one split execute together,
// so that a branch which parts them breaks the promise. Lanes that came apart before may
// execute the branch one after the other, and then each part is asked by itself.

// A promise tells where each of the lanes in mask goes by a branch; nil where all go to
// one place.
type promise func(x *ctx, in *instr, lane int) uint64

// promised has the instruction just emitted keep its .uni, if it has one.
func (d *decoder) promised(where promise) {
	in := &d.prog.code[len(d.prog.code)-1]
	if d.has("uni") && (where != nil || in.guard != noGuard) {
		in.uni = &where
	}
}

// keepsPromise tells of lanes that a branch with .uni parts, of which those in mask take it.
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
