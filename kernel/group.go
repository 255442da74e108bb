package kernel

import (
	"fmt"

	"muster/ptx"
)

// A Group is the threads that execute the code being written: a range of the CTA's
// threads by their linear index, tid.x + ntid.x*(tid.y + ntid.y*tid.z), and so of warps:
// warp w has threads 32w to 32w+31 (ISA 2.2.1, 10.1).
type Group struct {
	// First is the index of the first thread in the CTA; inside of EachWarp, in its warp.
	// Inside of Elect it is the first thread of the warp.
	First int
	// Threads is the number of threads; 0 if the kernel has no Block.
	Threads int
	// AnyWarp says that the group exists once in each of several warps, as in EachWarp
	// and its subgroups.
	AnyWarp bool
}

// String gives the threads as "threads 32 to 63".
func (g Group) String() string {
	of := ""
	if g.AnyWarp {
		of = " of each warp"
	}
	switch g.Threads {
	case 0:
		return "the CTA"
	case 1:
		return fmt.Sprintf("thread %d%s", g.First, of)
	}
	return fmt.Sprintf("threads %d to %d%s", g.First, g.First+g.Threads-1, of)
}

// Group returns the group that executes the code being written: the whole CTA outside of
// Threads, Warps and similar calls.
func (k *Kernel) Group() Group {
	if k.group != nil {
		return *k.group
	}
	return Group{Threads: k.BlockThreads()}
}

// Threads makes n threads of the current group execute body, starting with index first.
// The others skip it. Within body the group is these threads.
//
// It emits a comparison of the thread's index and a branch, bra.uni if the range consists
// of whole warps, and nothing if the range is the whole group. It does not synchronize.
func (k *Kernel) Threads(first, n int, body func()) {
	k.threads(fmt.Sprintf("Threads(%d, %d)", first, n), first, n, body)
}

// SingleThread makes the first thread of the current group execute body.
func (k *Kernel) SingleThread(body func()) { k.threads("SingleThread", 0, 1, body) }

// SingleWarp makes warp i of the current group execute body, from 0.
func (k *Kernel) SingleWarp(i int, body func()) {
	k.warps(fmt.Sprintf("SingleWarp(%d)", i), i, 1, body)
}

// Warps makes n warps of the current group execute body, starting with index first.
func (k *Kernel) Warps(first, n int, body func()) {
	k.warps(fmt.Sprintf("Warps(%d, %d)", first, n), first, n, body)
}

// Warpgroup makes warpgroup i of the current group execute body: 128 threads, four warps,
// the first with an index that is a multiple of four, as wgmma and setmaxnreg require
// (ISA 9.7.15.1).
func (k *Kernel) Warpgroup(i int, body func()) {
	what := fmt.Sprintf("Warpgroup(%d)", i)
	if g := k.Group(); g.First%128 != 0 {
		k.fail("%s of %s: a warpgroup begins at a multiple of 128 threads, and the group does not", what, g)
		return
	}
	k.threads(what, 128*min(max(i, -1), 8), 128, body) // no CTA has more than 8
}

func (k *Kernel) warps(what string, first, n int, body func()) {
	g := k.Group()
	if g.First%32 != 0 {
		k.fail("%s of %s: the group does not begin with a warp", what, g)
		return
	}
	first, n = min(max(first, -1), 33), min(max(n, 0), 33) // no CTA has more
	// The last warp of a CTA may have less than 32 threads.
	threads := min(32*n, g.Threads-32*first)
	if 32*(first+n) >= g.Threads+32 {
		threads = 32 * n
	}
	k.threads(what, 32*first, threads, body)
}

// EachWarp makes every warp of the current group execute body. Within body the group is
// the thread's own warp: Sync synchronizes the warp, SingleThread and Elect select one
// thread of each warp. It emits nothing itself. The group must consist of whole warps.
func (k *Kernel) EachWarp(body func()) {
	g := k.Group()
	switch {
	case !k.sized("EachWarp"):
	case !k.wholeWarps(g) || g.Threads%32 != 0:
		k.fail("EachWarp of %s: the group is not made of whole warps", g)
	case k.missing("EachWarp", body == nil):
	default:
		k.within(Group{Threads: 32, AnyWarp: true}, body)
	}
}

// Elect makes one thread of the current group, which must be one warp, execute body. All
// threads of the warp must execute Elect together. It emits elect.sync, which always
// elects the same thread of a warp, and a branch (ISA 9.7.13.14).
func (k *Kernel) Elect(body func()) {
	g := k.Group()
	switch {
	case !k.sized("Elect"):
	case k.guard != nil:
		k.fail("Elect inside of Guard: only plain instructions take a predicate; use If")
	case k.missing("Elect", body == nil):
	case g.Threads == 1:
		body()
	case g.First%32 != 0 || g.Threads > 32 || !k.wholeWarps(g):
		k.fail("Elect in a group of %s: it elects one thread of one whole warp; make the group one with SingleWarp or EachWarp", g)
	default:
		p := k.pred()
		k.Inst("elect.sync", &ptx.Pair{A: ptx.Sink{}, B: p.name()}, g.mask())
		end := k.label("elected")
		k.branch(p.Not(), end, false)
		k.within(Group{First: g.First, Threads: 1, AnyWarp: g.AnyWarp}, body)
		k.Place(end)
	}
}

// within writes body as code of a group.
func (k *Kernel) within(g Group, body func()) {
	outer := k.group
	defer func() { k.group = outer }()
	defer k.enter()()
	k.group = &g
	body()
}

// sized reports a kernel without a Block.
func (k *Kernel) sized(what string) bool {
	if k.block[0] == 0 {
		k.fail("%s: groups need the threads of a CTA; give New the option Block", what)
		return false
	}
	return true
}

func (k *Kernel) threads(what string, first, n int, body func()) {
	g := k.Group()
	switch {
	case !k.sized(what):
		return
	case n < 1 || first < 0:
		k.fail("%s: a group has at least one thread, and begins at 0 or later", what)
		return
	case n > g.Threads || first > g.Threads-n:
		k.fail("%s is outside of the current group, which has %d threads", what, g.Threads)
		return
	case k.missing(what, body == nil):
		return
	case n == g.Threads:
		body()
		return
	case k.guard != nil:
		k.fail("%s inside of Guard: only plain instructions take a predicate; use If", what)
		return
	}
	sub := Group{First: g.First + first, Threads: n, AnyWarp: g.AnyWarp}
	end := k.label("group")
	k.branch(k.in(sub, g).Not(), end, !g.AnyWarp && sub.First%32 == 0 && k.wholeWarps(sub))
	k.within(sub, body)
	k.Place(end)
}

// in is true in the threads of sub, for threads of g.
func (k *Kernel) in(sub, g Group) Pred {
	i := k.index(g.AnyWarp)
	last := sub.First + sub.Threads
	switch {
	case sub.Threads == 1:
		return i.Eq(sub.First)
	case sub.First == g.First:
		return i.Lt(last)
	case last == g.First+g.Threads:
		return i.Ge(sub.First)
	}
	return i.Sub(sub.First).Lt(sub.Threads)
}

// wholeWarps reports whether a group begins with a warp and ends with one, or with the
// CTA.
func (k *Kernel) wholeWarps(g Group) bool {
	return g.First%32 == 0 && (g.Threads%32 == 0 || !g.AnyWarp && g.First+g.Threads == k.BlockThreads())
}

// mask returns the lanes of a group within one warp.
func (g Group) mask() uint32 {
	return uint32((uint64(1)<<g.Threads - 1) << (g.First % 32))
}

// An indexKey identifies a thread index in a function: the one in the CTA, or in the
// warp.
type indexKey struct {
	in   *body
	lane bool
}

// ThreadIndex returns the thread's linear index in the current group, from 0.
func (k *Kernel) ThreadIndex() Reg {
	g := k.Group()
	if !k.sized("ThreadIndex") {
		return k.lost(U32)
	}
	if g.Threads == 1 { // whichever was elected
		return k.Const(U32, 0)
	}
	return k.index(g.AnyWarp).Sub(g.First)
}

// index returns the thread's index in the CTA or its warp, computed once at the
// function's beginning.
func (k *Kernel) index(lane bool) Reg {
	key := indexKey{k.at, lane}
	if r, ok := k.state[key].(Reg); ok {
		return r
	}
	var r Reg
	k.prologue(func() {
		if lane {
			r = k.LaneID()
			return
		}
		r = k.TidX()
		switch b := k.block; {
		case b[2] > 1:
			r = k.TidZ().Mad(b[1], k.TidY()).Mad(b[0], r)
		case b[1] > 1:
			r = k.TidY().Mad(b[0], r)
		}
	})
	k.state[key] = r
	return r
}

// A SyncKind describes what Sync emitted.
type SyncKind struct {
	Op      string // "bar.warp.sync", "bar.sync", or "" for nothing
	Mask    uint32 // the lanes of bar.warp.sync
	Barrier int    // the named barrier of bar.sync, 0 to 15
	Threads int    // thread count of bar.sync; 0 for all of the CTA
}

// String gives the instruction, as "bar.warp.sync 0xffffffff", "bar.sync 0" or
// "bar.sync 3, 128"; "nothing" for one thread.
func (s SyncKind) String() string {
	switch {
	case s.Op == "":
		return "nothing"
	case s.Op == "bar.warp.sync":
		return fmt.Sprintf("%s %#x", s.Op, s.Mask)
	case s.Threads == 0:
		return fmt.Sprintf("%s %d", s.Op, s.Barrier)
	}
	return fmt.Sprintf("%s %d, %d", s.Op, s.Barrier, s.Threads)
}

// Sync makes the threads of the current group wait for each other; each thread's earlier
// accesses happen before the others' later ones. All threads of the group must execute
// it. It emits nothing for one thread, bar.warp.sync with the lanes' mask within a warp,
// bar.sync 0 for the whole CTA, and otherwise bar.sync of a named barrier, one for each
// range of threads. A CTA has 15 of them, in addition to barrier 0 (ISA 9.7.13.1,
// 9.7.13.2).
func (k *Kernel) Sync() SyncKind {
	g := k.Group()
	var s SyncKind
	switch {
	case g.Threads == 1:
		return s
	case g.Threads == k.BlockThreads() && !g.AnyWarp && (g.Threads > 32 || g.Threads == 0):
		s = SyncKind{Op: "bar.sync"}
	case g.First/32 == (g.First+g.Threads-1)/32:
		s = SyncKind{Op: "bar.warp.sync", Mask: g.mask()}
		k.Inst(s.Op, s.Mask)
		return s
	case !k.wholeWarps(g):
		k.fail("Sync of %s: they are in more than one warp and not all of these warps, and a named barrier counts whole warps", g)
		return s
	default:
		s = SyncKind{Op: "bar.sync", Barrier: k.groupBarrier(g), Threads: (g.Threads + 31) &^ 31}
	}
	k.barrier(s.Op, s.Barrier, s.Threads)
	return s
}
