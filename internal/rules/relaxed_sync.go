package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/order"
	"muster/ptx"
)

var relaxedSync = register(Kind{
	Name:     "relaxed-sync",
	Severity: Error,
	Title:    "the only path runs through a relaxed operation that no fence completes",
	Section:  "8.8",
	Text: `The two accesses would be ordered if every operation on the way released and
acquired. But one of them is .relaxed: a relaxed arrive publishes nothing, a relaxed
wait takes nothing over, a relaxed store or load of a flag carries the flag alone
(ISA 8.8, 9.7.13.15). It counts as half of a pattern only together with a fence: a
release fence before it in the same thread makes a relaxed arrive or store a
release, an acquire fence after it makes a relaxed wait or load an acquire. A
fence.release.sync_restrict::shared::cta does so for what concerns its own CTA's
shared memory, and no other (ISA 9.7.13.4).

red never acquires, whatever its qualifier, for it returns nothing (ISA 8.11.1).

A run that goes well shows nothing: compiler and memory system may move an access
past a relaxed operation, and need not.

Mend it by leaving .relaxed out (arrive then releases, wait acquires), or by
fence.acq_rel of the scope that holds both sides: before the relaxed arrive or
store, after the relaxed wait or load.`,
})

func (j *Judge) relaxedPath(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	scope := j.scope(a, b)
	if a.Op >= 0 && c.Span.Mem != machine.Global && c.Span.Mem != machine.SharedOf(a.CTA) {
		scope = ".cluster" // it completes in the CTA that owns the memory
	}
	f := Finding{
		Headline: fmt.Sprintf("%s: %s %s what %s %s; the way between them goes through a relaxed operation", place(c.Span), agent(b), verb(b), agent(a), past(a)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("a relaxed operation on the way from %s to %s has no fence that makes it a release, or an acquire", j.instr(a), j.instr(b)),
		Fix: fmt.Sprintf(".release and .acquire in place of .relaxed; or fence.acq_rel%s after %s and before the relaxed release, "+
			"and again after the relaxed acquire and before %s", scope, j.instr(a), j.instr(b)),
	}
	j.whoseFence(&f, c, scope)
	if b.Proxy == machine.Async && a.Proxy != machine.Async {
		f.Fix += fmt.Sprintf("; and fence.proxy.async%s on the way, for %s is of the asynchronous proxy", fenceSpace(c), j.instr(b))
		if c.Span.Mem == machine.SharedOf(a.CTA) {
			f.Fix += "; or, in place of all of these, fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster before the relaxed release " +
				"and fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster after the acquire"
		}
	}
	if met := j.met(c, true); met != "" && c.Half.Side == order.UnknownSide {
		f.Missing += ": " + met + " meet, and do not synchronize"
	}
	return f
}

// whoseFence says which side lacks its fence, if that is known: fences of other
// threads, and later ones, do not help.
func (j *Judge) whoseFence(f *Finding, c *order.Conflict, scope string) {
	a, b, h := &c.Prior, &c.Cur, &c.Half
	who := fmt.Sprintf("a thread of CTA %d", h.CTA)
	if h.Lanes != 0 {
		who = lanesOfWarp(h.Lanes, h.Warp, h.CTA)
	}
	switch h.Side {
	case order.NoAcquire, order.LateAcquire:
		read := j.readBy(h)
		f.Missing = fmt.Sprintf("an acquire on the reading side: %s is released, but %s, which sees that by %s, has no fence.acq_rel%s after it and before it goes on to %s",
			j.instr(a), who, read, scope, j.onward(h, b))
		f.Fix = fmt.Sprintf("fence.acq_rel%s in %s directly after %s, before it tells other threads; or .acquire in place of .relaxed there. Fences of other threads, or after those have been told, do not stand in for it",
			scope, who, read)
	case order.NoRelease:
		f.Missing = fmt.Sprintf("a release on the writing side: %s, by %s, is relaxed, and no fence.acq_rel%s of that thread comes between %s of %s and it", j.at(h.Op), who, scope, j.instr(a), agent(a))
		f.Fix = fmt.Sprintf("fence.acq_rel%s in the thread that executes %s, after %s and before it; or .release in place of .relaxed there. Fences of other threads do not stand in for it",
			scope, j.at(h.Op), j.instr(a))
		if acq := j.acquirerOf(h.Op); acq >= 0 && !j.fencedAfter(acq) {
			f.Missing += fmt.Sprintf("; nor does %s acquire", j.at(acq))
			f.Fix += fmt.Sprintf("; and fence.acq_rel%s after %s in the thread that executes it, or .acquire there", scope, j.at(acq))
		}
	}
}

// readBy names the operation with which the lanes of a half observed the release.
func (j *Judge) readBy(h *order.Half) string {
	for _, l := range j.Order.Links() {
		if l.Relaxed && (h.Op < 0 || l.Release == h.Op) {
			return j.at(l.Acquire)
		}
	}
	return "its relaxed read"
}

func (j *Judge) onward(h *order.Half, b *order.AccessRef) string {
	if h.CTA == b.CTA && h.Warp == b.Warp && h.Lanes&b.Lanes != 0 {
		return j.instr(b)
	}
	return "tell " + agent(b)
}

// acquirerOf returns an instruction that observed a release without synchronizing; -1 if
// none is known.
func (j *Judge) acquirerOf(release int32) int32 {
	for _, l := range j.Order.Links() {
		if l.Relaxed && l.Release == release {
			return l.Acquire
		}
	}
	return -1
}

// fencedAfter reports whether an instruction acquires, or a fence that does comes
// after it in the text.
func (j *Judge) fencedAfter(pc int32) bool {
	in := j.Program.Inst(pc)
	if in == nil || in.Sem().Acquires() {
		return true
	}
	for at, ok := range j.Program.Reach(pc + 1) {
		in := j.Program.Inst(int32(at))
		if ok && in != nil && in.PlainFence() && in.Sem() != ptx.Release {
			return true
		}
	}
	return false
}
