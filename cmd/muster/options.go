package main

import (
	"strings"

	"muster"
	"muster/internal/mutate"
	"muster/report"
)

// options replaces the library's names of options by the flags that set them.
var options = strings.NewReplacer(
	"Limits.Instrs", "--limit-instrs", "Limits.Local", "--limit-local", "Limits.Time", "--limit-time", "Limits.Memory", "--limit-memory",
	"CheckOptions.Explore.Schedules", "--schedules", "CheckOptions.Explore.Steps", "--steps", "CheckOptions.Explore.Preemptions", "--preemptions",
	"CheckOptions.Cost", "--cost", "TellOptions.Until", "--until", "TellOptions.Print", "--print",
)

// inFlags makes a report name flags.
func inFlags(r *muster.Report) *muster.Report {
	if r == nil {
		return nil
	}
	name := func(text *string) { *text = options.Replace(*text) }
	name(&r.Summary)
	for i := range r.Gaps {
		name(&r.Gaps[i].What)
		limitsInFlags(r.Gaps[i].Limits, &r.Gaps[i].Needs)
	}
	for i := range r.Notices {
		name(&r.Notices[i])
	}
	if r.Explored != nil {
		name(&r.Explored.Why)
		limitsInFlags(r.Explored.Limits, &r.Explored.Needs)
	}
	if p := r.Proof; p != nil {
		for i := range p.Reasons {
			name(&p.Reasons[i].Text)
		}
		if p.Any != nil {
			for i := range p.Any.Reasons {
				name(&p.Any.Reasons[i].Text)
			}
			for i := range p.Any.Unproven {
				name(&p.Any.Unproven[i].Text)
			}
		}
	}
	return r
}

// limitsInFlags makes limits, and what is said of them, name flags. --schedules counts the
// schedules before the exploration, too.
func limitsInFlags(limits []report.Limit, needs *string) {
	was := report.Needs(limits)
	for i := range limits {
		l := &limits[i]
		if l.Option == "CheckOptions.Explore.Schedules" {
			for _, n := range []*int64{&l.Value, &l.AtLeast} {
				if *n > 0 {
					*n += handful
				}
			}
		}
		l.Option = options.Replace(l.Option)
	}
	if len(limits) > 0 {
		*needs = report.Needs(limits) + strings.TrimPrefix(*needs, was)
	} else {
		*needs = options.Replace(*needs)
	}
}

// tableInFlags makes a table of mutants name flags.
func tableInFlags(t *mutate.Table) {
	inFlags(t.Original)
	for i := range t.Rows {
		t.Rows[i].Why = options.Replace(t.Rows[i].Why)
	}
}
