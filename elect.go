package muster

import (
	"context"
	"reflect"
	"slices"

	"muster/internal/machine"
	"muster/internal/predict"
	"muster/internal/progress"
	"muster/internal/rules"
	"muster/internal/shards"
	"muster/internal/trial"
	"muster/report"
)

// led returns the launch in which elect.sync elects the highest lane of each mask: see
// trial.Subject.Led.
func (l *Launch) led() *Launch {
	h := *l
	h.subject = l.subject.Led()
	h.predictor = predict.New(h.subject)
	return &h
}

// chosen strips what schedules begin with if that is the same for all, the sizes of clusters
// and the choice of leaders, and returns the launch with these.
func (l *Launch) chosen(list []Schedule) (*Launch, []Schedule, bool) {
	with, rest, sized := l.withSizes(list)
	with, rest, led := with.leads(rest)
	with, rest, executing := with.picks(rest)
	return with, rest, sized || led || executing
}

// picks returns the launch whose accesses may take older versions, if a schedule has some that do.
func (l *Launch) picks(list []Schedule) (*Launch, []Schedule, bool) {
	if l.subject.Executions || !slices.ContainsFunc(list, func(s Schedule) bool { return s.of.Picks() }) {
		return l, list, false
	}
	h := *l
	h.subject = l.subject.Executing()
	h.predictor = predict.New(h.subject)
	return &h, list, true
}

// leads strips the choice of leaders from schedules that all begin with it, and returns
// the launch with these leaders.
func (l *Launch) leads(list []Schedule) (*Launch, []Schedule, bool) {
	if l.subject.Highest || len(list) == 0 {
		return l, list, false
	}
	rest := slices.Clone(list)
	for i := range rest {
		s := &rest[i].of
		if len(s.Prefix) == 0 || s.Prefix[0].Kind != machine.Lead {
			return l, list, false
		}
		if s.Prefix = s.Prefix[1:]; len(s.Prefix) == 0 {
			s.Prefix = nil
		}
	}
	return l.led(), rest, true
}

// written converts a schedule of l to one of the loaded launch: it adds l's leaders and sizes
// of clusters.
func (l *Launch) written(s trial.Schedule) trial.Schedule {
	if l.subject.Highest {
		s.Prefix = slices.Insert(slices.Clone(s.Prefix), 0, machine.Choice{Kind: machine.Lead})
	}
	if len(l.sizes) > 0 {
		s.Prefix = slices.Concat(l.sizes, s.Prefix)
	}
	return s
}

// checkLed checks the launch with the other choice of leaders than report r, whose
// leaders are those of an H200. It returns r with the findings that only the other
// leaders show, as warnings: they are wrong by the ISA, and right on a card. It returns
// the other report if that alone is incomplete.
func (l *Launch) checkLed(ctx context.Context, o CheckOptions, e *shards.Options, r *Report) (*Report, error) {
	if r.Verdict == report.Findings || len(l.findings) > 0 {
		return r, nil
	}
	o.Cost = false // r has it, for both leaders
	h, err := l.led().check(progress.In(ctx, "with the highest lanes as leaders"), o, e.Led())
	if err != nil {
		if h != nil {
			h = r // with the work done so far
		}
		return h, err
	}
	if h.Verdict == report.Incomplete && r.Verdict == report.Clean {
		return h, nil
	}
	more := false
	for _, f := range h.Findings {
		if slices.ContainsFunc(r.Findings, func(g Finding) bool { return g.ID == f.ID }) {
			continue
		}
		if f.Severity == report.SevError {
			f, more = otherLeader(f), true
		}
		r.Findings = append(r.Findings, f)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return rank(a.Severity) - rank(b.Severity) })
	switch {
	case more:
		r.Assumptions = append(r.Assumptions, "elect.sync elects the lowest lane of its mask, as an H200 does; the ISA lets it be any (9.7.13.14)")
	case r.Verdict != report.Incomplete:
		r.Assumptions = append(r.Assumptions, "elect.sync elects the lowest lane of every mask, or of every mask the highest: both were checked")
	}
	r.Conclude(report.Options{FailOnWarning: o.FailOnWarning})
	return r, nil
}

// otherLeader makes a warning of an error that only the leaders show which no card elects.
// Of what it led to, in threads that wait, it leaves the beginning: the replay has it all.
func otherLeader(f Finding) Finding {
	f.Severity = report.SevWarning
	f.Headline = "if elect.sync elects the highest lane of its mask, " + f.Headline
	f.Notes = append(f.Notes, "the ISA leaves open which lane elect.sync elects (9.7.13.14); an H200 elects the lowest, for which this is no error")
	if k := rules.Lookup(f.Kind); k != nil && k.Order == rules.Effect {
		const most = 2
		f.Waiting, f.Ledger = nil, f.Ledger[:min(len(f.Ledger), most)]
		f.Fix = "choose the thread in one way, by elect.sync or by its number, for all that belongs together: a wait, the bytes it expects, the copies, the arrival"
	}
	return f
}

// rank orders findings: errors first.
func rank(s report.Severity) int {
	return slices.Index([]report.Severity{report.SevError, report.SevWarning, report.SevNote}, s)
}

// sameAny joins the results for other values of an argument with those of a launch with other
// leaders or other sizes of clusters.
func sameAny(a, b *report.AnyCount, of *Launch) *report.AnyCount {
	if !b.Holds || reflect.DeepEqual(a, b) {
		return b
	}
	a.Holds = false
	text := "it holds for other values where "
	if len(of.sizes) > 0 {
		text += of.sizeText()
	}
	if of.subject.Highest {
		if len(of.sizes) > 0 {
			text += ", and "
		}
		text += "elect.sync elects the highest lane of its mask"
	}
	a.Reasons = append(a.Reasons, report.Reason{Condition: report.CutShort, Text: text})
	return a
}
