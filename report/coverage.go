package report

import (
	"cmp"
	"fmt"

	"muster/internal/diag"
)

// A Coverage says what an exploration of a launch's schedules covered.
type Coverage struct {
	// Schedules ran to their end, one per equivalence class; Left were abandoned as
	// equivalent to others.
	Schedules int   `json:"schedules"`
	Left      int   `json:"left"`
	Steps     int64 `json:"steps"`
	Longest   int   `json:"longest"` // steps of the longest run
	Units     int   `json:"units"`   // parts of the work left after the first runs
	// UnitsComplete are those of which nothing is left.
	UnitsComplete int `json:"units_complete,omitempty"`
	Sampled       int `json:"sampled"` // schedules run after the exploration budget was spent
	// Complete: every schedule of the launch is equivalent to one that ran. Otherwise Why
	// gives the obstacle.
	Complete bool `json:"complete"`
	// Executions: what ran were executions of the memory model, one for each choice of the write
	// that a read returns and of the order of writes, interleavings among them.
	Executions bool   `json:"executions,omitempty"`
	Why        string `json:"why,omitempty"`
	// Limits and Needs are as of a Gap, where it is not Complete.
	Limits []Limit `json:"limits,omitempty"`
	Needs  string  `json:"needs,omitempty"`
}

// partial reports whether the verdict, asked about every schedule, cannot cover them all.
func (r *Report) partial() bool {
	return r.Explored != nil && !r.Explored.Complete && (r.Proof == nil || !r.Proof.All)
}

// scope returns the part of the summary that states what was covered. others counts the
// schedules that ran outside the exploration.
func (c *Coverage) scope(clean bool, others int) string {
	switch explored := diag.Plural(c.Schedules, "kind") + " explored"; {
	case c.Complete && c.Executions && clean:
		return ": all executions of this launch, " + explored
	case c.Complete && c.Executions:
		return " in all executions of this launch, " + explored
	case c.Complete && clean:
		return ": all schedules of this launch, " + explored
	case c.Complete:
		return " in all schedules of this launch, " + explored
	}
	found := ": nothing found"
	if !clean {
		found = ""
	}
	s := fmt.Sprintf("%s in %s of more", found, diag.Plural(c.Schedules+c.Sampled+others, "schedule"))
	if c.Schedules+c.Sampled > 0 {
		s += fmt.Sprintf(" (%s explored, %s sampled; %s)", diag.Group(int64(c.Schedules)), diag.Group(int64(c.Sampled)), c.Why)
	} else {
		s += " (" + c.Why + ")"
	}
	return s
}

// And is what two explorations covered, each of a part of the schedules.
func (c *Coverage) And(o *Coverage) *Coverage {
	a := *c
	a.Schedules, a.Left, a.Steps, a.Units, a.Sampled = c.Schedules+o.Schedules, c.Left+o.Left, c.Steps+o.Steps, c.Units+o.Units, c.Sampled+o.Sampled
	a.Longest = max(c.Longest, o.Longest)
	a.UnitsComplete = c.UnitsComplete + o.UnitsComplete
	a.Complete, a.Why = c.Complete && o.Complete, cmp.Or(c.Why, o.Why)
	if a.Limits, a.Needs = joinLimits(c.Limits, o.Limits), cmp.Or(c.Needs, o.Needs); len(a.Limits) > 0 {
		a.Needs = Needs(a.Limits)
	}
	return &a
}
