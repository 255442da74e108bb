// Package machine is the asynchronous machine of Hopper and Blackwell GPUs: grids,
// clusters, CTAs and warps, their memories and barriers, tensor memory, and the
// operations that run beside the threads.
//
// Decode turns a kernel into a Program: registers become rows of 32 lanes,
// symbols addresses, and each instruction the function that executes it. New
// makes a Machine of it for one launch. A Machine is plain values: Clone copies
// it, Hash hashes it, Enabled says which choices its state offers, and Step
// takes one. Every run is a function of its choices. An Observer sees each
// visible event; the machine knows no rules and never judges.
//
// An instruction is plain (it accesses registers only), a branch, a collective of
// its warp, or visible: an access to memory that others share, a barrier, a
// fence, the issue of an asynchronous operation, an exit. Between visible
// instructions a split, that is the lanes of a warp at one program counter, runs
// undisturbed. An asynchronous operation has milestones, each a choice: its
// source is read, its destination written, its completion signalled.
//
// Waiting is a state and not a loop: await.go says how the machine recognises it,
// and why a deadlock is a fact here and not a timeout.
//
// What the text of a program tells without a run is package flow's to say: flow.go
// tells that package what the decoder knows, and asks it.
//
// What it does not model stops a run by name when it is reached (Unmodelled):
// textures and surfaces, programmatic dependent launch, multimem, and what sm_107 alone
// has. Caches and their hints have no effect. Memory is sequentially consistent within a
// schedule: what a weaker memory could show is for package order to find. Clocks are virtual.
package machine
