package rules

import (
	"fmt"

	"muster/internal/machine"
)

var badDescriptor = register(Kind{
	Name:     "bad-descriptor",
	Severity: Error,
	Title:    "a descriptor of a matrix in shared memory that the layout forbids",
	Section:  "9.7.15.5.1",
	Text: `wgmma takes matrices in shared memory by 64-bit descriptors: start address, leading
and stride byte offset (all in units of 16 bytes), base offset and swizzle mode
(ISA 9.7.15.5.1). Bits that the format does not name must be zero; matrices begin
at multiples of 16 bytes; the base offset is for patterns that do not begin
at a multiple of their size, and is zero otherwise; every lane of the warp must
give the same descriptor.

What a card does with a forbidden one is undefined: it may read other bytes, or
fault.

The usual shapes: an address that was not shifted right by four or not masked to
its 14 bits, so that it spills into the next field; a shared::cluster address or a
generic one in place of the offset in the CTA's window; a descriptor computed
from a lane's own number.`,
})

func (j *Judge) descriptorFault(s *machine.Stop) {
	j.add(badDescriptor, Finding{
		Headline: fmt.Sprintf("%s: warp %d of CTA %d: %s", j.at(s.PC), s.Warp, s.CTA, s.Msg),
		Sites:    []Site{stopSite("issues wgmma", s)},
		Missing:  "the descriptor is none that the instruction takes",
		Fix:      "build it from the address in the CTA's own window: (address & 0x3ffff) >> 4, and the offsets of the layout, likewise in units of 16 bytes",
	})
}
