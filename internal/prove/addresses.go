package prove

import (
	"maps"
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/internal/trial"
)

// Addresses are the loads of a run that give an address that tcgen05.alloc wrote.
//
// The address of an accumulator goes through shared memory: alloc writes a word, and others
// load it. What the text says of memory is that any load may give any value that was stored.
// A run says more. If each time that it executes a load the word was last written by an
// alloc, and the launch is proven, then so it is in every schedule, since all of them order
// the writes of the word in the same way (C8). And it is so with every content of the
// buffers, if nothing else than data depends on them: up to the first event that another
// content changed, all writes go to the same places, and the allocs find the same columns
// free (C10).
type Addresses struct {
	words map[machine.MemID][]uint64 // that hold what an alloc wrote
	alloc map[int32]bool             // instructions that allocate
	is    map[int32]bool             // loads: whether they gave nothing else
}

// Loads returns the loads that gave such addresses, and nothing else.
func (a *Addresses) Loads() map[int32]bool {
	list := maps.Clone(a.is)
	maps.DeleteFunc(list, func(_ int32, only bool) bool { return !only })
	return list
}

// Hold reports whether none of some loads gave anything else.
func (a *Addresses) Hold(loads map[int32]bool) bool {
	for pc := range loads {
		if only, seen := a.is[pc]; seen && !only {
			return false
		}
	}
	return true
}

// add joins what another part of the launch shows.
func (a *Addresses) add(b *Addresses) {
	for pc, only := range b.is {
		a.saw(pc, only)
	}
}

func (a *Addresses) saw(pc int32, only bool) {
	if a.is == nil {
		a.is = map[int32]bool{}
	}
	if was, seen := a.is[pc]; !seen || was != only {
		a.is[pc] = only && (!seen || was)
	}
}

// Observed adds the observer of such loads where a program allocates.
func (a *Addresses) Observed(p *machine.Program, o trial.Observers) trial.Observers {
	if p.AllocatesColumns() {
		o = append(o, a)
	}
	return o
}

// Observe makes Addresses a machine.Observer.
func (a *Addresses) Observe(m *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvTensorAlloc:
		if a.alloc == nil {
			a.alloc, a.words = map[int32]bool{}, map[machine.MemID][]uint64{}
		}
		a.alloc[ev.PC] = true
	case machine.EvAccess:
		a.access(ev)
	case machine.EvMbar:
		a.written(ev.Mbar.Bar.Mem, ev.Mbar.Bar.Addr, 8)
	case machine.EvIssue:
		for _, s := range ev.Op.Writes {
			a.written(s.Mem, s.Addr, s.Len)
		}
	}
}

// access enters the accesses of a warp's lanes.
func (a *Addresses) access(ev *machine.Event) {
	words := a.words[ev.Mem]
	if ev.Access == machine.Read {
		a.saw(ev.PC, a.among(words, ev))
		return
	}
	for rest := ev.Mask; rest != 0 && a.alloc != nil; rest &= rest - 1 {
		at := ev.Addr[bits.TrailingZeros32(rest)]
		if a.written(ev.Mem, at, uint64(ev.Size)); a.alloc[ev.PC] {
			a.words[ev.Mem] = append(a.words[ev.Mem], at)
		}
	}
}

// among reports whether each lane reads one of some words.
func (a *Addresses) among(words []uint64, ev *machine.Event) bool {
	if ev.Size != 4 || len(words) == 0 {
		return false
	}
	for rest := ev.Mask; rest != 0; rest &= rest - 1 {
		if !slices.Contains(words, ev.Addr[bits.TrailingZeros32(rest)]) {
			return false
		}
	}
	return true
}

// written forgets words that are overwritten.
func (a *Addresses) written(mem machine.MemID, at, n uint64) {
	words, any := a.words[mem]
	if any && slices.ContainsFunc(words, func(w uint64) bool { return w < at+n && at < w+4 }) {
		a.words[mem] = slices.DeleteFunc(words, func(w uint64) bool { return w < at+n && at < w+4 })
	}
}
