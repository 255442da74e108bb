// Package lanes runs small programs of warps lane by lane, under every interleaving,
// as a yardstick for the verdicts of a check. Package brute, its parent, lets the
// lanes of a warp act in one step; here every lane is a thread with a program counter
// of its own, as the ISA has it (3.2, independent thread scheduling). It shares no code
// with the machine, the order, the conditions or the exploration of this module.
//
// A Program is a list of operations for each warp. All active lanes of the warp, two
// to four, execute it, each operation guarded by a set of lanes, with addresses and
// values that may depend on the lane. The other lanes of a warp exit at once, or go
// along and do nothing, or do not exist. Explore visits every reachable state; one step
// is one operation of one lane, or the end of an asynchronous operation: a copy, or the
// arrival of a cp.async.mbarrier.arrive. Only bar.warp.sync, bar.sync, votes and shfl
// make lanes wait for each other. Explore says whether a program can race, trap, hang or
// do at an mbarrier what the ISA leaves undefined, and which final memories it can leave.
// Program.PTX writes a program as a kernel. Generate draws one.
//
// An mbarrier counts arrivals and bytes, phase after phase (9.7.13.15). Lanes arrive
// once or twice, with expected bytes, with .noComplete, for the last time (arrive_drop),
// or by cp.async; they expect bytes apart from an arrival, wait by parity or by token, or
// test once; one ends the mbarrier and may begin it anew. Undefined are: an operation at
// an mbarrier that has ended, and the beginning of one that has not; an arrival more
// than the phase has pending; a .noComplete that completes its phase; a wait by a token
// of another phase than this one or the last.
//
// # What is compared
//
// TestLanes checks each program with the options that a check has by default. A clean
// verdict is wrong beside any of these outcomes, and a proof beside two final
// memories. An error is a false alarm where nothing is bad. The memory that each of two
// runs leaves must be a final one. TestLanesApart does the same with each lane as lane 0
// of a warp of its own, so that a check separates lanes by itself: both sides then agree
// on lanes. TestRaces finds races by vector clocks. A campaign is the flags of
// TestLanes, in a test binary, which reads no file:
//
//	go test -c -o lanes.test ./internal/brute/lanes
//	./lanes.test -test.run TestLanes$ -test.timeout 1h -test.v -brute.lanes 200000
//
// -brute.lanesfrom N begins at program N; -brute.lanesfrom N -brute.lanes 1 is that
// program. -brute.laneswith NAME checks only programs with an operation of that name, as
// a disagreement lists them. -brute.jobs is how many are checked at a time.
// -brute.lanesmeasure counts disagreements and does not fail.
//
// # Warpgroups
//
// A Group is a program of a warpgroup, of which one or two lanes of each warp do more than
// go along, and perhaps of a fifth warp that fills its stages by stores or bulk copies.
// Each stage has words of A's rows of each warp, of B, and others. The k-th mma_async of
// the four warps is one operation. None of them goes on from it before the fourth has
// issued it. From then on until some warp's wait_group that covers it returns, it may read
// its words of A and B; whoever writes one must know of such a wait. What was written
// before must be known where the warp issues whose part reads it, with a fence.proxy.async
// on the way if it was a store.
//
// ExploreGroup finds what happens before what by clocks, and takes in every order what does
// not commute: arrivals, waits, the ends of copies, and the counter's atomics. It does so
// three times. By the letter (Letter) a wgmma orders nothing besides. On a card all that
// the warps did before their issues is before what they do behind (Together); between
// lanes of one warp that is left out in Across. A clean verdict is wrong beside a bad
// outcome of Together, and one without warnings beside one of Letter. An error is a false
// alarm where Across shows nothing bad, and the warning collective-order where Letter does
// not. The sums that runs leave in D must be those of the operands.
//
//	./lanes.test -test.run TestWarpgroups -test.timeout 1h -test.v -brute.groups 20000
//
// -brute.groupsfrom N begins at program N.
//
// A proxy fence that stands behind a barrier, in a warp that is not the reader's, is
// handed on by the wgmma alone: an error there (proxy-raw) is right by the letter, and
// nothing is concluded. All four warps execute the same wgmma; A in registers, and
// registers in flight, are not drawn.
//
// # Races
//
// Two accesses of a word conflict if one of them writes. They race if they are not
// both strong and some interleaving has both as the next step of their lanes. For the
// programs here that finds every race of happens-before: wherever a program has weak
// accesses that lanes share, its strong ones release and acquire. Given an execution
// with two conflicting accesses that happens-before does not order, leave out all that
// does not happen before either of them: what a read took its value from, with the
// chain of read-modify-writes behind it (ISA 8.9.1), happens before the read, so each
// read that is left still has its value, and the two accesses are next to each other.
// Phases of an mbarrier are the exception: which arrivals complete a phase may change
// with what is left out. There a race may be missed, and none is invented.
// Votes and shfl are another: they make lanes wait and order no memory. Walks by
// happens-before look at a clean program with these once more. Where a check warns of a
// collective-order, they hand on what a lane knows of other warps.
//
// Plain stores of equal values are no race here: the ISA says that they are, every
// card leaves that value, and a check says so in a warning.
//
// # What is left out
//
// Memory is sequentially consistent, which the ISA promises to none of these programs
// by itself. A bad outcome of an interleaving is one that the ISA allows, so a clean
// verdict beside one is wrong. The reverse holds only where every execution is an
// interleaving. Program.Robust accepts programs in which lanes race at one word at
// most, or have a fence.sc before each strong access; other programs may have further
// outcomes, for example store buffering, and nothing is concluded from what a check
// finds in them. Strong accesses are relaxed or volatile only in programs without weak
// accesses that lanes share; missing fences and narrow scopes are package axiom's
// subject. A copy goes from words that nothing writes to words that nothing else writes,
// so that no proxy fence is asked for but that of the beginning. Remote mbarriers, joins
// under a condition that lanes read, match, redux and elect, accesses of other sizes than
// four bytes and vectors are not drawn. bar.arrive is drawn only with a bar.warp.sync
// behind it, because the ISA does not say whether it orders the lanes of its warp.
package lanes
