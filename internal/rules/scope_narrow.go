package rules

import (
	"fmt"

	"muster/internal/order"
)

var scopeTooNarrow = register(Kind{
	Name:     "scope-too-narrow",
	Severity: Error,
	Title:    "synchronization whose written scope leaves the other side out",
	Section:  "8.5, 8.7",
	Text: `There is a path of synchronization between the two accesses, but some link of
it names a scope that does not hold both sides: .cta between CTAs, or .cluster
between clusters. A release and an acquire synchronize only if each one's scope
includes the thread of the other (ISA 8.5, 8.7); here they do not, so nothing is
ordered and the accesses race. The same name stands for two strong accesses, such
as atomics on one counter, whose scopes leave each other out: they are not morally
strong, and not even atomic with respect to each other.

A release and acquire at .cta scope need not reach beyond one SM: what was written
may stay unseen, or a stale line in the other SM's L1 may be read. Whether that
happens depends on what lies in the caches; a run that goes well shows nothing.

Mend it by writing the wider scope on both sides: .cluster between CTAs of a
cluster, .gpu between clusters, .sys for the host and other devices. Where the
scope is left out it is .cta for mbarrier operations; that case has a name
of its own, scope-defaulted, and is honoured.`,
})

func (j *Judge) narrowScope(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	f := Finding{Sites: j.pair(c)}
	need := scope(c.Apart)
	if c.Why&order.IfScopeWider == 0 {
		f.Headline = fmt.Sprintf("%s: strong accesses of %s and %s whose scopes leave each other out", place(c.Span), agent(a), agent(b))
		f.Missing = fmt.Sprintf("%s and %s are not morally strong: both need %s scope, and nothing orders them", j.instr(a), j.instr(b), need)
		f.Fix = fmt.Sprintf("%s scope on both", need)
		canonical(&f)
		return f
	}
	f.Headline = fmt.Sprintf("%s: %s %s what %s %s, synchronized at too narrow a scope", place(c.Span), agent(b), verb(b), agent(a), past(a))
	f.Need = j.need(LacksScope, c)
	f.Missing = fmt.Sprintf("a release and an acquire on the way from %s to %s need %s scope, and one of them, or its fence, names a narrower one", j.instr(a), j.instr(b), need)
	if met := j.met(c, false); len(met) > 0 {
		f.Missing += ": " + j.meeting(met)
	}
	f.Fix = fmt.Sprintf("%s scope on every release, acquire and fence between %s and %s", need, j.instr(a), j.instr(b)) + j.crossing(c, a, b)
	return f
}
