package machine

import (
	"slices"

	"muster/ptx"
)

// Async-groups: closing them, and waiting for all but the most recent.

// --- groups ---

type groupInfo struct {
	group Group
	n     uint32
	read  bool
	all   bool
}

func (d *decoder) groupCommit(g Group) error {
	d.emit(instr{class: visible, visit: visitCommit, x: &groupInfo{group: g}})
	return nil
}

// maxGroups is how many groups a wait may leave pending.
const maxGroups = 512

func visitCommit(x *ctx, in *instr, mask uint32) verdict {
	g := in.x.(*groupInfo).group
	cp := x.w.counting()
	for l := range lanesOf(mask) {
		c := &cp[l]
		if len(c.commits[g]) == 2*maxGroups {
			// No wait names a group so far back, and later ones cover it.
			c.commits[g] = append([]uint32(nil), c.commits[g][maxGroups:]...)
		}
		c.commits[g] = append(c.commits[g], c.issued[g])
	}
	x.m.emit(Event{Kind: EvCommit, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc, Group: g})
	return performed
}

func (d *decoder) groupWait(in *ptx.Inst, g Group, read bool) error {
	if len(in.Operands) != 1 {
		return d.errorf("%s takes a number of groups", Name(in))
	}
	n, ok := in.Operands[0].(ptx.Int)
	if !ok || n.Bits > 1<<31 {
		return d.errorf("%s takes a constant number of groups", Name(in))
	}
	if n.Bits >= maxGroups {
		return errNotModelled
	}
	d.emit(instr{class: visible, visit: visitGroupWait, ready: readyGroupWait, x: &groupInfo{group: g, n: uint32(n.Bits), read: read}})
	return nil
}

// target returns the highest operation number that lane l waits for: the last
// of all groups but the n most recent. wait_all waits for every operation.
func (gi *groupInfo) target(w *warp, l int) uint32 {
	c := w.counts(l)
	if gi.all {
		return c.issued[gi.group]
	}
	k := len(c.commits[gi.group]) - int(gi.n)
	if k <= 0 {
		return c.settled[gi.group]
	}
	return c.commits[gi.group][k-1]
}

func readyGroupWait(x *ctx, in *instr, mask uint32) bool {
	if x.left() {
		return true
	}
	gi := in.x.(*groupInfo)
	for l := range lanesOf(mask) {
		c := x.w.counts(l)
		list := c.open[gi.group]
		if gi.read {
			list = c.unread[gi.group]
		}
		if len(list) > 0 && list[0] <= gi.target(x.w, l) {
			return false
		}
	}
	return true
}

// finish removes an operation's number from a list of unfinished ones.
func finish(list *[]uint32, seq uint32) {
	if i, ok := slices.BinarySearch(*list, seq); ok {
		*list = slices.Delete(*list, i, i+1)
	}
}

func visitGroupWait(x *ctx, in *instr, mask uint32) verdict {
	if x.left() {
		x.quiet = true
		return performed
	}
	gi := in.x.(*groupInfo)
	m := x.m
	for l := range lanesOf(mask) {
		t := gi.target(x.w, l)
		m.done[l] = t
		if c := x.w.counts(l); c != &countsNothing && !gi.read && gi.group != NoGroup {
			// Groups known complete need no entry of their own.
			i := 0
			for i < len(c.commits[gi.group]) && c.commits[gi.group][i] <= t {
				i++
			}
			keep := len(c.commits[gi.group]) - i
			if keep < int(gi.n) {
				i = max(0, len(c.commits[gi.group])-int(gi.n))
			}
			c.commits[gi.group] = slices.Delete(c.commits[gi.group], 0, i)
			c.settled[gi.group] = max(c.settled[gi.group], t)
		}
	}
	m.emit(Event{Kind: EvGroupWait, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc, Group: gi.group, Read: gi.read, Done: &m.done})
	return performed
}
