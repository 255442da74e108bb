// Package mbarrier is the barrier of NVIDIA's asynchronous machine: for goroutines, with the semantics of
// cuda::barrier in libcu++, and as what it is on the card: the 64-bit word of an mbarrier object, and what
// each operation of the PTX ISA (section 9.7.13.15) makes of it, bit for bit as an H200 does it.
//
// # For goroutines
//
// A [Barrier] goes through phases. Each waits for a number of arrivals, and for the bytes that were announced
// to it; whoever waits for the phase sees what was done before it. Arriving and waiting are two steps:
//
//	bar := mbarrier.New(workers)
//	...
//	part[i] = work(i)
//	token := bar.Arrive()
//	prepare() // what needs nobody else
//	bar.Wait(token)
//	use(part) // everybody's
//
// What it has beside the barriers one builds from package sync: the time between arrival and wait; tokens,
// which tell a late wait from an early one; bytes, so that a phase also waits for I/O that no goroutine stands
// by; participants that leave; a completion function; and that each misuse panics with the ledger of the
// phase. Nothing is allocated after New, except by WaitContext.
//
// On it stand [Pipeline], a ring of stages between producers and consumers, [Named], a barrier with
// reductions over votes, and [Group], a barrier of fixed members. [Dump] tells of each barrier what its phase
// is owed, who waits, and who has not come back. Package mbarriertest finds deadlocks in tests and reports so.
//
// [New] makes a barrier; its type explains the operations, the memory order and what counts as misuse.
//
// # The word
//
// PTX calls the object opaque. On sm_90 it is this, every count kept negated so that an arrival is an
// addition and a phase ends when a field wraps to zero:
//
//	 63   62 ........ 43   42   41 ........ 21   20 ........ 1   0
//	phase  2^20-pending   bad    -tx (signed)    2^20-expected   spare
//
// Phase is the parity of the current phase. Pending is the count of arrivals still missing, expected
// the count that pending restarts from, tx the transactions (bytes, for bulk copies) announced and not
// yet landed; it may be negative within a phase. Bit 42 poisons: an asynchronous arrival that is one
// too many sets it, and any later arrival or transaction then faults. Bit 0 is carried along, unused.
//
// [Word] is such a word, its methods the transitions. They are pure, take any of the 2^64 words and
// never panic. A transition gives the next word and a [Result]: the token where PTX returns one,
// whether the phase completed, the [Fault] with which the card would end the launch (the word is then
// left as it was), and what the ISA leaves [Undefined], whether or not the card minds.
//
// # What is modelled, and how it is known
//
// The rules were read off some 4,100 sequences run on an H200 (testdata/h200 has the program and its
// answers, 286 faults located at their operation among them; the tests replay them all):
//
//   - An operation faults on a poisoned word; on a byte count of 2^20 or more, even where the sum
//     would fit; on a tx-count that would leave -(2^20-1)..2^20 (one more than the ISA allows at the
//     top); on arrivals beyond the pending count; on a drop beyond the expected count.
//   - After any arrival, expect-tx or complete-tx, be its argument zero, a word with no pending arrival
//     and no transaction completes its phase: also by expect_tx, which the ISA does not say, by
//     .noComplete, which it forbids, and over and over once everyone has dropped.
//   - cp.async.mbarrier.arrive without .noinc charges the tx-count (plus one when issued, minus one
//     when the copies have landed), where the ISA speaks of the pending count. pending_count of a token
//     shows it. The .noinc form is an arrival that cannot fault: it poisons.
//   - mbarrier.init stores both counts with 32-bit arithmetic and no check; so a count out of range
//     gives a word of odd fields, 0 one whose phase is 1 already.
//
// # What is not
//
// The word knows the parity of its phase, not the phase: [State] counts. It cannot know whether memory
// holds a live barrier (init over one, use before init or after inval are silent on the card), nor
// memory order, nor scope. While a barrier lives its word need not be in memory at all; mbarrier.inval
// writes it back. A token or parity of an older phase looks like a valid one: see [Word.CheckToken].
// Not measured: waits on a poisoned word, and what a bulk copy does whose bytes leave the range.
package mbarrier
