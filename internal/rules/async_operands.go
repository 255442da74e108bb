package rules

import (
	"fmt"

	"muster/internal/machine"
)

var asyncOperandsKind = register(Kind{
	Name:     "async-operands",
	Severity: Error,
	Title:    "st.async or red.async whose data and mbarrier lie where the ISA does not allow it",
	Section:  "9.7.9.12, 9.7.13.7",
	Text: `st.async with an mbarrier needs its destination and the mbarrier in the shared memory of
one CTA of the executing thread's cluster, which may be the thread's own, and a cluster of
more than one CTA (%cluster_nctarank > 1); otherwise the behaviour is undefined (ISA
9.7.9.12). red.async needs both in one CTA, too, and that CTA must be another one than
the executing thread's (ISA 9.7.13.7).

An H200 performs all of these: data and mbarrier in different CTAs, red.async to the own
CTA, and both instructions in a cluster of one complete their phase and leave the value
(internal/rules/testdata/h200). The text does not promise it for other cards, nor in which
order a barrier in another CTA than the data learns of them.

Mend it by mapping destination and mbarrier to the same CTA with mapa, by st.shared and
mbarrier.arrive (or atom.shared) where that CTA is the thread's own, and by launching a
cluster.`,
})

// asyncOperands checks the memories of the operands of a st.async or red.async.
func (j *Judge) asyncOperands(ev *machine.Event) {
	op := ev.Op
	if op.Kind != machine.OpStAsync && op.Kind != machine.OpRedAsync {
		return
	}
	data, bar := op.Writes[0].Mem, op.Bars[0].Mem
	own := machine.SharedOf(op.CTA)
	what, missing, fix := "", "", ""
	switch {
	case data != bar:
		what = fmt.Sprintf("the data lies in CTA %d and the mbarrier in CTA %d", data, bar)
		missing = "the destination and the mbarrier must belong to the same CTA"
		fix = "map both addresses to the same CTA: mapa with one rank"
	case op.Kind == machine.OpRedAsync && data == own:
		what = "the data lies in the CTA of the thread that executes it"
		missing = "the destination and the mbarrier of red.async must belong to another CTA of the cluster"
		fix = "reduce into the own CTA's memory by red.shared::cta or atom.shared::cta, and arrive at the mbarrier after it"
	case op.Kind == machine.OpStAsync && j.Cluster == 1:
		what = "the cluster has one CTA"
		missing = "the number of CTAs in the cluster must be greater than one"
		fix = "launch clusters of two CTAs or more, or store by st.shared::cta and arrive at the mbarrier after it"
	default:
		return
	}
	j.note(asyncOperandsKind, -1, ev.PC, func() Finding {
		s := eventSite("stores", ev)
		s.Mem, s.Addr, s.Len = op.Writes[0].Mem, op.Writes[0].Addr, op.Writes[0].Len
		return Finding{
			Headline: fmt.Sprintf("%s by %s: %s", j.at(ev.PC), wordAgent(ev), what),
			Sites:    []Site{s},
			Missing:  missing,
			Fix:      fix,
			Notes:    []string{"an H200 performs it all the same; the ISA leaves it undefined"},
		}
	})
}
