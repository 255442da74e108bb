package rules

var trapped = register(Kind{
	Name:     "trap",
	Severity: Error,
	Order:    Effect,
	Title:    "a trap is executed, or an assertion fails",
	Section:  "9.7.19.4",
	Text: `A thread executes trap, or a device assertion fails. The launch ends there with an
error (ISA 9.7.19.4): results are undefined, and the context is lost.

A trap behind a wait that was bounded by a count or a clock is not this: it tells
of a wait that never ends and is reported as such.

See which condition led here. If the kernel guards against bad input in this way,
the launch is what to mend.`,
})
