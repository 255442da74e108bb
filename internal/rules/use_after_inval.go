package rules

import (
	"fmt"

	"muster/internal/order"
)

var useAfterInval = register(Kind{
	Name:     "use-after-inval",
	Severity: Error,
	Title:    "an operation on an mbarrier that was invalidated",
	Section:  "9.7.13.15.10",
	Text: `After mbarrier.inval the word is no mbarrier any more; the behaviour of any
operation on it but mbarrier.init is undefined (ISA 9.7.13.15.10). That includes
copies under way that are to report to it. An H200 accepts such an arrival in
silence and goes on counting in memory that may hold other data by then.

It is found where it happened, and also where an inval came last by luck: an
operation that nothing orders before the inval, a wait included, may come after it.

Mend it by invalidating after a barrier that every user passes once it is done,
and after the last copy's completion was waited for.`,
})

// unorderedInval is an inval without a happens-before edge from a use of the barrier.
func (j *Judge) unorderedInval(f *order.Fact) Finding {
	a, b := &f.A, &f.B
	return Finding{
		Headline: fmt.Sprintf("%s invalidates an mbarrier that %s uses, not ordered after that", lanesText(b), lanesText(a)),
		Sites:    []Site{j.opSite("invalidates", b), j.opSite(j.deed(a.PC), a)},
		Missing:  fmt.Sprintf("no synchronization leads from %s to %s", j.at(a.PC), j.at(b.PC)),
		Fix:      fmt.Sprintf("%s after %s and before %s", syncBetween(f.Apart), j.at(a.PC), j.at(b.PC)),
	}
}
