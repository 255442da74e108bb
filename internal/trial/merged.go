package trial

import (
	"slices"

	"muster/internal/rules"
)

// A Merged is what several schedules showed. Each finding is kept from the first
// schedule that shows it at its highest severity.
type Merged struct {
	Findings []rules.Finding
	First    map[string]int // schedule, by a finding's key
	Seen     map[string]int // in how many
	Gaps     []rules.Gap
}

// Add adds what a schedule, given by its number, showed.
func (a *Merged) Add(schedule int, r *Result) {
	if a.First == nil {
		a.First, a.Seen = map[string]int{}, map[string]int{}
	}
	at := places(a.Findings)
	for _, f := range r.Findings {
		key := f.Key()
		a.Seen[key]++
		if a.Seen[key] == 1 {
			at[key] = len(a.Findings)
			a.Findings = append(a.Findings, f)
			a.First[key] = schedule
			continue
		}
		if i, ok := at[key]; ok && a.Findings[i].Severity < f.Severity {
			a.Findings[i], a.First[key] = f, schedule
		}
	}
	for _, g := range r.Gaps {
		a.AddGap(g)
	}
}

// AddGap adds what was not looked at, once.
func (a *Merged) AddGap(g rules.Gap) {
	a.Gaps = AddGap(a.Gaps, g)
}

// AddGap adds a gap to a list, once. Of one limit the larger need counts.
func AddGap(list []rules.Gap, g rules.Gap) []rules.Gap {
	for i := range list {
		if list[i].What == g.What && list[i].PC == g.PC {
			list[i].AtLeast = max(list[i].AtLeast, g.AtLeast)
			return list
		}
	}
	return append(list, g)
}

// Wrong reports whether an error was found.
func (a *Merged) Wrong() bool {
	return slices.ContainsFunc(a.Findings, func(f rules.Finding) bool { return f.Severity == rules.Error })
}
