package order_test

import (
	"fmt"
	"math/bits"
	"testing"

	"muster/internal/machine"
	"muster/internal/order"
)

// causality is the definition taken literally: every event of a lane is a node with
// the set of its ancestors, and an access may follow another through the asynchronous
// proxy only if a fence node for its memory stands between.
type causality struct {
	anc    []nodes  // by node, itself included
	last   []int    // by lane: its last node
	fences []fenced // proxy fences
	acc    map[machine.MemID][]*causalAccess
	flag   int // the last release, -1 for none
}

type nodes map[int]bool

type fenced struct {
	node   int
	covers func(machine.MemID) bool
}

type causalAccess struct {
	node  int // of an operation: its completion by a wait, -1 if none
	lane  int
	write bool
	op    bool
	async bool // through the asynchronous proxy; cp.async is generic
	seq   uint32
}

const modelLanes = 2 // a CTA

func newCausality(lanes int) *causality {
	c := &causality{acc: map[machine.MemID][]*causalAccess{}, flag: -1}
	for l := 0; l < lanes; l++ {
		c.last = append(c.last, -1)
	}
	return c
}

// step adds a lane's next node, after the other nodes that precede it.
func (c *causality) step(lane int, after ...int) int {
	n := len(c.anc)
	set := nodes{n: true}
	for _, p := range append(after, c.last[lane]) {
		if p >= 0 {
			for a := range c.anc[p] {
				set[a] = true
			}
		}
	}
	c.anc = append(c.anc, set)
	c.last[lane] = n
	return n
}

func (c *causality) before(a, b int) bool { return a >= 0 && c.anc[b][a] }

func (c *causality) fencedBetween(a, b int, mem machine.MemID) bool {
	for _, f := range c.fences {
		if f.covers(mem) && c.before(a, f.node) && c.before(f.node, b) {
			return true
		}
	}
	return false
}

// ordered reports whether an access at node n may follow p.
func (c *causality) ordered(p *causalAccess, n int, a *causalAccess, mem machine.MemID) bool {
	if !c.before(p.node, n) {
		return false
	}
	if !a.async || p.async && p.lane/modelLanes == a.lane/modelLanes {
		return true
	}
	return c.fencedBetween(p.node, n, mem)
}

// access reports whether an access at node n races. A write hides what is ordered
// before it; an operation's read hides the reads of earlier operations that its
// issuer knew complete.
func (c *causality) access(n int, a causalAccess, mem machine.MemID) bool {
	for _, p := range c.acc[mem] {
		if (p.write || a.write) && !c.ordered(p, n, &a, mem) {
			return true
		}
	}
	keep := c.acc[mem][:0]
	for _, p := range c.acc[mem] {
		if !a.write && !(a.op && p.op && !p.write && c.before(p.node, n)) {
			keep = append(keep, p)
		}
	}
	if a.node = n; a.op {
		a.node = -1
	}
	c.acc[mem] = append(keep, &a)
	return false
}

// TestProxyModel compares the Tracker with causality on random runs of two
// CTAs of a cluster: ordinary accesses, bulk operations and their group waits,
// proxy fences of every form and space, release and acquire by a flag.
func TestProxyModel(t *testing.T) {
	spaces := []machine.Spaces{machine.AllSpaces, machine.SpaceGlobal, machine.SpaceSharedCTA, machine.SpaceSharedCluster}
	memories := []machine.MemID{machine.Global, machine.SharedOf(0), machine.SharedOf(1)}
	eachSeed(t, func(t *testing.T, d dice) {
		tr := order.New(order.Config{Shape: machine.Shape{CTAs: 2, Warps: 1, Cluster: 2}})
		m := newCausality(2 * modelLanes)
		ops := map[int]*machine.Op{}
		seq := map[int]uint32{}
		trace := ""
		for i := 0; i < 150; i++ {
			lane := d.between(0, 2*modelLanes-1)
			cta, bit := int32(lane/modelLanes), lane%modelLanes
			mem := pick(d, memories)
			write := d.between(0, 1) == 0
			ev := machine.Event{CTA: cta, Mask: 1 << bit, Lane: int8(bit), PC: int32(i), Mem: mem, Addr: new([32]uint64), Size: 4}
			acc := machine.Read
			if write {
				acc = machine.Write
			}
			race, found := false, len(tr.Conflicts())
			switch kind := d.between(0, 6); kind {
			case 0, 1:
				n := m.step(lane)
				if race = m.access(n, causalAccess{lane: lane, write: write}, mem); race && d.between(0, 60) != 0 {
					race = false
					continue
				}
				ev.Kind, ev.Access = machine.EvAccess, acc
				tr.Feed(nil, &ev)
				trace += fmt.Sprintf("%d: lane %d %v mem %d\n", i, lane, acc, mem)
			case 2:
				n := m.step(lane)
				async := d.between(0, 2) != 0
				if race = m.access(n, causalAccess{lane: lane, write: write, op: true, async: async, seq: seq[lane] + 1}, mem); race && d.between(0, 60) != 0 {
					race = false
					continue
				}
				seq[lane]++
				op := &machine.Op{ID: int64(i), Kind: machine.OpBulkCopy, Proxy: machine.Async, Group: machine.GroupBulk, Seq: seq[lane], CTA: cta, Lane: int8(bit), PC: int32(i)}
				if !async {
					op.Kind, op.Proxy = machine.OpCpAsync, machine.Generic
				}
				span := []machine.Span{{Mem: mem, Len: 16}}
				if op.Reads = span; write {
					op.Reads, op.Writes = nil, span
				}
				ops[i], ev.Kind, ev.Op = op, machine.EvIssue, op
				tr.Feed(nil, &ev)
				trace += fmt.Sprintf("%d: lane %d op %v mem %d async %v\n", i, lane, acc, mem, async)
			case 3:
				upto := uint32(d.between(0, int(seq[lane])))
				n := m.step(lane)
				for _, list := range m.acc {
					for _, a := range list {
						if a.op && a.lane == lane && a.seq <= upto && a.node < 0 {
							a.node = n
						}
					}
				}
				ev.Kind, ev.Group, ev.Done = machine.EvGroupWait, machine.GroupBulk, new([32]uint32)
				ev.Done[bit] = upto
				tr.Feed(nil, &ev)
				trace += fmt.Sprintf("%d: lane %d waits up to %d\n", i, lane, upto)
			case 4:
				ev.Kind, ev.Fence, ev.Space = machine.EvFence, machine.FenceProxyAsync, pick(d, spaces)
				if d.between(0, 1) == 0 {
					ev.Mask = 1<<modelLanes - 1
				}
				space := ev.Space
				for k := ev.Mask; k != 0; k &= k - 1 {
					n := m.step(int(cta)*modelLanes + bits.TrailingZeros32(k))
					m.fences = append(m.fences, fenced{n, func(x machine.MemID) bool { return covers(space, cta, x) }})
				}
				tr.Feed(nil, &ev)
				trace += fmt.Sprintf("%d: cta %d lanes %#x fence %v\n", i, cta, ev.Mask, space)
			case 5, 6:
				ev.Kind, ev.Mem, ev.Scope = machine.EvAccess, machine.Global, machine.ScopeGPU
				ev.Addr[bit] = 4096
				if ev.Access, ev.Sem = machine.Write, machine.Release; kind == 6 {
					ev.Access, ev.Sem = machine.Read, machine.Acquire
					m.step(lane, m.flag)
				} else {
					m.flag = m.step(lane)
				}
				tr.Feed(nil, &ev)
				trace += fmt.Sprintf("%d: lane %d flag %v\n", i, lane, ev.Access)
			}
			if got := len(tr.Conflicts()) > found; got != race {
				t.Fatalf("tracker says race %v, model %v, at the last event of\n%s%+v", got, race, trace, tr.Conflicts())
			}
			if race {
				return
			}
		}
	})
}

func covers(s machine.Spaces, cta int32, mem machine.MemID) bool {
	switch {
	case mem == machine.Global:
		return s&machine.SpaceGlobal != 0
	case mem == machine.SharedOf(cta) && s&machine.SpaceSharedCTA != 0:
		return true
	}
	return s&machine.SpaceSharedCluster != 0
}
