package prove

import (
	"fmt"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/trial"
	"muster/ptx"
)

// Drawn numbers. What an atomic addition returns depends on the schedule: the number of a
// tile, a ticket. It lies between what the counter was at first and the sum of all additions.
// If for all these numbers every comparison has the same result, and a number decides nothing
// else, then each lane does the same in every schedule. That is so for a dynamic scheduler
// whose tiles have all been given out at first: each draw says that there is none left.

// drawings lists the atomic additions whose results matter.
func drawings(p *machine.Program) map[int32]bool {
	list, tickets := map[int32]bool{}, map[int32]bool{}
	for _, f := range p.Flips() {
		tickets[f.Ticket] = true
	}
	for _, d := range p.Dependences() {
		for _, pc := range d.Roots {
			if in := p.Inst(pc); in != nil && in.Effect().Has(ptx.Reads) && in.Update() == ptx.UpdateAdd && !p.FloatSum(pc) && !tickets[pc] {
				if _, size := in.LastType(); size == 4 {
					list[pc] = true
				}
			}
		}
	}
	return list
}

// drawn follows the numbers that some atomic additions return through a run, and adds to p why
// they matter, if they do.
func (p *Proof) drawn(l *trial.Subject, w *trial.Budget, at map[int32]bool) {
	m, u, text := follow(l, w, at, min(followed, l.Limits.Instrs))
	if tooLong(m) && followed < l.Limits.Instrs && !turns(l, w) {
		m, u, text = follow(l, w, at, l.Limits.Instrs)
	}
	if text == "" && !m.Done() {
		text = "a run that follows drawn numbers did not come to its end"
	}
	if text != "" {
		p.because(l, Reason{Condition: CutShort, Text: text, PC: -1})
		return
	}
	reached, others := u.Reached(m)
	for _, r := range reached {
		if r.From.Kind == machine.UndefinedDraw {
			p.because(l, Reason{Condition: "C9", Text: fmt.Sprintf("%s depends on the schedule, by what %s gives", r.What, l.Line(r.From.PC)), PC: r.PC})
		}
	}
	bound, matter := u.Draws()
	switch {
	case others:
		p.because(l, Reason{Condition: "C9", Text: "too many numbers are drawn to tell them apart", PC: -1})
	case matter && bound.Unknown:
		p.because(l, Reason{Condition: "C9", Text: "a counter that other things than additions write, or by numbers that are not known", PC: bound.PC})
	case matter:
		p.because(l, Reason{Condition: "C9", Text: "a comparison of a drawn number has another result for another one that the counter may give", PC: bound.PC})
	}
	p.Contents = true // where the counter begins
}

// follow makes the run of the proof, of at most so many warp instructions, and follows what the
// additions at some places return. Where it could not be made, or was ended, why says the reason.
func follow(l *trial.Subject, w *trial.Budget, at map[int32]bool, most int64) (m *machine.Machine, u *machine.Undefined, why string) {
	m = l.Machine(nil, nil)
	m.FailPeeks()
	u = m.FollowUndefined()
	u.FollowDraws(at, false)
	return m, u, run(m, w, most)
}

// run makes the run of the proof on a machine that has not begun.
func run(m *machine.Machine, w *trial.Budget, most int64) (why string) {
	m.LimitInstrs(most)
	if err := trial.Begin(m, trial.ProofSchedule); err != nil {
		return err.Error()
	}
	s := trial.ProofSchedule
	s.Prefix = nil
	stop, reason := w.Stop()
	explore.Run(m, s, stop)
	return reason()
}

// followed is how many warp instructions a run is followed before it is asked whether it ends.
const followed = 1 << 18

func tooLong(m *machine.Machine) bool {
	s := m.Stopped()
	return s != nil && s.Kind == machine.LimitInstrs
}

// turns reports whether a run that is not followed has come to its end, or to a standstill, after
// fewer instructions than one that is followed has executed. It sees that a loop has turned
// without an effect, as one does that polls by weak loads, and has others go on; a run that is
// followed does not, since each turn counts for it.
func turns(l *trial.Subject, w *trial.Budget) bool {
	m := l.Machine(nil, nil)
	m.FailPeeks()
	return run(m, w, followed) == "" && !tooLong(m)
}
