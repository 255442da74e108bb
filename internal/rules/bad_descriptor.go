package rules

import (
	"fmt"
	"strings"

	"muster/internal/machine"
	"muster/ptx"
)

var badDescriptor = register(Kind{
	Name:     "bad-descriptor",
	Severity: Error,
	Title:    "a descriptor of a matrix in shared memory that the layout forbids",
	Section:  "9.7.15.5.1.2.2, 9.7.15.5.2",
	Text: `wgmma takes matrices in shared memory by 64-bit descriptors: start address in bits
0-13, leading and stride byte offset in 16-29 and 32-45, each encoded as
(x & 0x3ffff) >> 4, base offset in 49-51, swizzle mode in 62-63
(ISA 9.7.15.5.1.2.2). Forbidden, and found here: bits set that the format does not
name; a base offset without a swizzle, where it has no meaning; lanes of a warp or
warps of a warpgroup that do not give the same descriptor (9.7.15.5.2), and lanes of a
warp that do not give the same scale-d.

Not every wrong descriptor is a forbidden one. An address of another matrix, swapped
offsets or another swizzle than the data has describe some matrix, and the result
tells. One that leaves the CTA's shared memory is out-of-bounds.

Of tcgen05.mma with block scales, an address and an id of factors that no layout has, and
factors that are not the same in each 32 lanes (9.7.18.10.7). Of mma.sync with block scales,
bytes and lanes of factors that are not defined (9.7.14.3).

Of tcgen05's descriptors (9.7.18.4.1) two things are warnings, since shipped kernels have them:
0b000 in bits 46-48, and a base offset without a swizzle. So is metadata of tcgen05.mma.sp of
other values than the ISA defines (9.7.18.10.8), or of mma.sp::ordered_metadata whose indices
do not ascend (9.7.14.6.3): it spoils elements of the product, no more.

What a card does with a forbidden one is undefined: it may read other bytes, or
fault.

The usual shapes: an address that was not shifted right by four or not masked, so that
it spills into the next field; a shared::cluster address or a generic one in place of
the offset in the CTA's window; a descriptor computed from a lane's own number.`,
})

func (j *Judge) descriptorFault(s *machine.Stop) {
	issues := "issues wgmma"
	switch in := j.Program.Inst(s.PC); {
	case in != nil && in.IsOf(ptx.ClassTcgen05):
		issues = "issues"
	case in != nil && !in.Effect().Has(ptx.Warpgroup):
		issues = "executes"
	}
	missing, fix := descriptorRemedy(s.Msg)
	j.add(badDescriptor, Finding{
		Headline: fmt.Sprintf("%s: warp %d of CTA %d: %s", j.at(s.PC), s.Warp, s.CTA, s.Msg),
		Sites:    []Site{stopSite(issues, s)},
		Missing:  missing,
		Fix:      fix,
	})
}

// descriptorRemedy says what is missing and what to do about a descriptor, or about another
// operand of a multiplication.
func descriptorRemedy(cause string) (missing, fix string) {
	switch {
	case strings.HasPrefix(cause, "instruction descriptor") && strings.Contains(cause, "scale"):
		return "the instruction takes no such instruction descriptor",
			"set that field for the instruction's kind: the factors' format in bit 23, their first bytes in 29-30 for A and 4-5 for B (ISA 9.7.18.4.2, 9.7.18.10.7.1)"
	case strings.HasPrefix(cause, "instruction descriptor"):
		return "the instruction takes no such instruction descriptor",
			"set that field for the instruction's kind and shape: formats in bits 4-5, 7-9 and 10-12, N/8 in 17-22, M/16 in 24-28 (ISA 9.7.18.4.2), and 0 in what it does not use"
	case strings.Contains(cause, "at tensor address"):
		return "the layout of this shape does not lie there",
			"begin the matrix at a lane that the layout has, in columns that hold all of it"
	case strings.HasPrefix(cause, "scale factor"):
		return "the instruction takes no such scale factors",
			"copy them by tcgen05.cp.32x128b.warpx4, which writes all four parts of 32 lanes, to columns from lane 0 on, and give that address and the id of their first byte (ISA 9.7.18.10.7)"
	case strings.HasPrefix(cause, "byte-id"), strings.HasPrefix(cause, "thread-id"), strings.Contains(cause, "selectors of factors"):
		return "the instruction takes no such selector of factors",
			"give all lanes the same: byte 0 to 3 where a row has one factor, 0 or 2 for two, 0 for four; thread 0 or 1 for A, 0 to 3 for B (ISA 9.7.14.3)"
	case strings.HasPrefix(cause, "zero-column mask descriptor"):
		return "the instruction takes no such mask of columns",
			"set its fields (ISA 9.7.18.4.3), 0 in bits 36-38, and a shift in bits 56-61 that bits 30-31 of the instruction descriptor allow"
	case strings.Contains(cause, "indices that ascend"):
		return "the instruction takes no such metadata",
			"write the lower of the two indices into the low bits of each nibble (ISA 9.7.14.6.3)"
	case strings.HasPrefix(cause, "sparse metadata"):
		return "the instruction takes no such metadata",
			"write two different places of each four there, the lower one first, and for tf32 0b0100 or 0b1110, in the order of tensor memory's lanes (ISA 9.7.18.10.8)"
	case strings.HasPrefix(cause, "disable-output-lane"):
		return "the instruction takes no such mask of lanes", "give 4 words for .cta_group::1 and 8 for .cta_group::2"
	}
	return "the instruction takes no such descriptor",
		"build it from the address in the CTA's own window: (address & 0x3ffff) >> 4, and the offsets of the layout, likewise in units of 16 bytes"
}
