package rules

import (
	"fmt"

	"muster/internal/order"
)

var mixedSizeRace = register(Kind{
	Name:     "mixed-size-race",
	Severity: Error,
	Order:    Conflict,
	Title:    "a race between accesses that overlap only in part",
	Section:  "8.7.2",
	Text: `Two accesses that nothing orders overlap without covering the same bytes, as
a 64-bit store and a 32-bit load of one half. Even if both are strong they are
not morally strong, for that takes complete overlap (ISA 8.7); and a program with
one such race is outside the axioms of the memory model altogether (ISA 8.7.2),
so that no atomicity, no per-location order and no causality may be relied upon,
here or elsewhere. An element of a vector access counts by itself: a v4.f32 store
and an f32 load of one element are of equal size. So does an element of an asynchronous
reduction (cp.reduce.async.bulk, red.async), each of which is a read-modify-write.

What may be read is a torn value: a part of the new and a part of the old.

Mend it by ordering the two accesses, as for any race; or, for two strong
accesses that are meant to race, by accessing the same bytes with the same size.`,
})

func (j *Judge) mixedRace(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	f := Finding{
		Headline: fmt.Sprintf("%s: %s %s and %s %s with accesses of another size, in no order", place(c.Span), agent(a), verb(a), agent(b), verb(b)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("no synchronization leads from %s to %s, and accesses that overlap in part are never morally strong", j.instr(a), j.instr(b)),
		Fix:      fmt.Sprintf("put %s after %s and before %s; if both are strong and meant to race, give them the same size and address", syncBetween(c.Apart), j.instr(a), j.instr(b)) + j.crossing(c, a, b),
	}
	canonical(&f)
	return f
}
