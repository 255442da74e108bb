package undefined

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/trial"
)

// Rows follows, in each of some schedules, what becomes of bytes of operands of tcgen05.mma that
// race, and returns where it goes; empty: they reach nothing, and a race on them is harmless in
// these schedules. What is not followed counts as used.
func Rows(l *trial.Subject, w *trial.Budget, schedules []trial.Schedule, raced machine.OperandBytes) (used string) {
	for _, s := range schedules {
		r := followWith(l, w, s, raced)
		switch {
		case r.why != "":
			return "whether one is, was not followed: " + r.why
		case r.others:
			return "whether one is, was not followed: more undefined values are read than are told apart"
		}
		for _, to := range r.reached {
			switch {
			case to.From.Kind != machine.UndefinedOperand:
			case to.Vague:
				return fmt.Sprintf("one may go into %s at %s", to.What, l.NameAt(to.PC))
			default:
				return fmt.Sprintf("here one goes into %s at %s", to.What, l.NameAt(to.PC))
			}
		}
	}
	return ""
}
