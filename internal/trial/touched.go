package trial

import (
	"math/bits"

	"muster/internal/machine"
)

// touchedBytes is how much of global memory one entry of touched covers.
const touchedBytes = 64

// A touched is which bytes of global memory runs read and wrote: a bit for each byte of
// each block that they came to.
type touched map[uint64]*touchedBlock

type touchedBlock struct{ read, written uint64 }

// Observe makes a touched a machine.Observer.
func (t touched) Observe(_ *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvAccess:
		if ev.Mem != machine.Global {
			return
		}
		reads, writes := ev.Access&(machine.Read|machine.Update) != 0, ev.Access&(machine.Write|machine.Update) != 0
		if ev.Row && ev.Mask == 1<<32-1 {
			t.add(ev.Addr[0], 32*uint64(ev.Size), reads, writes)
			return
		}
		for m := ev.Mask; m != 0; m &= m - 1 {
			t.add(ev.Addr[bits.TrailingZeros32(m)], uint64(ev.Size), reads, writes)
		}
	case machine.EvIssue:
		op := ev.Op
		t.spans(op.Reads, true, false)
		t.spans(op.Writes, op.Element != 0, true)
		t.add(op.Map.Addr, op.Map.Len, true, false)
	}
}

func (t touched) spans(list []machine.Span, reads, writes bool) {
	for _, s := range list {
		if s.Mem == machine.Global {
			t.add(s.Addr, s.Len, reads, writes)
		}
	}
}

func (t touched) add(addr, n uint64, reads, writes bool) {
	for n > 0 {
		at := addr % touchedBytes
		k := min(touchedBytes-at, n)
		b := t[addr/touchedBytes]
		if b == nil {
			b = new(touchedBlock)
			t[addr/touchedBytes] = b
		}
		mask := (^uint64(0) >> (64 - k)) << at
		if reads {
			b.read |= mask
		}
		if writes {
			b.written |= mask
		}
		addr += k
		n -= k
	}
}

// join adds what another run touched, and reports whether the two are disjoint: no byte
// that one writes is touched by the other.
func (t touched) join(o touched) bool {
	disjoint := true
	for n, q := range o {
		p := t[n]
		if p == nil {
			t[n] = q
			continue
		}
		if p.written&(q.written|q.read) != 0 || p.read&q.written != 0 {
			disjoint = false
		}
		p.read |= q.read
		p.written |= q.written
	}
	return disjoint
}
