package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/order"
	"muster/ptx"
)

var raceShared = register(Kind{
	Name:     "race-shared",
	Severity: Error,
	Order:    Conflict,
	Title:    "two accesses to shared memory that nothing orders",
	Section:  "8.7.1",
	Text: `Two accesses touch the same bytes of shared memory, at least one of them
writes, and no chain of synchronization leads from the one to the other. Unless
both are strong accesses that name scopes which hold each other, that is a data
race (ISA 8.7.1): the reader may see the old bytes, the new ones, or with
accesses wider than their pieces some of each.

Warps of a CTA often happen to run in the order that the author had in mind: on an
H200 a planted case without the barrier between the writers and a bulk store printed
the right answer in each of three runs. Where the later access is the store of a new tile into a
buffer that others still read, the missing edge is the one from the readers
back to the writer.

Mend it with a barrier that both sides pass between the two accesses: bar.sync
for a whole CTA, a named barrier for some of its warps, an mbarrier arrive after
the first access and a wait for that phase before the second, or a cluster
barrier where the shared memory is another CTA's.`,
})

var raceGlobal = register(Kind{
	Name:     "race-global",
	Severity: Error,
	Order:    Conflict,
	Title:    "two accesses to global memory that nothing orders",
	Section:  "8.7.1",
	Text: `Two accesses touch the same bytes of global memory, at least one of them
writes, and no chain of synchronization leads from the one to the other. Unless
both are strong accesses that name scopes which hold each other, that is a data
race (ISA 8.7.1). CTAs of a grid start in no particular order and need not run
at the same time; that one has a smaller index says nothing.

A weak store and a weak load of a flag do not synchronize, however long the load
is repeated: the flag itself must be written by st.release, or by a strong store
behind a release fence, and read by ld.acquire, or by a strong load before an
acquire fence, at .gpu scope between CTAs (ISA 8.8).

Mend it so, or by writing disjoint places, by atomics where the result is a sum,
or by splitting the work into two launches.`,
})

// plainRace is a conflict without any edge.
func (j *Judge) plainRace(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	f := Finding{
		Headline: fmt.Sprintf("%s: %s %s and %s %s, in no order", place(c.Span), agent(a), verb(a), agent(b), verb(b)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("no synchronization leads from %s to %s, or back", j.instr(a), j.instr(b)),
		Need:     j.need(LacksSync, c),
	}
	switch {
	case b.Op >= 0 && b.Barrier && !writes(a):
		f.Fix = fmt.Sprintf("let the readers arrive at an mbarrier (or reach a barrier) after %s, and wait for it before %s reuses the place", j.instr(a), j.instr(b)) + j.crossing(c, a, b)
	case a.Op >= 0:
		f.Fix = fmt.Sprintf("wait for the completion of %s in its issuing thread, then %s before %s", j.instr(a), syncBetween(c.Apart), j.instr(b))
	default:
		f.Fix = fmt.Sprintf("put %s %s", syncBetween(c.Apart), j.where(a, b)) + j.crossing(c, a, b)
	}
	if c.Span.Mem == machine.Global && a.CTA != b.CTA && a.Op < 0 && b.Op < 0 {
		f.Fix += "; or write disjoint places, or use atomics"
	}
	canonical(&f)
	return f
}

// where says between which of two accesses by lanes that nothing orders a synchronization
// is missing: as control flows, whichever of the two came first in this schedule.
func (j *Judge) where(a, b *order.AccessRef) string {
	if a.PC > b.PC {
		a, b = b, a
	}
	on, back := j.Program.Reach(a.PC + 1)[b.PC], j.Program.Reach(b.PC + 1)[a.PC]
	switch {
	case on == back && !on:
		return fmt.Sprintf("between %s and %s", j.instr(a), j.instr(b))
	case !on:
		a, b = b, a
	case a.PC == b.PC:
		return fmt.Sprintf("after %s and before the next turn comes to it", j.instr(a))
	case back && !j.Program.ReachWithout(gathers, a.PC+1)[b.PC]:
		return fmt.Sprintf("after %s and before the next turn's %s", j.instr(b), j.instr(a))
	}
	return fmt.Sprintf("after %s and before %s", j.instr(a), j.instr(b))
}

// gathers reports whether an instruction is a barrier of more than a warp.
func gathers(in *ptx.Inst) bool { return in.IsOf(ptx.ClassBarrier) && in.Form.Scope != "warp" }

// canonical sorts the sites of an unordered pair independently of the schedule:
// writes first, then by program counter.
func canonical(f *Finding) {
	a, b := &f.Sites[0], &f.Sites[1]
	if rank(a) > rank(b) || rank(a) == rank(b) && a.PC > b.PC {
		*a, *b = *b, *a
	}
}

func rank(s *Site) int {
	if n := len(s.Role); n >= 5 && s.Role[n-5:] == "reads" {
		return 1
	}
	return 0
}
