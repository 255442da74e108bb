package muster

import (
	"fmt"

	"muster/internal/masks"
	"muster/internal/rules"
	"muster/internal/shards"
	"muster/internal/trial"
)

// masksText is the gap of an activemask. It says in how many runs lanes fell into groups there.
const masksText = "which lanes execute this activemask together decides something: of the ways in which lanes may fall into groups %d were run, not all"

// masksEach is one random way in which lanes fall into groups for so many schedules of the budget.
const masksEach = 125

// masks has lanes execute activemask in groups, where the result decides something and nothing
// that is wrong was found without that.
func (c *checking) masks() error {
	if c.o.Mode != EverySchedule || c.proof.All || c.Wrong() || c.explore.Schedules < 0 {
		return nil
	}
	roots := masks.Roots(c.subject.Program)
	if len(roots) == 0 {
		return nil
	}
	c.tell("runs in which lanes come to activemask in groups")
	r := masks.Look(c.budget, c.subject, c.explore.Schedules/masksEach)
	for _, f := range r.Findings {
		s, of := f.Schedule, f.Finding
		if of.Severity == rules.Error {
			s, of = shards.Shorter(c.subject, c.predictor, c.budget, s, of)
		}
		c.Add(c.scheduleOf(s), &trial.Result{Findings: []rules.Finding{of}})
	}
	if !c.Wrong() {
		for _, pc := range roots {
			c.AddGap(rules.Gap{What: fmt.Sprintf(masksText, r.Runs), PC: pc})
		}
	}
	return nil
}

// scheduleOf returns the number of a schedule, which it adds to the list if need be.
func (c *checking) scheduleOf(s trial.Schedule) int {
	at := trial.Index(c.list, s)
	if at < 0 {
		at = len(c.list)
		c.list = append(c.list, s)
	}
	return at
}
