package report

import (
	"fmt"
	"strings"

	"muster/internal/diag"
)

// A Limit is an option whose value ended a part of a check before it was decided.
type Limit struct {
	// Option is its name: of the library, as in CheckOptions.Explore.Steps, or the flag of the
	// command.
	Option string `json:"option"`
	Value  int64  `json:"value,omitempty"` // a count or bytes; 0 of a limit on time
	// AtLeast is the least value that is not known to be too small; 0 if nothing is known.
	AtLeast int64 `json:"at_least,omitempty"`
	// None: only without the option can it be decided.
	None bool `json:"none,omitempty"`
}

// Needs says which values could decide what these limits ended.
func Needs(limits []Limit) string {
	var list []string
	how := "whether that is enough is not known"
	for _, l := range limits {
		switch {
		case l.None:
			list = append(list, "no "+l.Option)
		case l.AtLeast > 0 && l.Value > 0:
			list = append(list, fmt.Sprintf("%s of at least %s (it is %s)", l.Option, diag.Group(l.AtLeast), diag.Group(l.Value)))
		case l.AtLeast > 0:
			list = append(list, fmt.Sprintf("%s of at least %s", l.Option, diag.Group(l.AtLeast)))
		case l.Value > 0:
			list = append(list, fmt.Sprintf("a larger %s (it is %s)", l.Option, diag.Group(l.Value)))
			how = "how large is not known"
		default:
			list = append(list, "a larger "+l.Option)
			how = "how large is not known"
		}
	}
	return strings.Join(list, " and ") + "; " + how
}

// NoNumber says why no value of an option decides.
func NoNumber(why string) string { return "no number: " + why }

// joinLimits joins limits; of one option the larger need counts.
func joinLimits(a, b []Limit) []Limit {
	list := append([]Limit(nil), a...)
next:
	for _, l := range b {
		for i := range list {
			if list[i].Option == l.Option {
				list[i].AtLeast = max(list[i].AtLeast, l.AtLeast)
				continue next
			}
		}
		list = append(list, l)
	}
	return list
}

// mayDecide names the options whose values may decide all that is open; empty if no value of
// one does.
func (r *Report) mayDecide() string {
	var all []Limit
	for i := range r.Gaps {
		if len(r.Gaps[i].Limits) == 0 {
			return ""
		}
		all = joinLimits(all, r.Gaps[i].Limits)
	}
	if r.partial() {
		if len(r.Explored.Limits) == 0 {
			return ""
		}
		all = joinLimits(all, r.Explored.Limits)
	}
	var larger, none []string
	for _, l := range all {
		if l.None {
			none = append(none, "no "+l.Option)
		} else {
			larger = append(larger, "a larger "+l.Option)
		}
	}
	if len(larger)+len(none) == 0 {
		return ""
	}
	return "; " + strings.Join(append(larger, none...), " and ") + " may decide"
}
