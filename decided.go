package muster

import (
	"cmp"
	"slices"

	"muster/internal/order"
	"muster/internal/prove"
	"muster/internal/trial"
	"muster/report"
)

// How much an incomplete check decided: which pairs of instructions have conflicting accesses,
// and which of these are in order (docs/exploration.md, "How much was decided"). It takes runs
// of its own, made where the verdict will not be clean, or an exploration takes so many that
// these are few.

const (
	// maxWatched bounds the schedules that are watched for it, enoughWatched how many warp
	// instructions of one; after so many as fewWatched no other follows.
	maxWatched    = 2
	enoughWatched = 1 << 22
	fewWatched    = 1 << 14
	// maxOpen is how many of the open pairs are named.
	maxOpen = 8
)

// counts counts the pairs, once, unless the time is over.
func (c *checking) counts() {
	if c.pairs != nil || c.budget.Over() != "" {
		return
	}
	list := c.list[:min(len(c.list), maxWatched)]
	every := c.everySchedule()
	if every {
		list = []trial.Schedule{trial.ProofSchedule}
	}
	c.budget.Meter.Stage("counting what is in order", "schedule", len(list))
	all := order.NewPairs()
	d := &report.Decided{EverySchedule: every}
	for _, s := range list {
		p, took, ended := prove.Pairs(c.subject, c.budget, s, enoughWatched, c.skip)
		if c.budget.Over() != "" {
			return
		}
		all.Join(p)
		d.Schedules++
		d.Cut = d.Cut || !ended
		if took >= fewWatched {
			break
		}
		c.budget.Meter.Did(1)
	}
	if d.Cut {
		d.EverySchedule = false
	}
	c.resolvePairs(d, all)
	c.pairs = d
}

// everySchedule reports whether what the run of the proof shows of the order of accesses holds
// in every schedule: the proof holds, by one run; or its run shows that every schedule makes
// the same accesses in the order of control, and no value that an access gives decides what
// others do, so that what fails, C8, is no more than what is open.
func (c *checking) everySchedule() bool {
	switch p := c.proof; {
	case p == nil || p.Together || c.orders || c.grants || c.ticket:
		return false
	case p.All:
		return true
	default:
		return !slices.ContainsFunc(p.Reasons, func(r report.Reason) bool { return r.Condition != "C8" }) && !c.subject.ContentsDecide()
	}
}

// resolvePairs enters the pairs into the report's form, in the order of the text.
func (c *checking) resolvePairs(d *report.Decided, all *order.Pairs) {
	d.Pairs, d.Ordered = len(all.Met), len(all.Met)-len(all.Open)
	open := make([]order.PCs, 0, len(all.Open))
	for k := range all.Open {
		open = append(open, k)
	}
	slices.SortFunc(open, func(a, b order.PCs) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	d.Open = []report.Pair{}
	for _, k := range open[:min(len(open), maxOpen)] {
		d.Open = append(d.Open, report.Pair{First: c.place(k[0]), Second: c.place(k[1])})
	}
}
