package confluence

import (
	"math/bits"

	"muster/internal/machine"
)

// Waiting for a word of memory (C9). A loop that reads a word by a strong load
// until it compares as wanted waits for the writes that make it so. It ends with
// the same value in every schedule, and after the same writes, if
//
//   - the word's strong writes are one lane's, in its program order, and no value
//     that was there before the one that ends the wait, and after what the waiter
//     itself saw or wrote of the word, would end it too; or they are additions of
//     several lanes that all make the word larger, and the wait ends at no less
//     than the sum of all that have come;
//   - what comes later comes after the wait's end.
//
// Then those writes precede the wait's end in ≺. C8 checks plain writes; but no
// strong access may follow one of them, or a copy, so that the values are those
// that were seen.

// A polled is a word that strong accesses touch.
type polled struct {
	addr   uint64
	size   int32
	writes []polledWrite
	ends   []stamp       // of waits
	seen   map[agent]int // number of writes that a lane cannot miss
	plain  bool          // the last write was plain
	doubt  string        // why no wait for it is proven
}

// An agent is a lane of a warp in the grid; lane -1: several.
type agent struct {
	warp int32
	lane int8
}

// A polledWrite is one instruction's write of the word.
type polledWrite struct {
	by     agent
	clk    clock // the writers', the write included
	before uint64
	pc     int32
	update bool
	event  int64
}

// maxPolled bounds the writes and waits kept of a word.
const maxPolled = 1 << 12

type granule struct {
	mem  machine.MemID
	addr uint64 // of 4 bytes
}

// access watches the words that are waited for, in a program that polls.
func (p *Prover) access(m *machine.Machine, ev *machine.Event) {
	switch {
	case ev.Sem == machine.Weak || ev.Proxy != machine.Generic:
		for mask := ev.Mask; mask != 0 && ev.Access&machine.Write != 0; mask &= mask - 1 {
			p.overwritten(ev.Mem, ev.Addr[bits.TrailingZeros32(mask)], uint64(ev.Size))
		}
		return
	case ev.Access&machine.Write == 0 && p.cfg.Polls[ev.PC] == nil:
		return
	}
	w, _ := p.step(ev.CTA, ev.Warp, ev.Mask)
	p.event++
	for mask := ev.Mask; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		word := p.word(ev, l)
		now, ok := m.Peek(ev.Mem, ev.Addr[l], int(min(ev.Size, 8)))
		switch {
		case word.plain:
			p.doubt(word, ev.PC, "a word that is waited for is also written by plain stores, or by copies")
		case !ok || ev.Size > 8 || len(word.writes)+len(word.ends) > maxPolled:
			p.doubt(word, ev.PC, "a word that is waited for is written too often, or too wide, to be followed")
		}
		poll := p.cfg.Polls[ev.PC]
		if poll == nil {
			p.polledWrite(word, w, ev, l, now)
			continue
		}
		if with := m.ComparedWith(poll, l); poll.Ends(now, with) {
			p.pollEnds(word, w, ev, l, poll, now, with)
		}
	}
}

// word finds the word that a lane accesses. A word accessed by different sizes cannot
// be waited for.
func (p *Prover) word(ev *machine.Event, lane int) *polled {
	a, end := ev.Addr[lane], ev.Addr[lane]+uint64(ev.Size)
	var found *polled
	for g := a &^ 3; g < end; g += 4 {
		if w := p.words[granule{ev.Mem, g}]; w != nil {
			found = w
			if w.addr != a || w.size != ev.Size {
				p.doubt(w, ev.PC, "a word that is waited for is accessed in parts, or with others")
			}
		}
	}
	if found == nil {
		found = &polled{addr: a, size: ev.Size, seen: map[agent]int{}}
	}
	for g := a &^ 3; g < end; g += 4 {
		if k := (granule{ev.Mem, g}); p.words[k] == nil {
			p.words[k] = found
		}
	}
	return found
}

// overwritten marks the words that plain stores and copies write.
func (p *Prover) overwritten(mem machine.MemID, addr, n uint64) {
	if len(p.words) == 0 {
		return
	}
	if n > 4*uint64(len(p.words)) {
		for g, w := range p.words {
			w.plain = w.plain || g.mem == mem && g.addr+4 > addr && g.addr < addr+n
		}
		return
	}
	for g := addr &^ 3; g < addr+n; g += 4 {
		if w := p.words[granule{mem, g}]; w != nil {
			w.plain = true
		}
	}
}

// polledWrite enters a strong write. It must come after the end of every wait.
func (p *Prover) polledWrite(word *polled, w *warpState, ev *machine.Event, lane int, before uint64) {
	at := w.viewOf(lane)
	for _, e := range word.ends {
		if at.after(e.warp, e.mask, e.step) == 0 {
			p.fail(Failure{Condition: C9, CTA: ev.CTA, Named: -1, PC: e.pc, With: ev.PC,
				Text: "a wait for a word of memory, and a write of it that need not come after the wait's end"})
		}
	}
	by := agent{w.number, int8(lane)}
	if n := len(word.writes); n > 0 && word.writes[n-1].event == p.event {
		k := &word.writes[n-1]
		k.by.lane = -1
		k.clk.join(at.clk)
	} else {
		word.writes = append(word.writes, polledWrite{by, at.clk.clone(), before, ev.PC, ev.Access&machine.Update != 0, p.event})
	}
	word.writes[len(word.writes)-1].clk.set(w.number, 1<<lane, w.step)
	word.seen[by] = len(word.writes)
}

// pollEnds checks that a wait that ends here ends so in every schedule, and orders
// what follows after the writes that it waited for.
func (p *Prover) pollEnds(word *polled, w *warpState, ev *machine.Event, lane int, poll *machine.Poll, now, with uint64) {
	n := len(word.writes)
	me := agent{w.number, int8(lane)}
	end := stamp{w.number, 1 << lane, w.step, ev.PC, 1 << lane}
	word.ends = append(word.ends, end)
	if word.doubt != "" {
		p.doubt(word, ev.PC, word.doubt)
		return
	}
	if n == 0 {
		return
	}
	if !word.inOrder(poll, word.seen[me], with) && !p.sumOf(word, poll, now, with) {
		p.fail(Failure{Condition: C9, CTA: ev.CTA, Named: -1, PC: ev.PC, With: word.writes[n-1].pc,
			Text: "a wait for a word of memory that may end with another write of it, or never"})
	}
	learnt := clock{}
	for i := range word.writes {
		k := &word.writes[i]
		learnt.join(&k.clk)
		if i >= word.seen[me] {
			p.resident(ev, k)
		}
	}
	w.learn(1<<lane, &learnt)
	word.seen[me] = n
}

// resident checks that the CTA of a writer is resident. By assumption clusters start in
// order: one may wait for those before it, but not for those after it, which may never
// start. CTAs of a cooperative launch are resident together.
func (p *Prover) resident(ev *machine.Event, k *polledWrite) {
	if p.cfg.Cooperative {
		return
	}
	from := k.by.warp / int32(p.cfg.Warps)
	switch mine, other := p.cfg.ClusterOf(ev.CTA), p.cfg.ClusterOf(from); {
	case other > mine:
		p.fail(Failure{Condition: C9, CTA: ev.CTA, Named: -1, PC: ev.PC, With: k.pc, Residency: true,
			Text: "a wait for a CTA that need not be resident before this one has ended"})
	case other < mine:
		p.earlier = true
	}
}

// WaitsForEarlier reports whether a CTA waits for a cluster that starts before its
// own.
func (p *Prover) WaitsForEarlier() bool { return p.earlier }

// inOrder reports whether the word's writes are one lane's, and no value from the
// seen-th on would have ended the wait earlier.
func (word *polled) inOrder(poll *machine.Poll, seen int, with uint64) bool {
	for i := range word.writes {
		k := &word.writes[i]
		if k.by != word.writes[0].by || k.by.lane < 0 || i >= seen && poll.Ends(k.before, with) {
			return false
		}
	}
	return true
}

// sumOf reports whether the word's writes are additions that each make it larger, and
// the wait ends at no less than their total. Every partial sum is then less.
func (p *Prover) sumOf(word *polled, poll *machine.Poll, now, with uint64) bool {
	top := uint64(1) << (8*uint(word.size) - 1) // larger as signed and as unsigned numbers
	for i := range word.writes {
		k := &word.writes[i]
		after := now
		if i+1 < len(word.writes) {
			after = word.writes[i+1].before
		}
		n, says, adds := p.cfg.Program.Adds(k.pc)
		if !k.update || !adds || after <= k.before || after >= top || says && n >= top || !says && k.by.lane < 0 {
			return false
		}
	}
	return (poll.Exactly() || poll.Upward()) && !poll.Ends(now-1, with)
}

// doubt records why a word cannot be waited for, and fails if a lane does wait for
// it.
func (p *Prover) doubt(word *polled, pc int32, text string) {
	word.doubt = text
	if len(word.ends) > 0 {
		p.fail(Failure{Condition: C9, CTA: -1, Named: -1, PC: pc, With: -1, Text: text})
	}
}

// viewOf returns what a lane comes after.
func (w *warpState) viewOf(lane int) view {
	for i := range w.groups {
		if w.groups[i].mask>>lane&1 != 0 {
			return w.sees(&w.groups[i], 1<<lane)
		}
	}
	panic("BUG: a lane without a clock")
}
