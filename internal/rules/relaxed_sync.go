package rules

import (
	"fmt"
	"slices"
	"strings"

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
fence.acq_rel of the scope that holds both sides, in the thread that executes the
relaxed operation: directly before an arrive or store, directly after a wait or load.
Only relaxed ones need it: barrier.cluster.wait, which cannot be relaxed, acquires
by itself (ISA 9.7.13.3), so that one fence before barrier.cluster.arrive.relaxed is
enough.`,
})

func (j *Judge) relaxedPath(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	scope := scope(c.Apart)
	if a.Op >= 0 && c.Span.Mem != machine.Global && c.Span.Mem != machine.SharedOf(a.CTA) {
		scope = ".cluster" // it completes in the CTA that owns the memory
	}
	f := Finding{
		Headline: fmt.Sprintf("%s: %s %s what %s %s; the way between them goes through a relaxed operation", place(c.Span), agent(b), verb(b), agent(a), past(a)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("a relaxed operation on the way from %s to %s has no fence that makes it a release, or an acquire", j.instr(a), j.instr(b)),
		Fix: fmt.Sprintf(".release and .acquire in place of .relaxed; or fence.acq_rel%s directly before the relaxed release, in each thread that executes it, "+
			"and again directly after the relaxed acquire", scope),
	}
	if met := j.met(c, true); len(met) > 0 && c.Half.Side == order.UnknownSide {
		f.Missing += ": " + j.meeting(met) + " meet, and do not synchronize"
		f.Fix = j.strengthened(met, scope)
	}
	j.whoseFence(&f, c, scope)
	if cross := j.crossing(c, a, b); cross != "" {
		f.Fix += cross
		if c.Span.Mem == machine.SharedOf(a.CTA) {
			f.Fix += "; or, in place of all of these, fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster before the relaxed release " +
				"and fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster after the acquire"
		}
	}
	return f
}

// strengthened says what makes relaxed operations that meet a release and an acquire. One of
// the two may be that already: barrier.cluster.wait, for one, always acquires (ISA 9.7.13.3).
func (j *Judge) strengthened(met []order.Link, scope string) string {
	var fixes []string
	add := func(fix string) {
		if !slices.Contains(fixes, fix) {
			fixes = append(fixes, fix)
		}
	}
	for _, l := range met {
		if in := j.Program.Inst(l.Release); in == nil || !in.Sem().Releases() {
			add(fmt.Sprintf("%s, or fence.acq_rel%s directly before %s, in each thread that executes it", j.stronger(l.Release, "release", scope), scope, j.at(l.Release)))
		}
	}
	for _, l := range met {
		if in := j.Program.Inst(l.Acquire); in == nil || !in.Sem().Acquires() {
			add(fmt.Sprintf("%s, or fence.acq_rel%s directly after %s, in each thread that executes it", j.stronger(l.Acquire, "acquire", scope), scope, j.at(l.Acquire)))
		}
	}
	return strings.Join(fixes, "; and ")
}

// stronger says how to write an operation so that it releases or acquires by itself.
func (j *Judge) stronger(pc int32, sem, scope string) string {
	in := j.Program.Inst(pc)
	if in == nil {
		return "." + sem + " in place of .relaxed"
	}
	op, mods, _ := strings.Cut(machine.Name(in), ".")
	switch {
	case in.IsOf(ptx.ClassBarrier):
		return "leave .relaxed out of " + j.at(pc)
	case slices.Contains(in.Mods, "relaxed"):
		return fmt.Sprintf(".%s%s in place of .relaxed at %s", sem, scope, j.at(pc))
	case !slices.Contains([]string{"ld", "st", "atom", "red"}, op):
		return fmt.Sprintf("what has .%s%s in place of %s", sem, scope, j.at(pc))
	}
	name := op + "." + sem + scope // volatile, or without a word on its order
	for _, m := range strings.Split(mods, ".") {
		if !slices.Contains([]string{"volatile", "cta", "cluster", "gpu", "sys"}, m) {
			name += "." + m
		}
	}
	return fmt.Sprintf("%s in place of %s", name, j.at(pc))
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
		read, stronger := "its relaxed read", ".acquire in place of .relaxed there"
		if pc := j.readBy(h); pc >= 0 {
			read, stronger = j.at(pc), j.stronger(pc, "acquire", scope)
		}
		f.Missing = fmt.Sprintf("an acquire on the reading side: %s is released, but %s, which sees that by %s, has no fence.acq_rel%s after it and before it goes on to %s",
			j.instr(a), who, read, scope, j.onward(h, b))
		f.Fix = fmt.Sprintf("fence.acq_rel%s directly after %s, in each thread that executes it; or %s. Fences of other threads, or after those have been told, do not stand in for it",
			scope, read, stronger)
	case order.NoRelease:
		f.Missing = fmt.Sprintf("a release on the writing side: %s, by %s, is relaxed, and no fence.acq_rel%s of that thread comes between %s of %s and it", j.at(h.Op), who, scope, j.instr(a), agent(a))
		f.Fix = fmt.Sprintf("fence.acq_rel%s directly before %s, in each thread that executes it; or %s",
			scope, j.at(h.Op), j.stronger(h.Op, "release", scope))
		if acq := j.acquirerOf(h.Op); acq >= 0 && !j.fencedAfter(acq) {
			f.Missing += fmt.Sprintf("; nor does %s acquire", j.at(acq))
			f.Fix += fmt.Sprintf("; and fence.acq_rel%s directly after %s, in each thread that executes it, or %s", scope, j.at(acq), j.stronger(acq, "acquire", scope))
		}
		f.Fix += ". Fences of other threads do not stand in for it"
	}
}

// readBy returns the operation with which the lanes of a half observed the release; -1 if it
// is not known.
func (j *Judge) readBy(h *order.Half) int32 {
	for _, l := range j.Order.Links() {
		if l.Relaxed && (h.Op < 0 || l.Release == h.Op) {
			return l.Acquire
		}
	}
	return -1
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
