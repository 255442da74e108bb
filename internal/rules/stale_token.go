package rules

var staleToken = register(Kind{
	Name:     "stale-token",
	Severity: Error,
	Title:    "a wait with a token of a phase long gone, or of another mbarrier",
	Section:  "9.7.13.15.16",
	Text: `test_wait and try_wait take a token that an arrival of the current or of the
immediately preceding phase of the same mbarrier returned; any other is undefined
(ISA 9.7.13.15.16). The card compares one bit, the parity: a token two phases old
looks like one of the open phase, and the wait sleeps for a phase that its thread
never meant, or passes at once. Another mbarrier's token works by luck as long as the two run
in step (internal/rules/testdata/h200); a word that was invalidated and initialized again
is another mbarrier. Where a token went is followed through moves and selections, not
through memory: a token that was in memory is told by its bits.

Typical are a token kept in a register over an iteration that arrives again, a
token of one slot's barrier used with another's, and a value that was never a
token.

Mend it by waiting with the token of this round's arrival, or by parity.`,
})
