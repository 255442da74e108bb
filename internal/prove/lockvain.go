package prove

import (
	"hash/maphash"
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// What a thread does that does not get a lock, tried in copies of the machine (locks.go): it has to come
// back to a state, having looked at the lock's word alone, and to do the same once it gets the lock,
// however often it has tried.

// goesOn has a CTA do all that it does before some instructions, and returns a choice for one of
// these; false if it waits.
func goesOn(m *machine.Machine, cta int32, at map[int32]bool, step func(machine.Choice)) (machine.Choice, bool) {
	var buf []machine.Choice
	for range maxAlone {
		buf = m.RunsOf(cta, buf[:0])
		then, next := machine.Choice{CTA: -1}, machine.Choice{CTA: -1}
		for _, c := range buf {
			if pc, performs := m.Standing(c); performs && at[pc] {
				if then.CTA < 0 {
					then = c
				}
			} else if next.CTA < 0 {
				next = c
			}
		}
		if next.CTA < 0 {
			return then, then.CTA >= 0
		}
		step(next)
	}
	return machine.Choice{}, false
}

// wakes is goesOn for a CTA in which who has looked in vain looks again: a thread that counts its
// looks is in another state each time, though it reads the same.
func wakes(m *machine.Machine, cta int32, at map[int32]bool, step func(machine.Choice)) (machine.Choice, bool) {
	c, ok := goesOn(m, cta, at, step)
	if !ok {
		m.Rouse(cta)
		c, ok = goesOn(m, cta, at, step)
	}
	return c, ok
}

// maxAlone bounds the steps of a CTA between two tries.
const maxAlone = 1 << 14

// meets finds out what lock a CTA is about to take, and how often it tries in vain until it has come
// back to a state. It reports whether all that it does meanwhile is to look at the lock, and it does
// the same afterwards, however often it has tried.
func (d *locking) meets(m *machine.Machine, c machine.Choice) bool {
	a := &alone{cta: c.CTA}
	probe := m.Beside(a, c.CTA)
	probe.Step(c)
	if a.n != 1 || a.ev.Kind != machine.EvAccess || a.ev.Mem != machine.Global || a.ev.Mask&(a.ev.Mask-1) != 0 || a.ev.Whole > 0 || a.ev.Size > 8 || len(d.plan) == maxSections {
		return false
	}
	lane := bits.TrailingZeros32(a.ev.Mask)
	w := lockWord{addr: a.addr[lane], size: a.ev.Size}
	var ok, okay bool
	w.free, ok = m.Peek(machine.Global, w.addr, int(w.size))
	w.held, okay = probe.Peek(machine.Global, w.addr, int(w.size))
	if !ok || !okay || w.free == w.held {
		return false
	}
	word := d.known(w)
	return word != nil && d.tries(m, lockSection{cta: c.CTA, warp: a.ev.Warp, lane: lane, word: word}, w.free, []uint64{w.held})
}

// takes returns what a word holds once somebody has the lock, which held free before.
func (w *lockWord) takes(free uint64) uint64 {
	if w.looked() {
		return free
	}
	return w.held
}

// tries finds how often the CTA of a section tries in vain until it has come back to a state, from
// where it is to take the lock: with any of some values of the word.
func (d *locking) tries(m *machine.Machine, s lockSection, free uint64, held []uint64) bool {
	got, _, ok := d.gets(m, &s, free)
	if !ok {
		return false
	}
	var states []uint64
	for i, v := range held {
		list, ok := d.vainly(m, &s, v, func(vain *machine.Machine) bool {
			again, _, ok := d.gets(vain, &s, free)
			return ok && again == got
		}, i == 0)
		if !ok || i > 0 && !slices.Equal(list, states) {
			return false
		}
		states = list
	}
	if s.tries = len(states) / 2; s.tries > maxTries {
		return false
	}
	d.of[s.cta] = append(d.of[s.cta], len(d.plan))
	d.plan = append(d.plan, s)
	return true
}

// vainly has a CTA try in vain in a copy of the machine in which the word holds a value, until it has
// come back to a state or waits for the word to change, and lists its states and all that it does. Fine is asked of the last
// of them, and if asks of each. Ok: all that the CTA does is to look at the word.
func (d *locking) vainly(m *machine.Machine, s *lockSection, v uint64, fine func(*machine.Machine) bool, asks bool) (states []uint64, ok bool) {
	a := &alone{cta: s.cta, word: s.word}
	vain := m.Beside(a, s.cta)
	if !vain.Poke(s.word.addr, s.word.size, v) {
		return nil, false
	}
	var did []uint64
	for len(states) <= maxTries {
		next, goes := wakes(vain, s.cta, d.stopsFor(s.word), vain.Step)
		h, ok := vain.StateOf(s.cta)
		now, is := vain.Peek(machine.Global, s.word.addr, int(s.word.size))
		if !ok || !is || now != v || a.bad || vain.Stopped() != nil || (asks || !goes) && !fine(vain) {
			return nil, false
		}
		again := slices.Contains(states, h)
		if !goes {
			h = 0 // while it sleeps, what it has seen is part of the state
		}
		states, did = append(states, h), append(did, a.trace)
		if again || !goes {
			return append(states, did...), true
		}
		vain.Step(next)
	}
	return nil, false
}

// stopsFor lists the instructions before which a CTA stops that is about to take a lock.
func (d *locking) stopsFor(w *lockWord) map[int32]bool {
	if w.looked() {
		return d.stops
	}
	return d.at
}

// gets has a CTA begin a section in a copy of the machine in which the lock is free, and returns a
// hash of the state in which it then comes to memory that others may reach, and of what it does there.
// Goes: it does something there, before it looks again.
func (d *locking) gets(of *machine.Machine, s *lockSection, free uint64) (hash uint64, goes, ok bool) {
	w := s.word
	a := &alone{cta: s.cta, word: w}
	m := of.Beside(a, s.cta)
	if !m.Poke(w.addr, w.size, free) {
		return 0, false, false
	}
	c, ok := goesOn(m, s.cta, d.stopsFor(w), m.Step)
	if !ok || a.bad {
		return 0, false, false
	}
	pc, _ := m.Standing(c)
	d.by[pc] = true
	m.Step(c)
	if v, ok := m.Peek(machine.Global, w.addr, int(w.size)); !ok || v != w.takes(free) {
		return 0, false, false
	}
	var buf []machine.Choice
	for range maxAlone {
		if buf = m.RunsOf(s.cta, buf[:0]); len(buf) == 0 {
			return 0, false, false
		}
		if pc, performs := m.Standing(buf[0]); performs && d.at[pc] {
			break
		}
		if m.Step(buf[0]); a.bad {
			break
		}
	}
	state, ok := m.StateOf(s.cta)
	return maphash.Comparable(hashSeed, [3]uint64{state, uint64(a.ev.PC), uint64(a.ev.Mask)}) ^ maphash.Comparable(hashSeed, a.addr), a.bad, ok && m.Stopped() == nil
}

var hashSeed = maphash.MakeSeed()

// An alone watches a CTA that runs beside the run: whether it does anything else that others could
// notice than to look at a word. Who only looks may load elsewhere before the turn comes: these loads
// are in the runs that try in vain.
type alone struct {
	cta  int32
	word *lockWord
	n    int
	ev   machine.Event // the first that others could notice
	addr [32]uint64    // of an access
	bad  bool
	// trace is a hash of all that it does but on registers, if there is a word.
	trace uint64
}

// Observe makes an alone a machine.Observer.
func (a *alone) Observe(_ *machine.Machine, ev *machine.Event) {
	if ev.CTA != a.cta || a.bad {
		return
	}
	if a.word != nil {
		a.trace = maphash.Comparable(hashSeed, [5]uint64{a.trace, uint64(ev.Kind), uint64(ev.PC), uint64(ev.Warp), uint64(ev.Mask)})
		if ev.Kind == machine.EvAccess {
			a.trace ^= maphash.Comparable(hashSeed, addresses(ev))
		}
	}
	switch {
	case ev.Kind == machine.EvBarArrive, ev.Kind == machine.EvBarPass, ev.Kind == machine.EvWarpSync, ev.Kind == machine.EvCollective:
		return
	case ev.Kind == machine.EvFence && ev.Fence == machine.FenceMemory:
		return
	case ev.Kind == machine.EvAccess && (ev.Mem == machine.SharedOf(a.cta) || a.looks(ev)):
		return
	case a.word != nil && a.word.looked() && ev.Kind == machine.EvAccess && ev.Mem == machine.Global && ev.Access&machine.Write == 0 && ev.Sem == machine.Weak && ev.Proxy == machine.Generic:
		return
	}
	if a.n++; a.n == 1 {
		if a.ev = *ev; ev.Kind == machine.EvAccess {
			a.addr = addresses(ev)
		}
	}
	a.bad = a.word != nil
}

// addresses returns the address of each lane's access.
func addresses(ev *machine.Event) (list [32]uint64) {
	for l := range 32 {
		if ev.Mask>>l&1 != 0 {
			list[l] = ev.Addr[0] + uint64(l)*uint64(ev.Size)
			if !ev.Row {
				list[l] = ev.Addr[l]
			}
		}
	}
	return list
}

// looks reports whether lanes look at the word, or try in vain to take it.
func (a *alone) looks(ev *machine.Event) bool {
	if a.word == nil || ev.Mem != machine.Global || ev.Sem == machine.Weak || ev.Size != a.word.size || ev.Row || ev.Whole > 0 {
		return false
	}
	for m := ev.Mask; m != 0; m &= m - 1 {
		if ev.Addr[bits.TrailingZeros32(m)] != a.word.addr {
			return false
		}
	}
	return ev.Access&machine.Write == 0 || ev.Access&machine.Update != 0
}
