package muster

import (
	"context"
	"reflect"
	"slices"

	"muster/internal/machine"
	"muster/internal/predict"
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

// written converts a schedule of l to one of the loaded launch: it adds l's leaders.
func (l *Launch) written(s trial.Schedule) trial.Schedule {
	if l.subject.Highest {
		s.Prefix = slices.Insert(slices.Clone(s.Prefix), 0, machine.Choice{Kind: machine.Lead})
	}
	return s
}

// checkLed checks the launch with the other choice of leaders than report r. It returns
// r, unless the new report has a graver verdict, or a finding that r lacks or rates
// lower.
func (l *Launch) checkLed(ctx context.Context, o CheckOptions, e *shards.Options, r *Report) (*Report, error) {
	if r.Verdict == report.Findings || len(l.findings) > 0 {
		return r, nil
	}
	o.Cost = false // r has it, for both leaders
	h, err := l.led().check(ctx, o, e.Led())
	if err != nil {
		if h != nil {
			h = r // with the work done so far
		}
		return h, err
	}
	graver := h.Verdict != r.Verdict && (h.Verdict == report.Findings || r.Verdict == report.Clean)
	more := slices.ContainsFunc(h.Findings, func(f Finding) bool {
		return !slices.ContainsFunc(r.Findings, func(g Finding) bool { return g.ID == f.ID && g.Severity >= f.Severity })
	})
	if graver || more && h.Verdict == r.Verdict {
		return h, nil
	}
	r.Assumptions = append(r.Assumptions, "elect.sync elects the lowest lane of every mask, or of every mask the highest: both were checked")
	return r, nil
}

// sameAny joins the results of both leaders for other values of an argument.
func sameAny(a, b *report.AnyCount) *report.AnyCount {
	if !b.Holds || reflect.DeepEqual(a, b) {
		return b
	}
	a.Holds = false
	a.Reasons = append(a.Reasons, report.Reason{Condition: report.CutShort, Text: "it holds for other values where elect.sync elects the highest lane of its mask"})
	return a
}
