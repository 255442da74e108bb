package executions

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// A recording notes what the accesses of a run read and wrote: the strong ones in the order of
// coherence.Run's nodes, the weak loads by instruction and place.
type recording struct {
	nodes []recorded
	first []int // of each step, the nodes before it
	next  []int // nodes whose writes are not made yet
	weak  map[weakRead][]loaded
}

// A loaded is what a weak load found, and how many nodes there were before it.
type loaded struct {
	val    uint64
	before int
}

// A recorded is a strong access of a lane.
type recorded struct {
	read  uint64 // of at most 8 bytes
	name  machine.Version
	wrote made
}

// A weakRead is a weak load of a lane.
type weakRead struct {
	lane laneID
	pc   int32
	word machine.Word
}

func weakOf(ev *machine.Event, lane int) weakRead {
	return weakRead{laneID{ev.CTA, ev.Warp, int8(lane)}, ev.PC, wordOf(ev, lane)}
}

func (r *recording) Observe(m *machine.Machine, ev *machine.Event) {
	if ev.Kind != machine.EvAccess || ev.Sem != machine.Weak && ev.Proxy != machine.Generic {
		return
	}
	r.settle(m)
	for k := ev.Mask; k != 0; k &= k - 1 {
		lane := bits.TrailingZeros32(k) & 31
		if ev.Sem != machine.Weak {
			r.strong(m, ev, lane)
		} else if k := weakOf(ev, lane); ev.Access&machine.Read != 0 {
			r.weak[k] = append(r.weak[k], loaded{m.Contents(k.word), len(r.nodes)})
		}
	}
}

func (r *recording) strong(m *machine.Machine, ev *machine.Event, lane int) {
	w := wordOf(ev, lane)
	n := recorded{read: m.Contents(w), name: nextOf(m, ev, lane), wrote: made{word: w}}
	if v, picks := ev.PickAt(lane, w.Addr); picks {
		if lo, _, ok := m.Held(w, v); ok {
			n.read = lo
		}
	}
	if ev.Access&machine.Write != 0 {
		r.next = append(r.next, len(r.nodes))
	}
	r.nodes = append(r.nodes, n)
}

// behind returns what a weak load found behind a node, in order.
func (r *recording) behind(node int, k weakRead) []loaded {
	list := r.weak[k]
	i := slices.IndexFunc(list, func(l loaded) bool { return l.before > node })
	if i < 0 {
		return nil
	}
	return list[i:]
}

// settle takes the values of what was written, once it is.
func (r *recording) settle(m *machine.Machine) {
	r.next = slices.DeleteFunc(r.next, func(k int) (ok bool) {
		w := &r.nodes[k]
		w.wrote.lo, w.wrote.hi, ok = m.Held(w.wrote.word, w.name)
		return ok
	})
}
