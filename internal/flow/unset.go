package flow

import (
	"slices"

	"muster/ptx"
)

// Unset lists the registers that may be read before they are written: those that are
// live at the first node. They are few, if any; liveness is computed only for those
// that maybeUnset leaves.
func (f *Func) Unset() []Reg {
	if len(f.Uses) == 0 {
		return nil
	}
	g := &Graph{f: f, Nodes: f.Uses}
	g.link()
	open := g.maybeUnset()
	carry, calls := RegOf(f.Index, Carry, 0), g.callsOver()
	if len(calls) > 0 && !slices.Contains(open, carry) {
		open = append(open, carry)
	}
	if len(open) == 0 {
		return nil
	}
	number := map[Reg]int{}
	for i, r := range open {
		number[r] = i
	}
	// Each node's uses and kills of these registers, and their liveness.
	type effect struct{ uses, kills []int }
	effects := make([]effect, len(g.Nodes))
	for i := range g.Nodes {
		u, e := &g.Nodes[i], &effects[i]
		u.each(func(r Reg, writes bool) {
			n, ok := number[r]
			switch {
			case !ok:
			case !writes:
				e.uses = append(e.uses, n)
			case u.Guard == NoReg:
				e.kills = append(e.kills, n)
			}
		})
	}
	words := (len(open) + 63) / 64
	rows := make([]uint64, (len(g.Next)+1)*words)
	at := func(n int32) []uint64 { return rows[int(n)*words:][:words] }
	for _, r := range f.Results {
		if n, ok := number[r]; ok {
			setBit(at(int32(len(g.Nodes))), n)
		}
	}
	tmp := rows[len(g.Next)*words:]
	for again := true; again; {
		again = false
		for i := len(g.Nodes) - 1; i >= 0; i-- {
			clear(tmp)
			for _, n := range g.Next[i] {
				for k, v := range at(n) {
					tmp[k] |= v
				}
			}
			for _, n := range effects[i].kills {
				tmp[n/64] &^= 1 << (n % 64)
			}
			for _, n := range effects[i].uses {
				setBit(tmp, n)
			}
			if row := at(int32(i)); !slices.Equal(tmp, row) {
				copy(row, tmp)
				again = true
			}
		}
	}
	var all []Reg
	for i, r := range open {
		lost := r == carry && slices.ContainsFunc(calls, func(n int32) bool {
			return slices.ContainsFunc(g.Next[n], func(to int32) bool { return inSet(at(to), i) })
		})
		if inSet(at(0), i) || lost {
			all = append(all, r)
		}
	}
	return all
}

// callsOver lists the calls of a function that reads the carry flag, which no call
// preserves (ISA 9.7.2).
func (g *Graph) callsOver() (calls []int32) {
	reads := false
	for i := range g.Nodes {
		switch u := &g.Nodes[i]; {
		case u.Does(ptx.Calls):
			calls = append(calls, int32(i))
		case u.Does(ptx.ReadsCarry):
			reads = true
		}
	}
	if !reads {
		return nil
	}
	return calls
}

// A mention is the range of the text that names a register.
type mention struct {
	first, last int32
	begins      bool // the first is a write without a guard
}

// maybeUnset lists the registers without a simple proof that they are written first:
// the first mention is a write, and no jump from outside enters the range from it to
// the last mention.
func (g *Graph) maybeUnset() []Reg {
	var banks [classes][]mention
	var order []Reg
	for i := range g.Nodes {
		u := &g.Nodes[i]
		u.each(func(r Reg, writes bool) {
			bank, row := &banks[r.Class()], int(r.Row())
			if row >= len(*bank) {
				*bank = append(*bank, make([]mention, row+1-len(*bank))...)
			}
			m := &(*bank)[row]
			if m.first == 0 {
				m.first, m.begins = int32(i)+1, writes && u.Guard == NoReg
				order = append(order, r)
			}
			m.last = int32(i) + 1
		})
	}
	for _, r := range g.f.Results {
		if bank := banks[r.Class()]; int(r.Row()) >= len(bank) || bank[r.Row()].first == 0 {
			order = append(order, r)
			banks[r.Class()] = append(bank, make([]mention, max(0, int(r.Row())+1-len(bank)))...)
		}
		banks[r.Class()][r.Row()].last = int32(len(g.Nodes)) + 1
	}
	targets := g.targets()
	open := order[:0]
	for _, r := range order {
		m := banks[r.Class()][r.Row()]
		if !m.begins || entered(targets, m.first-1, m.last-1) {
			open = append(open, r)
		}
	}
	return open
}

// A target is a node that jumps lead to, with the first and last node that they come
// from.
type target struct{ node, low, high int32 }

// targets lists the targets of jumps, by node.
func (g *Graph) targets() []target {
	var list []target
	for i := range g.Nodes {
		for _, n := range g.Next[i] {
			if n != int32(i)+1 {
				list = append(list, target{n, int32(i), int32(i)})
			}
		}
	}
	slices.SortFunc(list, func(a, b target) int { return int(a.node - b.node) })
	joined := list[:0]
	for _, t := range list {
		if n := len(joined) - 1; n >= 0 && joined[n].node == t.node {
			joined[n].low, joined[n].high = min(joined[n].low, t.low), max(joined[n].high, t.high)
			continue
		}
		joined = append(joined, t)
	}
	return joined
}

// entered reports whether a jump from outside of first to last leads past first to
// between them.
func entered(targets []target, first, last int32) bool {
	k, _ := slices.BinarySearchFunc(targets, first+1, func(t target, n int32) int { return int(t.node - n) })
	for ; k < len(targets) && targets[k].node <= last; k++ {
		if targets[k].low < first || targets[k].high > last {
			return true
		}
	}
	return false
}
