package explore

import (
	"fmt"
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// Executions. Where Space.Allows is set, a strong access to a word of memory has a choice for
// each version of the word that it may read, or follow in coherence order (machine.Version). A
// run is then an execution graph of the memory model, built in an order in which each read comes
// after the write that it reads: the algorithm is that of search.go, with another dependence, as
// TruSt explores graphs (Kokologiannakis, Marmanis, Gladstein and Vafeiadis, Truly stateless,
// optimal dynamic partial order reduction, POPL 2022).
//
//   - A read comes after the write that it reads. It depends on no other access to its word: which
//     version it takes does not change with the order of the steps, only which versions there are.
//     So a write that comes after a read, and need not, is tried before it too, and the read then
//     takes that version alone: the others it took before.
//   - Two writes do not depend on each other: the second takes each place that the axioms leave
//     it, before and after the first.
//   - A read-modify-write cannot read what another has read, so each is tried before the other.
//
// The choices of one access are tried one after the other, before any other process is: what was
// tried and may sleep is then the access with all of its versions. It wakes for the version of a
// write that comes later, and for no other (step.woken).

// ways lists the choices of a state, of an exploration of executions those that the axioms
// allow. There a choice that takes the last version has its name in Op, too. An access to several
// words, which are in no order, takes a version of each, whatever it takes of the others.
func (s *Search) ways(m *machine.Machine, w Watcher) []machine.Choice {
	list := slices.DeleteFunc(ways(m), m.Round)
	if s.space.Allows == nil {
		return list
	}
	out := list[:0]
	for _, c := range list {
		if !s.space.Allows(w, m, c) {
			continue
		}
		if c.Kind == machine.Run || c.Kind == machine.Alone {
			c = m.Named(c)
		}
		out = append(out, c)
	}
	more, ok := m.Mixed(out, maxMixed)
	if !ok {
		s.count.Why = fmt.Sprintf("an access to several words has more than %d choices of their versions", maxMixed)
	}
	return append(out, more...)
}

// waits reports whether a node's choice ends a wait by an overwritten version, while the newest one
// does not: each look may return that one, too.
func (n *node) waits() bool {
	p := process(n.taken)
	return n.taken.Kind == machine.Pick && !slices.ContainsFunc(n.ways, func(c machine.Choice) bool {
		return c.Kind != machine.Pick && process(c) == p
	})
}

// hang makes the run in which those who wait behind some choices read the newest versions. It is
// one of those that may hang: who does not wait goes on in one way.
func (s *Search) hang(path []machine.Choice) {
	w := s.space.Watch()
	m := s.space.Fork(w)
	m.StopWhen(s.space.Stop)
	for _, c := range path {
		m.Step(c)
	}
	GoOn(m)
	if interrupted(m) {
		return
	}
	m.Conclude()
	w.End(m, path)
}

// maxMixed bounds the choices of one access to several words, each with its own version.
const maxMixed = 4096

// take takes a choice at the state; the other open ones of its process come next.
func (n *node) take(c machine.Choice) {
	n.taken, n.alts = c, nil
	for _, o := range n.ways {
		if o != c && process(o) == process(c) && n.open(o) {
			n.alts = append(n.alts, o)
		}
	}
}

// open reports whether a choice was not tried before: its process is not asleep, or it takes a
// version that was not there then.
func (n *node) open(c machine.Choice) bool {
	for _, q := range n.sleep {
		if process(q.choice) == process(c) && !(takesWord(c) && c.TakesAny(q.woken)) {
			return false
		}
	}
	return true
}

// ruledOut lists the processes that had a version to take which a step of another one left them
// not: each is tried before that step, since no later step of the run shows that they meet.
func ruledOut(before *node, by *step, is *node) (list []machine.Choice) {
	for _, c := range before.ways {
		p := process(c)
		if takesWord(c) && p != process(by.choice) && before.open(c) && !slices.Contains(list, p) &&
			!slices.ContainsFunc(is.ways, func(o machine.Choice) bool { return process(o) == p && o.Op == c.Op }) {
			list = append(list, p)
		}
	}
	return list
}

func takesWord(c machine.Choice) bool {
	return c.Kind == machine.Run || c.Kind == machine.Alone || c.Kind == machine.Pick
}

// stillAsleep returns what of a state's sleeping and tried steps sleeps after a step.
func stillAsleep(list []*step, by *step) []*step {
	var out []*step
	var up []machine.Choice
	for _, q := range list {
		made, all := by.wakes(q)
		if all {
			up = append(up, process(q.choice))
			continue
		}
		if len(made) > 0 {
			c := *q
			c.woken = append(slices.Clip(q.woken), made...)
			q = &c
		}
		out = append(out, q)
	}
	if len(up) == 0 {
		return out
	}
	return slices.DeleteFunc(out, func(q *step) bool { return slices.Contains(up, process(q.choice)) })
}

// wakes returns for which new versions a step wakes one that sleeps; all, if it wakes as a whole.
func (s *step) wakes(q *step) (made []machine.Version, all bool) {
	if s.dependent(q) {
		return nil, true
	}
	for i := range q.accesses {
		r := &q.accesses[i]
		if !r.word || !r.gets {
			continue
		}
		for k := range s.accesses {
			if w := &s.accesses[k]; w.word && w.puts && w.mem == r.mem && w.lo == r.lo && w.hi == r.hi {
				made = append(made, w.made)
			}
		}
	}
	return made, false
}

// word relates a step's access of a word to an earlier one.
func (a *arrow) word(x *touch, o *toucher) {
	t := o.touch
	if t.lo >= x.hi || x.lo >= t.hi {
		return
	}
	if t.lo != x.lo || t.hi != x.hi { // accesses that overlap in part are not morally strong
		if t.puts || x.puts {
			a.meet = append(a.meet, o.step)
		}
		return
	}
	if x.gets && t.puts && t.made == x.from {
		a.must = append(a.must, o.step)
	}
	if (x.puts || x.may) && t.gets {
		a.far = append(a.far, o.step)
	}
}

// words takes a strong access of an exploration of executions, word by word.
func (c *collector) words(m *machine.Machine, ev *machine.Event) {
	for k := ev.Mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k) & 31
		at := m.WordAt(ev, l)
		t := touch{object: bytes, role: reads, mem: int32(at.Mem), lo: at.Addr, hi: at.Addr + uint64(at.Size), word: true}
		if ev.Access&machine.Write == 0 || ev.Access&machine.Update != 0 {
			t.gets = true
			if t.from = ev.Pick; !ev.Picks {
				t.from = m.Last(at)
			}
			t.may = ev.Fails
			c.step.polls = true // it needs only the write that it reads
		}
		if ev.Access&machine.Write != 0 {
			t.role, t.puts = writes, true
			t.made = m.NextVersion(ev.CTA, ev.Warp, l)
			if ev.Whole > 0 {
				t.made += machine.Version(ev.Part / ev.Size)
			}
		}
		c.add(t)
	}
	c.remote(ev.CTA, ev.Mem)
}
