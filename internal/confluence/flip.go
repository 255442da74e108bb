package confluence

import (
	"math/bits"

	"muster/internal/machine"
)

// Waiting for a bit of a counter (C9): barriers of a grid. A lane's n-th addition to the
// counter, from 0 on, is of round n. A wait ends in every schedule after the same additions,
// those of its lane's round and before, if
//
//   - all that writes the counter are these additions, by single lanes, of 1 to 2^31, and each
//     lane waits after each of its additions, before its next;
//   - the additions of a round change the highest bit, and no proper part of them does;
//   - lanes that take part in a round that comes to its end are all those that take part in
//     the one before.
//
// Then no addition of a round comes before the round before is complete, since its lane has
// waited for that; no round is complete before all lanes have ended their waits for the one
// before, since each adds afterwards; and what an addition returned has the highest bit that
// the counter had before the round.

// sign is the highest bit of a counter.
const sign = 1 << 31

// A flipWord is a counter.
type flipWord struct {
	first  uint32 // its value before the first addition
	last   uint32 // its value before the last
	open   bool   // what the last adds is not known yet
	in     int    // the round of the last
	rounds []flipRound
	lanes  map[agent]*flipLane
	pc     int32 // of a wait or an addition
}

type flipRound struct {
	sum, least uint64
	clk        clock // of the additions
	by         []polledWrite
}

// A flipLane is a lane that adds to a counter.
type flipLane struct {
	adds   int
	ticket uint32 // what the last addition returned
	ended  bool   // it has waited since
}

func (p *Prover) failFlip(pc int32, text string) {
	p.fail(Failure{Condition: C9, CTA: -1, Named: -1, PC: pc, With: -1, Text: text})
}

// isTicket reports whether the instruction at pc is an addition that a wait for a bit follows.
func (p *Prover) isTicket(pc int32) bool {
	for _, f := range p.cfg.Flips {
		if f.Ticket == pc {
			return true
		}
	}
	return false
}

// Round returns the round of a counter to which a lane's access belongs that is about to be
// made: that of its addition, or of its wait. It is false for all other accesses.
func (p *Prover) Round(ev *machine.Event, lane int) (int, bool) {
	_, wait := p.cfg.Flips[ev.PC]
	if !wait && !p.isTicket(ev.PC) {
		return 0, false
	}
	n := 0
	if w := p.counters[granule{ev.Mem, ev.Addr[lane]}]; w != nil {
		if l := w.lanes[p.agentOf(ev, lane)]; l != nil {
			n = l.adds
		}
	}
	if wait {
		n--
	}
	return n, n >= 0
}

func (p *Prover) agentOf(ev *machine.Event, lane int) agent {
	return agent{ev.CTA*int32(p.cfg.Warps) + ev.Warp, int8(lane)}
}

// counts watches the counters, in a program that waits for their bits.
func (p *Prover) counts(m *machine.Machine, ev *machine.Event) {
	flip := p.cfg.Flips[ev.PC]
	ticket := flip == nil && p.isTicket(ev.PC)
	switch {
	case !ticket && flip == nil:
		if ev.Access&machine.Write != 0 {
			for mask := ev.Mask; mask != 0; mask &= mask - 1 {
				p.counted(ev.Mem, ev.Addr[bits.TrailingZeros32(mask)], uint64(ev.Size), ev.PC, ev.Sem != machine.Weak && ev.Proxy == machine.Generic)
			}
		}
		return
	case ev.Mem != machine.Global || ev.Sem == machine.Weak || ev.Proxy != machine.Generic || ev.Scope < machine.ScopeGPU && ev.Sem != machine.Volatile:
		p.failFlip(ev.PC, "a wait for a bit of a counter whose accesses are not strong at the scope of the GPU, in global memory")
		return
	case ticket && ev.Mask&(ev.Mask-1) != 0:
		p.failFlip(ev.PC, "a wait for a bit of a counter to which several lanes of a warp add at once")
		return
	}
	w, _ := p.step(ev.CTA, ev.Warp, ev.Mask)
	for mask := ev.Mask; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		now, ok := m.Peek(ev.Mem, ev.Addr[l], 4)
		word := p.counters[granule{ev.Mem, ev.Addr[l]}]
		switch {
		case !ok:
			p.failFlip(ev.PC, "a wait for a bit of a counter that nobody wrote")
		case ticket:
			p.arrives(word, w, ev, l, uint32(now))
		case flip.Ends(uint32(now), m.Ticket(flip, l)):
			p.flipEnds(word, w, ev, l, uint32(now), m.Ticket(flip, l))
		}
	}
}

// counted enters a write by something else, which no counter may have.
func (p *Prover) counted(mem machine.MemID, addr, n uint64, pc int32, strong bool) {
	if mem != machine.Global {
		return
	}
	for g := addr &^ 3; g < addr+n; g += 4 {
		at := granule{mem, g}
		if p.counters[at] != nil {
			p.failFlip(pc, "a counter whose bit is waited for is also written otherwise")
		}
		if strong {
			p.others[at] = true
		}
	}
}

// arrives enters a lane's addition to a counter, whose value is now before it.
func (p *Prover) arrives(word *flipWord, w *warpState, ev *machine.Event, lane int, now uint32) {
	at := granule{ev.Mem, ev.Addr[lane]}
	if word == nil {
		word = &flipWord{first: now, lanes: map[agent]*flipLane{}, pc: ev.PC}
		p.counters[at] = word
		if p.others[at] {
			p.failFlip(ev.PC, "a counter whose bit is waited for is also written otherwise")
		}
	}
	word.settle(now)
	by := agent{w.number, int8(lane)}
	l := word.lanes[by]
	switch {
	case l == nil:
		l = &flipLane{}
		word.lanes[by] = l
	case !l.ended:
		p.failFlip(ev.PC, "a lane adds to a counter again, and has not waited for its bit")
	}
	if l.adds == len(word.rounds) {
		word.rounds = append(word.rounds, flipRound{least: 1 << 32})
	}
	word.last, word.open, word.in = now, true, l.adds
	r := &word.rounds[l.adds]
	l.adds, l.ticket, l.ended = l.adds+1, now, false
	r.by = append(r.by, polledWrite{by: by, pc: ev.PC})
	r.clk.join(w.viewOf(lane).clk)
	r.clk.set(w.number, 1<<lane, w.step)
}

// settle enters what the last addition added, given the counter's value after it.
func (word *flipWord) settle(now uint32) {
	if word.open {
		r, n := &word.rounds[word.in], uint64(now-word.last)
		r.sum, r.least = r.sum+n, min(r.least, n)
		if n > sign {
			r.least = 0 // it may leave the bit as it was
		}
		word.open = false
	}
}

// flipEnds orders what follows the end of a wait after the additions of its round.
func (p *Prover) flipEnds(word *flipWord, w *warpState, ev *machine.Event, lane int, now, ticket uint32) {
	var l *flipLane
	if word != nil {
		l = word.lanes[agent{w.number, int8(lane)}]
	}
	if l == nil || l.ticket != ticket {
		p.failFlip(ev.PC, "a wait for a bit of a counter, compared with other than the lane's last addition to it returned")
		return
	}
	word.settle(now)
	r := &word.rounds[l.adds-1]
	for i := range r.by {
		p.resident(ev, &r.by[i])
	}
	w.learn(1<<lane, &r.clk)
	l.ended = true
}

// endCounters checks the sums of each round.
func (p *Prover) endCounters() {
	for _, word := range p.counters {
		base := word.first
		for k := range word.rounds {
			r := &word.rounds[k]
			from := uint64(base &^ sign)
			done := from+r.sum >= sign
			switch {
			case word.open && word.in == k:
				p.failFlip(word.pc, "what the last addition to a counter adds is not known")
			case done && from+r.sum-r.least >= sign:
				p.failFlip(word.pc, "a wait for a bit of a counter that part of the additions may end")
			case !done && k+1 < len(word.rounds):
				p.failFlip(word.pc, "a wait for a bit of a counter that the additions of a round do not change")
			case done && k > 0 && len(r.by) != len(word.rounds[k-1].by):
				p.failFlip(word.pc, "a wait for a bit of a counter in which not all take part that did before")
			}
			base += uint32(r.sum)
		}
	}
}
