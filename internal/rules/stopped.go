package rules

import (
	"fmt"
	"math/bits"
	"strings"

	"muster/internal/diag"
	"muster/internal/machine"
	"muster/mbarrier"
	"muster/ptx"
)

// stopped turns the cause of an early stop into findings or gaps.
func (j *Judge) stopped(m *machine.Machine) {
	s := m.Stopped()
	if s == nil {
		if m.Done() {
			j.keepApart()
		}
		return
	}
	if s.Kind != machine.Deadlock && s.Kind != machine.LimitInstrs && s.Kind != machine.LimitLocal {
		j.keepApart()
	}
	if j.watch.ctas == nil {
		j.begin()
	}
	switch s.Kind {
	case machine.Deadlock:
		j.deadlock(m)
	case machine.FaultBounds:
		j.add(outOfBounds, j.badAddress(s))
	case machine.FaultAlign:
		j.add(misaligned, j.badAddress(s))
	case machine.FaultBarrier:
		j.barrierFault(s)
	case machine.FaultTrap, machine.FaultAssert:
		j.add(trapped, j.trapFinding(s))
	case machine.FaultDescriptor:
		j.descriptorFault(s)
	case machine.FaultTensorAlloc:
		missing, fix := allocRemedy(s.Msg)
		j.tensorStop(tensorAlloc, s, "executes", missing, fix)
	case machine.FaultTensorBounds:
		missing, fix := j.unallocatedRemedy(s, j.freedAt(s))
		j.tensorStop(tensorUnallocated, s, "accesses", missing, fix)
	case machine.FaultTensorLanes:
		missing, fix := lanesRemedy(s.Msg)
		j.tensorStop(tensorLanes, s, "accesses", missing, fix)
	case machine.FaultMap:
		j.mapFault(s)
	case machine.FaultOther:
		j.otherFault(s)
	case machine.Unmodelled:
		j.gaps = append(j.gaps, Gap{What: s.Msg + " is not modelled", PC: s.PC})
	case machine.LimitInstrs:
		j.gaps = append(j.gaps, Gap{What: "the limit of instructions in one run ran out", PC: s.PC})
	case machine.LimitLocal:
		j.gaps = append(j.gaps, Gap{What: "the limit of local memory and call depth of a thread ran out", PC: s.PC})
	case machine.Expired:
		// What is assumed not to happen.
	case machine.Interrupted:
		// The caller that interrupted the run says why.
	default:
		panic("BUG: a run stopped for a reason without a rule")
	}
}

func stopSite(role string, s *machine.Stop) Site {
	site := Site{Role: role, PC: s.PC, CTA: s.CTA, Warp: s.Warp, Lanes: 1 << uint(s.Lane&31), Mem: s.Mem, Addr: s.Addr, Len: s.Size}
	if s.Op != nil {
		site.Op = fmt.Sprintf("operation %d", s.Op.ID)
	}
	return site
}

// accessRole says what an access does.
func accessRole(a machine.Access) string {
	switch {
	case a&machine.Update != 0:
		return "updates"
	case a&machine.Write != 0:
		return "writes"
	}
	return "reads"
}

// where names a place in memory.
func where(mem machine.MemID, addr uint64) string {
	switch mem {
	case machine.Global:
		return fmt.Sprintf("global address %#x", addr)
	case machine.Local:
		return fmt.Sprintf("address %#x", addr)
	}
	if mem.Kind() == machine.TensorMemory {
		return fmt.Sprintf("%s of the tensor memory of CTA %d", machine.TensorCells(addr, 1), mem.CTA())
	}
	return fmt.Sprintf("shared+%d of CTA %d", addr, mem)
}

func (j *Judge) badAddress(s *machine.Stop) Finding {
	role := accessRole(s.Acc)
	f := Finding{
		Headline: fmt.Sprintf("%s: lane %d of warp %d of CTA %d %s %s at %s", j.at(s.PC), s.Lane, s.Warp, s.CTA, role, diag.Bytes(s.Size), where(s.Mem, s.Addr)),
		Sites:    []Site{stopSite(role, s)},
	}
	if s.Kind == machine.FaultAlign {
		f.Missing = "the address must be a multiple of the size of the access; bulk copies need 16 bytes, in addresses and size, boxes of a tensor map 128"
		f.Fix = "align the base (.align on the variable, the launch's buffer) and keep offsets multiples of the access"
		if s.Msg != "" && s.Mem == machine.Local {
			f.Missing = s.Msg
		}
		return f
	}
	if s.Mem.Kind() == machine.SharedMemory && s.Msg == machine.OwnShared {
		f.Missing = "the instruction takes addresses of shared::cta alone (an arrival, those of shared::cluster too if it returns no state), and this generic one lies in another CTA"
		f.Fix = "give the address of the own CTA's; leave out what a peer's does not return, with _ in its place; or let a thread of the peer execute it"
		return f
	}
	if strings.HasPrefix(s.Msg, machine.MaskNames) {
		f.Missing = s.Msg
		f.Fix = "set a bit for the rank of each CTA that has the mbarrier, and no others"
		return f
	}
	if s.Msg == machine.GlobalOnly {
		space := "shared"
		if s.Mem == machine.Local {
			space = "local"
		}
		f.Missing = fmt.Sprintf("an access of 256 bits takes global memory alone (ISA 9.7.9.8, 9.7.9.11), and this generic address points to %s memory", space)
		f.Fix = "split it into accesses of 128 bits, or give an address in global memory"
		return f
	}
	f.Missing = "the bytes lie in no buffer, variable or shared memory of the launch that this access may touch"
	f.Fix = "check the index against the extent, and the launch's sizes against what the kernel is written for"
	if s.Mem == machine.Global {
		f.Fix += "; if an earlier launch allocated the memory (malloc), give it as a buffer with that base"
	}
	return f
}

func (j *Judge) barrierFault(s *machine.Stop) {
	l := j.ledgerOf(s.Mbar.Bar)
	if l == nil || !s.Mbar.Live {
		return // the event has reported the use of a word that is no barrier
	}
	switch s.Mbar.Fault {
	case mbarrier.ArrivesOver, mbarrier.DropsOver, mbarrier.Poisoned:
		ev := machine.Event{CTA: s.CTA, Warp: s.Warp, Lane: s.Lane, Mask: s.Mask, PC: s.PC, Mbar: *s.Mbar}
		if l.excess == nil {
			l.overrun(&ev, fmt.Sprintf("%s arrives in phase %d, where %d are pending, and the card ends the launch", wordAgent(&ev), l.open.n, l.word.Pending()))
		}
	case mbarrier.TxOverflow:
		if l.word.Tx() < 0 {
			f := j.tooEarly(l)
			f.Headline = fmt.Sprintf("%s: so many bytes land that none expects that the tx-count leaves its range", barName(l.bar))
			j.add(bytesEarly, f)
		}
	}
}

func (j *Judge) trapFinding(s *machine.Stop) Finding {
	f := Finding{
		Headline: fmt.Sprintf("lane %d of warp %d of CTA %d executes trap", s.Lane, s.Warp, s.CTA),
		Sites:    []Site{stopSite("traps", s)},
		Missing:  "what the kernel checks before the trap does not hold",
		Fix:      "see what leads to the trap; the launch ends here on the card",
	}
	if s.Kind == machine.FaultAssert {
		f.Headline = s.Msg
		f.Missing = "the assertion does not hold"
	}
	return f
}

func (j *Judge) otherFault(s *machine.Stop) {
	kind := outOfBounds
	if in := j.Program.Inst(s.PC); in != nil && in.IsOf(ptx.ClassBarrier) {
		kind = namedBarrierMismatch
	}
	j.add(kind, Finding{
		Headline: fmt.Sprintf("%s: %s", j.at(s.PC), s.Msg),
		Sites:    []Site{stopSite("executes", s)},
		Missing:  "the operand is outside what the instruction takes",
		Fix:      "keep barrier numbers in 0..15, free what malloc returned, and once, thread counts positive multiples of 32, indexes within their tables, and source sizes within copy sizes",
	})
}

// heapFull enters that malloc finds no room, or could, once for each place.
func (j *Judge) heapFull(ev *machine.Event) {
	what := "malloc can find the heap of 8 MiB full: which thread does depends on the schedule, and on what blocks take besides their bytes"
	for _, g := range j.gaps {
		if g.PC == ev.PC && g.What == what {
			return
		}
	}
	j.gaps = append(j.gaps, Gap{What: what, PC: ev.PC})
}

func lowestLane(mask uint32) int { return bits.TrailingZeros32(mask) & 31 }
