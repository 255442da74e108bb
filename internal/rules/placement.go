package rules

import (
	"fmt"
	"math/bits"

	"muster/internal/machine"
)

// Accesses that are aligned only because of where the machine places a variable: the ISA
// guarantees only the declared alignment (5.4.5). Dynamic shared memory is left out,
// since the launch says where it starts.

// A placement has the variables that the rule checks.
type placement struct {
	vars []machine.Symbol // with a size, in shared and global memory
	// least is the least alignment of a variable: smaller accesses need no check.
	least [2]uint64 // of global and of shared memory
}

func (p *placement) begin(prog *machine.Program) {
	p.least = [2]uint64{1 << 63, 1 << 63}
	for _, s := range prog.Symbols() {
		if s.Size > 0 && s.Align > 0 {
			p.vars = append(p.vars, s)
			i := 0
			if s.Shared {
				i = 1
			}
			p.least[i] = min(p.least[i], s.Align)
		}
	}
}

// placed checks a visible access against the declared alignment of the variable
// in which it starts.
func (j *Judge) placed(ev *machine.Event, size uint64) {
	if l := bits.TrailingZeros32(ev.Mask); l < 32 {
		j.placedAt(ev, ev.Mem, ev.Addr[l], size)
	}
}

// bulkUnit is the alignment of addresses of bulk copies, in bytes (ISA 9.7.9.25.4).
const bulkUnit = 16

// barrierUnit is the alignment of an mbarrier, in bytes (ISA 9.7.13.15.1).
const barrierUnit = 8

// placedCopy does the same for the end of a copy that lies in shared memory. The other
// end of a copy through a tensor map may start anywhere.
func (j *Judge) placedCopy(ev *machine.Event) {
	for _, list := range [...][]machine.Span{ev.Op.Reads, ev.Op.Writes} {
		if len(list) == 0 || list[0].Mem == machine.Global {
			continue
		}
		switch end := list[0]; ev.Op.Kind {
		case machine.OpBulkCopy, machine.OpBulkReduce:
			j.placedAt(ev, end.Mem, end.Addr, bulkUnit)
		case machine.OpCpAsync:
			j.placedAt(ev, end.Mem, end.Addr, end.Len)
		}
	}
}

// placedAt checks that the variable at an address declares an alignment of at least size.
func (j *Judge) placedAt(ev *machine.Event, mem machine.MemID, at, size uint64) {
	p := &j.watch.place
	shared := 0
	if mem != machine.Global {
		shared = 1
	}
	if size <= p.least[shared] || size&(size-1) != 0 {
		return
	}
	for i := range p.vars {
		v := &p.vars[i]
		if v.Shared != (shared == 1) || at < v.Addr || at-v.Addr >= v.Size {
			continue
		}
		if (v.Align|(at-v.Addr))&(size-1) == 0 {
			return
		}
		j.note(misaligned, -1, ev.PC, func() Finding {
			return Finding{
				Severity: Warning,
				Headline: fmt.Sprintf("%s needs an address that is a multiple of %d; %s is declared with an alignment of %d", j.at(ev.PC), size, v.Name, v.Align),
				Sites:    []Site{eventSite("accesses", ev)},
				Missing:  "the ISA promises a variable the alignment that is declared, or that of its type, and no more (5.4.5); here it happens to have more",
				Fix:      fmt.Sprintf("declare %s with .align %d", v.Name, size),
			}
		})
		return
	}
}
