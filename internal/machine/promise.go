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
		x.m.emit(Event{Kind: EvParted, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc, Members: away, Chance: x.s.chance})
	}
}

// company is how the lanes of a split came together. Splits merge wherever they stand at
// one place, be it in different turns of a loop, when one of them comes round while the
// other has not begun: after an instruction whose guard sent one lane alone, say. Nothing
// promises that such lanes execute a branch together, nor that they do not (ISA 3.2), and
// where lanes have waited for each other no such chance is left. It decides how grave a
// broken promise is, and nothing that the program could notice: Hash leaves it out.
type company struct {
	turns  uint32 // how often the split jumped back since its lanes waited for each other
	chance bool   // lanes of different turns have come together
}

// jump goes on at another instruction.
func (s *split) jump(to int32) {
	if to <= s.pc {
		s.turns++
	}
	s.pc = to
}

// joinBy tells s of the lanes that it takes from o.
func (s *split) joinBy(o *split) {
	s.chance = s.chance || o.chance || s.turns != o.turns
	s.turns = max(s.turns, o.turns)
}

// met is called when lanes have waited for each other.
func (s *split) met() { s.company = company{} }
