package machine

import (
	"math"
)

// Turns. A ticket lock has two words: a thread draws a number from the one, and waits until the other
// holds that number. Which number it is, and what it finds meanwhile, is the schedule's choice. A run
// that follows drawn numbers (undefined_draws.go) takes a load of the second word for a look at
// the turn. What it returns is a value that nobody knows, but which changes as the number changes that
// its thread has drawn. A thread may compare the two for equality: it asks whether its turn has come,
// and the answer is the same for every number. If either value decides anything else, that is found.

// A TurnLook says whose drawn number a load waits for: serial counts the draws that are followed,
// from 1 on.
type TurnLook func(cta int32, addr, n uint64) (serial int, ok bool)

// FollowTurns makes a run that follows drawn numbers (FollowDraws, not each) take what some loads give
// for looks at the turn.
func (u *Undefined) FollowTurns(look TurnLook) { u.draws.look = look }

// Serial returns how many draws were followed so far.
func (u *Undefined) Serial() int { return len(u.draws.of) }

// looks gives the register that a load of one lane has written its number, if it is a look.
func (u *Undefined) looks(x *ctx, a *access, mem MemID, addr uint64, k undefinedReg, l int) {
	if u.draws == nil || u.draws.look == nil || mem != Global {
		return
	}
	serial, ok := u.draws.look(x.w.cta, addr, uint64(a.elem))
	if !ok {
		return
	}
	u.put(k, l, shade{math.MaxUint32, u.origin(UndefinedFrom{UndefinedDraw, x.s.pc, 0})})
	now, known := x.m.Peek(mem, addr, 4)
	if a.elem != 4 || a.n != 1 || !known || serial < 1 || serial > len(u.draws.of) {
		return // it moves with nothing
	}
	u.draws.regs[drawnReg{k, l}] = drawn{number: uint32(now), from: u.draws.of[serial-1], serial: serial, look: true}
}

// comes reports whether a comparison of two values asks whether the turn has come: of what was found
// with the number that was drawn, both changed by the same.
func comes(cmp string, a, b drawn, v, w uint64) bool {
	return (cmp == "eq" || cmp == "ne") && a.serial == b.serial && a.serial > 0 && a.look != b.look && uint32(v)-a.number == uint32(w)-b.number
}

// A TurnGiven is what a word holds that hands on the turn.
type TurnGiven struct {
	Known  bool   // the same whatever was drawn
	Serial int    // else: it moves with this number; 0: with none
	Value  uint32 // how much larger it is
}

// Given returns what a word of 4 bytes of global memory holds, and makes it known.
func (u *Undefined) Given(m *Machine, addr uint64) (g TurnGiven) {
	r, off := m.memory(Global, addr)
	if r == nil || off%4 != 0 || off+4 > r.size {
		return g
	}
	s := u.bytes(r, off, 4, u.missing(Global, -1))
	if s.bits == 0 {
		return TurnGiven{Known: true}
	}
	p := r.write(off, m.owner)
	if p.shade == nil {
		return g
	}
	if d, ok := p.shade.drawn[uint16(off%pageBytes/4)]; ok {
		now, known := m.Peek(Global, addr, 4)
		if known && !d.look {
			g.Serial, g.Value = d.serial, uint32(now)-d.number
		}
	}
	p.clean(off%pageBytes, 4)
	return g
}

// Counter reports whether it matters which numbers a word of global memory gives, as Draws does for all
// words.
func (u *Undefined) Counter(addr uint64) (matters bool) {
	c := u.draws.counters[counterWord{Global, addr}]
	return c == nil || c.other || c.first+c.sum > math.MaxUint32 || int64(c.first) < c.lo || int64(c.first+c.sum-c.most) > c.hi
}

// swaps has a word move with the number with which the operand of an exchange does.
func (u *Undefined) swaps(x *ctx, a *access, r *region, off uint64, e int32, l int) {
	if u.draws == nil || a.atom != atomExch || a.elem != 4 || off%4 != 0 || a.regs[e] < 0 {
		return
	}
	if d, ok := u.moving(u.row(x, a.regs[e], false), l); ok {
		u.movesWord(r, off, d)
	}
}

// movesWord notes that a word of memory, which was just given a shade, moves with a number.
func (u *Undefined) movesWord(r *region, off uint64, d drawn) {
	s := r.pages[off/pageBytes].shade
	if s == nil {
		return
	}
	if s.drawn == nil {
		s.drawn = map[uint16]drawn{}
	}
	s.drawn[uint16(off%pageBytes/4)] = d
}
