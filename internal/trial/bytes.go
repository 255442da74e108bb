package trial

import (
	"math/bits"

	"muster/internal/explore"
	"muster/internal/machine"
)

// Bytes is a set of bytes of global memory, by their addresses.
type Bytes struct{ pages map[uint64]*bytesPage }

const bytesBits = 64 // bytes of memory of one word of a bytesPage

type bytesPage [64]uint64

// Add adds n bytes from addr on.
func (b *Bytes) Add(addr, n uint64) { b.each(addr, n, func(w *uint64, mask uint64) { *w |= mask }) }

// Remove takes the bytes of o away.
func (b *Bytes) Remove(o *Bytes) {
	for at, q := range o.pages {
		if p := b.pages[at]; p != nil {
			for i := range p {
				p[i] &^= q[i]
			}
		}
	}
}

// Join adds the bytes of o.
func (b *Bytes) Join(o *Bytes) {
	for at, q := range o.pages {
		p := b.page(at)
		for i := range p {
			p[i] |= q[i]
		}
	}
}

// Meets reports whether a byte is in both sets.
func (b *Bytes) Meets(o *Bytes) bool {
	for at, q := range o.pages {
		if p := b.pages[at]; p != nil {
			for i := range p {
				if p[i]&q[i] != 0 {
					return true
				}
			}
		}
	}
	return false
}

// Within reports whether some of n bytes from addr on are in the set.
func (b *Bytes) Within(addr, n uint64) bool {
	var o Bytes
	o.Add(addr, n)
	return b.Meets(&o)
}

// Empty reports whether no byte is in the set.
func (b *Bytes) Empty() bool {
	for _, p := range b.pages {
		if *p != (bytesPage{}) {
			return false
		}
	}
	return true
}

func (b *Bytes) page(at uint64) *bytesPage {
	p := b.pages[at]
	if p == nil {
		if b.pages == nil {
			b.pages = map[uint64]*bytesPage{}
		}
		p = new(bytesPage)
		b.pages[at] = p
	}
	return p
}

func (b *Bytes) each(addr, n uint64, do func(w *uint64, mask uint64)) {
	for n > 0 {
		at := addr % bytesBits
		k := min(bytesBits-at, n)
		do(&b.page(addr / bytesBits / uint64(len(bytesPage{})))[addr/bytesBits%uint64(len(bytesPage{}))], (^uint64(0)>>(64-k))<<at)
		addr += k
		n -= k
	}
}

// Accesses are the bytes of global memory that a run reads, those that it writes, and those
// that given instructions write.
type Accesses struct {
	Read, Written, By Bytes
	by                func(pc int32) bool
}

// Accesses makes the run that decides for every schedule, where one does, and returns what it
// accesses; not ok: it does not come to its end.
func (s *Subject) Accesses(b *Budget, by func(pc int32) bool) (a *Accesses, ok bool) {
	a = &Accesses{by: by}
	stop, _ := b.Stop()
	m := s.Machine(a, nil)
	if s.Skips() {
		m.SkipMatrices()
	}
	m.StopWhen(stop)
	return a, !stop() && explore.Run(m, ProofSchedule, stop) && m.Done()
}

// Observe makes an Accesses a machine.Observer.
func (a *Accesses) Observe(_ *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvAccess:
		if ev.Mem != machine.Global {
			return
		}
		reads, writes := ev.Access&(machine.Read|machine.Update) != 0, ev.Access&(machine.Write|machine.Update) != 0
		if ev.Row && ev.Mask == 1<<32-1 {
			a.add(ev.PC, ev.Addr[0], 32*uint64(ev.Size), reads, writes)
			return
		}
		for k := ev.Mask; k != 0; k &= k - 1 {
			a.add(ev.PC, ev.Addr[bits.TrailingZeros32(k)], uint64(ev.Size), reads, writes)
		}
	case machine.EvIssue:
		op := ev.Op
		for _, r := range op.Reads {
			if r.Mem == machine.Global {
				a.add(ev.PC, r.Addr, r.Len, true, false)
			}
		}
		for _, w := range op.Writes {
			if w.Mem == machine.Global {
				a.add(ev.PC, w.Addr, w.Len, op.Element != 0, true)
			}
		}
		a.add(ev.PC, op.Map.Addr, op.Map.Len, true, false)
	}
}

func (a *Accesses) add(pc int32, addr, n uint64, reads, writes bool) {
	if reads {
		a.Read.Add(addr, n)
	}
	if !writes {
		return
	}
	a.Written.Add(addr, n)
	if a.by != nil && a.by(pc) {
		a.By.Add(addr, n)
	}
}
