package rules

import (
	"fmt"
	"strings"

	"muster/internal/machine"
	"muster/internal/order"
)

var readInFlight = register(Kind{
	Name:     "read-in-flight",
	Severity: Error,
	Order:    Conflict,
	Title:    "the result of an asynchronous operation read before its completion was waited for",
	Section:  "9.7.9.25.1",
	Text: `An asynchronous operation writes memory whenever it pleases between its issue
and its completion; reading the destination before the completion was waited for is
undefined (ISA 9.7.9.25.1). Here the reader does not know of the completion, though
the data may have been there already in this run.

What counts as waiting depends on how the operation completes:
  - on an mbarrier (bulk loads, st.async, red.async): every reading thread waits
    for the phase that the bytes are charged to, or is ordered after a thread that
    did;
  - by bulk async-groups (bulk stores and reductions): the issuing thread commits
    and executes cp.async.bulk.wait_group, without .read, which only shows that the
    source has been read;
  - by cp.async groups: the issuing thread executes cp.async.wait_group or
    wait_all. That makes the copies visible to that thread alone: for others a
    barrier must follow.
A wait_group executed by a thread that committed nothing waits for nothing. A
wait_group N leaves the N latest groups open.

It is a warning where tcgen05.mma reads rows of A, or of B, that its shape has and the
tile has not, and no result of theirs reaches an output, a branch, an address or an
operand of synchronization: that was followed, byte by byte, and what cannot be
followed counts as used. DeepGEMM's tiles of 32 and 64 rows are multiplied as 128,
whatever lies behind them. Where one such row is used, it is an error.

A read too early gives what was there before. On an H200 a planted case without the
wait gave wrong output at once; one with cp.async.wait_group and no CTA barrier
after it printed the right answer in each of three runs.`,
})

var overwriteInFlight = register(Kind{
	Name:     "overwrite-in-flight",
	Severity: Error,
	Order:    Conflict,
	Title:    "memory rewritten while an asynchronous operation may still use it",
	Section:  "9.7.9.25.1",
	Text: `An asynchronous operation reads its source at any time between its issue and
its completion. Modifying the source before that is undefined (ISA 9.7.9.25.1): the
copy may carry the new bytes, or some of each. The same holds for two operations
that write one place, and for a store into the destination of one in flight.

The usual shapes:
  - a buffer is filled again after a bulk store from it was issued, without
    cp.async.bulk.wait_group.read in between;
  - wait_group N with N too large: N groups committed last may still be reading,
    and the buffer belongs to one of them;
  - the wait is executed by a thread that committed nothing (groups belong to the
    thread that commits them), so it waits for nothing; or by the right thread, with
    no barrier from it to the others that refill the buffer;
  - a slot is released after issuing the operation that reads it, not after its
    completion;
  - the matrices of a wgmma are overwritten before any of the four warps waited for
    it. (One warp's wait suffices: it covers what all four read.)

It is a warning where what is overwritten are rows of A, or of B, that tcgen05.mma
reads because its shape has them, and no result of theirs reaches an output, a branch,
an address or an operand of synchronization (see read-in-flight).

On an H200 a planted case of the first shape printed the right answer in each of
three runs. It fails when the copy is slow.

Mend it: the issuing thread commits and waits with cp.async.bulk.wait_group.read
for the group that reads the buffer (wait_group without .read where something was
written), for wgmma some warp of the warpgroup with wgmma.wait_group; then a barrier
orders the threads that refill it after that wait.`,
})

// earlyRead is a read of what an operation writes.
func (j *Judge) earlyRead(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	return Finding{
		Headline: fmt.Sprintf("%s: %s reads what %s writes, before its completion was waited for", place(c.Span), agent(b), agent(a)),
		Sites:    j.pair(c),
		Missing:  j.missingWait(c),
		Fix:      j.completionFix(c),
		Notes:    j.waitNotes(c),
		Need:     j.completionNeed(c),
	}
}

// earlyWrite is a write to what an operation reads, or also writes.
func (j *Judge) earlyWrite(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	doing := "may still be reading"
	if writes(a) {
		doing = "may still be writing"
	}
	return Finding{
		Headline: fmt.Sprintf("%s: %s overwrites what %s %s", place(c.Span), agent(b), agent(a), doing),
		Sites:    j.pair(c),
		Missing:  j.missingWait(c),
		Fix:      j.completionFix(c),
		Notes:    j.waitNotes(c),
		Need:     j.completionNeed(c),
	}
}

// missingWait says which wait, or which path from a wait, is missing.
func (j *Judge) missingWait(c *order.Conflict) string {
	a, b := &c.Prior, &c.Cur
	switch {
	case a.Barrier:
		return fmt.Sprintf("no wait for the phase of the mbarrier at shared+%d of CTA %d that %s is charged to leads to %s", a.Bar.Addr, a.Bar.Mem, j.instr(a), j.instr(b))
	case a.Group == machine.GroupTensor:
		return fmt.Sprintf("no wait for an mbarrier that a tcgen05.commit behind %s signals, in the thread that issued it, leads to %s", j.instr(a), j.instr(b))
	case c.Apart == order.OneThread:
		return fmt.Sprintf("no %s that covers %s stands before %s", waitName(a, writes(a)), j.instr(a), j.instr(b))
	}
	return fmt.Sprintf("no way leads from a %s that covers %s, in the %s that issued it, to %s", waitName(a, writes(a)), j.instr(a), issuer(a), j.instr(b))
}

// issuer names the agent that waits for an operation's group.
func issuer(r *order.AccessRef) string {
	if r.Group == machine.GroupWgmma {
		return "warpgroup"
	}
	return "thread"
}

// waitName is the instruction that waits for an operation's reads, or with all
// for its writes too.
func waitName(r *order.AccessRef, all bool) string {
	switch {
	case r.Group == machine.GroupCpAsync:
		return "cp.async.wait_group"
	case r.Group == machine.GroupWgmma:
		return "wgmma.wait_group"
	case r.Group == machine.GroupBulk && !all:
		return "cp.async.bulk.wait_group.read"
	case r.Group == machine.GroupBulk:
		return "cp.async.bulk.wait_group"
	}
	return "wait"
}

// commitName is the instruction that makes operations a group, for which a thread then waits.
func commitName(r *order.AccessRef) string {
	switch r.Group {
	case machine.GroupCpAsync:
		return "cp.async.commit_group"
	case machine.GroupWgmma:
		return "wgmma.commit_group"
	case machine.GroupBulk:
		return "cp.async.bulk.commit_group"
	}
	return ""
}

// completionFix names the wait and the path from it to the later access.
func (j *Judge) completionFix(c *order.Conflict) string {
	a, b := &c.Prior, &c.Cur
	if a.Barrier {
		return j.phaseFix(c)
	}
	if a.Group == machine.GroupTensor {
		return fmt.Sprintf("tcgen05.commit on an mbarrier behind %s, in the thread that issued it, and a wait for that phase before %s, in each thread that executes it or in one that it is ordered after", j.instr(a), j.instr(b))
	}
	wait := waitName(a, writes(a)) + " 0"
	if a.Group != machine.NoGroup {
		wait += " (or as many groups as may stay open)"
	}
	fix := fmt.Sprintf("%s in the %s that issued %s, ", wait, issuer(a), j.instr(a))
	if commit := commitName(a); commit != "" {
		fix += "behind its " + commit + " and "
	}
	fix += "before " + j.instr(b)
	if c.Apart != order.OneThread {
		fix += fmt.Sprintf("; and, between that wait and %s, %s so that the wait is known there", j.instr(b), syncBetween(c.Apart))
	}
	if c.Why&order.IssueKnown == 0 && j.Program.Reach(b.PC + 1)[a.PC] && !writes(a) {
		fix += fmt.Sprintf("; and, unless it is there, %s after %s and before %s", strings.TrimSuffix(syncBetween(c.Apart), ","), j.instr(b), j.instr(a))
	}
	if a.Group == machine.GroupCpAsync && c.Apart != order.OneThread {
		fix += "; or cp.async.mbarrier.arrive.noinc on an mbarrier that is waited for"
	}
	return fix
}

// phaseFix names the wait for the phase that an operation is charged to. Only threads of its own
// CTA can wait for an mbarrier (ISA 9.7.13.15.16).
func (j *Judge) phaseFix(c *order.Conflict) string {
	a, b := &c.Prior, &c.Cur
	way := func(d order.Distance) string {
		return fmt.Sprintf("from there to %s, %s", j.instr(b), strings.TrimSuffix(syncBetween(d), ","))
	}
	at := a.Bar.Mem.CTA()
	if at != b.CTA {
		return fmt.Sprintf("in CTA %d, whose threads alone can wait for that mbarrier, wait for that phase; and, %s", at, way(j.distance(at, b.CTA)))
	}
	fix := fmt.Sprintf("wait for that phase (mbarrier.try_wait.parity in a loop) before %s, in each thread that executes it or in one that it is ordered after", j.instr(b))
	if c.Away && a.CTA == b.CTA && c.Span.Mem == machine.SharedOf(b.CTA) { // other pairs are of other CTAs' memory
		fix += fmt.Sprintf("; and, in each other CTA that %s brings bytes to, wait for that phase of its mbarrier; and, %s", j.instr(a), way(order.OneCluster))
	}
	return fix
}

// waitNotes say which synchronization was done but does not suffice.
func (j *Judge) waitNotes(c *order.Conflict) []string {
	var notes []string
	a := &c.Prior
	if c.Why&order.SameWarpLanes != 0 {
		notes = append(notes, "a lane of the same warp did wait; its neighbours do not know of it without bar.warp.sync")
	}
	if a.ReadDone && writes(a) && a.Group == machine.GroupBulk {
		notes = append(notes, "the issuing thread waited with .read, which shows its source read, not its result written")
	}
	return notes
}
