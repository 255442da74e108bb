package kernel

import (
	"fmt"
	"strings"
)

// A CTA has sixteen barriers (ISA 9.7.13.1). Barrier 0 is for the whole CTA; the others
// are allocated here: to groups that synchronize, and to NamedBarrier.

// A namedUse is one of the barriers 1 to 15 with its user.
type namedUse struct {
	what string
	at   Place
}

type namedKey struct{}

// takeBarrier allocates the next barrier; 15 again, with an error, if none is left.
func (k *Kernel) takeBarrier(what string) int {
	used, _ := k.state[namedKey{}].([]namedUse)
	if len(used) == 15 {
		var list []string
		for i, u := range used {
			list = append(list, fmt.Sprintf("%d: %s at %s", i+1, u.what, u.at))
		}
		k.fail("%s needs a named barrier, and a CTA has 15 of them besides barrier 0: %s", what, strings.Join(list, "; "))
		return 15
	}
	k.state[namedKey{}] = append(used, namedUse{what, k.here()})
	return len(used) + 1
}

// groupBarrier returns the barrier for a group's Sync, the same one for the same threads.
func (k *Kernel) groupBarrier(g Group) int {
	if id, ok := k.state[g].(int); ok {
		return id
	}
	id := k.takeBarrier("Sync of " + g.String())
	k.state[g] = id
	return id
}

// barrier emits a form of bar, with the number of threads if it is positive; red are the
// destination and the predicate of a reduction.
func (k *Kernel) barrier(op string, id, threads int, red ...any) {
	args := []any{id}
	if threads > 0 {
		args = append(args, threads)
	}
	if len(red) == 2 {
		args = append(append([]any{red[0]}, args...), red[1])
	}
	k.Inst(op, args...)
}

// A NamedBarrier is one of the fifteen barriers that a CTA has in addition to that of
// SyncThreads, for synchronization among some of its warps (ISA 9.7.13.1). It counts
// threads by whole warps: all threads of a warp execute it together; different warps may
// use different operations.
type NamedBarrier struct {
	k       *Kernel
	id      int
	threads int
}

// NamedBarrier allocates a barrier for the given number of threads, a multiple of 32.
// Threads that only Arrive count too.
func (k *Kernel) NamedBarrier(threads int) NamedBarrier {
	most := 1024
	if n := k.BlockThreads(); n > 0 {
		most = (n + 31) &^ 31
	}
	if threads < 32 || threads%32 != 0 || threads > most {
		k.fail("NamedBarrier(%d): a named barrier counts whole warps, 32 to %d threads here", threads, most)
		threads = 32
	}
	return NamedBarrier{k, k.takeBarrier(fmt.Sprintf("NamedBarrier(%d)", threads)), threads}
}

// ID returns the barrier's number, 1 to 15, and Threads its number of threads.
func (b NamedBarrier) ID() int      { return b.id }
func (b NamedBarrier) Threads() int { return b.threads }

func (b NamedBarrier) kernel() *Kernel {
	if b.k == nil {
		panic("kernel: the zero NamedBarrier is no barrier: it comes from Kernel.NamedBarrier")
	}
	return b.k
}

// Sync waits until all threads of the barrier have arrived. It emits bar.sync.
func (b NamedBarrier) Sync() {
	k := b.kernel()
	k.meets("NamedBarrier.Sync", b.threads)
	k.barrier("bar.sync", b.id, b.threads)
}

// Arrive arrives at the barrier without waiting. Before it arrives again, the thread must
// synchronize by another barrier. It emits bar.arrive.
func (b NamedBarrier) Arrive() {
	k := b.kernel()
	k.meets("NamedBarrier.Arrive", b.threads)
	k.barrier("bar.arrive", b.id, b.threads)
}

// RedAnd is Sync that returns whether p is true in all arriving threads. All threads of a
// phase must use the same reduction. It emits bar.red.and.
func (b NamedBarrier) RedAnd(p Pred) Pred { return b.reduce("RedAnd", "and", p) }

// RedOr is Sync that returns whether p is true in any arriving thread. It emits
// bar.red.or.
func (b NamedBarrier) RedOr(p Pred) Pred { return b.reduce("RedOr", "or", p) }

// RedPopc is Sync that counts the threads in which p is true. It emits
// bar.red.popc.
func (b NamedBarrier) RedPopc(p Pred) Reg {
	k := b.kernel()
	k.meets("NamedBarrier.RedPopc", b.threads)
	d := k.reg(U32)
	k.barrier("bar.red.popc.u32", b.id, b.threads, d, p)
	return d
}

func (b NamedBarrier) reduce(what, op string, p Pred) Pred {
	k := b.kernel()
	k.meets("NamedBarrier."+what, b.threads)
	d := k.pred()
	k.barrier("bar.red."+op+".pred", b.id, b.threads, d, p)
	return d
}

// meets reports a group that does not consist of whole warps, or has more threads than
// the barrier; threads is 0 for a barrier of the whole CTA.
func (k *Kernel) meets(what string, threads int) {
	g := k.Group()
	if k.block[0] == 0 {
		return
	}
	whole := k.wholeWarps(g) && (!g.AnyWarp || g.Threads == 32)
	switch {
	case !whole:
		k.fail("%s by %s: a barrier counts whole warps, and these are not all threads of theirs", what, g)
	case threads > 0 && g.Threads > threads && !g.AnyWarp:
		k.fail("%s by %s: they are %d, and the barrier counts %d", what, g, g.Threads, threads)
	}
}

// SyncThreads makes all threads of the CTA wait for each other, wherever it is written;
// subgroups of the CTA use Sync. It emits bar.sync 0.
func (k *Kernel) SyncThreads() { k.syncThreads("SyncThreads", "bar.sync") }

// SyncThreadsAnd is SyncThreads that returns whether p is true in all threads. It emits
// bar.red.and.
func (k *Kernel) SyncThreadsAnd(p Pred) Pred {
	d := k.pred()
	k.syncThreads("SyncThreadsAnd", "bar.red.and.pred", d, p)
	return d
}

// SyncThreadsOr is SyncThreads that returns whether p is true in any thread. It emits
// bar.red.or.
func (k *Kernel) SyncThreadsOr(p Pred) Pred {
	d := k.pred()
	k.syncThreads("SyncThreadsOr", "bar.red.or.pred", d, p)
	return d
}

// SyncThreadsCount is SyncThreads that counts the threads in which p is true. It
// emits bar.red.popc.
func (k *Kernel) SyncThreadsCount(p Pred) Reg {
	d := k.reg(U32)
	k.syncThreads("SyncThreadsCount", "bar.red.popc.u32", d, p)
	return d
}

func (k *Kernel) syncThreads(what, op string, red ...any) {
	k.meets(what, 0)
	k.barrier(op, 0, 0, red...)
}
