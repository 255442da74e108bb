// Package mbarrier implements the barrier of NVIDIA's asynchronous machine: for goroutines, with the
// semantics of cuda::barrier in libcu++; and as on the card: the 64-bit word of an mbarrier object, and the
// effect of each operation of the PTX ISA (section 9.7.13.15) on it, bit for bit as on an H200.
//
// # For goroutines
//
// A [Barrier] goes through phases. Each waits for a number of arrivals, and for the bytes that were
// expected; a waiter for the phase sees all writes before these arrivals. Arriving and waiting are two
// steps:
//
//	bar := mbarrier.New(workers)
//	...
//	part[i] = work(i)
//	token := bar.Arrive()
//	prepare() // what needs no other goroutine
//	bar.Wait(token)
//	use(part) // needs all parts
//
// Compared with barriers built from package sync, it adds: time between arrival and wait; tokens, which
// distinguish a late wait from an early one; bytes, so that a phase also waits for I/O without a blocked
// goroutine; participants that leave; a completion function; and panics on misuse, with the ledger of the
// phase. Nothing is allocated after New, except by WaitContext.
//
// [Pipeline], a ring of stages between producers and consumers, [Named], a barrier with reductions over
// votes, and [Group], a barrier of fixed members, build on it. [Dump] reports for each barrier what its
// phase waits for, its waiters, and missing participants. Package mbarriertest reports deadlocks in tests
// this way, and as a page of who waits for whom.
//
// [New] makes a barrier; its type documents the operations, the memory order and misuse.
//
// # The word
//
// PTX calls the object opaque. On sm_90 it has this layout; every count is stored negated, so that an
// arrival is an addition and a phase ends when a field wraps to zero:
//
//	 63   62 ........ 43   42   41 ........ 21   20 ........ 1   0
//	phase  2^20-pending   bad    -tx (signed)    2^20-expected   spare
//
// Phase is the parity of the current phase. Pending is the count of arrivals still missing, expected the
// initial value of pending in each phase, tx the transactions (bytes, for bulk copies) expected but not yet
// landed; it may be negative within a phase. Bit 42 poisons: an excess asynchronous arrival sets it, and
// any later arrival or transaction then faults. Bit 0 is kept, unused.
//
// [Word] is this word, and its methods are the transitions. They are pure, accept any of the 2^64 words and
// never panic. A transition returns the next word and a [Result]: the token if PTX returns one, whether the
// phase completed, the [Fault] with which the card would end the launch (the word is then unchanged), and
// what the ISA leaves [Undefined], whether or not the card faults.
//
// # What is modelled, and how it is known
//
// The rules were derived from some 4,100 sequences run on an H200 (testdata/h200 has the program and its
// output, including 286 faults, each attributed to its operation; the tests replay them all):
//
//   - An operation faults on a poisoned word; on a byte count of 2^20 or more, even where the sum
//     would fit; on a tx-count that would leave -(2^20-1)..2^20 (one more than the ISA allows at the
//     top); on arrivals beyond the pending count; on a drop beyond the expected count.
//   - After any arrival, expect-tx or complete-tx, even with argument zero, a word with no pending arrival
//     and no transaction completes its phase: also by expect_tx, which the ISA does not say, by
//     .noComplete, which it forbids, and repeatedly once everyone has dropped.
//   - cp.async.mbarrier.arrive without .noinc charges the tx-count (plus one when issued, minus one
//     when the copies have landed), where the ISA names the pending count. pending_count of a token
//     shows it. The .noinc form is an arrival that cannot fault: it poisons.
//   - mbarrier.init stores both counts with 32-bit arithmetic and no check; so a count out of range
//     gives a word of odd fields, 0 one whose phase is 1 already.
//
// # What is not
//
// The word contains the parity of its phase, not the phase: [State] counts. It cannot know whether memory
// holds a live barrier (init over one, use before init or after inval raise no fault on the card), nor
// memory order, nor scope. While a barrier lives its word need not be in memory at all; mbarrier.inval
// writes it back. A token or parity of an older phase looks like a valid one: see [Word.CheckToken]. Not
// measured: waits on a poisoned word, and a bulk copy whose bytes exceed the range.
package mbarrier
