package rules

import (
	"fmt"

	"muster/internal/order"
)

var cancelMisuse = register(Kind{
	Name:     "cancel-misuse",
	Severity: Error,
	Title:    "a request for a cluster after one that failed, or an id read from a failed one",
	Section:  "9.7.15.18",
	Text: `clusterlaunchcontrol.try_cancel asks for a cluster that has not started, to do its work.
After an answer that nothing is cancelled, another request of the CTA is undefined, and so is
what clusterlaunchcontrol.query_cancel.get_first_ctaid returns for such an answer.

A card that has no work left answers so each time; a loop that asks once more goes on with an
id that is none.

What counts is that any thread of the CTA has seen the failed answer. So where one thread reads
the answers and another asks, each request must come before what may see a failed one.`,
})

// unorderedRequest is the finding for a request and another thread's observation that one
// failed, in no order.
func (j *Judge) unorderedRequest(f *order.Fact) Finding {
	a, b := &f.A, &f.B
	return Finding{
		Headline: fmt.Sprintf("%s asks for a cluster, and %s sees that a request of the CTA failed, in no order: a request after that is undefined (ISA 9.7.15.18.1)", lanesText(a), lanesText(b)),
		Sites:    []Site{j.opSite("asks", a), j.opSite("sees that one failed", b)},
		Missing:  fmt.Sprintf("no synchronization leads from %s to %s", j.at(a.PC), j.at(b.PC)),
		Fix:      fmt.Sprintf("%s after %s and before %s; or let one thread ask and read the answers", syncBetween(f.Apart), j.at(a.PC), j.at(b.PC)),
	}
}
