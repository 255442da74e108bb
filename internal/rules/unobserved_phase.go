package rules

var unobservedPhase = register(Kind{
	Name:     "unobserved-phase",
	Severity: Warning,
	Title:    "a phase that nobody saw complete before the next arrivals",
	Section:  "9.7.13.15.4",
	Text: `For each phase of an mbarrier at least one test_wait or try_wait must return true
before an arrival of the subsequent phase (ISA 9.7.13.15.4). Here an arrival comes
after a phase that no thread has waited for with success.

The card keeps count all the same, so that this is a warning: but nothing shows
that the arrival belongs to the phase that its author meant, and a wait that comes
later may find its parity gone by.

Mend it by waiting for each phase in some thread before anyone arrives again.`,
})
