/*
Package kernel writes asynchronous kernels for Hopper GPUs in Go. The same
program runs on the machine of package muster, is checked there (proven correct,
refuted by a failing schedule, or left incomplete by name), prints as PTX, and is
launched on a GPU by package gpu.

	k := kernel.New("saxpy", kernel.Block(128))
	x := k.GlobalPtr("x", kernel.F32)
	y := k.GlobalPtr("y", kernel.F32)
	n := k.Param("n", kernel.U32)
	a := k.Param("a", kernel.F32)
	i := k.CtaidX().Mad(128, k.TidX())
	k.If(i.Lt(n), func() {
		y.At(i).Store(x.At(i).Load().Mad(a, y.At(i).Load()))
	})
	call, err := k.Call(kernel.Grid(2), xs, ys, 200, 2.0) // builds the module

# How it works

A Kernel is a program under construction: every call appends instructions, in
order. A Reg is a register, not a Go value, so Go's control flow decides which
instructions are written, and the kernel's control flow which ones run:
a loop in Go unrolls, For, While and Loop loop, If and IfElse branch, Guard
predicates. Go constants become immediates.

Operations are methods of their operand: arithmetic of a Reg, logic of a
Pred, loads and stores of a Ptr, arrivals and waits of an Mbarrier. They emit
one instruction unless their documentation says otherwise,
and nothing is reordered. Any other instruction of the table in package ptx
is available too, such as exponentials and square roots: Inst takes it as text,
and package inst has a function for each (inst.Ex2F32, inst.SqrtF32).

# Threads

Every thread of the CTA executes the code, except in groups:
Threads, Warps, Warpgroup, SingleWarp, SingleThread and Elect run
their bodies in a part of the current group, and nest. An operation takes effect
once per executing thread: an Arrive in a group of 128 is 128 arrivals,
in SingleThread it is one. Sync synchronizes the current group by the
cheapest sufficient instruction, and returns which.

# Memory

A Ptr is an address in a state space, of elements of one type; At indexes it.
Shared, Tile and the barriers allocate shared memory; if its total exceeds
48 KiB it becomes dynamic, and Call requests it. Remote returns the same
location in another CTA of the cluster. TensorMemory is columns of Blackwell's tensor
memory, which one warp allocates and frees; its parts take columns in turn.

# Mistakes

A wrong type, an address in the wrong state space, a register that is read
before it is set, an uninitialized barrier: each mistake is recorded with its line
of the Go program, and Build returns them all, as Errors. Check of package
muster finds errors of a run (a race, a lost arrival, a missing fence);
its findings name the Go line too, by the .loc directives
of the module. A complete test is

	l, err := muster.LoadCall(call, muster.Limits{})
	r, err := l.Check(t.Context(), muster.CheckOptions{})
	if r.Verdict != "clean" {
		r.WriteText(t.Output(), muster.TextOptions{})
		t.Error(r.Summary)
	}

The zero Reg, Pred, Ptr, Tile and Mbarrier belong to no kernel that could record
a mistake: their methods panic with a message.

# Limits

One kernel per module. Grids, clusters and blocks have a GPU's limits; shared
memory goes up to 227 KiB. Textures and surfaces are not supported. Of Blackwell's
instructions, products in tensor memory, its loads and stores, commits, pairs of CTAs and
launch control have operations here; the others are in package inst. A kernel has at most 262,144 instructions, labels and variables: a loop in Go that
adds more is a mistake, and one that continues for as long again panics.
*/
package kernel
