package muster

import (
	"context"

	"muster/internal/explore"
	"muster/internal/rules"
)

// This file is what an exploration says in a report.

// conclude adds what an exploration came to to what else is known: its findings,
// each with its schedule, what it could not look at, and what it covered.
func (l *Launch) conclude(ctx context.Context, e *Exploration, schedules []Schedule, all *merged) ([]Schedule, error) {
	c := e.coverage()
	var list []found
	w := l.watch(ctx)
	var joined unit
	for u := range e.all() {
		for _, f := range u.Found {
			joined.add(f)
		}
		for _, g := range u.Gaps {
			all.addGap(g)
		}
	}
	list = joined.live
	for i := range list {
		s, err := ParseSchedule(list[i].Schedule)
		if err != nil {
			return nil, &StateError{err.Error()}
		}
		if f := &list[i].Finding; i < mostShrunkFindings && f.Severity == rules.Error {
			s, *f = l.shorter(w, s, *f)
		}
		at := index(schedules, s)
		if at < 0 {
			at = len(schedules)
			schedules = append(schedules, s)
		}
		all.add(at, &result{findings: []rules.Finding{list[i].Finding}})
	}
	for _, g := range l.unseen(e) {
		all.addGap(g)
	}
	all.coverage = &c
	return schedules, nil
}

// mostShrunkFindings bounds how many findings of an exploration get a shorter
// schedule than those that were explored; Shrink does more, of any.
const mostShrunkFindings = 8

// shorter returns a smaller schedule that shows a finding, after little work, and
// the finding as it is there.
func (l *Launch) shorter(w *watch, s Schedule, f rules.Finding) (Schedule, rules.Finding) {
	stop, _ := w.stop()
	got, ok := explore.Shrink(l.trial(w.ctx, &f), s, explore.ShrinkOptions{Runs: mostShrinks, Steps: mostShrunk, Stop: stop})
	if !ok {
		return s, f
	}
	r, _ := l.judge(w, got.Schedule, false, 0, 1)
	for _, g := range r.findings {
		if g.Key() == f.Key() && g.Severity == f.Severity {
			return got.Schedule, g
		}
	}
	return s, f
}

// unseen is what no interleaving shows: outcomes of racing strong accesses that
// only the ISA's memory model has, and values that are none of the schedule's.
func (l *Launch) unseen(e *Exploration) []rules.Gap {
	var gaps []rules.Gap
	words := e.words()
	for _, pc := range words.Beyond() {
		gaps = append(gaps, rules.Gap{What: "causality order does not relate this strong access to another, and only control does, or another word comes in between: outcomes that no interleaving has were not looked at", PC: pc})
	}
	if words.Over {
		gaps = append(gaps, rules.Gap{What: "there are more words with strong accesses than are watched for outcomes that no interleaving has", PC: -1})
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
	for _, d := range l.config.Program.Dependences() {
		for _, from := range d.Roots {
			if what := l.config.Program.Unsteady(from); what != "" && !told[from] {
				told[from] = true
				gaps = append(gaps, rules.Gap{What: what + " decides something, and was not varied", PC: from})
			}
		}
	}
	return gaps
}
