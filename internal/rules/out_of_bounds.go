package rules

var outOfBounds = register(Kind{
	Name:     "out-of-bounds",
	Severity: Error,
	Title:    "an access outside what the launch gave the kernel",
	Section:  "5.1",
	Text: `A load, store, atomic, copy or barrier operation touches bytes that belong to no
buffer of the launch, no variable, and no shared memory of the CTA or its cluster;
or it writes what is read-only. Ranges of bulk copies and what they report to
count too, and so do jumps and calls through tables beyond their end. The card
ends the launch with 'illegal address' where a page is missing, and reads or
overwrites someone else's data where it is not.

Buffers are checked at their very bytes: what lies past the end is out of bounds,
however near.

Mend the index, its guard, or the sizes in the launch.`,
})
