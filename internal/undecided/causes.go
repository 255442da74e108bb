package undecided

// Causes lists what makes a verdict incomplete, the usual ones first.
var Causes = []Cause{
	{
		Title: "more schedules than the budget has",
		Says:  `the budget ran out|exploring was not asked for|that is all with|the rest is for other shards|a run of more than|^stopped$`,
		Shown: "incomplete: nothing found in 1,233 schedules of more (1,028 explored, 198 sampled; the budget ran out)",
		Text: `One run did not decide for every schedule, and there are more kinds of schedules than
--schedules and --steps allow. Nothing was found in those that ran. The lines
"unproven C1 at k.ptx:34" above it say which condition of the proof failed, and where:
'muster explain C1' tells what that means. Most often that is the shortest way: mend or
rewrite the place, and one run decides.

Else make the launch smaller: two CTAs instead of 132, as many turns of the main loop as
the pipeline has stages and one more. Two turns more of the same loop seldom show another
bug, and --any proves them all where one run decides. Or allow more: --schedules 100000,
--limit-time 2h, spread over machines by --shard and --state (docs/shards.md).`,
	},
	{
		Title: "a limit ran out",
		Says:  `the (time|memory) limit of|the limit of .*(instructions|local memory)|ran out here|ran out \(`,
		Shown: "incomplete: the limit of 1000 warp instructions ran out here (--limit-instrs)",
		Text: `A run, or the whole check, needed more time, memory, instructions or local memory than
the flag that the line names allows. What was found until then stands.

Raise that limit, or make the launch smaller. A limit of instructions that a small launch
reaches is often a loop that does not end: the place is the loop.`,
	},
	{
		Title: "an interrupt",
		Says:  `^interrupted`,
		Shown: "incomplete: interrupted (interrupt)",
		Text: `Ctrl-C, or SIGTERM as from a CI job's own limit. The report holds what was found until
then. Give --limit-time a little less than the job's limit: then the report is whole, and
says what was covered. --state FILE keeps an exploration, and the same command goes on
with it.`,
	},
	{
		Title: "something is not modelled",
		Says:  `(^|[^y]) is not modelled|a collector buffer that several threads|malloc can find the heap`,
		Shown: "incomplete: multimem.ld_reduce.weak.global.add.u32 is not modelled",
		Text: `The kernel executes an instruction, or a modifier, that Muster parses and does not
execute; nothing behind it was seen. 'muster coverage' lists every instruction with what is
known of it.

If the instruction has nothing to do with synchronization, put another in its place in a
copy of the PTX (multimem.ld_reduce: a load). If it has, nothing can be said.`,
	},
	{
		Title: "a value that neither the program nor the schedule decides",
		Says:  `decides something, and was not varied|the driver or the part decides`,
		Shown: "incomplete: clock decides something, and was not varied",
		Text: `A clock, %smid, a time or a value of the driver reaches a branch, an address or memory.
Muster ran with one value, and a card may give another.

Leave the measuring out in what is checked: #ifdef, or a parameter that is 0. What only
bounds a wait before a trap is no matter, and makes nothing incomplete.`,
	},
	{
		Title: "which lanes are active together",
		Says:  `which lanes execute this activemask together`,
		Shown: "incomplete: which lanes execute this activemask together decides something: of the ways in which lanes may fall into groups 40 were run, not all",
		Text: `activemask gives the lanes that execute it at that moment, and nothing says which these are:
lanes that could come together may come one by one (ISA 3.2, 9.7.13.11). Muster let them fall
into groups, each lane by itself, halves, one without the rest, and found no error. There are
more ways than can be run. Where a group draws numbers from a counter (the lowest lane adds how
many they are, shfl.sync tells the others what it got), and these say where each lane stores
something, no more is needed, and the launch is proven.

Write the mask that you mean, such as 0xffffffff, behind a bar.warp.sync with it.`,
	},
	{
		Title: "outcomes that no interleaving has",
		Says:  `outcomes that no interleaving has|words with strong accesses|more strong accesses than are followed|more different executions`,
		Shown: "incomplete: causality order does not relate this strong access to another, and only control does, or another word comes in between: outcomes that no interleaving has were not looked at",
		Text: `Strong accesses (ld.relaxed, atomics, volatile) of several words race so that the memory
model has executions which are no interleaving of steps, as in store buffering: both
threads read what was there before. Muster explores those of words of memory
(exploration.md), and here could not come to their end, or an mbarrier or an asynchronous
operation is among what races.

Make one of the accesses an acquire or a release, or put fence.sc where the algorithm needs
it, so that causality orders them. If the words are independent counters, the kernel is
likely right, and cannot be shown to be.`,
	},
	{
		Title: "an execution in doubt",
		Says:  `an execution that is no interleaving and leaves`,
		Shown: "incomplete: this access returns an overwritten value in an execution that is no interleaving and leaves a memory that no interleaving left which was run; not all of them were. Its schedule: …",
		Text: `There are more executions than the budget had room for, and some were sampled; interleavings
are too many, too. In one of the executions the access returns an older value, by the
letter of the memory model (ISA 8.10), and the launch ends with a memory that none of the
interleavings left which were run. If no other one leaves it either, this is a bug: mostly a
fence or an acquire that is missing ([memory.md](memory.md)). 'muster run --schedule' shows
what it leaves.

Look at that access. More schedules, or a smaller grid, may decide it.`,
	},
	{
		Title: "load buffering",
		Says:  `load buffering`,
		Shown: "incomplete: by the letter of the memory model this access could take part in load buffering (ISA 8.10.4): it could return what is written at line 62, which comes after it, as line 58 reads what line 31 wrote; an acquire here would rule that out; executions of that kind were not looked at",
		Text: `By program order and by what reads return, a read comes before a write of its own word, and
nothing in causality order says so: the memory model lets the read return that write, unless
the write depends on it. Muster builds executions one step after the other, in which each read
comes after the write that it returns. It tried here whether the write is made when the read
has returned it already: it is, or there was more to try than is tried. No GPU is known to do
so.

Where threads hand something on, as at the two lines named, make the store a release and the
load that reads it an acquire: then there is an order, and nothing is left open.`,
	},
	{
		Title: "lanes of one warp that come to one place together",
		Says:  `^lanes of one warp`,
		Shown: "incomplete: lanes of one warp test one mbarrier here in one step; that some find the phase complete and others do not was not looked at",
		Text: `By the ISA each lane is a thread, which may be ahead of its mates. Lanes execute an
instruction together here, and their order at one mbarrier, or different results of one
test, could decide something. Only some of the orders were looked at.

Let one lane do it (elect.sync), and put bar.warp.sync after it; or let a test be part
of a wait, so that all lanes leave with the same result.`,
	},
	{
		Title: "an undefined value that may matter",
		Says:  `^whether an undefined value`,
		Shown: "incomplete: whether an undefined value that is read here matters: it goes through an instruction that is not followed bit by bit, and reaches a branch at line 30; a few other values in its place made no difference",
		Text: `Something reads a register or memory that nobody has written, and the value could not be
followed to where it matters, or does not.

Give the buffer a fill in the launch file, or write the register or the shared memory
first. If the kernel pads its tiles on purpose, fill the padding once, before the loop.`,
	},
	{
		Title: "CTAs that wait for CTAs which have not started",
		Says:  `residency is not modelled`,
		Shown: "incomplete: CTAs that run wait on global memory while 2 CTAs have not started: residency is not modelled",
		Text: `CTAs wait for others of the grid. If not all are resident together, this hangs, and how
many are is the card's matter.

If the kernel is launched cooperatively, say so: cooperative: true in the launch file. If
it counts on the order of CTAs, the note needs-coresidency tells with how many of them it
goes on.`,
	},
	{
		Title: "the memory that an earlier launch leaves",
		Says:  `what is there may decide something|; from another one there is|the memory behind launch|is one of \d+, by the schedule`,
		Shown: "incomplete: the memory behind launch fill is one of 6, by the schedule; what is there may decide something",
		Text: `Of a file with several launches: one leaves another memory in other schedules, or was not
decided, and a later one reads it. The line names the launch.

Decide that launch first (--launch NAME checks one). If what it leaves does not matter, give
the later launch's buffer its contents in a launch file of its own.`,
	},
	{
		Title: "not every mix of cluster sizes",
		Says:  `mix of preferred and regular clusters`,
		Shown: "incomplete: not every mix of preferred and regular clusters was checked: there are more than 14, and clusters of one place may touch what those of another write",
		Text: `With preferred-cluster the device chooses the size of each cluster. Both sizes were
checked, and some mixes. Check a smaller grid, whose mixes are few.`,
	},
	{
		Title: "a loop of failed tests, or a value forgotten",
		Says:  `failed tests in a row|what was there before it was forgotten|a race on rows of a product|warp instructions after its first error|did not come to its end`,
		Shown: "incomplete: what more failed tests in a row lead to was not looked at",
		Text: `The kernel counts failed tests, or acts on them, and each count is a schedule of its own;
or it stores equal values in no order; or a run ended early behind an error. Bound the
retries by a trap instead of by other work; let one thread store; mend the error first.`,
	},
}
