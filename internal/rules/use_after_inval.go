package rules

var useAfterInval = register(Kind{
	Name:     "use-after-inval",
	Severity: Error,
	Title:    "an operation on an mbarrier that was invalidated",
	Section:  "9.7.13.15.10",
	Text: `After mbarrier.inval the word is no mbarrier any more; the behaviour of any
operation on it but mbarrier.init is undefined (ISA 9.7.13.15.10). That includes
copies under way that are to report to it. An H200 accepts such an arrival in
silence and goes on counting in memory that may hold other data by then.

Mend it by invalidating after a barrier that every user passes once it is done,
and after the last copy's completion was waited for.`,
})
