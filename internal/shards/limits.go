package shards

import (
	"fmt"
	"sort"

	"muster/internal/diag"
	"muster/internal/explore"
	"muster/internal/trial"
	"muster/report"
)

// The options that bound an exploration, by their names.
const (
	optSchedules   = "CheckOptions.Explore.Schedules"
	optSteps       = "CheckOptions.Explore.Steps"
	optPreemptions = "CheckOptions.Explore.Preemptions"
)

// NotAsked is the coverage of an exploration that was not asked for.
func NotAsked() report.Coverage {
	c := report.Coverage{Why: "exploring was not asked for", Limits: []report.Limit{{Option: optSchedules, AtLeast: 1}}}
	c.Needs = report.Needs(c.Limits)
	return c
}

// limits enters which options ended an exploration that is not complete, and what they must be
// at least: an exploration with a larger budget begins with the same runs, so that it needs
// these, and one run more at least for each choice that is left to try.
func (o *Options) limits(c *report.Coverage) {
	e := o.State
	for i := range e.Units {
		if e.Units[i].Done && e.Units[i].Coverage.Complete {
			c.UnitsComplete++
		}
	}
	switch in := trial.LimitIn(c.Why); {
	case c.Complete:
		return
	case in != "":
		c.Limits = []report.Limit{{Option: in}}
	case trial.Interrupted(c.Why):
		c.Needs = report.NoNumber("it was interrupted")
		return
	case c.Why == otherShards:
		c.Needs = report.NoNumber("the states of all shards, merged")
		return
	case c.Why == explore.SpentSchedules || c.Why == explore.SpentSteps:
		schedules, steps := o.least()
		if int(schedules) > o.Schedules || c.Why == explore.SpentSchedules {
			c.Limits = append(c.Limits, report.Limit{Option: optSchedules, Value: int64(o.Schedules), AtLeast: max(schedules, int64(o.Schedules)+1)})
		}
		if steps > o.Steps || c.Why == explore.SpentSteps {
			c.Limits = append(c.Limits, report.Limit{Option: optSteps, Value: o.Steps, AtLeast: max(steps, o.Steps+1)})
		}
		name := optSchedules
		if c.Why == explore.SpentSteps {
			name = optSteps
		}
		c.Why += " (" + name + ")"
	case explore.TooLong(c.Why):
		c.Needs = report.NoNumber("a run that is explored has no more steps")
		return
	}
	if e.cut() {
		c.Limits = append(c.Limits, report.Limit{Option: optPreemptions, None: true})
	}
	c.Needs = report.Needs(c.Limits)
	if n := len(e.Units); n > 0 {
		c.Needs += fmt.Sprintf(" (of %s of the exploration, %d are complete)", diag.Plural(n, "part"), c.UnitsComplete)
	}
}

// least returns the least budgets with which an exploration would come further than this one
// everywhere.
func (o *Options) least() (schedules, steps int64) {
	e := o.State
	solo := &e.Solo.Coverage
	runs, took := int64(solo.Schedules+solo.Left), solo.Steps
	if len(e.Units) == 0 {
		return enough(func(n int64) bool { return explored(n) >= runs+int64(solo.Open) }),
			enough(func(n int64) bool { return explored(n) > took+solo.OpenSteps })
	}
	total := 0.0
	for i := range e.Units {
		total += e.Units[i].Weight
	}
	n := int64(len(e.Units))
	share := func(of int64, u *unit) int64 { return max(1, dealt(of, n, u.Weight, total)) }
	all := func(holds func(u *unit) bool) bool {
		for i := range e.Units {
			if u := &e.Units[i]; !holds(u) {
				return false
			}
		}
		return true
	}
	schedules = enough(func(b int64) bool {
		left := explored(b) - runs
		return left >= n && all(func(u *unit) bool {
			return share(left, u) >= int64(u.Coverage.Schedules+u.Coverage.Left+u.Coverage.Open)
		})
	})
	steps = enough(func(b int64) bool {
		left := explored(b) - took
		return left > 0 && all(func(u *unit) bool {
			return u.Coverage.Open == 0 || share(left, u) > u.Coverage.Steps+u.Coverage.OpenSteps
		})
	})
	return schedules, steps
}

// cut reports whether schedules were left out for their preemptions.
func (e *Exploration) cut() bool {
	for u := range e.all() {
		if u.Coverage.Cut {
			return true
		}
	}
	return false
}

// explored is how much of a budget explores: the rest is for samples.
func explored(n int64) int64 { return n - n/5 }

// enough returns the least budget that holds, where each larger one does, too.
func enough(holds func(int64) bool) int64 {
	hi := int64(1)
	for hi < 1<<50 && !holds(hi) {
		hi *= 2
	}
	return int64(sort.Search(int(hi), func(n int) bool { return holds(int64(n)) }))
}

// wording of Coverage.Why where other shards have the rest.
const otherShards = "the rest is for other shards"
