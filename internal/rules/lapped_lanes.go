package rules

import (
	"fmt"
	"math/bits"
)

var lappedLanes = register(Kind{
	Name:     "lapped-lanes",
	Severity: Warning,
	Title:    "a wait that is in time only if the lanes of a warp leave it together",
	Section:  "3.2, 9.7.13.15.16",
	Text: `Lanes of a warp wait for a phase by parity, and one of them goes on to let
the next phase begin: it issues the copy that the others' next phase counts, or
arrives where somebody waits. Nothing says that the others have looked before the
next phase is complete. If they come to the wait late, the parity has flipped again,
and they sleep until the phase after, which may never come (lapped-wait).

Who disagrees. To the ISA each lane is a thread (3.2), and lanes that come to an
instruction together may execute it one by one. A card executes it once for all of
them: one test, one answer. So nothing happens on a card as long as the compiler
lets the lanes reconverge before the wait; it does, but does not promise it.

The usual shape: all lanes of a producer's warp wait for a slot, and one elected lane
then issues the copies, as in FlashAttention-3's producer at barrier_O.

Mend it with bar.warp.sync (__syncwarp) after the wait, or let only the lane wait
that goes on.`,
})

// LappedLanes is a wait that is lapped only where lanes that come to it together part.
func LappedLanes(f Predicted) Finding {
	return f.finding(lappedLanes,
		fmt.Sprintf("%s waits for %s of %s, and phase %d can be complete before it looks, unless it looks with %s, which comes to the wait with it", f.lanes(f.Act.Lanes), phaseName(f.Phase), barName(f.Bar), f.Phase+1, f.lanes(f.Mates)),
		fmt.Sprintf("nothing that phase %d counts comes after %s by %s in every schedule; something comes after that by %s", f.Phase+1, f.line(&f.Act), f.lanes(f.Act.Lanes), f.lanes(f.Mates)),
		fmt.Sprintf("put bar.warp.sync (__syncwarp) after %s, so that no lane goes on before all have passed, or let only %s wait", f.line(&f.Act), f.lanes(f.Mates)))
}

// lanes names some lanes of the waiting warp, by the lowest.
func (f *Predicted) lanes(mask uint32) string {
	return fmt.Sprintf("lane %d of warp %d of CTA %d", bits.TrailingZeros32(mask), f.Act.Warp, f.Act.CTA)
}
