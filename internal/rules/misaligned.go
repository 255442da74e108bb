package rules

var misaligned = register(Kind{
	Name:     "misaligned",
	Severity: Error,
	Title:    "an address or size that is not aligned as the access needs",
	Section:  "6.4.1",
	Text: `The address of an access must be a multiple of its size, vectors as a whole
(ISA 6.4.1); cp.async needs its copy size, a bulk copy 16 bytes for both addresses
and its size (ISA 9.7.9.25), a copy through a tensor map 128 for its box in shared
memory and 64 for the map, an mbarrier 8. The card ends the launch with 'misaligned
address'. The address of a matrix of wmma must be a multiple of its fragment's size
(ISA 9.7.14.4.2), and its rows begin at multiples of 16 bytes, or of that size if it is
less.

Mend it with .align on the variable, with a base address that is aligned in the
launch, and with offsets and sizes that are multiples.`,
})
