package machine

import (
	"math/bits"
	"slices"

	"muster/internal/flow"
	"muster/ptx"
)

// How a run tracks undefined values, and how they pass through collectives and calls
// (undefined.go says what they are).

// arrive processes an instruction that a split is about to execute, or to wait before.
func (u *Undefined) arrive(x *ctx, in *instr) {
	if len(u.pending) > 0 {
		u.join(x)
	}
	n := u.uses[x.s.pc]
	if n == nil {
		return
	}
	mask := x.active(in)
	if in.unset != nil {
		if in.unset.guard >= 0 {
			u.unwritten(x, in.unset.guard, x.s.mask)
		}
		for _, r := range in.unset.reads {
			u.unwritten(x, r, mask)
		}
	}
	if len(u.regs) == 0 && in.gives == nothingElse {
		return
	}
	pc := x.s.pc
	guard, guarded := uint32(0), uint64(0)
	if n.Guard != flow.NoReg {
		guard, guarded = u.lanes(x, x.s.mask, []flow.Reg{n.Guard})
	}
	op := n.In.Op
	if _, from := u.lanes(x, mask, n.Addr); from != 0 {
		if n.Does(ptx.Calls) {
			u.decides(from, "a branch", pc)
		} else {
			u.decides(u.addressing(from), "an address", pc)
		}
	}
	c, exchanges := in.x.(*collective)
	switch {
	case in.class == branch:
		u.branches(x, in, n, mask, guard, guarded)
	case in.class == visible:
		u.decides(guarded, "whether "+op+" is executed", pc)
		u.operands(x, n, mask)
		if !n.Accumulates() { // else multiplied clears what is not added to
			u.clear(x, rowsOf(n, n.Writes), mask)
		}
	case exchanges: // the rest when it is performed
		if c.members >= 0 {
			_, from := u.lanes(x, mask, []flow.Reg{flow.RegOf(0, flow.Word, int32(c.members))})
			u.decides(from, "a member mask", pc)
		}
		u.decides(guarded, "whether "+op+" is executed", pc)
	case in.class == collects: // a matrix, of the whole warp
		u.decides(guarded, "whether "+op+" is executed", pc)
		_, from := u.lanes(x, mask, n.Reads)
		if n.Accumulates() {
			_, more := u.lanes(x, mask, n.Writes)
			from |= more
		}
		if from != 0 && u.multiplies32(x, in, n) {
			return
		}
		u.clear(x, n.Writes, mask)
		u.all(x, n.Writes, mask, vague(from))
	case n.Does(ptx.Reads | ptx.Writes):
		u.decides(guarded, "whether "+op+" is executed", pc)
		u.clear(x, rowsOf(n, n.Writes), mask)
	default:
		if len(n.Writes) == 0 {
			u.decides(guarded, "whether "+op+" is executed", pc)
			if !n.Does(ptx.Hints) {
				_, from := u.lanes(x, mask, u.hint(x, n, mask))
				if n.Does(ptx.RestoresStack) {
					from = u.without(from, ptx.SavesStack)
				}
				u.decides(from, "an operand of "+op, pc)
			}
			return
		}
		alike, same := u.alike(x, n, guard)
		moves, settled := u.passes(x, n, mask), u.settles(x, n, mask)
		u.transfer(x, in, n, mask)
		if r, ok := in.unspecifiedElement(); ok {
			u.all(x, []flow.Reg{flow.RegOf(0, flow.Word, int32(r))}, mask, u.origin(UndefinedFrom{UndefinedResult, pc, 0}))
		}
		for l, d := range moves {
			u.draws.regs[drawnReg{u.key(x, n.Writes[0]), l}] = d
		}
		if settled != 0 {
			u.clear(x, n.Writes, settled)
		}
		if alike {
			guard &^= same
		}
		if guard != 0 {
			u.all(x, rowsOf(n, n.Writes), guard, guarded)
		}
	}
}

// alike returns the lanes in which a mov writes the value that the register holds.
func (u *Undefined) alike(x *ctx, n *flow.Use, lanes uint32) (ok bool, same uint32) {
	if lanes == 0 || !n.Does(ptx.Moves) || len(n.Writes) != 1 || len(n.Args) != 1 || n.Writes[0].Class() > flow.Wide || has(n.In, "b128") {
		return false, 0
	}
	row := uint32(n.Writes[0])
	for l := range lanesOf(lanes) {
		b := u.operand(x, n, 0, l)
		old := uint64(0)
		if n.Writes[0].Class() == flow.Wide {
			old = x.r64[row][l]
		} else {
			old = uint64(x.r32[row][l])
		}
		if b.known && b.bits == 0 && u.at(x, n.Writes[0], l).bits == 0 && (b.v^old)&maskOf(lastType(n.In)) == 0 {
			same |= 1 << l
		}
	}
	return true, same
}

// addressing leaves out origins of values whose purpose is to be part of addresses.
func (u *Undefined) addressing(from uint64) uint64 {
	for k := from &^ (throughVague | fromOthers); k != 0; k &= k - 1 {
		if n := bits.TrailingZeros64(k); u.from[n].Kind == UnknownResult && u.prog.code[u.from[n].PC].gives == unknownAddress {
			from &^= 1 << n
		}
	}
	if from == throughVague {
		return 0
	}
	return from
}

// operands takes the operands of a visible instruction that are no addresses.
func (u *Undefined) operands(x *ctx, n *flow.Use, mask uint32) {
	reads := u.hint(x, n, mask)
	switch {
	case n.In.Form.Barrier == "try": // it may be given a time, which is a hint
		if k := len(n.In.Operands); k == 4 && len(reads) > 0 {
			if _, register := n.In.Operands[3].(ptx.Name); register {
				reads = reads[:len(reads)-1]
			}
		}
	case n.Does(ptx.Reads | ptx.Writes):
		return // data, when it is performed
	case n.Does(ptx.Warpgroup):
		reads = reads[min(n.Fragments(), len(reads)):]
	}
	_, from := u.lanes(x, mask, reads)
	u.decides(from, "an operand of "+n.In.Op, x.s.pc)
}

// hint processes the cache policy of an instruction that has one, and returns the other
// registers that it reads.
func (u *Undefined) hint(x *ctx, n *flow.Use, mask uint32) []flow.Reg {
	k := len(n.Reads)
	if k == 0 || !has(n.In, "L2::cache_hint") {
		return n.Reads
	}
	_, from := u.lanes(x, mask, n.Reads[k-1:])
	u.decides(u.without(from, ptx.GivesPolicy), "a cache policy", x.s.pc)
	return n.Reads[:k-1]
}

// without leaves out the results of instructions with an effect, which make values for
// one purpose only.
func (u *Undefined) without(from uint64, by ptx.Effect) uint64 {
	for k := from &^ (throughVague | fromOthers); k != 0; k &= k - 1 {
		if n := bits.TrailingZeros64(k); u.from[n].Kind == UnknownResult && u.uses[u.from[n].PC].Does(by) {
			from &^= 1 << n
		}
	}
	if from == throughVague {
		return 0
	}
	return from
}

// branches takes a branch, a call or a return.
func (u *Undefined) branches(x *ctx, in *instr, n *flow.Use, mask, guard uint32, guarded uint64) {
	pc := x.s.pc
	switch {
	case n.Does(ptx.Calls):
		u.decides(guarded, "a branch", pc)
		if ci := in.x.(*callInfo); ci.fn >= 0 && u.prog.funcs[ci.fn].builtin != nil {
			_, from := u.lanes(x, mask, n.Reads)
			u.decides(from, "an output", pc)
			u.clear(x, n.Writes, mask)
		}
	case n.Does(ptx.Branches):
		if guard != 0 && !u.eitherWay(x, n, guard, guarded) {
			u.decides(guarded, "a branch", pc)
		}
	default:
		_, from := u.lanes(x, mask, n.Reads)
		u.decides(guarded|from, "a branch", pc)
	}
}

// eitherWay reports whether both sides of a branch do nothing but write registers, and
// meet: then those registers are undefined from there on.
func (u *Undefined) eitherWay(x *ctx, n *flow.Use, lanes uint32, from uint64) bool {
	fn := u.prog.code[n.PC].fn
	g := u.graphs[fn]
	if g == nil {
		g = u.prog.flow.Graph(fn)
		u.graphs[fn] = g
	}
	at := g.At(n.PC)
	join := g.Meeting(at)
	if join <= at || int(join) >= len(g.Nodes) {
		return false
	}
	var regs []flow.Reg
	for _, k := range g.Region(at, join) {
		b := &g.Nodes[k]
		branches := u.prog.code[b.PC].class == branch
		if branches && !b.Does(ptx.Branches) || !b.Plain && !branches || b.Does(ptx.Writes) || b.Plain && len(b.Writes) == 0 ||
			slices.ContainsFunc(g.Next[k], func(to int32) bool { return to <= k }) {
			return false
		}
		for _, r := range rowsOf(b, b.Writes) {
			if !slices.Contains(regs, r) && g.IsLive(join, r) {
				regs = append(regs, r)
			}
		}
	}
	if len(regs) > 0 {
		u.pending = append(u.pending, pendingBranch{x.w.cta, x.w.index, len(x.s.frames), g.Nodes[join].PC, lanes, regs, from})
	}
	return true
}

// join processes a split that may stand where the sides of a branch join.
func (u *Undefined) join(x *ctx) {
	for i := 0; i < len(u.pending); i++ {
		p := &u.pending[i]
		if p.join != x.s.pc || p.cta != x.w.cta || p.warp != x.w.index || p.depth != len(x.s.frames) {
			continue
		}
		u.all(x, p.regs, p.lanes&x.s.mask, p.from)
		if p.lanes &^= x.s.mask; p.lanes == 0 {
			u.pending = slices.Delete(u.pending, i, i+1)
			i--
		}
	}
}

// --- collectives ---

// putOperands records the shades of one split's operands of a collective.
func (u *Undefined) putOperands(x *ctx, b *exchange) {
	n := u.uses[x.s.pc]
	if len(n.Args) == 0 || len(u.regs) == 0 || n.Args[0] == flow.NoReg {
		return
	}
	for l := range lanesOf(x.s.mask) {
		if s := u.at(x, n.Args[0], l); s.bits != 0 {
			b.shades[l] = s
			b.shaded |= 1 << l
			if d, ok := u.operandMoves(x, n, 0, l); ok {
				if b.drawn == nil {
					b.drawn = map[int]drawn{}
				}
				b.drawn[l] = d
			}
		}
	}
}

// getResults sets the shades of one split's results of a collective.
func (u *Undefined) getResults(x *ctx, in *instr, b *exchange) {
	n := u.uses[x.s.pc]
	if n.In.Op == "shfl" {
		u.getShuffle(x, in, n, b)
		return
	}
	u.clear(x, n.Writes, x.s.mask)
	if b.shaded == 0 || n.Does(ptx.Elects) {
		return
	}
	from := uint64(0)
	for l := range lanesOf(b.shaded) {
		from |= b.shades[l].from
	}
	all := ^uint64(0)
	if n.In.Op == "vote" {
		sure := b.mask &^ b.shaded
		switch ones, zeros := b.p&sure, sure&^b.p; {
		case has(n.In, "ballot"):
			all = uint64(b.shaded)
		case has(n.In, "any") && ones != 0, has(n.In, "all") && zeros != 0, has(n.In, "uni") && ones != 0 && zeros != 0:
			return
		}
	}
	for _, id := range n.Writes {
		k := u.key(x, id)
		for l := range lanesOf(x.s.mask) {
			u.put(k, l, shade{all, from})
		}
	}
}

func (u *Undefined) getShuffle(x *ctx, in *instr, n *flow.Use, b *exchange) {
	d := u.key(x, flow.Reg(uint32(in.d)))
	u.clear(x, n.Writes, x.s.mask)
	for l := range lanesOf(x.s.mask) {
		s := b.shades[b.sources[l]&31]
		if b.sources[l] < 0 {
			s = shade{^uint64(0), u.origin(UndefinedFrom{UndefinedShuffle, x.s.pc, 0})}
		}
		lost := uint64(0)
		for _, r := range []reg{in.b, in.c} {
			if r >= 0 {
				if c := u.at(x, flow.RegOf(0, flow.Word, int32(r)), l); c.bits != 0 {
					lost |= c.from
				}
			}
		}
		if lost != 0 {
			s = shade{^uint64(0), s.from | lost}
			if mode := shflMode(in.op); in.target >= 0 && !(in.c < 0 && x.a32(in.c)[l]&0x1f1f == 0x1f && (mode == shflIdx || mode == shflBfly)) {
				u.put(u.key(x, flow.RegOf(0, flow.Predicate, in.target)), l, shade{1, lost})
			}
		}
		u.put(d, l, s)
		if v, ok := b.drawn[int(b.sources[l])]; ok && lost == 0 {
			u.draws.regs[drawnReg{d, l}] = v
		}
	}
}

// --- calls ---

// passed copies the shade of a value that was copied from a place in one frame to a place
// in another.
func (u *Undefined) passed(x *ctx, from place, s *split, to place, n *split, l int) {
	var b [16]shade
	size := min(from.bytes(), to.bytes())
	if from.inReg {
		if from.reg < 0 {
			size = 0
		}
		k := u.placed(x, from, s)
		for i := range size {
			if row := u.regs[k.plus(i/8)]; row != nil {
				b[i&15] = shade{row[l].bits >> (i % 8 * 8) & 0xff, row[l].from}
			}
		}
	}
	local := func(p place, f *split) uint64 { return uint64(l)*x.w.lsize + uint64(f.lbase+p.off) }
	if to.inReg {
		k := u.placed(x, to, n)
		missing := u.missing(Local, x.s.pc)
		var v [2]shade
		for i := range min(size, 16) {
			if !from.inReg {
				b[i] = x.w.local.shaded(local(from, s)+uint64(i), missing)
			}
			v[i/8].bits |= b[i].bits << (i % 8 * 8)
			v[i/8].from |= b[i].from
		}
		u.put(k, l, v[0])
		if to.typ == b128 {
			u.put(k.plus(1), l, v[1])
		}
		return
	}
	for i := range size {
		at := local(to, n) + uint64(i)
		if !x.w.local.initialized(at, 1) {
			continue // not written there either
		}
		v := b[i&15]
		if !from.inReg {
			v = x.w.local.shaded(local(from, s)+uint64(i), func() uint64 { return 0 })
		}
		u.setShade(&x.w.local, at, v, x.s.pc, x.m.owner)
	}
}

func (p place) bytes() int {
	if !p.inReg {
		return int(p.size)
	}
	if p.typ == pred {
		return 1
	}
	return max(int(p.typ.size()), 1)
}

func (u *Undefined) placed(x *ctx, p place, s *split) undefinedReg {
	k := undefinedReg{cta: x.w.cta, warp: x.w.index, row: int32(p.reg)}
	switch {
	case p.typ == pred:
		k.class, k.row = flow.Predicate, k.row+s.basep
	case p.typ.wide() || p.typ == b128:
		k.class, k.row = flow.Wide, k.row+s.base64
	default:
		k.row += s.base32
	}
	return k
}

func (k undefinedReg) plus(n int) undefinedReg {
	k.row += int32(n)
	return k
}
