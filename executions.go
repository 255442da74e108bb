package muster

import (
	"fmt"
	"slices"
	"strings"

	"muster/internal/coherence"
	"muster/internal/executions"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/ptx"
	"muster/report"
)

// Where interleavings do not decide, since the memory model of the ISA has executions that are
// none, the executions themselves are explored (internal/executions): they include every
// interleaving.

// looseText is the gap of load buffering.
const looseText = "by the letter of the memory model this access could take part in load buffering (ISA 8.10.4)%s; executions of that kind were not looked at"

// loosely tells of load buffering: what the access could return too early, and what leads to it.
func (c *checking) loosely(o *coherence.Open) rules.Gap {
	line := func(pc int32) int32 { return c.subject.Program.Pos(pc).Line }
	how := ""
	if o.Write >= 0 {
		how = fmt.Sprintf(": it could return what is written at line %d, which comes after it", line(o.Write))
	}
	// A hop without a release, or an acquire, is one that could have it.
	for _, h := range o.Hops {
		release, acquire := c.hands(h.Write, ptx.Release), c.hands(h.Read, ptx.Acquire)
		if release && acquire && h != o.Hops[len(o.Hops)-1] {
			continue
		}
		how += fmt.Sprintf(", as line %d reads what line %d wrote", line(h.Read), line(h.Write))
		switch {
		case !release && !acquire:
			how += "; a release there and an acquire here would rule that out"
		case !release:
			how += "; a release there would rule that out"
		case !acquire:
			how += "; an acquire here would rule that out"
		}
		break
	}
	return rules.Gap{What: fmt.Sprintf(looseText, how), PC: o.PC}
}

// hands reports whether an instruction is a release, or an acquire.
func (c *checking) hands(pc int32, sem ptx.Sem) bool {
	in := c.subject.Program.Inst(pc)
	return in != nil && (in.Sem() == sem || in.Sem() == ptx.AcqRel)
}

// executionsEach is how many executions may run for each schedule of the budget: they are short, and
// there are many.
const executionsEach = 20

// executes explores executions, if that is what the verdict lacks: interleavings do not decide, or
// there are too many of them. Of these, all orders of accesses to a word that show in no value
// are one execution.
func (c *checking) executes() {
	if c.Wrong() || !c.settlesByExecutions() {
		return
	}
	c.tell("an exploration of executions that are no interleavings")
	c.budget.Meter.Stage("exploring executions", "", 0)
	r := c.everyExecution()
	for i := range r.Findings {
		f := &r.Findings[i]
		at := trial.Index(c.list, f.Schedule)
		if at < 0 {
			at = len(c.list)
			c.list = append(c.list, f.Schedule)
		}
		c.Add(at, &trial.Result{Findings: []rules.Finding{f.Finding}})
	}
	c.contests()
	if !r.Coverage.Complete {
		c.doubts(r)
		return
	}
	c.Gaps = slices.DeleteFunc(c.Gaps, func(g rules.Gap) bool { return g.Executions })
	for _, g := range r.Gaps {
		c.AddGap(g)
	}
	for i := range r.Loose {
		if c.Wrong() {
			break // with an error found, what else there may be decides nothing
		}
		c.AddGap(c.loosely(&r.Loose[i]))
	}
	c.coverage = &report.Coverage{Schedules: r.Coverage.Schedules, Left: r.Coverage.Left, Steps: r.Coverage.Steps, Longest: r.Coverage.Longest, Complete: true, Executions: true}
}

// doubts names an execution that may be wrong, where not all could be explored. The first is enough.
func (c *checking) doubts(r *executions.Result) {
	if c.Wrong() || len(r.Doubts) == 0 {
		return
	}
	f := &r.Doubts[0]
	c.AddGap(rules.Gap{What: fmt.Sprintf(doubtText, f.Schedule), PC: f.Sites[len(f.Sites)-1].PC})
}

// doubtText is the gap of an execution in doubt.
const doubtText = doubtful + " that no interleaving left which was run; not all of them were. Its schedule: %s"

const doubtful = "this access returns an overwritten value in an execution that is no interleaving and leaves a memory"

func inDoubt(gap string) bool { return strings.HasPrefix(gap, doubtful) }

// everyExecution explores executions: first with each fence.sc as a fence.acq_rel, if there are
// some. That has all executions and more, and no orders of fences to go through, of which n have
// n!. What is right so is right.
func (c *checking) everyExecution() *executions.Result {
	o := executions.Options{Schedules: executionsEach * c.explore.Schedules, Steps: c.explore.Steps, Begin: c.explore.Prepare, Final: c.explore.Final}
	if c.coverage.Complete { // they are not too many
		o.Interleavings = 2*c.coverage.Schedules + 2*c.coverage.Left + 100
	}
	if c.subject.Program.FencesSC() {
		o.WeakFences = true
		r := executions.Explore(c.budget, c.subject, o)
		o.WeakFences = false
		switch {
		case !r.Right():
		case explore.Spent(r.Coverage.Why): // there are more with the orders of fences: too many, too
			s := executions.Sample(c.budget, c.subject, o)
			s.Coverage = r.Coverage
			return s
		default:
			return r
		}
	}
	return executions.Explore(c.budget, c.subject, o)
}

// settlesByExecutions reports whether the accesses that leave the verdict open are those of
// threads to words of memory: others have no versions.
func (c *checking) settlesByExecutions() bool {
	if writesStronglyLater(c.subject.Program) {
		return false
	}
	lacks := !c.coverage.Complete && (explore.Spent(c.coverage.Why) || explore.TooLong(c.coverage.Why))
	for _, g := range c.Gaps {
		if !g.Executions {
			return false
		}
		lacks = true
		if g.PC < 0 {
			continue
		}
		if in := c.subject.Program.Inst(g.PC); in == nil || in.Op != "ld" && in.Op != "st" && in.Op != "atom" && in.Op != "red" || in.Form != nil && in.Form.Async != "none" {
			return false
		}
	}
	return lacks
}

// writesStronglyLater reports whether a program has asynchronous operations that write strongly:
// reductions, and st.async with a scope or a release. What they wrote has no versions, so that an
// access which returns an older value is no execution of the machine.
func writesStronglyLater(p *machine.Program) bool {
	for pc := range int32(p.Len()) {
		in := p.Inst(pc)
		if in == nil || in.Form == nil || in.Form.Async == "none" || !in.Effect().Has(ptx.Writes) {
			continue
		}
		if in.Effect().Has(ptx.Updates) || in.Op == "st" && in.Sem() != ptx.Weak {
			return true
		}
	}
	return false
}
