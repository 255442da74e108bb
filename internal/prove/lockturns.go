package prove

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/internal/trial"
)

// Turns (locks.go). The program fixes the order in which CTAs use what they share, as with CUTLASS's
// Semaphore: a CTA looks at a word until it holds the value of the CTA's turn, and at the end of its
// section stores the value of the next turn. If one thread looks, in a loop that does nothing else, the
// proof by one run takes that for a wait (confluence). This proof is for loops of the whole CTA.
//
//   - The order. The values that the word takes in the run are known. With each of those that it has held
//     since the CTA's own last section, but for that of its turn, the CTA comes back to a state, having
//     written nothing. So by induction along the coherence order of the word the i-th write is that
//     of the i-th section: its CTA has looked at an earlier write that lets it go on (SC per
//     Location), and only the one before does.
//   - What is handed on is what the run shows, since there is one order alone.
//   - Deadlock. Who waits comes after those for whom it waits, in the order in which CTAs start.

// byTurns takes a program in which no lock is taken, and no number drawn, for one whose CTAs look for
// their turns.
func (d *locking) byTurns(l *trial.Subject) {
	if len(d.at) > 0 {
		return
	}
	d.turns = true
	for pc := range loads(l.Program) {
		d.at[pc] = true
	}
	d.looks, d.stops = d.at, d.at
}

// whose returns the choice by which a CTA goes on whose turn it is.
func (r *lockRun) whose(list []machine.Choice) (machine.Choice, bool) {
	d := r.d
	if !r.first {
		if r.taken == len(d.plan) {
			return machine.Choice{}, false
		}
		i := slices.IndexFunc(list, func(c machine.Choice) bool { return c.CTA == d.plan[r.taken].cta })
		if i < 0 {
			return machine.Choice{}, false
		}
		return list[i], true
	}
	last := int32(-1)
	if n := len(d.plan); n > 0 {
		last = d.plan[n-1].cta
	}
	// The next one's turn is the likeliest.
	from := max(slices.IndexFunc(list, func(c machine.Choice) bool { return c.CTA > last }), 0)
	for i := range list {
		c := list[(from+i)%len(list)]
		if turn, ok := d.meetsTurn(r.m, c); turn || !ok {
			return c, ok
		}
	}
	return machine.Choice{}, false
}

// meetsTurn reports whether it is the turn of a CTA that stands before a look; then its section is known.
// Ok: with each value that the word has had before, the CTA only comes back to a state.
func (d *locking) meetsTurn(m *machine.Machine, c machine.Choice) (turn, ok bool) {
	a := &alone{cta: c.CTA}
	probe := m.Beside(a, c.CTA)
	probe.Step(c)
	if a.n != 1 || a.ev.Kind != machine.EvAccess || !a.single() || a.ev.Size > 8 || a.ev.Access&machine.Write != 0 || len(d.plan) == maxSections {
		return false, false
	}
	lane := bits.TrailingZeros32(a.ev.Mask)
	word := d.known(lockWord{addr: a.addr[lane], size: a.ev.Size, turn: true})
	if word == nil {
		return false, false
	}
	s := lockSection{cta: c.CTA, warp: a.ev.Warp, lane: lane, word: word}
	if s.free, ok = m.Peek(machine.Global, word.addr, int(word.size)); !ok {
		return false, false
	}
	if _, turn, ok = d.gets(m, &s, s.free); !ok || !turn {
		return false, ok
	}
	if s.vain, ok = d.earlier(&s); !ok {
		return false, false
	}
	return true, d.tries(m, s, s.free, s.vain)
}

// earlier lists the values that a word may have held when a CTA looks at it before its turn. ok: none
// is that of its turn, and those who wrote them start before it.
func (d *locking) earlier(s *lockSection) (list []uint64, ok bool) {
	var before []*lockSection
	for i := range d.plan {
		if o := &d.plan[i]; o.word == s.word {
			before = append(before, o)
		}
	}
	n := len(before)
	if n == 0 {
		return nil, true
	}
	if by := before[n-1].cta; by > s.cta && !d.l.Shape.Cooperative {
		return nil, false
	} else if by < s.cta {
		d.after = true
	}
	own := n
	for own > 0 && before[own-1].cta != s.cta {
		own--
	}
	for i := own; i < n; i++ {
		v := before[0].free
		if i > 0 {
			v = before[i-1].left
		}
		if v == s.free {
			return nil, false
		}
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list, true
}
