package loops

import (
	"fmt"
	"math"
	"math/bits"

	"muster/internal/confluence"
	"muster/internal/machine"
)

// A Recorder watches one run.
type Recorder struct {
	// InTurns: a wait for the other parity counts as the same. The phases decide
	// which parity is right, and Parities checks that it flips as they do.
	InTurns bool

	follower *machine.Follower
	prover   *confluence.Prover // shown every event before the Recorder is
	warps    int32
	events   []event
	bars     map[machine.BarRef]int32
	names    []machine.BarRef
	ops      map[int64]int          // event that issued it
	steps    []uint32               // of each warp, so far
	writes   map[machine.Span][]int // events that write such bytes of a CTA's memory
}

// An event is what lanes of a warp did.
type event struct {
	kind   machine.Kind
	cta    int32
	warp   int32 // in the grid
	mask   uint32
	pc     int32
	sig    uint64 // of all that must be the same each period
	parity uint8  // that a wait asks for
	turn   int32  // of the lanes that loop; -1 if none does
	lane   int32  // in the grid: the first that loops, or the first
	steps  [2]uint32
	after  []place
	charge []charge
	tick   int32
}

// A place is a step of a warp, and all before it.
type place struct {
	warp int32
	step uint32
}

// A charge is an event's part in a phase, or a generation: its own, or that of the
// operation that it issued.
type charge struct {
	bar   int32
	phase int64
	wait  bool
}

// NewRecorder returns a Recorder of a run that f follows and p watches.
func NewRecorder(m *machine.Machine, f *machine.Follower, p *confluence.Prover) *Recorder {
	return &Recorder{follower: f, prover: p, warps: int32(m.WarpsPerCTA()), bars: map[machine.BarRef]int32{}, ops: map[int64]int{}, writes: map[machine.Span][]int{},
		steps: make([]uint32, m.CTAs()*m.WarpsPerCTA())}
}

// Observe makes a Recorder a machine.Observer.
func (r *Recorder) Observe(m *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvStart, machine.EvEnd, machine.EvSource, machine.EvWritten, machine.EvSignal, machine.EvRegister, machine.EvDivergent, machine.EvOutside, machine.EvParted, machine.EvOperand, machine.EvUndefined, machine.EvPendingCount, machine.EvHeapFull:
		return
	case machine.EvMbar:
		if ev.Op != nil {
			r.landing(ev)
			return
		}
	case machine.EvMbarWait:
		if !ev.Mbar.OK {
			return
		}
	}
	e := event{kind: ev.Kind, cta: ev.CTA, warp: ev.CTA*r.warps + ev.Warp, mask: ev.Mask, pc: ev.PC, turn: -1}
	if e.mask == 0 {
		e.mask = 1 << ev.Lane
	}
	base := r.follower.Lane(ev.CTA, ev.Warp, 0)
	first := bits.TrailingZeros32(e.mask)
	e.lane = int32(base + first)
	for rest := e.mask; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest)
		if t := r.follower.Turn(base + l); t > e.turn {
			e.turn, e.lane = t, int32(base+l)
		}
	}
	e.sig = r.signature(&e, ev)
	now := r.prover.Steps(ev.CTA, ev.Warp)
	e.steps = [2]uint32{r.steps[e.warp], now}
	r.steps[e.warp] = now
	r.prover.After(ev.CTA, ev.Warp, e.mask, func(w int, step uint32) { e.after = append(e.after, place{int32(w), step}) })
	e.charge = r.charges(ev)
	r.events = append(r.events, e)
	r.written(ev)
	if ev.Kind == machine.EvIssue {
		r.ops[ev.Op.ID] = len(r.events) - 1
	}
}

// written records which bytes of shared or tensor memory the last event writes.
func (r *Recorder) written(ev *machine.Event) {
	n := len(r.events) - 1
	switch {
	case ev.Kind == machine.EvAccess && ev.Access&machine.Write != 0 && ev.Mem.Kind() == machine.SharedMemory:
		for rest := ev.Mask; rest != 0; rest &= rest - 1 {
			s := machine.Span{Mem: ev.Mem, Addr: ev.Addr[bits.TrailingZeros32(rest)], Len: uint64(ev.Size)}
			r.writes[s] = append(r.writes[s], n)
		}
	case ev.Kind == machine.EvIssue:
		for _, s := range ev.Op.Writes {
			if still(s.Mem) {
				r.writes[s] = append(r.writes[s], n)
			}
		}
	}
}

// landing charges what an asynchronous operation does to the event that issued it.
func (r *Recorder) landing(ev *machine.Event) {
	if i, ok := r.ops[ev.Op.ID]; ok {
		r.events[i].charge = append(r.events[i].charge, charge{bar: r.bar(ev.Mbar.Bar), phase: ev.Mbar.Phase})
	}
}

// charges returns an event's own charges to phases and generations.
func (r *Recorder) charges(ev *machine.Event) []charge {
	one := func(ref machine.BarRef, n int64, wait bool) []charge { return []charge{{r.bar(ref), n, wait}} }
	switch ev.Kind {
	case machine.EvMbar:
		if ev.Mbar.Op != machine.MbarInit && ev.Mbar.Op != machine.MbarInval {
			return one(ev.Mbar.Bar, ev.Mbar.Phase, false)
		}
	case machine.EvMbarWait:
		return one(ev.Mbar.Bar, ev.Mbar.Phase, true)
	case machine.EvBarArrive, machine.EvBarPass:
		return one(named(ev.CTA, uint64(ev.Bar)), int64(ev.Gen), ev.Kind == machine.EvBarPass)
	case machine.EvClusterArrive, machine.EvClusterWait:
		return one(named(0, clusterBarrier), int64(ev.Gen), ev.Kind == machine.EvClusterWait)
	}
	return nil
}

// notMbarrier is the Life of a BarRef that stands for a named barrier, by its number, or
// for the cluster's.
const notMbarrier = math.MaxUint32

const clusterBarrier = math.MaxUint64

func named(cta int32, id uint64) machine.BarRef {
	return machine.BarRef{Mem: machine.SharedOf(cta), Addr: id, Life: notMbarrier}
}

func (r *Recorder) bar(ref machine.BarRef) int32 {
	i, ok := r.bars[ref]
	if !ok {
		i = int32(len(r.names))
		r.bars[ref] = i
		r.names = append(r.names, ref)
	}
	return i
}

func (r *Recorder) barName(i int32) string {
	switch ref := r.names[i]; {
	case ref.Life != notMbarrier:
		return fmt.Sprintf("the mbarrier at %#x of CTA %d", ref.Addr, ref.Mem.CTA())
	case ref.Addr == clusterBarrier:
		return "the cluster's barrier"
	default:
		return fmt.Sprintf("named barrier %d", ref.Addr)
	}
}

// signature hashes all that an event must have in common with its counterpart in
// another period: not phases, which advance, nor global addresses, which may.
func (r *Recorder) signature(e *event, ev *machine.Event) uint64 {
	h := mixer(14695981039346656037)
	h.mix(uint64(ev.Kind)<<32|uint64(uint32(ev.PC)), uint64(ev.Mask))
	switch ev.Kind {
	case machine.EvAccess:
		h.mix(uint64(ev.Access)|uint64(ev.Sem)<<8|uint64(ev.Scope)<<16|uint64(ev.Proxy)<<24, uint64(ev.Size), uint64(uint32(ev.Mem)))
		if ev.Mem.Kind() == machine.SharedMemory {
			for rest := ev.Mask; rest != 0; rest &= rest - 1 {
				h.mix(ev.Addr[bits.TrailingZeros32(rest)])
			}
		}
	case machine.EvMbar, machine.EvMbarWait:
		mb := &ev.Mbar
		h.mix(uint64(mb.Op), uint64(uint32(mb.Bar.Mem)), mb.Bar.Addr, uint64(mb.Bar.Life), uint64(mb.Count), uint64(mb.Bytes), flag(mb.NoComplete), flag(mb.Parity))
		h.mix(uint64(ev.Sem), uint64(ev.Scope), uint64(uint8(ev.Lane)))
		if mb.Parity {
			e.parity = uint8(mb.Token & 1)
		}
	case machine.EvBarArrive, machine.EvBarPass:
		h.mix(uint64(uint32(ev.Bar)), uint64(ev.Count), uint64(ev.Mode), flag(ev.ByExit))
	case machine.EvClusterArrive, machine.EvClusterWait:
		h.mix(uint64(ev.Sem))
	case machine.EvFence:
		h.mix(uint64(ev.Fence), uint64(ev.Sem), uint64(ev.Scope), uint64(ev.Space))
	case machine.EvIssue:
		r.operation(&h, ev.Op)
	case machine.EvCommit, machine.EvGroupWait:
		h.mix(uint64(ev.Group), flag(ev.Read))
	}
	return uint64(h)
}

// still reports whether what is accessed in a memory has the same address in each period: in
// global memory alone it may grow.
func still(mem machine.MemID) bool {
	return mem.Kind() == machine.SharedMemory || mem.Kind() == machine.TensorMemory
}

func (r *Recorder) operation(h *mixer, op *machine.Op) {
	h.mix(uint64(op.Kind), uint64(op.Proxy), uint64(op.Group), uint64(op.Tracks), uint64(uint8(op.Lane)))
	for _, list := range [][]machine.Span{op.Reads, op.Writes} {
		for _, s := range list {
			h.mix(uint64(uint32(s.Mem)))
			if still(s.Mem) {
				h.mix(s.Addr, s.Len)
			}
		}
	}
	for i, b := range op.Bars {
		h.mix(uint64(uint32(b.Mem)), b.Addr, uint64(b.Life), uint64(op.BarBytes[i]))
	}
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// A mixer is FNV-1a on words.
type mixer uint64

func (h *mixer) mix(vs ...uint64) {
	for _, v := range vs {
		*h = (*h ^ mixer(v)) * 0x100000001b3
		*h ^= *h >> 29
	}
}
