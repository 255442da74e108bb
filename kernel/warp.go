package kernel

import "fmt"

// This file is warp collectives (ISA 9.7.9.7, 9.7.13.8 to 9.7.13.14). The lanes of the
// mask execute the operation together, and wait for each other there; that orders no
// memory, except for WarpSync. The mask is that of the current group if it is within a
// warp, and else all 32 lanes; Members overrides it.

// A WarpOption is an option of a warp collective: Members, Width.
type WarpOption struct{ set func(*lanes) }

// lanes holds the options of a warp collective.
type lanes struct {
	mask  Num
	width int
}

// Members sets the mask of participating lanes, 32 bits: a number or a register that has
// the same value in all of them. Each lane that executes the operation must be in it.
func Members(mask Num) WarpOption { return WarpOption{func(l *lanes) { l.mask = mask }} }

// Width makes a shuffle or a reduction work in segments of that many lanes: a power of
// two up to 32.
func Width(lanesPerSegment int) WarpOption {
	return WarpOption{func(l *lanes) { l.width = lanesPerSegment }}
}

func (k *Kernel) lanes(what string, widths bool, opts []WarpOption) (lanes, bool) {
	l := lanes{mask: k.groupMask()}
	for _, o := range opts {
		if o.set != nil {
			o.set(&l)
		}
	}
	if n, ok := toInt(l.mask); ok && (n <= 0 || n > 0xffffffff) {
		k.fail("%s: Members(%#x): a mask names some of 32 lanes", what, n)
		return l, false
	}
	switch w := l.width; {
	case w == 0:
		l.width = 32
	case !widths:
		k.fail("%s takes no Width", what)
		return l, false
	case w < 0 || w > 32 || w&(w-1) != 0:
		k.fail("%s: Width(%d): a segment has 1, 2, 4, 8, 16 or 32 lanes", what, w)
		return l, false
	}
	return l, true
}

// groupMask returns the mask of the current group's lanes.
func (k *Kernel) groupMask() Num {
	if g := k.Group(); g.Threads > 0 && g.Threads < 32 && g.First/32 == (g.First+g.Threads-1)/32 {
		return g.mask()
	}
	return uint32(0xffffffff)
}

// WarpSync makes lanes of the warp wait for each other and orders memory among them
// (bar.warp.sync, ISA 9.7.13.2).
func (k *Kernel) WarpSync(opts ...WarpOption) {
	if l, ok := k.lanes("WarpSync", false, opts); ok {
		k.Inst("bar.warp.sync", l.mask)
	}
}

// VoteAll returns whether p is true in all lanes, VoteAny in any, and VoteUni whether it
// is the same in all (vote.sync, ISA 9.7.13.9).
func (k *Kernel) VoteAll(p Pred, opts ...WarpOption) Pred { return k.vote("VoteAll", "all", p, opts) }
func (k *Kernel) VoteAny(p Pred, opts ...WarpOption) Pred { return k.vote("VoteAny", "any", p, opts) }
func (k *Kernel) VoteUni(p Pred, opts ...WarpOption) Pred { return k.vote("VoteUni", "uni", p, opts) }

func (k *Kernel) vote(what, mode string, p Pred, opts []WarpOption) Pred {
	l, ok := k.lanes(what, false, opts)
	if !ok {
		return k.lostPred()
	}
	d := k.pred()
	k.Inst("vote.sync."+mode+".pred", d, p, l.mask)
	return d
}

// VoteBallot returns the mask of lanes in which p is true (vote.sync.ballot).
func (k *Kernel) VoteBallot(p Pred, opts ...WarpOption) Reg {
	l, ok := k.lanes("VoteBallot", false, opts)
	if !ok {
		return k.lost(U32)
	}
	d := k.reg(U32)
	k.Inst("vote.sync.ballot.b32", d, p, l.mask)
	return d
}

// MatchAny returns the mask of lanes whose r has the same bits as this lane's; r has 32
// or 64 bits (match.any.sync, ISA 9.7.13.10).
func (k *Kernel) MatchAny(r Reg, opts ...WarpOption) Reg {
	d := k.reg(U32)
	if !k.match("MatchAny", "any", d, r, opts) {
		return k.lost(U32)
	}
	return d
}

// MatchAll returns whether r has the same bits in all lanes, and their mask if so, else 0
// (match.all.sync).
func (k *Kernel) MatchAll(r Reg, opts ...WarpOption) (Reg, Pred) {
	d, p := k.reg(U32), k.pred()
	if !k.match("MatchAll", "all", Pair{Reg: d, Pred: p}, r, opts) {
		return k.lost(U32), k.lostPred()
	}
	return d, p
}

func (k *Kernel) match(what, mode string, d any, r Reg, opts []WarpOption) bool {
	r.kernel()
	l, ok := k.lanes(what, false, opts)
	if !ok {
		return false
	}
	if n := r.t.Size(); n != 4 && n != 8 {
		k.fail("%s of a register of type %s: it compares 32 or 64 bits", what, r.t)
		return false
	}
	k.Inst("match."+mode+".sync."+r.bits(), d, r.As(untyped(r.t)), l.mask)
	return true
}

// ShflUp returns r of the lane delta below, ShflDown of the lane delta above, ShflBfly of
// the lane whose number is this lane's xor mask, and ShflIdx of the lane with that
// number, in segments of Width lanes; a lane whose partner is outside of its segment
// keeps its own. r has 32 bits, or 64, which takes two instructions. The partner must
// participate, or the result is undefined (shfl.sync, ISA 9.7.9.7).
func (k *Kernel) ShflUp(r Reg, delta Num, opts ...WarpOption) Reg {
	return k.shuffle("ShflUp", "up", r, delta, opts)
}
func (k *Kernel) ShflDown(r Reg, delta Num, opts ...WarpOption) Reg {
	return k.shuffle("ShflDown", "down", r, delta, opts)
}
func (k *Kernel) ShflBfly(r Reg, mask Num, opts ...WarpOption) Reg {
	return k.shuffle("ShflBfly", "bfly", r, mask, opts)
}
func (k *Kernel) ShflIdx(r Reg, lane Num, opts ...WarpOption) Reg {
	return k.shuffle("ShflIdx", "idx", r, lane, opts)
}

// Shfl is a shuffle, "up", "down", "bfly" or "idx", of a register of 32 bits, that also
// returns whether the partner was in the segment.
func (k *Kernel) Shfl(mode string, r Reg, b Num, opts ...WarpOption) (Reg, Pred) {
	l, ok := k.shuffles("Shfl", mode, r, b, opts)
	if ok && r.t.Size() != 4 {
		k.fail("Shfl of a register of type %s: it moves 32 bits", r.t)
		ok = false
	}
	if !ok {
		return k.lost(r.t), k.lostPred()
	}
	d, p := k.reg(r.t), k.pred()
	k.Inst("shfl.sync."+mode+".b32", Pair{Reg: d, Pred: p}, r, b, l.segment(mode), l.mask)
	return d, p
}

func (k *Kernel) shuffle(what, mode string, r Reg, b Num, opts []WarpOption) Reg {
	l, ok := k.shuffles(what, mode, r, b, opts)
	if !ok {
		return k.lost(r.t)
	}
	if r.t.Size() == 8 {
		half := r.Unpack(B32, 2)
		for i := range half {
			d := k.reg(B32)
			k.Inst("shfl.sync."+mode+".b32", d, half[i], b, l.segment(mode), l.mask)
			half[i] = d
		}
		return k.Pack(r.t, half...)
	}
	d := k.reg(r.t)
	k.Inst("shfl.sync."+mode+".b32", d, r, b, l.segment(mode), l.mask)
	return d
}

func (k *Kernel) shuffles(what, mode string, r Reg, b Num, opts []WarpOption) (lanes, bool) {
	r.kernel()
	l, ok := k.lanes(what, true, opts)
	switch n, num := toInt(b); {
	case !ok:
	case mode != "up" && mode != "down" && mode != "bfly" && mode != "idx":
		k.fail("%s(%q): a shuffle goes up, down, bfly or idx", what, mode)
	case r.t.Size() != 4 && r.t.Size() != 8:
		k.fail("%s of a register of type %s: it moves 32 or 64 bits; convert it with Cvt, or take its bits with As and Pack", what, r.t)
	case num && (n < 0 || n > 31):
		k.fail("%s by %d: a warp has lanes 0 to 31", what, n)
	default:
		return l, true
	}
	return l, false
}

// segment returns the operand that encodes the segment bounds (ISA 9.7.9.7).
func (l lanes) segment(mode string) int {
	c := (32 - l.width) << 8
	if mode != "up" {
		c |= 31
	}
	return c
}

// Redux combines r of all lanes into one value that all of them receive: Add, Min and Max
// of u32 and s32, And, Or and Xor of 32 bits, in one instruction (redux.sync, ISA
// 9.7.13.12). For other types use WarpReduce.
func (k *Kernel) Redux(op Op, r Reg, opts ...WarpOption) Reg {
	r.kernel()
	l, ok := k.lanes("Redux", false, opts)
	if !ok {
		return k.lost(r.t)
	}
	return k.redux(op, r, l)
}

func (k *Kernel) redux(op Op, r Reg, l lanes) Reg {
	t := r.arith()
	if op.bits() {
		t = untyped(r.t)
	}
	if !k.reduces("Redux", op, t, reduxTypes) {
		return k.lost(r.t)
	}
	d := k.reg(r.t)
	k.Inst("redux.sync."+string(op)+"."+string(t), d, r, l.mask)
	return d
}

var reduxTypes = map[Op]string{Add: "u32 s32", Min: "u32 s32", Max: "u32 s32", And: "b32", Or: "b32", Xor: "b32"}

// ElectSync is true in one lane of the mask, always the same one (elect.sync, ISA
// 9.7.13.14). Elect makes it a group.
func (k *Kernel) ElectSync(opts ...WarpOption) Pred {
	l, ok := k.lanes("ElectSync", false, opts)
	if !ok {
		return k.lostPred()
	}
	p := k.pred()
	k.Inst("elect.sync", Pair{Reg: k.reg(U32), Pred: p}, l.mask)
	return p
}

// ActiveMask returns the mask of lanes that execute it together. In divergent code the
// hardware decides which: it must not serve as the mask of another operation (activemask,
// ISA 9.7.13.11).
func (k *Kernel) ActiveMask() Reg {
	d := k.reg(U32)
	k.Inst("activemask.b32", d)
	return d
}

// WarpReduce combines r of the lanes of each segment of Width lanes, by default 32, into
// one value that all of them receive: Add, Min, Max of numbers of 32 and 64 bits, And,
// Or, Xor of their bits. It emits redux.sync where possible, and else shuffles (bfly) and
// the operation, in a fixed order.
func (k *Kernel) WarpReduce(op Op, r Reg, opts ...WarpOption) Reg {
	const what = "WarpReduce"
	r.kernel()
	l, ok := k.lanes(what, true, opts)
	if n := r.t.Size(); ok && n != 4 && n != 8 {
		k.fail("%s of a register of type %s: it reduces 32 or 64 bits; convert it with Cvt", what, r.t)
		ok = false
	}
	if n, num := toInt(l.mask); ok && num {
		for i := range 32 / l.width {
			if m := (int64(1)<<l.width - 1) << (i * l.width); n&m != 0 && n&m != m {
				k.fail("%s: the lanes %#x are no whole segments of %d", what, n, l.width)
				ok = false
				break
			}
		}
	}
	if !ok || !k.combines(what, op, r.t) {
		return k.lost(r.t)
	}
	if l.width == 32 && r.t.Size() == 4 && r.t.integer() {
		return k.redux(op, r, l)
	}
	for d := l.width / 2; d > 0; d /= 2 {
		r = r.combine(op, k.shuffle(what, "bfly", r, d, opts))
	}
	return r
}

// combines reports an operation that is no reduction across threads.
func (k *Kernel) combines(what string, op Op, t Type) bool {
	switch op {
	case Add, Min, Max:
		return true
	case And, Or, Xor:
		if t.float() {
			k.fail("%s: %s of type %s: it is of bits; take them with As", what, op, t)
			return false
		}
		return true
	}
	k.fail("%s by %q: it reduces by add, min, max, and, or, xor", what, string(op))
	return false
}

func (r Reg) combine(op Op, b Reg) Reg {
	switch op {
	case Add:
		return r.Add(b)
	case Min:
		return r.Min(b)
	case Max:
		return r.Max(b)
	case And:
		return r.And(b)
	case Or:
		return r.Or(b)
	}
	return r.Xor(b)
}

// CTAReduce combines r of all threads of the CTA, a multiple of 32, into one value that
// all of them receive, as WarpReduce does in a warp: the warps' values are combined
// through shared memory, 4 or 8 bytes each. It emits two bar.sync 0, so all threads of
// the CTA must execute it.
func (k *Kernel) CTAReduce(op Op, r Reg) Reg {
	const what = "CTAReduce"
	r.kernel()
	n := k.BlockThreads()
	switch g := k.Group(); {
	case !k.sized(what):
		return k.lost(r.t)
	case g.AnyWarp || g.Threads != n:
		k.fail("%s in %s: all threads of the CTA come to it; call it outside of groups, or GroupReduce", what, g)
		return k.lost(r.t)
	case n%32 != 0:
		k.fail("%s in a CTA of %d threads: they are no multiple of 32", what, n)
		return k.lost(r.t)
	}
	return k.reduce(op, r, 0, n, k.SyncThreads)
}

// GroupReduce is CTAReduce for the current group, of whole warps: a warpgroup, or the
// consumers of a pipeline while a producer warp does something else. Its threads
// synchronize as with Sync, twice.
func (k *Kernel) GroupReduce(op Op, r Reg) Reg {
	const what = "GroupReduce"
	r.kernel()
	switch g := k.Group(); {
	case !k.sized(what):
		return k.lost(r.t)
	case g.AnyWarp || g.First%32 != 0 || g.Threads%32 != 0:
		k.fail("%s in %s: it is for whole warps; WarpReduce is for lanes of one", what, g)
		return k.lost(r.t)
	default:
		return k.reduce(op, r, g.First, g.Threads, func() { k.Sync() })
	}
}

// reduce combines r of the threads from first on; sync synchronizes them.
func (k *Kernel) reduce(op Op, r Reg, first, threads int, sync func()) Reg {
	errs := len(k.errs)
	r = k.WarpReduce(op, r)
	warps := threads / 32
	if len(k.errs) > errs || warps == 1 {
		return r
	}
	k.serial++
	name := fmt.Sprintf("$reduce%d", k.serial)
	parts := k.shared(name, name, 0, r.t, []int{warps})
	i := k.index(false)
	sync() // all threads have read the last reduction's values
	k.If(i.And(31).Eq(0), func() {
		warp := i.Shr(5)
		if first > 0 {
			warp = warp.Sub(first / 32)
		}
		parts.At(warp).Store(r)
	})
	sync()
	all := parts.At(0).Load()
	for w := 1; w < warps; w++ {
		all = all.combine(op, parts.At(w).Load())
	}
	return all
}
