package outcome

import (
	"math/bits"

	"muster/internal/machine"
	"muster/internal/order"
)

// A Control tracks which steps of a run precede which for any reason: everything that
// makes one step wait for another counts, whether or not it orders memory: collectives
// of a warp (shfl, vote, elect, mma), barriers that relaxed operations use, an exit
// that opens a barrier, and registers that a warp waits for. A read of a value follows
// its write.
type Control struct {
	Order      *order.Tracker
	barriers   bool // of CTAs, which an exit may open
	executions bool
}

// NewControl tracks a run that has not begun. With executions, a read follows the version that
// it picks, and fence.sc order nothing: their order is one that the run chose.
func NewControl(s machine.Shape, barriers, executions bool) *Control {
	return &Control{barriers: barriers, executions: executions, Order: order.New(order.Config{Shape: s, Together: true, Executions: executions})}
}

// Observe feeds the tracker an event as if it ordered memory for all that wait for it.
func (c *Control) Observe(m *machine.Machine, ev *machine.Event) {
	e := *ev
	switch ev.Kind {
	case machine.EvAccess:
		if ev.Sem == machine.Weak || ev.Proxy != machine.Generic {
			return
		}
		e.Scope, e.Sem = machine.ScopeSys, machine.Acquire
		if ev.Access&machine.Write != 0 {
			e.Sem = machine.AcqRel
		}
		if c.executions && ev.Access == machine.Write {
			e.Sem = machine.Release // it follows nothing: its place in coherence order is a choice
		}
	case machine.EvFence:
		if c.executions && ev.Fence == machine.FenceMemory {
			return
		}
	case machine.EvCollective:
		e.Kind = machine.EvWarpSync
	case machine.EvMbar, machine.EvClusterArrive:
		e.Scope, e.Sem = machine.ScopeSys, machine.Release
	case machine.EvMbarWait, machine.EvClusterWait:
		e.Scope, e.Sem = machine.ScopeSys, machine.Acquire
	case machine.EvExit:
		if c.barriers && ev.Mask != 0 {
			c.meet(m, ev, exits)
		}
	case machine.EvBarPass:
		if ev.ByExit && ev.Mask != 0 {
			defer c.meet(m, ev, exits)
		}
	case machine.EvRegisters:
		if ev.Mask != 0 {
			c.meet(m, ev, pool)
		}
	}
	c.Order.Observe(m, &e)
}

// A place is a stand-in address at which lanes of a CTA meet.
type place uint64

const (
	exits place = 1<<63 | 8*iota
	pool
)

// meet orders lanes after all that met at a place before, and before all that will:
// lanes that exit, or that wait for each other.
func (c *Control) meet(m *machine.Machine, ev *machine.Event, at place) {
	sync := machine.Event{Kind: machine.EvWarpSync, CTA: ev.CTA, Warp: ev.Warp, Mask: ev.Mask, PC: ev.PC, Count: 1}
	one := ev.Mask & -ev.Mask
	var addr [32]uint64
	addr[bits.TrailingZeros32(one)] = uint64(at) + 16*uint64(uint32(ev.CTA))
	c.Order.Observe(m, &sync)
	c.Order.Observe(m, &machine.Event{Kind: machine.EvAccess, CTA: ev.CTA, Warp: ev.Warp, Mask: one, PC: ev.PC,
		Access: machine.Read | machine.Write | machine.Update, Sem: machine.AcqRel, Scope: machine.ScopeSys, Mem: machine.Global, Size: 4, Addr: &addr})
	c.Order.Observe(m, &sync)
}

// newMeets returns a tracker of what precedes what because one waits for the other, at a
// barrier or at an instruction that lanes execute together, whether or not that orders
// memory: unlike control, it has nothing that only this run decided.
func newMeets(t *order.Tracker) *order.Tracker {
	return order.New(order.Config{Shape: t.Config().Shape, Together: true, MustOnly: true})
}

// meet feeds it an event.
func (r *Run) meet(m *machine.Machine, ev *machine.Event) {
	e := *ev
	switch ev.Kind {
	case machine.EvAccess, machine.EvFence:
		return
	case machine.EvCollective:
		e.Kind = machine.EvWarpSync
	case machine.EvMbar, machine.EvClusterArrive:
		e.Scope, e.Sem = machine.ScopeSys, machine.Release
	case machine.EvMbarWait, machine.EvClusterWait:
		e.Scope, e.Sem = machine.ScopeSys, machine.Acquire
	}
	r.meets.Observe(m, &e)
}
