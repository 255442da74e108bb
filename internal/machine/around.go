package machine

import "muster/ptx"

// What the text says of an instruction that a thread did not come to.

// GroupWaitAt says which operations the wait for async-groups at pc waits for: all but the
// latest n groups of g, or all operations, and with read only for their sources to be read.
// ok is false if pc is no such wait.
func (p *Program) GroupWaitAt(pc int32) (g Group, n int, all, read, ok bool) {
	gi, ok := p.code[pc].x.(*groupInfo)
	if !ok || p.code[pc].ready == nil {
		return NoGroup, 0, false, false, false
	}
	return gi.group, int(gi.n), gi.all, gi.read, true
}

// Deciders lists the conditional branches that decide whether a way from the instructions in
// from to pc to goes through pc by: one side of each comes to it without, and the other does
// so no more.
func (p *Program) Deciders(from, by, to int32) []int32 {
	at := p.Inst(by)
	without := func(pc int32) []bool {
		return p.ReachWithout(func(in *ptx.Inst) bool { return in == at }, pc)
	}
	var list, next []int32
	toBy := without(from + 1)
	for pc := range int32(len(p.code)) {
		if in := &p.code[pc]; pc == by || in.class != branch || in.guard == noGuard || !toBy[pc] || !p.Reach(pc)[by] {
			continue
		}
		around, through := false, false
		for _, n := range p.next(pc, next[:0]) {
			switch way := without(n); {
			case n != by && way[to]:
				around = true
			case n == by || way[by]:
				through = true
			}
		}
		if around && through {
			list = append(list, pc)
		}
	}
	return list
}
