package rules

var uninitializedShared = register(Kind{
	Name:     "uninitialized-shared",
	Severity: Warning,
	Order:    Effect,
	Title:    "shared memory read before anyone wrote it",
	Section:  "5.1.7",
	Text: `A thread, a wgmma or an asynchronous copy reads bytes of shared memory that nothing
has written; so does a reduction that adds to them. Their content is undefined: what another CTA left there.
It is a warning where the value goes nowhere, for padding is often loaded and
thrown away. It is an error where a copy carries the bytes to global memory, and
where the value reaches an output, a branch or an address: the check runs the
schedule once more and follows, bit by bit, what is defined.

Of a wgmma the range of its A or B is named. Where a tile was written, but not there,
the descriptor's start, offsets or swizzle are those of another layout.

Often the store is there, but comes later in this schedule: then the race is found
too. Or a tile at the edge is loaded in part and used whole.

Mend it by writing the bytes first (zeros for padding), or by guarding the read.`,
})
