package undecided

// Conditions lists the conditions of a proof, in order.
var Conditions = []Condition{
	{
		Name:  "C0",
		Title: "an mbarrier's init comes before every use, and its inval after",
		Text: `In every schedule the mbarrier.init must come before whatever arrives, waits, or
lands at the mbarrier, and an mbarrier.inval after all of it. What makes it so is
synchronization that every schedule keeps: a bar.sync between the init and the uses,
a wait for the last phase before the inval.

A kernel that fails it is mostly wrong, and the report then says use-before-init,
init-not-ordered or use-after-inval. What is left are lanes of one warp that come
to the mbarrier by one instruction: by the ISA each is a thread of its own.

What to do: bar.sync, cluster barrier or bar.warp.sync after the init; before the
inval, a wait for the phase that the last arrival completes. Or leave the inval
out: it matters only where the memory is used for something else afterwards.`,
	},
	{
		Name:  "C1",
		Title: "all that is charged to one phase comes before what is charged to the next",
		Text: `Arrivals, announced bytes and landings carry no number of a phase: they count for
the phase that is open when they come. So whatever is meant for phase n+1 must come
after all that is meant for phase n, in every schedule; else phases swap arrivals,
though the totals agree.

A kernel that fails it is mostly wrong: phase-mixing, arrivals-excess, bytes-early.
It is open where the order rests on something that only a run shows, as on the
result of a peek.

What to do: let each thread wait for phase n before it arrives for phase n+1, and
give the roles of a pipeline an mbarrier each.`,
	},
	{
		Name:  "C2",
		Title: "a credit comes before, or with, some arrival of its phase",
		Text: `A credit is what a phase still has to wait for: the bytes of expect_tx, and the
arrival that cp.async.mbarrier.arrive has the mbarrier owe. If no arrival of the
same phase comes after it, all arrivals may be in before the credit, and the phase
completes without the data.

A kernel that fails it is mostly wrong: expect-late, bytes-early, read-in-flight.

What to do: announce with the arrival (mbarrier.arrive.expect_tx), or before the
arrival in the same thread; where several lanes book copies and one arrives, put
bar.warp.sync before its arrival, or let every lane arrive
(cp.async.mbarrier.arrive.noinc, with all lanes in the count).`,
	},
	{
		Name:  "C3",
		Title: "a wait comes at its own phase: neither a phase early nor one late",
		Text: `A wait by parity cannot tell phase n from phase n-2. C3 (early): all that phase n-1
counts must come before a wait for phase n, or the wait may pass on the phase
before (a fresh mbarrier passes a wait for parity 1). C3 (late): something that
phase n+1 counts must come after the wait, or phase n+1 may be complete when the
wait looks, and it hangs, or sleeps through a turn.

A kernel that fails it is mostly wrong: early-wait, lapped-wait. Where it holds for
one lane of a warp and not for its mates, which come to the wait together, the
proof goes on with an assumption, and the warning is lapped-lanes.

What to do: wait for every phase, in order, in each thread that uses the slot;
release the slot (the arrival that the other side waits for) after the wait, not
before; take a peek for the next phase after the wait for this one.`,
	},
	{
		Name:  "C4",
		Title: "the phase that is open at the end stays open",
		Text: `When the launch ends, the last phase of each mbarrier must lack arrivals, or have
all of them and lack bytes that never come, whatever the order. If all arrivals are
in, and it is open only because of when its bytes were announced, another schedule
completes it, and has one phase more.

A kernel that fails it announces bytes, or books copies, that no wait ever asks
for: expect-late, arrivals-excess, exit-in-flight tell the wrong ones.

What to do: as for C2; and leave out the last turn's expect_tx if nothing is
copied for it.`,
	},
	{
		Name:  "C5",
		Title: "the bytes and counts of one phase stay below 2^20",
		Text: `The tx-count of an mbarrier goes from -(2^20-1) to 2^20-1 (ISA 9.7.13.15.2). A proof
adds up all that a phase announces, and all that lands in it, without asking which
comes first: each sum must stay below 2^20. Then no order leaves the range.

A kernel that leaves the range in some schedule is wrong: range. Open are those
whose phases move a MiB or more piece by piece.

What to do: a phase for each tile, as pipelines have it, or two mbarriers.`,
	},
	{
		Name:  "C6",
		Title: "a named barrier's generations come one after the other, with one count",
		Text: `A generation of bar.sync and bar.arrive must be complete before anyone comes to the
next one, and every instruction at that barrier must give the same count. A barrier
that opens because threads have exited, which then count as arrived, is proven only
where no instruction gives a count. Of a cluster's barrier each thread arrives
and waits in turn.

A kernel that fails it is mostly wrong: named-barrier-mismatch, divergent-barrier,
cluster-barrier-mismatch, barrier-after-exit.

What to do: write the count in every bar.sync and bar.arrive of a barrier that not
all threads use, and use two barriers where two roles take turns.`,
	},
	{
		Name:  "C7",
		Title: "no setmaxnreg.inc can wait for ever",
		Text: `An increase waits until the CTA's pool has the registers. In every state in which
the other warps may be stuck, at increases of their own, the pool must suffice for
some increase, and so for all, one after the other.

A kernel that fails it is mostly wrong: register-budget. Open are kernels that hand
registers to and fro more than 256 times in a CTA, over all warps: so many changes
are not compared.

What to do: change registers once in each role, at its beginning, and let the
decreases give at least what the increases take.`,
	},
	{
		Name:  "C8",
		Title: "accesses that conflict are ordered, by what every schedule has",
		Text: `Two accesses to one byte, of which one writes, must be ordered by synchronization
that every schedule has, and by proxy fences and scopes as the memory model asks for;
that one run happened to have an order is not enough. Atomics on one word, in no
order, must be of one kind that commutes exactly (all additions of integers, all
maxima); a sum of floating-point numbers must be read by nobody. Plain stores in no
order must store equal bytes.

A kernel that fails it is mostly wrong: the report then names a race (race-shared,
race-global, race-lanes), a proxy (proxy-raw), or a copy (read-in-flight). Open are
those that are right for a reason that a single run cannot show: a peek that decides
whether a wait is still needed, different atomics on one word.

What to do: for atomics, one kind for each word, or a barrier between the kinds. For
sums of floating-point numbers that someone reads, a reduction in a fixed order.`,
	},
	{
		Name:  "C9",
		Title: "nothing that the schedule decides reaches a branch, an address or memory",
		Text: `Results of atomics, of strong loads of words that others write, of tests of barriers
that are no waits, clocks and activemask differ from schedule to schedule. If such
a value decides a branch, an address, an operand that others can notice, or what is
stored, then another schedule does something else, and one run does not speak for
it. Allowed are waits: loops that test one barrier until it is complete, bounded
ones that trap after 10 us or more too, and loops that read one word until one lane's
store, or the sum of all additions, ends them. Allowed are tickets, too: numbers from a
counter that say no more than where each thread stores something, and what.

A kernel that fails it is often right: locks, tickets and dynamic tiles, a test
whose result picks other work, libcu++'s pipelines that count by activemask. Then
schedules are explored, and small launches are decided.

What to do: check with few CTAs and few turns, so that the exploration ends; give
the mask as a constant instead of activemask; let a flag be set by one lane, and
never be set back while others may wait for it.`,
	},
	{
		Name:  "C10",
		Title: "tensor memory: every alloc finds the same columns",
		Text: `Of the CTAs that share a multiprocessor's tensor memory, each tcgen05.alloc and
dealloc must come before the next, and the allocs of a CTA before its
relinquish_alloc_permit. Else which columns are free, and so which address an alloc
returns, is the schedule's.

A kernel that fails it within one CTA is mostly wrong: tensor-alloc. Open are CTAs
that share a multiprocessor (co-resident in the launch file) and take turns.

What to do: check with one CTA a multiprocessor (leave co-resident out), which is how
kernels run that take all columns or most of the shared memory; and with co-resident
for few CTAs, so that the exploration ends.`,
	},
}
