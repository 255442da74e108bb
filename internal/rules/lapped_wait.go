package rules

import "fmt"

var lappedWait = register(Kind{
	Name:     "lapped-wait",
	Severity: Error,
	Title:    "a wait by a parity that has flipped again",
	Section:  "9.7.13.15.16",
	Text: `A wait by parity tells two phases apart and no more: test_wait.parity and
try_wait.parity are true for the immediately preceding phase and false for the
current one (ISA 9.7.13.15.16). So a wait for phase n must look before phase n+1 is
complete. Here nothing makes phase n+1 wait for that: no arrival, no bytes and no
copy that phase n+1 counts comes after this wait in every schedule. A thread that is
slow finds the parity flipped again, and sleeps until phase n+2, which may never
come, or passes on that one and reads what does not belong to it.

It is found from the order of a run in which it happened to go well, and shown by
a second run that holds the waiting lanes back until the barrier has lapped them.

The usual causes: a producer that does not wait for the slot to be free, or waits
on the wrong slot's barrier; a consumer that frees the slot before its wait; one of
several consumers whose arrival the empty barrier does not count; the wait for a
free slot (parity 1 on a fresh barrier) by a thread that nobody waits for.

Mend it by letting phase n+1 need an arrival that this thread makes after its wait:
on the barrier itself, or on the one that the producer waits for before it fills the
slot again.`,
})

// LappedWait is a wait whose next phase can complete before it tests.
func LappedWait(f Predicted) Finding {
	return f.finding(lappedWait,
		fmt.Sprintf("%s waits for %s of %s, and phase %d can be complete before it looks", f.who(&f.Act), phaseName(f.Phase), barName(f.Bar), f.Phase+1),
		fmt.Sprintf("nothing that phase %d counts comes after %s in every schedule", f.Phase+1, f.line(&f.Act)),
		fmt.Sprintf("let %s, which completes phase %d, come after an arrival that this thread makes after its wait: on a barrier that is waited for before the next phase begins, as the empty barrier of a ring's slot is", f.line(&f.By), f.Phase+1))
}
