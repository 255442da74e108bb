package rules

var staleToken = register(Kind{
	Name:     "stale-token",
	Severity: Error,
	Title:    "a wait with a token of a phase long gone",
	Section:  "9.7.13.15.16",
	Text: `test_wait and try_wait take a token that an arrival of the current or of the
immediately preceding phase of the same mbarrier returned; any other is undefined
(ISA 9.7.13.15.16). The card compares one bit, the parity: a token two phases old
looks like one of the open phase, and the wait sleeps for a phase that its thread
never meant, or passes at once.

Typical are a token kept in a register over an iteration that arrives again, a
token of one slot's barrier used with another's, and a value that was never a
token.

Mend it by waiting with the token of this round's arrival, or by parity.`,
})
