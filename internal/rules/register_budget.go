package rules

var registerBudget = register(Kind{
	Name:     "register-budget",
	Severity: Error,
	Title:    "setmaxnreg that cannot be granted, or not by the whole warpgroup",
	Section:  "9.7.19.5",
	Text: `setmaxnreg moves registers between a warp and the pool of its CTA. An increase
blocks until the pool covers it, so that others must have lowered their share by
as much before, and may not wait for the one that increases. The same instruction
must be executed by all lanes of all four warps of a warpgroup, in convergence; after one, all warps
of the warpgroup must synchronize explicitly before the next (one that asks for what the warp has is
left out: it changes nothing, and Triton emits it); a decrease must
not ask for more than the warp has, nor an increase for less. Otherwise the
behaviour is undefined (ISA 9.7.19.5).

On the card an increase that is not granted hangs; a warp of the group that skips
the decrease keeps its registers, and the increase of the others is short by its
share. Two of them in a row, with one warp a million cycles late, went well on an H200
(internal/rules/testdata/h200), which says nothing about larger kernels.

Where the warps of a warpgroup ask for the same number at different lines it is a warning:
in CUTLASS's kernels for sm_100 each warp has a role, and its own copy of the instruction. And
so it is where each asks for its own number, as often as its neighbours: the attention kernels
of CUTLASS and FlashAttention for sm_100 let idle warps keep fewer, and in CUTLASS's for decoding
one warp of a warpgroup raises its share while the others lower theirs. The pool is counted by
warps, so an increase that comes up short is found. A warp that leaves out an instruction which
its neighbours execute is an error.

Mend it by letting the whole warpgroup execute the instruction under one
condition, the decreases first, and by checking that the sum fits: registers a
thread times threads, over all warps, at most what the CTA had at entry.`,
})
