package machine

import (
	"math"

	"muster/internal/flow"
	"muster/ptx"
)

// Drawn numbers: what an atomic addition to a counter returns depends on the schedule, but
// lies between what the counter was at first and the sum of all additions. A run that tracks
// undefined values takes drawn numbers for such. A value that moves with one number one to
// one (the number plus what is defined) may be compared with a defined value: the result is
// defined if it is the same for every number that the counter can give, which is known at the
// end (Undefined.Draws). Anything else that a drawn number decides counts as decided by an
// undefined value.

// UndefinedDraw: an atomic addition to a counter.
const UndefinedDraw UndefinedKind = 100

// A counterWord is a counter: a word of 32 bits in memory.
type counterWord struct {
	mem  MemID
	addr uint64
}

// A counter is what is known of one.
type counter struct {
	first, last, sum uint64 // before the first addition, after the last, and between them
	most             uint64 // the least addition: no draw comes after it
	other            bool   // something else writes it, or additions are of undefined numbers
	// The comparisons have the same results for numbers from lo to hi.
	lo, hi int64
	at     [2]int32 // what gave these bounds
}

// A drawn is a number that was drawn, with which a value moves one to one.
type drawn struct {
	number uint32
	from   *counter
	draw   int  // of draws.list
	serial int  // of draws.of, from 1 on
	look   bool // it is no number that was drawn, but a look at the turn (undefined_turns.go)
}

// A Draw is one atomic operation whose result is followed. The run does the same for every
// number from Lo to Hi in its place.
type Draw struct {
	CTA, Warp int32
	Lane      int
	PC        int32
	Mem       MemID
	Addr      uint64
	Old, New  uint32 // the word before and after
	Operand   uint32
	Lo, Hi    int64
}

// Keeps reports whether the operation leaves the word as it is.
func (d *Draw) Keeps() bool { return d.Old == d.New }

// Counts returns how much the operation adds, if it adds without a wrap.
func (d *Draw) Counts(p *Program) (n uint32, ok bool) {
	switch in := p.Inst(d.PC); in.Update() {
	case ptx.UpdateAdd, ptx.UpdateInc:
		return d.New - d.Old, d.New >= d.Old
	}
	return 0, false
}

type drawnReg struct {
	undefinedReg
	lane int
}

// draws is the part of an Undefined that follows drawn numbers.
type draws struct {
	at       map[int32]bool // the atomic additions
	counters map[counterWord]*counter
	regs     map[drawnReg]drawn
	// list has all draws, if each has an origin of its own.
	each bool
	list []Draw
	of   []*counter // each draw's
	look TurnLook
	// vague: what an operation leaves, or compares with, depends on a number that was drawn.
	vague bool
}

// FollowDraws makes a run that tracks undefined values take the numbers that some atomic
// additions return for such. Each: those of each addition are told apart (Drawn).
func (u *Undefined) FollowDraws(at map[int32]bool, each bool) {
	u.draws = &draws{at: at, each: each, counters: map[counterWord]*counter{}, regs: map[drawnReg]drawn{}}
}

// Drawn lists the operations whose results are followed, in the order of the run, with the
// numbers for which it does the same. Known: all of them are told apart, and none changes its
// counter by what another one gave.
func (u *Undefined) Drawn(m *Machine) (list []Draw, known bool) {
	reached, others := u.Reached(m)
	for _, r := range reached {
		if r.From.Kind == UndefinedDraw {
			d := &u.draws.list[r.From.Register]
			d.Lo, d.Hi = int64(d.Old), int64(d.Old)
		}
	}
	return u.draws.list, !others && !u.draws.vague
}

// CountsUpTo reports whether an operation that Counts does so if it finds any lesser number up
// to last, too.
func (d *Draw) CountsUpTo(p *Program, last int64) bool {
	return p.Inst(d.PC).Update() != ptx.UpdateInc || last < int64(d.Operand)
}

// A DrawBound is a comparison whose result depends on a drawn number, or an addition to a
// counter whose numbers are not known (Unknown).
type DrawBound struct {
	PC      int32
	Unknown bool
}

// Draws returns the first reason why the numbers that were drawn matter: none if every
// comparison has the same result for all numbers that the counters can give. What else they
// decide, Reached says.
func (u *Undefined) Draws() (why DrawBound, matter bool) {
	for _, c := range u.draws.counters {
		least, most := int64(c.first), int64(c.first+c.sum-c.most)
		switch {
		case c.other || c.first+c.sum > math.MaxUint32:
			return DrawBound{c.at[0], true}, true
		case least < c.lo:
			return DrawBound{PC: c.at[0]}, true
		case most > c.hi:
			return DrawBound{PC: c.at[1]}, true
		}
	}
	return why, false
}

// drew enters an atomic operation of one lane on a word of 32 bits; was is the shade that the
// word had, and b that of the operand.
func (u *Undefined) drew(x *ctx, a *access, mem MemID, addr uint64, e int32, l int, was, b, after shade, old, operand, now uint64) {
	d := u.draws
	if u.sums == nil || !u.sums.at[x.s.pc] {
		d.vague = d.vague || b.bits|after.bits != 0
	}
	key := counterWord{mem, addr}
	c := d.counters[key]
	if c == nil {
		c = &counter{first: old, last: old, most: math.MaxUint32, lo: math.MinInt64, hi: math.MaxInt64, at: [2]int32{x.s.pc, x.s.pc}}
		d.counters[key] = c
	}
	c.other = c.other || a.atom != atomAdd || a.elem != 4 || was.bits|b.bits != 0 || old != c.last || operand > math.MaxInt32
	c.last = (old + operand) & math.MaxUint32
	c.sum += operand
	c.most = min(c.most, operand)
	if a.acc&Read == 0 || !d.at[x.s.pc] {
		return
	}
	k := u.row(x, a.regs[a.n+e], false)
	n := 0
	if d.each {
		n = len(d.list)
		d.list = append(d.list, Draw{CTA: x.w.cta, Warp: x.w.index, Lane: l, PC: x.s.pc, Mem: mem, Addr: addr, Old: uint32(old), New: uint32(now), Operand: uint32(operand), Lo: math.MinInt64, Hi: math.MaxInt64})
	}
	u.put(k, l, shade{math.MaxUint32, u.origin(UndefinedFrom{UndefinedDraw, x.s.pc, int32(n)})})
	d.of = append(d.of, c)
	d.regs[drawnReg{k, l}] = drawn{number: uint32(old), from: c, draw: n, serial: len(d.of)}
}

// moving returns the number with which a register moves one to one in a lane.
func (u *Undefined) moving(k undefinedReg, l int) (drawn, bool) {
	if u.draws == nil || k.class != flow.Word {
		return drawn{}, false
	}
	row := u.regs[k]
	if row == nil || row[l].bits == 0 {
		return drawn{}, false
	}
	d, ok := u.draws.regs[drawnReg{k, l}]
	return d, ok
}

// operandMoves is moving for a source of an instruction.
func (u *Undefined) operandMoves(x *ctx, n *flow.Use, i, l int) (drawn, bool) {
	if i >= len(n.Args) || n.Args[i] == flow.NoReg {
		return drawn{}, false
	}
	return u.moving(u.key(x, n.Args[i]), l)
}

// passes returns the numbers with which the result of an instruction on registers moves, by
// lane: of a copy, and of a sum or a difference with what is defined.
func (u *Undefined) passes(x *ctx, n *flow.Use, mask uint32) (moves map[int]drawn) {
	if u.draws == nil || len(u.draws.regs) == 0 || len(n.Writes) != 1 || n.Writes[0].Class() != flow.Word || lastType(n.In).size() != 4 {
		return nil
	}
	adds, subtracts := n.Does(ptx.Adds), n.Does(ptx.Subtracts)
	if !n.Does(ptx.Moves) && !adds && !subtracts || len(n.Args) != len(n.In.Operands)-1 {
		return nil
	}
	for l := range lanesOf(mask) {
		a, ok := u.operandMoves(x, n, 0, l)
		switch {
		case len(n.Args) == 1:
		case len(n.Args) != 2:
			continue
		case ok:
			if b := u.operand(x, n, 1, l); !b.known || b.bits != 0 {
				continue
			}
		case adds:
			if b := u.operand(x, n, 0, l); !b.known || b.bits != 0 {
				continue
			}
			a, ok = u.operandMoves(x, n, 1, l)
		}
		if ok {
			if moves == nil {
				moves = map[int]drawn{}
			}
			moves[l] = a
		}
	}
	return moves
}

// settles returns the lanes in which a comparison has the same result for the numbers to
// which it bounds the counter from now on.
func (u *Undefined) settles(x *ctx, n *flow.Use, mask uint32) (same uint32) {
	if u.draws == nil || len(u.draws.regs) == 0 || !n.Does(ptx.Compares) || !n.Compares || len(n.In.Mods) != 2 || len(n.Args) != 2 || lastType(n.In).size() != 4 || lastType(n.In).float() {
		return 0
	}
	t := lastType(n.In)
	lo, hi := limits(t)
	if t == b32 {
		lo, hi = limits(u32)
	}
	number := func(v uint64) int64 {
		if t.signed() {
			return int64(int32(v))
		}
		return int64(uint32(v))
	}
	for l := range lanesOf(mask) {
		first, second := u.operand(x, n, 0, l), u.operand(x, n, 1, l)
		d, ok := u.operandMoves(x, n, 0, l)
		moving, still, flip := first, second, false
		if e, both := u.operandMoves(x, n, 1, l); ok && both && comes(n.In.Mods[0], d, e, first.v, second.v) {
			same |= 1 << l
			continue
		}
		if !ok {
			d, ok = u.operandMoves(x, n, 1, l)
			moving, still, flip = second, first, true
		}
		if !ok || !still.known || still.bits != 0 {
			continue
		}
		from, to, ok := alikeFrom(n.In.Mods[0], number(moving.v)-number(still.v), flip)
		if !ok {
			continue
		}
		// As long as the value does not wrap.
		from, to = max(from, lo-number(moving.v)), min(to, hi-number(moving.v))
		if c, at := d.from, int64(d.number); true {
			if at+from > c.lo {
				c.lo, c.at[0] = at+from, x.s.pc
			}
			if at+to < c.hi {
				c.hi, c.at[1] = at+to, x.s.pc
			}
			if u.draws.each {
				one := &u.draws.list[d.draw]
				one.Lo, one.Hi = max(one.Lo, at+from), min(one.Hi, at+to)
			}
		}
		same |= 1 << l
	}
	return same
}

// alikeFrom returns by how much the difference of two values may grow so that a comparison of
// the first with the second has the same result; flip: it is one of the second with the first.
func alikeFrom(cmp string, diff int64, flip bool) (from, to int64, ok bool) {
	const far = math.MaxInt64 / 4
	if flip {
		cmp = map[string]string{"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "lo": "hi", "hi": "lo", "ls": "hs", "hs": "ls", "eq": "eq", "ne": "ne"}[cmp]
	}
	switch cmp {
	case "eq", "ne":
		switch {
		case diff < 0:
			return -far, -diff - 1, true
		case diff > 0:
			return -diff + 1, far, true
		}
		return 0, 0, true
	case "lt", "lo", "ge", "hs": // below 0, or not
		if diff < 0 {
			return -far, -diff - 1, true
		}
		return -diff, far, true
	case "le", "ls", "gt", "hi": // at most 0, or not
		if diff <= 0 {
			return -far, -diff, true
		}
		return -diff + 1, far, true
	}
	return 0, 0, false
}
