package rules

var cancelMisuse = register(Kind{
	Name:     "cancel-misuse",
	Severity: Error,
	Title:    "a request for a cluster after one that failed, or an id read from a failed one",
	Section:  "9.7.15.18",
	Text: `clusterlaunchcontrol.try_cancel asks for a cluster that has not started, to do its work.
After an answer that nothing is cancelled, another request of the CTA is undefined, and so is
what clusterlaunchcontrol.query_cancel.get_first_ctaid returns for such an answer.

A card that has no work left answers so each time; a loop that asks once more goes on with an
id that is none.`,
})
