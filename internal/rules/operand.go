package rules

import (
	"fmt"

	"muster/internal/machine"
)

// operand reports an operand that an instruction does not accept.
func (j *Judge) operand(ev *machine.Event) {
	kind, fix := rangeKind, "keep the operand in the range that the instruction takes"
	severity, notes := Note, []string(nil) // the kind's
	missing := "the instruction takes no such operand"
	head := fmt.Sprintf("%s: %s of warp %d of CTA %d %s %s", j.at(ev.PC), laneNames(ev.Mask), ev.Warp, ev.CTA, giveOrGives(ev.Mask), ev.Why)
	switch ev.Fault {
	case machine.FaultAlign:
		kind, fix = misaligned, "align the address, and make the size a multiple of what the instruction takes"
	case machine.FaultTensorAlloc:
		kind = tensorAlloc
		missing, fix = allocRemedy(ev.Why)
		head = fmt.Sprintf("%s, warp %d of CTA %d: %s", j.at(ev.PC), ev.Warp, ev.CTA, ev.Why)
	case machine.FaultTensorLanes:
		kind, fix, severity = tensorLanes, ownLanes, Warning
		notes = []string{"contested: the ISA asks for the warp's own lanes; shipped kernels give lane 0 in every warp, and a card then takes the warp's own"}
	case machine.FaultTensorOverlap:
		kind, fix, severity = raceTensor, "give each matrix, and the scale factors, columns of their own", Error
	case machine.FaultDescriptor:
		kind, fix, severity = badDescriptor, "put 0b001 there", Warning
		notes = []string{"contested: JAX's Mosaic leaves the bits 0 in all of its kernels, and we know of no failure on a card"}
	case machine.FaultMetadata:
		kind, severity = badDescriptor, Warning
		missing, fix = descriptorRemedy(ev.Why)
		head = fmt.Sprintf("%s, of CTA %d: %s", j.at(ev.PC), ev.CTA, ev.Why)
		notes = []string{"contested: the ISA leaves what becomes of the product open; CUTLASS's compressor writes 0b0000 for a chunk of zeros, and an H200 takes the metadata of wgmma as it is, as this run does"}
	case machine.FaultBaseOffset:
		kind, fix, severity = badDescriptor, "put 0 there", Warning
		notes = []string{"contested: the ISA gives a base offset for each swizzle and none without one; Triton's kernels have one when they copy scale factors, and we know of no failure on a card"}
	case machine.FaultCancel:
		kind, fix = cancelMisuse, "leave the loop at the first answer that nothing is cancelled, in every thread, and read the id of a CTA only from an answer that has one"
	case machine.FaultBounds:
		kind, fix = outOfBounds, "give an address of the state space that the instruction takes"
	}
	j.note(kind, -1, ev.PC, func() Finding {
		return Finding{
			Headline: head,
			Sites:    []Site{eventSite("executes", ev)},
			Missing:  missing,
			Fix:      fix,
			Severity: severity,
			Notes:    notes,
		}
	})
}

func giveOrGives(mask uint32) string {
	if mask&(mask-1) == 0 {
		return "gives"
	}
	return "give"
}
