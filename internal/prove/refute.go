package prove

import (
	"muster/internal/rules"
	"muster/internal/trial"
)

// briefly is how many warp instructions the run takes in which an error is looked for first.
const briefly = 1 << 16

// refutes looks for an error in the beginning of a run, which refutes every proof. The proofs
// that follow drawn numbers judge no run before the last, and take long where a loop goes on for
// as long as a weak load gives the same value: each of its turns is followed.
func (p *Proof) refutes(l *trial.Subject, w *trial.Budget, skip bool) (r trial.Result) {
	j := rules.NewJudge(l.Rules())
	m := l.Part(j, skip, 0, 1)
	m.LimitInstrs(min(briefly, l.Limits.Instrs))
	r, _ = l.RunPart(w.Enough(1), j, m, trial.ProofSchedule)
	if p.refuted = r.Err == nil && r.Wrong(); !p.refuted {
		return trial.Result{}
	}
	p.Found(l, &r)
	return r
}
