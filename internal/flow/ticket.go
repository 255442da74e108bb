package flow

import (
	"maps"
	"slices"

	"muster/ptx"
)

// Tickets. An atomic addition of a constant gives each lane that executes it a number of its own,
// a ticket; which lane gets which the schedule decides. If a function of the ticket alone says
// where a lane stores something, and whether, then all lanes together store at the same places in
// every schedule, each place belongs to one lane, and who gets which ticket decides no more than
// what is stored there.
//
// Lanes may draw tickets as a group: they ask activemask who is there, the lowest of them adds how
// many they are, and each counts from what the leader got by the lanes below it. Then each gets a
// number of its own, too, and all groups together get the numbers that the lanes would get one by
// one, however they fall into groups (ISA 9.7.13.11 does not say how).
//
// Which values are what is a forward data flow over the text. It knows the instructions of this
// idiom; a value that it does not follow is bad, and where a bad value, or one that is no ticket,
// decides something, the addition that it comes from draws no tickets in this sense.

// Tickets are what a program draws tickets by, and what it does with them.
type Tickets struct {
	// Adds are the additions, and what each lane adds to the counter.
	Adds map[int32]uint64
	// Masks are the activemasks of groups.
	Masks map[int32]bool
	// Stores are the stores at places that tickets say, and by which additions these are drawn.
	Stores map[int32][]int32
}

// Decided lists what gives values that decide no more than that.
func (t *Tickets) Decided() map[int32]bool {
	all := maps.Clone(t.Masks)
	for pc := range t.Adds {
		all[pc] = true
	}
	return all
}

// Tickets finds the tickets of a program, among values that decide something.
func (p *Program) Tickets() *Tickets {
	t := &Tickets{Adds: map[int32]uint64{}, Masks: map[int32]bool{}, Stores: map[int32][]int32{}}
	roots := map[int32]bool{}
	for _, d := range p.Dependences() {
		for _, pc := range d.Roots {
			roots[pc] = true
		}
	}
	for f := range p.Funcs {
		if g := p.Graph(int32(f)); g != nil && len(g.Nodes) <= maxTicketNodes {
			g.tickets(t, roots)
		}
	}
	return t
}

// maxTicketNodes bounds the functions in which tickets are followed.
const maxTicketNodes = 1 << 14

// A held says what a register holds.
type held struct {
	what heldKind
	from int32 // node: the addition, or the activemask of a group
	// def is the node that computed it: what comes from several is no function of one thing.
	def int32
}

type heldKind uint8

const (
	anything heldKind = iota // that the schedule does not decide
	constant                 // the same in every lane and at all times
	below                    // the mask of the lanes below the lane
	bad                      // not followed

	members    // what activemask gave
	lower      // the members below the lane
	rank       // how many these are
	count      // how many members there are
	reversed   // the bits of the members in reverse order
	leader     // the number of the lowest member
	leads      // whether the lane is that
	follows    // whether it is not
	leaderGets // what the leader's addition gave; in other lanes anything
	base       // the same, in all members
	ticket     // a function of the lane's ticket alone
)

// decided reports whether the schedule decides what a register holds.
func (h held) decided() bool { return h.what >= bad }

// is reports whether it holds something of a ticket or of a group.
func (h held) is(what heldKind, from int32) bool { return h.what == what && h.from == from }

// ofGroup reports whether it holds what belongs to a group until its next activemask.
func (h held) ofGroup() bool { return h.what > bad && h.what < ticket }

func meetHeld(a, b held) held {
	switch {
	case a == b:
		return a
	case a.what == leaderGets && (b.what == bad || !b.decided()):
		return a
	case b.what == leaderGets && (a.what == bad || !a.decided()):
		return b
	case a.decided():
		return held{what: bad, from: a.from}
	case b.decided():
		return held{what: bad, from: b.from}
	}
	return held{}
}

// A ticketFlow follows tickets through a function.
type ticketFlow struct {
	g    *Graph
	adds map[int32]bool // nodes that may draw tickets
	mask map[int32]bool // activemasks of groups
	at   []map[Reg]held
	// within are the nodes that only leaders execute, by their branch; some those that tickets
	// guard.
	within map[int32]int32
	some   map[int32]int32 // and whose tickets these are
	fails  map[int32]bool  // what draws no tickets, after all
	stores map[int32]int32
	tops   map[int32]int32 // what every lane must come to that has a ticket, and whose
	group  map[int32]int32 // additions of groups, and their activemask
	shows  map[int32]int32 // by activemask: its exchange
}

func (g *Graph) tickets(t *Tickets, roots map[int32]bool) {
	f := &ticketFlow{g: g, adds: map[int32]bool{}, mask: map[int32]bool{}}
	for i := range g.Nodes {
		u := &g.Nodes[i]
		if u.adds() {
			_, says, _ := Adds(u.In)
			f.adds[int32(i)] = says && roots[u.PC] || !says && len(u.Reads) == 1
		}
		f.mask[int32(i)] = roots[u.PC] && u.Does(ptx.ShowsLanes)
	}
	no := func(_ int32, is bool) bool { return !is }
	maps.DeleteFunc(f.adds, no)
	maps.DeleteFunc(f.mask, no)
	if g.any(func(u *Use) bool { return u.Does(ptx.Calls) }) {
		return
	}
	for len(f.adds)+len(f.mask) > 0 {
		f.follow()
		if len(f.fails) == 0 {
			f.give(t)
			return
		}
		for n := range f.fails {
			delete(f.adds, n)
			delete(f.mask, n)
		}
	}
}

// adds reports whether an instruction adds an integer to memory, in one step.
func (u *Use) adds() bool {
	t, _ := u.In.LastType()
	return u.Does(ptx.Updates) && u.In.Update() == ptx.UpdateAdd && u.In.Form.Async == "none" && (t == "u32" || t == "s32" || t == "u64")
}

func (g *Graph) any(holds func(u *Use) bool) bool {
	for i := range g.Nodes {
		if holds(&g.Nodes[i]) {
			return true
		}
	}
	return false
}

// give adds what was found to t.
func (f *ticketFlow) give(t *Tickets) {
	by := map[int32][]int32{} // additions, by what a ticket comes from
	for n := range f.adds {
		if f.at[n] == nil {
			continue // nothing leads there
		}
		from, k := n, uint64(1)
		if m, is := f.group[n]; is {
			from = m
		} else {
			k, _, _ = Adds(f.g.Nodes[n].In)
		}
		by[from] = append(by[from], f.g.Nodes[n].PC)
		t.Adds[f.g.Nodes[n].PC] = k
	}
	for n := range f.mask {
		t.Masks[f.g.Nodes[n].PC] = true
	}
	for n, from := range f.stores {
		list := by[from]
		slices.Sort(list)
		t.Stores[f.g.Nodes[n].PC] = list
	}
}

// follow runs the data flow, and checks what it found.
func (f *ticketFlow) follow() {
	f.at = make([]map[Reg]held, len(f.g.Next))
	f.within, f.some, f.fails = map[int32]int32{}, map[int32]int32{}, map[int32]bool{}
	f.stores, f.tops, f.group, f.shows = map[int32]int32{}, map[int32]int32{}, map[int32]int32{}, map[int32]int32{}
	f.at[0] = map[Reg]held{}
	todo := []int32{0}
	for len(todo) > 0 && len(f.fails) == 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if int(i) == len(f.g.Nodes) {
			continue
		}
		out := f.transfer(i, f.at[i])
		for _, n := range f.g.Next[i] {
			if f.join(n, out) {
				todo = append(todo, n)
			}
		}
	}
	if len(f.fails) == 0 {
		f.everyoneComes()
	}
}

// join adds what registers hold to what they may hold at a node, and reports whether that is new.
// A register that is in no map may hold anything.
func (f *ticketFlow) join(n int32, more map[Reg]held) (news bool) {
	old := f.at[n]
	if old == nil {
		f.at[n] = map[Reg]held{}
		for r, h := range more {
			if f.g.IsLive(n, r) {
				f.at[n][r] = h
			}
		}
		return true
	}
	for r, h := range old {
		if is := meetHeld(h, more[r]); is != h {
			set(old, r, is)
			news = true
		}
	}
	for r, h := range more {
		if _, had := old[r]; had || !f.g.IsLive(n, r) {
			continue
		}
		if is := meetHeld(h, held{}); is != (held{}) {
			old[r], news = is, true
		}
	}
	return news
}

func set(at map[Reg]held, r Reg, h held) {
	if h == (held{}) {
		delete(at, r)
		return
	}
	at[r] = h
}

// everyoneComes checks that who has drawn a ticket comes to all that is done with it, before it
// draws another and before it ends: then the tickets alone decide what is done. Of groups, that
// all members come to the exchange, and no exchange comes without the leader's addition.
func (f *ticketFlow) everyoneComes() {
	for n, from := range f.tops {
		if f.passes(from, n) {
			f.fails[from] = true
		}
	}
	adds := map[int32]int32{}
	for n, from := range f.group {
		if _, two := adds[from]; two {
			f.fails[from] = true
		}
		adds[from] = n
		// Each group makes its addition, once: else the sum would depend on who leads.
		if f.passes(from, f.gate(n)) || f.reaches(f.gate(n), f.gate(n), from) {
			f.fails[from] = true
		}
	}
	for from, to := range f.shows {
		add, is := adds[from]
		if !is {
			f.fails[from] = true
			continue
		}
		// All ways between the two lead through the addition, and nothing else writes what it gives.
		gets := f.g.Nodes[add].Writes
		if len(gets) != 1 || f.g.Nodes[to].Args[0] != gets[0] || f.passes(from, to) || f.reaches(from, to, f.gate(add)) || f.overwritten(gets[0], add, to, from) {
			f.fails[from] = true
		}
	}
}

// gate returns where a group's leader parts from the others to make an addition.
func (f *ticketFlow) gate(add int32) int32 {
	if branch, is := f.within[add]; is {
		return branch
	}
	return add
}

// overwritten reports whether something may write a register between two nodes, before a third.
func (f *ticketFlow) overwritten(r Reg, from, to, until int32) bool {
	for i := range f.g.Nodes {
		n := int32(i)
		if n != from && slices.Contains(f.g.Nodes[i].Writes, r) && n != to && f.reaches(from, n, until) && f.reaches(n, to, until) {
			return true
		}
	}
	return false
}

// passes reports whether some way from a node leads to the end of the function, or back, without
// a node that it should come to.
func (f *ticketFlow) passes(from, by int32) bool {
	return f.reaches(from, int32(len(f.g.Nodes)), by) || f.reaches(from, from, by)
}

// reaches reports whether some way leads from a node to another one, not through a third. A trap
// ends every way.
func (f *ticketFlow) reaches(from, to, but int32) bool {
	seen := map[int32]bool{}
	todo := slices.Clone(f.g.Next[from])
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch {
		case n == but || seen[n]:
			continue
		case n == to:
			return true
		}
		seen[n] = true
		if int(n) < len(f.g.Nodes) && f.g.Nodes[n].Does(ptx.Traps) {
			return true // a lane that may trap may not come
		}
		todo = append(todo, f.g.Next[n]...)
	}
	return false
}
