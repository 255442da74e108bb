package rules

import "fmt"

var expectLate = register(Kind{
	Name:     "expect-late",
	Severity: Error,
	Title:    "bytes expected after the last arrival of their phase",
	Section:  "9.7.13.15.5.1",
	Text: `expect_tx raises the tx-count of the phase that is open when it comes
(ISA 9.7.13.15.5.1), and cp.async.mbarrier.arrive without .noinc raises the pending
count. A phase is complete as soon as both counts are zero (9.7.13.15.6). So a debt
must be booked before the phase's last arrival; here no arrival of its phase comes
after it in every schedule. Other threads' arrivals can complete the phase first:
its waiters read data that has not come, and the debt is charged to the next phase.

It is found from the order of a run in which the debt came first, and shown by a
second run that holds it back.

Mend it with mbarrier.arrive.expect_tx, which books and arrives as one, or let the
thread that expects the bytes arrive itself afterwards and count that arrival. For
cp.async use cp.async.mbarrier.arrive.noinc, counted at init.`,
})

// ExpectLate is an expect-tx that its phase need not wait for.
func ExpectLate(f Predicted) Finding {
	r := f.finding(expectLate,
		fmt.Sprintf("phase %d of %s can be complete before %s by %s is booked", f.Phase, barName(f.Bar), f.line(&f.Act), f.who(&f.Act)),
		fmt.Sprintf("no arrival of phase %d comes after %s in every schedule", f.Phase, f.line(&f.Act)),
		fmt.Sprintf("let the thread that executes %s arrive at this barrier afterwards (mbarrier.arrive.expect_tx does both), and count that arrival at init", f.line(&f.Act)))
	r.Need = Need{Lack: LacksArrival, First: f.By, Then: f.Act, FirstOp: -1, ThenOp: -1, Bar: f.Bar, Phase: f.Phase}
	return r
}
