package rules

import "fmt"

var earlyWait = register(Kind{
	Name:     "early-wait",
	Severity: Error,
	Title:    "a wait for a phase that passes on the one before",
	Section:  "9.7.13.15.16",
	Text: `A wait by parity is true for the immediately preceding phase and false for the
current one (ISA 9.7.13.15.16). A wait that is meant for phase n and looks while
phase n-1 is still open has the parity of phase n-2, which is complete: it passes at
once, and what phase n brings is not there. On a fresh barrier the parity of phase 1
is that of the phase before the first, so a wait with parity 1 passes.

Here nothing makes the wait come after phase n-1 is complete. It is found from the
order of a run in which it happened to come late enough, and shown by a second run
that holds back what phase n-1 counts.

The usual causes: a wait left out in the turn before (an if around it, a first turn
that is peeled), a parity that starts at 1 where a filled slot is awaited, a phase
that only another thread has waited for, with no barrier between the two.

Mend it by waiting for every phase in turn, in this thread or in one that it is
ordered after.`,
})

// EarlyWait is a wait that can pass two phases too early, on a phase of the same parity.
func EarlyWait(f Predicted) Finding {
	return f.finding(earlyWait,
		fmt.Sprintf("%s waits for phase %d of %s, and can come there while phase %d is open: it passes at once, on %s", f.who(&f.Act), f.Phase, barName(f.Bar), f.Came+1, phaseName(f.Came)),
		fmt.Sprintf("nothing makes %s come after %s, which phase %d counts", f.line(&f.Act), f.line(&f.By), f.Phase-1),
		fmt.Sprintf("wait for phase %d before phase %d, in this thread or in one that it is ordered after", f.Phase-1, f.Phase))
}
