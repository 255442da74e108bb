package rules

var namedBarrierMismatch = register(Kind{
	Name:     "named-barrier-mismatch",
	Severity: Error,
	Title:    "warps disagree on a generation of a named barrier",
	Section:  "9.7.13.1",
	Text: `A generation of a named barrier is complete when as many threads have come to it
as its count says, syncing and arriving ones together. All participants must
give the same count, and which arrivals make up a generation must not depend on the
schedule: 'care must be taken to keep a warp from executing more barrier
instructions than intended' (ISA 9.7.13.1). Otherwise one warp fills another's
place: a generation opens before its data is there, and a sync is left over that
hangs: where a count is given, exits make up for nothing (measured on an H200). bar.red may not be
mixed with the other forms in one generation, and all of its participants combine their
predicates by one operation.

A warp may come twice to one generation: each arrival counts its 32 threads, as an H200
confirms, and FlashAttention-3 opens its first turn so, with 128 threads that arrive
and then sync at a barrier of 256.

It is found when counts differ, when a sync is left over, and when a warp comes to the
next generation without any synchronization that shows it the one before complete: two
bar.arrive in a row on the producer's side pass a slow consumer by. On an H200 a kernel
whose counts disagree printed the right answer each time.

Mend it with one count everywhere (producers' and consumers' threads together, in
multiples of 32), and with a second barrier for the way back.`,
})
