package mbarrier

import (
	"fmt"
	"sync"
)

// A Named is a named barrier for goroutines, like PTX's barrier.cta with its 16 names, which warps of Hopper
// kernels use to hand over to each other. All participants of a phase are counted together, those that only
// arrive and those that wait; reductions combine one boolean from each.
//
// Memory order: as with [Barrier], what any participant did before the barrier is visible after Sync and
// after a reduction.
type Named struct {
	b   *Barrier
	mu  sync.Mutex
	cur *votes // of the reduction under way
}

type votes struct {
	phase uint64
	yes   int
	n     int
}

// NewNamed returns a named barrier of n participants a phase, 1 to [Max].
func NewNamed(n int, opts ...Option) *Named { return &Named{b: New(n, opts...)} }

// Sync arrives and waits for the other participants: barrier.sync.
func (n *Named) Sync() { n.b.ArriveAndWait() }

// Arrive arrives without waiting: barrier.arrive, with which a producer signals 'ready' and continues.
func (n *Named) Arrive() { n.b.Arrive() }

// And arrives, waits, and reports whether every participant said true: barrier.red.and.
func (n *Named) And(vote bool) bool { v := n.reduce("And", vote); return v.yes == v.n }

// Or arrives, waits, and reports whether any participant said true: barrier.red.or.
func (n *Named) Or(vote bool) bool { return n.reduce("Or", vote).yes > 0 }

// Popc arrives, waits, and returns how many participants said true: barrier.red.popc.
func (n *Named) Popc(vote bool) int { return n.reduce("Popc", vote).yes }

// Barrier returns the barrier underneath, for [Dump].
func (n *Named) Barrier() *Barrier { return n.b }

// reduce counts a vote. All operations of a phase must be reductions, or none: Sync and Arrive provide no
// vote.
func (n *Named) reduce(op string, vote bool) *votes {
	n.mu.Lock()
	s := n.b.State()
	if n.cur == nil || n.cur.phase != s.Phase {
		n.cur = &votes{phase: s.Phase}
	}
	v := n.cur
	v.n++
	if vote {
		v.yes++
	}
	if s.Word.Expected()-s.Word.Pending() != uint32(v.n-1) {
		n.mu.Unlock()
		n.b.panics(fmt.Sprintf("mbarrier: %s in one phase with Sync or Arrive, which have no vote; %v", op, n.b))
	}
	t := n.b.arrive(op, 1, 0)
	n.mu.Unlock()
	n.b.await(t.phase)
	return v
}

// A Group is a barrier of fixed members that each alternate arrivals and waits:
// barrier.cluster.arrive and .wait, with which the CTAs of a cluster ensure that a peer's shared memory
// exists. Each member belongs to one goroutine.
type Group struct {
	b       *Barrier
	members []Member
}

// NewGroup returns a group of n members, 1 to [Max].
func NewGroup(n int, opts ...Option) *Group {
	g := &Group{b: New(n, opts...), members: make([]Member, n)}
	for i := range g.members {
		g.members[i] = Member{b: g.b, rank: i}
	}
	return g
}

// Len returns the number of members the group was made with.
func (g *Group) Len() int { return len(g.members) }

// Member returns the member of that rank, 0 to Len()-1.
func (g *Group) Member(rank int) *Member { return &g.members[rank] }

// Barrier returns the barrier underneath, for [Dump].
func (g *Group) Barrier() *Barrier { return g.b }

// A Member is one participant of a [Group]. Unlike a Barrier it belongs to one goroutine at a time.
type Member struct {
	b       *Barrier
	rank    int
	token   ArrivalToken
	arrived bool
	left    bool
}

// Rank returns the member's number in the group.
func (m *Member) Rank() int { return m.rank }

// Arrive arrives for this member: barrier.cluster.arrive. A Wait must follow before the next Arrive.
func (m *Member) Arrive() {
	switch {
	case m.left:
		m.b.panics(fmt.Sprintf("mbarrier: member %d arrives after Exit; %v", m.rank, m.b))
	case m.arrived:
		m.b.panics(fmt.Sprintf("mbarrier: member %d arrives twice without a Wait between; %v", m.rank, m.b))
	}
	m.token, m.arrived = m.b.Arrive(), true
}

// Wait returns once every member has arrived: barrier.cluster.wait.
func (m *Member) Wait() {
	if !m.arrived {
		m.b.panics(fmt.Sprintf("mbarrier: member %d waits without having arrived; %v", m.rank, m.b))
	}
	m.b.Wait(m.token)
	m.arrived = false
}

// Sync is Arrive and Wait.
func (m *Member) Sync() { m.Arrive(); m.Wait() }

// Exit leaves the group: this phase and all later ones count the member as arrived, like an exited thread
// of a cluster. A member that has arrived waits first.
func (m *Member) Exit() {
	if m.left {
		return
	}
	if m.arrived {
		m.Wait()
	}
	m.left = true
	m.b.ArriveAndDrop()
}
