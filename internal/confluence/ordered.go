package confluence

import (
	"math/bits"

	"muster/internal/machine"
)

// Orders of strong accesses. Where the order in which strong accesses reach a word
// decides what happens, a run can still stand for all schedules with this order,
// which then is part of ≺. Such a proof goes through the orders, one run each, and
// Choices names the words that had more than one. Only one word may: coherence orders
// the accesses to each word, but the weak memory model has no single order of those
// to several.
//
// Reductions of one kind commute, and a poll whose value does not end the wait counts
// as not made: neither is in the order.

// An orderedWord is a word that strong accesses touch, and their clocks.
type orderedWord struct {
	addr   uint64
	size   int32
	reads  side
	writes side
	number int // of writes, reductions included
	last   orderedWrite
	reds   map[string]*side // by operation
}

// A side is the accesses of one kind: their steps, and what these come after.
type side struct{ members, reach clock }

type orderedWrite struct {
	any  bool
	warp int32
	was  uint64 // what the word held before
	pc   int32
}

func (s *side) add(w int32, lane int, step uint32, at view) {
	s.members.set(w, 1<<lane, step)
	s.reach.join(at.clk)
}

func (s *side) to(learnt *clock) {
	learnt.join(&s.members)
	learnt.join(&s.reach)
}

// A Choice is a word whose accesses come in an order that the schedule decides.
type Choice struct {
	Mem  machine.MemID
	Addr uint64 // of 4 bytes
}

// Choices returns the words at which the run's order was one of several.
func (p *Prover) Choices() map[Choice]bool { return p.choices }

// A turn is a lane's last access visible to other agents, if it was strong.
type turn struct {
	pc   int32
	addr uint64
}

// elsewhere records that lanes made another access.
func (p *Prover) elsewhere(ev *machine.Event) {
	number := ev.CTA*int32(p.cfg.Warps) + ev.Warp
	for mask := ev.Mask; mask != 0; mask &= mask - 1 {
		delete(p.turns, agent{number, int8(bits.TrailingZeros32(mask))})
	}
}

// ordered enters strong accesses in this run's order.
func (p *Prover) ordered(m *machine.Machine, ev *machine.Event) {
	w, _ := p.step(ev.CTA, ev.Warp, ev.Mask)
	seen := map[granule]bool{}
	for mask := ev.Mask; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		k := granule{ev.Mem, ev.Addr[l] &^ 3}
		if seen[k] && ev.Access&machine.Write != 0 && p.cfg.Polls[ev.PC] == nil && p.adds(ev) == "" {
			p.fail(Failure{Condition: C9, CTA: ev.CTA, Named: -1, PC: ev.PC, With: -1,
				Text: "lanes of one instruction come to one word in an order that the schedule decides"})
		}
		seen[k] = true
		p.orderedLane(m, w, ev, l)
	}
}

func (p *Prover) orderedLane(m *machine.Machine, w *warpState, ev *machine.Event, l int) {
	word := p.orderedWord(ev, l)
	now, ok := m.Peek(ev.Mem, ev.Addr[l], int(min(ev.Size, 8)))
	poll := p.cfg.Polls[ev.PC]
	if poll != nil && (!ok || ev.Size > 8) {
		p.fail(Failure{Condition: C9, CTA: ev.CTA, Named: -1, PC: ev.PC, With: -1, Text: "a word that is waited for cannot be followed"})
	}
	at := w.viewOf(l)
	me := agent{w.number, int8(l)}
	spins := p.turns[me] == turn{ev.PC, ev.Addr[l]}
	p.turns[me] = turn{ev.PC, ev.Addr[l]}
	if spins && poll == nil {
		// The number of rounds may show, and the machine puts the lane to sleep
		// instead.
		p.fail(Failure{Condition: C9, CTA: ev.CTA, Named: -1, PC: ev.PC, With: -1,
			Text: "a strong access that is made again with nothing done between, in a loop that is no mere wait"})
	}
	writes := ev.Access&machine.Write != 0 && poll == nil
	forced := false
	if poll != nil {
		with := m.ComparedWith(poll, l)
		if !poll.Ends(now, with) {
			return
		}
		spins = true
		// Before that one write the wait would have gone on.
		forced = word.number == 1 && !poll.Ends(word.last.was, with)
	}
	kind := p.adds(ev)
	learnt := clock{}
	choice := false
	after := func(s *side, forced bool) {
		choice = choice || !forced && !at.covers(&s.members)
		s.to(&learnt)
	}
	after(&word.writes, forced)
	if writes {
		after(&word.reads, false)
	}
	for name, s := range word.reds {
		if name != kind {
			after(s, forced)
		}
	}
	if choice {
		p.choices[Choice{ev.Mem, word.addr &^ 3}] = true
	}
	if spins && word.last.any && p.cfg.ClusterOf(word.last.warp/int32(p.cfg.Warps)) != p.cfg.ClusterOf(ev.CTA) {
		p.resident(ev, &polledWrite{by: agent{warp: word.last.warp}, pc: word.last.pc})
	}
	w.learn(1<<l, &learnt)
	at = w.viewOf(l)
	if writes {
		word.last = orderedWrite{true, w.number, now, ev.PC}
		word.number++
	}
	switch {
	case kind != "":
		if word.reds[kind] == nil {
			word.reds[kind] = &side{}
		}
		word.reds[kind].add(w.number, l, w.step, at)
	case writes:
		word.writes.add(w.number, l, w.step, at)
	default:
		word.reads.add(w.number, l, w.step, at)
	}
}

// adds names a reduction that commutes with its kind; empty for other accesses.
func (p *Prover) adds(ev *machine.Event) string {
	if ev.Access == machine.Write|machine.Update && p.cfg.Program.Commutes(ev.PC) == "" {
		return p.cfg.Program.Operation(ev.PC)
	}
	return ""
}

// orderedWord finds the word that a lane accesses.
func (p *Prover) orderedWord(ev *machine.Event, lane int) *orderedWord {
	a, end := ev.Addr[lane], ev.Addr[lane]+uint64(ev.Size)
	var found *orderedWord
	for g := a &^ 3; g < end; g += 4 {
		if w := p.order[granule{ev.Mem, g}]; w != nil {
			found = w
			if w.addr != a || w.size != ev.Size {
				p.fail(Failure{Condition: C9, CTA: ev.CTA, Named: -1, PC: ev.PC, With: -1, Text: "strong accesses that overlap without being to one word"})
			}
		}
	}
	if found == nil {
		found = &orderedWord{addr: a, size: ev.Size, reds: map[string]*side{}}
	}
	for g := a &^ 3; g < end; g += 4 {
		if k := (granule{ev.Mem, g}); p.order[k] == nil {
			p.order[k] = found
		}
	}
	return found
}
