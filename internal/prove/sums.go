package prove

import (
	"slices"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/trial"
)

// Sums of floating-point numbers to which several threads add. A run is followed in which they
// are not known: if they decide nothing, and only go to outputs, every schedule does the same, and
// leaves the same but for the last bits of these and of what is computed from them.

// followSums makes a run take what the program adds in floating point for values that nobody
// knows.
func followSums(p *machine.Program, u *machine.Undefined) {
	at := map[int32]bool{}
	for pc := range int32(p.Len()) {
		if p.FloatSum(pc) {
			at[pc] = true
		}
	}
	u.FollowSums(at)
}

// onlyRound reports whether no sum decided anything in such a run.
func onlyRound(m *machine.Machine, u *machine.Undefined) bool {
	reached, others := u.Reached(m)
	return !others && !slices.ContainsFunc(reached, func(r machine.UndefinedReach) bool {
		return r.From.Kind == machine.UndefinedSum && r.What != "an output"
	})
}

// rounds follows the sums of a proof by one run, and adds to the reasons against it that some are
// read, if that may decide something.
func (p *Proof) rounds(l *trial.Subject, w *trial.Budget) {
	if len(p.Sums) == 0 || !p.Decides() {
		return
	}
	m := l.Machine(nil, nil)
	m.FailPeeks()
	u := m.FollowUndefined()
	followSums(l.Program, u)
	m.LimitInstrs(l.Limits.Instrs)
	s := trial.ProofSchedule
	ok := trial.Begin(m, s) == nil
	if s.Prefix = nil; ok {
		stop, _ := w.Stop()
		ok = explore.Run(m, s, stop) && m.Done() && onlyRound(m, u)
	}
	p.words(u)
	if !ok {
		p.sumsMatter(l)
	}
	p.Contents = p.Contents || len(p.read) > 0
}

// words enters what a run showed of the sums of the proof.
func (p *Proof) words(u *machine.Undefined) {
	for _, s := range u.Sums() {
		if slices.Contains(p.Sums, s.PC) {
			p.Words = append(p.Words, s)
		}
	}
}

// sumsMatter adds the reads of sums to the reasons against a proof.
func (p *Proof) sumsMatter(l *trial.Subject) {
	for _, f := range p.read {
		p.because(l, Reason{Condition: "C8", Text: f.why, PC: f.pc})
	}
	p.concludes()
}
