package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/order"
)

var exitInFlight = register(Kind{
	Name:     "exit-in-flight",
	Severity: Warning,
	Order:    Effect,
	Title:    "a CTA ends while an asynchronous operation still uses its shared memory",
	Section:  "9.7.9.25.1",
	Text: `The CTA's shared memory goes to another CTA when its threads have exited. An
asynchronous operation that still reads from it then carries the other's bytes; one
that still writes to it destroys them. Exit waits for nothing: the completion must
have been waited for (ISA 9.7.9.25.1), by a thread of the CTA, before it ends.

Who disagrees. A card keeps a CTA's shared memory until the copies are done that its own
threads have issued. On an H100 the next CTA starts some 3,000 cycles later where a bulk
store of 216 KiB is in flight at exit, and in 5,280 CTAs no byte was wrong; so too with
tensor stores, reductions, loads and cp.async, and with another kernel beside it
(internal/machine/testdata/card/exit_in_flight.txt). DeepGEMM leaves its last store in
flight so. For these it is a warning: the ISA makes shared memory the CTA's own while it
executes (5.1.7) and promises nothing after that. CUTLASS and FlashAttention-3 wait. What a
peer of the cluster copies into the memory of a CTA that ends is an error.

A tcgen05.commit arrives at its mbarriers when the operations that it tracks are done: that
too is in flight, and the CTA whose barrier it is must have waited for the phase. Of a CTA's
own commit it is a warning, and contested: CUTLASS's and Triton's GEMMs wait for each phase, the
backward passes of CUTLASS's attention not for the last. Of a peer's commit it is an error. That
a later commit of the same thread has come is enough: they arrive in the order of their issue.

Mend it: for stores and reductions from shared memory, the issuing thread executes
cp.async.bulk.wait_group.read 0 before it exits (.read suffices: only the source
is at stake); for loads, some thread waits for the phase of their mbarrier, also
for tiles that were fetched ahead and are not needed; for cp.async, cp.async.wait_all.`,
})

var exitBeforeRemote = register(Kind{
	Name:     "exit-before-remote",
	Severity: Error,
	Order:    Effect,
	Title:    "a CTA of a cluster may end before a peer's access to its shared memory",
	Section:  "9.7.13.15.8",
	Text: `A thread accesses the shared memory of another CTA of its cluster, or arrives
at a barrier there, and nothing keeps that CTA from having ended by then. The ISA
lets a CTA's shared memory be accessed by its cluster only while the CTA runs; that
it lives until the last remote access has happened is for the kernel to see to.
The same holds for the issue of tcgen05.mma, cp or commit with .cta_group::2, whatever
it touches: "the peer CTA should be active and should not have exited" (9.7.18.5).

The access may fault, or touch the memory of a CTA that came in its place; on an
H200 a planted case went well in each of three runs.

Mend it by a cluster barrier at the end: every thread executes
barrier.cluster.arrive after its last remote access, and barrier.cluster.wait
before it exits. If the CTA itself waits for the phase that a remote arrive or
complete-tx is charged to, that is enough for that operation, relaxed or not.`,
})

var remoteBeforeStart = register(Kind{
	Name:     "remote-before-start",
	Severity: Error,
	Title:    "a peer's shared memory touched before anything shows that the peer runs",
	Section:  "9.7.13.3",
	Text: `The CTAs of a cluster are scheduled together, but not started at one instant.
Before a thread touches the shared memory of a peer, or arrives at a barrier there,
it must know that the peer has started executing: by a cluster barrier, or by
something that the peer sent. Here nothing shows it.

On an H200 a planted case gave the right answer in each of three runs.

Mend it by barrier.cluster.arrive and barrier.cluster.wait (cluster.sync()), which
kernels mostly need anyway after the peers have initialized their mbarriers.
barrier.cluster.arrive.relaxed suffices for this purpose alone.`,
})

var groupLeft = register(Kind{
	Name:     "group-left",
	Severity: Warning,
	Title:    "a bulk group committed and never waited for",
	Section:  "9.7.9.25.6.2",
	Text: `A thread exits with a bulk async-group that no cp.async.bulk.wait_group of it
covers. Nothing shows that the group's operations are done with their sources, and
nobody else can wait for them: groups belong to the thread that committed them.

Where such an operation may still be reading the CTA's shared memory when that ends,
the error exit-in-flight says so in place of this warning. What is left here is a
group whose operations read nothing, as a copy of zero bytes for an empty tail, or a
run that ended before the CTA did.

Who disagrees: nobody says that it is right; that the end of the grid completes all
global writes makes it harmless for the results.

Mend it by cp.async.bulk.wait_group.read 0 in the committing thread before it exits.`,
})

// leftToArrive is leftInFlight for a tcgen05.commit that has to arrive at a barrier of the CTA.
func (j *Judge) leftToArrive(f *order.Fact) Finding {
	a, cta := &f.A, f.B.CTA
	found := Finding{
		Headline: fmt.Sprintf("CTA %d may end before %s arrives at its mbarrier at shared+%d", cta, j.at(a.PC), a.Bar.Addr),
		Sites:    []Site{j.opSite("commits", a), ctaSite("ends", cta)},
		Missing:  fmt.Sprintf("no thread of CTA %d knows the phase complete that %s is charged to when it exits", cta, j.at(a.PC)),
		Fix:      fmt.Sprintf("let a thread of CTA %d wait for that phase before it exits", cta),
		Severity: Error,
	}
	if a.CTA == cta {
		found.Severity = Warning
		found.Notes = []string{"contested: shared memory is the CTA's own only while it executes (ISA 5.1.7), and CUTLASS's and Triton's GEMMs wait for each such phase; the backward passes of CUTLASS's attention do not wait for the last one, and we know of no failure on a card"}
	}
	return found
}

func (j *Judge) leftInFlight(f *order.Fact) Finding {
	if f.A.Kind == machine.OpMbarArrive {
		return j.leftToArrive(f)
	}
	a, cta := &f.A, f.B.CTA
	doing := "reading from"
	if writes(a) {
		doing = "writing to"
	}
	fix := fmt.Sprintf("%s 0 in the thread that issued %s, before it exits", waitName(a, writes(a)), j.at(a.PC))
	missing := fmt.Sprintf("no thread of CTA %d knows %s complete when it exits", cta, j.at(a.PC))
	if a.Barrier {
		fix = fmt.Sprintf("let a thread of CTA %d wait for the phase of the mbarrier at shared+%d of CTA %d that %s is charged to, before it exits", cta, a.Bar.Addr, a.Bar.Mem, j.at(a.PC))
	}
	op := j.site(a, machine.Span{Mem: machine.SharedOf(cta)})
	found := Finding{
		Headline: fmt.Sprintf("CTA %d may end while %s is still %s its shared memory", cta, agent(a), doing),
		Sites:    []Site{op, ctaSite("ends", cta)},
		Missing:  missing,
		Fix:      fix,
	}
	switch {
	case a.Kind == machine.OpCpAsync:
		// The ISA does not define what becomes of them, and compilers leave them.
		found.Notes = []string{"the ISA says nothing of cp.async that are pending when their thread exits; Triton leaves prefetches of its last iterations so, and a card finishes them first"}
	case a.CTA == cta && (a.Kind == machine.OpBulkCopy || a.Kind == machine.OpBulkReduce):
		found.Notes = []string{"an H100 keeps a CTA's shared memory until the copies of its own threads are done; nothing promises that"}
	default:
		found.Severity = Error
	}
	return found
}

func (j *Judge) leftEarly(f *order.Fact) Finding {
	a, b := &f.A, &f.B
	if f.Issue {
		return Finding{
			Headline: fmt.Sprintf("CTA %d may have ended when %s issues an operation of the pair, which it should not have (ISA 9.7.18.5)", a.CTA, lanesText(b)),
			Sites:    []Site{ctaSite("ends", a.CTA), j.opSite("issues", b)},
			Missing:  fmt.Sprintf("nothing leads from %s back to a thread of CTA %d before that exits", j.at(b.PC), a.CTA),
			Fix:      fmt.Sprintf("barrier.cluster.arrive in all threads of the cluster, after %s, and barrier.cluster.wait before they exit; or let CTA %d wait for a commit behind it", j.at(b.PC), a.CTA),
		}
	}
	return Finding{
		Headline: fmt.Sprintf("CTA %d may have ended when %s %s there", a.CTA, lanesText(b), j.deed(b.PC)),
		Sites:    []Site{ctaSite("ends", a.CTA), j.opSite(j.deed(b.PC), b)},
		Missing:  fmt.Sprintf("nothing leads from %s back to a thread of CTA %d before that exits", j.at(b.PC), a.CTA),
		Fix:      fmt.Sprintf("barrier.cluster.arrive in all threads of the cluster, after %s, and barrier.cluster.wait before they exit", j.at(b.PC)),
	}
}

func (j *Judge) cameEarly(f *order.Fact) Finding {
	a, b := &f.A, &f.B
	return Finding{
		Headline: fmt.Sprintf("%s %s in CTA %d, and nothing shows that CTA %d has started", lanesText(b), j.deed(b.PC), a.CTA, a.CTA),
		Sites:    []Site{ctaSite("starts", a.CTA), j.opSite(j.deed(b.PC), b)},
		Missing:  fmt.Sprintf("no cluster barrier before %s", j.at(b.PC)),
		Fix:      fmt.Sprintf("barrier.cluster.arrive and barrier.cluster.wait in all threads of the cluster before %s", j.at(b.PC)),
	}
}

func (j *Judge) leftGroup(f *order.Fact) Finding {
	a, b := &f.A, &f.B
	return Finding{
		Headline: fmt.Sprintf("%s exits without having waited for the bulk group of %s", lanesText(b), j.at(a.PC)),
		Sites:    []Site{j.opSite("commits", a), j.opSite("exits", b)},
		Missing:  fmt.Sprintf("no cp.async.bulk.wait_group that covers %s before the thread exits", j.at(a.PC)),
		Fix:      "cp.async.bulk.wait_group.read 0 in the committing thread before it exits",
	}
}
