package rules

var divergentBarrier = register(Kind{
	Name:     "divergent-barrier",
	Severity: Error,
	Title:    "an aligned barrier or collective that part of a warp executes, or a wgmma part of a warpgroup",
	Section:  "9.7.13.1, 9.7.13.16, 9.7.14.5, 9.7.15.5.2, 9.7.15.7",
	Text: `bar, barrier with .aligned, barrier.cluster with .aligned and the collectives with
a member mask want every thread that they cover to come to the same instruction.
In conditionally executed code an aligned barrier may be used only if all threads
evaluate the condition alike, else the behaviour is undefined (ISA 9.7.13.1); a
collective waits for the lanes of its mask (ISA 9.7.13.2, 9.7.9.6). Here the other
lanes of the warp are somewhere else, and cannot come. Where they have exited it is
barrier-after-exit, a warning.

The wgmma instructions, fence, commit_group and wait_group among them, ask it of a
whole warpgroup: all 128 threads execute the same ones (ISA 9.7.15.5.2, 9.7.15.7). A
warpgroup is four warps of which the first has a number that is a multiple of four.
Matrix instructions and tensormap.cp_fenceproxy ask it of all lanes of a warp, those that
have exited included (ISA 9.7.13.16, 9.7.14.5).

On an H200 __syncthreads() under a thread-dependent if often passes: the warp
counts as arrived when some of its lanes come, which lets other warps go on
before the rest has stored what they read.

Mend it by moving the barrier out of the branch, by making the condition uniform,
or by barrier.sync without .aligned where the lanes do come one by one. A
collective names in its mask the lanes that execute it.`,
})
