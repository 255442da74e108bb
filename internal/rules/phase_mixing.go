package rules

import "fmt"

var phaseMixing = register(Kind{
	Name:     "phase-mixing",
	Severity: Error,
	Title:    "an operation that is charged to one of two phases of an mbarrier, as the schedule decides",
	Section:  "9.7.13.15.4",
	Text: `Arrivals, expected bytes and bytes that land are charged to whichever phase of the
mbarrier is open when they come (ISA 9.7.13.15.4, 9.7.13.15.5). Here an operation
that belongs to one phase can come before everything that belongs to the phase
before it has. It takes the place of what is missing there: that phase is complete
with its own data still under way, and the next one lacks an arrival, or bytes.
Totals agree in every schedule, so that nothing but the order shows it.

It is found from the order of a run in which each operation came to its phase, and
shown by a second run that holds one of the earlier phase back.

The usual causes: two threads arrive at a barrier that counts one, with no wait
between; a copy for the next turn issued before the last one's phase is complete; a
copy whose bytes nobody expects in its own phase.

Mend it by letting whoever begins phase n+1 wait for phase n first, and by giving each
slot or purpose a barrier of its own. The ISA asks for such a wait anyway: a phase
must be seen complete before an arrival of the next (9.7.13.15.4).`,
})

// PhaseMixing is an operation that another schedule charges to an earlier or later phase.
func PhaseMixing(f Predicted) Finding {
	low, high := min(f.Phase, f.Came), max(f.Phase, f.Came)
	return f.finding(phaseMixing,
		fmt.Sprintf("%s by %s is charged to phase %d or to phase %d of %s, as the schedule decides", f.line(&f.Act), f.who(&f.Act), low, high, barName(f.Bar)),
		fmt.Sprintf("nothing orders %s and %s", f.line(&f.By), f.line(&f.Act)),
		fmt.Sprintf("let the thread that executes %s wait for phase %d first, or give the two barriers of their own", f.line(&f.Act), low))
}
