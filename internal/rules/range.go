package rules

var rangeKind = register(Kind{
	Name:     "range",
	Severity: Error,
	Title:    "a count, a number of bytes or a parity outside its range",
	Section:  "9.7.9.18, 9.7.13.15.2",
	Text: `The expected and pending counts of an mbarrier lie between 1 (0 for pending) and
2^20-1, its tx-count between -(2^20-1) and 2^20-1 (ISA 9.7.13.15.2); counts and
bytes of single operations have the same bounds, and the parity of a wait is 0 or
1. Beyond them the behaviour is undefined. An H200 stores what the fields of the
word can hold, carries into the neighbouring field, and ends the launch at an
expect_tx of 2^20 bytes or more or when the tx-count overflows; of a parity it
looks at the lowest bit.

The fraction of a createpolicy.fractional is in (0, 1], and the primary size of a
createpolicy.range at most its total size (ISA 9.7.9.18).

Mend it by splitting the transfer over several phases or barriers, and by masking
the parity: phase & 1.`,
})
