package rules

import "fmt"

var mixedLanes = register(Kind{
	Name:     "mixed-lanes",
	Severity: Warning,
	Title:    "an arrival that comes to its phase only if the lanes of a warp arrive together",
	Section:  "3.2, 9.7.13.15.4",
	Text: `Lanes of a warp arrive by one instruction, each at a barrier of its own, and what
happens next waits for some of these arrivals. Nothing says that the others have come.
If one comes late, an arrival of the next phase takes its place, and a phase is
complete with an arrival missing (phase-mixing).

Who disagrees. To the ISA each lane is a thread (3.2), and lanes that come to an
instruction together may execute it one by one. A card executes it once for all of
them, and what follows takes many times longer than an arrival at another CTA. So
nothing happens on a card as long as the compiler lets the lanes reconverge before the
arrival; it does, but does not promise it.

The usual shape: two CTAs share what one of them loads for both, and a lane for each of
them gives a stage back to it, as in DeepGEMM and fast.cu. The CTA that loads waits for
its own empty barrier alone, and nobody waits for the other's before the next turn.

Mend it by having each CTA load its part for both, so that a full stage says that it was
empty in both; or let one CTA's barrier count for both.`,
})

// MixedLanes is an arrival that comes to another phase only where lanes that arrive
// together part.
func MixedLanes(f Predicted) Finding {
	low, high := min(f.Phase, f.Came), max(f.Phase, f.Came)
	return f.finding(mixedLanes,
		fmt.Sprintf("%s by %s comes to phase %d of %s instead of phase %d, unless %s arrives with %s, as one instruction has them do", f.line(&f.Act), f.who(&f.Act), low, barName(f.Bar), high, f.who(&f.By), laneNames(f.Mates)),
		fmt.Sprintf("%s comes after %s of warp %d at %s in every schedule, but not after %s there", f.line(&f.Act), laneNames(f.Mates), f.By.Warp, f.line(&f.By), f.who(&f.By)),
		fmt.Sprintf("let the thread that executes %s wait for phase %d first, or let what it waits for come after both arrivals", f.line(&f.Act), low))
}
