package prove

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
	"muster/internal/trial"
	"muster/ptx"
)

// Ticket locks (locks.go). A thread draws a number from one word, by an atomic addition of 1, and waits
// until another word, the turn, holds its number; to give the lock it makes the turn larger by 1.
//
//   - The numbers. All accesses to the first word are draws, so each number is drawn once (Atomicity).
//   - The turn. It begins with the first number, and is written by those alone who have read their own
//     number there, once after each such read: by their number and 1, or by an addition of 1. By
//     induction along its coherence order the i-th write is made by the i-th number's thread: the write
//     of number k comes after the one that k's read returned (SC per Location), which left k there, and
//     of the writes before only that of number k-1 did. So sections come one after the other, in the
//     order of the numbers, and each acquisition reads the release before it.
//   - What was drawn decides nothing else, and neither does what is found of the turn. A run in which
//     nobody knows either shows it: they are compared with each other for equality alone
//     (machine.FollowTurns), which does not depend on the number.
//   - Deadlock. Whoever has drawn waits for those who drew before, who all have been started. Between
//     the draw and the wait there is no other lock.
//
// So each thread does the same whichever number it draws, and one order of the numbers stands for all.

// drawsTicket finds out whether a CTA that stands before a draw takes a ticket lock, and what it does
// until it has come back to a state, as meets does.
func (d *locking) drawsTicket(m *machine.Machine, c machine.Choice) bool {
	a := &alone{cta: c.CTA}
	probe := m.Beside(a, c.CTA)
	probe.Step(c)
	if a.n != 1 || a.ev.Kind != machine.EvAccess || !a.single() || a.ev.Size != 4 || len(d.plan) == maxSections {
		return false
	}
	warp, lane := a.ev.Warp, bits.TrailingZeros32(a.ev.Mask)
	w := lockWord{size: 4, ticket: true, next: a.addr[lane]}
	number, ok := m.Peek(machine.Global, w.next, 4)
	now, okay := probe.Peek(machine.Global, w.next, 4)
	if !ok || !okay || now != uint64(uint32(number+1)) {
		return false
	}
	look, ok := d.toLook(probe, c.CTA, probe.Step)
	if !ok {
		return false
	}
	first := &alone{cta: c.CTA}
	taken := probe.Beside(first, c.CTA)
	taken.Step(look)
	if first.n != 1 || first.ev.Kind != machine.EvAccess || !first.single() || first.ev.Size != 4 || first.ev.Access&machine.Write != 0 ||
		first.ev.Warp != warp || bits.TrailingZeros32(first.ev.Mask) != lane {
		return false
	}
	w.addr = first.addr[lane]
	if v, ok := probe.Peek(machine.Global, w.addr, 4); !ok || v != number || w.addr < w.next+4 && w.next < w.addr+4 {
		return false
	}
	word := d.known(w)
	return word != nil && d.tries(probe, lockSection{cta: c.CTA, warp: warp, lane: lane, word: word}, number, []uint64{uint64(uint32(number - 1))})
}

// toLook has a CTA that has drawn a number go on to its first look at the turn.
func (d *locking) toLook(m *machine.Machine, cta int32, step func(machine.Choice)) (look machine.Choice, ok bool) {
	if look, ok = goesOn(m, cta, d.stops, step); !ok {
		return look, false
	}
	pc, _ := m.Standing(look)
	return look, d.looks[pc]
}

// single reports whether the access is one lane's, of one scalar of global memory.
func (a *alone) single() bool {
	return a.ev.Mem == machine.Global && a.ev.Mask&(a.ev.Mask-1) == 0 && a.ev.Whole == 0 && !a.ev.Row && a.ev.Proxy == machine.Generic
}

// nextAt returns the ticket lock whose numbers are in some of n bytes of global memory; nil: none.
func (d *locking) nextAt(addr, n uint64) *lockWord {
	i := slices.IndexFunc(d.words, func(w *lockWord) bool { return w.ticket && w.next < addr+n && addr < w.next+4 })
	if i < 0 {
		return nil
	}
	return d.words[i]
}

// wordsAt reports whether some of n bytes of global memory are a lock's, its numbers included.
func (d *locking) wordsAt(addr, n uint64) bool {
	return d.wordAt(addr, n) != nil || d.nextAt(addr, n) != nil
}

// draws has a CTA draw the number of its next section, and go on to its first look at the turn. It
// reports whether its turn is then there.
func (r *lockRun) draws(c machine.Choice, next int) bool {
	w := r.d.plan[next].word
	number, ok := r.m.Peek(machine.Global, w.next, 4)
	turn, okay := r.m.Peek(machine.Global, w.addr, 4)
	if !ok || !okay || number != turn {
		return false
	}
	r.number, r.drawing = number, next
	r.step(c)
	if now, ok := r.m.Peek(machine.Global, w.next, 4); r.bad || !ok || r.drawing >= 0 || now != uint64(uint32(number+1)) {
		return false
	}
	if r.follows != nil {
		r.serial[next] = r.follows.Serial()
	}
	_, ok = r.d.toLook(r.m, c.CTA, r.step)
	return ok
}

// drew takes an access to the numbers of a lock: it is the draw that is being made.
func (r *lockRun) drew(ev *machine.Event, lane int, w *lockWord) bool {
	if n := r.drawing; n >= 0 && r.d.plan[n].word == w && r.d.plan[n].is(ev, lane) && ev.Addr[lane] == w.next && ev.Size == 4 && r.d.draws[ev.PC] {
		r.drawing = -1
		return true
	}
	return false
}

// lookOp serves as op for a word at which those who take the lock look.
func (r *lockRun) lookOp(ev *machine.Event, lane, holder int) (order.LockOp, int) {
	n := r.waits
	switch {
	case ev.Access&machine.Write != 0 && holder >= 0 && r.d.plan[holder].is(ev, lane):
		return order.LockGiven, holder
	case ev.Access&machine.Write != 0 || holder >= 0 || n < 0 || !r.d.looks[ev.PC] || !r.d.plan[n].is(ev, lane):
		return order.NoLock, 0
	case r.vain:
		return order.LockTried, 0
	}
	return order.LockTaken, n
}

// followTickets has a run that follows values take what is drawn, and what is found of turns, for such.
func (r *lockRun) followTickets(u *machine.Undefined) {
	if len(r.d.draws) == 0 {
		return
	}
	r.follows, r.serial = u, map[int]int{}
	u.FollowDraws(r.d.draws, false)
	u.FollowTurns(func(cta int32, addr, n uint64) (int, bool) {
		w := r.d.wordAt(addr, n)
		if w == nil || !w.ticket || r.waits < 0 || r.d.plan[r.waits].cta != cta || r.d.plan[r.waits].word != w {
			return 0, w != nil && w.ticket
		}
		return r.serial[r.waits], true
	})
}

// handsOn reports whether who gave a ticket lock did so by a number of its own, or by an addition.
func (r *lockRun) handsOn(w *lockWord, section int) bool {
	if r.follows == nil {
		return true
	}
	in, g := r.d.l.Program.Inst(r.gavePC), r.follows.Given(r.m, w.addr)
	if in.Effect().Has(ptx.Updates) && in.Update() == ptx.UpdateAdd {
		return g.Known
	}
	return !g.Known && g.Serial > 0 && g.Serial == r.serial[section] && g.Value == 1
}

// numbersMatter reports whether what was drawn decides anything but who waits for whom.
func (d *locking) numbersMatter(u *machine.Undefined) bool {
	return slices.ContainsFunc(d.words, func(w *lockWord) bool { return w.ticket && u.Counter(w.next) })
}

// stopsOf lists the instructions before which a CTA that has drawn a number stops: by which it may look
// at the turn, or take another lock.
func (d *locking) stopsOf(l *trial.Subject) {
	d.looks, d.stops = map[int32]bool{}, map[int32]bool{}
	if len(d.draws) == 0 {
		return
	}
	for pc := range loads(l.Program) {
		d.looks[pc] = true
	}
	for pc := range l.Program.Polls() {
		d.looks[pc] = true
	}
	for pc := range d.looks {
		d.stops[pc] = true
	}
	for pc := range d.at {
		d.stops[pc] = true
	}
}
