package rules

var noCompleteCompletes = register(Kind{
	Name:     "nocomplete-completes",
	Severity: Error,
	Title:    "a .noComplete arrival that completes the phase",
	Section:  "9.7.13.15.13",
	Text: `With .noComplete the author promises that the arrival leaves the phase
incomplete; if it completes it, the behaviour is undefined (ISA 9.7.13.15.13,
9.7.13.15.14). An H200 completes the phase, but the token that the instruction
returns has no count of its own.

Mend it by leaving .noComplete out, or by arriving with a count that leaves
another arrival pending.`,
})
