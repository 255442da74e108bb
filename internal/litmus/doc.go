// Package litmus reads litmus tests of the PTX memory consistency model and answers them by
// two engines that share nothing.
//
// The formats are those of herd (GPU_PTX: registers that hold addresses, ld.cg, membar, a tree
// of scopes; Alglave et al., GPU Concurrency, ASPLOS 2015) and of Dat3M (PTX: a place for each
// thread, semantics and scopes, proxies and aliases, barriers with instances). Read gives a
// Test, which belongs to neither engine.
//
//   - Axioms enumerates the executions that the axioms of ISA chapter 8 allow, by package
//     axiom/flow, and collects their outcomes: the values of what the condition names.
//   - Machine emits the test as PTX (Kernel), runs it on the machine in every execution that
//     the explorer has, and collects the same. The function executions alone knows what an
//     execution of the machine is.
//
// Answer asks both, joins their outcomes, and says where they differ and why: load buffering
// (8.10.4), of which no machine that executes one step after the other has any. An outcome of
// the machine that the axioms do not have is a mistake in one of the two, and so is one that it
// lacks.
//
// The machine explores a test as a check does, up to the first data race of each execution. Where
// there is one, or the test has what no kernel has (virtual aliases, other proxies, a second GPU),
// it explores again, with versions of weak accesses (racing.go).
//
// Loops are unrolled to a bound, the same for both: an execution in which a thread jumps
// backward more often has no outcome, and the answer says that there are such.
//
// # Choices
//
//  1. membar is fence.sc (9.7.13.4), ld.volatile relaxed at system scope (8.4.2), ld.ca, .cg
//     and so on weak: what caches do is no part of the model.
//  2. A barrier without a count is for the threads that name it; where some name it by a
//     register nobody waits, as in Dat3M. One with a count opens for each set of so many
//     arrivals, and begins anew (9.7.13.1). A thread that waits for ever ends no execution.
//  3. Without places each thread is in a CTA of its own. A warp of a tree is no scope (8.5).
//  4. State spaces are not told apart (8.3): shared memory is taken of one CTA, where it is as
//     global memory.
//  5. A reduction's read acquires nothing (8.11.1): red.acq_rel, which PTX does not have and
//     Dat3M does, is red.release.
//
// # Dat3M's tests
//
//	go test ./internal/litmus -run TestDat3M -litmus.dat3m FOLDER -v
//
// compares with the results that Dat3M expects of its own tests, in a folder with its sources.
package litmus
