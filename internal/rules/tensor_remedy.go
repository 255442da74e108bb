package rules

import (
	"fmt"
	"slices"
	"strings"

	"muster/internal/machine"
)

// What to do about a misuse of tensor memory, by its cause. The machine names the cause in the
// text of a stop or of an operand's event.

// A remedy belongs to the causes whose text contains says.
type remedy struct{ says, missing, fix string }

var allocRemedies = []remedy{
	{"a power of two from 32 to 512", "columns are allocated by 32, 64, 128, 256 or 512 at a time",
		"ask for one of these numbers, and give tcgen05.dealloc the same"},
	{"the number may not increase", "each alloc of a CTA asks for no more columns than the one before it",
		"allocate the most columns first, or all columns at once and divide them"},
	{"executed tcgen05.relinquish_alloc_permit", "nothing allocates after tcgen05.relinquish_alloc_permit, whichever warp executed it",
		"move tcgen05.relinquish_alloc_permit behind the CTA's last tcgen05.alloc, with a barrier between if another warp allocates"},
	{"lanes of the warp give different operands", "the instruction is executed once for the warp, with one address and one number of columns",
		"compute the operands from what is the same in all lanes"},
	{"were allocated (ISA", "tcgen05.dealloc frees what one tcgen05.alloc returned, and no part of it",
		"give tcgen05.dealloc the number of columns that its alloc asked for"},
	{"no alloc that is not freed yet returned", "tcgen05.dealloc frees what one tcgen05.alloc returned, and once",
		"give it the word that alloc wrote, without a lane and without an offset, in one warp alone"},
	{"all of a kernel have the same", "the instructions of a kernel work for one CTA, or for pairs",
		"write one cta_group in all tcgen05 instructions of the kernel"},
	{"needs a cluster of an even number", "cta_group::2 works for pairs of CTAs",
		"launch clusters of 2 CTAs or another even number, or write cta_group::1"},
	{"ask for different columns", "the two CTAs of a pair execute one tcgen05.alloc or dealloc together",
		"let both CTAs give the same operands, in the same order of instructions"},
}

var boundsRemedies = []remedy{
	{"lanes of the warp give different addresses", "the instruction has one address for the warp, which is that of its first lane of tensor memory",
		"compute the address from what is the same in all lanes: the column, and (warp % 4) * 32 as the lane"},
	{"the other CTA of the pair does not run", "an instruction with cta_group::2 works on the tensor memory of both CTAs",
		"launch clusters of an even number of CTAs, and let both of a pair meet at a cluster barrier before either ends"},
}

// remedyOf returns what is missing, and what to do, for a cause; else what it is given.
func remedyOf(list []remedy, cause, missing, fix string) (string, string) {
	if i := slices.IndexFunc(list, func(r remedy) bool { return strings.Contains(cause, r.says) }); i >= 0 {
		return list[i].missing, list[i].fix
	}
	return missing, fix
}

// allocRemedy is the remedy for what tcgen05.alloc, dealloc and relinquish_alloc_permit forbid.
func allocRemedy(cause string) (missing, fix string) {
	return remedyOf(allocRemedies, cause, "the instruction may not be executed so",
		"see what the ISA asks of tcgen05.alloc, dealloc and relinquish_alloc_permit: muster explain tensor-alloc")
}

// unallocatedRemedy is the remedy for an access to columns that the CTA does not hold. Where
// they were freed before in this run, control flow says whether the access stands behind that.
func (j *Judge) unallocatedRemedy(s *machine.Stop, freed *Site) (missing, fix string) {
	missing, fix = "no alloc of the CTA that is not freed covers these columns",
		"access what tcgen05.alloc returned, and as many columns as it was asked for, before tcgen05.dealloc"
	switch {
	case freed == nil:
		return remedyOf(boundsRemedies, s.Msg, missing, fix)
	case j.Program.Reach(freed.PC + 1)[s.PC]:
		return fmt.Sprintf("%s has freed these columns", j.at(freed.PC)),
			fmt.Sprintf("put %s behind the last access to the columns, and a barrier between", j.at(freed.PC))
	}
	return fmt.Sprintf("%s came first in this schedule, and nothing keeps it behind %s", j.at(freed.PC), j.at(s.PC)),
		fmt.Sprintf("let every warp wait for its operations and reach a barrier after %s and before %s", j.at(s.PC), j.at(freed.PC))
}
