package rules

var tensorLanes = register(Kind{
	Name:     "tensor-lanes",
	Severity: Error,
	Title:    "a warp accesses lanes of tensor memory that are not its own",
	Section:  "9.7.18.8.1",
	Text: `Warp w of a warpgroup reaches the lanes 32w to 32w+31 of tensor memory by tcgen05.ld and
tcgen05.st, and no others. The lane of the address is the first of them; shapes of 16 lanes
may also begin 16 lanes further on. Which lanes a multiplication uses follows from its shape.

Add (warp % 4) * 32 to the lane of the address, which is its upper half: taddr + ((warp % 4)
<< 21).`,
})
