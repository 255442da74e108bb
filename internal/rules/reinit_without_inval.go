package rules

var reinitWithoutInval = register(Kind{
	Name:     "reinit-without-inval",
	Severity: Error,
	Title:    "mbarrier.init over a live mbarrier",
	Section:  "9.7.13.15.9",
	Text: `mbarrier.init on a location that holds a valid mbarrier is undefined; an mbarrier
must be invalidated before its memory becomes anything else, another mbarrier
included (ISA 9.7.13.15.3, .9). An H200 stores the new word without complaint:
arrivals and bytes of the old one are forgotten, threads that wait for it see the
parity of the new one, and copies under way report to it.

Typical are an init inside a loop over tiles, and two threads that both
initialize.

Mend it by initializing once, in one thread, and going on with the phases; or by
mbarrier.inval and a barrier between the last use and the new init.`,
})
