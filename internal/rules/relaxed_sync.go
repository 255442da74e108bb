package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/order"
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
		scope = ".cluster" // it completes in the CTA whose memory it is
	}
	f := Finding{
		Headline: fmt.Sprintf("%s: %s %s what %s %s; the way between them goes through a relaxed operation", place(c.Span), agent(b), verb(b), agent(a), past(a)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("a relaxed operation on the way from %s to %s has no fence that makes it a release, or an acquire", j.instr(a), j.instr(b)),
		Fix: fmt.Sprintf(".release and .acquire in place of .relaxed; or fence.acq_rel%s after %s and before the relaxed release, "+
			"and again after the relaxed acquire and before %s", scope, j.instr(a), j.instr(b)),
	}
	if b.Proxy == machine.Async && a.Proxy != machine.Async {
		f.Fix += fmt.Sprintf("; and fence.proxy.async%s on the way, for %s is of the asynchronous proxy", fenceSpace(c), j.instr(b))
		if c.Span.Mem == machine.SharedOf(a.CTA) {
			f.Fix += "; or, in place of all of these, fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster before the relaxed release " +
				"and fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster after the acquire"
		}
	}
	if met := j.met(true); met != "" {
		f.Missing += ": " + met + " meet, and do not synchronize"
	}
	return f
}
