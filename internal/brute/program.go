package brute

import (
	"fmt"
	"strings"
)

// A Kind is what an operation does.
type Kind uint8

const (
	Arrive Kind = iota
	Drop
	ArriveExpect // arrive.expect_tx of N bytes
	Expect       // expect_tx of N bytes
	Copy         // bulk copy of a slot, Src to Slot, on barrier Bar: 16 bytes, or N
	CopyAsync    // cp.async of a slot, Src to Slot
	Increment    // cp.async.mbarrier.arrive
	NoIncrement  // cp.async.mbarrier.arrive.noinc
	Wait         // until the phase of parity N is complete
	Peek         // one test of parity N, its outcome kept
	WaitPeek     // Wait, unless the last Peek came out true; see Program.skips
	Sync         // bar.sync of barrier Bar for N warps
	BarArrive    // bar.arrive
	ClusterArrive
	ClusterWait
	Load
	Store    // of N, or of what the thread loaded last if N is 0
	Add      // red.add of N to a global slot
	Max      // red.max of N
	StoreAll // bulk store of Src, a shared slot, to Slot, a global one
	AddAll   // bulk addition to it
	MaxAll
	Commit      // of bulk stores
	WaitGroup   // until all groups but N are written
	WaitRead    // until all groups but N are read
	StoreStrong // st.relaxed of N
	LoadStrong  // ld.relaxed, to a register that nothing uses
	ArriveToken // arrive, its token kept
	WaitToken   // until the phase of the thread's last token of that barrier is complete; without one, the first
	Fence       // fence.proxy.async: nothing here
	Arrival     // tcgen05.commit with nothing to track: an arrival that comes later
	kinds
)

var kindNames = [kinds]string{"arrive", "drop", "arrive.expect", "expect", "copy", "cp.async", "cp.async.arrive", "cp.async.arrive.noinc", "wait", "peek", "wait.peek",
	"bar.sync", "bar.arrive", "cluster.arrive", "cluster.wait", "ld", "st", "red.add", "red.max", "bulk.store", "bulk.add", "bulk.max", "commit", "wait_group", "wait_group.read", "st.relaxed", "ld.relaxed", "arrive.token", "wait.token", "fence", "tcgen05.commit"}

// An Op is one operation of a thread.
type Op struct {
	Kind      Kind
	Bar       uint8
	N         uint8
	Slot, Src uint8
	Skips     uint8 // of a WaitPeek
}

// Limits of a Program.
const (
	MaxThreads = 4
	MaxBars    = 3
	MaxNamed   = 3 // of a CTA
	MaxOps     = 20
	Slots      = 7 // 0 to 2 shared, 3 and 4 global, 5 and 6 global and never written
	FirstGlob  = 3
	FirstConst = 5
)

// A Place says where the threads are.
type Place uint8

const (
	Warps   Place = iota // lane 0 of the warps of one CTA
	Lanes                // lanes of one warp
	Cluster              // lane 0 of warps of two CTAs, thread by thread in turn
	Grid                 // lane 0 of warps of two CTAs that are no cluster
	Wide                 // whole warps: all lanes wait and arrive, lane 0 does the rest
)

// A Program is what each thread does, and the barriers' counts.
type Program struct {
	Place   Place
	Counts  []int8
	Threads [][]Op
	// Join makes the lanes of a warp meet in the text after so many operations.
	Join uint8
	// Spin is how waits are written.
	Spin uint8
}

// bytes returns how many bytes a copy lands.
func (o Op) bytes() uint8 {
	if o.N > 0 {
		return o.N
	}
	return 16
}

// home returns the CTA of a thread, of a barrier, of a slot.
func (p *Program) home(t int) int {
	if p.Place == Cluster || p.Place == Grid {
		return t % 2
	}
	return 0
}

func (p *Program) barHome(b uint8) int { return p.home(int(b)) }

func (p *Program) slotHome(s uint8) int { return p.home(int(s)) }

// Where returns the CTA of a thread and the number of its warp there, for a program
// that has a warp for each thread.
func (p *Program) Where(t int) (cta, warp int) {
	if p.Place == Cluster || p.Place == Grid {
		return t % 2, t / 2
	}
	return 0, t
}

// SlotHome is the CTA of a slot.
func (p *Program) SlotHome(s int) int { return p.home(s) }

// Size returns the number of operations.
func (p *Program) Size() int {
	n := 0
	for _, t := range p.Threads {
		n += len(t)
	}
	return n
}

// skips returns how many operations a thread skips with the wait of a WaitPeek: up to Skips
// arrivals and stores that follow it.
func (p *Program) skips(t, i int) (n int) {
	ops := p.Threads[t][i:]
	for n < int(ops[0].Skips) && n+1 < len(ops) && (ops[n+1].Kind == Arrive || ops[n+1].Kind == Store) {
		n++
	}
	return n
}

func (p *Program) clone() *Program {
	q := *p
	q.Counts = append([]int8(nil), p.Counts...)
	q.Threads = make([][]Op, len(p.Threads))
	for i, t := range p.Threads {
		q.Threads[i] = append([]Op(nil), t...)
	}
	return &q
}

func (o Op) String() string {
	slot := func(s uint8) string {
		switch {
		case s < FirstGlob:
			return fmt.Sprint("s", s)
		case s < FirstConst:
			return fmt.Sprint("g", s-FirstGlob)
		}
		return fmt.Sprint("c", s-FirstConst)
	}
	name := kindNames[o.Kind]
	switch o.Kind {
	case Arrive, Drop, Increment, NoIncrement, ArriveToken, WaitToken, Arrival:
		return fmt.Sprintf("%s(b%d)", name, o.Bar)
	case ArriveExpect, Expect:
		return fmt.Sprintf("%s(b%d, %d)", name, o.Bar, o.N)
	case Copy:
		if o.N > 0 {
			return fmt.Sprintf("%s(%s=%s, b%d, %d)", name, slot(o.Slot), slot(o.Src), o.Bar, o.N)
		}
		return fmt.Sprintf("%s(%s=%s, b%d)", name, slot(o.Slot), slot(o.Src), o.Bar)
	case CopyAsync, StoreAll, AddAll, MaxAll:
		return fmt.Sprintf("%s(%s=%s)", name, slot(o.Slot), slot(o.Src))
	case WaitPeek:
		if o.Skips > 0 {
			return fmt.Sprintf("%s(b%d, p%d, with %d)", name, o.Bar, o.N, o.Skips)
		}
		return fmt.Sprintf("%s(b%d, p%d)", name, o.Bar, o.N)
	case Wait, Peek:
		return fmt.Sprintf("%s(b%d, p%d)", name, o.Bar, o.N)
	case Sync, BarArrive:
		return fmt.Sprintf("%s(%d, %d)", name, o.Bar, o.N)
	case Load, LoadStrong:
		return fmt.Sprintf("%s(%s)", name, slot(o.Slot))
	case Store, StoreStrong, Add, Max:
		if o.N == 0 {
			return fmt.Sprintf("%s(%s, loaded)", name, slot(o.Slot))
		}
		return fmt.Sprintf("%s(%s, %d)", name, slot(o.Slot), o.N)
	case WaitGroup, WaitRead:
		return fmt.Sprintf("%s(%d)", name, o.N)
	}
	return name
}

func (p *Program) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s, counts %v", [...]string{"warps", "lanes", "cluster", "grid", "whole warps"}[p.Place], p.Counts)
	if p.Join > 0 {
		fmt.Fprintf(&s, ", lanes join after %d", p.Join)
	}
	if p.Spin > 0 {
		fmt.Fprintf(&s, ", waits of form %d", p.Spin)
	}
	s.WriteByte('\n')
	for i, t := range p.Threads {
		fmt.Fprintf(&s, "  T%d:", i)
		for _, o := range t {
			fmt.Fprintf(&s, " %v;", o)
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// Smaller lists programs with one thing left out.
func (p *Program) Smaller() []*Program {
	var all []*Program
	for t := range p.Threads {
		if len(p.Threads) > 2 && p.Place != Cluster && p.Place != Grid {
			q := p.clone()
			q.Threads = append(q.Threads[:t], q.Threads[t+1:]...)
			all = append(all, q)
		}
		for i := range p.Threads[t] {
			q := p.clone()
			q.Threads[t] = append(q.Threads[t][:i], q.Threads[t][i+1:]...)
			all = append(all, q)
		}
	}
	for b, n := range p.Counts {
		if n > 1 {
			q := p.clone()
			q.Counts[b]--
			all = append(all, q)
		}
	}
	if p.Join > 0 {
		q := p.clone()
		q.Join = 0
		all = append(all, q)
	}
	if p.Spin > 0 {
		q := p.clone()
		q.Spin = 0
		all = append(all, q)
	}
	return all
}
