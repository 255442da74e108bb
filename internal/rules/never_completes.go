package rules

var neverCompletes = register(Kind{
	Name:     "never-completes",
	Severity: Error,
	Order:    Effect,
	Title:    "a wait that nothing left to run can end",
	Section:  "9.7.13.15.6",
	Text: `Threads wait for a phase, a generation or a value in memory, and nothing that
can still run will bring it: the arrival is missing, or it stands behind a wait
that itself waits for these threads. A phase completes when its pending count
and its tx-count are zero (ISA 9.7.13.15.6); try_wait may return early, but a
loop around it never ends. On an H200 the kernel hangs until someone kills it.

The usual causes: a loop that one role runs once less often than the other (an
empty tile, a trip count of zero), a role that returns before its last arrive, a
wait on the barrier of another slot than the one that was filled, a parity that
is not toggled when the ring wraps, two roles that each wait first. Everyone who
waits is listed, with who should have arrived and where they are instead. A
bounded wait that ends in a trap counts as this, not as a trap: the bound only
tells of it.

Mend it where the listed debtor left its path: make the trip counts equal, or let
a role that has nothing to do arrive all the same (mbarrier.arrive_drop where it
leaves for good).`,
})
