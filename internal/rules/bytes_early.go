package rules

var bytesEarly = register(Kind{
	Name:     "bytes-early",
	Severity: Error,
	Title:    "a phase expects fewer bytes than its copies bring",
	Section:  "9.7.13.15.5",
	Text: `More bytes land on an mbarrier than its phase expects. The tx-count passes
through zero before the last copy has landed: if the arrivals are in by then, the
phase completes and waiting threads read what is not there yet. Otherwise the
count steps past zero and the phase never completes. Either way the bytes left
over are charged to the phase that is open when they land, which then completes
early, or never (ISA 9.7.13.15.5, .6).

Which of these happens is decided by the order in which copies land. On an H200
a ring with too few bytes expected hangs as a rule; with a single tile it often
prints the right answer. The usual cause is a second operand whose bytes were
forgotten in the sum.

Mend it by expecting the bytes of every copy that names the mbarrier, before or
with the arrival of the thread that issues them. The copies may be issued before
their expect_tx, as long as an arrival of that thread follows both.`,
})
