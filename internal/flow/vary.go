package flow

import (
	"slices"

	"muster/ptx"
)

// OrderVaries reports whether what lies in memory may decide what orders the accesses of a thread
// (ISA 8.8, 8.9.4): whether it executes a fence or a barrier, or by which of several kinds of
// access it reads or writes. A branch decides of what is executed on some of its ways alone.
func (p *Program) OrderVaries() bool {
	t := p.taint(FromBuffers, nil, nil)
	orders := p.kinds()
	return p.any(func(u *Use) bool { return u.In.IsOf(ptx.ClassBarrier) && t.regs.HasAny(u.Reads) }) || slices.ContainsFunc(p.Funcs, func(f Func) bool {
		g := newGraph(&f)
		if g == nil {
			return false
		}
		for i := range g.Nodes {
			u := &g.Nodes[i]
			if u.Guard == NoReg || !t.regs.Has(u.Guard) {
				continue
			}
			if orders(u) || u.Does(ptx.Branches) && slices.ContainsFunc(g.Region(int32(i), g.Meeting(int32(i))), func(n int32) bool { return orders(&g.Nodes[n]) }) {
				return true
			}
		}
		return false
	})
}

// kinds returns a function that reports whether it matters that an instruction is executed: it is
// a fence, a barrier or a call, or a strong access of another kind than some in the program.
func (p *Program) kinds() func(*Use) bool {
	var reads, writes []ptx.Sem
	add := func(list *[]ptx.Sem, s ptx.Sem) {
		if !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	for u := range p.Uses() {
		if s := u.In.Sem(); s.Strong() {
			if u.Does(ptx.Reads | ptx.Updates) {
				add(&reads, s)
			}
			if u.Does(ptx.Writes | ptx.Updates) {
				add(&writes, s)
			}
		}
	}
	return func(u *Use) bool {
		return u.In.IsOf(ptx.ClassFence) || u.In.IsOf(ptx.ClassBarrier) || u.Does(ptx.Calls) ||
			u.In.Sem().Strong() && (len(reads) > 1 && u.Does(ptx.Reads|ptx.Updates) || len(writes) > 1 && u.Does(ptx.Writes|ptx.Updates))
	}
}
