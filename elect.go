package muster

import (
	"context"
	"reflect"
	"slices"

	"muster/internal/machine"
	"muster/internal/report"
)

// Which lane elect.sync elects, the ISA leaves open: it is the same for the same mask
// every time (9.7.13.14). The lowest lane of a mask leads on a card, and a program that
// takes that for granted is wrong. So a launch whose program elects leaders is checked
// with the lowest lane of every mask, and then as a launch of its own with the highest.
// Two masks that overlap have different leaders in one of the two, unless both their ends
// are the same. A schedule of the second begins with the choice "e".

// led is the launch with the highest lane of each mask for its leader.
func (l *Launch) led() *Launch {
	h := *l
	h.highest, h.foresight = true, &foresight{}
	h.start = l.start.Fork(nil, nil)
	h.start.LeadHighest()
	return &h
}

// leads takes the choice of leaders from schedules that all begin with it, and returns
// the launch with these leaders.
func (l *Launch) leads(list []Schedule) (*Launch, []Schedule, bool) {
	if l.highest || len(list) == 0 {
		return l, list, false
	}
	rest := slices.Clone(list)
	for i := range rest {
		s := &rest[i]
		if len(s.Prefix) == 0 || s.Prefix[0].Kind != machine.Lead {
			return l, list, false
		}
		if s.Prefix = s.Prefix[1:]; len(s.Prefix) == 0 {
			s.Prefix = nil
		}
	}
	return l.led(), rest, true
}

// written is a schedule of this launch as one of the launch that was loaded.
func (l *Launch) written(s Schedule) Schedule {
	if l.highest {
		s.Prefix = slices.Insert(slices.Clone(s.Prefix), 0, machine.Choice{Kind: machine.Lead})
	}
	return s
}

// checkLed checks the launch with other leaders than those of report r, and returns the
// report that says more: r, unless the other one has a graver verdict or a finding that
// r lacks.
func (l *Launch) checkLed(ctx context.Context, o CheckOptions, r *Report) (*Report, error) {
	if r.Verdict == report.Findings || len(l.findings) > 0 {
		return r, nil
	}
	o.Cost = false // it asked with both
	if st := o.Explore.State; st != nil {
		if st.Led == nil {
			st.Led = &Exploration{}
		}
		o.Explore.State = st.Led
		if save := o.Explore.Save; save != nil {
			o.Explore.Save = func(*Exploration) error { return save(st) }
		}
	}
	h, err := l.led().check(ctx, o)
	if err != nil {
		if h != nil {
			h = r // of what was done until then
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

// sameAny joins what two leaders came to for other values of an argument.
func sameAny(a, b *report.AnyCount) *report.AnyCount {
	if !b.Holds || reflect.DeepEqual(a, b) {
		return b
	}
	a.Holds = false
	a.Reasons = append(a.Reasons, report.Reason{Condition: report.CutShort, Text: "it holds for other values where elect.sync elects the highest lane of its mask"})
	return a
}
