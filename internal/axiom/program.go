package axiom

import (
	"fmt"
	"slices"
)

// A Sem is the memory-ordering qualifier of an operation.
type Sem uint8

const (
	Weak Sem = iota
	Volatile
	Relaxed
	Acquire
	Release
	AcqRel
	SC
)

func (s Sem) acquires() bool { return s == Acquire || s == AcqRel || s == SC }
func (s Sem) releases() bool { return s == Release || s == AcqRel || s == SC }

// A Scope is a set of threads relative to one. Defaulted is the scope of an mbarrier
// operation whose text states none.
type Scope uint8

const (
	Defaulted Scope = iota
	CTA
	Cluster
	GPU
	Sys
)

// A Place is the position of a litmus test's thread. Warps and lanes count from 0 in
// their CTA and warp.
type Place struct{ CTA, Warp, Lane int }

// A Loc is a cell of 16 bytes: cell N of global memory, or of the shared memory of a CTA.
type Loc struct {
	Shared bool
	CTA    int
	N      int
}

// A Kind is the kind of an Op.
type Kind uint8

const (
	Load  Kind = iota // ld: Sem, Scope, Loc, Size
	Store             // st: Value in addition
	Exch              // atom.exch
	Add               // atom.add
	Red               // red.add
	Fence             // fence.sem.scope: Sem, Scope
	// SharedFence is fence.acquire.sync_restrict::shared::cluster.cluster or
	// fence.release.sync_restrict::shared::cta.cluster, by Sem.
	SharedFence
	// ProxyFence is fence.proxy.async of Space; with Sem Acquire or Release
	// the one-way form for shared::cluster or shared::cta.
	ProxyFence
	AliasFence    // fence.proxy.alias
	BarSync       // barrier.sync Bar
	BarArrive     // barrier.arrive Bar
	WarpSync      // bar.warp.sync of the warp's threads; Bar distinguishes several
	ClusterArrive // barrier.cluster.arrive: Sem Release or Relaxed
	ClusterWait   // barrier.cluster.wait.acquire
	MbarArrive    // mbarrier.arrive on mbarrier Bar of CTA Home: Sem, Scope
	MbarWait      // wait for the first phase of mbarrier Bar of the own CTA
	BulkLoad      // cp.async.bulk of 16 bytes Src to shared Loc, completes on mbarrier Bar of CTA Home
	BulkStore     // cp.async.bulk of 16 bytes from own shared Src to global Loc, and commit_group
	BulkReduce    // cp.reduce.async.bulk.add.u32 in the same places, and commit_group
	BulkWait      // cp.async.bulk.wait_group N, with Read .read
	CpAsync       // cp.async of 16 bytes from global Src to own shared Loc, and commit_group
	CpAsyncArrive // cp.async.mbarrier.arrive.noinc on mbarrier Bar of the own CTA
	CpAsyncWait   // cp.async.wait_group N
	// MapReplace is tensormap.replace of the only tensor map, in global memory, with the
	// same contents: a weak write of all its bytes.
	MapReplace
	MapRelease // fence.proxy.tensormap::generic.release: Scope
	MapAcquire // fence.proxy.tensormap::generic.acquire of the map: Scope
)

func (k Kind) async() bool {
	return k == BulkLoad || k == BulkStore || k == BulkReduce || k == CpAsync
}

// MapLoc is the tensor map.
var MapLoc = Loc{N: 8}

// Bulk reports whether an operation is an asynchronous one by the asynchronous proxy.
func (k Kind) Bulk() bool { return k.async() && k != CpAsync }

// A Space restricts a proxy fence.
type Space uint8

const (
	AllSpaces Space = iota
	SpaceGlobal
	SpaceSharedCTA
	SpaceSharedCluster
)

// An Op is one operation of a thread. Kind decides which fields are used.
type Op struct {
	Kind  Kind
	Sem   Sem
	Scope Scope
	Loc   Loc
	Src   Loc
	Size  int // bytes, 4 or 8, of Load to Red; 0 means 4
	Value uint32
	Alias int // index of the virtual address of Loc
	Space Space
	Bar   int
	Home  int // CTA of the mbarrier
	// Mask, for a BulkLoad from global memory to its own CTA, makes it a multicast to the
	// CTAs of the cluster in the mask, each with its mbarrier.
	Mask int
	Map  bool // a BulkLoad from global memory is a tensor copy through the map
	N    int
	Read bool
	// Guard, if set, executes the operation only if an earlier read of the thread
	// returned a value. Barrier operations have none.
	Guard *Guard
}

// A Guard names a read by its index in the thread, and the required value of its low four
// bytes.
type Guard struct {
	Read  int
	Value uint32
}

// A Thread is one lane with its straight line of operations.
type Thread struct {
	Place
	Ops []Op
}

// A Program is a litmus test. Memory starts as zeros. Each barrier is used for
// one generation, or phase: its participants are the threads that name it.
type Program struct {
	Name        string
	CTAs        int
	ClusterSize int // CTAs; 0 means 1
	Threads     []Thread
}

func (p *Program) cluster(cta int) int { return cta / max(p.ClusterSize, 1) }

// includes reports whether scope s of thread a includes thread b.
func (p *Program) includes(s Scope, a, b int) bool {
	x, y := p.Threads[a].CTA, p.Threads[b].CTA
	switch {
	case s == CTA:
		return x == y
	case s == Cluster:
		return p.cluster(x) == p.cluster(y)
	}
	return true
}

// Check returns an error if the program is not a litmus test for this package.
func (p *Program) Check() error {
	if len(p.Threads) == 0 {
		return fmt.Errorf("no threads")
	}
	for t := range p.Threads {
		th := &p.Threads[t]
		if th.CTA < 0 || th.CTA >= p.CTAs {
			return fmt.Errorf("thread %d: no CTA %d", t, th.CTA)
		}
		for u := range t {
			if p.Threads[u].Place == th.Place {
				return fmt.Errorf("threads %d and %d are one lane", u, t)
			}
		}
		for i := range th.Ops {
			if err := p.checkOp(t, i); err != nil {
				return fmt.Errorf("thread %d, operation %d: %w", t, i, err)
			}
		}
	}
	return nil
}

func (p *Program) checkOp(t, i int) error {
	th := &p.Threads[t]
	o := &th.Ops[i]
	for _, l := range []Loc{o.Loc, o.Src} {
		if l.Shared && p.cluster(l.CTA) != p.cluster(th.CTA) {
			return fmt.Errorf("shared memory of CTA %d is out of reach", l.CTA)
		}
	}
	if (o.Mask != 0 || o.Map) && (o.Kind != BulkLoad || o.Src.Shared) {
		return fmt.Errorf("only a bulk copy from global memory is multicast or through a map")
	}
	if o.Map && o.Loc.N%8 != 0 {
		return fmt.Errorf("a tensor copy writes where the address is a multiple of 128 bytes")
	}
	for _, h := range p.homes(t, o) {
		if o.Mask != 0 && !slices.ContainsFunc(p.Threads, func(u Thread) bool { return u.CTA == h }) {
			return fmt.Errorf("a multicast copy to CTA %d, which has no thread and may have ended", h)
		}
	}
	if o.Mask != 0 && (o.Loc.CTA != th.CTA || o.Home != th.CTA || o.Mask>>max(p.ClusterSize, 1) != 0) {
		return fmt.Errorf("a multicast copy names its own CTA's places, and CTAs of its cluster")
	}
	if g := o.Guard; g != nil {
		if o.Kind >= BarSync && o.Kind <= CpAsyncWait && !o.Kind.async() && o.Kind != MbarArrive {
			return fmt.Errorf("a barrier or a wait has no guard")
		}
		if g.Read < 0 || g.Read >= i || !reads(th.Ops[g.Read].Kind) {
			return fmt.Errorf("guarded by operation %d, which is no earlier read", g.Read)
		}
		if p.copied(th.Ops[g.Read].Loc) {
			return fmt.Errorf("guarded by what a copy writes")
		}
	}
	switch o.Kind {
	case BarSync, BarArrive, ClusterArrive, ClusterWait, WarpSync:
		if n := p.uses(t, o); n != 1 {
			return fmt.Errorf("%d uses of one barrier by one thread", n)
		}
		for u := range p.Threads {
			if !p.mustJoin(t, u, o.Kind) {
				continue
			}
			if p.uses(u, o) == 0 {
				return fmt.Errorf("thread %d would not come", u)
			}
			if o.Kind == WarpSync && p.syncsBefore(u, o.Bar) != p.syncsBefore(t, o.Bar) {
				return fmt.Errorf("thread %d would meet another bar.warp.sync", u)
			}
		}
	case MbarWait:
		if o.Home != th.CTA {
			return fmt.Errorf("a wait is on a barrier of the own CTA")
		}
	}
	return nil
}

// mustJoin reports whether thread u must execute a barrier that t executes: warps and
// clusters participate as a whole.
func (p *Program) mustJoin(t, u int, k Kind) bool {
	if k == ClusterArrive || k == ClusterWait {
		return p.cluster(p.Threads[t].CTA) == p.cluster(p.Threads[u].CTA)
	}
	return p.oneWarp(t, u)
}

func (p *Program) oneWarp(t, u int) bool {
	a, b := p.Threads[t].Place, p.Threads[u].Place
	return a.CTA == b.CTA && a.Warp == b.Warp
}

// syncsBefore counts a thread's bar.warp.sync before the one named bar: the instruction
// itself has no name.
func (p *Program) syncsBefore(t, bar int) int {
	n := 0
	for i := range p.Threads[t].Ops {
		switch o := &p.Threads[t].Ops[i]; {
		case o.Kind != WarpSync:
		case o.Bar == bar:
			return n
		default:
			n++
		}
	}
	return n
}

// uses counts a thread's operations of o's kind, or its counterpart, on o's barrier.
func (p *Program) uses(t int, o *Op) int {
	n := 0
	for i := range p.Threads[t].Ops {
		x := &p.Threads[t].Ops[i]
		named := func(k Kind) bool { return k == BarSync || k == BarArrive }
		if (x.Kind == o.Kind || named(x.Kind) && named(o.Kind)) && x.Bar == o.Bar {
			n++
		}
	}
	return n
}

// homes lists the CTAs of the mbarriers on which a copy completes.
func (p *Program) homes(t int, o *Op) []int {
	if o.Mask == 0 {
		return []int{o.Home}
	}
	n := max(p.ClusterSize, 1)
	var list []int
	for i := range n {
		if o.Mask>>i&1 != 0 {
			list = append(list, p.Threads[t].CTA/n*n+i)
		}
	}
	return list
}

// signals reports whether the phase of an mbarrier includes an operation.
func (p *Program) signals(t int, o *Op, home, bar int) bool {
	switch o.Kind {
	case MbarArrive, CpAsyncArrive:
		return o.Home == home && o.Bar == bar
	case BulkLoad:
		return o.Bar == bar && slices.Contains(p.homes(t, o), home)
	}
	return false
}

// copied reports whether an asynchronous operation writes a location.
func (p *Program) copied(l Loc) bool {
	for t := range p.Threads {
		for i := range p.Threads[t].Ops {
			o := &p.Threads[t].Ops[i]
			if !o.Kind.async() {
				continue
			}
			for _, h := range p.homes(t, o) {
				to := o.Loc
				if o.Mask != 0 {
					to.CTA = h
				}
				if to == l {
					return true
				}
			}
		}
	}
	return false
}

func reads(k Kind) bool { return k == Load || k == Exch || k == Add }
