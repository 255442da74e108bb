package flow

import (
	"maps"
	"slices"

	"muster/ptx"
)

// This file has the transfer function of the data flow of ticket.go.

// transfer returns what registers hold after a node.
func (f *ticketFlow) transfer(i int32, in map[Reg]held) map[Reg]held {
	u := &f.g.Nodes[i]
	guard := in[u.Guard]
	if u.Guard == NoReg {
		guard.what = constant
	}
	if from, within := f.some[i]; within && u.Does(ptx.Branches) && guard.what != constant && !guard.is(ticket, from) {
		f.fail(from) // not the ticket alone says what is done
	}
	out := maps.Clone(in)
	put := func(h held) {
		for _, w := range u.Writes {
			is := h
			if is.def = i; is.what == anything || is.what == bad || is.what == leaderGets {
				is.def = 0
			}
			if u.Guard != NoReg {
				if is = meetHeld(h, in[w]); guard.decided() && is.what != leaderGets {
					is = held{what: bad, from: guard.from}
				}
			}
			set(out, w, is)
		}
	}
	switch {
	case f.mask[i]:
		f.ends(out, i)
		if u.Guard != NoReg || f.inside(i) {
			f.fail(i)
		}
		put(held{what: members, from: i})
	case f.adds[i]:
		f.draw(i, u, in, out, guard, put)
	case !f.touches(u, in) && !(f.inside(i) && u.Does(ptx.Writes)):
		put(f.plainly(u, in))
	case u.Does(ptx.Branches) && !f.any(u.Reads, in) && !f.any(u.Addr, in):
		f.branch(i, u, guard)
	case u.Does(ptx.Writes) && !u.Does(ptx.Updates):
		f.store(i, u, in, guard)
	case u.Does(ptx.Exchanges):
		put(f.exchange(i, u, in))
	case u.Plain && !u.Does(ptx.Reads|ptx.Writes) && !u.Accumulates() && !u.Clock:
		put(f.compute(u, in))
	default:
		f.failAll(u, in)
		put(held{what: bad})
	}
	return out
}

func (f *ticketFlow) fail(from int32) { f.fails[from] = true }

// inside reports whether only leaders, or only holders of some tickets, execute a node.
func (f *ticketFlow) inside(i int32) bool {
	_, is := f.within[i]
	_, too := f.some[i]
	return is || too
}

// operands lists all registers that a node reads.
func operands(u *Use) []Reg {
	list := slices.Concat(u.Reads, u.Addr)
	if u.Guard != NoReg {
		list = append(list, u.Guard)
	}
	if u.Accumulates() {
		list = append(list, u.Writes...)
	}
	return list
}

func (f *ticketFlow) any(regs []Reg, in map[Reg]held) bool {
	return slices.ContainsFunc(regs, func(r Reg) bool { return in[r].decided() })
}

// touches reports whether a node reads what the schedule decides.
func (f *ticketFlow) touches(u *Use, in map[Reg]held) bool { return f.any(operands(u), in) }

// failAll gives up all that a node reads of.
func (f *ticketFlow) failAll(u *Use, in map[Reg]held) {
	for _, r := range operands(u) {
		if h := in[r]; h.decided() {
			f.fail(h.from)
		}
	}
}

// ends marks what a draw or an activemask makes stale: a lane that goes on with it would mix two
// tickets, or two groups.
func (f *ticketFlow) ends(out map[Reg]held, from int32) {
	for r, h := range out {
		if h.ofGroup() && f.mask[from] || h.what == ticket && h.from == from {
			out[r] = held{what: bad, from: h.from}
		}
	}
}

// draw follows an addition: a lane's own, or that of a group's leader.
func (f *ticketFlow) draw(i int32, u *Use, in, out map[Reg]held, guard held, put func(held)) {
	n, says, _ := Adds(u.In)
	switch {
	case f.any(u.Addr, in):
		f.failAll(u, in)
		f.fail(i)
	case says && n > 0 && n <= maxTicket && u.Guard == NoReg && !f.inside(i):
		f.ends(out, i)
		put(held{what: ticket, from: i})
		return
	case !says && in[u.Reads[0]].what == count:
		from := in[u.Reads[0]].from
		_, within := f.within[i]
		if alone := u.Guard != NoReg && (guard.is(leads, from) && !u.In.Guard.Not || guard.is(follows, from) && u.In.Guard.Not); within == alone {
			f.fail(from)
			f.fail(i)
		}
		f.group[i] = from
		put(held{what: leaderGets, from: from})
		return
	}
	f.failAll(u, in)
	f.fail(i) // it is no such addition
}

// maxTicket bounds what a ticket adds to its counter.
const maxTicket = 1 << 20

// branch follows a branch by what the schedule decides: leaders go by themselves to their
// addition, or holders of some tickets to what they store.
func (f *ticketFlow) branch(i int32, u *Use, guard held) {
	join := f.g.Meeting(i)
	if join < 0 || guard.what != leads && guard.what != follows && guard.what != ticket {
		f.fail(guard.from)
		return
	}
	region := f.g.Region(i, join)
	for _, n := range region {
		v := &f.g.Nodes[n]
		for _, b := range f.g.preceding()[n] {
			if b != i && !slices.Contains(region, b) {
				f.fail(guard.from)
			}
		}
		for _, w := range v.Writes {
			if !f.adds[n] && f.g.IsLive(join, w) {
				f.fail(guard.from) // who came here would show
			}
		}
	}
	if guard.what == ticket {
		if _, within := f.some[i]; !within {
			f.tops[i] = guard.from
		}
		for _, n := range region {
			f.some[n] = guard.from
			if v := &f.g.Nodes[n]; !v.Plain && !v.Does(ptx.Branches) && !v.Does(ptx.Writes) || v.Does(ptx.Updates|ptx.Traps|ptx.Exits) || f.mask[n] {
				f.fail(guard.from)
			}
		}
		return
	}
	// The leader's side is a straight way with the addition, and the other one empty.
	leaders := f.g.At(u.Target)
	others := i + 1
	if (guard.what == leads) == u.In.Guard.Not {
		leaders, others = others, leaders
	}
	added := 0
	for _, n := range region {
		f.within[n] = i
		v := &f.g.Nodes[n]
		switch {
		case len(f.g.Next[n]) != 1 || v.Guard != NoReg:
			f.fail(guard.from)
		case f.adds[n]:
			added++
		case !v.Plain && !v.Does(ptx.Branches):
			f.fail(guard.from)
		}
	}
	if others != join || added != 1 || leaders == join {
		f.fail(guard.from)
	}
}

// store follows a store of, or at, what the schedule decides: it must be an ordinary one at a
// place that a ticket says. What it stores nobody may read (package prove sees to that).
func (f *ticketFlow) store(i int32, u *Use, in map[Reg]held, guard held) {
	from := int32(-1)
	if of, within := f.some[i]; within {
		from = of // whatever the place: who comes here has a certain ticket
	}
	ok := !u.Plain && u.In.Sem() == ptx.Weak && u.In.Form.Async == "none" && (u.Guard == NoReg || guard.what == ticket)
	if _, within := f.within[i]; within {
		ok = false
	}
	for _, r := range u.Addr {
		switch h := in[r]; {
		case h.what == ticket && (from < 0 || from == h.from):
			from = h.from
		case h.what != constant:
			ok = false
		}
	}
	if u.Guard != NoReg && guard.from != from {
		ok = false
	}
	if !ok || from < 0 {
		if f.failAll(u, in); from >= 0 {
			f.fail(from)
		}
		return
	}
	f.stores[i] = from
	if _, within := f.some[i]; !within {
		f.tops[i] = from
	}
}

// exchange follows the exchange by which a group's members learn what the leader got.
func (f *ticketFlow) exchange(i int32, u *Use, in map[Reg]held) held {
	if len(u.Args) == 4 && u.Guard == NoReg && !f.inside(i) && broadcasts(u.In) {
		from := in[u.Args[3]].from
		if in[u.Args[3]].is(members, from) && in[u.Args[1]].is(leader, from) && in[u.Args[0]].is(leaderGets, from) {
			if other, is := f.shows[from]; is && other != i {
				f.fail(from)
			}
			f.shows[from] = i
			return held{what: base, from: from}
		}
	}
	f.failAll(u, in)
	return held{what: bad}
}

// plainly returns what a node gives that reads nothing that the schedule decides.
func (f *ticketFlow) plainly(u *Use, in map[Reg]held) held {
	if !u.Plain || u.Clock || u.Does(ptx.ShowsLanes) || u.Accumulates() || len(u.Writes) != 1 || u.Does(ptx.Reads) && !u.Launched {
		return held{}
	}
	if u.Special {
		if u.Does(ptx.Moves) && lanesBelow(u.In.Operands[1]) {
			return held{what: below}
		}
		return held{}
	}
	for _, r := range slices.Concat(u.Reads, u.Addr) {
		if in[r].what != constant {
			if u.Does(ptx.Moves) && in[r].what == below {
				return held{what: below}
			}
			return held{}
		}
	}
	return held{what: constant}
}

// compute returns what an instruction on registers gives that reads what the schedule decides.
func (f *ticketFlow) compute(u *Use, in map[Reg]held) held {
	from := int32(-1)
	var list []heldKind
	alone := true // nothing but one ticket, and constants
	for _, r := range u.Reads {
		h := in[r]
		if h.decided() {
			if from >= 0 && from != h.from {
				return held{what: bad, from: h.from}
			}
			from = h.from
		}
		list = append(list, h.what)
		alone = alone && (h.what == ticket || h.what == constant)
	}
	if from < 0 {
		return held{what: bad}
	}
	slices.Sort(list)
	is := func(kinds ...heldKind) bool { return slices.Equal(list, kinds) }
	switch {
	case u.Special:
		if is(members) && u.Does(ptx.Ands) && slices.ContainsFunc(u.In.Operands, lanesBelow) {
			return held{what: lower, from: from}
		}
	case alone:
		return held{what: ticket, from: from}
	case len(list) == 1 && u.Does(ptx.Moves) && list[0] != leaderGets:
		return held{what: list[0], from: from}
	case is(below, members) && u.Does(ptx.Ands):
		return held{what: lower, from: from}
	case is(members) && countsOnes(u.In):
		return held{what: count, from: from}
	case is(lower) && countsOnes(u.In):
		return held{what: rank, from: from}
	case is(members) && reversesBits(u.In):
		return held{what: reversed, from: from}
	case is(reversed) && leadingZeros(u.In):
		return held{what: leader, from: from}
	case is(rank, base) && u.Does(ptx.Adds):
		return held{what: ticket, from: from}
	case (is(rank) || is(lower)) && u.Does(ptx.Compares) && u.Compares && isZero(u.In.Operands[len(u.In.Operands)-1]) && len(u.In.Operands) == 3:
		switch u.In.Mods[0] {
		case "eq":
			return held{what: leads, from: from}
		case "ne":
			return held{what: follows, from: from}
		}
	}
	return held{what: bad, from: from}
}
