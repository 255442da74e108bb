package rules

var outOfBounds = register(Kind{
	Name:     "out-of-bounds",
	Severity: Error,
	Title:    "an access outside what the launch gave the kernel",
	Section:  "5.1, 9.7.13.15",
	Text: `A load, store, atomic, copy or barrier operation touches bytes that belong to no
buffer of the launch, no variable, and no shared memory of the CTA or its cluster;
or it writes what is read-only. Ranges of bulk copies and what they report to
count too, and so do jumps and calls through tables beyond their end. The card
ends the launch with 'illegal address' where a page is missing, and reads or
overwrites someone else's data where it is not.

An instruction that takes addresses of shared::cta alone takes no generic address of a
peer's shared memory either: mbarrier.init, inval, test_wait and try_wait,
cp.async.mbarrier.arrive, ldmatrix and stmatrix; and an arrival, which may be at a peer's
mbarrier, returns no state then (ISA 9.7.13.15.9 to 9.7.13.15.16).

A load or store of 256 bits, which is .v8 of 32 bits or .v4 of 64 bits, takes no generic
address but of global memory (ISA 9.7.9.8, 9.7.9.11).

mapa and getctarank take no generic address but of shared memory (ISA 9.7.9.23, 9.7.9.24),
though they access nothing. Of local memory a thread has its variables and what alloca gave
it and stackrestore has not taken back (ISA 9.7.17).

Buffers are checked at their very bytes: what lies past the end is out of bounds,
however near. A launch knows nothing of what others left on the heap: a pointer that
an earlier kernel got from malloc leads nowhere.

Mend the index, its guard, or the sizes in the launch; give memory that an earlier
launch allocated as a buffer with its base.`,
})
