package rules

import "strings"

var tensorLanes = register(Kind{
	Name:     "tensor-lanes",
	Severity: Error,
	Title:    "a warp accesses lanes of tensor memory that are not its own",
	Section:  "9.7.18.8.1",
	Text: `Warp w of a warpgroup reaches the lanes 32w to 32w+31 of tensor memory by tcgen05.ld and
tcgen05.st, and no others. The lane of the address is the first of them; shapes of 16 lanes
may also begin 16 lanes further on. Which lanes a multiplication uses follows from its shape.
tcgen05.shift moves the lanes of one warp, and begins with its first (9.7.18.9.3).

An address of lane 0 in another warp than the first is a warning: by the letter it is wrong,
but shipped kernels have it (DeepGEMM's epilogues), and a card takes the lanes of the warp's
own quarter, as the check then does.

Add (warp % 4) * 32 to the lane of the address, which is its upper half: taddr + ((warp % 4)
<< 21).`,
})

// lanesRemedy says what is missing and what to do about lanes that cannot be accessed.
func lanesRemedy(cause string) (missing, fix string) {
	if strings.Contains(cause, "a multiple of 32") {
		return "31 of 32 lanes move together", "begin at lane 0, 32, 64 or 96, and shift each 32 lanes by an instruction of their own"
	}
	return "a warp reaches 32 of the 128 lanes, by its number", ownLanes
}

// ownLanes is how to mend it.
const ownLanes = "add (warp % 4) * 32 to the lane of the address: taddr + ((warp % 4) << 21)"
