// Package script runs scripts of mbarrier operations: one line per operation, by named actors, with
// the word and its ledger after each. It serves as a tutorial tool, and as the notation in which
// the documents of this project state the behaviour of a barrier.
//
// # A script
//
//	# Two debts: an arrival and 1024 bytes.
//	init full 1
//	consumer: wait full parity 0
//	producer: arrive.expect_tx full 1024
//	copy a: 1024 bytes to full
//	land a
//
// A line is a command; one that begins with # is a comment. `NAME:` before a command names the
// actor, `NAME =` before that keeps the returned token. Numbers are decimal, 0x…, or a power such
// as 2^20-1.
//
//	init BAR COUNT                          mbarrier.init
//	inval BAR                               mbarrier.inval
//	arrive BAR [COUNT]                      mbarrier.arrive, one by default
//	arrive.noComplete BAR COUNT
//	arrive.expect_tx BAR BYTES
//	arrive_drop BAR [COUNT]                 also .noComplete COUNT, .expect_tx BYTES
//	expect_tx BAR BYTES                     mbarrier.expect_tx
//	complete_tx BAR BYTES                   mbarrier.complete_tx
//	wait BAR parity P                       a loop of try_wait.parity: the actor waits until it is true
//	wait BAR TOKEN                          the same with a token
//	wait BAR phase N                        by the parity of phase N, and that phase is what is meant
//	try BAR parity P | TOKEN | phase N      one try_wait: the actor may be suspended
//	timeout ACTOR                           ... and resumes with false
//	test BAR parity P | TOKEN | phase N     mbarrier.test_wait: true or false at once
//	pending_count TOKEN                     mbarrier.pending_count
//	copy NAME: BYTES bytes to BAR           a bulk copy that reports to BAR
//	cp.async NAME: arrives on BAR [noinc]   cp.async.mbarrier.arrive
//	land NAME                               the copy's bytes are there, and it reports
//	show BAR                                the word and its ledger
//	new launch                              nothing is initialized, nobody waits
//	end                                     the actors that still wait, and for what
//
// A name is a letter, then letters, digits, and any of _ - @ [ ].
//
// # A script is its own test
//
// Commands may be followed by a line of four dashes and the expected output, up to a blank line.
// [Script.Run] returns the script with its actual output; [Result.Diff] shows where that differs
// from the expected one. Final output that a script does not request by `end` (an actor waits, a
// copy is in flight) is a difference too.
//
// # What is modelled
//
// The words are those of package mbarrier, so bit for bit an H200's. A waiting actor wakes in the
// step that completes its phase. Not modelled: memory, its ordering, scopes and proxies, for which
// `muster check` runs kernels; and the time limit of try_wait, which expires only by `timeout`.
package script
