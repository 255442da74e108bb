package main

import (
	"strings"

	"muster"
	"muster/internal/mutate"
)

// options replaces the library's names of options by the flags that set them.
var options = strings.NewReplacer(
	"Limits.Instrs", "--limit-instrs", "Limits.Local", "--limit-local", "Limits.Time", "--limit-time", "Limits.Memory", "--limit-memory",
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
	}
	for i := range r.Notices {
		name(&r.Notices[i])
	}
	if r.Explored != nil {
		name(&r.Explored.Why)
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

// tableInFlags makes a table of mutants name flags.
func tableInFlags(t *mutate.Table) {
	inFlags(t.Original)
	for i := range t.Rows {
		t.Rows[i].Why = options.Replace(t.Rows[i].Why)
	}
}
