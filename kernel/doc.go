/*
Package kernel writes asynchronous kernels for Hopper GPUs in Go. The same
program runs on the machine of package muster, is proven right or handed back
with the schedule that breaks it, prints as PTX, and is launched on a GPU by
package gpu.

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

A Kernel is the text of a kernel that grows: every call adds instructions to
its end, in order. A Reg is a register and no value of Go, so that Go's own
control flow decides what is written, and the kernel's control flow what runs:
a loop of Go unrolls, For, While and Loop loop, If and IfElse branch, Guard
predicates. Go constants become immediates.

Operations are methods of what they work on: arithmetic of a Reg, logic of a
Pred, loads and stores of a Ptr, arrivals and waits of an Mbarrier. They emit
what their documentation says, one instruction where it does not say more,
and nothing is scheduled or moved. Any instruction of the table in package ptx
is there too, exponentials and square roots among them: Inst takes it as text,
and package inst has a function for each (inst.Ex2F32, inst.SqrtF32).

# Threads

What is written is executed by every thread of the CTA, unless a group says
otherwise: Threads, Warps, Warpgroup, SingleWarp, SingleThread and Elect run
their bodies with a part of the current group, and nest. An operation counts
as often as threads execute it: an Arrive in a group of 128 is 128 arrivals,
in SingleThread it is one. Sync synchronizes the current group with the
cheapest means that does, and says which.

# Memory

A Ptr is an address in a state space, of elements of one type; At indexes it.
Shared memory comes from Shared, Tile and the barriers; where it is more than
48 KiB together it becomes dynamic, and Call asks for it. Remote gives the same
place in another CTA of the cluster.

# Mistakes

A wrong type, an address in the wrong state space, a register that is read
before it is set, a barrier that nobody initializes: each is kept with the line
of the Go program that made it, and Build gives them all, as Errors. What only
a run shows (a race, a lost arrival, a missing fence) is for Check of package
muster to find; its findings name the line of Go too, by the .loc directives
of the module. A test says it all with

	l, err := muster.LoadCall(call, muster.Limits{})
	r, err := l.Check(t.Context(), muster.CheckOptions{})
	if r.Verdict != "clean" {
		r.WriteText(t.Output(), muster.TextOptions{})
		t.Error(r.Summary)
	}

The zero Reg, Pred, Ptr, Tile and Mbarrier belong to no kernel that could keep
a mistake: their methods panic, and say so.

# Limits

One kernel a module. Grids, clusters and blocks as a GPU has them; shared
memory up to 227 KiB. Textures and surfaces are left out. Instructions of
Blackwell are in package inst, and have no operations of their own here. A
kernel has 262,144 instructions, labels and variables at most: a loop of Go that
adds more is a mistake, and one that goes on for as long again a panic.
*/
package kernel
