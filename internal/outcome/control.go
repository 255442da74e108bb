package outcome

import (
	"math/bits"

	"muster/internal/machine"
	"muster/internal/order"
)

// A control follows what comes after what in a run for any reason at all: whatever
// makes one step wait for another counts, whether or not it orders memory. Collectives
// of a warp do (shfl, vote, elect, mma), barriers that relaxed operations use, an exit
// that opens a barrier, registers that a warp waits for, and who reads a value comes
// after who wrote it.
type control struct {
	order    *order.Tracker
	barriers bool // of CTAs, which an exit may open
}

func newControl(t *order.Tracker, barriers bool) *control {
	of := t.Config()
	return &control{barriers: barriers, order: order.New(order.Config{CTAs: of.CTAs, Warps: of.Warps, Threads: of.Threads, ClusterSize: of.ClusterSize, Clusters: of.Clusters})}
}

// observe takes an event as if it ordered all that it makes wait.
func (c *control) observe(m *machine.Machine, ev *machine.Event) {
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
	c.order.Observe(m, &e)
}

// A place is where lanes of a CTA meet that no address names.
type place uint64

const (
	exits place = 1<<63 | 8*iota
	pool
)

// meet has lanes come after all that met there before, and before all that will. They
// are lanes that exit, or that wait for each other.
func (c *control) meet(m *machine.Machine, ev *machine.Event, at place) {
	sync := machine.Event{Kind: machine.EvWarpSync, CTA: ev.CTA, Warp: ev.Warp, Mask: ev.Mask, PC: ev.PC, Count: 1}
	one := ev.Mask & -ev.Mask
	var addr [32]uint64
	addr[bits.TrailingZeros32(one)] = uint64(at) + 16*uint64(uint32(ev.CTA))
	c.order.Observe(m, &sync)
	c.order.Observe(m, &machine.Event{Kind: machine.EvAccess, CTA: ev.CTA, Warp: ev.Warp, Mask: one, PC: ev.PC,
		Access: machine.Read | machine.Write | machine.Update, Sem: machine.AcqRel, Scope: machine.ScopeSys, Mem: machine.Global, Size: 4, Addr: &addr})
	c.order.Observe(m, &sync)
}
