package shards

import (
	"muster/internal/evidence"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/predict"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/report"
)

// Conclude adds the results of an exploration to what else is known of a launch: its
// findings, each with its schedule, and its gaps. It returns the schedules, with
// those added, and the coverage.
func (o *Options) Conclude(l *trial.Subject, p *predict.Predictor, w *trial.Budget, schedules []trial.Schedule, all *trial.Merged) ([]trial.Schedule, report.Coverage, error) {
	e := o.State
	c := e.coverage()
	o.limits(&c)
	var joined unit
	for u := range e.all() {
		for _, f := range u.Found {
			joined.add(f)
		}
		for _, g := range u.Gaps {
			all.AddGap(g)
		}
	}
	list := joined.live
	if len(list) > 0 {
		w.Meter.Stage("making the schedules of findings short", "finding", min(len(list), maxShrunkFindings))
	}
	for i := range list {
		s, err := explore.Parse(list[i].Schedule)
		if err != nil {
			return nil, c, &StateError{err.Error()}
		}
		if f := &list[i].Finding; i < maxShrunkFindings && f.Severity == rules.Error {
			s, *f = Shorter(l, p, w, s, *f)
		}
		w.Meter.Did(1)
		at := trial.Index(schedules, s)
		if at < 0 {
			at = len(schedules)
			schedules = append(schedules, s)
		}
		all.Add(at, &trial.Result{Findings: []rules.Finding{list[i].Finding}})
	}
	for _, g := range e.unseen(l.Program) {
		all.AddGap(g)
	}
	return schedules, c, nil
}

// maxShrunkFindings bounds how many findings of an exploration get a shorter
// schedule than those that were explored.
const maxShrunkFindings = 8

// Shorter returns a smaller schedule that shows a finding, found with little work,
// and the finding as that schedule shows it.
func Shorter(l *trial.Subject, p *predict.Predictor, w *trial.Budget, s trial.Schedule, f rules.Finding) (trial.Schedule, rules.Finding) {
	stop, _ := w.Stop()
	got, ok := explore.Shrink(evidence.Trial(w.Context, l, p, &f), s, explore.ShrinkOptions{Runs: predict.MaxShrinks, Steps: predict.MaxShrunk, Stop: stop})
	if !ok {
		return s, f
	}
	r, _ := l.Judge(w, got.Schedule, false, 0, 1)
	for _, g := range r.Findings {
		if g.Key() == f.Key() && g.Severity == f.Severity {
			return got.Schedule, g
		}
	}
	return s, f
}

// unseen returns gaps for what the explored runs could not show: outcomes of racing
// strong accesses that only the ISA's memory model has, detail that was missing, and
// values that do not depend on the schedule.
func (e *Exploration) unseen(prog *machine.Program) []rules.Gap {
	var gaps []rules.Gap
	words := e.words()
	for _, pc := range words.Beyond() {
		gaps = append(gaps, rules.Gap{What: "causality order does not relate this strong access to another, and only control does, or another word comes in between: outcomes that no interleaving has were not looked at", PC: pc, Executions: true})
	}
	if words.Over {
		gaps = append(gaps, rules.Gap{What: "there are more words with strong accesses than are watched for outcomes that no interleaving has", PC: -1, Executions: true})
	}
	missed := e.missed()
	if missed.Apart {
		gaps = append(gaps, rules.Gap{What: "lanes of one warp that branches part come to words that race, and waited for each other where they need not", PC: -1})
	}
	for _, pc := range missed.Parted {
		gaps = append(gaps, rules.Gap{What: "lanes of one warp come here together, and were not let do it one by one", PC: pc})
	}
	for _, pc := range missed.Equal {
		gaps = append(gaps, rules.Gap{What: "a store of what others store, in no order: what was there before it was forgotten", PC: pc})
	}
	told := map[int32]bool{}
	for _, d := range prog.Dependences() {
		for _, from := range d.Roots {
			if what := prog.Nondeterministic(from); what != "" && !told[from] && !prog.ShowsLanes(from) { // those are for package masks
				told[from] = true
				gaps = append(gaps, rules.Gap{What: what + " decides something, and was not varied", PC: from})
			}
		}
	}
	return gaps
}
