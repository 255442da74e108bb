package rules

var arrivalsMissing = register(Kind{
	Name:     "arrivals-missing",
	Severity: Error,
	Title:    "fewer arrivals come than an mbarrier counts",
	Section:  "9.7.13.15.9",
	Text: `A phase waits for more arrivals than are ever made: everyone who arrives at this
mbarrier has done so, and the pending count is not zero. The count given to
mbarrier.init is the number of arrivals of one phase (ISA 9.7.13.15.9), and it is
easy to take threads for arrivals: where an elected lane arrives for its warp the
count is the number of warps; arrive.expect_tx by one producer counts one.

cp.async.mbarrier.arrive without .noinc raises the pending count by the arrival
that it makes later, so that it takes nothing off the count that init set;
with .noinc it does, and the count must include it (ISA 9.7.13.15.15).

On an H200 the kernel hangs. Mend the count, or let the threads arrive that it
was made for.`,
})
