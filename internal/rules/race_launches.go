package rules

import (
	"fmt"
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
)

var raceLaunches = register(Kind{
	Name:     "race-launches",
	Severity: Error,
	Order:    Conflict,
	Title:    "two launches that may overlap access the same memory, and one writes",
	Section:  "9.7.13.13, 8.9.5",
	Text: `A launch sees what another wrote if that one has completed before it begins: in one
stream, behind an event that it waits for, behind an edge of a graph. Launches in
streams that no event joins may run at the same time, or in either order.

A programmatic dependent launch begins earlier: when every CTA of the launch before
it has executed griddepcontrol.launch_dependents (cudaTriggerProgrammaticLaunchCompletion),
or has ended. From then on the two overlap. What the earlier launch wrote is visible
behind the dependent launch's griddepcontrol.wait (cudaGridDependencySynchronize), which
waits until the earlier ones have completed and their memory operations are performed
and made visible (ISA 9.7.13.13). What the earlier one still reads may be overwritten
only behind that wait, too. launch_dependents itself releases nothing: only what precedes
a fence at .gpu scope (__threadfence) before it is visible to the dependent launch from
its begin. The first thread of a CTA that executes it counts, and lets the CTA's other
threads be as far as they are: so a barrier of the CTA comes first, then the fence, then
launch_dependents.

An H200 shows what was written before launch_dependents also without the fence, and
begins a dependent launch only at the end of one that never executes it: such a kernel
is right on that card until someone adds launch_dependents.

Where a launch never waits, the next one's wait covers it and those before it: an H200
completes launches of a stream in their order.

Mend it by griddepcontrol.wait in the threads that access the memory, or in one of them
before a barrier of the CTA; between streams by an event that the second waits for.`,
})

// betweenLaunches reports whether a conflict is of accesses of two launches.
func (j *Judge) betweenLaunches(c *order.Conflict) bool {
	return j.GridOf(c.Prior.CTA) != j.GridOf(c.Cur.CTA)
}

// dependent reports whether a conflict is of accesses of a launch and of one that depends on
// it and has not waited for it.
func (j *Judge) dependent(c *order.Conflict) bool {
	first, second := j.GridOf(c.Prior.CTA), j.GridOf(c.Cur.CTA)
	return j.betweenLaunches(c) && slices.Contains(j.Grids[max(first, second)].Awaited, min(first, second))
}

func (j *Judge) launchRace(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	if j.GridOf(a.CTA) > j.GridOf(b.CTA) {
		a, b = b, a
	}
	f := Finding{Sites: j.pair(c)}
	if j.dependent(c) {
		f.Headline = fmt.Sprintf("%s: %s %s before its launch has waited for the one of %s, which %s", place(c.Span), agent(b), verb(b), agent(a), verb(a))
		f.Missing = fmt.Sprintf("griddepcontrol.wait between the begin of the dependent launch and %s", j.instr(b))
		f.Fix = fmt.Sprintf("griddepcontrol.wait (cudaGridDependencySynchronize) before %s, in each thread that executes it, or in a thread of its CTA before a barrier that they all pass", j.instr(b))
		if slices.Contains(j.Grids[j.GridOf(b.CTA)].Triggers, j.GridOf(a.CTA)) && writes(a) && !writes(b) && a.Op < 0 && b.Proxy == machine.Generic {
			f.Fix += fmt.Sprintf("; or, in the earlier launch, after %s and in this order: a barrier of all threads of the CTA, fence.acq_rel.gpu, and the CTA's first griddepcontrol.launch_dependents", j.instr(a))
		}
	} else {
		f.Headline = fmt.Sprintf("%s: %s %s and %s %s, in launches that nothing orders", place(c.Span), agent(a), verb(a), agent(b), verb(b))
		f.Missing = "neither launch comes after the other: they are in streams, or branches of a graph, that no event and no edge joins"
		f.Fix = "let the second wait for an event recorded behind the first, launch both in one stream, or add an edge between them"
	}
	canonical(&f)
	return f
}
