package undefined

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/trial"
)

// Rows follows, in each of some schedules, what becomes of bytes of operands of tcgen05.mma that
// race. If a result of theirs is used, or may be, used says where it goes. If all is followed and
// nothing is used, a race on them is harmless in these schedules; open says why that is not known.
func Rows(l *trial.Subject, w *trial.Budget, schedules []trial.Schedule, raced machine.OperandBytes) (used, open string) {
	for _, s := range schedules {
		r := followWith(l, w, s, raced)
		switch {
		case r.why != "":
			return "", "whether one is, was not followed: " + r.why
		case r.others:
			return "one may be: more undefined values are read than are told apart", ""
		}
		for _, to := range r.reached {
			switch {
			case to.From.Kind != machine.UndefinedOperand:
			case to.Vague:
				return fmt.Sprintf("one may go into %s at %s", to.What, l.NameAt(to.PC)), ""
			default:
				return fmt.Sprintf("here one goes into %s at %s", to.What, l.NameAt(to.PC)), ""
			}
		}
	}
	return "", ""
}
