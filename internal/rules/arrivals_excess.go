package rules

var arrivalsExcess = register(Kind{
	Name:     "arrivals-excess",
	Severity: Error,
	Order:    Effect,
	Title:    "more arrivals come than an mbarrier counts",
	Section:  "9.7.13.15.9",
	Text: `More arrivals are made in one round than the count of the mbarrier. The phase
completes without the last ones, and each of these is charged to the next phase,
which then completes too early, before the data or the free slot that it stands
for is there; later phases run ahead of the threads that wait for them until a
parity fits no more. An arrival at a phase with no arrival pending is undefined
(ISA 9.7.13.15.2); an H200 ends the launch with 'unspecified launch failure'
there, and hangs or computes wrong values where the next phase has opened.

It is found where an arrival comes when none is pending, and where the thread
that arrives knows of none of the arrivals that completed the phase before, so
that in another order it would have been one of them. Typical are a count of
warps where all threads arrive, a count of consumers that forgets one, and a
producer that arrives again without waiting for the slot to be free.

Mend the count, elect the lane that arrives, or wait for the phase before
arriving at the next.`,
})
